"""Question: which bank a lane accesses."""

import numpy as np

from gemmviz.analysis.memory.banks import lane_words
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    access, rules = source.request("shared"), source.replay.trace.rules
    request = None if access is None else access.moment.request
    if access is None or request is None or access.main.operand.width > 1 or access.main.array.itemsize > rules.bank_bytes:
        return None  # an access to several banks would need a more precise question
    main = access.main
    lane = source.random.choice(np.flatnonzero(request.lanes >= 0).tolist())
    element = int(request.lanes[lane])
    word = int(lane_words(np.array([[element]]), main.array.itemsize, rules)[0][0, 0])
    bank = word % rules.banks
    row, column = main.array.place(element)
    rows = main.array.shape[0]
    what = f"Lane {lane} of {access.who} {access.verb} {main.array.subscripted(element)} (step {access.step + 1})."
    text = f"{what} In which of the {rules.banks} banks is this element?"
    wrong = [
        (f"bank {lane % rules.banks}", "the bank depends on the address, not on the lane"),
        (f"bank {(column * rows + row) % rules.banks}", "row and column swapped"),
        (f"bank {column % rules.banks}", "only the column is used: the preceding rows count, too"),
        (f"bank {row % rules.banks}", "only the row is used"),
        (f"bank {element * main.array.itemsize % rules.banks}", f"the byte offset: banks are {rules.bank_bytes} bytes wide"),
        (f"bank {(bank + 1) % rules.banks}", "off by one: banks count from 0"),
    ]
    why = f"word {word} of the array, modulo {rules.banks}"
    return GeneratedQuestion(text, f"bank {bank}", why, source.shot(access.step, "banks", access.focus), wrong)


QUIZ_KIND = QuizKind("Bank of a lane", _question, order=4)

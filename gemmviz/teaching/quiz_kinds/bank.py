"""Which bank a lane hits."""

import numpy as np

from gemmviz.analysis.memory.banks import lane_words
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    asked, rules = source.request("shared"), source.replay.trace.rules
    request = None if asked is None else asked.moment.request
    if asked is None or request is None or asked.main.operand.width > 1 or asked.main.array.itemsize > rules.bank_bytes:
        return None  # of several banks one would have to say which
    main = asked.main
    lane = source.random.choice(np.flatnonzero(request.lanes >= 0).tolist())
    element = int(request.lanes[lane])
    word = int(lane_words(np.array([[element]]), main.array.itemsize, rules)[0][0, 0])
    bank = word % rules.banks
    row, column = main.array.place(element)
    rows = main.array.shape[0]
    what = f"Lane {lane} of {asked.who} {asked.verb} {main.array.subscripted(element)} (step {asked.step + 1})."
    text = f"{what} In which of the {rules.banks} banks does it lie?"
    wrong = [
        (f"bank {lane % rules.banks}", "a lane's number is not the bank's: the address decides"),
        (f"bank {(column * rows + row) % rules.banks}", "row and column swapped"),
        (f"bank {column % rules.banks}", "the column alone: rows before it count, too"),
        (f"bank {row % rules.banks}", "the row alone"),
        (f"bank {element * main.array.itemsize % rules.banks}", f"the byte's number: banks are {rules.bank_bytes} bytes wide"),
        (f"bank {(bank + 1) % rules.banks}", "one off: banks count from 0"),
    ]
    why = f"word {word} of the array, modulo {rules.banks}"
    return GeneratedQuestion(text, f"bank {bank}", why, source.shot(asked.step, "banks", asked.focus), wrong)


QUIZ_KIND = QuizKind("Bank of a lane", _question, order=4)

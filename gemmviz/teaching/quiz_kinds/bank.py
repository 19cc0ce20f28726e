"""Question: in which bank an element of shared memory is."""

import numpy as np

from gemmviz.analysis.memory.banks import lane_words
from gemmviz.model.translation import marked, tr
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizKind, QuizSource, WarpRequest


def _question(source: QuizSource) -> GeneratedQuestion | None:
    access, rules = source.request("shared"), source.replay.trace.rules
    request = None if access is None else access.moment.request
    if access is None or request is None or access.main.operand.width > 1 or access.main.array.itemsize > rules.bank_bytes:
        return None  # an access to several banks would need a more precise question
    words, array = source.words, access.main.array
    lane = source.random.choice(np.flatnonzero(request.lanes >= 0).tolist())
    element = int(request.lanes[lane])
    word = int(lane_words(np.array([[element]]), array.itemsize, rules)[0][0, 0])
    bank, who = (
        word % rules.banks,
        tr("warp {warp}{of_block}", warp=access.focus.warp, of_block=words.of_block(access.focus.block)),
    )
    text = tr(
        "In line {line}{moment}, lane {lane} of {who} {verb} {subscripted}. {array} begins in bank 0. In "
        "which of the {banks} banks (of {bank_bytes} bytes) is this element?",
        line=access.line,
        moment=words.moment(access.step),
        lane=lane,
        who=who,
        verb=access.verb,
        subscripted=array.subscripted(element),
        array=array.name,
        banks=rules.banks,
        bank_bytes=rules.bank_bytes,
    )
    why = tr("it is in word {word} of the array; {word} modulo {banks} is {bank}", word=word, banks=rules.banks, bank=bank)
    wrong = [
        (tr("bank {other}", other=other), reason)
        for other, reason in _wrong_banks(source, access, lane, element)
        if 0 <= other < rules.banks
    ]
    expect = (Expectation(f"bank_of_lane(lane={lane})", bank),)
    return GeneratedQuestion(
        text, tr("bank {bank}", bank=bank), why, source.shot(access.step, "banks", access.focus), wrong, expect
    )


def _wrong_banks(source: QuizSource, access: WarpRequest, lane: int, element: int) -> list[tuple[int, str]]:
    """Banks by mistake."""
    rules, array = source.replay.trace.rules, access.main.array
    banks, bytes_each, (rows, columns) = rules.banks, array.itemsize, array.extents
    wrong = [
        (lane % banks, tr("the number of the lane: the bank depends on the address alone")),
        (element * bytes_each % banks, tr("counted in bytes: a bank is {bank_bytes} bytes wide", bank_bytes=rules.bank_bytes)),
        ((element * bytes_each // rules.bank_bytes + 1) % banks, tr("one too far: banks are counted from 0")),
    ]
    if element * bytes_each // rules.bank_bytes >= banks:
        wrong.append(
            (element * bytes_each // rules.bank_bytes // banks, tr("the quotient by {banks}, not the remainder", banks=banks))
        )
    if rows == 1:
        return wrong
    row, column = array.place(element)
    padding = source.setup.parameters.get("PAD", 0)
    return [
        *wrong,
        (column % banks, tr("the column alone: each row continues where the row before ends")),
        (row % banks, tr("the row alone: neighbouring elements of a row are in neighbouring banks")),
        ((column * rows + row) % banks, tr("row and column exchanged: arrays in C are stored row by row")),
        (
            (row * (columns - padding) + column) % banks,
            tr("without the padding: rows are {columns} elements long", columns=columns),
        ),
    ]


QUIZ_KIND = QuizKind(marked("Bank of an element"), _question, order=4)

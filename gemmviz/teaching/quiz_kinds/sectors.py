"""Question: how many sectors a request to global memory moves."""

import numpy as np

from gemmviz.model.translation import many, marked, tr, trn
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizKind, QuizSource, WarpRequest


def _question(source: QuizSource) -> GeneratedQuestion | None:
    rules = source.replay.trace.rules
    if rules.coalescing != "sectors" or rules.request_lanes != rules.warp_size:
        return None  # half a warp is served at a time, by other rules
    access = source.varied_request("global", lambda moment: moment.cost.sectors)
    if access is None:
        return None
    words, cost, size = source.words, access.moment.cost, rules.sector_bytes
    text = tr(
        "In line {line}{moment}, warp {warp}{of_block} {verb} {array}. "
        "How many sectors of {size} bytes does this request move?",
        line=access.line, moment=words.moment(access.step), warp=access.focus.warp,
        of_block=words.of_block(access.focus.block),
        verb=access.verb, array=words.name(access.main.array), size=size,
    )  # fmt: skip
    right = many(cost.sectors, "sector")
    why = trn(
        "{lanes} of the warp takes part; their elements are in {sectors}",
        "{lanes} of the warp take part; their elements are in {sectors}",
        cost.lanes, lanes=many(cost.lanes, "lane"), sectors=right,
    )  # fmt: skip
    expect = (Expectation("step_cost(measure=sectors)", cost.sectors),)
    return GeneratedQuestion(text, right, why, source.shot(access.step, "memory", access.focus), _slips(source, access), expect)


def _slips(source: QuizSource, access: WarpRequest) -> list[tuple[str, str]]:
    rules, cost, array = source.replay.trace.rules, access.moment.cost, access.main.array
    size, elements = rules.sector_bytes, access.elements
    rows = len(np.unique(array.row_column(elements)[0])) if len(array.shape) > 1 else 0
    distinct = len(np.unique(elements))
    choices = (
        (cost.lanes, tr("one for each active lane: lanes whose elements are in one sector share it")),
        (rules.warp_size, tr("one for each lane of the warp: a sector that several lanes need moves once")),
        (
            -(-cost.bytes_asked // size),
            tr("the number if each lane had its own element, side by side: {bytes_asked} bytes", bytes_asked=cost.bytes_asked),
        ),
        (
            rules.warp_size * array.itemsize // size,
            tr("the number for {warp_size} elements in one piece", warp_size=rules.warp_size),
        ),
        (
            cost.lines,
            tr(
                "the number of lines of {line_bytes} bytes: only the sectors in use of a line move", line_bytes=rules.line_bytes
            ),
        ),
        (distinct, tr("one for each different element: neighbouring elements share a sector")),
        (rows, tr("one for each row of the matrix: a row can take several sectors, and short rows share one")),
        (1, tr("one for the whole request: it moves every sector that it touches")),
    )
    return [(many(count, "sector"), reason) for count, reason in choices if count]


QUIZ_KIND = QuizKind(marked("Sectors of a request"), _question, order=1)

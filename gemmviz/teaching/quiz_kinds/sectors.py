"""Question: how many sectors a request to global memory moves."""

import numpy as np

from gemmviz.model.words import many
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource, WarpRequest


def _question(source: QuizSource) -> GeneratedQuestion | None:
    rules = source.replay.trace.rules
    if rules.coalescing != "sectors" or rules.request_lanes != rules.warp_size:
        return None  # half a warp is served at a time, by other rules
    access = source.varied_request("global", lambda moment: moment.cost.sectors)
    if access is None:
        return None
    words, cost, size = source.words, access.moment.cost, rules.sector_bytes
    what = f"{access.verb} {words.name(access.main.array)}"
    who = f"In line {access.line}{words.moment(access.step)}, warp {access.focus.warp}{words.of_block(access.focus.block)}"
    text = f"{who} {what}. How many sectors of {size} bytes does this request move?"
    right = many(cost.sectors, "sector")
    why = f"{many(cost.lanes, 'lane')} of the warp {_take(cost.lanes)} part; their elements are in {right}"
    expect = (Expectation("step_cost(measure=sectors)", cost.sectors),)
    return GeneratedQuestion(text, right, why, source.shot(access.step, "memory", access.focus), _wrong(source, access), expect)


def _take(count: int) -> str:
    return "takes" if count == 1 else "take"


def _wrong(source: QuizSource, access: WarpRequest) -> list[tuple[str, str]]:
    rules, cost, array = source.replay.trace.rules, access.moment.cost, access.main.array
    size, elements = rules.sector_bytes, access.elements
    rows = len(np.unique(array.row_column(elements)[0])) if len(array.shape) > 1 else 0
    distinct = len(np.unique(elements))
    choices = (
        (cost.lanes, "one for each active lane: lanes whose elements are in one sector share it"),
        (rules.warp_size, "one for each lane of the warp: a sector that several lanes need moves once"),
        (-(-cost.bytes_asked // size), f"{cost.bytes_asked} bytes are requested: this is the number if they were in one piece"),
        (rules.warp_size * array.itemsize // size, f"the number for {rules.warp_size} elements in one piece"),
        (cost.lines, f"the number of lines of {rules.line_bytes} bytes: only the sectors in use of a line move"),
        (distinct, "one for each different element: neighbouring elements share a sector"),
        (rows, "one for each row of the matrix: a row can take several sectors, and short rows share one"),
        (1, "one for the whole request: it moves every sector that it touches"),
    )  # fmt: skip
    return [(many(count, "sector"), reason) for count, reason in choices if count]


QUIZ_KIND = QuizKind("Sectors of a request", _question, order=1)

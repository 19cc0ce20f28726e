"""Question: how many wavefronts a request to shared memory takes."""

import numpy as np

from gemmviz.analysis.memory.banks import bank_words, lane_words
from gemmviz.model.arrays import Longs
from gemmviz.model.translation import many, marked, tr
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizKind, QuizSource, WarpRequest


def _question(source: QuizSource) -> GeneratedQuestion | None:
    rules = source.replay.trace.rules
    if rules.broadcast != "each word" or rules.request_lanes != rules.warp_size:
        return None  # half a warp is served at a time, by other rules
    access = source.varied_request("shared", lambda moment: moment.cost.wavefronts)
    if access is None:
        return None
    words, count = source.words, access.moment.cost.wavefronts
    text = tr(
        "In line {line}{moment}, warp {warp}{of_block} {verb} {array}. How many wavefronts (passes over the {banks} banks) "
        "does this request take?",
        line=access.line, moment=words.moment(access.step), warp=access.focus.warp,
        of_block=words.of_block(access.focus.block),
        verb=access.verb, array=words.name(access.main.array), banks=rules.banks,
    )  # fmt: skip
    is_plain = access.main.operand.width * access.main.array.itemsize <= rules.bank_bytes
    most = tr("different words that it needs from the busiest bank: {count}", count=count)
    served = tr("its lanes are served in groups, which take {wavefronts} in total", wavefronts=many(count, "wavefront"))
    expect = (Expectation("step_cost(measure=wavefronts)", count),)
    shot = source.shot(access.step, "banks", access.focus)
    return GeneratedQuestion(text, str(count), most if is_plain else served, shot, _wrong_wavefronts(source, access), expect)


def _wrong_wavefronts(source: QuizSource, access: WarpRequest) -> list[tuple[str, str]]:
    rules, cost, array = source.replay.trace.rules, access.moment.cost, access.main.array
    lanes = access.moment.request.lanes if access.moment.request is not None else np.zeros(0, np.int64)
    words, per_lane = lane_words(lanes[None], array.itemsize, rules, access.main.operand.width)
    by_bank = bank_words(words, per_lane, rules)[0]
    banks, distinct = int((by_bank > 0).sum()), int(by_bank.sum())
    choices = (
        (1, tr("one for the whole request: a bank delivers one word at a time")),
        (cost.lanes, tr("one for each active lane: banks deliver at the same time, and a word goes to any number of lanes")),
        (distinct, tr("one for each different word: words in different banks are delivered at the same time")),
        (banks, tr("the number of banks that are used: they work at the same time")),
        (_by_halves(words, per_lane, source), tr("one half of the warp after the other: this device serves both at once")),
        (cost.wavefronts - 1, tr("the conflicts alone: the first pass counts, too")),
        (
            -(-cost.bytes_asked // rules.sector_bytes),
            tr("the number of sectors that as many bytes would fill in global memory"),
        ),
    )
    return [(str(count), reason) for count, reason in choices if count > 0]


def _by_halves(words: Longs, per_lane: int, source: QuizSource) -> int:
    """The wavefronts if the two halves of a warp were served one after the other; 0 if parts of it are."""
    half, rules = words.shape[1] // 2, source.replay.trace.rules
    if per_lane > 1:
        return 0
    return sum(int(bank_words(part, per_lane, rules).max()) for part in (words[:, :half], words[:, half:]))


QUIZ_KIND = QuizKind(marked("Wavefronts of a request"), _question, order=7)

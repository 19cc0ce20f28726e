"""Questions about one request of a warp: its banks, its lanes, its sectors and its wavefronts."""

import numpy as np

from gemmviz.analysis.costs import bank_words, lane_words
from gemmviz.analysis.replay.focus import Focus, thread_number
from gemmviz.model.arrays import Longs
from gemmviz.model.messages import many, marked, tr, trn
from gemmviz.shots.picture import extents_text
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizKind, QuizSource, WarpRequest

# Question: in which bank an element of shared memory is.


def _question_bank(source: QuizSource) -> GeneratedQuestion | None:
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


# Question: the warp and the lane of a thread.


def _mistakes(thread: tuple[int, int, int], source: QuizSource) -> tuple[tuple[int, str], ...]:
    """Return the numbers that common mistakes give a thread of a block, each with its mistake."""
    trace = source.replay.trace
    (dx, dy, dz), size, (x, y, z) = trace.launch.block, trace.rules.warp_size, thread
    number = thread_number(thread, trace.launch)
    return (
        (y + x * dy + z * dx * dy, tr("x and y are exchanged: x varies fastest")),
        (z + y * dz + x * dy * dz, tr("the axes are exchanged: x varies fastest, then y, then z")),
        (x + y * dx, tr("z is left out: each layer of the block has its own threads")),
        (x, tr("only x counts: each row of the block has its own threads")),
        (number + 1, tr("one too far: threads and lanes are counted from 0")),
        (number - 1, tr("one too few: the first thread has number 0")),
        (number + dx, tr("one row too far: rows of the block are counted from 0")),
        (
            number - dx,
            tr("one row too few: y = {y} is row {row} of the block", y=y, row=y + 1) if dy > 1 else tr("one block too few"),
        ),
        (number + size, tr("one warp too far: warps are counted from 0")),
        (
            number - size,
            tr(
                "one warp too few: warp {warp} begins with thread {thread}",
                warp=number // size,
                thread=number // size * size,
            ),
        ),
        (y * size + x, tr("each row of the block as a warp: a warp is filled from the next rows")),
        (x * size + y, tr("x is mistaken for the warp, and y for the lane")),
    )


def _question_lane(source: QuizSource) -> GeneratedQuestion | None:
    trace, words = source.replay.trace, source.words
    (dx, dy, dz), size = trace.launch.block, trace.rules.warp_size
    thread = source.any_thread()
    number, count = thread_number(thread, trace.launch), trace.space.threads_per_block
    if number == thread[0] and number < size:
        return None  # x is the answer

    def answer(other: int) -> str:
        return tr("warp {warp}, lane {lane}", warp=other // size, lane=other % size)

    numbers = _mistakes(thread, source)
    wrong = [(answer(other), reason) for other, reason in numbers if 0 <= other < count]
    block = extents_text(trace.launch.block)
    text = tr(
        "A block has {block} threads. In which warp is {thread}, and which lane is it?",
        block=block,
        thread=words.thread(thread),
    )
    terms = " + ".join(("x", f"y · {dx}", *([f"z · {dx * dy}"] if dz > 1 else [])))
    why = tr(
        "it has the number {terms} = {number} in the block; a warp has {size} threads", terms=terms, number=number, size=size
    )
    focus = Focus(warp=number // size, thread=number)
    expect = (Expectation("place_in_request", answer(number)),)
    return GeneratedQuestion(text, answer(number), why, source.shot(None, "mapping", focus), wrong, expect)


# Question: how many sectors a request to global memory moves.


def _question_sectors(source: QuizSource) -> GeneratedQuestion | None:
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


# Question: how many wavefronts a request to shared memory takes.


def _question_wavefronts(source: QuizSource) -> GeneratedQuestion | None:
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


QUIZ_KINDS = {
    "bank": QuizKind(marked("Bank of an element"), _question_bank, order=4),
    "lane": QuizKind(marked("Warp and lane of a thread"), _question_lane, order=6),
    "sectors": QuizKind(marked("Sectors of a request"), _question_sectors, order=1),
    "wavefronts": QuizKind(marked("Wavefronts of a request"), _question_wavefronts, order=7),
}

"""Sentences about a matrix, a tile or a block that was clicked: what it moves, per block and per launch, in bytes.

All numbers are counts of the run. What is not counted yet is not said.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gemmviz.analysis.memory.counts import Counts, LaunchCounts
from gemmviz.analysis.replay.block_traffic import BlockTraffic, block_traffic, copied_from, whole_traffic
from gemmviz.analysis.replay.focus import block_label
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.sites import Access, MemoryArray
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Trace
from gemmviz.model.words import all_blocks, capital, listed, number, spaced
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.stage.hover import pointed_at

_TIMES = {1: "once", 2: "twice"}


@dataclass(frozen=True, slots=True)
class AskedArray:
    """What was clicked: an array by its number, and the block that is asked about."""

    array: int
    block: Triple


def question_at(moment: Moment, hit: Hit) -> AskedArray | None:
    """The question that a click on a cell asks: about the block that computes an element of the result, else about the watched
    one. None for cells of other kinds.
    """
    target = pointed_at(moment.trace, hit)
    if target is None:
        return None
    array, element = target
    owner = moment.replay.owners.thread_of(element) if array == moment.trace.result else None
    return AskedArray(array, moment.scope.focus.block if owner is None else moment.trace.space.indices(owner)[0])


def answer_to(question: AskedArray, trace: Trace, counts: LaunchCounts | None, no_counts: str = "") -> tuple[str, ...]:
    """The answer in sentences. ``counts``: of the whole launch, None while they are unknown; ``no_counts``: why they stay
    unknown. Raises Cancelled.
    """
    array = trace.arrays[question.array]
    first = trace.space.number(question.block, (0, 0, 0))
    threads = slice(first, first + trace.space.threads_per_block)
    block = block_label(question.block, trace.launch)
    about = _of_tile if array.space == "shared" else _of_matrix
    sentences = [*_limits(trace), *about(question.array, threads, block, trace)]
    if question.array == trace.result:
        sentences += _fetched(block, threads, trace)
    return (*sentences, *_of_launch(question.array, trace, counts, no_counts))


def _limits(trace: Trace) -> Iterator[str]:
    """Say which part of a run is counted for the block, if it isn't all of it."""
    if trace.stop is not None:
        yield "Counted until the run ended early."
    elif trace.phases is not None:
        first, last = trace.phases
        yield f"Counted in phase{'s' if last > first + 1 else ''} {first + 1}" + (f" to {last}." if last > first + 1 else ".")


def _of_matrix(number_: int, threads: slice, block: str, trace: Trace) -> Iterator[str]:
    array, did = trace.arrays[number_], False
    for access, verb in (("read", "fetches"), ("write", "stores")):
        traffic = block_traffic(trace, number_, access, threads)  # type: ignore[arg-type]
        if traffic.elements:
            did = True
            yield f"{capital(block)} {verb} {_bytes(traffic.elements, array)} of {array.name}{_parts(traffic, array)}."
            yield f"Its requests move {_sectors(traffic.cost, trace)}."
    if not did:
        yield f"{capital(block)} doesn't access {array.name}."


def _of_tile(number_: int, threads: slice, block: str, trace: Trace) -> Iterator[str]:
    array = trace.arrays[number_]
    yield f"{array.name} of {block} has {_bytes(array.size, array)}."
    stored, read = (block_traffic(trace, number_, access, threads) for access in ("write", "read"))  # type: ignore[arg-type]
    if stored.elements:
        sources = listed(trace.arrays[each].name for each in copied_from(trace, number_, threads))
        copies = f", with elements of {sources}" if sources else ""
        yield f"The block stores {_bytes(stored.elements, array)} there{copies}."
    if read.elements:
        share = read.elements / max(1, stored.elements)
        each = f": each stored value {_times(round(share))}" if stored.elements and share == round(share) else ""
        yield f"It reads {_bytes(read.elements, array)}{each}."
    waves = stored.cost + read.cost
    lost = f", {spaced(waves.excessive_wavefronts)} of them lost to bank conflicts" if waves.excessive_wavefronts else ""
    yield f"That takes {_many(waves.wavefronts, 'wavefront')}{lost}."


def _fetched(block: str, threads: slice, trace: Trace) -> Iterator[str]:
    """Say what the block of an element of the result fetches of the inputs."""
    parts = []
    for number_ in trace.inputs:
        traffic, array = block_traffic(trace, number_, "read", threads), trace.arrays[number_]
        if traffic.elements:
            parts.append(f"{_bytes(traffic.elements, array)} of {array.name}")
    if parts:
        yield f"For that it fetches {listed(parts)}."


def _of_launch(number_: int, trace: Trace, counts: LaunchCounts | None, no_counts: str) -> Iterator[str]:
    array = trace.arrays[number_]
    if counts is None:
        if no_counts or trace.stop is None:
            yield f"The launch is not counted: {no_counts}." if no_counts else "The launch is being counted."
        return
    for access, verb in (("read", "fetches" if array.space == "global" else "reads"), ("write", "stores")):
        total = _total(counts, array.name, access)  # type: ignore[arg-type]
        if not total.requests:
            continue
        who = capital(all_blocks(trace.launch.block_count)) if array.space == "shared" else "The launch"
        if array.space == "shared":
            plural = verb if trace.launch.block_count == 1 else verb.removesuffix("s")
            yield f"{who} {plural} {spaced(total.bytes_asked)} B, in {_many(total.wavefronts, 'wavefront')}."
        else:
            often = _often(number_, array, access, total, trace)  # type: ignore[arg-type]
            yield f"{who} {verb} {spaced(total.bytes_asked)} B of {array.name}, {often}, and moves {_sectors(total, trace)}."


def _often(number_: int, array: MemoryArray, access: Access, total: Counts, trace: Trace) -> str:
    """Say how often the launch requests an element: of every element if all blocks are traced, else on average."""
    if trace.is_whole:
        whole = whole_traffic(trace, number_, access)
        if whole.times is not None and whole.distinct == array.size:
            return f"every element {_times(whole.times)}"
    average = total.bytes_asked / array.itemsize / array.size
    return f"an element {number(average)} times on average"


def _total(counts: LaunchCounts, name: str, access: Access) -> Counts:
    mine = (
        each for (_, operand), each in counts.accesses.items()
        if counts.arrays[operand.array].name == name and operand.access == access
    )  # fmt: skip
    return sum(mine, Counts())


def _parts(traffic: BlockTraffic, array: MemoryArray) -> str:
    """Say which parts the bytes of a block are: tiles, or repeated elements."""
    tiles = traffic.tiles
    if tiles and sum(tiles) == traffic.elements:
        size = f"of {_bytes(tiles[0], array)}" if len(set(tiles)) == 1 else f"of up to {_bytes(max(tiles), array)}"
        return f", {_many(len(tiles), 'tile')} {size}"
    if traffic.times is not None:
        return f": {_many(traffic.distinct, 'element')}, each {_times(traffic.times)}"
    return f": {_many(traffic.distinct, 'element')}, each {number(traffic.elements / traffic.distinct)} times on average"


def _sectors(cost: Counts, trace: Trace) -> str:
    moved = f"{_many(cost.sectors, 'sector')}, {spaced(cost.bytes_moved(trace.rules))} B"
    lost = cost.excessive_sectors
    return moved if not lost else f"{moved}, where {_many(cost.ideal_sectors, 'sector')} would suffice"


def _bytes(elements: int, array: MemoryArray) -> str:
    return f"{spaced(elements * array.itemsize)} B"


def _times(count: int) -> str:
    return _TIMES.get(count, f"{spaced(count)} times")


def _many(count: int, noun: str) -> str:
    return f"{spaced(count)} {noun}{'' if count == 1 else 's'}"

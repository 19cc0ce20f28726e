"""Sentences about a matrix, a tile or a block that was clicked: what it moves, per block and per launch, in bytes.

All numbers are counts of the run. What is not counted yet is not said.
"""

from collections.abc import Iterator

from msgspec import Struct

from gemmviz.analysis.counts import BranchCounts, Counts, LaunchCounts
from gemmviz.analysis.replay.focus import block_label
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.tiles import BlockTraffic, block_traffic, copied_from, whole_traffic
from gemmviz.cuda.launch.legality import device_for
from gemmviz.cuda.nodes import AccessPlace
from gemmviz.cuda.program import program_for
from gemmviz.cuda.walk import diverging
from gemmviz.files.recordings import recorded_machine_code
from gemmviz.model.messages import Place, all_blocks, capital, listed, marked, number, plural, spaced, tr, trn
from gemmviz.model.sites import Access, MemoryArray
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Trace
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.sentence import compiled_branch
from gemmviz.scenes.stage.hover import pointed_at
from gemmviz.shots.knowledge import LaunchFacts
from gemmviz.shots.subject import holds

_FEW_TIMES = {1: marked("once"), 2: marked("twice")}
_TRAFFIC: dict[Access, str] = {
    "read": marked("{block} fetches {bytes} of {array}{parts}."),
    "write": marked("{block} stores {bytes} of {array}{parts}."),
}
_LAUNCH_TRAFFIC: dict[Access, str] = {
    "read": marked("The launch fetches {bytes} B of {array}, {often}, and moves {sectors}."),
    "write": marked("The launch stores {bytes} B of {array}, {often}, and moves {sectors}."),
}
_SHARED_TRAFFIC: dict[Access, tuple[str, str]] = {
    "read": (marked("{who} reads {bytes} B, in {wavefronts}."), marked("{who} read {bytes} B, in {wavefronts}.")),
    "write": (marked("{who} stores {bytes} B, in {wavefronts}."), marked("{who} store {bytes} B, in {wavefronts}.")),
}


class AskedArray(Struct, frozen=True):
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
    sentences = [*_counted_part(trace), *about(question.array, threads, block, trace)]
    if question.array == trace.result:
        sentences += _fetched(block, threads, trace)
    return (*sentences, *_launch_sentences(question.array, trace, counts, no_counts))


def branch_answer(launch: LaunchFacts, line: int, column: int) -> str:
    """What is known of the branch whose condition is at a place of the source, counted from 1: how often lanes of a warp part
    there in the launch, and what became of it in machine code. "" if there is no branch.
    """
    setup, counts = launch.setup, launch.counts
    program = program_for(setup.kernel, setup.definitions)
    here = [
        number for number, each in enumerate(program.accesses)
        if each.kind == "branch" and holds(_branch_head(each), line, column)
    ]  # fmt: skip
    if not here:
        return ""
    text = " ".join(program.accesses[here[-1]].text.split())
    if not diverging(program).intersection(here):
        return tr("{condition} is the same for all threads of a block: no lanes part there", condition=text)
    if counts is None:
        return tr("{condition}: the launch is being counted", condition=text)
    place = program.accesses[here[-1]].place
    found = sum((each for site, each in counts.branches.items() if site.place == place), BranchCounts())
    parts = tr(
        "{condition}: lanes part in {parted} of {executions} executions by a warp",
        condition=text,
        parted=spaced(found.parted),
        executions=spaced(found.executions),
    )
    resources = None if launch.speed is None else launch.speed.measured.resources
    measured = None if resources is None else resources.machine_code
    return f"{parts}. {compiled_branch(measured or recorded_machine_code(setup, device_for(setup)), place)}"


def _branch_head(branch: AccessPlace) -> Place:
    """The text of a branch without what it leads to: "if (...)", or the condition alone of one within a statement."""
    whole = branch.statement or branch.place
    return branch.place if any(holds(whole, arm.line, arm.column) for arm in branch.arms) else whole


def _counted_part(trace: Trace) -> Iterator[str]:
    """Say which part of a run is counted for the block, if it isn't all of it."""
    if trace.stop is not None:
        yield tr("Counted until the run ended early.")
    elif trace.phases is not None:
        first, last = trace.phases
        if last > first + 1:
            yield tr("Counted in phases {first} to {last}.", first=first + 1, last=last)
        else:
            yield tr("Counted in phase {phase}.", phase=first + 1)


def _of_matrix(number_: int, threads: slice, block: str, trace: Trace) -> Iterator[str]:
    array, did = trace.arrays[number_], False
    for access, text in _TRAFFIC.items():
        traffic = block_traffic(trace, number_, access, threads)
        if traffic.elements:
            did, size = True, _size_text(traffic.elements, array)
            yield tr(text, block=capital(block), bytes=size, array=array.name, parts=_traffic_parts(traffic, array))
            yield tr("Its requests move {sectors}.", sectors=_moved_sectors(traffic.cost, trace))
    if not did:
        yield tr("{block} doesn't access {array}.", block=capital(block), array=array.name)


def _of_tile(number_: int, threads: slice, block: str, trace: Trace) -> Iterator[str]:
    array = trace.arrays[number_]
    yield tr("{array} of {block} has {array_size}.", array=array.name, block=block, array_size=_size_text(array.size, array))
    stored, read = (block_traffic(trace, number_, access, threads) for access in ("write", "read"))  # type: ignore[arg-type]
    if stored.elements:
        sources = listed(trace.arrays[each].name for each in copied_from(trace, number_, threads))
        copies = tr(", with elements of {sources}", sources=sources) if sources else ""
        yield tr("The block stores {elements} there{copies}.", elements=_size_text(stored.elements, array), copies=copies)
    if read.elements:
        share = read.elements / max(1, stored.elements)
        each = (
            tr(": each stored value {share}", share=_multiple(round(share)))
            if stored.elements and share == round(share)
            else ""
        )
        yield tr("It reads {elements}{each}.", elements=_size_text(read.elements, array), each=each)
    waves = stored.cost + read.cost
    lost = (
        tr(", {excessive_wavefronts} of them lost to bank conflicts", excessive_wavefronts=spaced(waves.excessive_wavefronts))
        if waves.excessive_wavefronts
        else ""
    )
    yield tr("That takes {wavefronts}{lost}.", wavefronts=_counted_noun(waves.wavefronts, "wavefront"), lost=lost)


def _fetched(block: str, threads: slice, trace: Trace) -> Iterator[str]:
    """Say what the block of an element of the result fetches of the inputs."""
    parts = []
    for number_ in trace.inputs:
        traffic, array = block_traffic(trace, number_, "read", threads), trace.arrays[number_]
        if traffic.elements:
            parts.append(tr("{elements} of {array}", elements=_size_text(traffic.elements, array), array=array.name))
    if parts:
        yield tr("For that it fetches {parts}.", parts=listed(parts))


def _launch_sentences(number_: int, trace: Trace, counts: LaunchCounts | None, no_counts: str) -> Iterator[str]:
    array = trace.arrays[number_]
    if counts is None:
        if no_counts or trace.stop is None:
            yield (
                tr("The launch is not counted: {no_counts}.", no_counts=no_counts)
                if no_counts
                else tr("The launch is being counted.")
            )
        return
    for access in _TRAFFIC:
        total = _total(counts, array.name, access)
        if not total.requests:
            continue
        size = spaced(total.bytes_asked)
        if array.space == "shared":
            text, several = _SHARED_TRAFFIC[access], trace.launch.block_count
            who, waves = capital(all_blocks(several)), _counted_noun(total.wavefronts, "wavefront")
            yield tr(text[0 if several == 1 else 1], who=who, bytes=size, wavefronts=waves)
        else:
            often, sectors = _often(number_, array, access, total, trace), _moved_sectors(total, trace)
            yield tr(_LAUNCH_TRAFFIC[access], bytes=size, array=array.name, often=often, sectors=sectors)
    if trace.setup.as_launched != trace.setup:
        yield tr("Counted at {sizes}, as drawn.", sizes=trace.setup.problem.text())


def _often(number_: int, array: MemoryArray, access: Access, total: Counts, trace: Trace) -> str:
    """Say how often the launch requests an element: of every element if all blocks are traced, else on average."""
    if trace.is_whole:
        whole = whole_traffic(trace, number_, access)
        if whole.times is not None and whole.distinct == array.size:
            return tr("every element {times}", times=_multiple(whole.times))
    average = total.bytes_asked / array.itemsize / array.size
    return tr("an element {average} times on average", average=number(average))


def _total(counts: LaunchCounts, name: str, access: Access) -> Counts:
    mine = (
        each for (_, operand), each in counts.accesses.items()
        if counts.arrays[operand.array].name == name and operand.access == access
    )  # fmt: skip
    return sum(mine, Counts())


def _traffic_parts(traffic: BlockTraffic, array: MemoryArray) -> str:
    """Say which parts the bytes of a block are: tiles, or repeated elements."""
    tiles = traffic.tiles
    if tiles and sum(tiles) == traffic.elements:
        size = (
            tr("of {tiles}", tiles=_size_text(tiles[0], array))
            if len(set(tiles)) == 1
            else tr("of up to {tiles}", tiles=_size_text(max(tiles), array))
        )
        return f", {_counted_noun(len(tiles), 'tile')} {size}"
    if traffic.times is not None:
        return tr(
            ": {elements}, each {times}", elements=_counted_noun(traffic.distinct, "element"), times=_multiple(traffic.times)
        )
    return tr(
        ": {elements}, each {average} times on average",
        elements=_counted_noun(traffic.distinct, "element"),
        average=number(traffic.elements / traffic.distinct),
    )


def _moved_sectors(cost: Counts, trace: Trace) -> str:
    moved = f"{_counted_noun(cost.sectors, 'sector')}, {spaced(cost.bytes_moved(trace.rules))} B"
    lost = cost.lost_sectors
    return moved if not lost else tr("{moved}, {needed} of them needed", moved=moved, needed=spaced(cost.needed_sectors))


def _size_text(elements: int, array: MemoryArray) -> str:
    return f"{spaced(elements * array.itemsize)} B"


def _multiple(count: int) -> str:
    return tr(_FEW_TIMES[count]) if count in _FEW_TIMES else tr("{count} times", count=spaced(count))


def _counted_noun(count: int, noun: str) -> str:
    return trn(f"{{count}} {noun}", f"{{count}} {plural(noun)}", count, count=spaced(count))

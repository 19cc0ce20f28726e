"""What can be asked of a shot, in words: quantities of the trace, of the counts of a launch, of a device, of a model or of a
recording. What a lesson expects, what its captions say and how an exercise is judged all come from here.
"""

import re
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache

import numpy as np

from gemmviz.analysis.memory.counts import intensity
from gemmviz.analysis.models.latency import hiding_of
from gemmviz.analysis.models.schedules import waves
from gemmviz.analysis.replay.focus import thread_number
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.reads import copies_of, products_of, stride_of, walk_of
from gemmviz.launch.legality import can_run, launch_for
from gemmviz.model.benchmark import CUBLAS
from gemmviz.model.device import Device
from gemmviz.model.errors import GemmvizError, UsageError, closest
from gemmviz.model.sites import shared_bytes
from gemmviz.model.timing import Measured
from gemmviz.scenes.charts.growth import blocks_at
from gemmviz.scenes.charts.scaling import data_bytes, span_of, work_of
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.subjects.levels import DRAM, traffic_of
from gemmviz.teaching.lesson import Answer

Ask = Callable[..., Answer]
_MOST_TRIED = 1 << 12
_KNOWN: dict[str, Ask] = {}


def quantity_names() -> list[str]:
    """All that can be asked, as it is written; what stands in <> is filled in."""
    return list(_KNOWN)


def quantity(what: str, facts: ShotFacts) -> Answer:
    """Raises UsageError for what nobody can tell, GemmvizError where the shot can't be run."""
    for words, ask in _KNOWN.items():
        found = _pattern(words).fullmatch(what.strip())
        if found is not None:
            value = ask(facts, *found.groups())
            return value.item() if isinstance(value, np.generic) else value
    raise UsageError(
        f"there is no quantity {what!r}", remedy=closest(what, quantity_names()) or "see gemmviz lesson quantities"
    )


def _asks(words: str) -> Callable[[Ask], Ask]:
    """``words`` as a person writes them: <n> is a whole number, <a|b> one of these, <NAME> a name."""

    def take(ask: Ask) -> Ask:
        _KNOWN[words] = ask
        return ask

    return take


@cache
def _pattern(words: str) -> re.Pattern[str]:
    """Made when it is first needed: there are many, and a window opens without them."""
    pattern, at = "", 0
    for hole in re.finditer(r"<([^<>]+)>", words):
        inside = hole[1]
        part = "|".join(map(re.escape, inside.split("|"))) if "|" in inside else r"\d{1,9}" if inside.islower() else r"\S+"
        pattern += re.escape(words[at : hole.start()]) + f"({part})"
        at = hole.end()
    return re.compile(pattern + re.escape(words[at:]))


# Of the launch and its device


@_asks("<M|N|K>")
def _(facts: ShotFacts, name: str) -> Answer:
    return facts.setup.problem.sizes[name]


@_asks("blocks")
def _(facts: ShotFacts) -> Answer:
    return facts.launch.block_count


@_asks("threads a block")
def _(facts: ShotFacts) -> Answer:
    return facts.launch.threads_per_block


@_asks("threads")
def _(facts: ShotFacts) -> Answer:
    return facts.launch.threads_per_block * facts.launch.block_count


@_asks("warps a block")
def _(facts: ShotFacts) -> Answer:
    return -(-facts.launch.threads_per_block // facts.device.warp_size)


@_asks("idle lanes")
def _(facts: ShotFacts) -> Answer:
    return -facts.launch.threads_per_block % facts.device.warp_size


@_asks("lane of thread <x> <y> <z>")
def _(facts: ShotFacts, x: str, y: str, z: str) -> Answer:
    return thread_number((int(x), int(y), int(z)), facts.launch) % facts.device.warp_size


@_asks("warp of thread <x> <y> <z>")
def _(facts: ShotFacts, x: str, y: str, z: str) -> Answer:
    return thread_number((int(x), int(y), int(z)), facts.launch) // facts.device.warp_size


@_asks("shared bytes a block")
def _(facts: ShotFacts) -> Answer:
    return shared_bytes(facts.counts.arrays)


@_asks("device cores")
def _(facts: ShotFacts) -> Answer:
    return facts.device.sms * facts.device.fp32_per_sm


@_asks("device <NAME>")
def _(facts: ShotFacts, name: str) -> Answer:
    if name not in {each.name for each in fields(Device)}:
        raise UsageError(f"a device has no {name}", remedy=closest(name, [each.name for each in fields(Device)]))
    value = getattr(facts.device, name)
    if not isinstance(value, Answer):
        raise UsageError(f"{name} of a device is no number")
    return value


@_asks("blocks on an SM")
def _(facts: ShotFacts) -> Answer:
    return facts.limits.blocks_per_sm


@_asks("blocks on an SM by <threads|warps|registers|blocks|shared>")
def _(facts: ShotFacts, name: str) -> Answer:
    found = next((limit for key, limit in facts.limits.limits.items() if name in key), None)
    if found is None:
        raise UsageError(f"nobody knows how many blocks {name} allow")
    return found


@_asks("percent of <threads|warps> taken")
def _(facts: ShotFacts, name: str) -> Answer:
    return facts.limits.threads_percent if name == "threads" else facts.limits.warps_percent


@_asks("waves")
def _(facts: ShotFacts) -> Answer:
    return waves(facts.launch.block_count, facts.device.sms, facts.limits.blocks_per_sm)


@_asks("waves of the other")
def _(facts: ShotFacts) -> Answer:
    if facts.shot.against is None:
        raise UsageError("there is no other launch", remedy="give the shot an [against]")
    return quantity("waves", facts.about(Shot(facts.shot.against.setup)))


@_asks("most blocks on an SM at once")
def _(facts: ShotFacts) -> Answer:
    return int(facts.grid.schedule.resident().max())


@_asks("blocks that ran")
def _(facts: ShotFacts) -> Answer:
    return int(facts.grid.schedule.blocks)


@_asks("refusal")
def _(facts: ShotFacts) -> Answer:
    """Why the launch can't be made; "" for one that can."""
    try:
        launch_for(facts.setup)
    except GemmvizError as error:
        return str(error)
    return ""


@_asks("largest <NAME> of a block")
def _(facts: ShotFacts, name: str) -> Answer:
    """The largest size of square matrices, or value of a parameter, that the device takes."""
    parameter = next((each for each in facts.setup.kernel.parameters if each.name == name), None)
    if parameter is None and name not in ("M", "N", "K"):
        raise UsageError(f"{facts.setup.kernel.name} has no {name}", remedy="name a parameter, or M, N or K")
    for tried in sorted(parameter.choices if parameter and parameter.choices else range(1, _MOST_TRIED), reverse=True):
        numbers = {name: tried} if parameter is not None else dict.fromkeys("MNK", tried)
        if can_run(facts.setup.changed(**numbers)):
            return tried
    return 0


# Of the whole launch, counted


@_asks("bytes <asked|moved>")
def _(facts: ShotFacts, how: str) -> Answer:
    total = facts.counts.total("global")
    return total.bytes_asked if how == "asked" else total.bytes_moved(facts.counts.rules)


@_asks("bytes asked by <reads|writes>")
def _(facts: ShotFacts, how: str) -> Answer:
    return facts.counts.total("global", how[:-1]).bytes_asked


@_asks("gibibytes <asked|moved> by <reads|writes>")
def _(facts: ShotFacts, how: str, kind: str) -> Answer:
    total = facts.counts.total("global", kind[:-1])
    return (total.bytes_asked if how == "asked" else total.bytes_moved(facts.counts.rules)) / 2**30


@_asks("bytes from DRAM")
def _(facts: ShotFacts) -> Answer:
    found = next((each for each in traffic_of(facts.setup, facts.counts) if each.level == DRAM), None)
    if found is None:
        raise UsageError("what DRAM moved was not recorded for this launch")
    return found.size_bytes


@_asks("<global|shared> <reads|writes>")
def _(facts: ShotFacts, space: str, kind: str) -> Answer:
    """Elements that lanes ask for, each as often as it is asked for."""
    return facts.counts.elements(space, kind[:-1])


@_asks("elements of <A|B|C> read")
def _(facts: ShotFacts, name: str) -> Answer:
    """From global memory by the whole launch, each as often as it is asked for."""
    return facts.counts.elements("global", "read", name)


@_asks("reads with <NAME> = <n>")
def _(facts: ShotFacts, name: str, value: str) -> Answer:
    """From global memory, with another value of a parameter."""
    return quantity("global reads", facts.about(replace(facts.shot, setup=facts.setup.changed(**{name: int(value)}))))


@_asks("loads of a block in a phase")
def _(facts: ShotFacts) -> Answer:
    """Elements that it reads from global memory, of a kernel whose phases are all alike."""
    return facts.counts.elements("global", "read") // facts.launch.block_count // _equal_phases(facts)


@_asks("operations of a block in a phase")
def _(facts: ShotFacts) -> Answer:
    """Multiplications and additions."""
    return facts.setup.problem.flops // facts.launch.block_count // _equal_phases(facts)


def _equal_phases(facts: ShotFacts) -> int:
    """How many phases there are, of a kernel that walks over K in whole tiles of one width. Raises UsageError for others."""
    width = facts.setup.parameters.get("TILE_WIDTH", 0) if len(facts.setup.parameters) == 1 else 0
    if not width or any(size % width for size in facts.setup.problem.sizes.values()):
        raise UsageError("the phases of this launch are not known to be alike", remedy="ask for the whole launch")
    return facts.setup.problem.K // width


@_asks("<sectors|requests|wavefronts>")
def _(facts: ShotFacts, name: str) -> Answer:
    return int(getattr(facts.counts.total(), name))


@_asks("times that an element of <A|B> is read")
def _(facts: ShotFacts, name: str) -> Answer:
    size = next(array for array in facts.counts.arrays if array.name == name).size
    return facts.counts.elements("global", "read", name) / size


@_asks("flop a byte <asked|moved>")
def _(facts: ShotFacts, how: str) -> Answer:
    """By what is read: the stores of C left out, as they are where one reckons by hand."""
    total = facts.counts.total("global", "read")
    size = total.bytes_asked if how == "asked" else total.bytes_moved(facts.counts.rules)
    return intensity(facts.setup.problem.flops, size)


@_asks("flop a byte with the stores")
def _(facts: ShotFacts) -> Answer:
    return intensity(facts.setup.problem.flops, facts.counts.total("global").bytes_asked)


@_asks("roof in GFLOP/s by bytes <asked|moved>")
def _(facts: ShotFacts, how: str) -> Answer:
    found = quantity(f"flop a byte {how}", facts)
    assert isinstance(found, int | float)
    return facts.device.roof(float(found))


# Of the run


@_asks("steps")
def _(facts: ShotFacts) -> Answer:
    return facts.replay.steps


@_asks("phases")
def _(facts: ShotFacts) -> Answer:
    return facts.replay.phases


@_asks("C")
def _(facts: ShotFacts) -> Answer:
    """Whether C is right. Raises the fault that ended the run before its time."""
    if facts.outcome.fault is not None:
        raise facts.outcome.fault
    return "right" if facts.replay.trace.check.passed else "wrong"


@_asks("fault")
def _(facts: ShotFacts) -> Answer:
    """Why the run ended before its time; "" for one that did not."""
    return "" if facts.outcome.fault is None else str(facts.outcome.fault)


@_asks("hazards <read after write|write after read|write after write>")
def _(facts: ShotFacts, kind: str) -> Answer:
    return sum(each.count for each in facts.replay.hazards if each.kind == kind)


@_asks("hazards <read after write|write after read|write after write> over <NAME>")
def _(facts: ShotFacts, kind: str, name: str) -> Answer:
    return sum(each.count for each in facts.replay.hazards if (each.kind, each.array) == (kind, name))


@_asks("<sectors|lines|wavefronts|lanes|requests> now")
def _(facts: ShotFacts, name: str) -> Answer:
    """Of the step that is shown, of those who are watched."""
    return int(getattr(facts.moment.cost, name))


@_asks("<sectors|lines|wavefronts|lanes> of a request of <NAME>")
def _(facts: ShotFacts, name: str, array: str) -> Answer:
    """Of the first access to an array by the watched warp, or the block's first."""
    moment = facts.moment
    number = facts.replay.trace.number_of(array)
    if number is None:
        raise UsageError(f"the kernel has no array {array}")
    first = next((int(t.steps[0]) for t in facts.replay.trace.touches_of(number) if len(t.steps)), None)
    if first is None:
        raise UsageError(f"nobody touches {array}")
    focus = moment.focus if moment.focus.warp is not None else replace(moment.focus, warp=0)
    return int(getattr(Reader(facts.replay, focus).at(first).cost, name))


@_asks("reads by thread <n>")
def _(facts: ShotFacts, thread: str) -> Answer:
    """From global memory, by the end of the run."""
    return facts.reads.count(_thread(facts, thread), facts.setup.problem.K, facts.replay.steps)


@_asks("reads by thread <n> up to k = <k>")
def _(facts: ShotFacts, thread: str, k: str) -> Answer:
    return facts.reads.count(_thread(facts, thread), int(k) + 1, facts.replay.steps)


def _thread(facts: ShotFacts, number: str) -> int:
    """One of a block's. Raises UsageError for others."""
    count = facts.launch.threads_per_block
    if int(number) >= count:
        raise UsageError(f"a block has no thread {number}", remedy=f"choose 0 to {count - 1}")
    return int(number)


@_asks("what thread <n> reads of <A|B> at k = <k>")
def _(facts: ShotFacts, thread: str, name: str, k: str) -> Answer:
    """The element, in the words of the shot."""
    trace = facts.replay.trace
    number = trace.number_of(name)
    found = [e for n, e in facts.reads.of(_thread(facts, thread), int(k), facts.replay.steps) if n == number]
    if not found or number is None:
        return "nothing"
    return facts.shot.labels.element(name, *trace.arrays[number].place(found[0]))


@_asks("elements of <A|B> that a block copies in a phase")
def _(facts: ShotFacts, name: str) -> Answer:
    moment, trace = facts.moment, facts.replay.trace
    phase = max(0, moment.phase)
    threads = range(trace.space.threads_per_block)
    return sum(each.matrix == name for t in threads for each in copies_of(trace, moment.scope, t, phase))


@_asks("copy <n> of thread <n> in phase <p>")
def _(facts: ShotFacts, place: str, thread: str, phase: str) -> Answer:
    """Which element of which matrix goes where, in the words of the shot; copies and phases count from 1."""
    found = copies_of(facts.replay.trace, facts.moment.scope, int(thread), int(phase) - 1)
    if not 1 <= int(place) <= len(found):
        return "nothing"
    each, labels = found[int(place) - 1], facts.shot.labels
    return f"{labels.element(each.matrix, *each.source)} → {labels.element(each.array, *each.target)}"


@_asks("product <n> of thread <n> in phase <p>")
def _(facts: ShotFacts, place: str, thread: str, phase: str) -> Answer:
    """The two cells of shared memory that are multiplied; products and phases count from 1."""
    found = products_of(facts.replay, facts.moment.scope, int(thread), int(phase) - 1)
    if not 1 <= int(place) <= len(found):
        return "nothing"
    each, labels = found[int(place) - 1], facts.shot.labels
    return f"{labels.element(*each.left)} · {labels.element(*each.right)}"


@_asks("terms of a sum")
def _(facts: ShotFacts) -> Answer:
    return 0 if facts.moment.terms is None else facts.moment.terms.length


@_asks("terms so far")
def _(facts: ShotFacts) -> Answer:
    terms = facts.moment.thread_terms
    return 0 if terms is None else int(terms.done.min())


@_asks("terms are in order of k")
def _(facts: ShotFacts) -> Answer:
    terms = facts.moment.terms
    return terms is not None and bool((np.diff(terms.steps, axis=1) >= 0).all())


@_asks("<rows|columns> of C of the block")
def _(facts: ShotFacts, which: str) -> Answer:
    """As "0 to 1", both included."""
    elements, _ = facts.replay.owners.of(facts.moment.scope.of_block)
    array = facts.replay.owners.array
    assert array is not None
    found = array.row_column(elements)[which == "columns"]
    return f"{int(found.min())} to {int(found.max())}"


@_asks("<rows|columns> of C of the warp")
def _(facts: ShotFacts, which: str) -> Answer:
    """How many different ones the watched warp stores, or the block's first."""
    moment = facts.moment
    size = moment.trace.rules.warp_size
    start = moment.scope.of_block.start + size * (moment.focus.warp or 0)
    elements, _ = facts.replay.owners.of(slice(start, min(start + size, moment.scope.of_block.stop)))
    array = facts.replay.owners.array
    assert array is not None
    return len(np.unique(array.row_column(elements)[which == "columns"]))


@_asks("tiles of <A|B> that the block reads")
def _(facts: ShotFacts, name: str) -> Answer:
    return len(facts.moment.areas(name))


@_asks("stride of <A|B>")
def _(facts: ShotFacts, name: str) -> Answer:
    """Bytes from one read of the watched thread to its next, -1 where they are not evenly spaced."""
    walked = walk_of(facts.moment, name)
    found = None if walked is None else stride_of(walked[2])
    return -1 if found is None else found


@_asks("offset of <A|B|C> at row <r>, column <c>")
def _(facts: ShotFacts, name: str, row: str, column: str) -> Answer:
    """In elements, as the kernel has the matrix in memory."""
    array = facts.replay.trace.arrays[facts.replay.trace.number_of(name) or 0]
    rows, columns = array.shape[0], array.shape[-1]
    if int(row) >= rows or int(column) >= columns:
        raise UsageError(f"{name} has {rows} × {columns} elements: none at row {row}, column {column}")
    return int(column) * rows + int(row) if array.column_major else int(row) * columns + int(column)


@_asks("bytes asked of <global|shared> memory so far")
def _(facts: ShotFacts, space: str) -> Answer:
    return facts.moment.so_far(space).bytes_asked  # type: ignore[arg-type]


# Models


@_asks("work")
def _(facts: ShotFacts) -> Answer:
    return work_of(facts.setup.problem.N)


@_asks("span")
def _(facts: ShotFacts) -> Answer:
    return span_of(facts.setup.problem.N)


@_asks("parallelism")
def _(facts: ShotFacts) -> Answer:
    return work_of(facts.setup.problem.N) // span_of(facts.setup.problem.N)


@_asks("mebibytes of the matrices")
def _(facts: ShotFacts) -> Answer:
    return data_bytes(facts.setup.problem.N) / 2**20


@_asks("percent of cycles issued")
def _(facts: ShotFacts) -> Answer:
    return 100 * hiding_of(facts.occupancy).used


@_asks("blanks")
def _(facts: ShotFacts) -> Answer:
    """What a student is to fill in."""
    return facts.setup.kernel.blanks


# Races


@_asks("who races")
def _(facts: ShotFacts) -> Answer:
    """Warps; threads, of a block that is one warp."""
    return facts.race.kind


@_asks("elements wrong by the race")
def _(facts: ShotFacts) -> Answer:
    return int(facts.race.spoilt.sum())


@_asks("steps ahead in the race")
def _(facts: ShotFacts) -> Answer:
    """The shortest lead that spoils C, 0 where none does."""
    return facts.race.lead


@_asks("warps of a scheduler")
def _(facts: ShotFacts) -> Answer:
    return hiding_of(facts.occupancy).warps


# Recordings


@_asks("GFLOP/s of <KERNEL> at N = <n>")
def _(facts: ShotFacts, kernel: str, n: str) -> Answer:
    """The fastest of its parameters, or those with the width that the shot chooses."""
    return _row(facts, kernel, int(n)).gflops or 0.0


@_asks("percent of cuBLAS of <KERNEL> at N = <n>")
def _(facts: ShotFacts, kernel: str, n: str) -> Answer:
    share = facts.benchmark.share_of_cublas(_row(facts, kernel, int(n)))
    if share is None:
        raise UsageError(f"cuBLAS was not recorded at N = {n}")
    return 100 * share


@_asks("GFLOP/s of <KERNEL> <w> wide at N = <n>")
def _(facts: ShotFacts, kernel: str, width: str, n: str) -> Answer:
    return _row(facts, kernel, int(n), int(width)).gflops or 0.0


@_asks("times as fast as <KERNEL> is <KERNEL> at N = <n>")
def _(facts: ShotFacts, other: str, kernel: str, n: str) -> Answer:
    base = _row(facts, other, int(n)).gflops
    return (_row(facts, kernel, int(n)).gflops or 0.0) / base if base else 0.0


@_asks("microseconds of the copies at N = <n>")
def _(facts: ShotFacts, n: str) -> Answer:
    row = next((row for row in facts.benchmark.rows if int(n) == row.problem.N and row.transfer is not None), None)
    if row is None or row.transfer is None:
        raise UsageError(f"no copies were recorded at N = {n}")
    return row.transfer.total_ms * 1e3


@_asks("blocks at N = <n>")
def _(facts: ShotFacts, n: str) -> Answer:
    """Of square blocks as wide as the shot chooses."""
    return blocks_at(int(n), facts.shot.chart.width or 1)


@_asks("blocks for each SM at N = <n>")
def _(facts: ShotFacts, n: str) -> Answer:
    return blocks_at(int(n), facts.shot.chart.width or 1) / facts.device.sms


@_asks("N recorded")
def _(facts: ShotFacts) -> Answer:
    return facts.transfers.runs[0].n


@_asks("copies to the device")
def _(facts: ShotFacts) -> Answer:
    return sum(call.name == "Memcpy" and call.what.partition(" ")[0].endswith("d") for call in facts.transfers.runs[0].calls)


@_asks("microseconds of <pageable|pinned> copies")
def _(facts: ShotFacts, memory: str) -> Answer:
    return next(run.total("Memcpy") for run in facts.transfers.runs if run.memory == memory)


@_asks("microseconds of the kernel")
def _(facts: ShotFacts) -> Answer:
    return facts.transfers.runs[0].total("launch")


def _row(facts: ShotFacts, kernel: str, n: int, width: int = 0) -> Measured:
    """The fastest recorded row, of those with a width."""
    wanted = CUBLAS if kernel.lower() == "cublas" else kernel
    width = width or facts.shot.chart.width
    rows = [row for row in facts.benchmark.rows if row.kernel == wanted and n == row.problem.N and row.gflops is not None]
    rows = [row for row in rows if not width or not row.parameters or width in row.parameters.values()]
    if not rows:
        raise UsageError(f"{kernel} was not recorded at N = {n}")
    return max(rows, key=lambda row: row.gflops or 0.0)

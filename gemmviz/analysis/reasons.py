"""The causes of a kernel's time, from the counts of its launch: what each costs in a model's time, and the counts behind it.

A cause costs the model's time minus the model's time without it. Excess lines, excess wavefronts, repeated loads and reads of
shared memory are separate work, so that no line or wavefront counts for two causes. SMs and lanes without work stretch all of
it. Where the model does not hold, causes are ranked by their counted excess.
"""

from collections.abc import Callable, Iterator
from operator import attrgetter

from msgspec import Struct, structs

from gemmviz.analysis.counts import BranchCounts, Counts, LaunchCounts, loads_per_element, values_read
from gemmviz.analysis.models import OccupancyLimits
from gemmviz.model.cases import Cause
from gemmviz.model.device import Device
from gemmviz.model.messages import listed, many, number, spaced, tr
from gemmviz.model.problem import Problem
from gemmviz.model.sites import MemoryArray, Site, Space

# A model of a launch's time, from its counts: the longest of three kinds of work that run side by side.

_GIGA, _MS = 1e9, 1e3


class Work(Struct, frozen=True):
    """Work of a whole launch: lines and wavefronts through the data paths, floating-point operations, bytes that DRAM moves at
    least, and the share of all SMs' time in which they have blocks, 0 to 1.
    """

    lines: float
    wavefronts: float
    flops: float
    dram_bytes: float
    busy: float

    @property
    def passes(self) -> float:
        """Lines and wavefronts, of which an SM passes one per cycle."""
        return self.lines + self.wavefronts

    def time_ms(self, device: Device) -> float:
        """The model's time in ms."""
        data_path = self.passes / (device.sms * self.busy * clock_ghz(device) * _GIGA)
        arithmetic = self.flops / (device.peak_gflops * self.busy * _GIGA)
        return _MS * max(data_path, arithmetic, self.dram_bytes / (device.bandwidth_gb_s * _GIGA))


def clock_ghz(device: Device) -> float:
    """The clock that the peak rate implies: each FP32 unit finishes one multiply-add per cycle."""
    return device.peak_gflops / (2 * device.sms * device.fp32_per_sm)


def holds_for(device: Device) -> bool:
    """Whether the model describes a device: a product whose requests pass a cache of lines and sectors."""
    return device.memory is not None and device.memory.coalescing == "sectors" and not device.is_toy


def busy_share(blocks: int, sms: int) -> float:
    """The mean number of blocks of an SM over that of the SM with the most."""
    return blocks / (-(-blocks // sms) * sms) if blocks else 1.0


_MOST_CAUSES = 3
_WORTH_A_WORD, _MAIN = 0.01, 0.5  # of the model's time
_LOW_OCCUPANCY = 50.0


class Launched(Struct, frozen=True):
    """What causes are found from: the counts of a launch, the limits of its occupancy, its problem and number of blocks."""

    counts: LaunchCounts
    limits: OccupancyLimits
    problem: Problem
    blocks: int

    @property
    def work(self) -> Work:
        """The work of the launch as it is."""
        total, device = self.counts.total(), self.limits.device
        least = sum(array.size * array.itemsize for array in self.counts.arrays if array.space == "global")
        return Work(total.lines, total.wavefronts, self.problem.flops or 0, least, busy_share(self.blocks, device.sms))

    @property
    def model_ms(self) -> float | None:
        """The model's time in ms; None if the model does not hold for the device."""
        device = self.limits.device
        return self.work.time_ms(device) if holds_for(device) else None

    def without(self, cause: Cause, **changed: float) -> Cause:
        """A cause with its cost: of the work that remains with these changes."""
        now, work = self.model_ms, structs.replace(self.work, **changed)
        cause = structs.replace(cause, spared=self.work.passes - work.passes)
        return cause if now is None else structs.replace(cause, cost_ms=max(0.0, now - work.time_ms(self.limits.device)))


def causes_of(launched: Launched) -> tuple[Cause, ...]:
    """The causes that cost most, at most three, the most expensive first. Wasted accesses are left out only if nothing would be
    saved without them.
    """
    found = [cause for finder in _FINDERS for cause in finder(launched)]
    ranked = sorted(found, key=lambda each: (each.cost_ms or 0.0, each.excess), reverse=True)
    least = _WORTH_A_WORD * (launched.model_ms or 0.0)
    worth = [
        each for each in ranked
        if each.cost_ms is None or each.cost_ms >= least or (each.kind in ("coalescing", "banks") and each.cost_ms > 0)
    ]  # fmt: skip
    kept = sorted(worth, key=lambda each: each.kind not in ("coalescing", "banks"))[:_MOST_CAUSES]
    return tuple(each for each in worth if each in kept) or (_no_cause(launched),)


def main_cause(launched: Launched, is_small: bool) -> Cause | None:
    """The most expensive cause if without it a launch would take at most half of the model's time. ``is_small``: whether a size
    was chosen for a picture, so that too little work is no cause.
    """
    causes = [cause for cause in causes_of(launched) if not (is_small and cause.kind == "idle")]
    least = _MAIN * (launched.model_ms or 0.0)
    return next((cause for cause in causes if cause.cost_ms is not None and cause.cost_ms >= least), None)


def _coalescing(launched: Launched) -> Iterator[Cause]:
    counts = launched.counts
    found = _lost(counts, "global", "sectors")
    if found is None:
        return
    site, took, needed, cause = found
    times = "" if needed == 0 else tr(": {took} times as many", took=f"{took / needed:.3g}")
    sentence = tr(
        "Every request of {site_text} moves {took} sectors, {needed} needed{times}",
        site_text=site.text,
        took=f"{took:.3g}",
        needed=f"{needed:.3g}",
        times=times,
    )
    yield launched.without(structs.replace(cause, kind="coalescing", sentence=sentence), lines=sum(_needed_lines(counts)))


def _bank_conflicts(launched: Launched) -> Iterator[Cause]:
    found = _lost(launched.counts, "shared", "wavefronts")
    if found is None:
        return
    site, took, needed, cause = found
    sentence = tr(
        "Every access to {site_text} takes {took} wavefronts, {needed} needed: bank conflicts",
        site_text=site.instruction or site.text,
        took=f"{took:.3g}",
        needed=f"{needed:.3g}",
    )
    ideal = launched.counts.total("shared").ideal_wavefronts
    yield launched.without(structs.replace(cause, kind="banks", sentence=sentence), wavefronts=ideal)


def _idle_sms(launched: Launched) -> Iterator[Cause]:
    sms, blocks, name = launched.limits.device.sms, launched.blocks, launched.limits.device.name
    busy = busy_share(blocks, sms)
    if busy >= 1.0:
        return
    sentence = (
        tr("{blocks} leaves {idle} of {sms} SMs without work", blocks=many(blocks, "block"), idle=sms - blocks, sms=sms)
        if blocks == 1
        else tr("{blocks} leave {idle} of {sms} SMs without work", blocks=many(blocks, "block"), idle=sms - blocks, sms=sms)
    )
    if blocks > sms:
        sentence = tr(
            "The busiest SM runs {most} blocks, an average one {average}",
            most=-(-blocks // sms),
            average=f"{blocks / sms:.3g}",
        )
    proof = tr("the grid has {blocks}, the {name} {sms} SMs", blocks=many(blocks, "block"), name=name, sms=sms)
    yield launched.without(Cause("idle", sentence, proof, excess=1 / busy, is_waste=True), busy=1.0)


def _divergence(launched: Launched) -> Iterator[Cause]:
    """Accesses of both ways of a branch at which lanes of a warp part: each way has requests of its own."""
    counts, work = launched.counts, launched.work
    shares = _shares_together(counts)
    if not shares:
        return
    site, worst = max(_parting(counts), key=lambda item: item[1].parted)
    total = sum((each for (at, _), each in counts.accesses.items() if at in shares), Counts())
    fewer, parts = 0.0, {"lines": work.lines, "wavefronts": work.wavefronts}
    for (at, _), each in counts.accesses.items():
        fewer += each.requests * (1 - shares.get(at, 1.0))
        for unit in parts:
            parts[unit] -= getattr(each, unit) * (1 - shares.get(at, 1.0))
    sentence = tr(
        "Lanes part at {condition} in {parted} of {executions} executions by a warp: both ways run, one after the other",
        condition=site.text,
        parted=spaced(worst.parted),
        executions=spaced(worst.executions),
    )
    needed = round(total.requests - fewer)
    requests = many(total.requests, "request")
    proof = tr("{requests} on both ways, {needed} if no lanes parted", requests=requests, needed=spaced(needed))
    excess = total.requests / max(1, needed)
    yield launched.without(Cause("divergence", sentence, proof, excess=excess, is_waste=True, site=site), **parts)


def _parting(counts: LaunchCounts) -> list[tuple[Site, BranchCounts]]:
    """The branches at which lanes of a warp part, and both of whose ways access memory."""
    sites = {site for site, _ in counts.accesses}
    return [
        (branch, each)
        for branch, each in counts.branches.items()
        if each.parted
        and len(branch.arms) == 2
        and all(any(site.is_within(arm, branch.calls) for site in sites) for arm in branch.arms)
    ]


def _shares_together(counts: LaunchCounts) -> dict[Site, float]:
    """For each site in a way of a branch at which lanes part: the share of its requests that would remain if all lanes of a
    warp went the same way.
    """
    shares: dict[Site, float] = {}
    for branch, each in _parting(counts):
        for site, _ in counts.accesses:
            if any(site.is_within(arm, branch.calls) for arm in branch.arms):
                shares[site] = shares.get(site, 1.0) * each.executions / (each.executions + each.parted)
    return shares


def _idle_lanes(launched: Launched) -> Iterator[Cause]:
    """Lanes of warps that take no part in an access: blocks of few threads, or threads outside of the arrays; not those that
    wait for another way of a branch.
    """
    counts, work = launched.counts, launched.work
    parting, lanes = _shares_together(counts), launched.limits.device.rules.request_lanes
    total = sum((each for (site, _), each in counts.accesses.items() if site not in parting), Counts())
    share = total.lanes / (lanes * total.requests) if total.requests else 1.0
    if share >= 1.0:
        return
    sentence = tr("On average, {active} of {lanes} lanes take part in an access", active=f"{lanes * share:.3g}", lanes=lanes)
    proof = tr("{requests} requests for {lanes} lanes", requests=spaced(total.requests), lanes=spaced(total.lanes))
    parts = {"lines": work.lines - total.lines * (1 - share), "wavefronts": work.wavefronts - total.wavefronts * (1 - share)}
    yield launched.without(Cause("lanes", sentence, proof, excess=1 / share, is_waste=True), **parts)


def _repeated_loads(launched: Launched) -> Iterator[Cause]:
    """Needed lines beyond those that load every element once."""
    counts, rules = launched.counts, launched.counts.rules
    loads = {name: times for name, times in loads_per_element(counts).items() if name in _input_arrays(counts)}
    most = max(loads.values(), default=0.0)
    if most <= 1.0:
        return
    once = sum(array.size * array.itemsize for array in _input_arrays(counts).values()) / rules.line_bytes
    reads = sum(_needed_lines(counts, "read"))
    sentence = tr(
        "The launch loads an element of {loads} {most} times", loads=max(loads, key=loads.__getitem__), most=f"{most:.4g}"
    )
    if launched.problem.is_multiply and launched.problem.flops:
        requested = counts.total("global", "read").bytes_asked / (launched.problem.flops / 2)
        sentence = tr("Each multiply-add requests {requested} bytes from global memory", requested=f"{requested:.3g}")
    proof = tr("loads of an element: ") + ", ".join(f"{name} {number(times)}" for name, times in loads.items())
    cause = Cause("reuse", sentence, proof, excess=most, site=_largest_reader(counts, "global", "lines"))
    yield launched.without(cause, lines=launched.work.lines - max(0.0, reads - once))


def _shared_reads(launched: Launched) -> Iterator[Cause]:
    """Wavefronts that reads of shared memory need even without conflicts."""
    counts, flops = launched.counts, launched.problem.flops
    reads, values = counts.total("shared", "read"), values_read(counts)
    if not reads.requests:
        return
    sentence = tr("The launch reads {values} values from shared memory", values=spaced(values))
    if launched.problem.is_multiply and flops:
        sentence = tr("Each multiply-add reads {values} values from shared memory", values=f"{values / (flops / 2):.3g}")
    proof = tr("{ideal_wavefronts} wavefronts that reads need", ideal_wavefronts=spaced(reads.ideal_wavefronts))
    cause = Cause("shared", sentence, proof, site=_largest_reader(counts, "shared", "ideal_wavefronts"))
    yield launched.without(cause, wavefronts=launched.work.wavefronts - reads.ideal_wavefronts)


def _arithmetic_alone(launched: Launched) -> Iterator[Cause]:
    flops, device = launched.problem.flops, launched.limits.device
    if flops:
        sentence = tr("The arithmetic itself: {flops} floating-point operations", flops=number(flops))
        yield launched.without(
            Cause("arithmetic", sentence, tr("peak {peak_gflops} GFLOP/s", peak_gflops=number(device.peak_gflops))), flops=0.0
        )


def _occupancy(launched: Launched) -> Iterator[Cause]:
    limits = launched.limits
    if limits.is_certain and 0 < limits.warps_percent < _LOW_OCCUPANCY:
        most = limits.device.max_warps_per_sm
        sentence = tr("An SM holds {warps} of {most} warps, few to hide latency", warps=limits.warps, most=most)
        yield Cause(
            "occupancy",
            sentence,
            tr("limited by {limiting}", limiting=listed(map(tr, limits.limiting))),
            excess=most / limits.warps,
        )


_FINDERS: tuple[Callable[[Launched], Iterator[Cause]], ...] = (
    _coalescing, _bank_conflicts, _divergence, _idle_sms, _idle_lanes, _repeated_loads, _shared_reads, _arithmetic_alone,
    _occupancy,
)  # fmt: skip


def _no_cause(launched: Launched) -> Cause:
    return Cause(
        "nothing",
        tr("No counted cost stands out"),
        tr("{bytes_asked} bytes requested", bytes_asked=spaced(launched.counts.total("global").bytes_asked)),
    )


def _lost(counts: LaunchCounts, space: Space, unit: str) -> tuple[Site, float, float, Cause] | None:
    """The access that loses most units of a kind of memory, the units that each of its requests takes and needs, and the cause
    that they are; None if nothing is lost: if the launch takes no more than the ideal number.
    """
    spent: Callable[[Counts], tuple[int, int]] = attrgetter(unit, f"ideal_{unit}")
    needs = attrgetter("needed_sectors" if unit == "sectors" else "ideal_wavefronts")
    took, ideal = spent(counts.total(space))
    inside = [(key[0], each) for key, each in counts.accesses.items() if counts.arrays[key[1].array].space == space]
    if took <= ideal or not inside:
        return None
    site, worst = max(inside, key=lambda item: spent(item[1])[0] - spent(item[1])[1])
    a_request = [each / max(1, worst.requests) for each in (spent(worst)[0], needs(worst))]
    proof = tr("{lost} of {took} {unit} lost", lost=spaced(took - needs(counts.total(space))), took=spaced(took), unit=tr(unit))
    cause = Cause("nothing", "", proof, excess=took / max(1, ideal), is_waste=True, site=site)
    return site, a_request[0], a_request[1], cause


def _needed_lines(counts: LaunchCounts, *accesses: str) -> Iterator[float]:
    """Lines that each access to global memory would touch if its sectors were the fewest; at least one a request."""
    per_line = counts.rules.line_bytes // counts.rules.sector_bytes
    for (_, operand), each in counts.accesses.items():
        if counts.arrays[operand.array].space == "global" and (not accesses or operand.access in accesses):
            yield min(each.lines, max(each.requests, each.ideal_sectors / per_line))


def _input_arrays(counts: LaunchCounts) -> dict[str, MemoryArray]:
    """Arrays of global memory that the launch reads, by name."""
    read = {operand.array for (_, operand) in counts.accesses if operand.access == "read"}
    return {
        counts.arrays[number].name: counts.arrays[number] for number in sorted(read) if counts.arrays[number].space == "global"
    }


def _largest_reader(counts: LaunchCounts, space: Space, unit: str) -> Site | None:
    """The reading access to a kind of memory with most of a unit."""
    inside = [
        (getattr(each, unit), site) for (site, operand), each in counts.accesses.items()
        if counts.arrays[operand.array].space == space and operand.access == "read"
    ]  # fmt: skip
    return max(inside, key=lambda item: item[0])[1] if inside else None

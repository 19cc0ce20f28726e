"""The factor that limits a kernel's speed, as a sentence with the counts that support it.

Every number is a count of the whole launch. The largest ratio of actual to needed cost wins: sectors, wavefronts, or SMs
without work. If there is no such loss, the data needed per multiply-add and the number of resident warps decide.
"""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from gemmviz.analysis.memory.counts import Counts, LaunchCounts, loads_per_element, values_read
from gemmviz.analysis.models.occupancy import OccupancyLimits
from gemmviz.model.problem import Problem
from gemmviz.model.sites import Space
from gemmviz.model.words import many, spaced

ReasonKind = Literal["coalescing", "banks", "idle", "reuse", "shared", "occupancy", "nothing"]
_WORTH_A_WORD = 1.25  # ratio of actual to needed
_LOW_OCCUPANCY = 50.0
_MANY_READS = 0.75  # values of shared memory that a multiply-add reads
_LITTLE_REUSE = 4.0  # bytes of global memory that a multiply-add requests


@dataclass(frozen=True, slots=True)
class Reason:
    """A limiting factor: its kind, a sentence, and the counts that support it."""

    kind: ReasonKind
    sentence: str
    proof: str


def reason_of(counts: LaunchCounts, limits: OccupancyLimits, problem: Problem, blocks: int) -> Reason:
    """The most important limiting factor. ``blocks``: of the launch."""
    reasons = [_coalescing(counts), _banks(counts), _idle(limits, blocks)]
    weight, reason = max(reasons, key=lambda each: each[0])
    return reason if weight >= _WORTH_A_WORD else _demand(counts, limits, problem)


def _coalescing(counts: LaunchCounts) -> tuple[float, Reason]:
    weight, text, (moved, needed), proof = _lost(counts, "global", "sectors")
    sentence = f"Every request of {text} moves {moved:.3g} sectors where {needed:.3g} would suffice"
    return weight, Reason("coalescing", sentence, proof)


def _banks(counts: LaunchCounts) -> tuple[float, Reason]:
    weight, text, (took, needed), proof = _lost(counts, "shared", "wavefronts")
    sentence = f"Every access to {text} takes {took:.3g} wavefronts where {needed:.3g} would suffice: bank conflicts"
    return weight, Reason("banks", sentence, proof)


def _idle(limits: OccupancyLimits, blocks: int) -> tuple[float, Reason]:
    sms = limits.device.sms
    verb = "leaves" if blocks == 1 else "leave"
    sentence = f"{many(blocks, 'block')} {verb} {max(0, sms - blocks)} of {sms} SMs without work"
    return sms / max(1, blocks), Reason(
        "idle", sentence, f"the grid has {many(blocks, 'block')}, the {limits.device.name} {sms} SMs"
    )


def _lost(counts: LaunchCounts, space: Space, unit: str) -> tuple[float, str, tuple[float, float], str]:
    """The ratio of actual to needed units of a kind of memory; the access that loses most, as in the source, with the units
    that each of its requests takes and needs; and the proof.
    """
    spent: Callable[[Counts], tuple[int, int]] = attrgetter(unit, f"ideal_{unit}")
    took, needed = spent(counts.total(space))
    weight = took / max(1, needed)
    inside = [(key[0], each) for key, each in counts.accesses.items() if counts.arrays[key[1].array].space == space]
    worst, text = Counts(), ""
    if inside:
        site, worst = max(inside, key=lambda item: spent(item[1])[0] - spent(item[1])[1])
        text = site.text
    a_request = spent(worst)[0] / max(1, worst.requests), spent(worst)[1] / max(1, worst.requests)
    return weight, text, a_request, f"{spaced(took)} {unit} in all, {spaced(needed)} needed: {weight:.3g} times as many"


def _demand(counts: LaunchCounts, limits: OccupancyLimits, problem: Problem) -> Reason:
    """The limiting factor of a kernel without losses: the demand of each multiply-add, if the problem has any."""
    few_warps = limits.is_certain and limits.warps_percent < _LOW_OCCUPANCY
    if few_warps and not problem.is_multiply:
        return _occupancy(limits)
    if not problem.is_multiply or problem.flops is None:
        return Reason("nothing", "No counted cost stands out", f"{spaced(counts.total('global').bytes_asked)} bytes requested")
    multiplies = problem.flops / 2
    requested = counts.total("global", "read").bytes_asked / multiplies
    read = values_read(counts) / multiplies
    if requested >= _LITTLE_REUSE:
        loads = loads_per_element(counts)
        sentence = f"Each multiply-add requests {requested:.3g} bytes from global memory"
        proof = f"an element of A is loaded {loads.get('A', 0):,.4g} times, one of B {loads.get('B', 0):,.4g} times"
        return Reason("reuse", sentence, proof)
    if read >= _MANY_READS:
        sentence = f"Each multiply-add reads {read:.3g} values from shared memory"
        instructions = spaced(counts.total("shared", "read").requests)
        return Reason("shared", sentence, f"{instructions} instructions of warps for {spaced(int(multiplies))} multiply-adds")
    if few_warps:
        return _occupancy(limits)
    return Reason("nothing", "No counted cost stands out", f"{requested:.2g} bytes and {read:.2g} values a multiply-add")


def _occupancy(limits: OccupancyLimits) -> Reason:
    sentence = f"An SM holds {limits.warps} of {limits.device.max_warps_per_sm} warps: too few to hide latency"
    return Reason("occupancy", sentence, f"limited by {' and '.join(limits.limiting)}")

"""Quantities of how the run ended: the check of C, faults, hazards, races."""

from typing import Literal

from gemmviz.model.translation import marked
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.quantities.quantity import quantity

HazardId = Literal["read-after-write", "write-after-read", "write-after-write"]


@quantity("C")
def result(facts: Knowledge) -> str:
    """``right`` or ``wrong``, by the check of the outputs; ``unwritten`` if the traced threads store nothing that could be
    compared, ``unchecked`` if the problem is unknown. Raises the fault that ended the run early.
    """
    fault = facts.outcome.fault
    if fault is not None and fault.id == "no-access":
        return "unwritten"
    if fault is not None:
        raise fault
    check = facts.replay.trace.check
    if not check.is_checked:
        return "unchecked"
    if not check.compared:
        return "unwritten"
    return "right" if check.passed else "wrong"


@quantity(marked("C of the compared launch"))
def compared_result(facts: Knowledge) -> str:
    """``result`` of the launch that the shot compares with. Raises UsageError where there is none."""
    return str(result.compute(facts.compared))


@quantity(marked("wrong elements of C"))
def wrong_elements(facts: Knowledge) -> int:
    """Elements of the outputs that differ from the expected ones by more than rounding, in a complete run."""
    return facts.replay.trace.check.wrong


@quantity(marked("elements of C that are never written"))
def unwritten_elements(facts: Knowledge) -> int:
    """Elements of the outputs that no thread stores, in a complete run of the whole launch."""
    return facts.replay.trace.check.unwritten


@quantity("fault")
def fault(facts: Knowledge) -> str:
    """Id of the fault that ended the run early; ``""`` for a complete run."""
    return "" if facts.outcome.fault is None else facts.outcome.fault.id


@quantity(marked("{kind} hazards[ of {array}]"))
def hazards(facts: Knowledge, kind: HazardId, array: str | None = None) -> int:
    """Pairs of accesses without a barrier between them, of one kind, to all arrays or to one."""
    words = kind.replace("-", " ")
    return sum(each.count for each in facts.replay.hazards if each.kind == words and array in (None, each.array))


@quantity(marked("units that race"))
def racing_units(facts: Knowledge) -> str:
    """``warps``, or ``threads`` for a block of a single warp."""
    return facts.race.kind


@quantity(marked("elements of C that the race spoils"))
def race_wrong_elements(facts: Knowledge) -> int:
    """Wrong elements of C in the adverse order that was found."""
    return int(facts.race.spoilt.sum())


@quantity(marked("steps ahead in the race"))
def race_lead(facts: Knowledge) -> int:
    """Shortest lead that spoils C, in steps since the last barrier that all units reach; 0 if no order does."""
    return facts.race.lead


@quantity(marked("largest error of C"))
def largest_error(facts: Knowledge) -> float:
    """Largest error of an element of the output, compared with float64."""
    return facts.replay.trace.check.worst_error or 0.0


@quantity(marked("largest error of the compared run's C, in multiples of this one's"))
def compared_error_ratio(facts: Knowledge) -> float:
    """Largest error of the run that the shot compares with, divided by the shot's own. Raises UsageError without one."""
    own = float(largest_error.compute(facts))
    other = float(largest_error.compute(facts.compared))
    return other / own if own else 0.0

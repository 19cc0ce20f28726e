"""Checks of every step's run, unless an expectation of the step says otherwise: C is right, and there are no hazards."""

from collections.abc import Iterator
from typing import get_args

from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.run.engine import Engine
from gemmviz.teaching.lesson import Expectation, LessonStep
from gemmviz.teaching.quantities.catalog import quantity_value
from gemmviz.teaching.quantities.quantity import ERROR_QUANTITIES, QuantityValue
from gemmviz.teaching.quantities.reference import QuantityReference, parse_reference
from gemmviz.teaching.quantities.results import HazardId
from gemmviz.teaching.whole_runs import WholeRun, WholeRuns

RIGHT = Expectation("result", "right")
Finding = tuple[str, Expectation | None, QuantityValue | None, GemmvizError | None]  # subject, expected and actual value, error


def run_findings(step: LessonStep, engine: Engine, runs: WholeRuns) -> Iterator[Finding]:
    """Findings about the step's run, and about that of the launch that it is compared with."""
    expected = [reference for each in step.expect if (reference := _reference(each)) is not None]
    ids = {each.id for each in expected}
    if _shows_error(step) or (step.shot.setup.kernel.blanks and step.exercise is not None):
        return  # what is wrong has a name; the blanks are checked with their solution
    run = runs.of(step.shot.setup, engine)
    if "result" not in ids:
        yield _result(run, "C")
    yield from _hazards(run, expected)
    against = step.shot.against
    if against is not None and not against.setup.kernel.unfinished and "compared_result" not in ids:
        yield _result(runs.of(against.setup, engine), "C of the compared launch")


def _shows_error(step: LessonStep) -> bool:
    """Whether a step expects a launch that is refused, or a run that faults."""
    return any(each.quantity in ERROR_QUANTITIES and each.value for each in step.expect)


def _reference(each: Expectation) -> QuantityReference | None:
    try:
        return parse_reference(each.quantity)
    except UsageError:
        return None  # reported as an expectation that can't be computed


def _result(run: WholeRun, subject: str) -> Finding:
    try:
        return f"{subject}{run.where}", RIGHT, quantity_value(RIGHT.quantity, run.facts), None
    except GemmvizError as error:
        return f"{subject}{run.where}", RIGHT, None, error


def _hazards(run: WholeRun, expected: list[QuantityReference]) -> Iterator[Finding]:
    """A finding for each kind of hazard over an array that no expectation names."""
    named = [each.arguments for each in expected if each.id == "hazards"]
    try:
        hazards = run.facts.replay.hazards
    except GemmvizError:
        return  # the error is that of the result
    for kind in get_args(HazardId):
        arrays = [each.array for each in hazards if each.kind == kind.replace("-", " ") and each.count]
        for array in dict.fromkeys(arrays):
            if not any(each.get("kind") == kind and each.get("array", array) == array for each in named):
                quantity = f"hazards(kind={kind}, array={array})"
                expectation = Expectation(quantity, 0)
                yield f"{kind} hazards of {array}{run.where}", expectation, quantity_value(quantity, run.facts), None

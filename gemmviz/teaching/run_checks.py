"""Checks of every step's run, unless an expectation of the step says otherwise: C is right, and there are no hazards."""

from collections.abc import Iterator
from typing import get_args

from msgspec import Struct

from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.records import replace
from gemmviz.run.engine import Engine
from gemmviz.teaching.lesson import Expectation, LessonStep
from gemmviz.teaching.quantities.catalog import quantity_value
from gemmviz.teaching.quantities.quantity import ERROR_QUANTITIES, QuantityValue
from gemmviz.teaching.quantities.reference import QuantityReference, parse_reference
from gemmviz.teaching.quantities.results import HazardId
from gemmviz.teaching.whole_runs import WholeRun, WholeRuns

RIGHT = Expectation("result", "right")
_OF_ALL_SIZES = ("right", "unwritten")  # results that don't depend on the sizes


class Finding(Struct, frozen=True):
    """What was found of a run. ``subject``: what it is about; ``actual``: None if ``error`` says why it can't be computed.
    ``is_advice``: the step's own launch is right, another one of its kernel isn't.
    """

    subject: str
    expectation: Expectation
    actual: QuantityValue | None = None
    error: GemmvizError | None = None
    is_advice: bool = False

    @property
    def is_true(self) -> bool:
        return self.actual is not None and self.expectation.is_met_by(self.actual)


def run_findings(step: LessonStep, engine: Engine, runs: WholeRuns) -> Iterator[Finding]:
    """Findings about the step's run, and about that of the launch that it is compared with. The kernel is checked with
    other sizes, too, which no block or tile divides if it can run them.
    """
    kernel, against = step.shot.setup.kernel, step.shot.against
    if _shows_error(step) or (kernel.blanks and step.exercise is not None):
        return  # what is wrong has a name; the blanks are checked with their solution
    run, named = runs.of(step.shot.setup, engine), _references(step)
    stated = next((replace(each, name="") for each in step.expect if each.quantity == RIGHT.quantity), None)
    own = [*([] if stated else [_result(run, "C")]), *_hazards(run, named)]
    yield from own
    other = runs.other(step.shot.setup, engine)
    expected = stated or RIGHT
    if other is not None and expected.value in _OF_ALL_SIZES and all(each.is_true for each in own):
        for each in (_result(other, "C", expected), *_hazards(other, named)):
            yield replace(each, is_advice=not kernel.is_shipped)
    if against is not None and not against.setup.kernel.unfinished and not any(each.id == "compared_result" for each in named):
        yield _result(runs.of(against.setup, engine), "C of the compared launch")


def _shows_error(step: LessonStep) -> bool:
    """Whether a step expects a launch that is refused, or a run that faults."""
    return any(each.quantity in ERROR_QUANTITIES and each.value for each in step.expect)


def _references(step: LessonStep) -> list[QuantityReference]:
    """The quantities that a step expects; what names none is reported as an expectation that can't be computed."""
    references = []
    for each in step.expect:
        try:
            references.append(parse_reference(each.quantity))
        except UsageError:
            continue
    return references


def _result(run: WholeRun, subject: str, expected: Expectation = RIGHT) -> Finding:
    try:
        return Finding(f"{subject}{run.where}", expected, quantity_value(RIGHT.quantity, run.facts))
    except GemmvizError as error:
        return Finding(f"{subject}{run.where}", expected, error=error)


def _hazards(run: WholeRun, named: list[QuantityReference]) -> Iterator[Finding]:
    """A finding for each kind of hazard over an array that no expectation names."""
    arguments = [each.arguments for each in named if each.id == "hazards"]
    try:
        hazards = run.facts.replay.hazards
    except GemmvizError:
        return  # the error is that of the result
    for kind in get_args(HazardId):
        arrays = [each.array for each in hazards if each.kind == kind.replace("-", " ") and each.count]
        for array in dict.fromkeys(arrays):
            if not any(each.get("kind") == kind and each.get("array", array) == array for each in arguments):
                quantity = f"hazards(kind={kind}, array={array})"
                yield Finding(
                    f"{kind} hazards of {array}{run.where}", Expectation(quantity, 0), quantity_value(quantity, run.facts)
                )

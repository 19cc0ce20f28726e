"""A run of a kernel without its barriers in one line, as the kinds of hazards that this brings about."""

from gemmviz.analysis.hazards.ordering import ordering_of
from gemmviz.model.errors import GemmvizError, Place, UsageError
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.sites import Site
from gemmviz.model.translation import tr
from gemmviz.run.choosing import run
from gemmviz.run.engine import Engine


def hazards_without_barrier(setup: Setup, sites: tuple[Site, ...], line: int, engine: Engine) -> tuple[str, ...]:
    """The kinds of hazards, sorted, in a launch without the barriers among ``sites`` that are in ``line``. Raises UsageError if
    there are none, and as ``Engine.trace`` does.
    """
    places = {site.place for site in sites if site.is_barrier and site.place.line == line}
    if not places:
        raise UsageError(tr("line {line} has no barrier", line=line))
    kernel = replace(setup.kernel, text=_without(setup.kernel.text, places), is_shipped=False)
    outcome = run(replace(setup, kernel=kernel), (0, 0, 0), engine)
    if outcome.fault is not None or outcome.trace is None:
        raise outcome.fault or GemmvizError(tr("the kernel produced no trace"))
    return tuple(sorted({hazard.kind.replace(" ", "-") for hazard in ordering_of(outcome.trace).hazards}))


def _without(text: str, places: set[Place]) -> str:
    """The text with spaces in some places, each within one line."""
    lines = text.split("\n")
    for place in places:
        line, last = lines[place.line - 1], place.end_column - 1
        if place.end_line != place.line:
            raise UsageError(tr("the barrier in line {line} is longer than a line", line=place.line))
        lines[place.line - 1] = line[: place.column - 1] + " " * (last - place.column + 1) + line[last:]
    return "\n".join(lines)

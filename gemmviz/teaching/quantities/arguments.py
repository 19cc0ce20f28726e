"""Types of the arguments that several quantities take."""

from collections.abc import Iterable
from typing import Annotated, Literal

from msgspec import Meta

from gemmviz.model.errors import UsageError, closest
from gemmviz.model.sites import MemoryArray
from gemmviz.model.translation import tr

Whole = Annotated[int, Meta(ge=0, le=999_999_999)]
Measure = Literal["requested", "moved"]
Matrix = str  # the name of an array of the problem, or of one in shared memory
IN_PROBLEM = "in_problem"  # marks types of arguments that name an array of the problem
GlobalMatrix = Annotated[str, Meta(extra={IN_PROBLEM: True})]
Factor = Annotated[str, Meta(extra={IN_PROBLEM: True})]  # the name of an input
MatrixAxis = Literal["rows", "columns"]


def matrix_named(arrays: Iterable[MemoryArray], name: str) -> MemoryArray:
    """The array of this name. Raises UsageError if there is none."""
    known = {array.name: array for array in arrays}
    if name not in known:
        raise UsageError(
            tr("the kernel has no array {name}", name=name),
            remedy=closest(name, known) or tr("it has {known}", known=", ".join(known)),
        )
    return known[name]

"""Rules of a task beyond the types of its fields: a mistake of the task would otherwise cost every student points.

Each rule yields the mistakes it finds, with the path of the field and a remedy.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from gemmviz.cuda.launch.formula import evaluate, names_in
from gemmviz.files.devices import load_device
from gemmviz.files.toml_places import FieldPath
from gemmviz.model.errors import GemmvizError, closest
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.teaching.lesson import ExerciseSize
from gemmviz.teaching.quantities.catalog import is_recorded, problem_arrays_of, value_type_of
from gemmviz.teaching.requirements import QuantityRequirement

_ENTRY_NAME = re.compile(r"[A-Za-z_]\w*(::\w+)*\s*(<.*>)?")
_SOME_VALUE = 16  # of a name that hand-ins define


class TaskMistake(Struct, frozen=True):
    """A mistake in a task: the field, what is wrong, and what to write."""

    path: FieldPath
    message: str
    remedy: str


def size_mistakes(kind: ProblemKind, given: Sequence[str], path: FieldPath) -> Iterator[TaskMistake]:
    """A size that a problem must have and isn't given."""
    needed = [each.name for each in kind.sizes if not each.is_optional]
    for name in needed:
        if name not in given:
            yield TaskMistake(path, f"the size {name} is missing", f"give {', '.join(needed)}")


def argument_mistakes(kind: ProblemKind, arguments: Sequence[str]) -> Iterator[TaskMistake]:
    """Roles that the problem doesn't have, and arrays without a parameter."""
    roles = [each.partition("=")[2].strip() or each.strip() for each in arguments]
    names = [*(each.name for each in kind.arrays), *(each.name for each in kind.sizes), *(each.name for each in kind.factors)]
    for number, role in enumerate(roles):
        for name in names_in([role]):
            if not name.isdigit() and name not in names and not kind.is_open:
                remedy = closest(name, names) or f"the roles are {', '.join(names)}"
                yield TaskMistake(("kernel", "arguments", number), f"the problem {kind.name} has no {name!r}", remedy)
    if roles and not any("=" in each for each in arguments):
        for array in (each.name for each in kind.arrays):
            if array not in roles:
                yield TaskMistake(
                    ("kernel", "arguments"), f"no parameter is {array}", "name the role of each parameter, in order"
                )


def entry_mistakes(entry: str) -> Iterator[TaskMistake]:
    """A kernel's name that C++ doesn't allow."""
    if entry and not _ENTRY_NAME.fullmatch(entry):
        yield TaskMistake(("kernel", "entry"), f"{entry!r} can't be the name of a kernel", 'write it as in entry = "matmul"')


def column_mistakes(kind: ProblemKind, column_major: Sequence[str]) -> Iterator[TaskMistake]:
    """Matrices stored by columns that the problem doesn't have."""
    names = [each.name for each in kind.arrays]
    for number, name in enumerate(column_major):
        if name not in names and not kind.is_open:
            remedy = closest(name, names) or f"its arrays are {', '.join(names)}"
            yield TaskMistake(("kernel", "column_major", number), f"the problem {kind.name} has no array {name!r}", remedy)


def launch_mistakes(formulas: Mapping[str, Sequence[str]], device: str, sizes: Sequence[ExerciseSize]) -> Iterator[TaskMistake]:
    """Formulas of a launch that can't be evaluated, and blocks that are too large. ``formulas``: by the field's name."""
    limits = load_device(device).limits
    for size in sizes:
        known = {**limits, **size.problem, **size.parameters}
        for field, texts in formulas.items():
            values = []
            for number, text in enumerate(texts):
                path: FieldPath = ("kernel", field) if field == "shared_bytes" else ("kernel", field, number)
                names = {name: _SOME_VALUE for name in names_in([text])}
                try:
                    values.append(evaluate(text, {**names, **known}))
                except GemmvizError as error:
                    yield TaskMistake(path, error.message, error.remedy or "write it as in ceil_div(N, 16)")
            threads, most = math.prod(values), limits["max_threads_per_block"]
            if field == "block" and threads > most and _are_known(texts, known):
                yield TaskMistake(
                    ("kernel", field), f"the block would have {threads:,} threads", f"at most {most:,} are allowed"
                )


def _are_known(texts: Sequence[str], known: Mapping[str, int]) -> bool:
    return all(name in known or name.isdigit() for name in names_in(texts))


def criterion_mistakes(
    kind: ProblemKind, requirements: Sequence[QuantityRequirement], about: float, path: FieldPath
) -> Iterator[TaskMistake]:
    """Requirements that no kernel can meet: of arrays that don't exist, of another type than the value, or contradictory."""
    quantity = requirements[0].quantity
    names = [each.name for each in kind.arrays]
    for array in problem_arrays_of(quantity):
        if array not in names and not kind.is_open:
            remedy = closest(array, names) or f"its arrays are {', '.join(names)}"
            yield TaskMistake((*path, "quantity"), f"the problem {kind.name} has no array {array!r}", remedy)
    if is_recorded(quantity):
        message = f"{quantity} is the same for every hand-in: its value was recorded"
        yield TaskMistake((*path, "quantity"), message, "choose a quantity of the run, of the counts, or of a model")
    for each in requirements:
        yield from _type_mistakes(each, value_type_of(quantity), path)
    given = {each.relation: each.value for each in requirements}
    if "is" in given and len(given) > 1:
        yield TaskMistake((*path, "is"), "a value and a limit are required at once", "write is, or at_most and at_least")
    least, most = given.get("at_least", -math.inf), given.get("at_most", math.inf)
    if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
        yield TaskMistake((*path, "at_least"), f"no value is at least {least:g} and at most {most:g}", "exchange the limits")
    if about and "is" not in given:
        yield TaskMistake((*path, "about"), "about is the tolerance of is", "leave it out, or write is")


def _type_mistakes(required: QuantityRequirement, kind: type | None, path: FieldPath) -> Iterator[TaskMistake]:
    """A required value that the quantity never has."""
    value, where = required.value, (*path, required.relation)
    if isinstance(value, float) and not math.isfinite(value):
        yield TaskMistake(where, f"{value} is no limit", "write a number")
    elif kind in (int, float) and (isinstance(value, str | bool)):
        yield TaskMistake(where, f"the value of {required.quantity} is a number", "write a number")
    elif kind is str and not isinstance(value, str):
        yield TaskMistake(where, f"the value of {required.quantity} is a text", 'write is = "…"')
    elif kind is bool and not isinstance(value, bool):
        yield TaskMistake(where, f"the value of {required.quantity} is true or false", "write is = true or is = false")

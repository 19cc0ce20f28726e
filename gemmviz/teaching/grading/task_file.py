"""Tasks as TOML files, and the exercises of lessons as tasks."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field, structs
from msgspec.structs import asdict

from gemmviz.cuda.launch.catalog import lesson_names
from gemmviz.cuda.launch.formula import OWN_SIZES, evaluate, names_in
from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.files.codec import (
    FILE_START,
    FieldPath,
    FormatError,
    check_version,
    nearest_place,
    read_fields,
    read_text,
    toml_places,
    toml_to_plain,
)
from gemmviz.files.devices import device_names, load_device
from gemmviz.files.kernel_file import read_program_text
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.kernel import MOST_TEXT, text_hash
from gemmviz.model.messages import GemmvizError, Place, UsageError, capital, closest
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems import MULTIPLY, PROBLEM_KINDS
from gemmviz.teaching.exercises import QuantityRequirement, Relation, requirements_of
from gemmviz.teaching.grading.task import ALWAYS_JUDGED, REQUIREMENTS, Task, TaskCheck
from gemmviz.teaching.lesson import ExerciseSize, Lesson, LessonStep
from gemmviz.teaching.lesson_file import lesson_text, shipped_lesson
from gemmviz.teaching.quantities.catalog import check_reference, is_recorded, problem_arrays_of, quantity_title, value_type_of

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
    """Formulas of a launch that can't be evaluated, and blocks that are too large. ``formulas``: by the name of the field."""
    limits = load_device(device).limits
    for size in sizes:
        known = {**limits, **size.problem, **size.parameters}
        for part, texts in formulas.items():
            values = []
            for number, text in enumerate(texts):
                path: FieldPath = ("kernel", part) if part == "shared_bytes" else ("kernel", part, number)
                names = {name: _SOME_VALUE for name in names_in([text])}
                try:
                    values.append(evaluate(text, {**names, **known}))
                except GemmvizError as error:
                    yield TaskMistake(path, error.message, error.remedy or "write it as in ceil_div(N, 16)")
            threads, most = math.prod(values), limits["max_threads_per_block"]
            if part == "block" and threads > most and all(name in known or name.isdigit() for name in names_in(texts)):
                yield TaskMistake(
                    ("kernel", part), f"the block would have {threads:,} threads", f"at most {most:,} are allowed"
                )


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


FORMAT, VERSION = "gemmviz task", 1
DEFAULT_SIZES = ((5, 7, 3), (37, 21, 43), (50, 70, 65))  # no usual tile divides them
_SQUARE_SIDES = (5, 37, 67)
_LENGTHS = (5, 333, 2501)
# Usual kernels scan what one block holds; a matrix has a side.
_OF_BLOCK = ("scan", "exclusive_scan", "transpose_in_place")
_Points = Annotated[float, Meta(ge=0, le=10_000)]
_FormulaTexts = tuple[str, ...]
_Number = str | bool | int | float
_TaskPlaces = dict[FieldPath, Place]


class _KernelFields(Struct, forbid_unknown_fields=True):
    """``[kernel]``"""

    entry: str = ""
    arguments: _FormulaTexts = ()
    block: Annotated[_FormulaTexts, Meta(max_length=3)] = ()
    grid: Annotated[_FormulaTexts, Meta(max_length=3)] = ()
    shared_bytes: str = ""
    column_major: tuple[str, ...] = ()
    problem: str = MULTIPLY
    device: str = DEFAULT_DEVICE
    type: Literal["float", "double", "half", "nv_bfloat16"] = "float"
    files: tuple[str, ...] = ()


class _PointsFields(Struct, forbid_unknown_fields=True):
    """``[points]``"""

    parses: _Points = 1.0
    host: _Points = 1.0
    guards: _Points = 1.0
    hazards: _Points = 1.0
    result: _Points = 1.0


class _SizeFields(Struct, forbid_unknown_fields=True):
    """``[[size]]``"""

    problem: dict[str, Annotated[int, Meta(ge=1, le=4096)]]
    parameters: dict[str, int] = {}
    private: bool = False


class _CriterionFields(Struct, forbid_unknown_fields=True):
    """``[[criterion]]``"""

    quantity: str
    equals: _Number | None = field(name="is", default=None)
    at_most: float | int | None = None
    at_least: float | int | None = None
    about: Annotated[float, Meta(ge=0, le=1)] = 0.0
    points: _Points = 1.0
    title: str = ""
    message: str = ""
    size: _SizeFields | None = None


class _TaskFields(Struct, forbid_unknown_fields=True):
    """A task file without ``format`` and ``version``."""

    title: str
    text: str = ""
    kernel: _KernelFields = field(default_factory=_KernelFields)
    points: _PointsFields = field(default_factory=_PointsFields)
    size: tuple[_SizeFields, ...] = ()
    criterion: tuple[_CriterionFields, ...] = ()


def named_task(name: str) -> Task:
    """The task in a TOML file, or the exercise ``LESSON/STEP`` of a shipped lesson. Raises UsageError or FormatError."""
    lesson, _, step = name.partition("/")
    if not name.endswith(".toml") and lesson in lesson_names():
        return exercise_task(lesson, step)
    path = Path(name)
    if path.suffix != ".toml":
        remedy = closest(lesson, lesson_names()) or "name a .toml file, or an exercise as LESSON/STEP"
        raise UsageError(f"there is no task {name!r}", remedy=remedy)
    return parse_task(read_text(path), str(path))


def parse_task(text: str, file: str) -> Task:
    """The task in a text. Raises FormatError with file, line and column."""
    try:
        plain = toml_to_plain(text)
        kind, version = plain.pop("format", None), plain.pop("version", 0)
        places = toml_places(text)
        if kind != FORMAT:
            where = places.get(("format",), FILE_START)
            raise FormatError("this is not a gemmviz task", where, remedy=f'begin it with format = "{FORMAT}"')
        check_version(version, VERSION, f"write version = {VERSION}", places.get(("version",), FILE_START))
        task = _task(read_fields(plain, _TaskFields, lambda: places), places, Path(file))
        return structs.replace(task, digest=text_hash(repr((text, task.files))))
    except GemmvizError as error:
        error.in_file(file)
        raise


def _task(fields: _TaskFields, places: _TaskPlaces, path: Path) -> Task:
    kernel = fields.kernel
    _check_known(kernel.problem, PROBLEM_KINDS, "problem", places, ("kernel", "problem"))
    _check_known(kernel.device, device_names(), "device", places, ("kernel", "device"))
    sizes = tuple(_read_size(each, kernel.problem, ("size", place), places) for place, each in enumerate(fields.size))
    criteria = (
        _criterion(each, number, kernel.problem, ("criterion", number - 1), places)
        for number, each in enumerate(fields.criterion, 1)
    )
    sizes = sizes or _default_sizes(kernel.problem)
    _raise_first(_kernel_mistakes(kernel, sizes), places)
    return Task(
        title=fields.title,
        checks=(*always_judged(asdict(fields.points)), *criteria),
        sizes=sizes,
        text=fields.text,
        name=path.stem,
        launch=GivenLaunch(
            kernel.entry, kernel.arguments, kernel.block, kernel.grid, kernel.shared_bytes, frozenset(kernel.column_major),
            kernel.problem,
        ),
        problem=Problem(kind=kernel.problem),
        device=kernel.device,
        type=kernel.type,
        square=() if fields.size else _square_sizes(kernel.problem),
        private=tuple(
            ExerciseSize(each.problem, each.parameters)
            for each in (*fields.size, *(one.size for one in fields.criterion if one.size is not None))
            if each.private
        ),
        files=tuple(_given_file(path.parent, name, number, places) for number, name in enumerate(kernel.files)),
    )  # fmt: skip


def _kernel_mistakes(kernel: _KernelFields, sizes: tuple[ExerciseSize, ...]) -> Iterator[TaskMistake]:
    kind = PROBLEM_KINDS[kernel.problem]
    yield from entry_mistakes(kernel.entry)
    yield from argument_mistakes(kind, kernel.arguments)
    yield from column_mistakes(kind, kernel.column_major)
    shared = (kernel.shared_bytes,) if kernel.shared_bytes else ()
    formulas = {"block": kernel.block, "grid": kernel.grid, "shared_bytes": shared}
    yield from launch_mistakes(formulas, kernel.device, sizes)


def _raise_first(mistakes: Iterator[TaskMistake], places: _TaskPlaces) -> None:
    """Raises FormatError for the first mistake."""
    for each in mistakes:
        raise FormatError(each.message, nearest_place(places, each.path), remedy=each.remedy)


def always_judged(points: dict[str, float]) -> tuple[TaskCheck, ...]:
    """The checks of every task, one point each unless ``points`` says otherwise; 0 leaves one out, but not reading the file."""
    return tuple(
        TaskCheck(id, title, float(points.get(id, 1)), REQUIREMENTS.get(id, ()))
        for id, title in ALWAYS_JUDGED.items()
        if points.get(id, 1) or id == "parses"
    )


def _check_known(name: str, known: Any, what: str, places: _TaskPlaces, path: FieldPath) -> None:
    if name not in known:
        remedy = closest(name, known) or f"choose {', '.join(known)}"
        raise FormatError(f"there is no {what} {name!r}", nearest_place(places, path), remedy=remedy)


def _read_size(fields: _SizeFields, kind: str, path: FieldPath, places: _TaskPlaces) -> ExerciseSize:
    known = [each.name for each in PROBLEM_KINDS[kind].sizes]
    for name in fields.problem:
        _check_known(name, known, "size", places, (*path, "problem", name))
    _raise_first(size_mistakes(PROBLEM_KINDS[kind], tuple(fields.problem), (*path, "problem")), places)
    return ExerciseSize(fields.problem, fields.parameters)


def _default_sizes(kind: str) -> tuple[ExerciseSize, ...]:
    """Sizes that differ from each other, as exchanged ones give a right result otherwise; vectors that need several blocks."""
    names = _scaled_sizes(kind)
    if len(names) > 1:
        return tuple(_size_with(kind, dict(zip(names, each, strict=False))) for each in DEFAULT_SIZES)
    lengths = _SQUARE_SIDES if kind in _OF_BLOCK else _LENGTHS
    return tuple(_size_with(kind, dict.fromkeys(names, each)) for each in lengths)


def _square_sizes(kind: str) -> tuple[ExerciseSize, ...]:
    names = _scaled_sizes(kind)
    return tuple(_size_with(kind, dict.fromkeys(names, side)) for side in _SQUARE_SIDES) if len(names) > 1 else ()


def _scaled_sizes(kind: str) -> list[str]:
    """Names of the sizes that grow with a problem, unlike the radius of a stencil."""
    return [each.name for each in PROBLEM_KINDS[kind].sizes if not each.is_optional and each.name not in OWN_SIZES]


def _size_with(kind: str, values: dict[str, int]) -> ExerciseSize:
    fixed = {each.name: each.default for each in PROBLEM_KINDS[kind].sizes if not each.is_optional}
    return ExerciseSize({**fixed, **values})


def _criterion(fields: _CriterionFields, number: int, kind: str, path: FieldPath, places: _TaskPlaces) -> TaskCheck:
    given: dict[Relation, _Number | None] = {"is": fields.equals, "at_most": fields.at_most, "at_least": fields.at_least}
    try:
        check_reference(fields.quantity)
    except GemmvizError as error:
        raise FormatError(error.message, nearest_place(places, (*path, "quantity")), remedy=error.remedy) from None
    requirements = tuple(
        QuantityRequirement(fields.quantity, value, relation, fields.about if relation == "is" else 0.0)
        for relation, value in given.items()
        if value is not None
    )
    if not requirements:
        raise FormatError(
            f"criterion {number} requires nothing", nearest_place(places, path), remedy="write is, at_most or at_least"
        )
    _raise_first(criterion_mistakes(PROBLEM_KINDS[kind], requirements, fields.about, path), places)
    title = fields.title or capital(f"{quantity_title(fields.quantity)}: {' and '.join(each.words for each in requirements)}")
    at = None if fields.size is None else _read_size(fields.size, kind, (*path, "size"), places)
    return TaskCheck(f"criterion-{number}", title, float(fields.points), requirements, fields.message, at)


def _given_file(folder: Path, name: str, number: int, places: _TaskPlaces) -> tuple[str, str]:
    """A file beside the task that every hand-in may include."""
    if Path(name).name != name:
        where = nearest_place(places, ("kernel", "files", number))
        raise FormatError(f"{name!r} is not the name of a file beside the task", where, remedy="put it there")
    try:
        return name, read_program_text(folder / name, 4 * MOST_TEXT)
    except GemmvizError as error:
        where = nearest_place(places, ("kernel", "files", number))
        raise FormatError(f"{name}: {error.message}", where, remedy=error.remedy or "put it beside the task") from None


# Exercises


def exercise_task(lesson: str, id: str) -> Task:
    """The exercise of a shipped lesson's step as a task: it judges what the lesson does. Raises UsageError if there is none."""
    steps = [each for each in shipped_lesson(lesson).steps if each.exercise is not None]
    step = next((each for each in steps if each.id == id), None)
    if step is None:
        names = [f"{lesson}/{each.id}" for each in steps]
        remedy = closest(f"{lesson}/{id}", names) or (f"its exercises are {', '.join(names)}" if names else None)
        raise UsageError(f"the lesson {lesson} has no exercise {id!r}", remedy=remedy)
    return task_of(step, f"{lesson}-{id}")


def task_of(step: LessonStep, name: str) -> Task:
    """The exercise of a step as a task: a check for each requirement, at each of its sizes."""
    exercise, setup = step.exercise, step.shot.setup
    assert exercise is not None
    sizes = exercise.sizes or (ExerciseSize(dict(setup.problem.sizes)),)
    checks = dict.fromkeys(
        (each, None if each.relation == "is" else ExerciseSize(size.problem, size.parameters))
        for size in sizes
        for each in requirements_of(exercise, size)
    )
    criteria = (
        TaskCheck(f"criterion-{number}", capital(f"{quantity_title(each.quantity)}: {each.words}"), 1.0, (each,), at=at)
        for number, (each, at) in enumerate(checks, 1)
    )
    return Task(
        title=step.title or exercise.task,
        checks=(*always_judged({"hazards": 0, "result": 0, "host": 0}), *criteria),
        sizes=tuple(ExerciseSize(each.problem, each.parameters) for each in sizes),
        text=exercise.task,
        name=name,
        problem=setup.problem,
        device=setup.device,
        shot=step.shot,
        digest=text_hash(lesson_text(Lesson(steps=(step,)))),
    )

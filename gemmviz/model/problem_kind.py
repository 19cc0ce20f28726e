"""The type of a kind of problem: its sizes, its arrays, the right contents of its outputs, and its words; and the
description of fields that users can set.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from msgspec import Struct, field, structs

from gemmviz.model.arrays import AnyArray, Floats, Longs
from gemmviz.model.messages import tr
from gemmviz.model.records import fields, is_record_type

# Descriptions of the fields of a record that users can set: labels, help, flags, choices and bounds.

FieldKind = Literal["number", "decimal", "choice", "switch", "text", "other"]
_FIELD_KINDS: dict[Any, FieldKind] = {bool: "switch", int: "number", float: "decimal", str: "text"}


class Control(Struct, frozen=True):
    """Description of a field, as in ``Annotated[int, Control(...)]``. ``label`` is shown before it, ``help`` in its tooltip and
    in the help of the command line; ``flag`` is its option there, "" for none, and ``metavar`` the option's argument.

    ``choices``: allowed values with their display names; None if any value is allowed, or if they are known elsewhere.
    ``least`` and ``most`` bound a number, ``unit`` follows it; ``digits``: significant digits in a command line, 0 for all.
    ``empty``: meaning of an empty text. ``needs``: name and value of another field without which this one has no effect;
    ``unless`` is the message for that. ``of_record``: the field changes what is recorded of a run, but not the run.

    ``undo`` names a change in the Edit menu, with "{}" for the value: None for label and value, "" for a change that has no
    undo step. ``menu``: its entry in the View menu, "" for none, and ``keys`` the shortcuts of that entry.
    """

    label: str
    help: str
    flag: str = ""
    choices: Mapping[str, str] | None = None
    least: float = 0
    most: float = 2**31 - 1
    unit: str = ""
    empty: str = ""
    needs: tuple[str, str] | None = None
    unless: str = ""
    of_record: bool = False
    metavar: str = ""
    digits: int = 0
    undo: str | None = None
    menu: str = ""
    keys: tuple[str, ...] = ()

    @property
    def is_symbol(self) -> bool:
        """Whether the label is a letter of a formula, as M is."""
        return len(self.label) == 1


class Setting(Struct, frozen=True):
    """One field of a record, or of a record in it. ``path`` leads to it, ``type`` is its type."""

    path: tuple[str, ...]
    type: Any
    default: Any
    control: Control

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def kind(self) -> FieldKind:
        """The kind of control that sets it; "other" for a record."""
        return "choice" if self.choices else _FIELD_KINDS.get(self.type, "other")

    @property
    def choices(self) -> dict[str, str]:
        """Allowed values with their display names; empty if any value is allowed, or if they are known elsewhere."""
        if self.control.choices is not None:
            return dict(self.control.choices)
        return {value: value for value in get_args(self.type)} if get_origin(self.type) is Literal else {}

    def of(self, value: Any) -> Any:
        """Value of the field in a record of that type."""
        for name in self.path:
            value = getattr(value, name)
        return value

    def put(self, value: Any, new: Any) -> Any:
        """A copy of the value with another value of this field. Raises GemmvizError if a record refuses it."""
        return _put(value, self.path, new)

    def within(self, name: str) -> "Setting":
        """The same field, seen from a record with the present one as its field ``name``."""
        return structs.replace(self, path=(name, *self.path))

    def shown(self, value: Any) -> str:
        """A value as text for users."""
        if self.kind == "switch":
            return tr("on") if value else tr("off")
        return tr(self.choices.get(value, str(value))) if isinstance(value, str) else str(value)

    def trouble(self, value: Any) -> tuple[str, str] | None:
        """Why this value isn't allowed, and a remedy; None if it is allowed."""
        control = self.control
        match self.kind:
            case "choice" if value not in self.choices:
                return tr("{label} can't be {value}", label=tr(control.label), value=f"{value!r}"), tr(
                    "choose {choices}", choices=", ".join(self.choices)
                )
            case "number" | "decimal" if not control.least <= value <= control.most:
                bounds = tr("choose {least} to {most}", least=f"{control.least:g}", most=f"{control.most:.10g}")
                return tr(
                    "{label} can't be {value}{unit}",
                    label=tr(control.label),
                    value=f"{value:.10g}",
                    unit=control.unit and " " + control.unit,
                ), bounds
        return None


def settings_of(kind: Any) -> tuple[Setting, ...]:
    """All fields of a record that have a control, including those of nested records, in order."""
    return _cached_settings(kind)


@cache
def _cached_settings(kind: Any) -> tuple[Setting, ...]:
    return tuple(_settings(kind))


def _settings(kind: Any) -> Iterator[Setting]:
    hints = get_type_hints(kind, include_extras=True)
    for each in fields(kind):
        hint = hints[each.name]
        if get_origin(hint) is Annotated:
            hint, *extras = get_args(hint)
            control = next(extra for extra in extras if isinstance(extra, Control))
            yield Setting((each.name,), hint, each.default, control)
        inner = settings_of(hint) if is_record_type(hint) else ()
        if any(len(within.path) == 1 for within in inner):  # a kernel has no settings of its own
            yield from (within.within(each.name) for within in inner)


def first_trouble(value: Any) -> tuple[Setting, str, str] | None:
    """The first field of a record with a value that isn't allowed, the reason and a remedy; None if there is none."""
    kind: Any = type(value)
    for setting in _limited_fields(kind):
        if (trouble := setting.trouble(setting.of(value))) is not None:
            return setting, *trouble
    return None


@cache
def _limited_fields(kind: Any) -> tuple[Setting, ...]:
    """The fields of a record itself whose values are limited."""
    limited = ("choice", "number", "decimal")
    return tuple(each for each in settings_of(kind) if len(each.path) == 1 and each.kind in limited)


def _put(value: Any, path: Sequence[str], new: Any) -> Any:
    inner = new if len(path) == 1 else _put(getattr(value, path[0]), path[1:], new)
    changed = {path[0]: inner}
    return structs.replace(value, **changed) if is_record_type(type(value)) else value.__replace__(**changed)


_Role = Literal["input", "output", "both"]
_ArrayContents = Literal["values", "bins"]
Sizes = Mapping[str, int]
Shape = tuple[int, ...]


class Size(Struct, frozen=True):
    """One size of a problem. ``control`` describes it in forms and command lines. An optional size is part of a problem only
    if it is given. ``dimension``: 1 for a side of a matrix, 2 for the length of a vector, which grows like a matrix, 0 for a
    size that stays as it is when a problem grows.
    """

    name: str
    control: Control
    default: int = 8
    is_optional: bool = False
    dimension: int = 0


class ProblemFactor(Struct, frozen=True):
    """One factor of a problem that is no size, such as alpha: a number that is part of a problem only if it is given."""

    name: str
    control: Control
    default: float = 1.0


class ProblemArray(Struct, frozen=True):
    """One array of a problem. ``role``: "input", "output" (all zero before the run), or "both". ``shape`` computes its extents
    from the sizes. ``contents``: "values", or "bins" for whole numbers from 0 to the size ``bins`` - 1.
    """

    name: str
    role: _Role
    shape: Callable[[Sizes], Shape]
    contents: _ArrayContents = "values"

    @property
    def is_output(self) -> bool:
        return self.role != "input"


class ReferenceRequest(Struct, frozen=True):
    """Some elements of an output whose right values are wanted.

    ``arrays``: the contents before the run, by name, in their shapes, as numbers; ``after``: those of the outputs after it.
    ``places``: for each dimension of the output, the index of each element, int64 (n,). ``roundoff``: u of the output's type.
    """

    sizes: Sizes
    factors: Mapping[str, float]
    arrays: Mapping[str, AnyArray]
    after: Mapping[str, AnyArray]
    output: str
    places: tuple[Longs, ...]
    roundoff: float = 0.0

    def flat(self, name: str) -> Floats:
        """An array as float64 in row-major order, (n,)."""
        return np.asarray(self.arrays[name], np.float64).ravel()


class Answer(Struct, frozen=True):
    """The right values, float64 (n,), and what bounds the error that rounding may cause: ``roundings`` u ``magnitude``, u the
    unit roundoff. ``magnitude`` (n,) is 0 where a value must be exact.
    """

    right: Floats
    magnitude: Floats
    roundings: float = 0.0


Reference = Callable[[ReferenceRequest], Answer]


def _largest_size(sizes: Sizes) -> int:
    return max(sizes.values(), default=1)


def _one_row(sizes: Sizes) -> int:
    return 1


def _no_flops(sizes: Sizes) -> None:
    return None


class ProblemKind(Struct, frozen=True):
    """A kind of problem. ``title`` names it in menus, ``formula`` says in one line what the outputs hold.

    ``reference`` computes right values; None if nothing is checked. ``work``: multiplications, or similar steps, for one
    element of it. ``flops``: floating-point operations of the whole problem; None if there are none to count, for the reason
    ``why_no_flops``. ``depth``: the longest loop of one thread in a plain kernel.
    """

    name: str
    title: str
    formula: str
    sizes: tuple[Size, ...]
    arrays: tuple[ProblemArray, ...]
    reference: Reference | None = None
    factors: tuple[ProblemFactor, ...] = ()
    flops: Callable[[Sizes], int | None] = _no_flops
    why_no_flops: str = ""
    work: Callable[[Sizes], int] = _one_row
    depth: Callable[[Sizes], int] = field(default=_largest_size)

    @property
    def is_checked(self) -> bool:
        return self.reference is not None

    @property
    def is_open(self) -> bool:
        """Whether each problem of this kind names its own sizes and arrays."""
        return not self.arrays


def linear(sizes: Sizes) -> Shape:
    """Return the shape of an array of ``n`` elements."""
    return (sizes["n"],)


def matrix(sizes: Sizes) -> Shape:
    """Return the shape of an array of ``rows`` and ``columns``."""
    return sizes["rows"], sizes["columns"]

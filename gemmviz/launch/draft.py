"""A kernel and its launch in the host's own words, before it is known which argument is which matrix or size."""

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from gemmviz.launch.formula import evaluate, formula_value
from gemmviz.launch.restated import restated
from gemmviz.launch.role_names import SIZE_NAMES, bare_name
from gemmviz.launch.words import names_in, renamed
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import LARGEST_NUMBER, Parameter
from gemmviz.model.outline import ArgumentOutline, BufferOutline, KernelOutline, LaunchOutline, ParameterOutline
from gemmviz.model.records import replace

ParameterKind = Literal["pointer", "whole", "real", "flag", "other", "null"]
_RESERVED = {"M", "N", "K", "A", "B", "C", "warp_size", "max_threads_per_block", "shared_per_block"}
_KINDS: dict[str, ParameterKind] = {
    **dict.fromkeys(("int", "unsigned", "long", "short", "size_t", "char", "ptrdiff_t"), "whole"),
    **dict.fromkeys(("float", "double", "half", "__half", "nv_bfloat16", "__nv_bfloat16"), "real"),
    "bool": "flag",
}
_OF_TEMPLATE = re.compile(r"^(?:const )?type-parameter-0-(\d+)$")
_SIZE_NOW = 64  # stands for a size that only the running program knows
_LARGEST_ELEMENT = 16  # bytes; what is larger is a row of a matrix
_LEAST_LITERAL = 8  # a smaller number among the arguments is no size


class DraftParameter(Struct, frozen=True):
    """A parameter of the kernel and the formula that the launch passes, "" if none is known. ``kind`` "null": a pointer that is
    passed as null; ``buffer``: the memory behind a pointer; ``value``: a number that the host code tells, of kind "real".
    """

    name: str
    kind: ParameterKind
    is_const: bool = False
    argument: str = ""
    buffer: BufferOutline | None = None
    value: float | None = None


class Draft(Struct, frozen=True):
    """A launch in the host's words.

    ``sizes``: names, or numbers, of the host that stand for sizes; ``macros``: those of them that are macros, which the kernel
    may use too; ``constants``: those that the kernel's text fixes; ``tiles``: tile sizes with the values that the file gives
    them; ``values``: those of the sizes, where the host code tells; ``allowed_shared_bytes``: dynamic shared memory that the
    host code asks for, "" if it doesn't.
    """

    entry: str
    parameters: tuple[DraftParameter, ...]
    block: tuple[str, ...]
    grid: tuple[str, ...]
    shared_bytes: str
    sizes: tuple[str, ...]
    macros: tuple[str, ...]
    tiles: tuple[Parameter, ...]
    values: tuple[tuple[str, int], ...] = ()
    allowed_shared_bytes: str = ""
    constants: tuple[str, ...] = ()

    @property
    def pointers(self) -> tuple[DraftParameter, ...]:
        return tuple(each for each in self.parameters if each.kind == "pointer")

    @property
    def tile_values(self) -> dict[str, int]:
        return {tile.name: tile.default for tile in self.tiles}


def draft_of(kernel: KernelOutline, launch: LaunchOutline, *, takes_all: bool = False) -> Draft:
    """The draft of a kernel and one of its launches. ``takes_all``: every name that the grid grows with is a size, also
    one that is neither passed nor the size of some memory.
    """
    return _Drafting(*restated(kernel, launch), takes_all).draft()


class _Drafting:
    """Sorts the names of a launch into sizes, tile sizes and constants."""

    def __init__(self, kernel: KernelOutline, launch: LaunchOutline, takes_all: bool) -> None:
        self.kernel, self.launch, self.takes_all = kernel, launch, takes_all
        self.macros = frozenset(each.name for each in launch.names if each.kind == "macro")
        self.constants = frozenset(each.name for each in launch.names if each.kind == "global")
        self.in_buffers = frozenset(names_in(each.bytes for each in launch.buffers))
        self.known = {name: int(value) for name, value in launch.values.items() if _is_whole(value)}
        self.parameters = _parameters(kernel, launch)
        whole = [each.argument for each in self.parameters if each.kind == "whole"]
        self.passed = [each for each in names_in(whole) if self._may_be_size(each, whole)]
        self.shape = [*launch.block, *launch.grid, launch.shared_bytes]

    def draft(self) -> Draft:
        launch = self.launch
        templates = [each for each in names_in(launch.template_arguments) if each in self.known]
        used = [each for each in names_in(self.shape) if not each.isdecimal()]
        used += [each for each in self.macros if each in self.in_buffers and each not in used]
        sizes = [each for each in dict.fromkeys((*self.passed, *used)) if each not in templates and self._is_size(each)]
        fixed_sizes = (
            []
            if self.passed and not self.takes_all
            else [each for each in names_in([*self.shape, *self.in_buffers]) if self._is_fixed(each)]
        )
        sizes += [each for each in fixed_sizes if each not in (*sizes, *templates)]
        others = [each for each in dict.fromkeys((*templates, *used, *self.passed)) if each not in sizes]
        tiles = [each for each in others if self._is_tile(each) and (each in self.macros or each in templates)]
        numbers = [each for each in self.known if each not in sizes and each not in tiles]
        fixed = {each: str(self.known[each]) for each in numbers}
        arguments = ", ".join(renamed(each, fixed) for each in launch.template_arguments)
        return Draft(
            entry=f"{self.kernel.name}<{arguments}>" if arguments else self.kernel.name,
            parameters=tuple(_with_numbers(each, fixed) for each in self.parameters),
            block=tuple(renamed(each, fixed) for each in launch.block),
            grid=tuple(renamed(each, fixed) for each in launch.grid),
            shared_bytes=renamed(launch.shared_bytes, fixed),
            sizes=tuple(sizes),
            macros=tuple(each for each in sizes if each in self.macros),
            tiles=tuple(Parameter(each, self.known[each]) for each in tiles),
            values=tuple((each, self.known[each]) for each in sizes if each in self.known),
            allowed_shared_bytes=renamed(launch.allowed_shared_bytes, fixed),
            constants=tuple(each for each in fixed_sizes if each in sizes),
        )

    def _is_fixed(self, name: str) -> bool:
        """Whether a name is a constant of the file that the grid or the memory grows with: a size that can't be changed."""
        grows = name in self.in_buffers or self._growth(name) > 0
        is_large = self.known.get(name, 0) >= _LEAST_LITERAL
        return name in self.constants and name not in (*self.passed, *self.launch.block) and is_large and grows

    def _may_be_size(self, word: str, arguments: list[str]) -> bool:
        """A number is a size only if it is an argument by itself."""
        return not word.isdecimal() or (int(word) >= _LEAST_LITERAL and word in arguments)

    def _is_tile(self, name: str) -> bool:
        return 0 < self.known.get(name, 0) <= LARGEST_NUMBER and name.isidentifier() and name not in _RESERVED

    def _is_size(self, name: str) -> bool:
        """Whether a name stands for a size: it is passed, or the grid grows with it and memory or the kernel may too. A
        constant of the file isn't one, unless it is passed: the kernel can't have another value.
        """
        growth = self._growth(name)
        if growth < 0 or (name in names_in(self.launch.block) and growth == 0 and name not in self.passed):
            return False
        if name in self.passed or name not in self.known:
            return True
        if name in self.macros and name in self.in_buffers and name not in names_in(self.launch.block):
            return self.known[name] >= _LEAST_LITERAL or bare_name(name) in SIZE_NAMES["batch"].split()
        is_of_memory = name in self.in_buffers or self.takes_all
        return growth > 0 and (name in self.macros or is_of_memory) and name not in self.constants

    def _growth(self, name: str) -> int:
        """1 if the grid has more blocks for a larger ``name``, -1 if fewer, 0 if as many."""
        value = self.known.get(name, int(name) if name.isdecimal() else _SIZE_NOW)
        few, many = (self._blocks({name: each}) for each in (max(value, 1), 8 * max(value, 1)))
        return 0 if few is None or many is None else (many > few) - (many < few)

    def _blocks(self, changed: Mapping[str, int]) -> int | None:
        """Number of blocks of the grid with some names changed; None if it can't be computed."""
        names = {each: self.known.get(each, _SIZE_NOW) for each in names_in(self.launch.grid) if not each.isdecimal()}
        numbers = {name: str(value) for name, value in changed.items() if name.isdecimal()}
        count = 1
        try:
            for formula in self.launch.grid:
                count *= max(1, evaluate(renamed(formula, numbers), {**names, **changed}))
        except GemmvizError:
            return None
        return count


def shape_formula(pointer: DraftParameter, draft: Draft) -> str:
    """The number of elements behind a pointer, as a formula over the draft's sizes and tiles; "" if it isn't known."""
    buffer, known = pointer.buffer, {*draft.sizes, *draft.tile_values}
    if buffer is None or not buffer.bytes or not 0 < buffer.element_bytes <= _LARGEST_ELEMENT:
        return ""
    names = [each for each in names_in([buffer.bytes]) if not each.isdecimal()]
    return f"({buffer.bytes}) / {buffer.element_bytes}" if known.issuperset(names) else ""


def _with_numbers(parameter: DraftParameter, fixed: Mapping[str, str]) -> DraftParameter:
    """A parameter whose formulas have numbers in place of names with known values."""
    buffer = parameter.buffer
    buffer = None if buffer is None else replace(buffer, bytes=renamed(buffer.bytes, fixed))
    return replace(parameter, argument=renamed(parameter.argument, fixed), buffer=buffer)


def _is_whole(value: float) -> bool:
    return float(value).is_integer() and abs(value) <= LARGEST_NUMBER


def _parameters(kernel: KernelOutline, launch: LaunchOutline) -> tuple[DraftParameter, ...]:
    buffers = {each.name: each for each in launch.buffers}
    arguments: list[ArgumentOutline | None] = [*launch.arguments, *(None for _ in kernel.parameters)]
    types = launch.template_arguments

    def named(match: re.Match[str]) -> str:
        """The type that a template parameter stands for; a usual one if it is deduced from the arguments."""
        number = int(match[1])
        return types[number] if number < len(types) else "float"

    parameters = [replace(each, canonical=_OF_TEMPLATE.sub(named, each.canonical)) for each in kernel.parameters]
    return tuple(
        _parameter(each, argument, buffers, launch.values) for each, argument in zip(parameters, arguments, strict=False)
    )


def _parameter(
    parameter: ParameterOutline,
    argument: ArgumentOutline | None,
    buffers: Mapping[str, BufferOutline],
    values: Mapping[str, float],
) -> DraftParameter:
    if parameter.is_pointer:
        if argument is not None and argument.kind == "pointer" and not argument.buffer:
            return DraftParameter(parameter.name, "null", parameter.is_const)
        buffer = None if argument is None else buffers.get(argument.buffer, BufferOutline(argument.buffer))
        return DraftParameter(parameter.name, "pointer", parameter.is_const, buffer=buffer)
    formula = "" if argument is None or argument.kind != "value" else argument.formula
    kind = kind_of_type(parameter.canonical)
    return DraftParameter(parameter.name, kind, argument=formula, value=_number(formula, values) if kind == "real" else None)


def _number(formula: str, values: Mapping[str, float]) -> float | None:
    try:
        return float(formula_value(formula, values))
    except GemmvizError:
        return None


def kind_of_type(text: str) -> ParameterKind:
    """The kind of a parameter that is no pointer, from the text of its type."""
    words = re.findall(r"\w+", text.replace("std::", ""))
    named = [_KINDS.get(re.sub(r"^u?int\d+_t$", "int", word)) for word in words]
    return next((kind for kind in named if kind is not None), "other")

"""A kernel and its launch in the host's own words, before it is known which argument is which matrix or size."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct, structs

from gemmviz.cuda.launch.formula import evaluate, formula_value, names_in, renamed
from gemmviz.model.kernel import LARGEST_NUMBER, Parameter
from gemmviz.model.messages import GemmvizError
from gemmviz.model.outline import ArgumentOutline, BufferOutline, HostName, KernelOutline, LaunchOutline, ParameterOutline

# Names that programmers give to arrays and sizes, by the role that they usually have: hints about what to try first.

_WHERE = "d|dev|device|g|gpu|cuda|global|p|ptr|mat|matrix|m|arr|array|vec"  # where an array lies, or that it is one
_AFFIXES = re.compile(rf"^({_WHERE})_+|_+({_WHERE})$")
_RESULTS = (
    "c mc matc matrixc cd dc devc p pd z r res result out output o odata prod product dst answer ans mat3 matrix3 c1 y d ab sum"
)
_SOURCES = "in input inp i idata a x src data one first in1 input1"

ARRAY_NAMES = {
    "A": "a ma mata matrixa ad da deva m md x lhs left first one in1 input1 input inp src1 mat1 matrix1 a1 q mat matrix",
    "B": "b mb matb matrixb bd db devb n nd y w rhs right second two in2 input2 weight weights src2 mat2 matrix2 b1 k",
    "C": _RESULTS,
    "in": _SOURCES,
    "out": _RESULTS,
    "bias": "bias b bi v",
    "filter": "filter mask kernel f w weights weight m k b in2",
    "x": "x v vec vector b in2 input2 xd",
    "y": _RESULTS,
}
_ROWS = "m rows row height h numrows numcrows numarows rowsa arows rowa ra ha heighta hc rowsc crows mm dimm am cm ny heightc"
_COLUMN_NAMES = (
    "n cols col columns width w numbcolumns numccolumns numbcols colsb bcols colb cb wb widthb wc "
    "colsc nn dimn bn cn nx widthc outfeatures"
)
SIZE_NAMES = {
    "M": _ROWS,
    "N": _COLUMN_NAMES,
    "K": "k inner common depth numacolumns numbrows numacols colsa acols cola ca wa widtha "
    "rowsb brows rowb hb kk dimk ak bk heightb infeatures",
    "rows": _ROWS,
    "columns": _COLUMN_NAMES,
    "n": "n size width length len count num numelements elements total",
    "radius": "radius r halo maskradius filterradius",
    "batch": "batch batchsize batchcount numbatches batches nbatch bs heads numheads nheads nh",
    "bins": "bins numbins nbins buckets",
}
LEADING = {"lda": ("K", "M"), "ldb": ("N", "K"), "ldc": ("N", "M")}  # stored by rows, by columns

KIND_WORDS = {
    "transpose": "transpos",
    "matrix_vector": "gemv mv matvec matrixvector mat_vec",
    "vector_add": "add sum",
    "reduction": "reduc sum",
    "scan": "scan prefix",
    "exclusive_scan": "scan prefix",
    "histogram": "hist",
    "stencil": "stencil",
    "convolution": "conv",
    "convolution_1d": "conv",
    "softmax": "softmax",
    "matrix_add": "add sum",
    "dot_product": "dot inner",
    "axpy": "axpy add",
    "scale": "scal copy",
    "scale_in_place": "scal",
    "relu": "relu",
    "transpose_in_place": "transpos",
    "multiply": "mul gemm matmul mm",
    "linear": "linear bias dense layer fc forward",
    "row_sums": "row",
    "column_sums": "col",
    "maximum": "max",
    "minimum": "min",
}


def bare_name(name: str) -> str:
    """A name without what only says where an array lies: "d_A" and "A_dev" give "a"."""
    bare, before = name.lower(), ""
    while bare != before:
        before, bare = bare, _AFFIXES.sub("", bare)
    return bare.replace("_", "")


# Launches restated for a draft: structs member by member, each size by its own name, and grids as formulas of sizes.

_UNREAD = ArgumentOutline("", "unread")
_TILES_OF_BLOCK = (1, 2, 4, 8)  # elements for each thread of a block, along one direction of the grid
_AXIS_SIZES = ("N", "M", "batch")  # what the directions of a grid usually count


def restated(kernel: KernelOutline, launch: LaunchOutline, *, names_all: bool = False) -> tuple[KernelOutline, LaunchOutline]:
    """The kernel with a parameter for each member of its structs, and the launch with an argument for each. ``names_all``: what
    is computed for an argument from another one's name has a name of its own, too.
    """
    arguments = [*launch.arguments, *(_UNREAD for _ in kernel.parameters)]
    pairs = [pair for each in zip(kernel.parameters, arguments, strict=False) for pair in _leaves(*each)]
    known = {each.name for each in launch.names}
    added: dict[str, HostName] = {}
    named: list[ArgumentOutline] = []
    for parameter, argument in pairs:
        if not parameter.is_pointer and not argument.formula:
            name = _free_name(parameter.name.replace(".", "_"), known | added.keys())
            added[name] = HostName(name, "parameter")
            argument = ArgumentOutline(name, "value", name)
        named.append(argument)
    kernel = structs.replace(kernel, parameters=tuple(parameter for parameter, _ in pairs))
    launch = structs.replace(launch, arguments=tuple(named), names=(*launch.names, *added.values()))
    return kernel, _grid_by_sizes(_products_named(kernel, launch, names_all), kernel)


def _leaves(parameter: ParameterOutline, argument: ArgumentOutline) -> Iterator[tuple[ParameterOutline, ArgumentOutline]]:
    """A parameter with its argument, or the members of a struct with theirs, named "A.width"."""
    if not parameter.fields:
        yield parameter, argument
        return
    arguments = [*argument.fields, *(_UNREAD for _ in parameter.fields)]
    for field, each in zip(parameter.fields, arguments, strict=False):
        yield from _leaves(structs.replace(field, name=f"{parameter.name}.{field.name}"), each)


def _free_name(name: str, known: set[str]) -> str:
    while name in known:
        name += "_"
    return name


def _products_named(kernel: KernelOutline, launch: LaunchOutline, names_all: bool) -> LaunchOutline:
    """The launch with a name for each argument that is computed from names which nothing else is passed as, or from any if
    ``names_all``: ``Width`` in place of ``TILE * TILE``, wherever the launch uses it.
    """
    plain = {each.formula for each in launch.arguments if each.kind == "value" and each.formula.isidentifier()}
    for parameter, argument in zip(kernel.parameters, launch.arguments, strict=False):
        formula, known = argument.formula, {each.name for each in launch.names}
        words = [each for each in names_in([formula]) if not each.isdecimal()]
        if argument.kind != "value" or not words or formula.isidentifier():
            continue
        if not names_all and (plain & set(words) or not any(formula in each for each in launch.grid)):
            continue
        name = _free_name(parameter.name.replace(".", "_"), known)
        launch = _with_name(launch, formula, HostName(name, "local", _whole_value(launch, formula)))
    return launch


def _with_name(launch: LaunchOutline, formula: str, name: HostName) -> LaunchOutline:
    def put(text: str) -> str:
        return text.replace(formula, name.name)

    return structs.replace(
        launch,
        grid=tuple(map(put, launch.grid)),
        block=tuple(map(put, launch.block)),
        shared_bytes=put(launch.shared_bytes),
        arguments=tuple(structs.replace(each, formula=put(each.formula)) for each in launch.arguments),
        buffers=tuple(structs.replace(each, bytes=put(each.bytes)) for each in launch.buffers),
        names=(*launch.names, name),
    )


def _whole_value(launch: LaunchOutline, formula: str) -> int | None:
    try:
        return evaluate(formula, {name: int(value) for name, value in launch.values.items()})
    except GemmvizError:
        return None


def _grid_by_sizes(launch: LaunchOutline, kernel: KernelOutline) -> LaunchOutline:
    """The launch with formulas for extents of the grid that the host function gets as numbers: as many blocks as cover one of
    the sizes that the kernel gets.
    """
    given = {each.name for each in launch.names if each.kind == "parameter"}
    passed = {each.formula for each in launch.arguments}
    if not any(extent in given - passed for extent in launch.grid):
        return launch
    block = [_whole_value(launch, extent) or 1 for extent in launch.block]
    grid = []
    for axis, extent in enumerate(launch.grid):
        formula = _blocks_for(launch, kernel, axis, extent, block) if extent in given - passed else ""
        grid.append(formula or extent)
    return structs.replace(launch, grid=tuple(grid))


def _blocks_for(launch: LaunchOutline, kernel: KernelOutline, axis: int, extent: str, block: list[int]) -> str:
    """A formula for the extent of a grid whose value is known; "" if no size explains it."""
    blocks = launch.values.get(extent)
    if blocks is None or blocks == 1:
        return "" if blocks is None else "1"
    usual = SIZE_NAMES.get(_AXIS_SIZES[axis], "").split()
    sizes = [
        (argument.formula, bare_name(parameter.name))
        for parameter, argument in zip(kernel.parameters, launch.arguments, strict=False)
        if argument.kind == "value" and argument.formula in launch.values
    ]
    for formula, _ in sorted(sizes, key=lambda each: each[1] not in usual):
        for tile in (block[axis] * count for count in _TILES_OF_BLOCK):
            if -(-launch.values[formula] // tile) == blocks:
                return f"ceil_div({formula}, {tile})"
    return ""


ParameterKind = Literal["pointer", "whole", "real", "flag", "other", "null"]
_RESERVED = {"M", "N", "K", "A", "B", "C", "warp_size", "max_threads_per_block", "shared_per_block"}
_KIND_OF_TYPE: dict[str, ParameterKind] = {
    **dict.fromkeys(("int", "unsigned", "long", "short", "size_t", "char", "ptrdiff_t"), "whole"),
    **dict.fromkeys(("float", "double", "half", "__half", "nv_bfloat16", "__nv_bfloat16"), "real"),
    "bool": "flag",
}
_OF_TEMPLATE = re.compile(r"^(?:const )?type-parameter-0-(\d+)$")
_ALL_SIZES = 3  # of a multiplication
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
    def has_open_parameters(self) -> bool:
        """Whether a parameter is a struct whose members depend on the template's arguments."""
        return any(each.kind == "other" for each in self.parameters)

    @property
    def tile_values(self) -> dict[str, int]:
        return {tile.name: tile.default for tile in self.tiles}


def draft_of(kernel: KernelOutline, launch: LaunchOutline, *, takes_all: bool = False, names_all: bool = False) -> Draft:
    """The draft of a kernel and one of its launches. ``takes_all``: every name that the grid grows with is a size, also
    one that is neither passed nor the size of some memory. ``names_all``: an argument that is computed from another one is a
    size of its own.
    """
    return _Drafting(*restated(kernel, launch, names_all=names_all), takes_all).draft()


def _is_of_batch(name: str) -> bool:
    return bare_name(name) in SIZE_NAMES["batch"].split()


class _Drafting:
    """Sorts the names of a launch into sizes, tile sizes and constants."""

    def __init__(self, kernel: KernelOutline, launch: LaunchOutline, takes_all: bool) -> None:
        self.kernel, self.launch, self.takes_all = kernel, launch, takes_all
        self.macros = frozenset(each.name for each in launch.names if each.kind == "macro")
        self.constants = frozenset(each.name for each in launch.names if each.kind == "global")
        self.in_buffers = frozenset(names_in(each.bytes for each in launch.buffers))
        self.known = {name: int(value) for name, value in launch.values.items() if _is_whole_number(value)}
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
            return self.known[name] >= _LEAST_LITERAL or _is_of_batch(name)
        if name in self.macros and name not in self.in_buffers and len(self.passed) >= _ALL_SIZES:
            return _is_of_batch(name)  # the sizes are passed: this is a number of parts
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
    buffer = None if buffer is None else structs.replace(buffer, bytes=renamed(buffer.bytes, fixed))
    return structs.replace(parameter, argument=renamed(parameter.argument, fixed), buffer=buffer)


def _is_whole_number(value: float) -> bool:
    return float(value).is_integer() and abs(value) <= LARGEST_NUMBER


def _parameters(kernel: KernelOutline, launch: LaunchOutline) -> tuple[DraftParameter, ...]:
    buffers = {each.name: each for each in launch.buffers}
    arguments: list[ArgumentOutline | None] = [*launch.arguments, *(None for _ in kernel.parameters)]
    types = launch.template_arguments

    def named(match: re.Match[str]) -> str:
        """The type that a template parameter stands for; a usual one if it is deduced from the arguments."""
        number = int(match[1])
        return types[number] if number < len(types) else "float"

    parameters = [structs.replace(each, canonical=_OF_TEMPLATE.sub(named, each.canonical)) for each in kernel.parameters]
    return tuple(
        _draft_parameter(each, argument, buffers, launch.values) for each, argument in zip(parameters, arguments, strict=False)
    )


def _draft_parameter(
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
    return DraftParameter(parameter.name, kind, argument=formula, value=_real(formula, values) if kind == "real" else None)


def _real(formula: str, values: Mapping[str, float]) -> float | None:
    try:
        return float(formula_value(formula, values))
    except GemmvizError:
        return None


def kind_of_type(text: str) -> ParameterKind:
    """The kind of a parameter that is no pointer, from the text of its type."""
    words = re.findall(r"\w+", text.replace("std::", ""))
    named = [_KIND_OF_TYPE.get(re.sub(r"^u?int\d+_t$", "int", word)) for word in words]
    return next((kind for kind in named if kind is not None), "other")

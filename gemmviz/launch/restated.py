"""Launches restated for a draft: structs member by member, each size by its own name, and grids as formulas of sizes."""

from collections.abc import Iterator

from gemmviz.launch.formula import evaluate
from gemmviz.launch.role_names import SIZE_NAMES, bare_name
from gemmviz.launch.words import names_in
from gemmviz.model.errors import GemmvizError
from gemmviz.model.outline import ArgumentOutline, HostName, KernelOutline, LaunchOutline, ParameterOutline
from gemmviz.model.records import replace

_UNREAD = ArgumentOutline("", "unread")
_TILES_OF_BLOCK = (1, 2, 4, 8)  # elements for each thread of a block, along one direction of the grid
_AXIS_SIZES = ("N", "M", "batch")  # what the directions of a grid usually count


def restated(kernel: KernelOutline, launch: LaunchOutline) -> tuple[KernelOutline, LaunchOutline]:
    """The kernel with a parameter for each member of its structs, and the launch with an argument for each."""
    arguments = [*launch.arguments, *(_UNREAD for _ in kernel.parameters)]
    pairs = [pair for each in zip(kernel.parameters, arguments, strict=False) for pair in _leaves(*each)]
    known = {each.name for each in launch.names}
    added: dict[str, HostName] = {}
    named: list[ArgumentOutline] = []
    for parameter, argument in pairs:
        if not parameter.is_pointer and not argument.formula:
            name = _free(parameter.name.replace(".", "_"), known | added.keys())
            added[name] = HostName(name, "parameter")
            argument = ArgumentOutline(name, "value", name)
        named.append(argument)
    kernel = replace(kernel, parameters=tuple(parameter for parameter, _ in pairs))
    launch = replace(launch, arguments=tuple(named), names=(*launch.names, *added.values()))
    return kernel, _grid_by_sizes(_products_named(kernel, launch), kernel)


def _leaves(parameter: ParameterOutline, argument: ArgumentOutline) -> Iterator[tuple[ParameterOutline, ArgumentOutline]]:
    """A parameter with its argument, or the members of a struct with theirs, named "A.width"."""
    if not parameter.fields:
        yield parameter, argument
        return
    arguments = [*argument.fields, *(_UNREAD for _ in parameter.fields)]
    for field, each in zip(parameter.fields, arguments, strict=False):
        yield from _leaves(replace(field, name=f"{parameter.name}.{field.name}"), each)


def _free(name: str, known: set[str]) -> str:
    while name in known:
        name += "_"
    return name


def _products_named(kernel: KernelOutline, launch: LaunchOutline) -> LaunchOutline:
    """The launch with a name for each argument that is computed from names which nothing else is passed as: ``Width`` in
    place of ``TILE * TILE``, wherever the launch uses it.
    """
    plain = {each.formula for each in launch.arguments if each.kind == "value" and each.formula.isidentifier()}
    for parameter, argument in zip(kernel.parameters, launch.arguments, strict=False):
        formula, known = argument.formula, {each.name for each in launch.names}
        words = [each for each in names_in([formula]) if not each.isdecimal()]
        if argument.kind != "value" or not words or formula.isidentifier() or plain & set(words):
            continue
        if not any(formula in each for each in launch.grid):
            continue
        name = _free(parameter.name.replace(".", "_"), known)
        launch = _with_name(launch, formula, HostName(name, "local", _value(launch, formula)))
    return launch


def _with_name(launch: LaunchOutline, formula: str, name: HostName) -> LaunchOutline:
    def put(text: str) -> str:
        return text.replace(formula, name.name)

    return replace(
        launch,
        grid=tuple(map(put, launch.grid)),
        block=tuple(map(put, launch.block)),
        shared_bytes=put(launch.shared_bytes),
        arguments=tuple(replace(each, formula=put(each.formula)) for each in launch.arguments),
        buffers=tuple(replace(each, bytes=put(each.bytes)) for each in launch.buffers),
        names=(*launch.names, name),
    )


def _value(launch: LaunchOutline, formula: str) -> int | None:
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
    block = [_value(launch, extent) or 1 for extent in launch.block]
    grid = []
    for axis, extent in enumerate(launch.grid):
        formula = _blocks_for(launch, kernel, axis, extent, block) if extent in given - passed else ""
        grid.append(formula or extent)
    return replace(launch, grid=tuple(grid))


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

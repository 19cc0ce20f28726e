"""Launches to try for a kernel whose launch stands nowhere."""

import re
from collections.abc import Iterator, Mapping
from itertools import permutations

from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.launch.tilings import tiled_launches
from gemmviz.model.outline import ArgumentOutline, BufferOutline, HostName, KernelOutline, LaunchOutline, TemplateParameter
from gemmviz.model.records import replace

_TILE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\(?(\d+)\)?[ \t]*(?://.*|/\*.*)?$", re.MULTILINE)
_BOUNDS = re.compile(r"__launch_bounds__\s*\(\s*(\d+)")
_USUAL_TILES, _USUAL_THREADS = ("16", "32"), ("256", "128", "1024")
_LEAST_TILE, _MOST_TILE, _MOST_THREADS = 2, 32, 1024


def launch_by_names(kernel: KernelOutline, tiles: Mapping[str, int]) -> LaunchOutline:
    """A launch that passes each parameter under its own name, and leaves grid and block open. ``tiles``: values of template
    parameters.
    """
    values = [each for each in kernel.parameters if not each.is_pointer]
    return LaunchOutline(
        kernel=kernel.name,
        template_arguments=tuple(
            each.name if each.name in tiles else each.default or _usual(each)
            for each in kernel.template_parameters
        ),
        arguments=tuple(
            ArgumentOutline(each.name, "pointer", "0", each.name) if each.is_pointer
            else ArgumentOutline(each.name, "value", each.name)
            for each in kernel.parameters
        ),
        grid=(), block=(), shared_bytes="0", file=kernel.file, place=kernel.place,
        names=(
            *(HostName(each.name, "parameter") for each in values),
            *(HostName(name, "template", value) for name, value in tiles.items()),
        ),
        buffers=tuple(BufferOutline(each.name) for each in kernel.parameters if each.is_pointer),
    )  # fmt: skip


def _usual(parameter: TemplateParameter) -> str:
    """A usual argument for a template parameter."""
    return "float" if parameter.kind == "type" else "false" if parameter.type == "bool" else _USUAL_TILES[0]


def without_open_extents(launch: LaunchOutline) -> LaunchOutline:
    """A launch whose grid is left open if it is a dim3 parameter of the host function with values that nobody knows."""
    unknown = {each.name for each in launch.names if each.kind == "parameter" and each.value is None}
    is_open = any(each in unknown and each.endswith(("_x", "_y", "_z")) for each in launch.grid)
    return replace(launch, grid=()) if is_open else launch


def completed(launch: LaunchOutline, kernel: KernelOutline, tiles: Mapping[str, int]) -> LaunchOutline:
    """A launch whose arguments that can't be read are replaced by the parameters' own names."""
    named = launch_by_names(kernel, tiles)
    unread = [each for each in launch.unread if each.part.startswith("argument")]
    if not unread and len(launch.arguments) == len(kernel.parameters):
        return launch
    taken = {each.name for each in launch.names}
    given = (*launch.arguments, *named.arguments[len(launch.arguments) :])
    return replace(
        named,
        template_arguments=launch.template_arguments or named.template_arguments,
        arguments=tuple(own if each.kind == "unread" else each for each, own in zip(given, named.arguments, strict=False)),
        grid=launch.grid,
        block=launch.block,
        shared_bytes=launch.shared_bytes or "0",
        names=(*launch.names, *(each for each in named.names if each.name not in taken)),
        buffers=(*launch.buffers, *named.buffers),
    )


def guesses(text: str, tiles: Mapping[str, int], sizes: tuple[str, ...]) -> Iterator[GivenLaunch]:
    """Grids and blocks to try, likely ones first. ``tiles``: values of template parameters; ``sizes``: names of the problem's
    sizes.
    """
    rows, columns = (sizes[0], sizes[1]) if len(sizes) > 1 else (sizes[0], sizes[0])
    if len(sizes) > 1:
        yield from tiled_launches(text, tiles, rows, columns)
        squares = tuple(tiles) if len(tiles) == 1 else ()
        for tile in squares:
            yield _tiled(tile, columns, rows)
            yield _tiled(tile, rows, columns)
            yield GivenLaunch(block=(f"{tile} * {tile}",), grid=_tiled(tile, rows, columns).grid)
            yield GivenLaunch(block=(f"{tile} * {tile}",), grid=_tiled(tile, columns, rows).grid)
        for tile in dict.fromkeys((*_tiles(text), *_USUAL_TILES)):
            yield _tiled(tile, columns, rows)
            yield _tiled(tile, rows, columns)
        for across, down in permutations(dict.fromkeys(_tiles(text)), 2):  # a block of fewer rows than its tile
            if int(across) > int(down):
                yield GivenLaunch(block=(across, down), grid=_tiled(across, columns, rows).grid)
        for tile in dict.fromkeys((*_tiles(text), *_USUAL_TILES)):  # each thread computes four rows
            yield GivenLaunch(block=(tile, f"{tile} / 4"), grid=_tiled(tile, columns, rows).grid)
    for threads in dict.fromkeys((*_BOUNDS.findall(text), *_USUAL_THREADS)):
        for count in dict.fromkeys((rows, columns, " * ".join((rows, columns)))):
            yield GivenLaunch(block=(threads,), grid=(f"ceil_div({count}, {threads})",))
        if len(sizes) > 1:
            yield GivenLaunch(block=(columns, rows), grid=("1",))


def _tiled(tile: str, across: str, down: str) -> GivenLaunch:
    return GivenLaunch(block=(tile, tile), grid=(f"ceil_div({across}, {tile})", f"ceil_div({down}, {tile})"))


def _tiles(text: str) -> Iterator[str]:
    """Values of the text's macros that may be the width of a tile."""
    for _, value in _TILE.findall(text):
        if len(value) <= len(str(_MOST_TILE)) and _LEAST_TILE <= int(value) <= _MOST_TILE:
            yield value

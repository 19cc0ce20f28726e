"""Launches to try for a kernel whose launch stands nowhere."""

import re
from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

from msgspec import Struct, structs

from gemmviz.cuda.launch.draft import Draft, DraftParameter, shape_formula
from gemmviz.cuda.launch.formula import evaluate, renamed
from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.cuda.launch.roles import FILTER_WIDTH, Roles, candidates, text_sizes
from gemmviz.model.kernel import NULL_POINTER, KernelSpec, ProjectFile, Requirement
from gemmviz.model.messages import GemmvizError
from gemmviz.model.outline import ArgumentOutline, BufferOutline, HostName, KernelOutline, LaunchOutline, TemplateParameter
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems import IN_PARTS, MULTIPLICATIONS, PROBLEM_KINDS

# Tile sizes to try for a kernel whose launch stands nowhere, by the names of its template parameters and constants.

# Extents of a block's tile, a warp's tile and a thread's tile that worklogs use, small ones first. "t": threads of a block.
_USUAL_EXTENTS: tuple[Mapping[str, int], ...] = (
    {"bm": 64, "bn": 64, "bk": 8, "tm": 8, "tn": 8, "t": 64},
    {"bm": 128, "bn": 128, "bk": 8, "tm": 8, "tn": 8, "t": 256},
    {"bm": 64, "bn": 64, "bk": 16, "tm": 4, "tn": 4, "t": 256},
    {"bm": 128, "bn": 128, "bk": 16, "wm": 64, "wn": 64, "wniter": 4, "tm": 8, "tn": 4, "t": 128},
    {"bm": 64, "bn": 128, "bk": 8, "wm": 32, "wn": 64, "wniter": 2, "tm": 4, "tn": 4, "t": 128},
    {"bm": 32, "bn": 32, "bk": 32, "tm": 4, "tn": 4, "t": 64},
    {"bm": 64, "bn": 64, "bk": 8, "tm": 4, "tn": 2, "t": 512},
)
_SQUARES = (16, 32, 8)
_DEFINED_CONSTANT = re.compile(
    r"\b(?:const|constexpr|static|define)[ \t]+(?:(?:const|unsigned|int|uint\w*|size_t|auto)[ \t]+)*(\w+)[ \t]*=?[ \t]*(\d+)\b"
)
_THREADS_NAME = re.compile(r"^k?(num|n|block)?threads(perblock)?(num)?$|^blockthreads$")
_SIZE_OF_LETTER = {"m": "m", "y": "m", "n": "n", "x": "n", "k": "k"}


def tile_role(name: str) -> str:
    """What a tile size is, by its name: "bm", "bn", "bk", "wm", "wn", "wniter", "tm", "tn", "t" or ""."""
    bare = name.lower().replace("_", "")
    if _THREADS_NAME.match(bare):
        return "t"
    if bare in ("wniter", "wmiter"):
        return bare
    axis = _SIZE_OF_LETTER.get(bare[-1:], "")
    word = bare[:-1].removeprefix("k")
    if not axis:
        return ""
    if word in ("t", "rm", "r") or "thread" in word:
        return f"t{axis}"
    if word == "w" or "warp" in word:
        return f"w{axis}"
    return f"b{axis}" if word in ("b", "bs", "blk", "") or "block" in word or "tile" in word else ""


def tilings(kernel: KernelOutline) -> Iterator[Mapping[str, int]]:
    """Values of the kernel's template parameters, by name, likely ones first; one empty set if none is a number."""
    names = [
        each.name for each in kernel.template_parameters if each.kind == "value" and each.type != "bool" and not each.default
    ]
    roles = {name: tile_role(name) for name in names}
    if names and len(names) > 1 and all(roles.values()):
        for usual in _USUAL_EXTENTS:
            if all(role in usual for role in roles.values()):
                yield {name: usual[role] for name, role in roles.items()}
    for side in _SQUARES if names else _SQUARES[:1]:
        yield dict.fromkeys(names, side)


def tiled_launches(text: str, values: Mapping[str, int], rows: str, columns: str) -> Iterator[GivenLaunch]:
    """Launches of a kernel whose blocks compute tiles of these sizes, or of those that constants of its text name."""
    named = {tile_role(name): name for name in values}
    if not {"bm", "bn"} <= named.keys():
        named = {}
        for name, value in _DEFINED_CONSTANT.findall(text):
            named.setdefault(tile_role(name), value)
    if not {"bm", "bn"} <= named.keys():
        return
    down, across = named.get("tm", "1"), named.get("tn", "1")
    flat = named.get("t", f"{named['bm']} * {named['bn']} / ({down} * {across})")
    for block in ((flat,), (f"{named['bn']} / {across}", f"{named['bm']} / {down}")):
        for x, y in (((columns, "bn"), (rows, "bm")), ((rows, "bm"), (columns, "bn"))):
            grid = tuple(f"ceil_div({size}, {named[tile]})" for size, tile in (x, y))
            yield GivenLaunch(block=block, grid=grid)


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
    return structs.replace(launch, grid=()) if is_open else launch


def completed(launch: LaunchOutline, kernel: KernelOutline, tiles: Mapping[str, int]) -> LaunchOutline:
    """A launch whose arguments that can't be read are replaced by the parameters' own names."""
    named = launch_by_names(kernel, tiles)
    unread = [each for each in launch.unread if each.part.startswith("argument")]
    if not unread and len(launch.arguments) == len(kernel.parameters):
        return structs.replace(launch, template_arguments=launch.template_arguments or named.template_arguments)
    taken = {each.name for each in launch.names}
    given = (*launch.arguments, *named.arguments[len(launch.arguments) :])
    return structs.replace(
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


# A draft with roles for its arguments, as the spec of a kernel that runs.

FACTOR = 2.0  # a first alpha, other than 1 so that its effect shows
_WIDEST = 15  # of a filter in a first picture
_FLAGS = {"true": "1", "false": "0"}


class KernelText(Struct, frozen=True):
    """The text of a kernel's file. ``name``: the kernel's name for users; the other fields are those of KernelSpec."""

    name: str
    file: str
    text: str
    own_name: str = ""
    project: tuple[ProjectFile, ...] = ()
    compiled: str = ""


def spec_of(source: KernelText, draft: Draft, roles: Roles, problem: Problem) -> KernelSpec:
    """The spec of a draft with these roles. The formulas of the host are those of M, N, K and the parameters."""
    names = dict(zip(draft.sizes, roles.sizes, strict=True))
    given = {size for name, size in names.items() if name not in draft.macros}
    own = [
        each for each in text_sizes(source.text)
        if each.size in problem.sizes and each.size not in given and (FILTER_WIDTH not in given or each.size != "radius")
    ]  # fmt: skip
    told = host_sizes(draft, roles, problem)
    is_told = problem.sizes.keys() <= {*told, *(each.size for each in own)}
    return KernelSpec(
        name=source.name,
        file=source.file,
        text=source.text,
        title=source.name,
        description="",
        entry=draft.entry,
        args=arguments_of(draft, roles),
        block=tuple(renamed(each, names) for each in draft.block),
        grid=tuple(renamed(each, names) for each in draft.grid),
        parameters=draft.tiles,
        requirements=(
            *(_tied(size, roles) for size in roles.ties),
            *(each.rule for each in own if not each.follows),
            *(fixed_size(names[each], value) for each, value in draft.values if each in draft.constants),
        ),
        shared_bytes=renamed(draft.shared_bytes, names),
        opts_in_to_shared=bool(draft.allowed_shared_bytes),
        problem=problem,
        size_macros=(
            *((name, names[name]) for name in draft.macros if names[name] in problem.sizes),
            *(
                (each.name, each.size) for each in own
                if each.follows and each.name not in (*draft.tile_values, *draft.macros)
            ),
        ),
        host_sizes=tuple(told.items()) if is_told else (),
        parameter_names=tuple(each.name for each in draft.parameters),
        own_name=source.own_name,
        project=source.project,
        compiled=source.compiled,
    )  # fmt: skip


def host_sizes(draft: Draft, roles: Roles, problem: Problem) -> dict[str, int]:
    """The problem's sizes that the host code tells, by name."""
    values = dict(draft.values)
    own = {size: values[name] for name, size in zip(draft.sizes, roles.sizes, strict=True) if name in values}
    tied = dict.fromkeys(roles.ties, own[roles.sizes[0]]) if roles.ties and roles.sizes[0] in own else {}
    return {size: value for size, value in {**tied, **own}.items() if size in problem.sizes}


def arguments_of(draft: Draft, roles: Roles) -> tuple[str, ...]:
    """The formulas of a draft's arguments with these roles."""
    names, factors = dict(zip(draft.sizes, roles.sizes, strict=True)), _factors(roles)
    arrays, reals = iter(roles.arrays), iter([*factors, *(f"{each:g}" for each in roles.reals[len(factors) :])])
    return tuple(_argument(each, names, arrays, reals) for each in draft.parameters)


def choices(draft: Draft, kind: ProblemKind, given: GivenLaunch, *, by_names: bool = False) -> Iterator[Roles]:
    """Roles for a draft in a problem of this kind, likeliest first: those that agree with the given arguments, or all if none
    does. ``by_names``: the arrays are those of the likeliest roles. Raises UsageError for arguments of another kernel.
    """
    every = list(candidates(draft, kind))
    if given.args:
        names = tuple(each.name for each in draft.parameters)
        wanted = given.arguments(names)
        agreeing = (
            roles for roles in every
            if all(wanted.get(name, own) == own for name, own in zip(names, arguments_of(draft, roles), strict=True))
        )  # fmt: skip
        every = list(agreeing) or every
    yield from (roles for roles in every if not by_names or roles.arrays == every[0].arrays)


def problems_of(source: KernelText, draft: Draft, roles: Roles) -> list[Problem]:
    """Problems that the roles may mean: of a sum also one with a sum for each block."""
    problem = problem_of(source, draft, roles)
    if roles.kind not in IN_PARTS or not draft.grid:
        return [problem]
    names = dict(zip(draft.sizes, roles.sizes, strict=True))
    outputs = [
        shape_formula(pointer, draft) for pointer, array in zip(draft.pointers, roles.arrays, strict=True) if array == "out"
    ]
    blocks = " * ".join(f"({renamed(each, names)})" for each in draft.grid if each != "1")
    if not blocks or (outputs[0] and _is_one(outputs[0])):
        return [problem]
    return [Problem.of_flat({**problem.to_flat(), "arrays": {"out": [blocks]}}), problem]


def _is_one(formula: str) -> bool:
    """Whether a number of elements is 1."""
    try:
        return evaluate(formula, {}) == 1
    except GemmvizError:
        return False


def problem_of(source: KernelText, draft: Draft, roles: Roles) -> Problem:
    """The problem of the roles: with the sizes that the text or the host code fixes, and the kind's own for all others."""
    kind = PROBLEM_KINDS[roles.kind]
    numbers: dict[str, Any] = dict.fromkeys(_factors(roles), FACTOR)
    names = {size.name for size in kind.sizes} | {*numbers}
    values = dict(draft.values)
    for name, size in zip(draft.sizes, roles.sizes, strict=True):
        if size == FILTER_WIDTH and values.get(name, 0) % 2 and 1 < values[name] <= _WIDEST:
            numbers["radius"] = values[name] // 2
        elif size in ("radius", "batch"):
            numbers[size] = max(1, min(values.get(name, 2), _WIDEST)) if size == "radius" else 2
    numbers |= {each.size: each.value for each in text_sizes(source.text) if each.size not in roles.size_names}
    return Problem(kind=roles.kind, **{name: number for name, number in numbers.items() if name in names})


def _factors(roles: Roles) -> list[str]:
    """The factors of the problem that are passed as arguments; none of a multiplication, whose factors are values."""
    kind = PROBLEM_KINDS[roles.kind]
    return [] if kind.name in MULTIPLICATIONS else [factor.name for factor in kind.factors[: len(roles.reals)]]


def _argument(parameter: DraftParameter, names: Mapping[str, str], arrays: Iterator[str], reals: Iterator[str]) -> str:
    match parameter.kind:
        case "pointer":
            return next(arrays)
        case "null":
            return NULL_POINTER
        case "real":
            return next(reals)
    return _FLAGS.get(parameter.argument, renamed(parameter.argument, names))


def _tied(size: str, roles: Roles) -> Requirement:
    """The rule that a size equals another one, since the launch has one number for both."""
    other = roles.sizes[0]
    return Requirement(
        f"{size} == {other}", f"{size} = {{{size}}}: the launch has one number for {size} and {other} = {{{other}}}"
    )


def fixed_size(size: str, value: int) -> Requirement:
    """The rule that a size has the value that the code gives it, since the kernel was not found right at others."""
    return Requirement(
        f"{size} == {value}", f"{size} = {{{size}}}: the code has {value} for it, and it may not be changed alone"
    )

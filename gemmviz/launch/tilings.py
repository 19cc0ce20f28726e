"""Tile sizes to try for a kernel whose launch stands nowhere, by the names of its template parameters and constants."""

import re
from collections.abc import Iterator, Mapping

from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.model.outline import KernelOutline

# Extents of a block's tile, a warp's tile and a thread's tile that worklogs use, small ones first. "t": threads of a block.
_USUAL: tuple[Mapping[str, int], ...] = (
    {"bm": 64, "bn": 64, "bk": 8, "tm": 8, "tn": 8, "t": 64},
    {"bm": 128, "bn": 128, "bk": 8, "tm": 8, "tn": 8, "t": 256},
    {"bm": 64, "bn": 64, "bk": 16, "tm": 4, "tn": 4, "t": 256},
    {"bm": 128, "bn": 128, "bk": 16, "wm": 64, "wn": 64, "wniter": 4, "tm": 8, "tn": 4, "t": 128},
    {"bm": 64, "bn": 128, "bk": 8, "wm": 32, "wn": 64, "wniter": 2, "tm": 4, "tn": 4, "t": 128},
    {"bm": 32, "bn": 32, "bk": 32, "tm": 4, "tn": 4, "t": 64},
    {"bm": 64, "bn": 64, "bk": 8, "tm": 4, "tn": 2, "t": 512},
)
_SQUARES = (16, 32, 8)
_CONSTANT = re.compile(
    r"\b(?:const|constexpr|static|define)[ \t]+(?:(?:const|unsigned|int|uint\w*|size_t|auto)[ \t]+)*(\w+)[ \t]*=?[ \t]*(\d+)\b"
)
_THREADS = re.compile(r"^k?(num|n|block)?threads(perblock)?(num)?$|^blockthreads$")
_AXES = {"m": "m", "y": "m", "n": "n", "x": "n", "k": "k"}


def tile_role(name: str) -> str:
    """What a tile size is, by its name: "bm", "bn", "bk", "wm", "wn", "wniter", "tm", "tn", "t" or ""."""
    bare = name.lower().replace("_", "")
    if _THREADS.match(bare):
        return "t"
    if bare in ("wniter", "wmiter"):
        return bare
    axis = _AXES.get(bare[-1:], "")
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
        for usual in _USUAL:
            if all(role in usual for role in roles.values()):
                yield {name: usual[role] for name, role in roles.items()}
    for side in _SQUARES if names else _SQUARES[:1]:
        yield dict.fromkeys(names, side)


def tiled_launches(text: str, values: Mapping[str, int], rows: str, columns: str) -> Iterator[GivenLaunch]:
    """Launches of a kernel whose blocks compute tiles of these sizes, or of those that constants of its text name."""
    named = {tile_role(name): name for name in values}
    if not {"bm", "bn"} <= named.keys():
        named = {}
        for name, value in _CONSTANT.findall(text):
            named.setdefault(tile_role(name), value)
    if not {"bm", "bn"} <= named.keys():
        return
    down, across = named.get("tm", "1"), named.get("tn", "1")
    flat = named.get("t", f"{named['bm']} * {named['bn']} / ({down} * {across})")
    for block in ((flat,), (f"{named['bn']} / {across}", f"{named['bm']} / {down}")):
        for x, y in (((columns, "bn"), (rows, "bm")), ((rows, "bm"), (columns, "bn"))):
            grid = tuple(f"ceil_div({size}, {named[tile]})" for size, tile in (x, y))
            yield GivenLaunch(block=block, grid=grid)

"""A draft whose block has more threads than any GPU allows, with the nearest block that is allowed."""

import math

from gemmviz.launch.draft import Draft
from gemmviz.launch.formula import evaluate
from gemmviz.launch.words import names_in, renamed
from gemmviz.model.errors import GemmvizError
from gemmviz.model.records import replace

_MOST_THREADS = 1024


def with_legal_block(draft: Draft) -> Draft:
    """The draft itself if its block is allowed or isn't known; else its tile sizes, or the numbers in its block and grid that
    are extents of the block, are halved until it is, the largest first.
    """
    tiles, numbers = draft.tile_values, {each: int(each) for each in names_in(draft.block) if each.isdecimal()}
    if _threads(draft, tiles, numbers) <= _MOST_THREADS:
        return draft
    while _threads(draft, tiles, numbers) > _MOST_THREADS:
        used = tiles if any(tiles.get(each, 0) > 1 for each in names_in(draft.block)) else numbers
        largest = max((each for each in names_in(draft.block) if each in used), key=lambda each: used[each], default="")
        if not largest or used[largest] < 2:
            return draft
        used[largest] //= 2
    texts = {name: str(value) for name, value in numbers.items()}
    texts |= {str(int(name) - 1): str(value - 1) for name, value in numbers.items() if int(name) > 2}  # (N + 31) / 32
    return replace(
        draft,
        block=tuple(renamed(each, texts) for each in draft.block),
        grid=tuple(renamed(each, texts) for each in draft.grid),
        tiles=tuple(replace(each, default=tiles[each.name]) for each in draft.tiles),
    )


def _threads(draft: Draft, tiles: dict[str, int], numbers: dict[str, int]) -> int:
    """The threads of a block with these tile sizes and numbers; 0 if they depend on more."""
    texts = {name: str(value) for name, value in numbers.items()}
    try:
        return math.prod(evaluate(renamed(each, texts), tiles) for each in draft.block)
    except GemmvizError:
        return 0

"""The source of a kernel, alone or compared with another."""

from msgspec import Struct


class Listing(Struct, frozen=True):
    """The ``lines`` of a source without its header; ``lit``: indices of highlighted lines, from 0; ``renamed``:
    those of them that differ from the compared source in names alone.
    """

    name: str
    title: str
    lines: tuple[str, ...]
    lit: frozenset[int] = frozenset()
    renamed: frozenset[int] = frozenset()


class Stop(Struct, frozen=True):
    """Where a run ended early: the index of the line, and a sentence that says why."""

    line: int
    why: str


class CodeCase(Struct, frozen=True):
    """``main`` and, in ``beside``, the source that it is compared with. ``is_grown``: ``main`` has every line of ``beside`` and
    more; the added lines are highlighted. ``pairs``: indices of equal lines, those of ``beside`` first. ``facts``: names and
    values of the counts of a launch of ``main``, as text. ``block``: the threads of a block along x, y and z of that launch;
    ``tiles``: name, rows and columns of each shared array; ``stop``: why that launch ended early, None if it didn't.
    """

    main: Listing
    beside: Listing | None = None
    is_grown: bool = False
    pairs: tuple[tuple[int, int], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    block: tuple[int, int, int] | None = None
    tiles: tuple[tuple[str, int, int], ...] = ()
    stop: Stop | None = None

"""The source of a kernel, alone or beside another's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listing:
    """``lines`` without the header; ``lit`` are the places of those that matter, counted from 0."""

    name: str
    title: str
    lines: tuple[str, ...]
    lit: frozenset[int] = frozenset()


@dataclass(frozen=True)
class CodeCase:
    """``main``, and ``beside`` what it is held against. ``is_grown``: ``main`` has all that ``beside`` has, and more: what was
    added is lit. ``pairs``: places of lines that stand for each other, those of ``beside`` first. ``facts``: what a launch of
    ``main`` does, counted: names and numbers in words.
    """

    main: Listing
    beside: Listing | None = None
    is_grown: bool = False
    pairs: tuple[tuple[int, int], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()

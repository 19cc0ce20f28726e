"""Bytes of a whole launch at each level of memory: requested by threads, moved in sectors, and moved by DRAM."""

from gemmviz.model.problem import Problem
from gemmviz.model.speed_case import SpeedCase, Traffic
from gemmviz.model.words import listed, number, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, message, titled
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import text_line
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.views.hierarchy_view import size_text

_BYTES = 4


def bytes_scene(case: SpeedCase, options: ViewOptions) -> Scene:
    """Draw a bar for each level on one scale, and the minimum: each array once."""
    title = f"Bytes: {case.what}"
    least, names = case.least_bytes, listed(array.name for array in case.problem.arrays)
    note = _note(case.problem)
    if not case.traffic:
        waiting = f"The launch was not counted: {case.no_counts}" if case.no_counts else "The launch is being counted"
        return titled([message(waiting, options)], title, note, options)
    room = Box(MARGIN, 140.0, options.width - 2 * MARGIN, options.height - 180.0)
    most = max(each.size_bytes for each in (*case.traffic, Traffic("", least, "")))
    rows = [*case.traffic, Traffic(f"minimum: {names} once", least, "counted from the sizes")]
    pitch = room.height / len(rows)
    primitives: list[Primitive] = []
    for place, row in enumerate(rows):
        colour = options.theme.level(place) if row in case.traffic else options.theme.faint
        primitives += _bar(f"bytes-{place}", row, most, colour, Box(room.x, room.y + place * pitch, room.width, pitch), options)
    return titled(primitives, title, note, options)


def _note(problem: Problem) -> str:
    """Return what a multiplication without tiles requests; nothing for other problems."""
    if not problem.is_multiply:
        return problem.kind.formula
    requested = _BYTES * problem.M * problem.N * 2 * problem.K
    whole = f"{size_text(requested)} for all {spaced(problem.M * problem.N)}"
    return f"A thread that reads its own row and column requests 2 · 4 · K bytes: {whole}"


def _bar(key: str, row: Traffic, most: int, colour: str, room: Box, options: ViewOptions) -> list[Primitive]:
    theme = options.theme
    size, small = min(theme.type.heading, 0.2 * room.height), min(theme.type.note, 0.16 * room.height)
    high = min(0.4 * room.height, 70.0)
    y = room.y + 1.5 * size
    wide = max(3.0, room.width * row.size_bytes / most)
    name = f"{size_text(row.size_bytes)} {row.level}"
    exact = f"{spaced(row.size_bytes)} bytes, {number(row.size_bytes / 1e9)} GB; {row.source}"
    return [
        text_line(f"{key}-name", (room.x, room.y + size), name, size, room.width, theme.text, "semibold"),
        Rects(f"{key}-track", boxes((room.x, y, room.width, high)), theme.empty, radius=4.0),
        Rects(f"{key}-bar", boxes((room.x, y, wide, high)), colour, radius=4.0),
        text_line(f"{key}-exact", (room.x, y + high + 1.25 * small), exact, small, room.width, theme.faint),
    ]


VIEW = View("Bytes requested, moved and from DRAM", SpeedCase, bytes_scene, is_count=True, order=46)

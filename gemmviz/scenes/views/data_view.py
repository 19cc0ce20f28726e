"""A kernel's data with its reads and writes, and the memory that each kind of use asks for: names move from the table into the
memories that they are in.
"""

from gemmviz.model.cases import ArrayUse, DataUse
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import listed, size_text, spaced
from gemmviz.scenes.kit.frame import ARRIVAL, MARGIN, ViewOptions, eased_from, titled
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.view import View

_TOP, _TABLE, _GAP, _FLIGHT = 124.0, 0.5, 16.0, 0.45
_CONSTANT = 65536  # bytes: CUDA C++ Programming Guide, Technical Specifications per Compute Capability
_RULES = (
    (marked("registers"), marked("used by one thread"), "register"),
    (marked("shared memory"), marked("read and written by a block"), "shared"),
    (marked("constant memory"), marked("only read, and small"), "constant"),
    (marked("global memory"), marked("inputs and results"), "global"),
)


def data_scene(case: DataUse, options: ViewOptions) -> Scene:
    """Draw the table of data, and a box for each memory with the use that it is for. Names are drawn by ``data_motion``."""
    theme, sizes, pieces = options.theme, options.theme.type, list[Primitive]()
    rows = [_row(each) for each in case.arrays]
    if case.variables:
        rows.append([TableCell(_variables(case), strong=True), TableCell(tr("each thread")), TableCell(tr("its own"))])
    room = options.room(_TOP, 40).part(across=(0.0, _TABLE)).trimmed(right=40)
    pieces += table("data", (tr("data"), tr("elements read"), tr("written")), rows, room, theme, largest=28.0)
    for name, rule, key in _RULES:
        box = _box(key, options)
        pieces.append(Rects(f"memory-{key}", boxes(box), theme.slate, radius=10.0))
        at = (box.x + 18, box.y + 1.25 * sizes.name)
        pieces.append(text_line(f"memory-{key}-name", at, tr(name), sizes.name, box.width - 36, theme.text, "semibold"))
        x = at[0] + text_width(tr(name), sizes.name, "semibold") + 16
        pieces.append(text_line(f"memory-{key}-rule", (x, at[1]), tr(rule), sizes.least, box.right - x - 10, theme.faint))
    small = [each.name for each in case.arrays if each.space == "global" and each.is_only_read and each.size_bytes <= _CONSTANT]
    if small and case.device.vendor == "NVIDIA":
        box = _box("constant", options)
        text = tr("{small} would fit into its {constant}", small=listed(small), constant=size_text(_CONSTANT))
        at = (box.x + 18, box.bottom - 0.7 * sizes.least)
        pieces.append(text_line("small", at, text, sizes.least, box.width - 36, theme.text))
    return titled(pieces, tr("Data of {what}", what=case.what), tr("counted over the whole launch"), options)


def data_motion(case: DataUse, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the names on their way from the table into their memories."""
    theme, size, pieces, taken = options.theme, options.theme.type.words, list[Primitive](), dict[str, float]()
    places = [(each.name, str(each.space)) for each in case.arrays] + [(name, "register") for name in case.variables]
    moment, rows = min(1.0, options.moment / ARRIVAL), len(case.arrays) + bool(case.variables)
    for number, (name, key) in enumerate(places):
        box, wide = _box(key, options), text_width(name, size, "mono") + 20
        x = taken.get(key, box.x + 18)
        if x + wide > box.right - 10:
            continue
        taken[key] = x + wide + 10
        share = eased_from(moment, number / len(places) * (1 - _FLIGHT), _FLIGHT)
        if share <= 0:
            continue
        row = min(number, rows - 1)
        start = MARGIN, _TOP + (row + 1.4) * (options.height - _TOP - 40) / (rows + 1)
        end = x, box.y + 1.5 * theme.type.name + 8
        at = start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
        colour = theme.accents.get(name, theme.load)
        pieces.append(Rects(f"chip-{number}", boxes((*at, wide, 1.5 * size)), colour, radius=6.0))
        if share >= 1.0:
            ink, text_at = theme.ink_on(colour), points((at[0] + 10, at[1] + 1.08 * size))
            pieces.append(Labels(f"chip-{number}-name", text_at, (name,), size, ink, "start", "mono"))
    return tuple(pieces)


def _row(each: ArrayUse) -> list[TableCell]:
    written = spaced(each.writes) if each.writes else tr("never")
    return [TableCell(each.name, strong=True), TableCell(spaced(each.reads) if each.reads else tr("never")), TableCell(written)]


def _variables(case: DataUse) -> str:
    """Return the first variables of a thread by name."""
    return ", ".join(case.variables[:3]) + (", …" if len(case.variables) > 3 else "")


def _box(key: str, options: ViewOptions) -> Box:
    """Return the box of a memory, at the right."""
    left = MARGIN + _TABLE * (options.width - 2 * MARGIN)
    place = [rule[2] for rule in _RULES].index(key)
    high = (options.height - _TOP - 34 - 3 * _GAP) / 4
    return Box(left, _TOP + place * (high + _GAP), options.width - MARGIN - left, high)


VIEW = View(marked("Data and the memories that it belongs in"), DataUse, data_scene, data_motion, order=53)

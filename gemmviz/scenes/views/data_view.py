"""A kernel's data with its reads and writes, and the memory that each kind of use asks for: names move from the table into the
memories that they are in.
"""

from gemmviz.model.cases import ArrayUse, DataUse
from gemmviz.model.translation import listed, marked, size_text, spaced, tr
from gemmviz.scenes.kit.hardware import Chip, chips_into, moving_chips
from gemmviz.scenes.kit.layout import LINE_PITCH, REST, Box, round_boxes, term, write
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.view import View, ViewOptions, titled

_STRETCH = 9  # how much higher than their text rows may be: the table is as high as the memories beside it
_CONSTANT_BYTES = 65536  # bytes: CUDA C++ Programming Guide, Technical Specifications per Compute Capability
_RULES = {
    "register": (marked("registers"), marked("used by one thread")),
    "shared": (marked("shared memory"), marked("read and written by a block")),
    "constant": (marked("constant memory"), marked("only read, and small")),
    "global": (marked("global memory"), marked("inputs and results")),
}


def data_scene(case: DataUse, options: ViewOptions) -> Scene:
    """Draw the table of data, and a box for each memory with the use that it is for. Names are drawn by ``data_motion``."""
    theme, pieces = options.theme, list[Primitive]()
    room, memories = _data_places(options)
    rows = [_use_row(each) for each in case.arrays]
    if case.variables:
        rows.append([TableCell(_variables(case), strong=True), TableCell(tr("each thread")), TableCell(tr("its own"))])
    pieces += table("data", (tr("data"), tr("elements read"), tr("written")), rows, room, theme, stretch=_STRETCH)
    small = [
        each.name for each in case.arrays if each.space == "global" and each.is_only_read and each.size_bytes <= _CONSTANT_BYTES
    ]
    for key, (name, rule) in _RULES.items():
        head, _, foot = _of_memory(memories[key], options)
        name_style = theme.strong.sized(theme.type.name)
        pieces += [
            round_boxes(f"memory-{key}", memories[key], theme.slate),
            *term(f"memory-{key}-name", head, tr(name), name_style, tr(rule), theme.soft),
        ]
        if key == "constant" and small and case.device.vendor == "NVIDIA":
            text = tr("{small} would fit into its {constant}", small=listed(small), constant=size_text(_CONSTANT_BYTES))
            pieces.append(write("small", foot, text, theme.plain))
    return titled(pieces, tr("Data of {what}", what=case.what), tr("counted over the whole launch"), options)


def data_motion(case: DataUse, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the names on their way from the table into their memories."""
    theme, chips, (room, memories) = options.theme, list[Chip](), _data_places(options)
    named = [(each.name, str(each.space)) for each in case.arrays] + [(name, "register") for name in case.variables]
    rows = room.grid(len(case.arrays) + bool(case.variables) + 1, 1)[1:]
    for key, box in memories.items():
        own = [(place, name) for place, (name, space) in enumerate(named) if space == key]
        starts = [(n, name, rows[min(n, len(rows) - 1)], theme.accents.get(name, theme.load)) for n, name in own]
        chips += chips_into(_of_memory(box, options)[1], starts, theme)
    return moving_chips(chips, options)


def _data_places(options: ViewOptions) -> tuple[Box, dict[str, Box]]:
    """Return the room of the table, and the box of each memory."""
    left, right = options.room(124, 40).columns(REST, REST, gap=40)
    return left, dict(zip(_RULES, right.grid(len(_RULES), 1, down=16), strict=True))


def _of_memory(box: Box, options: ViewOptions) -> list[Box]:
    """Return the parts of a memory: its name, the room of its chips, and in it what else is said of a memory without any."""
    sizes = options.theme.type
    head, chips = box.inset(18, 10).rows(LINE_PITCH * sizes.name, REST, gap=8)
    return [head, chips, chips.strip("bottom", sizes.words)[0]]


def _use_row(each: ArrayUse) -> list[TableCell]:
    written = spaced(each.writes) if each.writes else tr("never")
    return [TableCell(each.name, strong=True), TableCell(spaced(each.reads) if each.reads else tr("never")), TableCell(written)]


def _variables(case: DataUse) -> str:
    """Return the first variables of a thread by name."""
    return ", ".join(case.variables[:3]) + (", …" if len(case.variables) > 3 else "")


VIEW = View(marked("Data and the memories that it belongs in"), DataUse, data_scene, data_motion, order=411)

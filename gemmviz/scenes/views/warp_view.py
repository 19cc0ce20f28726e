"""One warp lane by lane: threadIdx, element and byte address of the access, value, and whether the lane is active."""

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.records import replace
from gemmviz.model.translation import grouped, marked, tr
from gemmviz.scenes.kit.layout import LINE_PITCH, REST, Box, Share, beside, round_boxes, write_all
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.sentence import element_text
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Style
from gemmviz.scenes.kit.view import View, ViewOptions, framed, message
from gemmviz.scenes.stage.tile_cells import tile_matrix

_LANES_BESIDE = 4
_BETWEEN_LANES, _TALLEST = 8, 96
_MOST_BELOW = 2  # elements below a lane's name


def warp_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the watched warp, or the block's first one with an active lane."""
    warp = moment.shown_warp
    if warp is None:
        return framed([message(tr("No thread of this block is active in this step."), options)], moment, options)
    return framed(_all_lanes(moment, warp, options), moment, options)


def _all_lanes(moment: Moment, warp: int, options: ViewOptions) -> list[Primitive]:
    theme, size = options.theme, moment.trace.rules.warp_size
    columns = _LANES_BESIDE if options.words else 2 * _LANES_BESIDE
    is_long = len(moment.touched) > _MOST_BELOW
    columns = columns // 2 if is_long else columns
    rows, room = -(-size // columns), options.room().trimmed(top=44)
    lanes = room._replace(height=min(room.height, rows * _TALLEST)).grid(rows, columns, _BETWEEN_LANES)[:size]
    parts = [_parts(box, is_long) for box in lanes]
    font = min(theme.type.note, lanes[0].height / LINE_PITCH / (1 if is_long else 2))
    for with_address, with_value in ((options.words, True), (False, True), (False, False)):  # as much as fits
        texts = [_lane_lines(moment, warp, number, options, with_address, with_value) for number in range(size)]
        if all(text_width(touched or "", font) <= parts[0][1].width for _, touched in texts):
            break
    heading = tr("warp {warp}: {heading}", warp=warp, heading=_what_lanes_show(moment, with_address, with_value))
    pieces: list[Primitive] = [beside("warp-heading", room, "top", heading, theme.strong, 16)]
    for key, ink, is_active in (("lane", theme.text, True), ("idle", theme.faint, False)):
        own = [place for place, (_, touched) in enumerate(texts) if (touched is not None) == is_active]
        boxes, halves = [lanes[place] for place in own], [parts[place] for place in own]
        pieces.append(round_boxes(f"{key}-boxes", boxes, theme.panel if is_active else theme.empty))
        if is_active:
            bars = [box._replace(width=_BETWEEN_LANES) for box in boxes]
            pieces.append(round_boxes("lane-bars", bars, theme.accent(_coloured_as(moment))))
        titles, second = [texts[place][0] for place in own], [texts[place][1] or tr("inactive") for place in own]
        style = Style(font, ink, "semibold")
        pieces.append(write_all(f"{key}-titles", [upper for upper, _ in halves], titles, style))
        pieces.append(write_all(f"{key}-touches", [lower for _, lower in halves], second, style._replace(face="regular")))
    return pieces


def _parts(box: Box, is_long: bool) -> list[Box]:
    """Return the places of a lane's name and of what it touches, below it or, if that is ``is_long``, beside it."""
    inner = box.trimmed(22, 4, 12, 4)
    return inner.columns(Share(4), Share(7)) if is_long else inner.rows(REST, REST)


def _coloured_as(moment: Moment) -> str:
    return "" if moment.main is None else tile_matrix(moment) or moment.main.array.name


def _what_lanes_show(moment: Moment, with_address: bool, with_value: bool) -> str:
    if not with_address and not with_value:
        return tr("each lane's thread and elements")
    address = tr(", byte address") if with_address else ""
    return tr("each lane's thread, element{address}", address=address) + (
        tr(" and value") if with_value and moment.replay.value is not None else ""
    )


def _lane_lines(
    moment: Moment, warp: int, lane: int, options: ViewOptions, with_address: bool, with_value: bool
) -> tuple[str, str | None]:
    """Return two lines of text for a lane; the second is None if the lane is inactive."""
    trace, value = moment.trace, moment.replay.value if with_value else None
    thread = warp * trace.rules.warp_size + lane
    if thread >= trace.space.threads_per_block:
        return tr("lane {lane}, no thread", lane=lane), None
    title = tr("lane {lane}, thread {thread}", lane=lane, thread=thread_text(thread, trace.launch))
    column = moment.scope.of_block.start + thread
    if (trace.element[trace.row[moment.step] : trace.row[moment.step + 1], column] < 0).all():
        return title, None
    if not moment.touched:
        return title, "waits" if moment.site.is_barrier else moment.site.kind
    parts = list[str]()
    for touched in moment.touched:
        element = int(trace.element[touched.row, column])
        if element < 0:
            continue
        element += int(touched.operand.layout.offset(0, trace.lane[column]))
        what = "" if value is None else f"  {touched.array.element.text(float(value[touched.row, column]), 3)}"
        address = tr("  byte {element}", element=grouped(element * touched.array.itemsize)) if with_address else ""
        is_again = bool(parts) and touched.array is moment.touched[0].array
        array = replace(touched.array, name="") if is_again else touched.array
        parts.append(f"{element_text(array, element, options.labels)}{address}{what}")
    return title, ", ".join(parts)


VIEW = View(marked("Warp: all lanes"), Moment, warp_scene, is_count=True, order=201)

"""What is said about the cell under the pointer: element, address, value, who touches it and how often."""

from gemmviz.analysis.banks import BANK_BYTES, BANKS
from gemmviz.analysis.coalescing import LINE_BYTES, SECTOR_BYTES
from gemmviz.analysis.focus import focus_text, thread_text
from gemmviz.analysis.history import History, history
from gemmviz.analysis.replay import Replay
from gemmviz.analysis.tiles import EMPTY
from gemmviz.model.trace import CONSTANT, MemoryArray
from gemmviz.model.words import spaced
from gemmviz.scene.primitives import Hit
from gemmviz.scene.sentence import element_text

_MOST_NAMED = 4


def pointed_at(replay: Replay, hit: Hit) -> tuple[int, int] | None:
    """The array and the (first) element that a cell stands for, None for a cell of another kind."""
    name = hit.cells.key.removeprefix("tile-")
    for number, array in enumerate(replay.trace.arrays):
        if array.name == name and (array.space == "shared") == hit.cells.key.startswith("tile-"):
            row, column = (
                (at + first) * hit.cells.factor for at, first in zip((hit.row, hit.column), hit.cells.origin, strict=True)
            )
            if array.space == "shared":
                element = row * hit.cells.fill.shape[1] + column
            else:
                element = column * array.shape[0] + row if array.column_major else row * array.shape[1] + column
            return (number, element) if element < array.size else None
    return None


def hover_lines(replay: Replay, step: int, hit: Hit) -> list[str]:
    """Lines of text about a cell; none for a cell that says all itself."""
    found = pointed_at(replay, hit)
    if found is None:
        return []
    number, element = found
    array = replay.trace.arrays[number]
    if hit.cells.factor > 1:
        side = hit.cells.factor
        return [
            f"{element_text(array, element)} and its neighbours: {side} × {side} elements",
            "Zoom in to see single elements",
        ]
    told = history(replay, number, element, step)
    return [
        element_text(array, element),
        _address(array, element),
        *_content(replay, step, number, element),
        *_value(replay, step, told),
        *_touches(replay, array, told),
        *_owner(replay, array, element),
        *(["wrong: not what the float64 product says"] if _is_wrong(replay, array, element) else []),
    ]


def _address(array: MemoryArray, element: int) -> str:
    byte = element * array.itemsize
    if array.space == "shared":
        return f"byte {spaced(byte)}: bank {byte // BANK_BYTES % BANKS}"
    place = f"sector {spaced(byte // SECTOR_BYTES)}, line {spaced(byte // LINE_BYTES)}"
    return f"element {spaced(element)}, byte {spaced(byte)}: {place}"


def _content(replay: Replay, step: int, number: int, element: int) -> list[str]:
    content = replay.tiles(step).get(number)
    if content is None:
        return []
    matrix, phase = int(content.array[element]), int(content.phase[element])
    if matrix == EMPTY:
        return ["nothing has been stored here yet"]
    if matrix >= 0:
        what = element_text(replay.trace.arrays[matrix], int(content.element[element]))
    else:
        what = "a constant" if matrix == CONSTANT else "a computed value"
    return [f"holds {what}" + (f", stored in phase {phase + 1}" if 0 <= phase < replay.phases else "")]


def _value(replay: Replay, step: int, told: History) -> list[str]:
    if replay.value is None:
        return []
    if told.value is None or told.value_step is None:
        return ["value: not read or written yet"]
    verb = "read" if replay.trace.site_of(told.value_step).kind == "load" else "written"
    first = "first " if told.value_step > step else ""
    return [f"value {told.value:.6g}, {first}{verb} at step {told.value_step + 1}"]


def _touches(replay: Replay, array: MemoryArray, told: History) -> list[str]:
    lines = []
    if told.now:
        named = ", ".join(_thread(replay, lane, array.space == "global") for lane in told.now[:_MOST_NAMED])
        more = f" and {len(told.now) - _MOST_NAMED} more" if len(told.now) > _MOST_NAMED else ""
        lines.append(f"now: thread{'s' if len(told.now) > 1 else ''} {named}{more}")
    if told.loads:
        whole = "this block" if array.space == "shared" else "all traced blocks"
        own = "" if replay.focus.everyone else f"{told.own_so_far} by {focus_text(replay.focus, replay.trace)}, "
        lines.append(f"loads so far: {own}{told.loads_so_far} by {whole} ({told.loads} at the end)")
    if told.stores:
        lines.append(f"stored {told.stores} time{'s' if told.stores > 1 else ''} in all")
    return lines or ["never touched by the traced blocks"]


def _thread(replay: Replay, lane: int, with_block: bool) -> str:
    thread = thread_text(lane % replay.trace.space.threads, replay.trace)
    block, _ = replay.trace.space.thread_of(lane)
    return f"{thread} of block ({block[0]}, {block[1]})" if with_block and block != replay.block else thread


def _is_wrong(replay: Replay, array: MemoryArray, element: int) -> bool:
    return array.name == "C" and element in replay.trace.check.wrong_elements


def _owner(replay: Replay, array: MemoryArray, element: int) -> list[str]:
    if array.name != "C":
        return []
    lane = replay.owners.lane_of(element)
    if lane is None:
        return []
    followed = replay.thread is not None and lane == replay.lanes.start
    return [f"computed by thread {_thread(replay, lane, True)}: click to {'let it go' if followed else 'follow it'}"]

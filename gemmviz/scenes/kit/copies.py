"""The memories of host and device as two boxes between which matrices are copied, call by call."""

from msgspec import Struct

from gemmviz.model.host_run import HostCall
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import eased
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import text_line
from gemmviz.scenes.kit.theme import Theme

_NAMES = ("A", "B", "C")
_SHARE = 0.36  # of the height, for each of the two boxes
_OLD = 0.3  # strength of a matrix that holds no result yet
_HEAD = 11.0  # length of an arrow's head


class Memories(Struct, frozen=True):
    """The boxes of the ``host`` above and the ``device`` below, and the ``side`` of a matrix in them."""

    host: Box
    device: Box
    side: float

    @classmethod
    def within(cls, room: Box) -> "Memories":
        high = _SHARE * room.height
        host = Box(room.x, room.y, room.width, high)
        device = Box(room.x, room.y + room.height - high, room.width, high)
        return cls(host, device, min(0.54 * high, 0.2 * room.width))

    def slot(self, target: str) -> Box:
        """The place of a matrix: of the device if its name ends with d."""
        box = self.device if target.endswith("d") else self.host
        across = box.x + box.width * (0.3 + 0.27 * _NAMES.index(target[0])) - self.side / 2
        return Box(across, box.y + 0.42 * (box.height - self.side), self.side, self.side)


def memories_drawn(memories: Memories, calls: tuple[HostCall, ...], theme: Theme) -> list[Primitive]:
    """Draw both boxes, the host's A and B, the places of the device's matrices and the ways of the copies."""
    size = theme.type.heading
    pieces: list[Primitive] = []
    for name, box in ((marked("host"), memories.host), (marked("device"), memories.device)):
        pieces.append(Rects(name, boxes((box.x, box.y, box.width, box.height)), theme.slate, theme.faint, 2.0, 8.0))
        at = (box.x + 18, box.y + 1.4 * size)
        pieces.append(text_line(f"{name}-name", at, tr(name), size, box.width, theme.text, "semibold"))
    for name in _NAMES:
        pieces += _matrix(f"own-{name}", name, memories.slot(name), theme, 1.0) if name != "C" else []
        slot = memories.slot(f"{name}d")
        pieces.append(Rects(f"place-{name}", boxes((slot.x, slot.y, slot.width, slot.height)), None, theme.faint, 2.0, 4.0))
        low = points((slot.x + slot.width / 2, slot.y + slot.height + 1.2 * theme.type.least))
        pieces.append(Labels(f"place-{name}-name", low, (f"{name}d",), theme.type.least, theme.faint, "middle"))
    ways = [way for call in calls if call.name == "Memcpy" for way in _arrow(*_ends(call, memories))]
    return [*pieces, Lines("ways", boxes(*ways), theme.faint, 2.0)]


def memories_at(memories: Memories, calls: tuple[HostCall, ...], done: float, theme: Theme) -> list[Primitive]:
    """Draw what the device holds and what is on its way when ``done`` calls are over; the last one may be under way."""
    pieces: list[Primitive] = []
    held, result = dict[str, float](), False
    for number, call in enumerate(calls[: int(done) + 1]):
        share = min(1.0, done - number)
        if share <= 0.0:
            break
        match call.name:
            case "Memcpy" if call.target.endswith("d"):
                held[call.target] = 1.0
            case "Memcpy":
                result = share >= 1.0
            case "launch":
                held["Cd"] = max(share, _OLD)
            case "Free" if share >= 1.0:
                held.pop(call.target, None)
        if call.name == "Memcpy" and share < 1.0:
            start, end = _ends(call, memories)
            way = float(eased(share))
            x, y = start[0] + way * (end[0] - start[0]), start[1] + way * (end[1] - start[1])
            held.pop(call.target, None)
            slot = Box(x - memories.side / 2, y - memories.side / 2, memories.side, memories.side)
            pieces += _matrix("moving", call.target[0], slot, theme, 1.0)
    arrived = [_matrix(f"held-{name}", name[0], memories.slot(name), theme, strength) for name, strength in held.items()]
    arrived.append(_matrix("result", "C", memories.slot("C"), theme, 1.0 if result else _OLD))
    return [*(each for group in arrived for each in group), *pieces]


def _matrix(key: str, name: str, slot: Box, theme: Theme, strength: float) -> list[Primitive]:
    size, fill = theme.type.title, theme.tint(name, strength)
    at = points((slot.x + slot.width / 2, slot.y + slot.height / 2 + 0.36 * size))
    return [
        Rects(key, boxes((slot.x, slot.y, slot.width, slot.height)), fill, radius=4.0),
        Labels(f"{key}-name", at, (name,), size, theme.ink_on(fill), "middle", "semibold"),
    ]


def _ends(call: HostCall, memories: Memories) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the centres of the matrix that is copied and of its copy."""
    target, _, source = call.what.partition(" from ")
    one, other = memories.slot(source), memories.slot(target)
    return (one.x + one.width / 2, one.y + one.height / 2), (other.x + other.width / 2, other.y + other.height / 2)


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float, float, float]]:
    """Return the lines of a vertical arrow between two places, in the gap between the boxes."""
    (x, y0), (_, y1) = start, end
    low, high = y0 + 0.32 * (y1 - y0), y1 - 0.32 * (y1 - y0)
    back = -_HEAD if y1 > y0 else _HEAD
    return [(x, low, x, high), (x, high, x - _HEAD, high + back), (x, high, x + _HEAD, high + back)]

"""A shot: one value for everything that a person sees, to and from TOML.

Undo is a list of shots; what is restored at the start, a saved view, a frame of the command line: each is a shot.
"""

import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.pairing import LOCKS, Lock
from gemmviz.analysis.replay.position import Position
from gemmviz.files.codec import FormatError, from_plain, read_text, to_plain, toml_text, toml_to_plain, unknown_names
from gemmviz.files.whole import write_text
from gemmviz.launch.catalog import DEFAULT_KERNEL, load_kernel
from gemmviz.launch.legality import device_for, setup_for
from gemmviz.model.errors import GemmvizError, UsageError, closest
from gemmviz.model.setting import Control, first_trouble
from gemmviz.model.setup import Setup
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.frame import DrawingOptions
from gemmviz.scenes.kit.theme import theme_names

FORMAT = "gemmviz view"
VERSION = 1
SYSTEM_THEME = "system"
DRAGGED = "what is tried out"  # name of a change that goes on as long as the same value is dragged
MOST_ZOOM = 256.0
LEAST_TYPE, MOST_TYPE = 0.75, 2.0
_WIDTH = "Of a chart: all kernels at this width of tiles and blocks (default: the fastest)"
_CAMERA = "How near to look, and at which point of the frame, 0,0 to 1,1"
_TYPE_SCALE = Control(
    "Type", "How much larger words are, 0.75 to 2 (default: 1)", "--type", least=LEAST_TYPE, most=MOST_TYPE, digits=6,
    metavar="SCALE", undo="how it is seen",
)  # fmt: skip
_TRIAL = "Of occupancy: threads, registers or shared bytes to try out instead of the kernel's own"
_RENAMED_VIEWS = {
    "tile": "tile_size",
    "tiles": "block_tiles",
    "transfer": "copy_cost",
    "transfers": "host_timeline",
    "layout": "memory_strip",
}  # names of views in files from before version 0.2


@dataclass(frozen=True, slots=True)
class Camera:
    """``zoom``: how much larger than the whole frame it is looked at, 1 to 256; ``x`` and ``y``: what is in the middle then,
    as shares of the frame's width and height.
    """

    zoom: float = 1.0
    x: float = 0.5
    y: float = 0.5

    def __post_init__(self) -> None:
        if not (1.0 <= self.zoom <= MOST_ZOOM and -1.0 <= self.x <= 2.0 and -1.0 <= self.y <= 2.0):
            raise UsageError(f"a camera can't look there: zoom 1 to {MOST_ZOOM:g}, x and y between -1 and 2")


@dataclass(frozen=True, slots=True)
class ChartChoice:
    """Of a view that is a chart: ``source`` names whose measurements are shown ("" for the first), ``shown`` the curves that a
    person chose or put away. ``width``: of tiles and blocks, 0 for whichever is fastest; ``with_host``: with what the CPU
    measured; ``is_even``: on axes that are divided evenly. Raises UsageError for a width that nobody has.
    """

    source: str = ""
    shown: dict[str, bool] = field(default_factory=dict)
    width: Annotated[int, Control("Width", _WIDTH, "--width", most=4096)] = 0
    with_host: Annotated[bool, Control("CPU", "Of a chart: without what the CPU measured", "--no-cpu")] = True
    is_even: Annotated[bool, Control("Even axes", "Of a chart: axes divided evenly, and not by powers", "--even")] = False

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class Against:
    """Another setup that this one is held against, and by what both are locked to the same moment; ``marked``: an element that
    is followed in both, as "A[3,5]".
    """

    setup: Setup
    lock: Lock = "k"
    marked: str = ""

    def __post_init__(self) -> None:
        if self.lock not in LOCKS:
            raise UsageError(f"two runs can't be locked by {self.lock!r}", remedy=f"choose {', '.join(LOCKS)}")
        self.element  # noqa: B018

    @property
    def element(self) -> tuple[str, int, int] | None:
        """Matrix, row and column of what is marked. Raises UsageError for what is no element."""
        if not self.marked:
            return None
        found = re.fullmatch(r"([ABC])\[(\d{1,9}), ?(\d{1,9})\]", self.marked)
        if found is None:
            raise UsageError(f"{self.marked!r} is no element", remedy="write A[3,5]")
        return found[1], int(found[2]), int(found[3])


@dataclass(frozen=True, slots=True)
class Trial:
    """What a person tries out of what a block needs of an SM; None for what the kernel needs. Raises UsageError for what no
    block has.
    """

    threads: int | None = None
    registers: int | None = None
    shared_bytes: int | None = None

    def __post_init__(self) -> None:
        for what, value, least, most in (
            ("threads", self.threads, 1, 1024), ("registers a thread", self.registers, 1, 256),
            ("bytes of shared memory", self.shared_bytes, 0, 1 << 18),
        ):  # fmt: skip
            if value is not None and not least <= value <= most:
                raise UsageError(f"no block has {value} {what} on any device", remedy=f"choose {least} to {most}")


@dataclass(frozen=True, slots=True)
class Shot(DrawingOptions):
    """``setup``: what is run; ``focus``: whom to watch; ``view``: in which picture; ``at``: where in the run;
    ``type_scale``: how much larger words are than the theme has them, 0.75 to 2; ``trial``: what is tried out of occupancy;
    ``against``: what it is compared with; and all DrawingOptions. Raises UsageError for what there is none of.
    """

    setup: Setup
    focus: Annotated[Focus, Control("Watched", "The threads to watch", undo="watch {}")] = field(default_factory=Focus)
    view: Annotated[str, Control("View", "What to look at (default: stage)", "--view", undo="view {}")] = "stage"
    at: Annotated[Position, Control("Step", "The step that is shown", undo="")] = field(default_factory=Position)
    camera: Annotated[Camera, Control("Camera", _CAMERA, "--camera", metavar="ZOOM,X,Y", undo="")] = field(
        default_factory=Camera
    )
    chart: Annotated[ChartChoice, Control("Curves", "The curves of a chart", undo="curves")] = field(
        default_factory=ChartChoice
    )
    theme: Annotated[str, Control("Theme", "Colours (default: dark)", "--theme", undo="theme {}")] = SYSTEM_THEME
    type_scale: Annotated[float, _TYPE_SCALE] = 1.0
    trial: Annotated[Trial, Control("Tried out", _TRIAL, "--try", metavar="NAME=N", undo=DRAGGED)] = field(
        default_factory=Trial
    )
    against: Annotated[Against | None, Control("Comparison", "The other run", undo="comparison")] = None

    def __post_init__(self) -> None:
        view_named(self.view)
        if self.theme not in (SYSTEM_THEME, *theme_names()):
            raise UsageError(f"there is no theme {self.theme!r}", remedy=f"choose {', '.join((SYSTEM_THEME, *theme_names()))}")
        _check(self)


def _check(value: object) -> None:
    if (trouble := first_trouble(value)) is not None:
        raise UsageError(trouble[1], remedy=trouble[2])


def default_shot() -> Shot:
    """What a first start shows: a tiled multiplication small enough to follow by eye."""
    return Shot(setup_for(load_kernel(DEFAULT_KERNEL)))


def shot_text(shot: Shot) -> str:
    """The shot as TOML. A kernel that ships with gemmviz goes by its name, any other with all its text."""
    return toml_text({"format": FORMAT, "version": VERSION, **plain_of(shot)})


def plain_of(shot: Shot) -> dict[str, Any]:
    """The shot as dicts, lists and what they may hold in a file."""
    plain: dict[str, Any] = to_plain(shot, brief=True)
    plain["setup"]["kernel"] = _kernel_of(shot.setup)
    if shot.against is not None:
        plain["against"]["setup"]["kernel"] = _kernel_of(shot.against.setup)
    return plain


def shot_of(plain: dict[str, Any]) -> Shot:
    """What ``plain_of`` was made from. Raises FormatError, or UsageError for what there is none of."""
    full = _updated(plain)
    unknown = unknown_names(full, Shot)
    if unknown:
        remedy = closest(unknown[0].rpartition(".")[2], [each.name for each in fields(Shot)])
        raise FormatError(f"no view has {unknown[0]}", remedy=remedy)
    shot = from_plain(full, Shot)
    device_for(shot.setup)
    return shot


def _kernel_of(setup: Setup) -> Any:
    """By its name where it ships with gemmviz."""
    return setup.kernel.name if setup.kernel.is_shipped else to_plain(setup.kernel, brief=True)


def parse_shot(text: str, file: str | None = None) -> Shot:
    """What ``shot_text`` wrote. Raises FormatError, or UsageError for what there is none of."""
    try:
        plain = toml_to_plain(text)
        if plain.pop("format", None) != FORMAT:
            raise FormatError("this is no saved view of gemmviz")
        version = plain.pop("version", 0)
        if not isinstance(version, int) or version > VERSION:
            raise FormatError(f"this view has version {version}; this gemmviz reads {VERSION}", remedy="update gemmviz")
        return shot_of(plain)
    except GemmvizError as error:
        if file is not None:
            error.in_file(file)
        raise


def _updated(plain: dict[str, Any]) -> dict[str, Any]:
    """The fields of a shot with kernels loaded by name, and with today's names of views and fields."""
    if plain.get("view") in tuple(_RENAMED_VIEWS):  # it may be unhashable
        plain = {**plain, "view": _RENAMED_VIEWS[plain["view"]]}
    if isinstance(at := plain.get("at"), dict) and "does" in at:  # before version 0.2
        plain = {**plain, "at": {"action" if name == "does" else name: value for name, value in at.items()}}
    setup, against = plain.get("setup"), plain.get("against")
    if isinstance(against, dict):
        plain = {**plain, "against": _updated(against)}
    if not isinstance(setup, dict) or not isinstance(setup.get("kernel"), str):
        return plain
    kernel = load_kernel(setup["kernel"])
    return {**plain, "setup": {"problem": to_plain(kernel.problem), **setup, "kernel": to_plain(kernel)}}


def save_view(shot: Shot, path: Path) -> None:
    """Raises GemmvizError where the file can't be written."""
    write_text(path, shot_text(shot))


def read_view(path: Path) -> Shot:
    """Raises UsageError where there is no such file, FormatError that names the file and what is wrong in it."""
    return parse_shot(read_text(path), str(path))

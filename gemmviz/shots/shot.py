"""A shot: one immutable value that defines everything that is displayed, and its TOML format.

Undo entries, restored sessions, saved views and exported frames are all shots.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct, field

from gemmviz.analysis.replay.focus import Focus, Position
from gemmviz.analysis.replay.pairing import LOCKS, Lock
from gemmviz.cuda.launch.catalog import DEFAULT_KERNEL, load_kernel
from gemmviz.cuda.launch.legality import device_for, setup_for, tied
from gemmviz.files.codec import (
    FormatError,
    check_version,
    from_plain,
    read_text,
    to_plain,
    toml_text,
    toml_to_plain,
    unknown_names,
)
from gemmviz.files.devices import device_names, load_device
from gemmviz.files.recordings import recorded_registers
from gemmviz.files.resources import write_text
from gemmviz.model.kernel import Launch, Parameter
from gemmviz.model.messages import GemmvizError, SettingError, UsageError, closest, many, marked, tr
from gemmviz.model.problem_kind import Control, FieldKind, Setting, first_trouble, settings_of
from gemmviz.model.records import fields
from gemmviz.model.setup import Setup, changes
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.theme import theme_names
from gemmviz.scenes.kit.view import DrawingOptions

# Form fields of a setup: each setting with its label, tooltip, value and bounds.

MOST = 2**31 - 1
FieldValue = int | float | str
_NUMBER_TYPES: dict[FieldKind, tuple[type, ...]] = {
    "number": (int,), "decimal": (int, float), "choice": (str, int), "switch": (bool,), "text": (str,), "other": (),
}  # fmt: skip


class FormField(Struct, frozen=True):
    """One form field. ``kind``: an integer or decimal number within bounds, one of ``choices`` (values and the texts that
    display them), a switch, or a text.

    ``empty``: meaning of an empty text. ``why_not``: why the field is disabled; "" if it is enabled.
    """

    name: str
    label: str
    tip: str
    kind: FieldKind
    value: FieldValue
    choices: Mapping[FieldValue, str] | None = None
    least: float = 0
    most: float = MOST
    empty: str = ""
    why_not: str = ""
    is_parameter: bool = False


def fields_of(setup: Setup) -> list[FormField]:
    """The settings in order; the kernel's parameters follow the sizes."""
    settings = list(setup.settings)
    fields = [_field(each, setup, settings) for each in settings]
    sizes = sum(each.path[0] == "problem" for each in settings)
    parameters = [_of_parameter(each, setup.parameters[each.name]) for each in setup.kernel.parameters]
    return [*fields[:sizes], *parameters, *fields[sizes:]]


def put(setup: Setup, name: str, value: FieldValue) -> Setup:
    """The setup with another value of one field. Raises SettingError if the value is not allowed."""
    field = next(each for each in fields_of(setup) if each.name == name)
    if not _is_possible(field, value):
        raise SettingError(tr("{label} can't be {value}", label=field.label, value=f"{value!r}"), names=(name,))
    if name in setup.parameters:
        return setup.changed(**{name: int(value)})
    setting = next(each for each in setup.settings if each.name == name)
    changed: Setup = setting.put(setup, float(value) if field.kind == "decimal" else value)
    return tied(changed, name)


def _is_possible(field: FormField, value: FieldValue) -> bool:
    """Whether a value has the right type and is one of the choices. Parameters may also have values that are not listed."""
    if not isinstance(value, _NUMBER_TYPES[field.kind]) or isinstance(value, bool) != (field.kind == "switch"):
        return False
    if field.choices is None or field.is_parameter:
        return isinstance(value, str) == isinstance(field.value, str)
    return value in field.choices


def _field(setting: Setting, setup: Setup, settings: list[Setting]) -> FormField:
    control, value = setting.control, setting.of(setup)
    label, tip = tr(control.label), tr(control.help)
    tip = f"{label}: {tip}" if control.is_symbol else tip
    about = _WORDS_ABOUT.get(setting.name)
    if about is not None:
        tip = f"{tip}. {about(value)}"
    why_not = ""
    if control.needs is not None:
        other, required = control.needs
        present = next(each for each in settings if each.name == other).of(setup)
        why_not = "" if present == required else tr(control.unless)
    known = _KNOWN_TITLES[setting.name]() if setting.name in _KNOWN_TITLES else setting.choices
    choices: dict[FieldValue, str] | None = {value: tr(words) for value, words in known.items()} or None
    kind: FieldKind = "choice" if choices else setting.kind
    return FormField(setting.name, label, tip, kind, value, choices, control.least, control.most, tr(control.empty), why_not)


def _of_parameter(parameter: Parameter, value: int) -> FormField:
    tip = tr(parameter.description) or tr("The parameter {parameter}", parameter=parameter.name)
    choices: dict[FieldValue, str] | None = None
    if parameter.choices is not None:
        choices = {each: str(each) for each in sorted({*parameter.choices, value})}
    kind: FieldKind = "number" if choices is None else "choice"
    least = 0 if parameter.default == 0 else 1
    return FormField(parameter.name, parameter.name, tip, kind, value, choices, least, is_parameter=True)


def _device_names() -> dict[str, str]:
    return {name: load_device(name).name for name in device_names()}


def device_title(name: str) -> str:
    """Display name of a device; the file name if the device is unknown."""
    return load_device(name).name if name in device_names() else name


def device_text(name: str) -> str:
    """One-line summary of a device; "" if gemmviz doesn't know it."""
    if name not in device_names():
        return ""
    device = load_device(name)
    return tr(
        "{device}: {max_threads_per_block} threads and {block_shared_text} of shared memory per block, "
        "{registers_per_block} registers; {sms} SMs, {bandwidth_gb_s} GB/s, {peak_gflops} TFLOP/s",
        device=device.name,
        max_threads_per_block=device.max_threads_per_block,
        block_shared_text=device.block_shared_text,
        registers_per_block=device.registers_per_block,
        sms=device.sms,
        bandwidth_gb_s=f"{device.bandwidth_gb_s:g}",
        peak_gflops=f"{device.peak_gflops / 1000:.3g}",
    )


_KNOWN_TITLES: dict[str, Callable[[], Mapping[str, str]]] = {"device": _device_names}
_WORDS_ABOUT: dict[str, Callable[[Any], str]] = {"device": device_text}


def launch_lines(setup: Setup, launch: Launch) -> list[str]:
    """The launch in threads, warps and blocks, and its registers."""
    device = device_for(setup)
    warps = -(-launch.threads_per_block // device.warp_size)
    kind = setup.problem.kind
    what = f"{tr(kind.title)}: {tr(kind.formula)}" if kind.formula else tr(kind.title)
    lines = [] if setup.problem.is_multiply else [what]
    lines += [
        tr(
            "Block {block} = {threads}, {warps}",
            block=_size_product(launch.block),
            threads=many(launch.threads_per_block, "thread"),
            warps=many(warps, "warp"),
        ),
        tr("Grid {grid} = {blocks}", grid=_size_product(launch.grid), blocks=many(launch.block_count, "block")),
    ]
    registers = recorded_registers(setup, device)
    if registers is not None:
        lines.append(
            tr(
                "{per_thread} registers per thread (recorded: {source})",
                per_thread=registers.per_thread,
                source=registers.source,
            )
        )
    return lines


def _size_product(extents: tuple[int, int, int]) -> str:
    return " × ".join(str(extent) for extent in extents if extent > 1) or "1"


FORMAT = "gemmviz view"
VERSION = 1
SYSTEM_THEME = "system"
DRAGGED = marked("trial values")  # undo name of all changes while one value is dragged
MOST_ZOOM = 256.0
LEAST_TYPE, MOST_TYPE = 0.75, 2.0
_WIDTH_HELP = marked("In charts: show all kernels at this tile and block width (default: the fastest)")
_CAMERA = marked("Zoom factor, and the point of the frame at the centre, 0,0 to 1,1")
_TYPE_SCALE = Control(
    marked("Type"),
    marked("Scale of the text size, 0.75 to 2 (default: 1)"),
    "--type",
    least=LEAST_TYPE,
    most=MOST_TYPE,
    digits=6,
    metavar="SCALE",
    undo=marked("text size"),
)
_TRIAL = marked("In the occupancy view: threads, registers or shared bytes to use instead of the kernel's own")


class Camera(Struct, frozen=True):
    """The visible part of a frame. ``zoom``: magnification, 1 to 256. ``x`` and ``y``: the point at the centre, as fractions of
    the frame's width and height. Raises UsageError for values out of range.
    """

    zoom: float = 1.0
    x: float = 0.5
    y: float = 0.5

    def __post_init__(self) -> None:
        if not (1.0 <= self.zoom <= MOST_ZOOM and -1.0 <= self.x <= 2.0 and -1.0 <= self.y <= 2.0):
            raise UsageError(
                tr("the camera is out of range: zoom must be 1 to {most_zoom}, x and y -1 to 2", most_zoom=f"{MOST_ZOOM:g}")
            )


class ChartChoice(Struct, frozen=True):
    """Options of a chart. ``source``: name of the measurements ("" for the first); ``shown``: the curves that the user showed
    or hid. ``width``: of tiles and blocks, 0 for the fastest; ``with_host``: include CPU measurements; ``is_even``: linear
    instead of logarithmic axes. Raises UsageError for a width out of range.
    """

    source: str = ""
    shown: dict[str, bool] = field(default_factory=dict)
    width: Annotated[int, Control("Tile width", _WIDTH_HELP, "--tile-width", most=4096)] = 0
    with_host: Annotated[bool, Control("CPU", "In charts: omit CPU measurements", "--no-cpu")] = True
    is_even: Annotated[bool, Control("Linear axes", "In charts: linear axes instead of logarithmic ones", "--even")] = False

    def __post_init__(self) -> None:
        _check_range(self)


class Against(Struct, frozen=True):
    """A setup to compare with. ``lock``: the quantity that is equal in both runs at each position; ``marked``: an element to
    follow in both, such as "A[3,5]". Raises UsageError for an unknown lock or element.
    """

    setup: Setup
    lock: Lock = "k"
    marked: str = ""

    def __post_init__(self) -> None:
        if self.lock not in LOCKS:
            raise UsageError(
                tr("there is no lock {lock}", lock=f"{self.lock!r}"), remedy=tr("choose {locks}", locks=", ".join(LOCKS))
            )
        self.element  # noqa: B018

    @property
    def element(self) -> tuple[str, int, int] | None:
        """Matrix, row and column of the marked element; None if there is none. Raises UsageError if ``marked`` is not an
        element.
        """
        if not self.marked:
            return None
        match = re.fullmatch(r"(\w{1,99})\[(\d{1,9}), ?(\d{1,9})\]", self.marked)
        if match is None:
            raise UsageError(tr("{marked} is not an element", marked=f"{self.marked!r}"), remedy=tr("write A[3,5]"))
        return match[1], int(match[2]), int(match[3])


class Trial(Struct, frozen=True):
    """Trial values for the resources of a block in the occupancy view; None for the kernel's own. Raises UsageError for values
    that are impossible on any device.
    """

    threads: int | None = None
    registers: int | None = None
    shared_bytes: int | None = None

    def __post_init__(self) -> None:
        for what, value, least, most in (
            ("threads", self.threads, 1, 1024), (tr("registers per thread"), self.registers, 1, 256),
            (tr("bytes of shared memory"), self.shared_bytes, 0, 1 << 18),
        ):  # fmt: skip
            if value is not None and not least <= value <= most:
                raise UsageError(
                    tr("no device supports a block with {value} {what}", value=value, what=what),
                    remedy=tr("choose {least} to {most}", least=least, most=most),
                )


class Shot(DrawingOptions, frozen=True):
    """Everything that is displayed. ``setup``: what to run; ``focus``: threads to watch; ``view``: name of the view; ``at``:
    position in the run; ``type_scale``: text size relative to the theme's, 0.75 to 2; ``trial``: trial values for occupancy;
    ``against``: what to compare with; plus all DrawingOptions. Raises UsageError for an unknown view or theme, or values out of
    range.
    """

    setup: Setup
    focus: Annotated[Focus, Control("Watched", "The threads to watch", undo="watch {}")] = field(default_factory=Focus)
    view: Annotated[str, Control("View", "The view to show (default: stage)", "--view", undo="view {}")] = "stage"
    at: Annotated[Position, Control("Step", "The step to show", undo="")] = field(default_factory=Position)
    camera: Annotated[Camera, Control("Camera", _CAMERA, "--camera", metavar="ZOOM,X,Y", undo="")] = field(
        default_factory=Camera
    )
    chart: Annotated[ChartChoice, Control("Curves", "The curves of a chart", undo="curves")] = field(
        default_factory=ChartChoice
    )
    theme: Annotated[str, Control("Theme", "Colours (default: dark)", "--theme", undo="theme {}")] = SYSTEM_THEME
    type_scale: Annotated[float, _TYPE_SCALE] = 1.0
    trial: Annotated[Trial, Control("Trial values", _TRIAL, "--try", metavar="NAME=N", undo=DRAGGED)] = field(
        default_factory=Trial
    )
    against: Annotated[Against | None, Control("Comparison", "The other run", undo="comparison")] = None

    def __post_init__(self) -> None:
        view_named(self.view)
        if self.theme not in (SYSTEM_THEME, *theme_names()):
            raise UsageError(
                tr("there is no theme {theme}", theme=f"{self.theme!r}"),
                remedy=tr("choose {value}", value=", ".join((SYSTEM_THEME, *theme_names()))),
            )
        _check_range(self)


def _check_range(value: object) -> None:
    if (trouble := first_trouble(value)) is not None:
        raise UsageError(trouble[1], remedy=trouble[2])


def default_shot() -> Shot:
    """The shot of the first start: a tiled multiplication small enough to follow by eye."""
    return Shot(setup_for(load_kernel(DEFAULT_KERNEL)))


def shot_text(shot: Shot) -> str:
    """The shot as TOML. Shipped kernels are stored by name, others with their source."""
    return toml_text({"format": FORMAT, "version": VERSION, **plain_of(shot)})


def plain_of(shot: Shot) -> dict[str, Any]:
    """The shot as dicts, lists and values for a file."""
    plain: dict[str, Any] = to_plain(shot, brief=True)
    plain["setup"]["kernel"] = _kernel_of(shot.setup)
    if shot.against is not None:
        plain["against"]["setup"]["kernel"] = _kernel_of(shot.against.setup)
    return plain


def shot_of(plain: dict[str, Any]) -> Shot:
    """The shot from the result of ``plain_of``. Raises FormatError, or UsageError for unknown names and values out of range."""
    full = _with_kernels(plain)
    unknown = unknown_names(full, Shot)
    if unknown:
        remedy = closest(unknown[0].rpartition(".")[2], [each.name for each in fields(Shot)])
        raise FormatError(tr("a saved view has no field {unknown}", unknown=unknown[0]), remedy=remedy)
    shot = from_plain(full, Shot)
    device_for(shot.setup)
    return shot


def _kernel_of(setup: Setup) -> Any:
    """The name of a shipped kernel, or all fields of another one."""
    return setup.kernel.name if setup.kernel.is_shipped else to_plain(setup.kernel, brief=True)


def parse_shot(text: str, file: str | None = None) -> Shot:
    """The shot from the result of ``shot_text``. Raises FormatError, or UsageError for unknown or invalid values."""
    try:
        plain = toml_to_plain(text)
        if plain.pop("format", None) != FORMAT:
            raise FormatError(tr("this is not a saved gemmviz view"))
        check_version(plain.pop("version", 0), VERSION, tr("save the view again"))
        return shot_of(plain)
    except GemmvizError as error:
        if file is not None:
            error.in_file(file)
        raise


def _with_kernels(plain: dict[str, Any]) -> dict[str, Any]:
    """The fields of a shot with kernels loaded by name."""
    setup, against = plain.get("setup"), plain.get("against")
    if isinstance(against, dict):
        plain = {**plain, "against": _with_kernels(against)}
    if not isinstance(setup, dict) or not isinstance(setup.get("kernel"), str):
        return plain
    kernel = load_kernel(setup["kernel"])
    return {**plain, "setup": {"problem": to_plain(kernel.problem), **setup, "kernel": kernel}}


def save_view(shot: Shot, path: Path) -> None:
    """Write a shot to a file. Raises GemmvizError if the file can't be written."""
    write_text(path, shot_text(shot))


def read_view(path: Path) -> Shot:
    """Read a shot from a file. Raises UsageError if there is no such file, FormatError with file and place if it is invalid."""
    return parse_shot(read_text(path), str(path))


# Display names of shots: undo entries for the menu, and window titles.


def change_name(before: Shot, after: Shot) -> str:
    """Name of a change for the undo menu; "" if only the position or camera changed."""
    names = changes(before.setup, after.setup, _value_text)
    for setting in settings_of(Shot):
        if len(setting.path) == 1 and setting.of(before) != setting.of(after):
            name, value = setting.control.undo, _value_text(setting, setting.of(after))
            names.append(f"{tr(setting.control.label).lower()} {value}" if name is None else tr(name).format(value))
    return ", ".join(name for name in dict.fromkeys(names) if name)


def _value_text(setting: Setting, value: Any) -> str:
    return _SHOWN[setting.name](value) if setting.name in _SHOWN else setting.shown(value)


def focus_name(focus: Focus) -> str:
    """Short name of the watched threads; threads are given by index."""
    x, y, z = focus.block
    block = tr("block ({x}, {y}", x=x, y=y) + (f", {z})" if z else ")")
    if focus.everyone:
        return tr("all traced blocks")
    if focus.thread is not None:
        return tr("{block}, thread {thread}", block=block, thread=focus.thread)
    return block if focus.warp is None else tr("{block}, warp {warp}", block=block, warp=focus.warp)


_SHOWN: dict[str, Callable[[Any], str]] = {
    "device": device_title, "focus": focus_name, "view": lambda name: tr(view_named(name).title),
}  # fmt: skip


def title_of(shot: Shot, name: str = "") -> str:
    """Window title of a shot: the file of the user's kernel. The window itself says what it shows. ``name``: the displayed
    subject, if that isn't the setup of the shot.
    """
    kernel = shot.setup.kernel
    if name:
        return tr("{view} · {name} – gemmviz", view=tr(view_named(shot.view).title), name=name)
    return "gemmviz" if kernel.is_shipped else f"{Path(kernel.file).name} – gemmviz"

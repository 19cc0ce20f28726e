"""Form fields of a setup: each setting with its label, tooltip, value and bounds."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from gemmviz.cuda.launch.legality import device_for, tied
from gemmviz.files.devices import device_names, load_device
from gemmviz.files.recordings import recorded_registers
from gemmviz.model.errors import SettingError
from gemmviz.model.kernel import Launch, Parameter
from gemmviz.model.problem_kind import FieldKind, Setting
from gemmviz.model.setup import Setup
from gemmviz.model.translation import many, tr

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

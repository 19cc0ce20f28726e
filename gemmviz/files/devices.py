"""The devices that gemmviz knows: one TOML file each, found in ``assets/devices`` and in a folder of the user's own."""

from functools import cache
from pathlib import Path

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource_folder, user_folder
from gemmviz.model.device import DEFAULT_DEVICE, Device
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.gpu import Gpu


@cache
def device_names() -> tuple[str, ...]:
    """The names of all device files: NVIDIA's by compute capability, then the others."""
    names = [name for name, path in _files().items() if path.parent != user_folder("devices") or _is_sound(name)]

    def order(name: str) -> tuple[bool, str, str]:
        device = load_device(name)
        return device.vendor != "NVIDIA", device.compute_capability, device.name

    return tuple(sorted(names, key=order))


@cache
def load_device(name: str = DEFAULT_DEVICE) -> Device:
    """The device of ``assets/devices/NAME.toml``, or of that file in the user's folder. Raises UsageError for a name without a
    file, FormatError for a file that says something else than a device has.
    """
    files = _files()
    if name not in files:
        remedy = f"choose one of {', '.join(sorted(files))}, or put a file of that name into {user_folder('devices')}"
        raise UsageError(f"there is no device {name!r}", remedy=remedy)
    return read_toml(files[name], Device)


def _files() -> dict[str, Path]:
    """By name; one's own don't take the place of those that ship with gemmviz."""
    folders = user_folder("devices"), resource_folder("assets") / "devices"
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def _is_sound(name: str) -> bool:
    """Whether a file of the user's own can be read: one that can't is named where it is asked for, and hides no other."""
    try:
        load_device(name)
    except GemmvizError:
        return False
    return True


def device_of(gpu: Gpu) -> str | None:
    """The device file of a GPU of this machine, by the name that its driver tells; None where there is none."""
    return next((name for name in device_names() if load_device(name).name == gpu.name), None)

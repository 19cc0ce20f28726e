"""The devices that gemmviz knows: one TOML file each, found in ``assets/devices`` and in a folder of the user's own."""

from contextlib import suppress
from functools import cache
from pathlib import Path

from gemmviz.files.codec import read_toml
from gemmviz.files.extensions import Extensions
from gemmviz.files.resources import resource, resources, user_folder
from gemmviz.model.device import DEFAULT_DEVICE, Device
from gemmviz.model.errors import GemmvizError, InstallationError, UsageError
from gemmviz.model.gpu import Gpu


@cache
def _device_in(path: Path) -> Device:
    return read_toml(path, Device)


def _shipped(name: str) -> Device | None:
    """A device that ships with gemmviz, from its file alone; None for another name."""
    if Path(name).name == name:
        with suppress(InstallationError, OSError):  # nor is there a file whose name is too long
            return _device_in(resource(f"assets/devices/{name}.toml"))
    return None


@cache
def device_extensions() -> Extensions[Device]:
    """All devices: NVIDIA's by compute capability, then the others; and the files of the user's own that can't be used.

    A user's file doesn't replace a device that ships with gemmviz. Raises InstallationError or FormatError if one of those is
    missing or damaged.
    """
    devices = {path.stem: _device_in(path) for path in resources("assets/devices", "*.toml")}
    broken = []
    for path in sorted(user_folder("devices").glob("*.toml")):
        try:
            devices.setdefault(path.stem, read_toml(path, Device))
        except GemmvizError as error:
            broken.append(error.in_file(str(path)))

    def order(item: tuple[str, Device]) -> tuple[bool, str, str]:
        device = item[1]
        return device.vendor != "NVIDIA", device.compute_capability, device.name

    return Extensions(dict(sorted(devices.items(), key=order)), tuple(broken))


def device_names() -> tuple[str, ...]:
    """Names of the devices that can be used, in their order."""
    return tuple(device_extensions().items)


def load_device(name: str = DEFAULT_DEVICE) -> Device:
    """The device of this name. Raises UsageError for an unknown name, FormatError for a user's file that can't be used."""
    if shipped := _shipped(name):
        return shipped
    known = device_extensions()
    if name in known.items:
        return known.items[name]
    for error in known.broken:
        if Path(error.file or "").stem == name:
            raise error
    remedy = f"choose one of {', '.join(sorted(known.items))}, or put a file of that name into {user_folder('devices')}"
    raise UsageError(f"there is no device {name!r}", remedy=remedy)


def device_of(gpu: Gpu) -> str | None:
    """The device file of a GPU of this machine, by the name that its driver tells; None where there is none."""
    return next((name for name in device_names() if load_device(name).name == gpu.name), None)

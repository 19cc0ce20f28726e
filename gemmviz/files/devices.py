"""The devices that gemmviz knows, one TOML file each: in ``assets/devices``, in the user's ``devices`` folder, or in a package
that an entry point of ``gemmviz.devices`` names.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from gemmviz.files.codec import read_toml
from gemmviz.files.entry_points import entry_points, folders_of, package_of
from gemmviz.files.extensions import Extensions, duplicate, extension_error
from gemmviz.files.resources import resource, resources, user_folder
from gemmviz.model.device import DEFAULT_DEVICE, Device
from gemmviz.model.errors import GemmvizError, InstallationError, UsageError
from gemmviz.model.gpu import Gpu


@cache
def _device_in(path: Path) -> Device:
    return read_toml(path, Device)


@lru_cache(maxsize=64)
def _shipped(name: str) -> Device | None:
    """A device that ships with gemmviz, from its file alone; None for another name."""
    if Path(name).name == name:
        with suppress(InstallationError, OSError):  # nor is there a file whose name is too long
            return _device_in(resource(f"assets/devices/{name}.toml"))
    return None


@cache
def device_extensions() -> Extensions[Device]:
    """All devices, NVIDIA's by compute capability before others, and the files of users and packages that can't be used.

    A user's file or an installed package doesn't replace a device that ships with gemmviz. Raises InstallationError if no
    shipped device is there, FormatError if one is damaged.
    """
    devices = {path.stem: _device_in(path) for path in resources("assets/devices", "*.toml")}
    origins = dict.fromkeys(devices, "a device of gemmviz")
    broken: list[GemmvizError] = []
    for path, origin in (*_own_files(), *_packaged_files(broken)):
        if path.stem in devices:
            broken.append(duplicate(path.stem, origin, origins[path.stem]))
            continue
        try:
            devices[path.stem], origins[path.stem] = read_toml(path, Device), origin
        except GemmvizError as error:
            broken.append(error.in_file(str(path)))

    def order(item: tuple[str, Device]) -> tuple[bool, str, str]:
        device = item[1]
        return device.vendor != "NVIDIA", device.compute_capability, device.name

    return Extensions(dict(sorted(devices.items(), key=order)), tuple(broken))


def _own_files() -> Iterator[tuple[Path, str]]:
    """The user's files and their names in errors."""
    for path in sorted(user_folder("devices").glob("*.toml")):
        yield path, str(path)


def _packaged_files(broken: list[GemmvizError]) -> Iterator[tuple[Path, str]]:
    """Files of installed packages; an entry point without a folder goes to ``broken``."""
    for point in entry_points("devices"):
        origin = f"{point.name} of the package {package_of(point)}"
        try:
            paths = sorted(path for folder in folders_of(point) for path in folder.glob("*.toml"))
        except (Exception, SystemExit) as error:
            broken.append(extension_error(point.module, origin, error))
            continue
        for path in paths:
            yield path, f"{path.name} of the package {package_of(point)}"


def device_names() -> tuple[str, ...]:
    """Names of all usable devices, in the order of ``device_extensions``."""
    return tuple(device_extensions().items)


def load_device(name: str = DEFAULT_DEVICE) -> Device:
    """The device of this name. Raises UsageError for an unknown name, the file's error for a user's file that can't be used."""
    if shipped := _shipped(name):
        return shipped
    known = device_extensions()
    if name in known.items:
        return known.items[name]
    for error in known.broken:
        if Path(error.file or "").stem == name:
            raise error
    remedy = f"choose one of {', '.join(sorted(known.items))}, or add its file to {user_folder('devices')}"
    raise UsageError(f"there is no device {name!r}", remedy=remedy)


def device_of(gpu: Gpu) -> str | None:
    """Name of the device file of a GPU, by the name that its driver reports; None if there is no such file."""
    return next((name for name in device_names() if load_device(name).name == gpu.name), None)

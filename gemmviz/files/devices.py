"""The devices that gemmviz knows, one TOML file each: in ``assets/devices``, in the user's ``devices`` folder, or in a package
that an entry point of ``gemmviz.devices`` names.
"""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from gemmviz.files.codec import read_toml
from gemmviz.files.extensions import Candidate, Catalog, entry_points, extension_error, folders_of, package_of
from gemmviz.files.resources import resources, user_folder
from gemmviz.model.device import DEFAULT_DEVICE, Device, Gpu
from gemmviz.model.messages import GemmvizError, UsageError


@cache
def devices() -> Catalog[Device]:
    """All devices, NVIDIA's by compute capability before others.

    A user's file or an installed package doesn't replace a device that ships with gemmviz. Its names raise InstallationError if
    no shipped device is there.
    """
    return Catalog(_device_files, lambda device: (device.vendor != "NVIDIA", device.compute_capability, device.written_name))


def _device_files() -> Iterator[Candidate[Device] | GemmvizError]:
    for path in resources("assets/devices", "*.toml"):
        yield Candidate(path.stem, "a device of gemmviz", partial(read_toml, path, Device))
    for path in sorted(user_folder("devices").glob("*.toml")):
        yield Candidate(path.stem, str(path), partial(_device_of_user, path))
    for point in entry_points("devices"):
        package = package_of(point)
        try:
            paths = sorted(path for folder in folders_of(point) for path in folder.glob("*.toml"))
        except (Exception, SystemExit) as error:
            yield extension_error(point.module, f"{point.name} of the package {package}", error)
            continue
        for path in paths:
            yield Candidate(path.stem, f"{path.name} of the package {package}", partial(_device_of_user, path))


def _device_of_user(path: Path) -> Device:
    try:
        return read_toml(path, Device)
    except GemmvizError as error:
        raise error.in_file(str(path)) from None


def device_names() -> tuple[str, ...]:
    """Names of all usable devices, in order."""
    return tuple(devices())


def load_device(name: str = DEFAULT_DEVICE) -> Device:
    """The device of this name. Raises UsageError for an unknown name, the file's error for a file that can't be used."""
    known = devices()
    if name not in known:
        remedy = f"choose one of {', '.join(sorted(known))}, or add its file to {user_folder('devices')}"
        raise UsageError(f"there is no device {name!r}", remedy=remedy)
    return known[name]


def device_of(gpu: Gpu) -> str | None:
    """Name of the device file of a GPU, by the name that its driver reports; None if there is no such file."""
    return next((name for name in device_names() if load_device(name).is_of(gpu)), None)

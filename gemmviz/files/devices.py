"""The devices that gemmviz knows: one TOML file each, found in ``assets/devices``."""

from functools import cache

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource_folder
from gemmviz.model.device import DEFAULT_DEVICE, Device
from gemmviz.model.errors import UsageError
from gemmviz.model.gpu import Gpu


@cache
def device_names() -> tuple[str, ...]:
    """The names of all device files: NVIDIA's by compute capability, then the others."""
    names = [path.stem for path in (resource_folder("assets") / "devices").glob("*.toml")]

    def order(name: str) -> tuple[bool, str, str]:
        device = load_device(name)
        return device.vendor != "NVIDIA", device.compute_capability, device.name

    return tuple(sorted(names, key=order))


@cache
def load_device(name: str = DEFAULT_DEVICE) -> Device:
    """The device of ``assets/devices/NAME.toml``. Raises UsageError for a name without a file."""
    path = resource_folder("assets") / "devices" / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(each.stem for each in path.parent.glob("*.toml")))
        raise UsageError(f"there is no device {name!r}", remedy=f"choose one of {known}")
    return read_toml(path, Device)


def device_of(gpu: Gpu) -> str | None:
    """The device file of a GPU of this machine, by the name that its driver tells; None where there is none."""
    return next((name for name in device_names() if load_device(name).name == gpu.name), None)

"""A GPU as its limits: what a launch may ask for, read from one TOML file a device."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from gemmviz.model.resources import resource_folder

DEFAULT_DEVICE = "h200"


@dataclass(frozen=True, slots=True)
class Device:
    """Launch limits of one GPU. Memory in bytes."""

    name: str
    compute_capability: str
    warp_size: int
    max_threads_per_block: int
    max_block: tuple[int, int, int]
    max_grid: tuple[int, int, int]
    shared_per_block: int
    source: str

    @property
    def limits(self) -> dict[str, int]:
        """The names that a kernel header's rules may use."""
        return {
            "warp_size": self.warp_size,
            "max_threads_per_block": self.max_threads_per_block,
            "shared_per_block": self.shared_per_block,
        }


def load_device(name: str = DEFAULT_DEVICE) -> Device:
    """The device of ``assets/devices/NAME.toml``."""
    return _read_device(resource_folder("assets") / "devices" / f"{name}.toml")


def _read_device(path: Path) -> Device:
    facts = tomllib.loads(path.read_text(encoding="utf-8"))
    facts["max_block"] = tuple(facts["max_block"])
    facts["max_grid"] = tuple(facts["max_grid"])
    return Device(**facts)

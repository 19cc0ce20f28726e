"""What the program remembers from one start to the next: layout, theme, last setup, recent files."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from gemmviz.files.devices import device_names
from gemmviz.gui.session import Setup
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.errors import GemmvizError
from gemmviz.model.filling import Filling
from gemmviz.model.kernel import Settings
from gemmviz.model.lanes import parse_phases, parse_window, phases_text
from gemmviz.model.problem import Problem
from gemmviz.spec.catalog import kernel_names, load_kernel

_MOST_RECENT = 8


class _Nowhere(dict[str, Any]):
    """Keeps things for this run only."""

    def value(self, key: str, default: Any = None) -> Any:
        return self.get(key, default)

    def setValue(self, key: str, value: Any) -> None:
        self[key] = value


class Memory:
    """A view on QSettings, or on nothing that lasts. What is damaged or out of date there is as if it had never been kept."""

    def __init__(self, kept: QSettings | None) -> None:
        self.kept = kept if kept is not None else _Nowhere()

    def text(self, key: str, default: str = "") -> str:
        return str(self.kept.value(key, default) or default)

    def number(self, key: str, default: float) -> float:
        try:
            return float(self.kept.value(key, default))
        except (TypeError, ValueError):
            return default

    def put(self, key: str, value: Any) -> None:
        self.kept.setValue(key, value)

    def data(self, key: str) -> QByteArray:
        found = self.kept.value(key)
        return found if isinstance(found, QByteArray) else QByteArray()

    @property
    def recent(self) -> list[str]:
        """Files that were opened, the latest first; those that are gone are left out."""
        found = self.kept.value("recent") or []
        names = [found] if isinstance(found, str) else [str(each) for each in found]
        return [name for name in names if Path(name).is_file()][:_MOST_RECENT]

    def add_recent(self, path: Path) -> None:
        name = str(path.resolve())
        self.put("recent", [name, *(each for each in self.recent if each != name)][:_MOST_RECENT])

    def keep_setup(self, setup: Setup) -> None:
        """Shipped kernels by name, a person's own by path."""
        shipped = setup.spec.name in kernel_names() and setup.spec.file == f"{setup.spec.name}.cu"
        name = setup.spec.name if shipped else str(Path(setup.spec.file).resolve())
        self.put("setup/kernel", name)
        self.put("setup/sizes", dict(setup.settings.problem.sizes))
        self.put("setup/parameters", dict(setup.settings.parameters))
        self.put("setup/filling", asdict(setup.settings.filling))
        self.put("setup/device", setup.device_name)
        self.put("setup/window", "" if setup.window is None else str(setup.window))
        self.put("setup/phases", "" if setup.phases is None else phases_text(setup.phases))

    def last_setup(self) -> Setup | None:
        """The setup of the last time, None where it can't be had any more."""
        name = self.text("setup/kernel")
        if not name:
            return None
        try:
            spec = load_kernel(name)
            sizes = {key: int(value) for key, value in self._table("setup/sizes").items()}
            parameters = {key: int(value) for key, value in self._table("setup/parameters").items()}
            filling = self._table("setup/filling")
            kept = Settings(
                Problem(**sizes),
                {**spec.defaults, **{key: value for key, value in parameters.items() if key in spec.defaults}},
                Filling(filling.get("pattern", "random"), int(filling.get("seed", 0))),
            )
            window, phases = self.text("setup/window"), self.text("setup/phases")
            device = self.text("setup/device", DEFAULT_DEVICE)
            found = Setup(
                spec,
                kept,
                device if device in device_names() else DEFAULT_DEVICE,
                parse_window(window) if window else None,
                parse_phases(phases) if phases else None,
            )
        except (GemmvizError, TypeError, ValueError, OSError):
            return None
        return found if found.why_not() is None else None

    def _table(self, key: str) -> dict[str, Any]:
        found = self.kept.value(key)
        return found if isinstance(found, dict) else {}

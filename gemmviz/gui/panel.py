"""What a panel is: a dock of the window."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from PySide6.QtWidgets import QWidget

from gemmviz.gui.window_model import WindowModel

DockArea = Literal["left", "right", "bottom"]


@dataclass(frozen=True)
class Panel:
    """A file in ``gemmviz.gui.panels`` that ends with ``PANEL = Panel(...)``. Panels at the bottom share one place, each behind
    a tab; those at a side stand below one another, in their order. ``scrolls``: it may be higher than its place; ``behind``:
    the title of the panel whose place it shares, behind a tab; ``tour``: what the tour says of it.
    """

    title: str
    area: DockArea
    make: Callable[[WindowModel], QWidget]
    order: int = 99
    least_width: int = 0
    scrolls: bool = False
    behind: str = ""
    tour: tuple[str, str] | None = None

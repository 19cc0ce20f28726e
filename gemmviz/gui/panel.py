"""The definition of a panel, which is shown in a dock of the window."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from PySide6.QtWidgets import QWidget

from gemmviz.gui.window_model import WindowModel

DockArea = Literal["left", "right", "bottom"]


class Panel(Struct, frozen=True):
    """A panel, defined by a file in ``gemmviz.gui.panels`` that ends with ``PANEL = Panel(...)``. The file's name is its id.

    Panels at the bottom are tabs of one place; panels at a side are stacked by ``order``. ``least_width`` is in pixels.
    ``scrolls``: whether the widget may be higher than the dock. ``behind``: the id of the panel that it shares a place with, as
    a tab. ``tour``: title and text of its caption in the tour.
    """

    title: str
    area: DockArea
    make: Callable[[WindowModel], QWidget]
    order: int = 99
    least_width: int = 0
    scrolls: bool = False
    behind: str = ""
    tour: tuple[str, str] | None = None

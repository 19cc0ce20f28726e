"""The definition of a panel, which is shown in a dock of the window."""

from collections.abc import Callable

from msgspec import Struct
from PySide6.QtWidgets import QWidget

from gemmviz.gui.window_model import WindowModel


class Panel(Struct, frozen=True):
    """A panel, defined by a file in ``gemmviz.gui.panels`` that ends with ``PANEL = Panel(...)``. The file's name is its id.

    Panels other than the source are tabs of the drawer, in their ``order``. ``least_width`` is in pixels. ``scrolls``: whether
    the widget may be higher than the dock.
    """

    title: str
    make: Callable[[WindowModel], QWidget]
    order: int = 99
    least_width: int = 0
    scrolls: bool = False

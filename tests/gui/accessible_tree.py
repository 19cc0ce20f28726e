"""The accessibility tree of a window, as Qt gives it to screen readers."""

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QWidget

_Role = QAccessible.Role
# Groups that hold others: screen readers pass over them unless they have the focus.
STRUCTURE = frozenset(
    {
        _Role.Client, _Role.Pane, _Role.LayeredPane, _Role.Splitter, _Role.Separator, _Role.Border, _Role.Grip, _Role.Grouping,
        _Role.ScrollBar, _Role.Indicator, _Role.Whitespace, _Role.NoRole,
    }
)  # fmt: skip
_MOST_CHILDREN = 300  # of one element: tables have thousands of cells of a kind


@dataclass(frozen=True)
class Element:
    """An element: its role, name, and the names of those that it is in."""

    role: QAccessible.Role
    name: str
    is_focusable: bool
    path: tuple[str, ...]

    @property
    def is_nameless(self) -> bool:
        """Whether a screen reader would say only what kind of element it is."""
        is_structure = self.role in STRUCTURE or self.role == _Role.StaticText  # an empty text says nothing
        return not self.name.strip() and (self.is_focusable or not is_structure)


def elements(root: QWidget) -> Iterator[Element]:
    """Walk all visible elements below a widget, itself included."""
    interface = QAccessible.queryAccessibleInterface(root)
    assert interface is not None
    yield from _below(interface, (), root.mapToGlobal(QPoint(0, 0)))


def _below(interface: QAccessibleInterface, path: tuple[str, ...], corner: QPoint) -> Iterator[Element]:
    state, far = interface.state(), interface.rect().bottomRight()
    if state.invisible or (far.x() < corner.x() and far.y() < corner.y()):  # Qt keeps tab bars without tabs out there
        return
    name = interface.text(QAccessible.Text.Name) or interface.text(QAccessible.Text.Value)
    yield Element(interface.role(), name, bool(state.focusable), path)
    here = (*path, f"{interface.role().name} {name or type(interface.object()).__name__}")
    for number in range(min(_MOST_CHILDREN, interface.childCount())):
        child = interface.child(number)
        if child is not None:
            yield from _below(child, here, corner)

"""The list of keyboard shortcuts, made from the table of actions."""

from collections.abc import Iterable
from html import escape
from typing import Protocol

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from gemmviz.model.translation import marked, tr

_MOUSE = (
    (marked("wheel, drag"), marked("zoom, pan")),
    (marked("click on C"), marked("follow its thread")),
    (marked("double click"), marked("show the whole picture")),
)
_COLUMNS = 2


class Keyed(Protocol):
    """The attributes of an action that the list uses."""

    @property
    def keys(self) -> tuple[str, ...]: ...
    @property
    def help(self) -> str: ...


def keys_text(actions: Iterable[Keyed]) -> str:
    """Return the shortcuts and mouse gestures as HTML."""
    rows = [(", ".join(map(_key_text, action.keys)), action.help) for action in actions if action.keys and action.help]
    cells = [
        f"<td><b>{escape(keys)}</b></td><td>{escape(what)}</td>"
        for keys, what in (*rows, *((tr(keys), tr(what)) for keys, what in _MOUSE))
    ]
    half = -(-len(cells) // _COLUMNS)
    lines = [cells[row] + (cells[row + half] if row + half < len(cells) else "") for row in range(half)]
    style = "<style>b { font-weight: 600; } td { white-space: nowrap; padding: 3px 14px 3px 0; }</style>"
    return f"{style}<table>{''.join(f'<tr>{each}</tr>' for each in lines)}</table>"


def _key_text(key: str) -> str:
    names = {"PgUp": "Page Up", "PgDown": "Page Down", "Left": "←", "Right": "→", "-": "−"}
    return names.get(key) or QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) or key


def show_keys(parent: QWidget, actions: Iterable[Keyed]) -> None:
    dialog = QDialog(parent)
    dialog.setWindowTitle(tr("Keyboard shortcuts"))
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column = QVBoxLayout(dialog)
    column.addWidget(QLabel(keys_text(actions)))
    column.addWidget(buttons)
    dialog.exec()

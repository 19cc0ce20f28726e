"""The menu bar and its shortcuts, made from the table of actions, and the menu of a right click."""

import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from html import escape
from typing import Any, Protocol

from PySide6.QtCore import QObject, QPoint, QPointF, Qt, QTimer, qVersion
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QMenu, QTextBrowser, QVBoxLayout, QWidget

from gemmviz import RELEASES, __version__
from gemmviz.cuda.program import reader
from gemmviz.files.devices import devices
from gemmviz.files.extensions import Catalog
from gemmviz.files.extras import installed_distributions
from gemmviz.files.resources import resource
from gemmviz.gui.timeline import TimelineSlider
from gemmviz.gui.widgets.controls import MENU_SHEET, is_covered, tip_text
from gemmviz.gui.widgets.fact_table import PLACE, Table
from gemmviz.gui.widgets.scene_widget import GlossaryBox, SceneWidget
from gemmviz.gui.window.action import (
    MENUS,
    VIEW_MENUS,
    Action,
    ActionContext,
    edit_actions,
    export_actions,
    file_actions,
    kernel_actions,
    lecture_actions,
    play_actions,
)
from gemmviz.gui.window.docks import Docks
from gemmviz.gui.window.view_actions import VIEW_KEYS, other_pictures, view_actions, watch_actions
from gemmviz.model.messages import GemmvizError, Place, marked, tr
from gemmviz.render.export import formats
from gemmviz.scenes.catalog import view_named, views
from gemmviz.session.commands import Commands, Deed, Pointed, deeds
from gemmviz.shots.subject import subjects

# The list of keyboard shortcuts, made from the table of actions.

_MOUSE = (
    (marked("wheel, drag"), marked("zoom, pan")),
    (marked("click on C"), marked("follow its thread")),
    (marked("double click"), marked("show the whole picture")),
)
_KEY_COLUMNS = 2


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
    half = -(-len(cells) // _KEY_COLUMNS)
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


# The About box: the version, the versions of the libraries, and all licences.


def about_text() -> str:
    """Return versions and licences as HTML."""
    cells = ((each.name, each.version, each.licence) for each in installed_distributions())
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
    fonts = resource("assets/fonts/OFL.txt").read_text(encoding="utf-8")
    return (
        f"<p>Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}</p>"
        "<table cellpadding=3><tr><th align=left>library</th><th align=left>version</th><th align=left>licence</th></tr>"
        f"{rows}</table>"
        "<p>gemmviz is under the MIT licence. The fonts Inter and JetBrains Mono are under the SIL Open Font License:</p>"
        f"<pre>{fonts}</pre>"
    )


class AboutBox(QDialog):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("About gemmviz"))
        self.resize(620, 520)
        what = tr("<h2>gemmviz {version}</h2>Shows what every thread of a CUDA kernel does.", version=__version__)
        newer = tr("Newer versions: {link}", link=f'<a href="{RELEASES}">{RELEASES}</a>')
        heading = QLabel(f"{what}<p>{newer}</p>")
        heading.setTextFormat(Qt.TextFormat.RichText)
        heading.setOpenExternalLinks(True)
        self.text = QTextBrowser()
        self.text.setAccessibleName(tr("Versions and licences"))
        self.text.setHtml(about_text())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(heading)
        layout.addWidget(self.text, 1)
        layout.addWidget(buttons)


# The table of all commands: menus, shortcuts and the list of shortcuts are made from it.


def actions() -> Iterator[Action]:
    """Yield all actions in the order of the menus, but those of ``other_pictures``."""
    yield from file_actions()
    yield from edit_actions()
    yield from kernel_actions()
    yield from view_actions()
    yield from play_actions()
    yield from lecture_actions()
    yield from watch_actions()
    yield Action("keys", "help", tr("&Keyboard shortcuts"), lambda c: show_keys(c.window, actions()), ("F1",))
    yield Action("glossary", "help", tr("&Glossary"), lambda c: GlossaryBox(c.window).exec())
    yield Action("tour", "help", tr("&Tour"), lambda c: c.start_tour())
    yield Action("about", "help", tr("&About gemmviz"), lambda c: AboutBox(c.window).exec(), apart=True)


class Menus:
    """The menus of a window. ``all``: the Qt action of each action, by its id. They are updated when the session changes.

    Views and formats are loaded when the menu that lists them opens first, or by ``complete``.
    """

    def __init__(self, context: ActionContext) -> None:
        self.context = context
        self.all: dict[str, QAction] = {}
        self._menus: dict[str, QMenu] = {}
        self._shown: dict[str, tuple[str, str]] = {}  # why each action is disabled, and its text
        self._headings: dict[str, QAction] = {}  # PySide ends a menu's wrapper with that of its heading, so these are kept
        self._later = {"file": export_actions, "view": other_pictures}
        self._actions = {action.id: action for action in actions()}
        for action in self._actions.values():
            menu = self._menu(action.menu)
            if action.apart:
                menu.addSeparator()
            self._add(menu, action)
        session = context.model.session
        for event in (
            session.shot_changed,
            session.run_changed,
            session.player.changed,
            session.notices.changed,
            context.model.released,
        ):
            event.connect(self.sync)
        self.sync()

    def _menu(self, name: str) -> QMenu:
        """Return the menu with this id of ``MENUS``; create it, and the menu that it is in, on first use."""
        if name not in self._menus:
            parent = name.rpartition(".")[0]
            menu = (self._menu(parent) if parent else self.context.window.menuBar()).addMenu(tr(MENUS[name]))
            menu.setAccessibleName(menu.title().replace("&", ""))
            menu.setToolTipsVisible(True)
            menu.setStyleSheet(MENU_SHEET)
            if name in self._later:
                menu.aboutToShow.connect(lambda: self.complete(name))
            menu.aboutToShow.connect(self.sync)
            if name in VIEW_MENUS:
                menu.aboutToShow.connect(lambda: self._show_views(name))
                menu.aboutToHide.connect(self.context.model.view_pictures.stop)
            self._menus[name], self._headings[name] = menu, menu.menuAction()
        return self._menus[name]

    def _add(self, menu: QMenu, action: Action) -> None:
        entry = QAction(action.text, self.context.window)
        entry.setObjectName(action.id)
        entry.setShortcuts([QKeySequence(key) for key in action.keys])
        entry.setCheckable(action.is_on is not None)
        entry.triggered.connect(lambda: self._run(action))
        menu.addAction(entry)
        self.context.window.addAction(entry)  # keeps its shortcut working while the menu bar is hidden
        self.all[action.id] = entry

    def complete(self, name: str = "") -> None:
        """Add what a menu lacks, by default all menus: pictures without a key, and formats. It is loaded for this."""
        for each in [name] if name else list(self._later):
            if each in self._later:
                for action in self._later.pop(each)():
                    self._actions[action.id] = action
                    self._add(self._menu(action.menu), action)
        if "view" not in self._later:
            for view in VIEW_KEYS:
                self.all[f"view-{view}"].setText(tr(view_named(view).title))

    def _show_views(self, name: str) -> None:
        """Offer the views of a menu that apply now, with small pictures."""
        entries = {action.id: self.all[action.id] for action in self._actions.values() if action.menu == name}
        views = {each.removeprefix("view-"): entry for each, entry in entries.items() if each.startswith("view-")}
        self.context.model.view_pictures.show(views, VIEW_KEYS)

    def _run(self, action: Action) -> None:
        action.run(self.context)
        self.sync()

    def opened(self, name: str) -> QMenu:
        """Return a menu with the contents that it has when it opens."""
        menu = self._menus[name]
        menu.aboutToShow.emit()
        return menu

    def sync(self) -> None:
        """Update texts, tooltips, check marks, and which actions are enabled; not while the lecture covers the window. An entry
        without a text is hidden, and a submenu in which nothing is enabled is disabled for the reason of its first entry.
        """
        if is_covered(self.context.window):
            return
        reasons: dict[str, list[str]] = {}
        for name, entry in self.all.items():
            action = self._actions[name]
            why_not = action.why_not(self.context)
            reasons.setdefault(action.menu, []).append(why_not)
            shown = why_not, action.text if action.text_of is None else action.text_of(self.context)
            if self._shown.get(name) != shown:
                self._shown[name] = shown
                entry.setEnabled(not why_not)
                entry.setToolTip(tip_text(why_not or action.help))
                if action.text_of is not None:
                    entry.setText(shown[1] or action.text)
                    entry.setVisible(bool(shown[1]))
            if action.is_on is not None:
                entry.setChecked(action.is_on(self.context))
        for name, each in reasons.items():
            if "." in name:
                self._headings[name].setEnabled(not all(each))
                self._headings[name].setToolTip(tip_text(each[0] if all(each) else ""))


# Loading of what the first picture doesn't need, in idle time after it.


class Warming(QObject):
    """Starts the reader, loads views, subjects, formats, devices and panels one by one, and completes the menus. ``done`` is
    called in the end, with the errors of what can't be used.
    """

    def __init__(self, parent: QObject, menus: Menus, docks: Docks, done: Callable[[list[GemmvizError]], None]) -> None:
        super().__init__(parent)
        self._parts = self._all(menus, docks)
        self._done = done
        self._docks = docks
        self.has_begun = False
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._next)

    def start(self, after_ms: int = 0) -> None:
        """Begin now, or later if nothing calls this before. Does nothing after it has begun."""
        if not self.has_begun:
            self._timer.start(after_ms)

    def stop(self) -> None:
        """Load nothing more."""
        self.has_begun = True
        self._timer.stop()

    def _next(self) -> None:
        self.has_begun = True
        self._timer.setInterval(0)
        if next(self._parts, False):
            return
        self._timer.stop()
        self._done([*(error for kind in _catalogs() for error in kind.broken), *self._docks.broken])

    def _all(self, menus: Menus, docks: Docks) -> Iterator[bool]:
        reader().start()
        yield True
        for kind in _catalogs():
            for name in kind.names:
                with suppress(GemmvizError):  # in ``kind.broken``
                    kind[name]
                yield True
        for name in list(docks.panels):
            docks.widgets[name]
            yield True
        menus.complete()


def _catalogs() -> tuple[Catalog[Any], ...]:
    return views(), subjects(), formats(), devices()


# The menu of a right click on a picture, a table or the timeline.


def pointed_in(widget: QWidget | None, at: QPoint) -> Pointed | None:
    """Return what lies at a place of the screen in a widget or one around it; None if it is no picture, table or timeline."""
    while widget is not None:
        here = widget.mapFromGlobal(at)
        if isinstance(widget, SceneWidget):
            return Pointed(widget.hit(QPointF(here)), widget.text_at(QPointF(here)))
        if isinstance(widget, Table):
            item = widget.itemAt(widget.viewport().mapFromGlobal(at))
            first = None if item is None else widget.item(item.row(), 0)
            place = None if first is None else first.data(PLACE)
            return Pointed(None, "" if item is None else item.text(), place if isinstance(place, Place) else None)
        if isinstance(widget, TimelineSlider):
            return Pointed(step=widget.step_at(here.x()))
        widget = None if widget.isWindow() else widget.parentWidget()
    return None


def point_menu(pointed: Pointed, commands: Commands, docks: Docks, export: QAction, parent: QWidget) -> QMenu:
    """Return the menu. Entries that do nothing here are disabled, with the reason as their tooltip."""
    menu = QMenu(parent)
    menu.setToolTipsVisible(True)
    for each in deeds(pointed, commands, lambda: docks.favour("source"), QGuiApplication.clipboard().setText):
        _add(menu, each)
    menu.addSeparator()
    menu.addAction(export)
    return menu


def _add(menu: QMenu, deed: Deed) -> None:
    run: Callable[[], object] = deed.run
    entry = menu.addAction(deed.title)
    entry.setObjectName(deed.id)
    entry.setEnabled(not deed.why_not)
    entry.setToolTip(tip_text(deed.why_not))
    entry.triggered.connect(lambda: run())

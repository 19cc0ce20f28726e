"""The menu bar and its shortcuts, made from the table of actions."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from gemmviz.gui.widgets.controls import MENU_SHEET, tip_text
from gemmviz.gui.widgets.refresh import is_covered
from gemmviz.gui.window.action import MENUS, Action
from gemmviz.gui.window.action_context import ActionContext
from gemmviz.gui.window.action_table import actions
from gemmviz.gui.window.actions.file_actions import export_actions
from gemmviz.gui.window.actions.view_actions import VIEW_KEYS, other_pictures
from gemmviz.model.translation import tr
from gemmviz.scenes.catalog import view_named


class _Later(NamedTuple):
    """Actions that are added when their menu opens first: ``menus`` of it, which stand in front of the action ``before``."""

    actions: Callable[[], Iterable[Action]]
    before: str
    menus: tuple[str, ...]


class Menus:
    """The menus of a window. ``all``: the Qt action of each action, by its id. They are updated when the session changes.

    Views and formats are loaded when the menu that lists them opens first, or by ``complete``.
    """

    def __init__(self, context: ActionContext) -> None:
        self.context = context
        self.all: dict[str, QAction] = {}
        self._menus: dict[str, QMenu] = {}
        self._later = {
            "file": _Later(export_actions, "quit", ("file.export",)),
            "view": _Later(other_pictures, "benchmark", ("view.more", "view.benchmark")),
        }
        self._actions = {action.id: action for action in actions()}
        for action in self._actions.values():
            menu = self._menu(action.menu)
            if action.apart:
                menu.addSeparator()
            for later in self._later.values():
                if action.id == later.before:
                    for name in later.menus:
                        self._menu(name)
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
            self._menus[name] = menu
        return self._menus[name]

    def _add(self, menu: QMenu, action: Action, before: QAction | None = None) -> None:
        entry = QAction(action.text, self.context.window)
        entry.setObjectName(action.id)
        entry.setShortcuts([QKeySequence(key) for key in action.keys])
        entry.setCheckable(action.is_on is not None)
        entry.triggered.connect(lambda: self._run(action))
        menu.insertAction(before, entry) if before is not None else menu.addAction(entry)
        self.context.window.addAction(entry)  # keeps its shortcut working while the menu bar is hidden
        self.all[action.id] = entry

    def complete(self, name: str = "") -> None:
        """Add what a menu lacks, by default all menus: pictures without a key, and formats. It is loaded for this."""
        for each in [name] if name else list(self._later):
            if each in self._later:
                later = self._later.pop(each)
                for action in later.actions():
                    before = self._menu(later.menus[0]).menuAction() if action.menu == each else None
                    self._actions[action.id] = action
                    self._add(self._menu(action.menu), action, before)
        if "view" not in self._later:
            for view in VIEW_KEYS:
                self.all[f"view-{view}"].setText(tr(view_named(view).title))

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
            entry.setEnabled(not why_not)
            entry.setToolTip(tip_text(why_not or action.help))
            if action.text_of is not None:
                text = action.text_of(self.context)
                entry.setText(text or action.text)
                entry.setVisible(bool(text))
            if action.is_on is not None:
                entry.setChecked(action.is_on(self.context))
        for name, each in reasons.items():
            if "." in name:
                self._menus[name].menuAction().setEnabled(not all(each))
                self._menus[name].menuAction().setToolTip(tip_text(each[0] if all(each) else ""))

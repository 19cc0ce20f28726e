"""The menu bar, and the keys that go with it, from the table of actions."""

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from gemmviz.gui.widgets.controls import MENU_SHEET, tip_text
from gemmviz.gui.window.action_context import ActionContext
from gemmviz.gui.window.actions import Action, actions


class Menus:
    """``all`` has the Qt action of every action, by its text. What depends on the session is kept up to date."""

    def __init__(self, parts: ActionContext) -> None:
        self.parts = parts
        self.all: dict[str, QAction] = {}
        self._menus: dict[str, QMenu] = {}
        self._made: list[tuple[Action, QAction]] = []
        for action in actions():
            menu = self._menu(action.menu)
            if action.apart:
                menu.addSeparator()
            if action.fill is not None:
                self._add_menu(menu, action)
            else:
                self._add(menu, action)
        session = parts.desk.session
        for event in (session.shot_changed, session.run_changed, session.player.changed, session.notices.changed):
            event.connect(self.sync)
        self.sync()

    def _menu(self, path: str) -> QMenu:
        if path not in self._menus:
            above, _, name = path.rpartition("|")
            made = self._menu(above).addMenu(name) if above else self.parts.window.menuBar().addMenu(f"&{name}")
            made.setToolTipsVisible(True)
            made.setStyleSheet(MENU_SHEET)
            made.aboutToShow.connect(self.sync)
            self._menus[path] = made
        return self._menus[path]

    def _add(self, menu: QMenu, action: Action) -> None:
        made = QAction(action.text, self.parts.window)
        made.setShortcuts([QKeySequence(key) for key in action.keys])
        made.setCheckable(action.is_on is not None)
        made.triggered.connect(lambda: self._run(action))
        menu.addAction(made)
        self.parts.window.addAction(made)  # its keys work where the menu bar is hidden, too
        self.all[action.text] = made
        self._made.append((action, made))

    def _run(self, action: Action) -> None:
        action.run(self.parts)
        self.sync()

    def _add_menu(self, menu: QMenu, action: Action) -> None:
        inner = menu.addMenu(action.text)
        inner.setStyleSheet(MENU_SHEET)
        fill = action.fill
        assert fill is not None

        def refill() -> None:
            inner.clear()
            fill(self.parts, inner)

        inner.aboutToShow.connect(refill)
        self._menus[f"{action.menu}|{action.text}"] = inner

    def opened(self, path: str) -> QMenu:
        """A menu as it is when it opens."""
        menu = self._menus[path]
        menu.aboutToShow.emit()
        return menu

    def sync(self) -> None:
        """What is on, what can be done, and what it is called."""
        for action, made in self._made:
            why_not = action.why_not(self.parts)
            made.setEnabled(not why_not)
            made.setToolTip(tip_text(why_not or action.help))
            if action.text_of is not None:
                made.setText(action.text_of(self.parts))
            if action.is_on is not None:
                made.setChecked(action.is_on(self.parts))

"""The table of all commands: menus, shortcuts and the list of shortcuts are made from it."""

from collections.abc import Iterator

from gemmviz.gui.window.about import AboutBox
from gemmviz.gui.window.action import Action
from gemmviz.gui.window.actions.edit_actions import edit_actions
from gemmviz.gui.window.actions.file_actions import file_actions
from gemmviz.gui.window.actions.kernel_actions import kernel_actions
from gemmviz.gui.window.actions.lecture_actions import lecture_actions
from gemmviz.gui.window.actions.play_actions import play_actions
from gemmviz.gui.window.actions.view_actions import view_actions
from gemmviz.gui.window.actions.watch_actions import watch_actions
from gemmviz.gui.window.keys import show_keys
from gemmviz.model.translation import tr


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
    yield Action("tour", "help", tr("&Tour"), lambda c: c.start_tour())
    yield Action("about", "help", tr("&About gemmviz"), lambda c: AboutBox(c.window).exec(), apart=True)

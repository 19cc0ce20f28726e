"""Actions that choose a view, its layers and size, and what is watched."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.pairing import Lock
from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.languages import languages
from gemmviz.gui.widgets.scene_widget import announce
from gemmviz.gui.window.action import MENU_OPTIONS, VIEW_MENUS, Action, ActionContext, needs_picture, needs_time
from gemmviz.gui.window.docks import panels
from gemmviz.model.messages import language, marked, tr
from gemmviz.model.problem_kind import Setting
from gemmviz.scenes.catalog import view_named, views
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.scenes.kit.view import LAYERS
from gemmviz.shots.shot import SYSTEM_THEME, Camera

_TYPE_STEP = 1.25
# The views with a key, 1 to 9: their menus, and their short names in the list of shortcuts
VIEW_KEYS = {
    "stage": ("view.run", marked("stage")),
    "warp": ("view.threads", marked("warp")),
    "request": ("view.memory", marked("request")),
    "banks": ("view.memory", marked("banks")),
    "memory": ("view.memory", marked("memory")),
    "occupancy": ("view.device", marked("occupancy")),
    "grid": ("view.device", marked("grid")),
    "why": ("view.speed", marked("why")),
    "pair": ("view.speed", marked("compare")),
}
_LOCKS: dict[Lock, str] = {
    "phase": marked("At the same &phase"),
    "k": marked("At the same &k"),
    "step": marked("At the same &step"),
    "bytes": marked("After the same &bytes moved"),
}
_LABEL_CHOICES: dict[str, tuple[str, dict[str, Any]]] = {
    "row-column": (marked("[&row, column] from 0"), {"order": "row, column", "first": 0}),
    "column-row": (marked("[&column, row] from 0"), {"order": "column, row", "first": 0}),
    "column-row-1": (marked("[column, row] from &1"), {"order": "column, row", "first": 1}),
    "thread-xy": (marked("Threads (&x, y)"), {"thread": "x, y"}),
    "thread-yx": (marked("Threads (&y, x)"), {"thread": "y, x"}),
}


def view_actions() -> Iterator[Action]:
    """Yield the actions of the View menu but those of ``other_pictures``."""
    yield from _pictures()
    yield from _comparison_actions()
    yield Action(
        "fit", "view.picture", tr("&Fit"), lambda c: c.model.session.navigation.look(Camera()), ("F",),
        tr("show the whole picture"), why_not=needs_time,
    )  # fmt: skip
    yield from _details()
    yield from _option_actions()
    yield from _labels_and_text()
    yield from _window_actions()


def _pictures() -> Iterator[Action]:
    for number, (name, (menu, short_name)) in enumerate(VIEW_KEYS.items(), 1):
        run, is_on = partial(_show_view, name), partial(_is_shown, name)
        yield Action(f"view-{name}", menu, tr(short_name), run, (str(number),), tr(short_name), is_on=is_on)
    yield Action(
        "benchmark",
        "view.benchmark",
        tr("&Benchmark"),
        lambda c: c.model.commands.toggle_benchmark(),
        ("Ctrl+B",),
        tr("benchmark, replay"),
        is_on=lambda c: c.model.session.display.is_benchmark,
    )


def other_pictures() -> Iterator[Action]:
    """Yield the actions of the pictures that have no key. All views are loaded for them."""
    for name, view in views().items():
        if name not in VIEW_KEYS:
            menu = VIEW_MENUS[max(1, min(view.order // 100, len(VIEW_MENUS))) - 1]
            yield Action(f"view-{name}", menu, tr(view.title), partial(_show_view, name), is_on=partial(_is_shown, name))


def _comparison_actions() -> Iterator[Action]:
    yield Action(
        "compare", "view", tr("Compare wit&h this run"), lambda c: c.model.commands.toggle_comparison(), ("K",),
        tr("compare: pin this run on the left"),
        text_of=lambda c: tr("End t&he comparison") if c.model.session.shot.against else tr("Compare wit&h this run"),
        why_not=needs_picture, is_on=lambda c: c.model.session.shot.against is not None, apart=True,
    )  # fmt: skip
    for lock, text in _LOCKS.items():
        yield Action(
            f"lock-{lock}", "view.lock", tr(text), partial(_lock, lock), is_on=partial(_is_locked, lock),
            why_not=lambda c: "" if c.model.session.shot.against else tr("There is no comparison. Press K to start one"),
        )  # fmt: skip


def _details() -> Iterator[Action]:
    yield Action(
        "lens", "view.picture", tr("&Lens"), lambda c: c.model.commands.toggle_lens(), ("Z",),
        tr("show only the part in use, or all"),
        why_not=lambda c: needs_time(c) or _needs_lens(c), is_on=lambda c: c.model.session.display.lens == "lens",
    )  # fmt: skip


def _option_actions() -> Iterator[Action]:
    """Yield the actions of ``MENU_OPTIONS``: one for a switch, one for each choice of several."""
    for setting in MENU_OPTIONS:
        name, text = f"option-{setting.name}", tr(setting.control.menu)
        if setting.kind == "switch":
            run, is_on, description = partial(_toggle_option, setting), partial(_has_option, setting, True), _unmarked(text)
            yield Action(name, "view.picture", text, run, setting.control.keys, description, why_not=needs_time, is_on=is_on)
        for value, title in setting.choices.items():
            run, is_on = partial(_set_option, setting, value), partial(_has_option, setting, value)
            yield Action(f"{name}-{value}", f"view.picture.{name}", tr(title), run, why_not=needs_time, is_on=is_on)


def _labels_and_text() -> Iterator[Action]:
    for name, (text, changes) in _LABEL_CHOICES.items():
        is_on = partial(_has_labels, changes)
        yield Action(f"labels-{name}", "view.picture.labels", tr(text), partial(_set_labels, changes), is_on=is_on)
    for name, text, factor, keys in (
        ("larger-text", tr("Larger te&xt"), _TYPE_STEP, ("Ctrl++", "Ctrl+=")),
        ("smaller-text", tr("Smaller t&ext"), 1 / _TYPE_STEP, ("Ctrl+-",)),
    ):
        yield Action(name, "view.window", text, partial(_scale_type, factor), keys, _unmarked(text))


def _window_actions() -> Iterator[Action]:
    yield Action(
        "full-screen", "view.window", tr("F&ull screen"), _toggle_full_screen, ("F11",), tr("full screen"),
        is_on=lambda c: c.window.isFullScreen(),
    )  # fmt: skip
    yield Action(
        "stage-only", "view.window", tr("&Stage only"), lambda c: c.hide_docks(not c.docks.are_hidden), ("S",),
        tr("hide all panels"), why_not=needs_time, is_on=lambda c: c.docks.are_hidden,
    )  # fmt: skip
    titles = {SYSTEM_THEME: tr("Follow the &system"), **{name: tr(load_theme(name).title) for name in theme_names()}}
    for name, title in titles.items():
        run, is_on = partial(_choose_theme, name), partial(_is_theme, name)
        yield Action(f"theme-{name}", "view.window.theme", title, run, is_on=is_on)
    for code, title in languages().items():
        run, is_on = partial(_choose_language, code), partial(_is_language, code)
        yield Action(f"language-{code}", "view.window.language", title, run, is_on=is_on)
    yield Action("dark-or-light", "view.window", tr("Dark or &light"), _toggle_theme, ("Ctrl+D",), tr("dark or light"))
    for name, panel in panels().items():
        run, is_on, why_not = partial(_toggle_panel, name), partial(_is_panel_shown, name), partial(_is_no_panel, name)
        yield Action(f"panel-{name}", "view.window.panels", tr(panel.title), run, why_not=why_not, is_on=is_on)
    yield Action("reset-layout", "view.window", tr("&Reset layout"), lambda c: c.docks.reset())


def _unmarked(text: str) -> str:
    return text.replace("&", "").lower()


def _needs_lens(context: ActionContext) -> str:
    return "" if context.model.session.display.lens != "auto" else tr("The lens would show everything here")


def _set_option(setting: Setting, value: object, context: ActionContext) -> None:
    session = context.model.session
    session.show(setting.put(session.shot, value))


def _toggle_option(setting: Setting, context: ActionContext) -> None:
    _set_option(setting, not setting.of(context.model.session.shot), context)


def _has_option(setting: Setting, value: object, context: ActionContext) -> bool:
    return bool(setting.of(context.model.session.shot) == value)


def _show_view(name: str, context: ActionContext) -> None:
    context.model.commands.show_view(name)


def _is_shown(name: str, context: ActionContext) -> bool:
    return context.model.session.shot.view == name


def _set_labels(changes: dict[str, Any], context: ActionContext) -> None:
    session = context.model.session
    context.model.commands.set_labels(structs.replace(session.shot.labels, **changes))


def _has_labels(changes: dict[str, Any], context: ActionContext) -> bool:
    labels = context.model.session.shot.labels
    return structs.replace(labels, **changes) == labels


def _choose_theme(name: str, context: ActionContext) -> None:
    context.model.commands.choose_theme(name)


def _is_theme(name: str, context: ActionContext) -> bool:
    return context.model.session.shot.theme == name


def _choose_language(code: str, context: ActionContext) -> None:
    context.model.preferences.put("language", code)
    if code != language():
        context.model.session.say(tr("{language} is used when gemmviz is started again", language=languages()[code]))


def _is_language(code: str, context: ActionContext) -> bool:
    return (context.model.preferences.text("language") or language()) == code


def _toggle_theme(context: ActionContext) -> None:
    """Choose the first light theme if this one is dark, else the first dark one."""
    is_dark = not context.model.theme.is_dark
    context.model.commands.choose_theme(next(name for name in theme_names() if load_theme(name).is_dark == is_dark))


def _toggle_panel(name: str, context: ActionContext) -> None:
    context.docks.all[name].toggleViewAction().trigger()


def _is_panel_shown(name: str, context: ActionContext) -> bool:
    dock = context.docks.all.get(name)
    return dock is not None and dock.toggleViewAction().isChecked()


def _is_no_panel(name: str, context: ActionContext) -> str:
    return "" if name in context.docks.all else tr("This panel could not be made")


def _lock(lock: Lock, context: ActionContext) -> None:
    session = context.model.session
    if session.shot.against is not None:
        context.model.commands.compare_with(structs.replace(session.shot.against, lock=lock))


def _is_locked(lock: Lock, context: ActionContext) -> bool:
    against = context.model.session.shot.against
    return against is not None and against.lock == lock


def _scale_type(factor: float, context: ActionContext) -> None:
    context.model.commands.scale_type(factor)


def _toggle_full_screen(context: ActionContext) -> None:
    context.window.setWindowState(context.window.windowState() ^ Qt.WindowState.WindowFullScreen)


# Actions that choose which threads to watch, and what their colours mean.


def watch_actions() -> Iterator[Action]:
    """Yield the actions of the Watch menu."""
    for name, text, run, key, description in (
        ("next-warp", tr("Next &warp"), _next_warp, "W", tr("next warp")),
        ("next-thread", tr("Next &thread"), _next_thread, "T", tr("next thread")),
        ("all-blocks", tr("&All traced blocks"), _all_blocks, "A", tr("all traced blocks")),
        ("next-layer", tr("Next colour &layer"), _next_layer, "L", tr("colours: matrix, warp, lane, block, reuse")),
    ):
        yield Action(name, "watch", text, run, (key,), description, why_not=needs_time)
    description = tr("close the innermost of what is open, back to the block")
    yield Action("block", "watch", tr("Back to the &block"), _leave_innermost, ("Esc",), description)
    for name, text, down, right, key in (
        ("cell-left", tr("Cell to the le&ft"), 0, -1, "Left"),
        ("cell-right", tr("Cell to the &right"), 0, 1, "Right"),
        ("cell-up", tr("Cell abo&ve"), -1, 0, "Up"),
        ("cell-down", tr("Cell belo&w"), 1, 0, "Down"),
    ):
        description = tr("follow the thread of the cell beside, in C") if name == "cell-left" else ""
        run = partial(_move_cell, down, right)
        yield Action(name, "watch", text, run, (f"Shift+{key}",), description, why_not=_needs_result, apart=name == "cell-left")
    yield Action(
        "ask", "watch", tr("What does the block &move?"), lambda c: c.replay.ask_about_block(), ("Return", "Enter"),
        tr("say what the watched block moves"), why_not=_needs_result, apart=True,
    )  # fmt: skip


def _needs_result(context: ActionContext) -> str:
    """Return why no cell of the result can be chosen, "" if one can."""
    session = context.model.session
    if not session.display.kind.is_of_run:
        return tr("This view shows no matrices. Press 1 to go back to the replay")
    return (
        "" if session.now is not None and session.now.trace.result is not None else tr("The kernel has no result to point at")
    )


def _move_cell(down: int, right: int, context: ActionContext) -> None:
    announce(context.replay.stage, context.model.cursor.move(down, right))


def _next_warp(context: ActionContext) -> None:
    """Watch the next warp; the first one follows the last."""
    session = context.model.session
    focus, warp_size = session.shot.focus, device_for(session.shot.setup).warp_size
    warps = -(-_threads_per_block(context) // warp_size)
    context.model.commands.watch(Focus(focus.block, 0 if focus.warp is None else (focus.warp + 1) % warps))


def _next_thread(context: ActionContext) -> None:
    """Watch the next thread; the first one follows the last."""
    session = context.model.session
    focus, threads = session.shot.focus, _threads_per_block(context)
    context.model.commands.watch(Focus(focus.block, None, 0 if focus.thread is None else (focus.thread + 1) % threads))


def _threads_per_block(context: ActionContext) -> int:
    launch = context.model.session.state.launch
    return launch.threads_per_block if launch is not None else 1


def _all_blocks(context: ActionContext) -> None:
    session = context.model.session
    context.model.commands.watch(Focus(session.shot.focus.block, everyone=True))


def _leave_innermost(context: ActionContext) -> None:
    """Leave the innermost of what is open: the answer, the panel with the focus, a warp or thread that is watched, the
    comparison, the panels except an open lesson, full screen. Outside of lessons, a view is left for the one it leads back to
    first.
    """
    model, docks, window, session = context.model, context.docks, context.window, context.model.session
    block, back = Focus(session.shot.focus.block), view_named(session.shot.view).back
    drawer = [dock for dock in docks.drawer if dock.objectName() != "lessons" or not model.course.is_on]
    focused = [dock for dock in drawer if dock.isAncestorOf(QApplication.focusWidget() or window)]
    if model.answers.sentences:
        model.answers.clear()
    elif back and not model.course.is_on and not focused:
        model.commands.show_view(back)
    elif session.shot.focus != block and session.display.has_time and not focused:
        model.commands.watch(block)
    elif session.shot.against is not None and not focused:
        model.commands.compare_with(None)
    elif drawer:
        docks.close(focused or drawer)
        model.released.emit()
    elif window.isFullScreen():
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowFullScreen)


def _next_layer(context: ActionContext) -> None:
    session = context.model.session
    context.model.commands.show_layer(LAYERS[(LAYERS.index(session.shot.layer) + 1) % len(LAYERS)])

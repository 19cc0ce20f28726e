"""Actions that choose which threads to watch, and what their colours mean."""

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import Qt

from gemmviz.analysis.replay.focus import Focus
from gemmviz.gui.widgets.answer import announce
from gemmviz.gui.window.action import Action, needs_time
from gemmviz.gui.window.action_context import ActionContext
from gemmviz.launch.legality import device_for
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.frame import LAYERS


def watch_actions() -> Iterator[Action]:
    """Yield the actions of the Watch menu."""
    for name, text, run, key, description in (
        ("next-warp", tr("Next &warp"), _next_warp, "W", tr("next warp")),
        ("next-thread", tr("Next &thread"), _next_thread, "T", tr("next thread")),
        ("all-blocks", tr("&All traced blocks"), _all_blocks, "A", tr("all traced blocks")),
        ("block", tr("Whole &block"), _block_or_window, "Esc", tr("whole block; exit full screen")),
        ("next-layer", tr("Next colour &layer"), _next_layer, "L", tr("colours: matrix, warp, lane, block, reuse")),
    ):
        yield Action(name, "watch", text, run, (key,), description, why_not=needs_time)
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
    launch = context.model.session.launch
    return launch.threads_per_block if launch is not None else 1


def _all_blocks(context: ActionContext) -> None:
    session = context.model.session
    context.model.commands.watch(Focus(session.shot.focus.block, everyone=True))


def _block_or_window(context: ActionContext) -> None:
    """Leave full screen; if the window is not in full screen, close the answer; without one, watch the whole block."""
    if context.window.isFullScreen():
        context.window.setWindowState(context.window.windowState() & ~Qt.WindowState.WindowFullScreen)
    else:
        session = context.model.session
        if context.model.answers.sentences:
            context.model.answers.clear()
            return
        context.model.commands.watch(Focus(session.shot.focus.block))


def _next_layer(context: ActionContext) -> None:
    session = context.model.session
    context.model.commands.show_layer(LAYERS[(LAYERS.index(session.shot.layer) + 1) % len(LAYERS)])

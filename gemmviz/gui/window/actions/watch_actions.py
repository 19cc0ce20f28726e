"""Actions that choose which threads to watch, and what their colours mean."""

from collections.abc import Iterator

from PySide6.QtCore import Qt

from gemmviz.analysis.replay.focus import Focus
from gemmviz.gui.window.action import Action, needs_time
from gemmviz.gui.window.action_context import ActionContext
from gemmviz.launch.legality import device_for
from gemmviz.scenes.kit.frame import LAYERS


def watch_actions() -> Iterator[Action]:
    """Yield the actions of the Watch menu."""
    for name, text, run, key, description in (
        ("next-warp", "Next &warp", _next_warp, "W", "next warp"),
        ("next-thread", "Next &thread", _next_thread, "T", "next thread"),
        ("all-blocks", "&All traced blocks", _all_blocks, "A", "all traced blocks"),
        ("block", "Whole &block", _block_or_window, "Esc", "whole block; exit full screen"),
        ("next-layer", "Next colour &layer", _next_layer, "L", "colours: matrix, warp, lane, block, reuse"),
    ):
        yield Action(name, "watch", text, run, (key,), description, why_not=needs_time)


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
    """Leave full screen; if the window is not in full screen, watch the whole block."""
    if context.window.isFullScreen():
        context.window.setWindowState(context.window.windowState() & ~Qt.WindowState.WindowFullScreen)
    else:
        session = context.model.session
        context.model.commands.watch(Focus(session.shot.focus.block))


def _next_layer(context: ActionContext) -> None:
    session = context.model.session
    context.model.commands.show_layer(LAYERS[(LAYERS.index(session.shot.layer) + 1) % len(LAYERS)])

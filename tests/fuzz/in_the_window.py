"""Actions in the window, in any order, and settings that were kept wrongly: nothing may be raised, nothing may pile up."""

import json
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from hypothesis import strategies as st

from gemmviz.analysis.replay.focus import Focus
from gemmviz.launch.catalog import all_kernel_names, lesson_names
from gemmviz.run.engine import Cancel
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.frame import LAYERS
from gemmviz.state.fields import fields_of
from gemmviz.state.shot import Camera, default_shot, shot_text
from tests.fuzz.campaign import Campaign, application

_ASK = ("open", "save-", "export", "quit", "about", "keys")  # actions that open a dialog, which nobody would close
_KEYS = ("speed", "shot", "layout", "geometry", "runner", "recent", "tour", "trusted")
_FIELDS = ("M", "N", "K", "TILE_WIDTH", "BLOCK", "PAD", "PER_THREAD", "pattern", "seed", "device", "blocks", "phases")
_VALUES = (0, 1, 2, 3, 4, 7, 8, 16, 33, 64, 1000, 2**31 - 1, 2**40, -1, "", "all", "0:1,0:1", "1", "2-3", "x", "h200", "a100")
_KEPT = (
    "", "nan", "inf", "-1", "1e400", "x", "torn", "[1, 2]", b"torn", 3, None, True, ["/nowhere", "x"], [1, None], {"a": 1},
    "format = 'gemmviz view'\nversion = 1\n[setup]\nkernel = 'gone'", "x" * 100_000, "\ud800",
)  # fmt: skip
_PRESSED = (
    "Key_Left", "Key_Right", "Key_Up", "Key_Down", "Key_Space", "Key_Home", "Key_End", "Key_PageUp", "Key_PageDown", "Key_Plus",
    "Key_Minus", "Key_0", "Key_1", "Key_Tab", "Key_Escape",
)  # fmt: skip
_STALL_S = 0.1  # of the time of the thread that draws
_WAIT_S = 5.0
_MOST_OBJECTS = 400  # that may come to be, for menus and panels that are made when they are first opened


def window_actions() -> st.SearchStrategy[bytes]:
    """Lists of what a person may do, as JSON."""
    share = st.floats(0, 1)
    one = (
        st.tuples(st.just("menu"), st.integers(0, 200))
        | st.tuples(st.just("set"), st.sampled_from(_FIELDS), st.sampled_from(_VALUES))
        | st.tuples(st.just("kernel"), st.sampled_from(all_kernel_names()))
        | st.tuples(st.just("lesson"), st.sampled_from(lesson_names()), st.integers(0, 80))
        | st.tuples(st.just("learn"), st.sampled_from(("advance", "come_back", "toggle_explore", "end", "pick", "attempt")))
        | st.tuples(st.just("view"), st.sampled_from(list(views())))
        | st.tuples(st.just("theme"), st.sampled_from(("dark", "light", "print")))
        | st.tuples(st.just("layer"), st.sampled_from(LAYERS))
        | st.tuples(st.just("go"), st.integers(0, 400) | st.sampled_from((-(10**9), -5, -1, 10**9)))
        | st.tuples(st.just("look"), st.floats(1, 256), st.floats(-1, 2), st.floats(-1, 2))
        | st.tuples(st.just("watch"), st.integers(0, 5), st.integers(0, 5), st.none() | st.integers(0, 40), st.booleans())
        | st.tuples(st.just("hold"), st.booleans())
        | st.tuples(st.just("key"), st.integers(0, len(_PRESSED) - 1), st.integers(1, 5))
        | st.tuples(st.just("point"), share, share, st.booleans())
        | st.tuples(st.just("drag"), share, share, share, share)
        | st.tuples(st.just("wheel"), share, share, st.integers(-5, 5))
        | st.tuples(st.just("undo"), st.booleans())
        | st.tuples(st.just("size"), st.integers(300, 2500), st.integers(200, 1500))
        | st.tuples(st.just("wait"), st.integers(0, 60))
    )
    return st.lists(one, min_size=1, max_size=25).map(lambda each: json.dumps(each).encode())


def kept_settings() -> st.SearchStrategy[bytes]:
    """What a store may hold, as JSON: which value stands under which key."""
    chosen = st.dictionaries(st.sampled_from(_KEYS), st.integers(0, len(_KEPT) - 1), min_size=1)
    return chosen.map(lambda each: json.dumps(each).encode())


def act(path: Path, cancelled: Cancel) -> None:
    """Does all that a case says in one window, which begins anew with each case.

    An action that keeps the thread for too long is a finding if it does so when all is done once more: what is made when it is
    first looked at, or what this process lost to others, is none.
    """
    window, actions = window_made(), json.loads(path.read_bytes())
    before = _objects(window)
    slow = _done(window, actions)
    again = _done(window, actions) if slow else {}
    _begin_anew(window)  # nothing goes on into the next case
    if slow:
        both = sorted(set(slow) & set(again))
        assert not both, f"{both[0]} kept the window for {slow[both[0]]:.2f} s, then for {again[both[0]]:.2f} s of its own time"
    assert _objects(window) - before < _MOST_OBJECTS, "objects pile up"


def _done(window: Any, actions: list[list[Any]]) -> dict[str, float]:
    """Does the actions from the first picture on; those that took too long, and how long."""
    slow: dict[str, float] = {}

    def timed(what: str, do: Callable[[], object]) -> None:
        start = time.thread_time()
        do()
        if (took := time.thread_time() - start) > _STALL_S:
            slow[what] = max(took, slow.get(what, 0.0))

    raised = _raised()
    _begin_anew(window)
    for number, (name, *facts) in enumerate(actions):
        what = f"action {number}, {name} {facts}"
        timed(what, lambda name=name, facts=facts: _do(window, name, facts))  # type: ignore[misc]
        timed(f"what follows {what}", lambda: _pass(0.0))
        assert not raised, raised.pop()
    _settle(window, lambda: timed("what follows all actions", lambda: _pass(0.0)))
    assert not raised, raised.pop()
    return slow


def _begin_anew(window: Any) -> None:
    """Calls off all work, and shows the first picture."""
    window.model.course.end()
    window.session.show(default_shot())
    window.resize(1400, 900)
    _settle(window, lambda: _pass(0.0))


def _settle(window: Any, passed: Callable[[], object]) -> None:
    """Until nothing is worked on, or nobody would wait any longer."""
    end = time.monotonic() + _WAIT_S
    passed()
    while window.session.is_busy and time.monotonic() < end:
        time.sleep(0.01)
        passed()
    passed()


def start_with(path: Path, cancelled: Cancel) -> None:
    """A window that finds what was kept; it shows a picture or says why not, and closes."""
    from gemmviz.gui.preferences import InMemoryStore
    from gemmviz.gui.window.main_window import MainWindow

    application()
    raised = _raised()
    made = MainWindow(InMemoryStore({key: _KEPT[number] for key, number in json.loads(path.read_bytes()).items()}))
    made.start()
    made.show()
    end = time.monotonic() + 5.0
    while made.session.shown is None and made.session.error is None and time.monotonic() < end:
        _pass(0.01)
    assert made.session.shown is not None or made.session.error is not None
    made.close()
    made.deleteLater()
    _pass(0.0)
    assert not raised, raised.pop()


def _do(window: Any, name: str, facts: list[Any]) -> None:
    session = window.session
    match name:
        case "menu":
            actions = [each for name, each in window.menus.all.items() if not name.startswith(_ASK)]
            actions[facts[0] % len(actions)].trigger()
        case "set":
            if facts[0] in {field.name for field in fields_of(session.shot.setup)}:
                window.model.commands.change(*facts)
        case "kernel":
            window.model.opening.choose_kernel(facts[0])
        case "lesson":
            window.model.opening.open_lesson(facts[0])
            _pass(0.1)
            window.model.course.go(facts[1])
        case "learn":
            _learn(window.model.course, facts[0])
        case "view":
            window.model.commands.show_view(facts[0])
        case "theme":
            window.model.commands.choose_theme(facts[0])
        case "layer":
            window.model.commands.show_layer(facts[0])
        case "go":
            session.player.jump(facts[0])
        case "look":
            session.navigation.look(Camera(*facts))
        case "watch":
            x, y, warp, everyone = facts
            window.model.commands.watch(Focus((x, y, 0), warp, None, everyone))
        case "hold":
            window.model.commands.toggle_comparison() if facts[0] else window.model.commands.compare_with(None)
        case "undo":
            session.undo() if facts[0] else session.redo()
        case "key":
            _press(window.replay.stage, _PRESSED[facts[0]], facts[1])
        case "point":
            _point(window.replay.stage, *facts)
        case "drag":
            _drag(window.replay.stage, *facts)
        case "wheel":
            _turn(window.replay.stage, *facts)
        case "size":
            window.resize(*facts)
        case "wait":
            _pass(facts[0] / 1000)


def _learn(course: Any, what: str) -> None:
    match what:
        case "pick":
            course.pick(0)
        case "attempt":
            course.attempt(("0",) * course.blanks)
        case _:
            getattr(course, what)()


def _place(stage: Any, x: float, y: float) -> Any:
    from PySide6.QtCore import QPoint

    return QPoint(round(x * stage.width()), round(y * stage.height()))


def _press(stage: Any, name: str, times: int) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    for _ in range(times):
        QTest.keyClick(stage, getattr(Qt.Key, name))


def _drag(stage: Any, x: float, y: float, to_x: float, to_y: float) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    left, plain = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mousePress(stage, left, plain, _place(stage, x, y))
    QTest.mouseMove(stage, _place(stage, (x + to_x) / 2, (y + to_y) / 2))
    QTest.mouseMove(stage, _place(stage, to_x, to_y))
    QTest.mouseRelease(stage, left, plain, _place(stage, to_x, to_y))


def _turn(stage: Any, x: float, y: float, notches: int) -> None:
    from PySide6.QtCore import QPoint, QPointF, Qt
    from PySide6.QtGui import QWheelEvent
    from PySide6.QtWidgets import QApplication

    at = QPointF(_place(stage, x, y))
    event = QWheelEvent(
        at, stage.mapToGlobal(at), QPoint(), QPoint(0, 120 * notches), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(stage, event)


def _point(stage: Any, x: float, y: float, clicks: bool) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    at = _place(stage, x, y)
    QTest.mouseMove(stage, at)
    if clicks:
        QTest.mouseClick(stage, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)


@cache
def window_made() -> Any:
    """The window that all cases share, in which everything has been looked at once."""
    application()
    from gemmviz.gui.preferences import InMemoryStore
    from gemmviz.gui.window.main_window import MainWindow

    made = MainWindow(InMemoryStore(shot=shot_text(default_shot()), tour="seen"))
    made.start()
    made.show()
    for name in views():  # what is made when it is first looked at
        made.model.commands.show_view(name)
        _pass(0.3)
    return made


@cache
def _raised() -> list[str]:
    """What was raised where Qt calls us: it has nobody to tell."""
    found: list[str] = []

    def note(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        found.append(f"{kind.__name__}: {error}")
        sys.__excepthook__(kind, error, trace)

    sys.excepthook = note
    return found


def _objects(window: Any) -> int:
    from PySide6.QtCore import QEvent, QObject
    from PySide6.QtWidgets import QApplication

    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return len(window.findChildren(QObject))


def _pass(seconds: float) -> None:
    """Lets the window live."""
    process: Callable[[], None] = application().processEvents
    end = time.monotonic() + seconds
    process()
    while time.monotonic() < end:
        process()
        time.sleep(0.002)


CAMPAIGNS = {
    "window": Campaign(".actions", window_actions, act, ready=window_made, starts=("ldd",), own_time=True),
    "settings": Campaign(".kept", kept_settings, start_with, own_time=True),
}

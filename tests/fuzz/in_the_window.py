"""Actions in the window, in any order, and settings that were kept wrongly: nothing may be raised, nothing may pile up."""

import json
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from hypothesis import strategies as st

from gemmviz.analysis.focus import Focus
from gemmviz.run.engine import Cancel
from gemmviz.scenes.catalog import views
from gemmviz.scenes.frame import LAYERS
from gemmviz.show.fields import fields_of
from gemmviz.show.shot import Camera, default_shot, shot_text
from gemmviz.spec.catalog import kernel_names

_ASK = ("…", "&Quit", "&About", "&Keys")  # actions that open a dialog, which nobody would close
_KEYS = ("speed", "shot", "layout", "geometry", "runner", "recent", "tour", "trusted")
_FIELDS = ("M", "N", "K", "TILE_WIDTH", "BLOCK", "PAD", "PER_THREAD", "pattern", "seed", "device", "blocks", "phases")
_VALUES = (0, 1, 2, 3, 4, 7, 8, 16, 33, 64, 1000, 2**31 - 1, 2**40, -1, "", "all", "0:1,0:1", "1", "2-3", "x", "h200", "a100")
_KEPT = (
    "", "nan", "inf", "-1", "1e400", "x", "torn", "[1, 2]", b"torn", 3, None, True, ["/nowhere", "x"], [1, None], {"a": 1},
    "format = 'gemmviz view'\nversion = 1\n[setup]\nkernel = 'gone'", "x" * 100_000, "\ud800",
)  # fmt: skip
_MOST_OBJECTS = 400  # that may come to be, for menus and panels that are made when they are first opened


def window_actions() -> st.SearchStrategy[bytes]:
    """Lists of what a person may do, as JSON."""
    one = (
        st.tuples(st.just("menu"), st.integers(0, 200))
        | st.tuples(st.just("set"), st.sampled_from(_FIELDS), st.sampled_from(_VALUES))
        | st.tuples(st.just("kernel"), st.sampled_from(kernel_names()))
        | st.tuples(st.just("view"), st.sampled_from(list(views())))
        | st.tuples(st.just("layer"), st.sampled_from(LAYERS))
        | st.tuples(st.just("go"), st.integers(-5, 400))
        | st.tuples(st.just("look"), st.floats(1, 256), st.floats(-1, 2), st.floats(-1, 2))
        | st.tuples(st.just("watch"), st.integers(0, 5), st.integers(0, 5), st.none() | st.integers(0, 40), st.booleans())
        | st.tuples(st.just("point"), st.floats(0, 1), st.floats(0, 1), st.booleans())
        | st.tuples(st.just("size"), st.integers(300, 2500), st.integers(200, 1500))
        | st.tuples(st.just("wait"), st.integers(0, 60))
    )
    return st.lists(one, min_size=1, max_size=25).map(lambda each: json.dumps(each).encode())


def kept_settings() -> st.SearchStrategy[bytes]:
    """What a store may hold, as JSON: which value stands under which key."""
    chosen = st.dictionaries(st.sampled_from(_KEYS), st.integers(0, len(_KEPT) - 1), min_size=1)
    return chosen.map(lambda each: json.dumps(each).encode())


def act(path: Path, cancelled: Cancel) -> None:
    """Does all that a case says in one window, which goes on from case to case."""
    window, raised = _window(), _raised()
    before = _objects(window)
    for name, *facts in json.loads(path.read_bytes()):
        _do(window, name, facts)
        _pass(0.0)
        assert not raised, raised.pop()
    end = time.monotonic() + 5.0
    while window.session.is_busy and time.monotonic() < end:
        _pass(0.02)
    _pass(0.02)
    assert not raised, raised.pop()
    assert _objects(window) - before < _MOST_OBJECTS, "objects pile up"


def start_with(path: Path, cancelled: Cancel) -> None:
    """A window that finds what was kept; it shows a picture or says why not, and closes."""
    from gemmviz.gui.main_window import MainWindow
    from gemmviz.gui.preferences import Nowhere

    _application()
    raised = _raised()
    made = MainWindow(Nowhere({key: _KEPT[number] for key, number in json.loads(path.read_bytes()).items()}))
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
            actions = [each for text, each in window.menus.all.items() if not any(word in text for word in _ASK)]
            actions[facts[0] % len(actions)].trigger()
        case "set":
            if facts[0] in {field.name for field in fields_of(session.shot.setup)}:
                session.change(*facts)
        case "kernel":
            window.desk.opening.choose_kernel(facts[0])
        case "view":
            session.show_view(facts[0])
        case "layer":
            session.show_layer(facts[0])
        case "go":
            session.player.jump(facts[0])
        case "look":
            session.look(Camera(*facts))
        case "watch":
            x, y, warp, everyone = facts
            session.watch(Focus((x, y, 0), warp, None, everyone))
        case "point":
            _point(window.replay.stage, *facts)
        case "size":
            window.resize(*facts)
        case "wait":
            _pass(facts[0] / 1000)


def _point(stage: Any, x: float, y: float, clicks: bool) -> None:
    from PySide6.QtCore import QPoint, Qt
    from PySide6.QtTest import QTest

    at = QPoint(round(x * stage.width()), round(y * stage.height()))
    QTest.mouseMove(stage, at)
    if clicks:
        QTest.mouseClick(stage, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)


@cache
def _application() -> Any:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    return QApplication.instance() or QApplication([])


@cache
def _window() -> Any:
    _application()
    from gemmviz.gui.main_window import MainWindow
    from gemmviz.gui.preferences import Nowhere

    made = MainWindow(Nowhere(shot=shot_text(default_shot()), tour="seen"))
    made.start()
    made.show()
    for name in views():  # what is made when it is first looked at
        made.session.show_view(name)
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
    process: Callable[[], None] = _application().processEvents
    end = time.monotonic() + seconds
    process()
    while time.monotonic() < end:
        process()
        time.sleep(0.002)

"""Actions in the window, in any order, and settings that were kept wrongly: nothing may be raised, nothing may pile up."""

import ctypes
import gc
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any

import psutil
from hypothesis import strategies as st

from gemmviz.analysis.replay.focus import Focus
from gemmviz.cuda.launch.catalog import all_kernel_names, lesson_names
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.view import LAYERS
from gemmviz.shots.shot import Camera, default_shot, fields_of, shot_text
from tests.fuzz.campaign import Campaign, application
from tests.fuzz.files_to_open import add_device, changed_file, own_files, prepare_files

_ASK = ("open", "save-", "export", "quit", "about", "keys", "lecture", "presenter")  # what they open, nobody would close
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
_TURNS = (
    "Key_PageDown", "Key_PageDown", "Key_PageDown", "Key_PageUp", "Key_Space", "Key_Right", "Key_Left", "Key_B", "Key_S", "Key_I",
    "Key_Z", "Key_F", "Key_Q", "Key_P", "Key_F1",
)  # fmt: skip
_STARTED_S = 60.0  # until a window has a picture, on a machine that does much else
_NOT_OFFSCREEN = "This plugin does not support"  # begins what Qt says where there is no screen
STALL_S = 0.2  # of the time of the thread that draws
_WAIT_S = 5.0
_MOST_OBJECTS = 400  # that may come to be, for menus and panels that are made when they are first opened
FIRST, MOST_GROWTH, _LOOK_EACH = 100, 1.3, 25  # actions after which memory is measured, and how much more there may be later
MOST_ACTIONS = 25


_ACTIONS: dict[str, tuple[int, Callable[[Random], tuple[Any, ...]]]] = {
    "menu": (8, lambda r: (r.randrange(200),)),
    "set": (8, lambda r: (r.choice(_FIELDS), r.choice(_VALUES))),
    "kernel": (4, lambda r: (r.choice(all_kernel_names()),)),
    "own": (3, lambda r: (r.randrange(1000),)),
    "changed": (3, lambda r: (r.randrange(1 << 20),)),
    "device": (2, lambda r: (r.randrange(1 << 20),)),
    "lesson": (3, lambda r: (r.choice(lesson_names()), r.randrange(80))),
    "learn": (4, lambda r: (r.choice(("advance", "come_back", "toggle_explore", "end", "pick", "attempt")),)),
    "view": (12, lambda r: (r.choice(list(views())),)),
    "theme": (1, lambda r: (r.choice(("dark", "light", "print")),)),
    "layer": (4, lambda r: (r.choice(LAYERS),)),
    "go": (6, lambda r: (r.choice((-(10**9), -5, -1, 10**9, r.randrange(400))),)),
    "look": (3, lambda r: (r.choice((1.0, 2.0, 8.0, 256.0)), r.uniform(-1, 2), r.uniform(-1, 2))),
    "watch": (5, lambda r: (r.randrange(6), r.randrange(6), r.choice((None, r.randrange(40))), r.random() < 0.5)),
    "hold": (2, lambda r: (r.random() < 0.5,)),
    "key": (4, lambda r: (r.randrange(len(_PRESSED)), r.randrange(1, 6))),
    "point": (5, lambda r: (r.random(), r.random(), r.random() < 0.5)),
    "drag": (2, lambda r: (r.random(), r.random(), r.random(), r.random())),
    "wheel": (2, lambda r: (r.random(), r.random(), r.randrange(-5, 6))),
    "undo": (3, lambda r: (r.random() < 0.5,)),
    "size": (2, lambda r: (r.randrange(300, 2500), r.randrange(200, 1500))),
    "export": (1, lambda r: tuple(r.randrange(1 << 10) for _ in range(4))),
    "lecture": (1, lambda r: (r.random() < 0.3, *(r.choice(_TURNS) for _ in range(r.randrange(1, 10))))),
}  # how often, and what a person may choose
_LIVES = (0.0, 0.0, 0.03, 0.1, 0.3, 1.0)  # seconds until the next action, unless nothing is worked on before


def some_actions(random: Random, count: int) -> list[list[Any]]:
    """What a person may do, each with how long that person waits then."""
    names = random.choices(list(_ACTIONS), [often for often, _ in _ACTIONS.values()], k=count)
    return [[name, random.choice(_LIVES), *_ACTIONS[name][1](random)] for name in names]


def window_actions() -> st.SearchStrategy[bytes]:
    """Lists of actions, as JSON."""
    lists = st.builds(some_actions, st.randoms(use_true_random=False), st.integers(1, MOST_ACTIONS))
    return lists.map(lambda each: json.dumps(each).encode())


def kept_settings() -> st.SearchStrategy[bytes]:
    """What a store may hold, as JSON: which value stands under which key."""
    chosen = st.dictionaries(st.sampled_from(_KEYS), st.integers(0, len(_KEPT) - 1), min_size=1)
    return chosen.map(lambda each: json.dumps(each).encode())


@dataclass
class _Grown:
    """The memory of a window at rest: ``first``, in MiB after its first actions, and ``now``."""

    actions: int = 0
    first: int = 0
    now: int = 0
    looked: int = 0

    def look(self, done: int) -> None:
        """Measures after so many more actions, now and then."""
        self.actions += done
        if self.actions >= FIRST and self.actions - self.looked >= _LOOK_EACH:
            self.looked = self.actions
            self.now = memory_mib()
            self.first = self.first or self.now
            assert self.now <= MOST_GROWTH * self.first, (
                f"memory grows: {self.first} MiB after {FIRST} actions, {self.now} MiB after {self.actions}"
            )


_grown = _Grown()
_passes: list[float] = []  # seconds that each turn of the window's loop took of the thread's time


def act(path: Path) -> None:
    """Does all that a case says in one window, which begins anew with each case.

    An action that keeps the thread for too long is a finding if it does so when all is done once more: what is made when it is
    first looked at, or what this process lost to others, is none.
    """
    window, actions = window_made(), json.loads(path.read_bytes())
    before = objects(window)
    try:
        slow = _done(window, actions, path.parent)
        again = _done(window, actions, path.parent) if slow else {}
    finally:
        begin_anew(window)  # nothing goes on into the next case
    if slow:
        both = sorted(set(slow) & set(again))
        assert not both, f"{both[0]} kept the window for {slow[both[0]]:.2f} s, then for {again[both[0]]:.2f} s of its own time"
    assert not raised_so_far(), raised_so_far().pop()
    assert objects(window) - before < _MOST_OBJECTS, "objects pile up"
    _grown.look(len(actions))


@dataclass
class Clock:
    """What kept the thread for too long, and how long."""

    slow: dict[str, float] = field(default_factory=dict)

    def timed(self, what: str, do: Callable[[], object]) -> None:
        """Does something, in the course of which the window may live several times: each of these is timed by itself."""
        _passes.clear()
        start = time.thread_time()
        do()
        if (took := max((time.thread_time() - start - sum(_passes), *_passes))) > STALL_S:
            self.slow[what] = max(took, self.slow.get(what, 0.0))


def _done(window: Any, actions: list[list[Any]], folder: Path) -> dict[str, float]:
    """Does the actions from the first picture on; those that took too long, and how long."""
    clock, raised = Clock(), raised_so_far()
    raised.clear()
    begin_anew(window)
    for number, (name, lives_s, *facts) in enumerate(actions):
        what = f"action {number}, {name} {facts}"
        clock.timed(what, lambda name=name, facts=facts: do(window, name, facts, folder))  # type: ignore[misc]
        settle(window, lambda what=what: clock.timed(f"what follows {what}", lambda: pass_(0.0)), lives_s)  # type: ignore[misc]
        assert not raised, raised.pop()
    settle(window, lambda: clock.timed("what follows all actions", lambda: pass_(0.0)))
    assert not raised, raised.pop()
    return clock.slow


def begin_anew(window: Any) -> None:
    """Calls off all work, closes what was opened, and shows the first picture."""
    window.lecture.end()  # which covers the window: nothing of it is drawn meanwhile
    for dialog in window.findChildren(_dialog()):
        dialog.reject()
    window.model.course.end()
    window.session.show(default_shot())
    window.resize(1400, 900)
    settle(window, lambda: pass_(0.0))


def _dialog() -> type:
    from PySide6.QtWidgets import QDialog

    return QDialog


def _is_working(window: Any) -> bool:
    model = window.model
    return bool(model.opening.is_busy or model.session.is_working or model.course.is_waiting)


def settle(window: Any, passed: Callable[[], object], most_s: float = _WAIT_S) -> None:
    """Until nothing is worked on, or nobody would wait any longer."""
    end = time.monotonic() + most_s
    passed()
    while _is_working(window) and time.monotonic() < end:
        time.sleep(0.004)
        passed()
    passed()


def start_with(path: Path) -> None:
    """A window that finds what was kept; it shows a picture or says why not, and closes."""
    from gemmviz.gui.preferences import InMemoryStore
    from gemmviz.gui.window.main_window import MainWindow

    application()
    raised = raised_so_far()
    made = MainWindow(InMemoryStore({key: _KEPT[number] for key, number in json.loads(path.read_bytes()).items()}))
    made.start()
    made.show()
    end = time.monotonic() + _STARTED_S
    while made.session.shown is None and made.session.error is None and time.monotonic() < end:
        pass_(0.01)
    assert made.session.shown is not None or made.session.error is not None
    made.close()
    made.deleteLater()
    pass_(0.0)
    assert not raised, raised.pop()


def do(window: Any, name: str, facts: list[Any], folder: Path) -> None:
    session = window.session
    match name:
        case "own":
            window.model.opening.open(own_files()[facts[0] % len(own_files())])
        case "changed":
            window.model.opening.open(changed_file(folder, facts[0]))
        case "device":
            window.model.commands.change("device", add_device(facts[0]))
        case "export":
            _look_at_export(window, facts)
        case "lecture":
            _lecture(window.lecture, *facts)
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
            pass_(0.1)
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


def _look_at_export(window: Any, facts: list[int]) -> None:
    """Chooses what the dialog offers, and closes it."""
    from gemmviz.gui.export_dialog import ExportDialog

    dialog = ExportDialog(window.model, window)
    dialog.show()
    for box, number in zip((dialog.what, dialog.kind, dialog.pixels, dialog.theme), facts, strict=True):
        box.setCurrentIndex(number % max(1, box.count()))
        pass_(0.0)
    dialog.first.setValue(facts[0])
    dialog.last.setValue(facts[1])
    dialog.own_size.setText(("1x1", "0x0", "99999x99999", "x", "640x480")[facts[2] % 5])
    pass_(0.0)
    dialog.reject()


def _lecture(lecture: Any, with_notes: bool, *names: str) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    lecture.begin(with_notes)
    pass_(0.02)
    for name in names:
        if lecture.wall is not None:
            QTest.keyClick(lecture.wall, getattr(Qt.Key, name))
            pass_(0.05)
    lecture.end()


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
    from gemmviz.gui.app import Collector, share_heap
    from gemmviz.gui.preferences import InMemoryStore
    from gemmviz.gui.window.main_window import MainWindow

    share_heap()
    made = MainWindow(InMemoryStore(shot=shot_text(default_shot()), tour="seen"))
    Collector(made, made.session.player)
    made.start()
    made.show()
    prepare_files()
    for name in views():  # what is made when it is first looked at
        made.model.commands.show_view(name)
        pass_(0.3)
    return made


@cache
def raised_so_far() -> list[str]:
    """What was raised where Qt calls us, and what Qt warns of: neither has anybody to tell."""
    from PySide6.QtCore import qInstallMessageHandler

    found: list[str] = []

    def note(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        found.append(f"{kind.__name__}: {error}")
        sys.__excepthook__(kind, error, trace)

    def hear(kind: object, context: object, message: str) -> None:
        if not message.startswith(_NOT_OFFSCREEN):
            found.append(f"Qt: {message}")

    sys.excepthook = note
    qInstallMessageHandler(hear)
    return found


def objects(window: Any) -> int:
    from PySide6.QtCore import QEvent, QObject
    from PySide6.QtWidgets import QApplication

    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # which are kept back where no loop of events runs
    return len(window.findChildren(QObject))


def memory_mib() -> int:
    """What this process holds, without what it could give back."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return int(psutil.Process().memory_info().rss) >> 20


def pass_(seconds: float) -> None:
    """Lets the window live."""
    process: Callable[[], None] = application().processEvents
    end = time.monotonic() + seconds
    while True:
        start = time.thread_time()
        process()
        _passes.append(time.thread_time() - start)
        if time.monotonic() >= end:
            return
        time.sleep(0.002)


CAMPAIGNS = {
    "window": Campaign(".actions", window_actions, act, ready=window_made, starts=("ldd",), own_time=True),
    "settings": Campaign(".kept", kept_settings, start_with, own_time=True),
}

"""What one more of each kind of thing costs: one file, found where it lies, and nothing to register."""

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

import gemmviz.cli.commands
import gemmviz.gui.panels
import gemmviz.render.formats
import gemmviz.scenes.views
from gemmviz.analysis.moment import Moment
from gemmviz.cli.main import commands, main
from gemmviz.files import resources
from gemmviz.files.devices import device_names, load_device
from gemmviz.gui.actions import actions
from gemmviz.gui.docks import panels
from gemmviz.gui.main_window import MainWindow
from gemmviz.render.export import formats
from gemmviz.scenes.catalog import views, views_of
from gemmviz.scenes.theme import load_theme, theme_names
from gemmviz.show import metrics
from gemmviz.spec.catalog import kernel_names, load_kernel
from tests.gui.conftest import metrics_of, pictured, text_in

ROOT = Path(__file__).resolve().parent.parent
_CACHES: tuple[Callable[..., Any], ...] = (views, commands, panels, formats, device_names, load_device, theme_names, load_theme)


def forget() -> None:
    for cached in _CACHES:
        cached.cache_clear()  # type: ignore[attr-defined]


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[ModuleType, str, str], None]]:
    """Drops a file into a package."""
    made: list[str] = []

    def drop(package: ModuleType, name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
        made.append(f"{package.__name__}.{name}")
        importlib.invalidate_caches()
        forget()

    yield drop
    monkeypatch.undo()
    forget()
    for name in made:
        sys.modules.pop(name, None)


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of kernels, devices and themes to drop files into."""
    for name in ("kernels", "assets"):
        (tmp_path / name).mkdir()
        for path in (ROOT / name).rglob("*"):
            if path.is_file() and path.suffix in (".cu", ".toml", ".json", ".otf", ".ttf", ".txt"):
                target = tmp_path / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    monkeypatch.setattr(resources, "ROOTS", (tmp_path,))
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


def test_a_view(dropped: Callable[[ModuleType, str, str], None], tmp_path: Path) -> None:
    dropped(
        gemmviz.scenes.views,
        "plain_view",
        "from gemmviz.analysis.moment import Moment\n"
        "from gemmviz.scenes.frame import framed, message\n"
        "from gemmviz.scenes.view import View\n"
        "VIEW = View('Plain', Moment, lambda moment, options: framed([message('plain', options)], moment, options))\n",
    )
    assert list(views_of(Moment))[-1] == "plain"
    assert "Plain" in [action.text for action in actions()]
    assert main(["export", "04_tiled", "--view", "plain", "-o", str(tmp_path / "p.svg")]) == 0
    assert ">plain<" in (tmp_path / "p.svg").read_text(encoding="utf-8")


def test_a_command(dropped: Callable[[ModuleType, str, str], None], capsys: pytest.CaptureFixture[str]) -> None:
    dropped(
        gemmviz.cli.commands,
        "hello",
        "from gemmviz.cli.command import Command, nothing\n"
        "def _run(args):\n    print('hello')\n    return 3\n"
        "COMMAND = Command('say hello', nothing, _run)\n",
    )
    assert main(["hello"]) == 3
    assert capsys.readouterr().out == "hello\n"
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "say hello" in capsys.readouterr().out


def test_an_export_format(dropped: Callable[[ModuleType, str, str], None], tmp_path: Path) -> None:
    dropped(
        gemmviz.render.formats,
        "txt",
        "from gemmviz.render.format import Still\n"
        "FORMAT = Still('Text', lambda scene, path, look: path.write_text(str(scene.width)) and None)\n",
    )
    assert "Text …" in [action.text for action in actions()]
    assert main(["export", "04_tiled", "-o", str(tmp_path / "f.txt")]) == 0
    assert (tmp_path / "f.txt").read_text() == "1600"


def test_a_panel(dropped: Callable[[ModuleType, str, str], None], qtbot: QtBot) -> None:
    dropped(
        gemmviz.gui.panels,
        "notes",
        "from PySide6.QtWidgets import QLabel\n"
        "from gemmviz.gui.panel import Panel\n"
        "PANEL = Panel('Notes', 'right', lambda desk: QLabel('notes'), tour=('Notes', 'What you noted.'))\n",
    )
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    assert not window.docks.all["Notes"].isHidden()
    window.start_tour()
    assert window.tour is not None
    assert len(window.tour.stops) == 6
    assert [action.text() for action in window.menus.opened("View|&Panels").actions()][-1] == "Notes"
    window.close()


def test_a_metric(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    row = metrics.LaunchMetric("Lanes", lambda setup, counts: metrics.Amount(7, "seven"), "How many")
    monkeypatch.setattr(metrics, "LAUNCHES", (*metrics.LAUNCHES, row))
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    pictured(window, qtbot, window.start)
    table, last = metrics_of(window).launch, len(metrics.LAUNCHES) - 1
    qtbot.waitUntil(lambda: text_in(table, last, 1) == "seven", timeout=20_000)
    assert text_in(table, last, 0) == "Lanes"
    window.close()


def test_a_kernel(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = load_kernel("04_tiled").text
    (assets / "kernels" / "42_mine.cu").write_text(text, encoding="utf-8")
    assert kernel_names()[-1] == "42_mine"
    assert main(["counts", "42_mine"]) == 0
    spec = importlib.util.spec_from_file_location("record", ROOT / "packaging" / "record.py")
    assert spec is not None
    assert spec.loader is not None
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)
    setup = record.small_setup(load_kernel("42_mine"))  # what make record takes of it
    assert setup.problem.sizes == {"M": 9, "N": 7, "K": 5}


def test_a_device(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "assets" / "devices" / "h200.toml").read_text(encoding="utf-8")
    (assets / "assets" / "devices" / "mine.toml").write_text(text.replace('"NVIDIA H200"', '"Mine"', 1), encoding="utf-8")
    assert "mine" in device_names()
    assert main(["counts", "04_tiled", "--device", "mine", "-D", "TILE_WIDTH=64"]) == 2
    assert "holds at most 1024" in capsys.readouterr().err


def test_a_theme(assets: Path, tmp_path: Path) -> None:
    text = (ROOT / "assets" / "themes" / "dark.toml").read_text(encoding="utf-8")
    sepia = text.replace('background = "', 'background = "#F4ECD8" # was "', 1)
    (assets / "assets" / "themes" / "sepia.toml").write_text(sepia, encoding="utf-8")
    assert "sepia" in theme_names()
    assert load_theme("sepia").title in [action.text for action in actions()]
    assert main(["export", "04_tiled", "--theme", "sepia", "-o", str(tmp_path / "s.svg")]) == 0
    assert "#F4ECD8" in (tmp_path / "s.svg").read_text(encoding="utf-8")


def test_the_engine_draws_no_qt_in_by_the_way() -> None:
    """What is found in folders is loaded without a window."""
    code = (
        "import sys\n"
        "for name in ('PySide6', 'pyqtgraph', 'cupy'): sys.modules[name] = None\n"
        "from gemmviz.scenes.catalog import views\nfrom gemmviz.render.export import formats\n"
        "from gemmviz.cli.main import commands\nfrom gemmviz.show.session import Session\n"
        "print(len(views()), len(formats()), len(commands()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

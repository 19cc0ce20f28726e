"""Extensions of other installed packages: ``tests/data/lab_package`` is one, others are written here."""

import configparser
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gemmviz.cli.main import main
from gemmviz.gui.window.action import export_actions
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.gui.window.view_actions import other_pictures
from gemmviz.scenes.catalog import views
from tests.test_cost_of_change import forget

Install = Callable[..., None]
ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "tests" / "data" / "lab_package"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Makes packages importable as if they were installed, for a gemmviz that has found none yet."""
    installed = list[Path]()

    def install(*packages: Path) -> None:
        for each in packages:
            monkeypatch.syspath_prepend(each)
        installed.extend(packages)
        forget()

    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path / "home"))
    yield install
    monkeypatch.undo()
    forget()
    for name, module in [*sys.modules.items()]:
        if any(Path(getattr(module, "__file__", None) or "/").is_relative_to(each) for each in installed):
            del sys.modules[name]


def package(folder: Path, name: str, entries: str, code: str) -> Path:
    """A package with one module, as it lies where packages are installed."""
    place = folder / name
    metadata = place / f"{name}-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(entries, encoding="utf-8")
    (place / f"{name}.py").write_text(code, encoding="utf-8")
    return place


def test_the_file_of_entry_points_is_what_the_project_says() -> None:
    project = tomllib.loads((LAB / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    written = configparser.ConfigParser()
    written.read(LAB / "gemmviz_lab-1.0.dist-info" / "entry_points.txt", encoding="utf-8")
    assert {group: dict(written[group]) for group in written.sections()} == project["entry-points"]


def test_a_command(tmp_path: Path) -> None:
    """As it is called, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, LAB)))}
    command = [sys.executable, "-m", "gemmviz", "hello"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "hello from the lab\n", "")


def test_a_view_and_a_format(here: Install, tmp_path: Path) -> None:
    here(LAB)
    assert main(["export", "04_tiled", "--view", "plain", "-o", str(tmp_path / "plain.svg")]) == 0
    assert ">plain<" in (tmp_path / "plain.svg").read_text(encoding="utf-8")
    assert main(["export", "04_tiled", "-o", str(tmp_path / "size.txt")]) == 0
    assert (tmp_path / "size.txt").read_text(encoding="utf-8") == "1600 x 900"


def test_a_subject(here: Install, tmp_path: Path) -> None:
    here(LAB)
    assert main(["export", "04_tiled", "--view", "sizes", "-o", str(tmp_path / "sizes.svg")]) == 0
    assert ">8 x 8 x 8<" in (tmp_path / "sizes.svg").read_text(encoding="utf-8")


def test_a_device(here: Install) -> None:
    here(LAB)
    assert main(["counts", "04_tiled", "--device", "labgpu"]) == 0


def test_a_kind_of_question(here: Install, capsys: pytest.CaptureFixture[str]) -> None:
    here(LAB)
    assert main(["quiz", "04_tiled", "--count", "9"]) == 0
    assert capsys.readouterr().out.count("Which kernel is this?") == 1


def test_a_panel(here: Install, qtbot: QtBot) -> None:
    here(LAB)
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    assert window.docks.widgets["notes"]
    assert "notes of the lab" in [label.text() for label in window.findChildren(QLabel)]
    texts = [action.text for action in (*other_pictures(), *export_actions())]
    assert "Plain" in texts
    assert any("Text" in text for text in texts)
    assert not [text for text in window.banner.texts if "is ignored" in text]
    window.close()


BROKEN = {
    "raising": ("1 / 0\n", "raising.py:1:1: raising of the package raising is ignored: ZeroDivisionError"),
    "torn": ("def (:\n", "torn.py:1:5: torn of the package torn is ignored: SyntaxError"),
    "empty": ("", "empty of the package empty is ignored: AttributeError"),
    "other": ("X = 3\n", "other.py: other of the package other is ignored: TypeError: it must define VIEW = View(...)"),
    "leaving": ("raise SystemExit(3)\n", "leaving of the package leaving is ignored: SystemExit"),
}


def test_broken_ones_are_named_and_left_out(here: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packages = [package(tmp_path, name, f"[gemmviz.views]\n{name} = {name}:X\n", code) for name, (code, _) in BROKEN.items()]
    groups = "".join(
        f"[gemmviz.{kind}]\nbad = nosuch.module:X\n" for kind in ("views", "subjects", "commands", "formats", "devices")
    )
    here(*packages, package(tmp_path, "missing", groups, ""))
    assert main(["kernels"]) == 0
    assert "04_tiled" in capsys.readouterr().out
    assert main(["extensions"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == len(BROKEN) + 5
    for _, words in BROKEN.values():
        assert words in said
    assert said.count("bad of the package missing is ignored: ModuleNotFoundError") == 5


def test_a_name_that_is_taken_is_an_error_that_names_both(
    here: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of gemmviz stays, and of two packages the first by name."""
    view = (
        "from gemmviz.analysis.replay.moment import Moment\nfrom gemmviz.scenes.kit.view import framed, message\n"
        "from gemmviz.scenes.kit.view import View\n"
        "X = View('Mine', Moment, lambda moment, options: framed([message(__name__, options)], moment, options))\n"
    )
    one = package(tmp_path, "one", "[gemmviz.views]\nmine = one:X\n", view)
    two = package(tmp_path, "two", "[gemmviz.views]\nmine = two:X\nstage = two:X\n", view)
    here(two, one)
    assert main(["export", "04_tiled", "--view", "mine", "-o", str(tmp_path / "m.svg")]) == 0
    assert ">one<" in (tmp_path / "m.svg").read_text(encoding="utf-8")
    assert main(["extensions"]) == 1
    said = capsys.readouterr().err
    assert "mine of the package two is ignored: mine of the package one has the same name, 'mine'" in said
    assert "stage of the package two is ignored: stage_view.py has the same name, 'stage'" in said
    assert said.count("\n") == 2


def test_devices_of_one_name_are_an_error_that_names_both(
    here: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "home" / "devices"
    own.mkdir(parents=True)
    text = (ROOT / "assets" / "devices" / "a100.toml").read_text(encoding="utf-8")
    (own / "a100.toml").write_text(text, encoding="utf-8")
    (own / "labgpu.toml").write_text(text, encoding="utf-8")
    here(LAB)
    assert main(["extensions"]) == 1
    said = capsys.readouterr().err
    assert f"{own / 'a100.toml'} is ignored: a device of gemmviz has the same name, 'a100'" in said
    assert f"labgpu.toml of the package gemmviz-lab is ignored: {own / 'labgpu.toml'} has the same name, 'labgpu'" in said


def test_without_such_packages_the_slow_library_is_not_imported(here: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "importlib.metadata", None)
    here()
    assert views()
    here(LAB)  # with one it has to be
    with pytest.raises(ImportError):
        views()["stage"]

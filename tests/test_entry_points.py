"""Extensions of other installed packages: ``tests/data/lab_package`` is one, others are written here."""

import configparser
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "tests" / "data" / "lab_package"


def gemmviz(folder: Path, *words: str, packages: tuple[Path, ...] = (LAB,)) -> subprocess.CompletedProcess[str]:
    return python(folder, "-m", "gemmviz", *words, packages=packages)


def python(folder: Path, *words: str, packages: tuple[Path, ...] = (LAB,)) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(map(str, (ROOT, *packages)))
    environment = {**os.environ, "PYTHONPATH": paths, "QT_QPA_PLATFORM": "offscreen", "GEMMVIZ_HOME": str(folder / "home")}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


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
    done = gemmviz(tmp_path, "hello")
    assert (done.returncode, done.stdout, done.stderr) == (3, "hello from the lab\n", "")


_COMMANDS = {
    "view": ["export", "04_tiled", "--view", "plain", "-o", "plain.svg"],
    "format": ["export", "04_tiled", "-o", "size.txt"],
    "subject": ["export", "04_tiled", "--view", "sizes", "-o", "sizes.svg"],
    "device": ["counts", "04_tiled", "--device", "labgpu"],
    "question": ["quiz", "04_tiled", "--count", "9"],
}
_ALL = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from gemmviz.cli.main import main
found = {}
for name, words in json.loads(sys.argv[1]).items():
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(words)
    found[name] = code, out.getvalue(), err.getvalue()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands wrote, run one after the other where the package is installed."""
    folder = tmp_path_factory.mktemp("lab")
    done = python(folder, "-c", _ALL, json.dumps(_COMMANDS))
    assert done.returncode == 0, done.stderr
    (folder / "said.json").write_text(done.stdout, encoding="utf-8")
    return folder


def said(lab: Path, name: str) -> str:
    """What a command printed; it ended well."""
    code, out, err = json.loads((lab / "said.json").read_text(encoding="utf-8"))[name]
    assert (code, err) == (0, "")
    return str(out)


def test_a_view_and_a_format(lab: Path) -> None:
    said(lab, "view")
    assert ">plain<" in (lab / "plain.svg").read_text(encoding="utf-8")
    said(lab, "format")
    assert (lab / "size.txt").read_text(encoding="utf-8") == "1600 x 900"


def test_a_subject(lab: Path) -> None:
    said(lab, "subject")
    assert ">8 x 8 x 8<" in (lab / "sizes.svg").read_text(encoding="utf-8")


def test_a_device(lab: Path) -> None:
    said(lab, "device")


def test_a_kind_of_question(lab: Path) -> None:
    assert said(lab, "question").count("Which kernel is this?") == 1


def test_a_panel(tmp_path: Path) -> None:
    code = """
from PySide6.QtWidgets import QApplication, QLabel
from gemmviz.gui.window.actions.file_actions import export_actions
from gemmviz.gui.window.actions.view_actions import other_pictures
from gemmviz.gui.window.main_window import MainWindow
app = QApplication([])
window = MainWindow()
window.show()
window.docks.widgets["notes"]
assert "notes of the lab" in [label.text() for label in window.findChildren(QLabel)]
texts = [action.text for action in (*other_pictures(), *export_actions())]
assert "Plain" in texts and any("Text" in text for text in texts)
assert not [text for text in window.banner.texts if "is ignored" in text]
"""
    done = python(tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr


BROKEN = {
    "raising": ("1 / 0\n", "raising.py:1:1: raising of the package raising is ignored: ZeroDivisionError"),
    "torn": ("def (:\n", "torn.py:1:5: torn of the package torn is ignored: SyntaxError"),
    "empty": ("", "empty of the package empty is ignored: AttributeError"),
    "other": ("X = 3\n", "other.py: other of the package other is ignored: TypeError: it must define VIEW = View(...)"),
    "leaving": ("raise SystemExit(3)\n", "leaving of the package leaving is ignored: SystemExit"),
}


def test_broken_ones_are_named_and_left_out(tmp_path: Path) -> None:
    packages = [package(tmp_path, name, f"[gemmviz.views]\n{name} = {name}:X\n", code) for name, (code, _) in BROKEN.items()]
    groups = "".join(
        f"[gemmviz.{kind}]\nbad = nosuch.module:X\n" for kind in ("views", "subjects", "commands", "formats", "devices")
    )
    missing = package(tmp_path, "missing", groups, "")
    packages = [*packages, missing]
    assert "04_tiled" in gemmviz(tmp_path, "kernels", packages=tuple(packages)).stdout
    done = gemmviz(tmp_path, "extensions", packages=tuple(packages))
    assert done.returncode == 1
    assert done.stderr.count("\n") == len(BROKEN) + 5
    for _, words in BROKEN.values():
        assert words in done.stderr
    assert done.stderr.count("bad of the package missing is ignored: ModuleNotFoundError") == 5


def test_a_name_that_is_taken_is_an_error_that_names_both(tmp_path: Path) -> None:
    """One of gemmviz stays, and of two packages the first by name."""
    view = (
        "from gemmviz.analysis.replay.moment import Moment\nfrom gemmviz.scenes.kit.view import framed, message\n"
        "from gemmviz.scenes.kit.view import View\n"
        "X = View('Mine', Moment, lambda moment, options: framed([message(__name__, options)], moment, options))\n"
    )
    one = package(tmp_path, "one", "[gemmviz.views]\nmine = one:X\n", view)
    two = package(tmp_path, "two", "[gemmviz.views]\nmine = two:X\nstage = two:X\n", view)
    assert gemmviz(tmp_path, "export", "04_tiled", "--view", "mine", "-o", "m.svg", packages=(two, one)).returncode == 0
    assert ">one<" in (tmp_path / "m.svg").read_text(encoding="utf-8")
    done = gemmviz(tmp_path, "extensions", packages=(two, one))
    assert done.returncode == 1
    assert "mine of the package two is ignored: mine of the package one has the same name, 'mine'" in done.stderr
    assert "stage of the package two is ignored: stage_view.py has the same name, 'stage'" in done.stderr
    assert done.stderr.count("\n") == 2


def test_devices_of_one_name_are_an_error_that_names_both(tmp_path: Path) -> None:
    own = tmp_path / "home" / "devices"
    own.mkdir(parents=True)
    text = (ROOT / "assets" / "devices" / "a100.toml").read_text(encoding="utf-8")
    (own / "a100.toml").write_text(text, encoding="utf-8")
    (own / "labgpu.toml").write_text(text, encoding="utf-8")
    done = gemmviz(tmp_path, "extensions")
    assert done.returncode == 1
    assert f"{own / 'a100.toml'} is ignored: a device of gemmviz has the same name, 'a100'" in done.stderr
    assert (
        f"labgpu.toml of the package gemmviz-lab is ignored: {own / 'labgpu.toml'} has the same name, 'labgpu'" in done.stderr
    )


def test_without_such_packages_the_slow_library_is_not_imported(tmp_path: Path) -> None:
    code = "import sys; sys.modules['importlib.metadata'] = None\nfrom gemmviz.scenes.catalog import views\nassert views()"
    assert python(tmp_path, "-c", code, packages=()).returncode == 0
    assert python(tmp_path, "-c", code).returncode == 1  # with one it has to be

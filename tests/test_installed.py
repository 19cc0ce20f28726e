"""What `pip install` gives to a person: the wheel, in an environment of its own, far from the checkout."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from gemmviz.cuda.launch.catalog import COURSE, kernel_names, lesson_names, plan_names
from gemmviz.render.export import formats

ROOT = Path(__file__).resolve().parent.parent
FOR_DOCUMENTATION = ("pictures", "gallery")
OPENS_THE_WINDOW = "gemmviz homework.cu"
ON_A_GPU = ("gemmviz bench",)
TASK = """format = "gemmviz task"
version = 1
title = "Homework"
text = "Multiply A by B."
"""


pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist."""
    return _build(ROOT, tmp_path_factory.mktemp("dist"))


def _build(source: Path, target: Path) -> Path:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(target)], cwd=source, check=True, capture_output=True)
    return target


def _wheel(folder: Path) -> Path:
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_kernel_and_asset(built: Path) -> None:
    names = zipfile.ZipFile(_wheel(built)).namelist()
    folders = [ROOT / "kernels", *(each for each in (ROOT / "assets").iterdir() if each.name not in FOR_DOCUMENTATION)]
    expected = {path.relative_to(ROOT).as_posix() for folder in folders for path in folder.rglob("*") if path.is_file()}
    assert {"assets/lessons/plans/course.toml", "assets/lessons/keys/blanks.toml", "assets/fonts/OFL.txt"} <= expected
    assert {name.removeprefix("gemmviz/data/") for name in names if name.startswith("gemmviz/data/")} == expected | {
        "CITATION.cff"
    }
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "gemmviz").rglob("*.py")}
    stubs = {path.relative_to(ROOT).as_posix() for path in (ROOT / "gemmviz/cuda/parser").rglob("*") if path.is_file()}
    assert modules | {each for each in stubs if "__pycache__" not in each} <= set(names)
    assert "gemmviz/cuda/parser/stubs/cuda/barrier" in stubs


def test_the_sdist_holds_all_that_is_named_and_gives_the_same_wheel(built: Path, tmp_path: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    named = set()
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
        named |= {(page.parent / link).resolve().relative_to(ROOT) for link in links if Path(link).suffix}
        names = re.findall(
            r"`((?:assets|kernels|packaging|gemmviz|tests)/[\w./-]+)`(?!:\n)", text
        )  # those before examples are new
        named |= {Path(name) for name in names}
    named = {each for each in named if each.parts[:2] != ("docs", "made")}
    assert len(named) > 40
    assert [str(each) for each in sorted(named) if not (source / each).exists()] == []
    again = _wheel(_build(source, tmp_path / "again"))
    assert zipfile.ZipFile(again).namelist() == zipfile.ZipFile(_wheel(built)).namelist()


def test_an_installed_wheel_does_what_the_readme_says(built: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QT_", "XDG_", "GEMMVIZ"))
    }
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "VIRTUAL_ENV"):
        environment.pop(name, None)
    environment |= {"HOME": str(home), "PATH": f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{environment['PATH']}"}
    _install(str(_wheel(built)), tmp_path)
    installed = _said("python -c 'import gemmviz; print(gemmviz.__file__)'", home, environment)
    assert Path(installed.strip()).is_relative_to(tmp_path / "venv"), installed

    for suffix in ("pptx", "gif"):
        refused = _done(f"gemmviz export 04_tiled -o one.{suffix}", home, environment)
        assert (refused.returncode, "pip install" in refused.stderr) == (1, True), refused.stderr
    _install(f"{_wheel(built)}[film,slides]", tmp_path)
    _read_me(home, environment)
    listed = _said("gemmviz lesson list", home, environment)
    lessons = [name for name in lesson_names() if name not in plan_names()]  # the course has the same steps
    checked = _said(f"gemmviz lesson check {' '.join(lessons)}", home, environment)
    for lesson in (*lessons, COURSE):
        assert re.search(rf"^{lesson} +\S.*: \d+ steps", listed, re.MULTILINE), listed
    for lesson in lessons:
        assert re.search(rf"^{lesson}\.toml: \d+ steps, [1-9]\d* checks passed$", checked, re.MULTILINE), checked
    _said(f"gemmviz export {lessons[-1]} -o lesson.html", home, environment)
    assert (home / "lesson.html").stat().st_size > 10_000
    for suffix in formats():
        _said(f"gemmviz export 04_tiled --steps 1:3 -o one.{suffix}" if suffix not in ("png", "svg") else
              f"gemmviz export 04_tiled -o one.{suffix}", home, environment)  # fmt: skip
        assert (home / f"one.{suffix}").stat().st_size > 1000


def _install(wheel: str, folder: Path) -> None:
    """A fresh environment, or the one of before, with the wheel and all that it asks for, at the versions that are tested here."""
    versions = folder / "versions.txt"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    frozen = subprocess.run([*pip, "freeze", "--exclude-editable"], capture_output=True, text=True, check=True).stdout
    versions.write_text(frozen, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    done = subprocess.run(
        [str(folder / "venv" / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
         "--no-compile", "--constraint", str(versions), wheel], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def _read_me(home: Path, environment: Mapping[str, str]) -> None:
    """Runs each command of the README that begins with gemmviz, and its Python."""
    blocks = re.findall(r"```(\w*)\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    commands = [
        line.partition("  #")[0].strip() for _, block in blocks for line in block.splitlines() if line.startswith("gemmviz ")
    ]
    assert len(commands) >= 10
    _said('python -c \'import gemmviz; gemmviz.save(gemmviz.load("04_tiled"), "my_kernel.cu")\'', home, environment)
    homework = ROOT / "tests" / "data" / "kernels" / "styles" / "homework.cu"
    shutil.copy(homework, home / "homework.cu")
    (home / "hand-ins").mkdir()
    shutil.copy(homework, home / "hand-ins" / "ada.cu")
    (home / "homework.toml").write_text(TASK, encoding="utf-8")
    for command in commands:
        if command == OPENS_THE_WINDOW:
            continue
        if command in ON_A_GPU:
            done = _done(command, home, environment)
            assert done.returncode == 1
            assert done.stderr.startswith("gemmviz: ")
            assert done.stderr.count("\n") == 1, done.stderr
        else:
            _said(command, home, environment)
    for name in re.findall(r"(?:-o|--moodle) (\S+)", " ".join(commands)):
        assert (home / name).stat().st_size > 500, name
    for code in (block for kind, block in blocks if kind == "python"):
        _said(f"python -c {shlex.quote(code)}", home, environment)
    assert set(kernel_names()) <= set(_said("gemmviz kernels", home, environment).split())


def _said(command: str, home: Path, environment: Mapping[str, str]) -> str:
    done = _done(command, home, environment)
    assert done.returncode == 0, f"{command}: {done.stdout[-1000:]}{done.stderr}"
    assert not done.stderr.strip(), f"{command}: {done.stderr}"
    return done.stdout


def _done(command: str, home: Path, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, shell=True, cwd=home, env=environment, capture_output=True, text=True, check=False)

"""Formats whose packages aren't installed: what is said, and that nothing is written. The packages are hidden, not removed."""

import importlib
import os
import runpy
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from gemmviz.files.extras import MODULES, cupy_command, extras_command, missing_extras, missing_packages, pip_command
from gemmviz.render.export import formats
from gemmviz.render.reel import RenderOptions

ROOT = Path(__file__).resolve().parent.parent
NO_SCREEN = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
HIDE = "import sys; sys.modules.update(dict.fromkeys(['av', 'PIL', 'pptx'])); from gemmviz.__main__ import main; "


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The program in a process that finds no extras."""
    environment = {name: value for name, value in os.environ.items() if name not in NO_SCREEN}
    environment |= {"PYTHONPATH": str(ROOT)}
    code = f"{HIDE}sys.argv[1:] = {list(words)!r}; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("f.mp4", "film"),
        pytest.param("f.gif", "film", marks=pytest.mark.nightly),
        pytest.param("f.pptx", "slides", marks=pytest.mark.nightly),
    ],
)
def test_the_command_names_what_to_install_before_anything_runs(name: str, extra: str, tmp_path: Path) -> None:
    done = run(tmp_path, "export", "04_tiled", "--steps", "1:2", "-o", name)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f'pip install "gemmviz[{extra}]"' in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
def test_slides_with_a_film_need_both(tmp_path: Path) -> None:
    done = run(tmp_path, "export", "04_tiled", "--film", "--steps", "1:2", "-o", "f.pptx")
    assert 'pip install "gemmviz[slides,film]"' in done.stderr


@pytest.mark.nightly
def test_without_a_display_pictures_are_rendered_and_the_film_is_left_out(tmp_path: Path) -> None:
    done = run(tmp_path, "04_tiled")
    assert (done.returncode, done.stderr) == (0, "")
    assert 'pip install "gemmviz[film]"' in done.stdout
    assert len(list((tmp_path / "out").rglob("*.png"))) > 10


def test_formats_name_extras_that_there_are() -> None:
    assert {extra for each in formats().values() for extra in each.extras(RenderOptions(has_film=True))} == set(MODULES)
    assert missing_extras(MODULES) == []


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/a/.local/share/uv/tools/gemmviz", 'uv tool install "gemmviz[film]"'),
        ("/home/a/.cache/uv/archive-v0/x1", 'uvx --from "gemmviz[film]" gemmviz'),
        ("/home/a/.local/share/pipx/venvs/gemmviz", 'pipx install --force "gemmviz[film]"'),
        ("/home/a/.local/share/pipx/.cache/1f", 'pipx run --spec "gemmviz[film]" gemmviz'),
        ("/home/a/venv", 'pip install "gemmviz[film]"'),
    ],
)
def test_the_command_is_that_of_the_program_that_installed(monkeypatch: pytest.MonkeyPatch, prefix: str, command: str) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    assert extras_command(["film"]) == command


def test_a_packed_program_installs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert pip_command(["film"]) == []


def test_an_environment_of_the_system_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that says, as PEP 668 has it, that only the system's package manager installs into it."""
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    assert pip_command(["film"])
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    assert pip_command(["film"]) == []


def test_a_packed_program_names_the_folder_that_it_imports_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path))
    assert 'pip install "gemmviz[gpu13]" for drivers from 580 on' in cupy_command()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f'--target "{tmp_path / "packages"}" --python-version {version} ' in cupy_command()


def test_a_packed_program_imports_what_its_folder_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path))
    monkeypatch.setenv("CUDA_PATH", "")  # so that it is as before after the test
    monkeypatch.delenv("CUDA_PATH")
    monkeypatch.setattr(sys, "path", list(sys.path))
    toolkit = tmp_path / "packages" / "nvidia" / "cu13"
    toolkit.mkdir(parents=True)
    (tmp_path / "packages" / "nvidia" / "cusparse").mkdir()  # of CUDA 12, which has a folder for each library
    (tmp_path / "packages" / "only_there.py").write_text("found = 1\n", encoding="utf-8")
    packed = runpy.run_path(str(ROOT / "packaging" / "frozen" / "start.py"))
    packed["find_more_packages"]()
    assert importlib.import_module("only_there").found == 1
    assert os.environ["CUDA_PATH"] == str(toolkit)


def test_only_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.files.extras.packages_of", lambda extras: ["numpy", "not-a-package-1"])
    assert missing_packages(["slides"]) == ["not-a-package-1"]

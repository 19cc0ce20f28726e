"""The package to copy, as its README says: renamed, installed beside gemmviz, and tested by its own tests."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "examples" / "gemmviz-plugin"
PAGE = ROOT / "docs" / "howto" / "package.md"


def renamed_copy(folder: Path) -> Path:
    """A copy of the template under another name, changed by the commands of its README."""
    copy = folder / "my-plugin"
    copytree(TEMPLATE, copy, ignore=ignore_patterns("__pycache__", ".*", "*.egg-info"))
    (copy / "gemmviz_example").rename(copy / "my_plugin")
    for path in [copy / "pyproject.toml", *copy.glob("my_plugin/*.py"), *copy.glob("tests/*.py")]:
        text = path.read_text(encoding="utf-8").replace("gemmviz_example", "my_plugin").replace("gemmviz-example", "my-plugin")
        path.write_text(text, encoding="utf-8")
    return copy


def python(folder: Path, *words: str, packages: tuple[Path, ...]) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(map(str, (*packages, ROOT)))
    environment = {**os.environ, "PYTHONPATH": paths, "QT_QPA_PLATFORM": "offscreen", "GEMMVIZ_HOME": str(folder / "home")}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.nightly
def test_a_copy_of_the_template_passes_its_own_tests(tmp_path: Path) -> None:
    copy, site = renamed_copy(tmp_path), tmp_path / "site"
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    done = python(copy, "-m", "pip", "install", *options, "--target", str(site), ".", packages=())
    assert done.returncode == 0, done.stderr
    (copy / "my_plugin").rename(copy / "not_this_one")  # the installed one is tested
    done = python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", packages=(site,))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b6 passed", done.stdout), done.stdout


@pytest.mark.nightly
def test_a_broken_copy_is_named_and_left_out(tmp_path: Path) -> None:
    copy, site = renamed_copy(tmp_path), tmp_path / "site"
    (copy / "my_plugin" / "activity_view.py").write_text("VIEW = 1 / 0\n", encoding="utf-8")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    assert python(copy, "-m", "pip", "install", *options, "--target", str(site), ".", packages=()).returncode == 0
    done = python(tmp_path, "-m", "gemmviz", "activity", "04_tiled", packages=(site,))
    assert (done.returncode, done.stderr) == (0, "")
    assert "16.0 lanes" in done.stdout
    done = python(tmp_path, "-m", "gemmviz", "extensions", packages=(site,))
    assert done.returncode == 1
    assert "activity_view.py:1:1: activity of the package my-plugin is ignored: ZeroDivisionError" in done.stderr


def test_the_page_names_the_template_and_each_of_its_groups() -> None:
    text, readme = PAGE.read_text(encoding="utf-8"), (TEMPLATE / "README.md").read_text(encoding="utf-8")
    points = tomllib.loads((TEMPLATE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert all(f"`{group}`" in text for group in points)
    assert "examples/gemmviz-plugin" in text
    for name in re.findall(r"^\| `([^`]+)` \|", readme, re.MULTILINE):
        assert (TEMPLATE / "gemmviz_example" / name).is_file()
    commands = text.partition("```\ncp -r")[2].partition("```")[0]
    assert commands == readme.partition("```\ncp -r")[2].partition("```")[0] != ""

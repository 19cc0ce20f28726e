"""The packages that gemmviz asks for are those that it imports: the window's for everybody, others as extras."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from gemmviz.files.extras import MODULES, installed_distributions

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "installing.md"
MOST_MIB = 126.0
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOT_HERE = {  # modules of extras that the tests don't need
    "cupy": {"cupy-cuda12x", "cupy-cuda13x"}, "cupy_backends": {"cupy-cuda12x", "cupy-cuda13x"}, "numba": {"numba"},
}  # fmt: skip
TOOLS = {"nvidia-cuda-nvdisasm"}  # programs that are run
COMES_WITH = {"shiboken6": "pyside6-essentials", "traitlets": "anywidget"}  # packages that come with another one, always


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements: Iterable[str]) -> set[str]:
    return {normal(re.split(r"[^\w.-]", each, maxsplit=1)[0]) for each in requirements}


def extra(*which: str) -> set[str]:
    return {name for each in which for name in names(PROJECT["optional-dependencies"][each])}


@cache
def packages() -> dict[str, set[str]]:
    """The packages that have a module of this name."""
    found = {module: {normal(each) for each in names} for module, names in packages_distributions().items()}
    return {**NOT_HERE, **found}


def imported(path: Path) -> set[str]:
    """The packages that a module imports, one module a line."""
    text = path.read_text(encoding="utf-8")
    found = set(re.findall(r"^ *(?:import (?=[\w.]+(?: as \w+)?(?: *#.*)?$)|from (?=[\w.]+ import ))(\w+)", text, re.MULTILINE))
    found -= {*sys.stdlib_module_names, "gemmviz"}
    assert found <= set(packages()), f"{path}: which package has {found - set(packages())}?"
    return {COMES_WITH.get(name, name) for each in found for name in packages()[each]}


def of_extras(place: str) -> set[str]:
    """The extras that a module of the package is for."""
    where = {"film": r"render/film.py", "slides": r"render/slides.py", "gpu": r"run/cuda/.*", "bench": r"run/worker/tools.py",
             "notebook": r"python/notebook.py"}  # fmt: skip
    return {name for name, pattern in where.items() if re.fullmatch(pattern, place)} | (
        {"gpu13"} if "run/cuda" in place else set()
    )


def test_what_is_imported_is_asked_for_and_nothing_else() -> None:
    core, used = names(PROJECT["dependencies"]), set()
    used_by_extras: dict[str, set[str]] = {}
    for path in sorted((ROOT / "gemmviz").rglob("*.py")):
        extras, found = of_extras(path.relative_to(ROOT / "gemmviz").as_posix()), imported(path)
        assert found <= core | extra(*extras), f"{path} imports {found - core - extra(*extras)}"
        used |= found & core
        for each in extras:
            used_by_extras.setdefault(each, set()).update(found & extra(each))
    assert used == core
    unused = {name: extra(name) - used - TOOLS for name, used in used_by_extras.items()}
    assert unused.pop("slides") == {"pillow"}  # of python-pptx
    assert not any(unused.values()), unused
    assert set(PROJECT["optional-dependencies"]) - set(used_by_extras) == {"dev", "docs"}


def test_the_modules_of_extras_are_those_of_their_packages() -> None:
    for name, needed in MODULES.items():
        assert {package for module in needed for package in packages()[module]} == extra(name)


@pytest.mark.nightly
def test_the_window_loads_every_package_that_is_installed_with_it() -> None:
    """It runs without the packages of extras, and the reader of kernels is a process of the window."""
    absent = {module for needed in MODULES.values() for module in needed}
    loaded = toured(absent) | loaded_by("import gemmviz.cuda.reader_process, gemmviz.cuda.reader, gemmviz.cuda.parser.unit")
    assert not loaded & absent
    found = {COMES_WITH.get(name, name) for module in loaded & set(packages()) for name in packages()[module]}
    assert names(PROJECT["dependencies"]) <= found


def toured(absent: Iterable[str]) -> set[str]:
    """The top-level modules that a tour of the window loads where some are absent."""
    block = f"import runpy, sys; sys.modules.update(dict.fromkeys({sorted(absent)!r})); "
    return loaded_by(block + "runpy.run_module('tests.window_tour', run_name='__main__')", "") - set(absent)


def loaded_by(code: str, report: str = "; import json, sys; print(json.dumps(sorted(sys.modules)))") -> set[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", code + report],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return {module.partition(".")[0] for module in json.loads(done.stdout.splitlines()[-1])}


def test_the_table_of_packages_is_that_of_the_installation() -> None:
    """Names and licences; versions and sizes are those of the day of ``make document WHAT=packages``."""
    extras = [f"{each}; extra == '{extra}'" for extra in MODULES for each in PROJECT["optional-dependencies"][extra]]
    found = installed_distributions([*PROJECT["dependencies"], *extras])
    expected = {normal(each.name): (each.licence, each.extra or "the window") for each in found}
    rows = re.findall(
        r"^\| (\w[\w-]*) \| [\d.]+ \| [\d.]+ \| [\d.]+ \| (.+) \| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    written = {normal(name): (licence, purpose) for name, licence, purpose in rows}
    assert written.pop("gemmviz") == (PROJECT["license"], "the window")
    assert written == expected


def test_the_download_is_within_its_limit() -> None:
    """Qt, libclang and NumPy alone take 113 MiB."""
    found = re.search(r"\*\*pip install gemmviz\*\* \| \| \*\*([\d.]+)\*\*", PAGE.read_text("utf-8"))
    assert found is not None
    assert float(found[1]) <= MOST_MIB

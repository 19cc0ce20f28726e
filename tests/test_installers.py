"""The recipes of installers and of CI: what they leave out isn't loaded, and each step is a command that is there."""

import configparser
import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import installers
import pytest
import release
from documents import tables

from gemmviz import __version__
from gemmviz.files.resources import FILE_KINDS
from gemmviz.render.export import formats
from gemmviz.render.qt.libraries import missing_libraries
from tests.bench.report import show

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="made on Linux")


def script(path: str) -> ModuleType:
    """A file of packaging as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, PACKAGING / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# What is left out

BLOCK = """
import sys
from importlib.util import spec_from_file_location

class StandIns:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return spec_from_file_location(name, {stand_ins}[name]) if name in {stand_ins} else None

sys.modules.update(dict.fromkeys({absent}))
sys.meta_path.insert(0, StandIns)
"""


@linux
@pytest.mark.nightly
def test_what_installers_leave_out_is_not_loaded(tmp_path: Path) -> None:
    """Neither by the window with every view nor by an export of each format, the processes that they start included."""
    unneeded = script("frozen/unneeded.py")
    absent = set(unneeded.MODULES) - set(unneeded.STOOD_IN_FOR)
    stand_ins = dict.fromkeys(unneeded.STOOD_IN_FOR, str(unneeded.STAND_IN))
    block = BLOCK.format(absent=sorted(absent), stand_ins=stand_ins)
    (tmp_path / "sitecustomize.py").write_text(block, encoding="utf-8")  # each Python that is started runs it
    platform = "offscreen" if missing_libraries("xcb") else os.environ.get("QT_QPA_PLATFORM", "offscreen")
    loaded = libraries("import runpy; runpy.run_module('tests.window_tour', run_name='__main__')", tmp_path, platform)
    for suffix in formats():
        words = [
            "gemmviz",
            "export",
            "04_tiled",
            *([] if suffix in ("png", "svg") else ["--steps", "1:2"]),
            "-o",
            f"f.{suffix}",
        ]
        loaded |= libraries(f"import sys; sys.argv = {words!r}; from gemmviz.__main__ import main; sys.exit(main())", tmp_path)
        assert (tmp_path / f"f.{suffix}").stat().st_size > 1000
    assert {"libQt6Gui.so.6", "libclang.so", "libx264"} <= {Path(each).name.partition("-d")[0] for each in loaded}
    assert [each for each in sorted(loaded) if unneeded.is_unneeded(each)] == []


def libraries(code: str, folder: Path, platform: str = "offscreen") -> set[str]:
    """The shared libraries that Python and the processes that it starts load, as the loader reports them."""
    log = folder / "loaded"
    own = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log), "QT_QPA_PLATFORM": platform}
    own["PYTHONPATH"] = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={**os.environ, **own}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    reports = [each.read_text(encoding="utf-8", errors="replace") for each in folder.glob("loaded.*")]
    return {name for report in reports for name in re.findall(r"calling init: (\S+)", report)}


def test_installers_have_qt_s_texts_in_the_languages_of_the_window() -> None:
    unneeded = script("frozen/unneeded.py")
    languages = json.loads((ROOT / "assets" / "translations" / "languages.json").read_text(encoding="utf-8"))
    for language in languages:
        assert not unneeded.is_unneeded(f"_internal/PySide6/Qt/translations/qtbase_{language}.qm")
    assert unneeded.is_unneeded("_internal/PySide6/Qt/translations/qtbase_de.qm") == ("de" not in languages)


def test_the_recipes_of_a_system_can_be_read_on_the_others() -> None:
    code = "import os; del os.uname, os.confstr; import installers"  # Windows has neither
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": f"{PACKAGING}{os.pathsep}{ROOT}"})


# The desktop


def test_the_desktop_opens_the_types_that_are_declared() -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment, method-assign]
    entry.read(PACKAGING / "linux" / "gemmviz.desktop", encoding="utf-8")
    opened = set(entry["Desktop Entry"]["MimeType"].strip(";").split(";"))
    tree = ElementTree.parse(PACKAGING / "linux" / "gemmviz.xml")
    space = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
    assert opened == {each.attrib["type"] for each in tree.iterfind("m:mime-type", space)}
    patterns = {each.attrib["pattern"] for each in tree.iterfind(".//m:glob", space)}
    assert {"*.gvt", "*.cu", "*.cuh"} <= patterns
    known = {f"*{suffix}" for kind in FILE_KINDS for suffix in kind.suffixes}
    assert {pattern for pattern in patterns if not pattern.endswith(".toml")} <= known


def test_saved_views_and_lessons_begin_as_their_types_say() -> None:
    text = (PACKAGING / "linux" / "gemmviz.xml").read_text(encoding="utf-8")
    begins = re.findall(r"value='([^']+)'", text)
    lesson = (ROOT / "assets" / "lessons" / "slides.toml").read_text(encoding="utf-8")
    assert [each for each in begins if lesson.startswith(each)] == ['format = "gemmviz lesson"']
    assert 'format = "gemmviz view"' in begins


@linux
def test_the_files_of_the_desktop_are_valid(tmp_path: Path) -> None:
    pytest.importorskip("PySide6")
    code = f"from pathlib import Path; from installers import add_desktop_files; add_desktop_files(Path({str(tmp_path)!r}))"
    paths = os.pathsep.join([str(PACKAGING), str(ROOT)])
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths}, check=True)
    for size in (16, 48, 256):
        icon = (tmp_path / "icons" / "hicolor" / f"{size}x{size}" / "apps" / "gemmviz.png").read_bytes()
        assert int.from_bytes(icon[16:20], "big") == size
    for tool, file in (
        ("desktop-file-validate", "applications/gemmviz.desktop"),
        ("appstreamcli", "metainfo/io.github.gemmviz.metainfo.xml"),
    ):
        if shutil.which(tool):
            words = [tool, *(["validate", "--no-net"] if tool == "appstreamcli" else []), str(tmp_path / file)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout
    assert __version__ in (tmp_path / "metainfo" / "io.github.gemmviz.metainfo.xml").read_text(encoding="utf-8")


# CI


def steps(workflow: Path) -> list[str]:
    yaml: Any = pytest.importorskip("yaml")
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [line for job in jobs for step in job["steps"] for line in step.get("run", "").splitlines() if line.strip()]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_each_step_is_a_command_of_the_repository(workflow: Path) -> None:
    targets = set(re.findall(r"^([\w-]+(?: [\w-]+)*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    known = {name for line in targets for name in line.split()}
    assert steps(workflow)
    for line in steps(workflow):
        tool, target, *_ = line.split()
        assert (tool == "make" and target in known) or (tool == "python" and (ROOT / target).is_file()), line


def test_the_tests_run_on_three_systems_and_all_versions() -> None:
    yaml: Any = pytest.importorskip("yaml")
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    matrix = yaml.safe_load(text)["jobs"]["fast"]["strategy"]["matrix"]
    assert [each.partition("-")[0] for each in matrix["os"]] == ["ubuntu", "windows", "macos"]
    named = re.findall(r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert matrix["python"] == named


def test_each_installer_has_its_maker() -> None:
    assert {*release.SYSTEMS} == {*installers.MAKERS}
    words = set(re.findall(r"kind: (\w+)", (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")))
    assert words <= {*installers.MAKERS}


# Releases


def test_notes_are_the_section_of_the_version() -> None:
    changelog = "# Changelog\n\n## 2.0.0 (2030-01-01)\n\n### Added\n\n- b\n\n## 1.0.0 (2029-01-01)\n\n- a\n"
    assert release.section(changelog, "2.0.0") == "### Added\n\n- b\n"
    assert release.section(changelog, "1.0.0") == "- a\n"
    with pytest.raises(SystemExit, match=r"no section 3\.0\.0"):
        release.section(changelog, "3.0.0")
    assert release.section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), __version__)
    with pytest.raises(SystemExit, match="the tag v0 is not"):
        release.tag("v0")


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="reads the sums")
def test_checksums_are_read_by_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"a")
    (tmp_path / "notes.md").write_text("n", encoding="utf-8")
    (tmp_path / "SHA256SUMS").write_text(release.sums_of(tmp_path), encoding="utf-8")
    done = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "a.whl: OK\n"


def test_a_site_lists_its_versions_newest_first(tmp_path: Path) -> None:
    for name in ("0.9.0", "0.10.0", "_static"):
        (tmp_path / name).mkdir()
    release.write_lists(tmp_path)
    page = (tmp_path / "versions.html").read_text(encoding="utf-8")
    assert re.findall(r"gemmviz ([\d.]+)", page) == ["0.10.0", "0.9.0"]
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_figures_are_what_the_benchmark_prints_and_are_drawn() -> None:
    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        show("first picture, from the start of the program", 884.0, "ms", 1000)
        show("gemmviz counts 04_tiled at 4096³", 3.5, "s", 2)
    expected = {"first picture, from the start of the program, ms": 884.0, "gemmviz counts 04_tiled at 4096³, s": 3.5}
    assert tables.printed_figures(report.getvalue()) == expected
    svg = tables.chart_svg([{"version": "1.0", "figures": {"a<b, ms": 2.0}}, {"version": "1.1", "figures": {"a<b, ms": 1.0}}])
    widths = [float(each.attrib["width"]) for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("rect")]
    assert widths[0] == 2 * widths[1]
    assert __version__ in [row["version"] for row in tables.releases()]

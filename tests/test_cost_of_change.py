"""What one more of each kind of thing costs: one file, found where it lies, and nothing to register."""

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
from pytestqt.qtbot import QtBot
from recording.launches import small_setup

import gemmviz
import gemmviz.cli.commands
import gemmviz.gui.panels
import gemmviz.render.formats
import gemmviz.scenes.views
import gemmviz.shots.kinds
from gemmviz.analysis.counts import Counts, count_steps
from gemmviz.analysis.launch_hazards import LaunchHazards
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cli.main import commands, main
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.files import extensions, resources
from gemmviz.files.devices import device_names, devices
from gemmviz.files.trace_file import read_trace, write_trace
from gemmviz.gui.window.action import export_actions
from gemmviz.gui.window.docks import panels
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.gui.window.menus import actions
from gemmviz.gui.window.view_actions import other_pictures
from gemmviz.model import outline, sites
from gemmviz.model.arrays import vector
from gemmviz.model.element_types import ELEMENT_TYPES, ElementType
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Filling
from gemmviz.model.sites import Kind, Operand
from gemmviz.render import svg
from gemmviz.render.export import formats
from gemmviz.run.data import Contents, check_result, matrices
from gemmviz.scenes.catalog import view_named, views, views_of
from gemmviz.scenes.kit import primitives, sentence
from gemmviz.scenes.kit.primitives import Cells, Hit, bundled_font
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots import metrics
from gemmviz.shots.shot import save_view
from gemmviz.shots.subject import subjects
from gemmviz.teaching.quiz import quiz_kinds
from tests.app_model import TestModel
from tests.conftest import moment_of
from tests.gui.conftest import metrics_of, pictured, text_in
from tests.hand_made import LANES, TILE, HandMade

ROOT = Path(__file__).resolve().parent.parent
_CACHES: tuple[Callable[..., Any], ...] = (
    views, subjects, commands, panels, formats, devices, quiz_kinds, theme_names, load_theme,
    extensions.entry_points, extensions._are_there_any,
)  # fmt: skip


def forget() -> None:
    """What gemmviz has found in folders and in installed packages is looked for again."""
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
            if path.is_file() and path.suffix in (".cu", ".toml", ".json", ".otf", ".ttf", ".txt", ".bin"):
                target = tmp_path / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    monkeypatch.setattr(resources, "ROOT", tmp_path)
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


def test_a_view(dropped: Callable[[ModuleType, str, str], None], tmp_path: Path) -> None:
    dropped(
        gemmviz.scenes.views,
        "plain_view",
        "from gemmviz.analysis.replay.moment import Moment\n"
        "from gemmviz.scenes.kit.view import framed, message\n"
        "from gemmviz.scenes.kit.view import View\n"
        "VIEW = View('Plain', Moment, lambda moment, options: framed([message('plain', options)], moment, options))\n",
    )
    assert "plain" in views_of(Moment)
    assert "Plain" in [action.text for action in other_pictures()]
    assert main(["export", "04_tiled", "--view", "plain", "-o", str(tmp_path / "p.svg")]) == 0
    assert ">plain<" in (tmp_path / "p.svg").read_text(encoding="utf-8")


_TRIES_VIEW = """
from dataclasses import dataclass
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.kit.primitives import Labels, Scene, points
from gemmviz.scenes.kit.view import View

@dataclass(frozen=True)
class Tries:
    count: int

def tries_scene(tries: Tries, options: ViewOptions) -> Scene:
    words = Labels("tries", points((80, 80)), (f"{tries.count} tries",), 24, options.theme.text, "start", "regular")
    return Scene(options.width, options.height, options.theme.background, (words,))

VIEW = View("Tries", Tries, tries_scene)
"""
_TRIES = """
from msgspec import structs
from gemmviz.scenes.views.tries_view import Tries
from gemmviz.shots.subject import Subject

def click(tries, shot, hit):
    return structs.replace(shot, view="stage")

SUBJECT = Subject(Tries, lambda shot, context: Tries(shot.setup.problem.M), click=click)
"""


def test_a_view_of_a_new_subject(dropped: Callable[[ModuleType, str, str], None], model: TestModel, tmp_path: Path) -> None:
    """Two files, the view and its subject: window, command and library have it."""
    dropped(gemmviz.scenes.views, "tries_view", _TRIES_VIEW)
    dropped(gemmviz.shots.kinds, "tries", _TRIES)
    session = model.session
    assert "Tries" in [action.text for action in other_pictures()]
    model.commands.show_view("tries")
    assert session.display.subject.count == session.shot.setup.problem.M
    assert session.display.pending == ""
    assert not session.display.has_time
    view = tmp_path / "view.toml"
    save_view(session.shot, view)
    words = f"{session.shot.setup.problem.M} tries"
    assert words in gemmviz.scene(view).svg
    assert main(["export", str(view), "-o", str(tmp_path / "t.svg")]) == 0
    assert words in (tmp_path / "t.svg").read_text(encoding="utf-8")
    cells = Cells("any", 0, 0, 1, np.zeros((1, 1), np.int8), ("#000000",), ("#000000",))
    model.commands.click(Hit(cells, 0, 0))
    assert session.shot.view == "stage"


def test_a_command(dropped: Callable[[ModuleType, str, str], None], capsys: pytest.CaptureFixture[str]) -> None:
    dropped(
        gemmviz.cli.commands,
        "hello",
        "from gemmviz.cli.command import Command, no_arguments\n"
        "def _run(args):\n    print('hello')\n    return 3\n"
        "COMMAND = Command('say hello', no_arguments, _run)\n",
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
        "from gemmviz.render.reel import Still\n"
        "FORMAT = Still('Text', lambda scene, path, look: path.write_text(str(scene.width)) and None)\n",
    )
    assert "export-txt" in [action.id for action in export_actions()]
    assert main(["export", "04_tiled", "-o", str(tmp_path / "f.txt")]) == 0
    assert (tmp_path / "f.txt").read_text() == "1600"


def test_a_panel(dropped: Callable[[ModuleType, str, str], None], qtbot: QtBot) -> None:
    dropped(
        gemmviz.gui.panels,
        "notes",
        "from PySide6.QtWidgets import QLabel\n"
        "from gemmviz.gui.panel import Panel\n"
        "PANEL = Panel('Notes', lambda model: QLabel('notes'))\n",
    )
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    assert window.docks.all["notes"].isHidden()
    window.docks.favour("notes")
    assert [action.text() for action in window.menus.opened("view.window.panels").actions()][-1] == "Notes"
    window.close()


def test_a_metric(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    row = metrics.LaunchMetric("Lanes", lambda setup, counts: metrics.Amount(7, "seven"), "How many")
    monkeypatch.setattr(metrics, "LAUNCHES", (*metrics.LAUNCHES, row))
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    pictured(window, qtbot, window.start)
    window.docks.all["metrics"].show()
    table, last = metrics_of(window).launch, len(metrics.LAUNCHES) - 1
    qtbot.waitUntil(lambda: text_in(table, last, 1) == "seven", timeout=20_000)
    assert text_in(table, last, 0) == "Lanes"
    window.close()


def test_a_kernel(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = load_kernel("04_tiled").text
    (assets / "kernels" / "42_mine.cu").write_text(text, encoding="utf-8")
    assert kernel_names()[-1] == "42_mine"
    assert main(["counts", "42_mine"]) == 0
    setup = small_setup(load_kernel("42_mine"))  # what make record WHAT=traces takes of it
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


def test_a_level_of_memory(assets: Path, tmp_path: Path) -> None:
    """A few lines in the file of a device: every picture of levels has one more."""
    text = (ROOT / "assets" / "devices" / "h200.toml").read_text(encoding="utf-8").replace('"NVIDIA H200"', '"Mine"', 1)
    cache = '[[caches]]\nname = "L1.5 cache"\nsize_bytes = 1048576\nshared_by = "SM"\n'
    (assets / "assets" / "devices" / "mine.toml").write_text(text.replace("[memory]", f"{cache}[memory]"), encoding="utf-8")
    for view in ("hierarchy", "device"):
        path = tmp_path / f"{view}.svg"
        assert main(["export", "04_tiled", "--device", "mine", "--view", view, "-o", str(path)]) == 0
        assert "L1.5 cache" in path.read_text(encoding="utf-8")


def _fp8_numbers(stored: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Eighths, for a test: what FP8 is doesn't matter here."""
    return stored.astype(np.int8) / 8.0


def _fp8_stored(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.round(np.asarray(numbers) * 8).astype(np.int8).view(np.uint8)


def test_an_element_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One row of the table: counted, drawn, saved, read, filled and checked."""
    fp8 = ElementType("fp8", "f", "uint8", 4, 2, (), _fp8_numbers, _fp8_stored)
    monkeypatch.setitem(ELEMENT_TYPES, "fp8", fp8)  # type: ignore[arg-type]
    run = HandMade("fp8")
    run.step("load", (Operand(TILE - 3, "read"), LANES))
    trace = run.trace()
    assert sum(count_steps(trace, [0]).accesses.values(), Counts()).bytes_asked == 32
    write_trace(trace, tmp_path / "t.gvt")
    assert read_trace(tmp_path / "t.gvt").arrays == trace.arrays
    moment = moment_of(trace)
    for view in views_of(Moment).values():
        assert view.scene(moment, ViewOptions()).primitives
    assert "0.5" in str(view_named("warp").scene(moment, ViewOptions()).find("lane-touches"))
    problem, types = Problem(4, 4, 4), dict.fromkeys("ABC", fp8)
    data = matrices(problem, problem.shapes, types, Filling("ones"))
    assert data["A"].tolist() == [8] * 16
    data["C"] = fp8.elements(np.full(16, 4.0))
    contents = Contents(problem, problem.shapes, types, data)
    facts: Any = ({"C": np.arange(16)}, True)
    assert check_result(contents, *facts).passed
    data["C"] = fp8.elements(np.full(16, 9.0))
    assert check_result(contents, *facts).wrong == 16


def test_an_instruction(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One row of the table of kinds: counted, drawn, saved, searched for hazards; its words in a second file."""
    monkeypatch.setitem(sites.SITE_KINDS, "prefetch", Kind(frozenset({"read"})))  # type: ignore[arg-type]
    monkeypatch.setitem(sites.SITE_KINDS, "flush", Kind())  # type: ignore[arg-type]
    monkeypatch.setitem(sentence._SYNCHRONISES, "flush", ("flushes the caches", "flush the caches"))
    run = HandMade("float32")
    run.step("prefetch", (Operand(0, "read", vector(2)), 2 * LANES))  # type: ignore[arg-type]
    run.step("flush")  # type: ignore[arg-type]
    run.step("barrier")
    trace, stream = run.trace(), LaunchHazards()
    run.play(stream.sink(run.space, run.arrays, -1))
    assert not stream.hazards
    assert [counts.sectors for counts in count_steps(trace, range(3)).accesses.values()] == [8]
    write_trace(trace, tmp_path / "t.gvt")
    reader = Reader(Replay.of(trace))
    for view in views_of(Moment).values():
        for step in range(3):
            assert view.scene(reader.at(step), ViewOptions(moment=0.3)).primitives
    assert sentence.beat(reader.at(0)).text == "32 threads each fetch 2 elements of A"
    assert sentence.beat(reader.at(1)).text == "32 threads flush the caches"


@cache
def sources() -> dict[Path, str]:
    """The text of each module."""
    package = ROOT / "gemmviz"
    return {path.relative_to(package): path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}


@cache
def literals(path: Path) -> set[str]:
    """All texts in a module."""
    nodes = ast.walk(ast.parse(sources()[path]))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def naming(*names: str) -> list[Path]:
    """The modules that have one of these names as a literal."""
    quoted = re.compile(rf"[\"']({'|'.join(map(re.escape, names))})[\"']")
    return [path for path, text in sources().items() if quoted.search(text) and literals(path) & {*names}]


def test_the_table_alone_names_element_types() -> None:
    found = {path.as_posix() for path in naming(*{*ELEMENT_TYPES} - {"bool"})}  # which C has too
    of_the_gpu = {"cuda/types.py", "run/cuda/workload.py", "model/timing.py"}  # instructions and cuBLAS, of some types alone
    assert found == {"model/element_types.py", *of_the_gpu}


@pytest.mark.parametrize("kind", ["copy", "atomic", "fence", "warp barrier"])
def test_few_files_name_a_kind_of_instruction(kind: str) -> None:
    """Of those that know traces; the reader of sources and the table's own names apart."""
    apart = {"outline.py"}
    layers = {"model", "files", "analysis", "scenes"}
    found = [path for path in naming(kind) if path.parts[0] in layers and path.name not in apart]
    assert 1 <= len(found) <= 5, found


def test_nothing_tells_kinds_by_the_number_of_operands() -> None:
    """Operands of sites, not those of a PTX instruction."""
    pattern = re.compile(
        r"(?:\bnot |\bbool\(|\blen\(|\bif |\band |\bor )[\w.]*\.operands\b(?!\[|\()|\(\w+,\) ?= ?[\w.]*\.operands"
    )
    found = [
        f"gemmviz/{path.as_posix()}: {line.strip()}"
        for path, text in sources().items()
        for line in text.splitlines()
        if pattern.search(line) and "instruction.operands" not in line and "max(1, len(self.operands))" not in line
    ]
    assert found == [
        "gemmviz/files/trace_file.py: and len(site.operands) <= BOUNDS.operands",
        "gemmviz/model/sites.py: return self.operands[place] if place < len(self.operands) else None",
    ]
    assert get_args(outline.SiteKind) == tuple(sites.SITE_KINDS)


BROKEN = {
    "syntax": ("def broken(:\n", ":1:12: ", "SyntaxError"),
    "import": ("\nimport a_library_that_is_not_here\n", ":2:1: ", "a_library_that_is_not_here"),
    "raises": ("\n\n1 / 0\n", ":3:1: ", "ZeroDivisionError"),
    "exits": ("raise SystemExit(7)\n", ":1:1: ", "SystemExit: 7"),
    "empty": ("", ": ", "it must define "),
    "type": ("VIEW = COMMAND = FORMAT = PANEL = SUBJECT = 3\n", ": ", "it must define "),
}


@pytest.mark.parametrize("package", [gemmviz.scenes.views, gemmviz.cli.commands, gemmviz.render.formats, gemmviz.shots.kinds])
def test_broken_files_are_named_and_left_out(
    dropped: Callable[[ModuleType, str, str], None], capsys: pytest.CaptureFixture[str], package: ModuleType
) -> None:
    for name, (code, _, _) in BROKEN.items():
        dropped(package, f"broken_{name}_view", code)
    assert main(["kernels"]) == 0
    assert "04_tiled" in (said := capsys.readouterr()).out
    assert not said.err  # nothing is loaded that a command doesn't need
    assert main(["extensions"]) == 1
    out, err = capsys.readouterr()
    assert "stage" in out
    assert err.count("\n") == err.count("gemmviz: ") == len(BROKEN)
    for name, (_, place, reason) in BROKEN.items():
        file = f"broken_{name}_view.py"
        (line,) = (each for each in err.splitlines() if f"{file}{place}{file} is ignored: " in each)
        assert line.startswith("gemmviz: ")
        assert reason in line


def test_a_field_of_the_wrong_type_leaves_a_view_out(
    dropped: Callable[[ModuleType, str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    dropped(
        gemmviz.scenes.views,
        "odd_view",
        "from gemmviz.scenes.kit.view import View\nVIEW = View('Odd', int, print, order='1')\n",
    )
    assert main(["extensions"]) == 1
    assert "VIEW.order must be of type int, not str" in capsys.readouterr().err


def test_a_command_whose_arguments_fail_costs_no_other(
    dropped: Callable[[ModuleType, str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    dropped(
        gemmviz.cli.commands,
        "odd",
        "from gemmviz.cli.command import Command\nCOMMAND = Command('odd', lambda parser: parser.nothing(), lambda args: 0)\n",
    )
    assert main(["kernels"]) == 0
    assert main(["odd"]) == 1
    assert "the command 'odd' can't be used: AttributeError" in capsys.readouterr().err


def test_broken_panels_are_named_in_the_window(dropped: Callable[[ModuleType, str, str], None], qtbot: QtBot) -> None:
    dropped(gemmviz.gui.panels, "broken", "import nothing_of_the_kind\n")
    dropped(
        gemmviz.gui.panels,
        "failing",
        "from gemmviz.gui.panel import Panel\nPANEL = Panel('P', lambda model: 1 / 0)\n",
    )
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    window.warming.start()
    qtbot.waitUntil(
        lambda: any("broken.py is ignored" in (said := text) and "1 other file" in said for text in window.banner.texts)
    )
    assert "the panel 'failing' is ignored: ZeroDivisionError" in window.docks.broken[-1].message
    assert "settings" in window.docks.all
    assert not {"broken", "failing"} & {*window.docks.all}
    window.close()


def test_a_broken_device_of_ones_own_is_named_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path))
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "mine.toml").write_text("name = 3\n", encoding="utf-8")
    (tmp_path / "devices" / "torn.toml").write_bytes(b"\xff\xfe[[[")
    (tmp_path / "devices" / "folder.toml").mkdir()
    forget()
    try:
        assert main(["extensions"]) == 1
        err = capsys.readouterr().err
    finally:
        monkeypatch.undo()
        forget()
    assert err.count("gemmviz: ") == 3
    for name in ("mine", "torn", "folder"):
        assert f"{name}.toml: " in err


@pytest.mark.parametrize(
    "name", ["assets/lessons", "assets/fonts/Inter-Regular.otf", "assets/devices", "assets/themes", "kernels"]
)
def test_what_an_installation_lacks_is_named(
    assets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = assets / name
    path.rename(tmp_path / "elsewhere")
    bundled_font.cache_clear()
    svg._subset.cache_clear()
    primitives._advances.cache_clear()
    primitives.text_width.cache_clear()
    assert (
        main(
            ["lesson", "check", "slides"] if name == "assets/lessons" else ["export", "04_tiled", "-o", str(tmp_path / "x.svg")]
        )
        == 1
    )
    (tmp_path / "elsewhere").rename(path)
    err = capsys.readouterr().err
    assert name.removesuffix("/devices").removesuffix("/themes") in err
    assert err.endswith("(install gemmviz again)\n")


def test_a_damaged_font_is_named(assets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (assets / "assets" / "fonts" / "Inter-Regular.otf").write_bytes(b"torn")
    bundled_font.cache_clear()
    svg._subset.cache_clear()
    primitives._advances.cache_clear()
    primitives.text_width.cache_clear()
    assert main(["export", "04_tiled", "-o", str(tmp_path / "x.svg")]) == 1
    assert "Inter-Regular.otf: this font can't be read" in capsys.readouterr().err
    bundled_font.cache_clear()

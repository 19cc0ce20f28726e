"""What one more field costs: a drawing option two files, a setting of a run one; and the examples of the pages on how to add
something. Each is added to a copy of the package.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import sampled

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    {*(ROOT / "docs" / "howto").glob("*.md")} - {ROOT / "docs" / "howto" / name for name in ("index.md", "package.md")}
)
Edit = Callable[[str, str, str], None]
_SHELL = 'set -euo pipefail\npython() { "$PYTHON" "$@"; }\ngemmviz() { "$PYTHON" -m gemmviz "$@"; }\n'


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with what is compiled, of which the tests have copies whose files are links."""
    return Path(shutil.copytree(ROOT / "gemmviz", tmp_path_factory.mktemp("copied") / "gemmviz"))


@pytest.fixture
def edit(copied: Path, tmp_path: Path) -> Edit:
    """Replaces a line in a copy of the package, which stands beside what it needs of a checkout."""
    shutil.copytree(copied, tmp_path / "gemmviz", copy_function=os.link)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name in ("kernels", "assets"):
        (tmp_path / name).symlink_to(ROOT / name)

    def replaced(name: str, old: str, new: str) -> None:
        path = tmp_path / "gemmviz" / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, path
        written(path, text.replace(old, new))

    return replaced


def written(path: Path, text: str) -> None:
    """Write a file of a copy; the file that it was a link to stays."""
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")


def run(folder: Path, code: str, *shell: str) -> None:
    """Run Python code, or that of the shell, in the folder of the copy."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHON": sys.executable,
        "QT_QPA_PLATFORM": "offscreen",
        "GEMMVIZ_HOME": str(folder / "home"),
    }
    words = shell or (sys.executable, "-c")
    done = subprocess.run([*words, code], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def parts(page: Path) -> Iterator[tuple[str, str]]:
    """The examples of a page, each with the file above it; "" for commands."""
    file = ""
    for name, language, text in re.findall(
        r"^`([\w./-]+)`:$|^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        is_command = not language and re.match(r"gemmviz |mkdir ", text) is not None
        file = name or ("" if is_command else file)
        if text:
            yield file, text


def own_folder(path: Path) -> None:
    """Make a folder that is a link one with links to what is in it."""
    if path.is_symlink():
        there = path.resolve()
        path.unlink()
        path.mkdir()
        for each in there.iterdir():
            (path / each.name).symlink_to(each)


@pytest.mark.parametrize("page", sampled(PAGES, 20), ids=lambda page: page.stem)
def test_the_example_of_a_page_passes(page: Path, tmp_path: Path, edit: Edit) -> None:
    examples = list(parts(page))
    for file, text in examples:
        path = tmp_path / file
        if file.startswith("gemmviz/") and path.is_file():
            first, _, _ = text.partition("\n")
            edit(file.removeprefix("gemmviz/"), f"{first}\n", text)
        elif file:
            for parent in [*reversed(path.relative_to(tmp_path).parents)][1:]:
                own_folder(tmp_path / parent)
            written(path, text)
    commands = "".join(text for file, text in examples if not file)
    assert commands
    run(tmp_path, _SHELL + commands.replace("~/.config/gemmviz", "$GEMMVIZ_HOME"), "bash", "-c")


_WINDOW = """
from msgspec import structs
from pathlib import Path
from PySide6.QtWidgets import QApplication, QDoubleSpinBox
from gemmviz.cli.main import main
from gemmviz.gui.setup_form import SetupForm
from gemmviz.gui.window.action import MENUS
from gemmviz.gui.window.menus import actions
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model.messages import GemmvizError
from gemmviz.shots.arguments import command_words
from gemmviz.shots.shot import parse_shot, shot_text
app = QApplication([])
window = MainWindow()
session = window.session

def refused(act):
    try:
        act()
    except GemmvizError as error:
        return str(error)
    raise AssertionError("nothing was raised")
"""


_OPTION = """
# A flag, and the picture
assert main(["export", "04_tiled", "-o", "plain.svg"]) == main(["export", "04_tiled", "--marks", "dots", "-o", "dots.svg"]) == 0
assert Path("plain.svg").read_text() != Path("dots.svg").read_text()
assert main(["export", "04_tiled", "--rule", "9", "-o", "no.svg"]) == 2
# A menu, undo and its name
action = next(each for each in actions() if each.id == "option-marks-dots")
assert MENUS[action.menu] == "Mar&ks" and action.menu.startswith("view.") and action.text == "dots"
action.run(window.menus.context)
assert session.shot.marks == "dots" and action.is_on(window.menus.context)
assert session.state.history.undo_name == "marks dots", session.state.history.undo_name
session.undo()
assert session.shot.marks == "none"
# A saved view, and the command line
shot = structs.replace(session.shot, marks="dots", rule=1.25)
assert 'marks = "dots"' in shot_text(shot) and "rule = 1.25" in shot_text(shot)
assert parse_shot(shot_text(shot)) == shot
assert command_words(shot)[-4:] == ["--marks", "dots", "--rule", "1.25"]
# Bounds and choices
assert "Marks can't be 'stars' (choose none, dots)" in refused(lambda: structs.replace(shot, marks="stars"))
assert "Rule can't be 5 (choose 0 to 4)" in refused(lambda: parse_shot(shot_text(shot).replace("rule = 1.25", "rule = 5.0")))
"""
_SETTINGS = """
# The form: a spin box with decimals, within bounds
form = window.docks.widgets["settings"].findChild(SetupForm)
box = form.controls["alpha"]
assert isinstance(box, QDoubleSpinBox)
assert (box.minimum(), box.maximum(), box.value(), box.text()) == (-8, 8, 1.0, "1")
box.setValue(1.5)
assert repr(session.shot.setup.alpha) == "1.5" and box.text() == "1.5"
box.setValue(99)
assert session.shot.setup.alpha == 8.0
# Undo
box.setValue(2.25)
assert session.state.history.undo_name == "alpha 2.25", session.state.history.undo_name
session.undo()
assert session.shot.setup.alpha == box.value() == 8.0
# A check box
check = form.controls["fast"]
check.setChecked(True)
assert session.shot.setup.fast is True and session.state.history.undo_name == "fast on"
session.undo()
assert session.shot.setup.fast is check.isChecked() is False
assert command_words(structs.replace(session.shot, setup=structs.replace(session.shot.setup, fast=True))).count("--fast") == 1
# A saved view
shot = structs.replace(session.shot, setup=structs.replace(session.shot.setup, alpha=1.5))
assert "alpha = 1.5\\n" in shot_text(shot)
assert repr(parse_shot(shot_text(shot)).setup.alpha) == "1.5"
assert parse_shot(shot_text(shot).replace("alpha = 1.5", "alpha = 2")).setup.alpha == 2.0
assert "Alpha can't be 9 (choose -8 to 8)" in refused(lambda: parse_shot(shot_text(shot).replace("alpha = 1.5", "alpha = 9")))
refused(lambda: parse_shot(shot_text(shot).replace("alpha = 1.5", 'alpha = "1.5"')))
# The flag
assert ["--alpha", "1.5"] == command_words(shot)[command_words(shot).index("--alpha"):][:2]
Path("view.toml").write_text(shot_text(shot))
assert main(["export", "view.toml", "--alpha", "2.5", "-o", "a.svg"]) == main(["counts", "04_tiled", "--alpha", "-0.5"]) == 0
small = command_words(structs.replace(shot, setup=structs.replace(shot.setup, alpha=-1e-7)))
assert main(["export", *small[1:], "-o", "b.svg"]) == 0 and "-0.0000001" in small
assert main(["counts", "04_tiled", "--alpha", "nan"]) == 2
"""


def test_an_option_is_a_field_and_the_view_that_draws_it_and_a_setting_one_field(tmp_path: Path, edit: Edit) -> None:
    """A choice and a number of a view; a number with decimals and a switch of a run."""
    code = "    code: Annotated[bool, Control("
    marks = (
        '    marks: Annotated[Literal["none", "dots"], Control("Marks", "What to mark", "--marks", menu="Mar&ks")] = "none"\n'
    )
    width = '    rule: Annotated[float, Control("Rule", "How thick", "--rule", most=4)] = 0.5\n'
    edit("scenes/kit/view.py", code, marks + width + code)
    drawn = (
        "def _with_marks(moment: Moment, options: ViewOptions) -> Scene:\n"
        "    scene = stage_scene(moment, options)\n"
        "    mark = Rects('mark', np.array([[0.0, 0.0, options.rule, 1.0]]), 'white')\n"
        "    return scene if options.marks == 'none' else scene.__class__(\n"
        "        scene.width, scene.height, scene.background, (*scene.primitives, mark))\n\n\n"
    )
    view = 'VIEW = View(marked("Stage"), Moment, stage_scene,'
    edit("scenes/views/stage_view.py", view, drawn + view.replace("stage_scene,", "_with_marks,"))
    device = "    device: Annotated[str, Control("
    alpha = '    alpha: Annotated[float, Control("Alpha", "A factor of the result", "--alpha", least=-8, most=8)] = 1.0\n'
    fast = '    fast: Annotated[bool, Control("Fast", "Whether it hurries", "--fast")] = False\n'
    edit("model/setup.py", device, alpha + fast + device)
    run(tmp_path, _WINDOW + _OPTION + _SETTINGS)

"""README and docs: tables are those of the data, pictures and links lead somewhere, figures are the recorded ones."""

import ast
import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from documents import tables, with_part

from gemmviz.cuda.launch.catalog import COURSE, all_kernel_names, lesson_names
from gemmviz.files.recordings import recorded_schedules, recordings
from gemmviz.model.records import fields
from gemmviz.model.timing import RecordedCounters
from gemmviz.teaching.lesson import Choice, Exercise, ExerciseSize, Guide, LessonStep, Question, Solution
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.conftest import DATA

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOOLS = ("record", "document", "release", "environment")
MADE = {ROOT / "docs" / "made" / name for name in ("layers.svg", "releases.svg")}


@pytest.mark.parametrize("name", TOOLS)
def test_every_command_is_a_function_and_is_listed(name: str) -> None:
    """Modules that need a GPU are read, not imported."""
    tool = import_module(name)
    for module, commands in tool.COMMANDS.items():
        tree = ast.parse((ROOT / "packaging" / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
        functions = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
        assert {each.replace("-", "_") for each in commands} <= functions
        assert [each for each in commands if not re.search(rf"\b{each}\b", tool.__doc__ or "")] == []


def test_every_command_that_is_named_exists() -> None:
    known = {name: {each for commands in import_module(name).COMMANDS.values() for each in commands} for name in TOOLS}
    for path in (*PAGES, *(ROOT / "gemmviz").rglob("*.py"), *(ROOT / "tests").rglob("*.py")):
        for tool, what in re.findall(r"make (\w+) WHAT=([\w-]+)", path.read_text(encoding="utf-8")):
            assert what in known[tool], f"{path}: make {tool} WHAT={what}"


def test_the_table_of_speeds_is_that_of_the_data() -> None:
    text = (ROOT / "docs" / "speeds.md").read_text(encoding="utf-8")
    assert with_part(text, "speeds", tables.speed_tables()) == text, "make document WHAT=speeds"
    assert "| 04_tiled | " in text


def test_every_item_of_the_documents_has_steps_that_exist() -> None:
    items = tomllib.loads((ROOT / "docs" / "items.toml").read_text(encoding="utf-8"))["item"]
    steps = {f"{name}/{step.id}" for name in lesson_names() for step in shipped_lesson(name).steps}
    assert all({*item} == {"document", "content", "steps"} for item in items)
    assert {step for item in items for step in item["steps"]} <= steps
    assert len({(item["document"], item["content"]) for item in items}) == len(items) == 114
    assert [item for item in items if not item["steps"]] == []


def test_the_number_of_steps_is_that_of_the_course() -> None:
    text = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
    assert f"lessons with {len(shipped_lesson(COURSE).steps)} steps" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / link).resolve() for link in links if "://" not in link]
    targets = [target if target.suffix else target.with_suffix(".md") for target in targets]
    assert [str(target) for target in targets if not target.exists() and target not in MADE] == []


def test_the_lists_of_kernels_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| (`[^|]+) \|", (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed = re.findall(r"`(\w+)`", " ".join(rows).replace("`piece_1` … ", "".join(f"`piece_{each}` " for each in range(1, 7))))
    assert sorted(listed) == sorted(all_kernel_names())


def test_the_fields_of_lessons_are_those_of_the_program() -> None:
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = text.partition("## `.toml`: a lesson")[2].partition("\n## ")[0]
    records = (LessonStep, Question, Choice, Exercise, ExerciseSize, Solution, Guide)
    named = {field.encode_name for record in records for field in fields(record) if field.encode_name}
    assert named - set(re.findall(r"`(\w+)`", section)) == set()


def test_figures_of_what_was_measured_are_those_of_the_data() -> None:
    counters = recordings("counters", RecordedCounters)[0].rows
    accesses = json.loads((DATA / "h200-shared-wavefronts.json").read_text())["accesses"]
    others = json.loads((DATA / "h200-counters.json").read_text())["launches"]
    text = (ROOT / "docs" / "numbers.md").read_text(encoding="utf-8")
    differ = sum(each["wavefronts"] != each["profiled"] for each in accesses)
    levels = next(each for each in recordings("levels", RecordedCounters) if each.gpu.name == "NVIDIA H200")
    schedules = {each.gpu.name: each for each in recorded_schedules()}
    assert f"{len(levels.rows)} launches of the included kernels" in text
    on_h100 = len(schedules["NVIDIA H100 80GB HBM3"].rows)
    assert f"{sum(len(each.rows) for each in schedules.values())} launches, each" in text
    assert f"{on_h100} of them on an H100" in text
    for said in ("more than 300 launches on", f"{len(others)} launches", f"{len(accesses):,} accesses", f"in {differ} of the"):
        assert said in text, said
    assert len(counters) > 300
    assert len(accesses) > 900  # as the README says
    assert all(launch.as_compiled for launch in counters)

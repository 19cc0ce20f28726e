"""README and docs: tables are those of the data, pictures and links lead somewhere, figures are the recorded ones."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from gemmviz.files.benchmark_file import recorded_benchmarks
from gemmviz.files.levels_file import recorded_levels
from gemmviz.files.schedule_file import recorded_schedules
from gemmviz.launch.catalog import kernel_names
from tests.conftest import DATA

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MADE = {ROOT / "docs" / "made" / "layers.svg"}


def test_the_table_of_speeds_is_that_of_the_data() -> None:
    spec = importlib.util.spec_from_file_location("table", ROOT / "packaging" / "table.py")
    assert spec is not None
    assert spec.loader is not None
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    text = (ROOT / "docs" / "speeds.md").read_text(encoding="utf-8")
    made = table.with_tables(text, "\n".join(table.table(benchmark) for benchmark in recorded_benchmarks()))
    assert made == text, "make table"
    assert "| 04_tiled | " in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / link).resolve() for link in links if "://" not in link]
    targets = [target if target.suffix else target.with_suffix(".md") for target in targets]
    assert [str(target) for target in targets if not target.exists() and target not in MADE] == []


def test_kernels_in_the_list_are_there() -> None:
    listed = re.findall(r"^\| `(\d\w+)` \|", (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed
    assert set(listed) <= set(kernel_names())


def test_figures_of_what_was_measured_are_those_of_the_data() -> None:
    counters = json.loads((ROOT / "assets" / "measurements" / "counters-nvidia-h200.json").read_text())["launches"]
    accesses = json.loads((DATA / "h200-shared-wavefronts.json").read_text())["accesses"]
    others = json.loads((DATA / "h200-counters.json").read_text())["launches"]
    text = (ROOT / "docs" / "numbers.md").read_text(encoding="utf-8")
    differ = sum(each["wavefronts"] != each["profiled"] for each in accesses)
    levels, schedules = recorded_levels()[0], recorded_schedules()[0]
    assert f"{len(levels.launches)} launches of the included kernels" in text
    assert f"{len(schedules.launches)} launches, each" in text
    for said in ("more than 300 launches on", f"{len(others)} launches", f"{len(accesses):,} accesses", f"in {differ} of the"):
        assert said in text, said
    assert len(counters) > 300
    assert len(accesses) > 900  # as the README says
    assert all(launch["as_compiled"] for launch in counters)

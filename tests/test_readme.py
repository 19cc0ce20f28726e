import importlib.util
from pathlib import Path

from gemmviz.files.benchmark_file import recorded_benchmarks

ROOT = Path(__file__).resolve().parent.parent


def test_the_table_of_speeds_is_that_of_the_data() -> None:
    spec = importlib.util.spec_from_file_location("table", ROOT / "packaging" / "table.py")
    assert spec is not None
    assert spec.loader is not None
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    made = table.with_tables(text, "\n".join(table.table(benchmark) for benchmark in recorded_benchmarks()))
    assert made == text, "make table"
    assert "| 04_tiled | " in text


def test_every_picture_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = [part.split(")")[0] for part in text.split("](assets/")[1:]]
    assert pictures
    assert all((ROOT / "assets" / picture).is_file() for picture in pictures)

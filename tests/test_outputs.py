"""What is written never costs what was read: suffixes, inputs, links, lessons, views and devices."""

import argparse
import os
from pathlib import Path

import pytest

import gemmviz
from gemmviz.cli.main import commands, main, parser
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.files.resources import resource
from gemmviz.shots.shot import default_shot, save_view
from gemmviz.teaching.lesson_file import read_lesson, shipped_lesson

WRITERS = {
    "trace": ["trace", "KERNEL", "-o"],
    "quiz": ["quiz", "KERNEL", "-o"],
    "quiz for Moodle": ["quiz", "KERNEL", "--moodle"],
    "export": ["export", "KERNEL", "-o"],
    "compare": ["compare", "02_naive", "KERNEL", "-o"],
    "bench": ["bench", "KERNEL", "--recorded", "-o"],
    "verify": ["verify", "KERNEL", "-o"],
}


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "my.cu"
    path.write_text(load_kernel("04_tiled").text, encoding="utf-8")
    return path


def refused(words: list[str], kernel: Path, target: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a command that must refuse to write; all files stay as they are."""
    before = {path: path.read_bytes() for path in kernel.parent.iterdir() if path.is_file()}
    assert main([str(kernel) if word == "KERNEL" else word for word in words] + [str(target)]) == 2
    assert {path: path.read_bytes() for path in kernel.parent.iterdir() if path.is_file()} == before
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(target) in error
    return error


@pytest.mark.parametrize("writer", WRITERS)
def test_no_command_writes_over_what_it_reads(writer: str, kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(WRITERS[writer], kernel, kernel, capsys)
    link = kernel.with_name("link.cu")
    link.symlink_to(kernel)
    refused(WRITERS[writer], kernel, link, capsys)


@pytest.mark.parametrize("make", [os.link, lambda source, target: os.symlink(source, target)])
@pytest.mark.parametrize(("writer", "suffix"), [("trace", ".gvt"), ("quiz", ".toml"), ("export", ".svg"), ("bench", ".json")])
def test_no_link_leads_to_what_is_read(
    writer: str, suffix: str, make: object, kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = kernel.with_name(f"link{suffix}")
    make(kernel, link)  # type: ignore[operator]
    error = refused(WRITERS[writer], kernel, link, capsys)
    assert "is an input" in error or "is a link to" in error


@pytest.mark.parametrize("writer", WRITERS)
def test_every_command_checks_the_suffix(writer: str, kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    view = kernel.with_name("view.toml")
    save_view(default_shot(), view)
    error = refused(WRITERS[writer], kernel, view, capsys)
    assert "not as .toml" in error or "save as .toml" in error or "is not a quiz" in error
    refused(WRITERS[writer], kernel, kernel.with_name("without"), capsys)


def test_every_option_that_names_a_file_to_write_is_known() -> None:
    """A new command can't forget it."""
    (subparsers,) = (each for each in parser()._actions if isinstance(each, argparse._SubParsersAction))
    for name in commands():
        made = subparsers.choices[name]
        written = {each.dest for each in made._actions if each.option_strings and "FILE" in str(each.metavar)}
        assert written == set(made.get_default("outputs") or {}), name
        assert not [each for each in made._actions if "-o" in each.option_strings and each.dest != "output"]


@pytest.mark.parametrize("name", ["assets/lessons/slides.toml", "kernels/04_tiled.cu", "assets/devices/h200.toml"])
def test_what_ships_is_not_written(name: str, tmp_path: Path, kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = resource(name).read_bytes()
    assert main(["quiz", str(kernel), "-o", str(resource(name))]) == 2
    (tmp_path / "link").symlink_to(resource(name).parent)
    assert main(["export", "02_naive", "-o", str(tmp_path / "link" / "new.svg")]) == 2
    assert "are not overwritten" in capsys.readouterr().err
    with pytest.raises(gemmviz.GemmvizError, match="are not overwritten"):
        gemmviz.save(gemmviz.load("slides"), resource("assets/lessons") / "mine.toml")  # type: ignore[arg-type]
    assert resource(name).read_bytes() == before


def test_a_device_of_ones_own_is_not_written(
    tmp_path: Path, kernel: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "devices").mkdir(parents=True)
    assert main(["quiz", str(kernel), "-o", str(tmp_path / "home" / "devices" / "mine.toml")]) == 2
    assert "are not overwritten" in capsys.readouterr().err


def test_a_quiz_is_written_over_a_quiz_alone(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = kernel.with_name("quiz.toml")
    for _ in range(2):
        assert main(["quiz", str(kernel), "--count", "2", "-o", str(target)]) == 0
    assert len(read_lesson(target).steps) == 2
    gemmviz.save(shipped_lesson("slides"), target)
    capsys.readouterr()
    assert "this file is not a quiz" in refused(["quiz", "KERNEL", "-o"], kernel, target, capsys)

"""The package in use: installed beside gemmviz, and found by its entry points."""

from pathlib import Path

import numpy as np
import pytest
from gemmviz_example.activity import active_lanes

import gemmviz
from gemmviz.cli.main import main
from gemmviz.files.devices import device_names
from gemmviz.scenes.catalog import views
from gemmviz.teaching.quiz import quiz_kinds


def test_everything_is_found_and_nothing_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extensions"]) == 0
    assert capsys.readouterr().err == ""
    assert "activity" in views()
    assert "example_gpu" in device_names()
    assert "active_lanes" in quiz_kinds()


def test_lanes_are_counted() -> None:
    """Blocks of 4 x 4 threads are half a warp; of C with 5 x 5 elements, the last block has one."""
    trace = gemmviz.trace("02_naive", M=5, N=5, K=5, BLOCK=4).trace
    load = next(step for step in range(trace.steps) if trace.site_of(step).kind == "load")
    assert active_lanes(trace, load, slice(0, 16)).tolist() == [16]
    assert active_lanes(trace, load, slice(48, 64)).tolist() == [1]
    assert active_lanes(trace, load, slice(0, 64)).dtype == np.int64


def test_the_view_is_drawn(tmp_path: Path) -> None:
    assert main(["export", "04_tiled", "--view", "activity", "-o", str(tmp_path / "view.svg")]) == 0
    text = (tmp_path / "view.svg").read_text(encoding="utf-8")
    assert "warp 0" in text
    assert "16 of 32" in text


def test_the_command_prints_each_access(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["activity", "04_tiled"]) == 0
    assert "16.0 lanes" in capsys.readouterr().out


def test_the_device_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["occupancy", "04_tiled", "--device", "example_gpu"]) == 0
    assert "Example GPU" in capsys.readouterr().out


def test_the_question_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quiz", "04_tiled", "--count", "12"]) == 0
    assert "take part in the access" in capsys.readouterr().out

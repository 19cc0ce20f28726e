"""The window as a screen reader on Linux meets it: on a real bus of its own, with a real X server."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemmviz.render.qt.libraries import missing_libraries

_LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")
_LONG_S = 180


def _missing() -> str:
    """Return what the test lacks here; "" if it can run."""
    if not sys.platform.startswith("linux"):
        return "AT-SPI is of Linux"
    for program in ("Xvfb", "dbus-run-session"):
        if shutil.which(program) is None:
            return f"{program} isn't installed"
    if not any(map(os.path.exists, _LAUNCHERS)):
        return "at-spi2-core isn't installed"
    if importlib.util.find_spec("jeepney") is None:
        return "jeepney isn't installed"
    return ", ".join(missing_libraries("xcb"))


@pytest.fixture
def display(tmp_path: Path) -> Iterator[str]:
    read, write = os.pipe()
    with (tmp_path / "xvfb").open("w") as log:
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1000x24"], pass_fds=(write,), stderr=log
        )  # fmt: skip
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    yield f":{number}"
    server.terminate()
    server.wait(10)


@pytest.mark.nightly
@pytest.mark.skipif(bool(_missing()), reason=_missing() or "can run")
def test_a_screen_reader_reads_the_stage_and_hears_the_steps(display: str, tmp_path: Path) -> None:
    own = {name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "GEMMVIZ_HOME", "XDG_DATA_HOME")}
    told = subprocess.run(
        ["dbus-run-session", "--", sys.executable, "-m", "tests.gui.at_spi_client"],
        env={**os.environ, **own, "DISPLAY": display}, cwd=Path(__file__).parents[2],
        capture_output=True, text=True, timeout=_LONG_S, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr[-2000:]
    report = json.loads(told.stdout.splitlines()[-1])
    assert report["elements"] > 1000
    assert not report["nameless"], report["nameless"]
    table, cell = report["table"], report["cell"]
    assert (table["name"], table["rows"], table["columns"]) == ("A, global memory, 8 by 8", 8, 8)
    assert "Table" in table["interfaces"]
    assert "TableCell" in cell["interfaces"]
    assert cell["name"].startswith("A, row 1, column 2: value ")
    assert "element 10, byte 40: sector 1, line 0" in cell["name"]
    assert report["announced"].startswith("Step ")
    assert "line " in report["announced"]

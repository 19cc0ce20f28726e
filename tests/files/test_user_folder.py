"""The folder of a user's own files."""

import sys
from pathlib import Path

import pytest

from gemmviz.files.resources import user_folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GEMMVIZ_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    return tmp_path


def test_the_environment_names_the_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(home / "mine"))
    assert user_folder("devices") == home / "mine" / "devices"


@pytest.mark.skipif(sys.platform != "linux", reason="the folder of Linux")
def test_on_linux_it_is_the_one_of_xdg(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert user_folder("devices") == home / "settings" / "gemmviz" / "devices"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert user_folder("devices") == home / ".config" / "gemmviz" / "devices"

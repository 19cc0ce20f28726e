"""What Qt needs of the system is named before Qt would end the program."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gemmviz.render.qt.libraries import (
    debian_packages,
    family_here,
    family_of,
    install_command,
    missing_in,
    missing_libraries,
    require_qt,
)

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone leaves Qt's libraries to the system")
PRINTED = """
\tlinux-vdso.so.1 (0x00007ffd7b7f2000)
\tlibQt6XcbQpa.so.6 => /site/PySide6/Qt/plugins/platforms/../../lib/libQt6XcbQpa.so.6 (0x00007f2d0c000000)
\tlibxcb-icccm.so.4 => not found
\tlibxcb-keysyms.so.1 => not found
\tlibxcb-icccm.so.4 => not found
"""


def test_what_the_loader_misses_and_the_packages_that_hold_it() -> None:
    missing = missing_in(PRINTED)
    assert missing == ["libxcb-icccm.so.4", "libxcb-keysyms.so.1"]
    assert debian_packages(missing) == ["libxcb-icccm4", "libxcb-keysyms1"]
    named = {
        "libGL.so.1": "libgl1", "libEGL.so.1": "libegl1", "libdbus-1.so.3": "libdbus-1-3", "libX11-xcb.so.1": "libx11-xcb1",
        "libX11.so.6": "libx11-6", "libxkbcommon-x11.so.0": "libxkbcommon-x11-0", "libglib-2.0.so.0": "libglib2.0-0",
        "libxcb-render-util.so.0": "libxcb-render-util0", "libfontconfig.so.1": "libfontconfig1",
    }  # fmt: skip
    assert {library: debian_packages([library])[0] for library in named} == named


@linux
@pytest.mark.parametrize("platform", [pytest.param("offscreen", marks=pytest.mark.nightly), "xcb"])
def test_exactly_what_can_not_be_loaded_is_named(platform: str) -> None:
    missing = missing_libraries(platform)
    for library in missing:
        with pytest.raises(OSError, match="cannot open shared object"):
            ctypes.CDLL(library)
    command = [sys.executable, "-c", f"from gemmviz.render.qt.libraries import require_qt; require_qt({platform!r})"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not missing)
    assert all(library in done.stderr for library in missing)


@linux
def test_a_window_that_can_not_open_says_so_in_one_line(tmp_path: Path) -> None:
    missing = missing_libraries("xcb")
    if not missing:
        pytest.skip("all libraries are here")
    here = {name: value for name, value in os.environ.items() if name not in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-m", "gemmviz"],
        env={**here, "DISPLAY": ":0"},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("gemmviz: Qt can't start because")
    assert install_command(missing, family_here()) in done.stderr


def test_here_qt_can_paint() -> None:
    require_qt()


@pytest.mark.parametrize(
    ("release", "family"),
    [
        ({"ID": "debian"}, "debian"),
        ({"ID": "zorin", "ID_LIKE": "ubuntu debian"}, "debian"),
        ({"ID": "nobara", "ID_LIKE": "fedora"}, "fedora"),
        ({"ID": "opensuse-leap", "ID_LIKE": "suse opensuse"}, "suse"),
        ({"ID": "garuda", "ID_LIKE": "arch"}, "arch"),
        ({"ID": "alpine"}, "alpine"),
        ({"ID": "void"}, ""),
        ({}, ""),
    ],
)
def test_the_family_of_a_distribution(release: dict[str, str], family: str) -> None:
    assert family_of(release) == family


def test_each_family_has_its_command() -> None:
    libraries = ["libEGL.so.1", "libxcb-icccm.so.4", "libxcb-shape.so.0"]
    assert install_command(libraries, "debian") == "sudo apt-get install libegl1 libxcb-icccm4 libxcb-shape0"
    by_library = "'libEGL.so.1()(64bit)' 'libxcb-icccm.so.4()(64bit)' 'libxcb-shape.so.0()(64bit)'"
    assert install_command(libraries, "fedora") == f"sudo dnf install {by_library}"
    assert install_command(libraries, "suse") == f"sudo zypper install {by_library}"
    assert install_command(libraries, "arch") == "sudo pacman -S libglvnd libxcb xcb-util-wm"
    assert "glibc" in install_command(libraries, "alpine")
    assert "libegl1 libxcb-icccm4" in install_command(libraries, "")

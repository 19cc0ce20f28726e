"""The system libraries that Qt needs on Linux, and which of them are missing.

Without this check, Qt would abort the program or name the wrong library. Only the files of PySide6 are used.
"""

import ctypes
import importlib.util
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from gemmviz.model.errors import GemmvizError
from gemmviz.render.qt.system_packages import NO_GLIBC, family_here, install_command

_MODULES = ("QtCore.abi3.so", "QtGui.abi3.so", "QtWidgets.abi3.so", "QtSvg.abi3.so")
_NOT_FOUND = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
_INSTALL = "pip install PySide6-Essentials"


def platform_here() -> str:
    """Return the plugin that Qt would open a window with: "xcb" on X11, "" if it is not known."""
    chosen = os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0]
    return chosen or ("xcb" if os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY") else "")


@cache
def require_qt(platform: str = "offscreen") -> None:
    """Check that Qt can start on this platform. Raises GemmvizError with the missing libraries."""
    if importlib.util.find_spec("PySide6") is None:
        raise GemmvizError("Qt is not installed", remedy=NO_GLIBC if family_here() == "alpine" else _INSTALL)
    why_not = _why_not_loaded(platform) if sys.platform.startswith("linux") else ""
    if why_not:
        missing = missing_libraries(platform)
        if not missing:
            raise GemmvizError(f"Qt can't start: {why_not}")
        remedy = install_command(missing, family_here())
        several = "these system libraries are" if len(missing) > 1 else "a system library is"
        raise GemmvizError(f"Qt can't start because {several} missing: {', '.join(missing)}", remedy=remedy)


def missing_libraries(platform: str) -> list[str]:
    """Return the shared libraries that the loader doesn't find for Qt on this platform ("offscreen", "xcb", …)."""
    missing: dict[str, None] = {}
    for file in [*(_folder() / name for name in _MODULES), _plugin(platform)]:
        if file.is_file():
            try:
                listing = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=False)
            except OSError:  # this system has no ldd
                break
            missing |= dict.fromkeys(missing_in(listing.stdout))
    return sorted(missing)


def missing_in(printed: str) -> list[str]:
    """Return the missing libraries in the output of ``ldd``."""
    return list(dict.fromkeys(_NOT_FOUND.findall(printed)))


def _folder() -> Path:
    spec = importlib.util.find_spec("PySide6")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _plugin(platform: str) -> Path:
    return _folder() / "Qt" / "plugins" / "platforms" / f"libq{platform}.so"


def _why_not_loaded(platform: str) -> str:
    """Return the error of the loader, "" without one. This is quick, and the libraries are needed anyway."""
    try:
        for file in (_folder() / "QtWidgets.abi3.so", _plugin(platform)):
            if file.is_file():
                ctypes.CDLL(str(file))
    except OSError as error:
        return str(error)
    return ""

"""The system libraries that Qt needs on Linux, and which of them are missing.

Without this check, Qt would abort the program or name the wrong library. Only the files of PySide6 are used.
"""

import ctypes
import importlib.util
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from gemmviz.model.messages import GemmvizError

# System libraries to the command that installs them on this distribution of Linux.

_SONAME = re.compile(r"(lib.+)\.so\.(\d+)")
_DEBIAN = {  # those that don't follow the rule
    "libz.so.1": "zlib1g", "libglib-2.0.so.0": "libglib2.0-0", "libgthread-2.0.so.0": "libglib2.0-0",
    "libbrotlidec.so.1": "libbrotli1",
}  # fmt: skip
_ARCH = {
    "libEGL": "libglvnd", "libGL": "libglvnd", "libGLX": "libglvnd", "libOpenGL": "libglvnd", "libX11": "libx11",
    "libX11-xcb": "libx11", "libdbus-1": "dbus", "libfontconfig": "fontconfig", "libfreetype": "freetype2",
    "libglib-2.0": "glib2", "libgthread-2.0": "glib2", "libxcb-cursor": "xcb-util-cursor", "libxcb-icccm": "xcb-util-wm",
    "libxcb-image": "xcb-util-image", "libxcb-keysyms": "xcb-util-keysyms", "libxcb-render-util": "xcb-util-renderutil",
    "libxcb-util": "xcb-util", "libxkbcommon": "libxkbcommon", "libxkbcommon-x11": "libxkbcommon-x11",
    "libwayland-client": "wayland", "libwayland-cursor": "wayland", "libz": "zlib", "libzstd": "zstd",
}  # fmt: skip
_DISTRIBUTIONS = {
    "debian": ("debian", "ubuntu", "linuxmint", "pop", "raspbian"),
    "fedora": ("fedora", "rhel", "centos", "rocky", "almalinux", "ol"),
    "arch": ("arch", "manjaro", "endeavouros"),
    "suse": ("suse", "opensuse", "opensuse-leap", "opensuse-tumbleweed", "sles"),
    "alpine": ("alpine",),
}
NO_GLIBC = "Qt's packages for Python need glibc, which this system doesn't have: use a container of Debian or Fedora"


def family_here() -> str:
    """Return the family of this distribution: "debian", "fedora", "arch", "suse", "alpine", or "" if it is another one."""
    try:
        return family_of(platform.freedesktop_os_release())
    except OSError:  # this system has no such file
        return ""


def family_of(release: Mapping[str, str]) -> str:
    """Return the family of a distribution by the fields ID and ID_LIKE of its file os-release."""
    named = [release.get("ID", ""), *release.get("ID_LIKE", "").split()]
    return next((family for name in named for family, members in _DISTRIBUTIONS.items() if name in members), "")


def install_command(libraries: Sequence[str], family: str) -> str:
    """Return the command that installs libraries, such as "libEGL.so.1", or what else helps."""
    match family:
        case "debian":
            return f"sudo apt-get install {' '.join(debian_packages(libraries))}"
        case "fedora":
            return f"sudo dnf install {_by_library(libraries)}"
        case "suse":
            return f"sudo zypper install {_by_library(libraries)}"
        case "arch":
            return f"sudo pacman -S {' '.join(sorted({_arch_package(each) for each in libraries}))}"
        case "alpine":
            return NO_GLIBC
        case _:
            return (
                f"install the packages with these files; on Debian and Ubuntu they are {' '.join(debian_packages(libraries))}"
            )


def debian_packages(libraries: Sequence[str]) -> list[str]:
    """Return the Debian packages of libraries, by the naming rule of Debian Policy, section 8.1."""
    return sorted({_DEBIAN.get(name) or _debian_package(name) for name in libraries})


def _debian_package(library: str) -> str:
    match = _SONAME.match(library)
    if match is None:
        return library
    name, version = match[1].lower(), match[2]
    return f"{name}{'-' if name[-1].isdigit() else ''}{version}"


def _arch_package(library: str) -> str:
    name = library.partition(".so")[0]
    return _ARCH.get(name) or ("libxcb" if name.startswith("libxcb") else name)


def _by_library(libraries: Sequence[str]) -> str:
    """Return libraries as rpm's names of what 64-bit packages provide, quoted for the shell."""
    return " ".join(f"'{each}()(64bit)'" for each in libraries)


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

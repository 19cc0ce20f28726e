"""The environment of Python and of the system that gemmviz needs: python packaging/environment.py WHAT, Windows included.

    check                                the fast tests, in .venv; ``make check`` runs lint and type checks, too
    libraries [window|tests|nightly]     checks for Qt's system libraries, with a Python that has gemmviz

``libraries`` installs missing ones on Debian and Ubuntu as root, or with sudo if CI is set; elsewhere it prints their names and
exits with 1. With ``tests``, it also installs programs that read exported files and a font with Chinese characters, and with
``nightly`` a browser, an office, a display and the bus of screen readers, too, where possible; tests that need a missing one
are skipped.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from commands import run

COMMANDS = {"environment": ("check", "libraries")}
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
FAST = ("-m", "pytest", "--quiet", "--numprocesses=auto", "--dist=worksteal", "-m", "not slow and not nightly and not gpu")
_SCREEN = "xcb"
_READERS = {
    "ffprobe": "ffmpeg",
    "pdftoppm": "poppler-utils",
    "rsvg-convert": "librsvg2-bin",
    "fc-match": "fontconfig",
}
_NIGHTLY = {
    "soffice": "libreoffice-impress",
    "chromedriver": "chromium-driver",
    "Xvfb": "xvfb",
    "dbus-run-session": "dbus",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
}


def installed(folder: Path, *packages: str) -> Path:
    """The Python of an environment with these packages of pip, which is made if it isn't there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def call(python: Path, *words: str, **variables: str) -> None:
    """Run a Python in the root of the sources, with more variables. Raises SystemExit with its status if it fails."""
    done = subprocess.run([str(python), *words], cwd=ROOT, env={**os.environ, **variables}, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


def check() -> None:
    """Run the fast tests."""
    python = installed(VENV, "--editable", ".[dev]")
    call(python, "packaging/environment.py", "libraries")
    call(python, *FAST, QT_QPA_PLATFORM="offscreen")


def libraries(purpose: str = "") -> int:
    """Install what a purpose needs where possible, and check for the libraries of a window or of pictures."""
    from gemmviz.model.messages import GemmvizError
    from gemmviz.render.qt.libraries import debian_packages, missing_libraries, platform_here, require_qt

    if not sys.platform.startswith("linux"):
        return 0
    platform = (platform_here() if purpose == "window" else "") or "offscreen"
    packages = debian_packages(missing_libraries(platform))
    if purpose in ("tests", "nightly"):
        programs = {**_READERS, **_NIGHTLY} if purpose == "nightly" else _READERS
        packages += [package for program, package in programs.items() if shutil.which(program) is None]
        packages += [] if _has_chinese_font() else ["fonts-wqy-microhei"]
    if purpose == "nightly":
        packages += debian_packages(missing_libraries(_SCREEN))  # a window on a display that the tests make
    sudo = ["sudo"] if os.geteuid() and os.environ.get("CI") and shutil.which("sudo") else []
    if packages and (sudo or os.geteuid() == 0) and shutil.which("apt-get"):
        print("Installing packages for Qt and the tests:", *packages, flush=True)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run([*sudo, "apt-get", "update", "--quiet=2"], env=quiet, check=False)
        command = [*sudo, "apt-get", "install", "--yes", "--no-install-recommends", "--quiet=2", *packages]
        subprocess.run(command, env=quiet, check=False)
    try:
        require_qt(platform)
    except GemmvizError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _has_chinese_font() -> bool:
    """Whether the system has a font with Chinese characters, which pictures in Chinese need."""
    from gemmviz.model.messages import GemmvizError
    from gemmviz.render.svg import system_font

    try:
        system_font()
    except GemmvizError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(run(COMMANDS, __doc__))

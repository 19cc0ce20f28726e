"""Checks for Qt's system libraries. Installs missing ones on Debian and Ubuntu as root, or with sudo if CI is set; elsewhere
prints their names and exits with 1.

``--for-tests`` also installs programs that read exported files and a font with Chinese characters, and ``--for-nightly`` a
browser, an office, a display and the bus of screen readers, too, where possible; tests that need a missing one are skipped.
"""

import os
import shutil
import subprocess
import sys

from gemmviz.model.errors import GemmvizError
from gemmviz.render.qt.libraries import missing_libraries, platform_here, require_qt
from gemmviz.render.qt.system_packages import debian_packages
from gemmviz.render.system_font import system_font

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


def _has_chinese_font() -> bool:
    """Whether the system has a font with Chinese characters, which pictures in Chinese need."""
    try:
        system_font()
    except GemmvizError:
        return False
    return True


def main() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    platform = (platform_here() if "--for-window" in sys.argv else "") or "offscreen"
    packages = debian_packages(missing_libraries(platform))
    is_nightly = "--for-nightly" in sys.argv
    if is_nightly or "--for-tests" in sys.argv:
        programs = {**_READERS, **_NIGHTLY} if is_nightly else _READERS
        packages += [package for program, package in programs.items() if shutil.which(program) is None]
        packages += [] if _has_chinese_font() else ["fonts-wqy-microhei"]
    if is_nightly:
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


if __name__ == "__main__":
    sys.exit(main())

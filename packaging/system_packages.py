"""Makes sure that Qt's system libraries are there: tries to load Qt, and where that fails installs or names what is missing.

Debian and Ubuntu, as root: installs. Elsewhere: prints the command and exits with 1.
"""

import os
import shutil
import subprocess
import sys

OFFSCREEN = ["libgl1", "libegl1", "libdbus-1-3", "libxkbcommon0", "libfontconfig1", "libglib2.0-0"]
WINDOW = ["libxkbcommon-x11-0", "libxcb-cursor0", "libxcb-icccm4", "libxcb-keysyms1", "libxcb-shape0"]
_PROBE = "from PySide6.QtWidgets import QApplication; QApplication([])"


def main() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    on_a_display = "--for-window" in sys.argv and bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    packages = OFFSCREEN + (WINDOW if on_a_display else [])
    problem = qt_problem(on_a_display)
    if problem is None:
        return 0
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing the system libraries that Qt needs:", *packages, flush=True)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "--quiet=2"], env=quiet, check=False)
        subprocess.run([*command, "--quiet=2"], env=quiet, check=False)
        problem = qt_problem(on_a_display)
        if problem is None:
            return 0
    print(f"Qt can't start here:\n{problem}\nOn Debian or Ubuntu this installs what it needs:", file=sys.stderr)
    print("  sudo " + " ".join(command), file=sys.stderr)
    return 1


def qt_problem(on_a_display: bool) -> str | None:
    """What Qt says when it can't start; None when it can."""
    environment = dict(os.environ)
    if not on_a_display:
        environment["QT_QPA_PLATFORM"] = "offscreen"
    found = subprocess.run([sys.executable, "-c", _PROBE], env=environment, capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return None
    lines = (found.stderr or found.stdout).strip().splitlines()
    return lines[-1] if lines else f"it ended with code {found.returncode}"


if __name__ == "__main__":
    sys.exit(main())

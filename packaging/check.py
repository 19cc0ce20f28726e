"""The fast tests on any system, Windows included. ``python packaging/check.py`` makes the environment .venv and uses it.

On Linux and macOS, ``make check`` runs lint and type checks, too.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def main() -> int:
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ROOT / ".venv")], check=True)
    subprocess.run([str(PYTHON), "-m", "pip", "install", "--quiet", "--editable", ".[dev]"], cwd=ROOT, check=True)
    if sys.platform.startswith("linux"):
        subprocess.run([str(PYTHON), "packaging/system_packages.py"], cwd=ROOT, check=True)
    words = ["-m", "pytest", "--quiet", "--numprocesses=auto", "--dist=worksteal", "-m", "not slow and not nightly and not gpu"]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run([str(PYTHON), *words], cwd=ROOT, check=False, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())

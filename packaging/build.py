"""Installers, each made by one command on its own system: ``python packaging/build.py deb|archive|appimage|windows|msi|macos``.

It makes an environment with gemmviz, its extras and PyInstaller in ``build``, and writes the file to ``dist``.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / "build" / "environment"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
PYINSTALLER = "pyinstaller==6.22.3"
SYSTEMS = {"deb": "linux", "archive": "linux", "appimage": "linux", "windows": "win32", "msi": "win32", "macos": "darwin"}


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in SYSTEMS:
        print(f"usage: python packaging/build.py {'|'.join(SYSTEMS)}", file=sys.stderr)
        return 2
    if not sys.platform.startswith(SYSTEMS[sys.argv[1]]):
        print(f"{sys.argv[1]} is made on {SYSTEMS[sys.argv[1]]}, not on {sys.platform}", file=sys.stderr)
        return 1
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*install, ".[film,slides]", PYINSTALLER)
    run(*install, "--no-deps", "--force-reinstall", ".")  # the files of today, whatever the version is
    if sys.platform.startswith("linux"):  # PyInstaller packs the libraries of a window, too
        run("packaging/system_packages.py", "--for-window", QT_QPA_PLATFORM="xcb")
    return run("-m", "installers", sys.argv[1], PYTHONPATH=str(ROOT / "packaging"))


def run(*words: str, **variables: str) -> int:
    """Run Python in the environment. Raises CalledProcessError, except for an installer that can't be made."""
    done = subprocess.run([str(PYTHON), *words], cwd=ROOT, env={**os.environ, **variables}, check="installers" not in words)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

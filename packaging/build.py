"""Installers, each made by one command on its own system: ``python packaging/build.py deb|archive|appimage|windows|macos``.

The environment has gemmviz with its extras and PyInstaller (``make`` sees to it). Files are written to ``dist``.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from installers import linux, macos, windows

KINDS: dict[str, tuple[str, Callable[[], Path]]] = {
    "deb": ("linux", linux.deb),
    "archive": ("linux", linux.archive),
    "appimage": ("linux", linux.appimage),
    "windows": ("win32", windows.archive),
    "msi": ("win32", windows.msi),
    "macos": ("darwin", macos.image),
}


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in KINDS:
        print(f"usage: python packaging/build.py {'|'.join(KINDS)}", file=sys.stderr)
        return 2
    system, make = KINDS[sys.argv[1]]
    if not sys.platform.startswith(system):
        print(f"{sys.argv[1]} is made on {system}, not on {sys.platform}", file=sys.stderr)
        return 1
    try:
        file = make()
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

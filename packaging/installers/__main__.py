"""Makes one installer in the environment that has gemmviz with its extras and PyInstaller; called by ``packaging/build.py``."""

import sys
from collections.abc import Callable
from pathlib import Path

from installers import linux, macos, windows

MAKERS: dict[str, Callable[[], Path]] = {
    "deb": linux.deb, "archive": linux.archive, "appimage": linux.appimage, "windows": windows.archive, "msi": windows.msi,
    "macos": macos.image,
}  # fmt: skip


def main() -> int:
    try:
        file = MAKERS[sys.argv[1]]()
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

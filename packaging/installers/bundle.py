"""The program with its own Python, as one folder: made by PyInstaller in an environment that has it, gemmviz and its extras."""

import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "packaging" / "frozen" / "gemmviz.spec"
ICON_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
_AS_IT_IS = ("*.libs/*", "*/PySide6/*", "*/clang/native/*")  # their loaders' tables don't survive strip


def draw_icons(folder: Path) -> dict[int, Path]:
    """Draw the icon in each size. Returns the files by size in pixels."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    app = QGuiApplication.instance() or QGuiApplication(["icons", "-platform", "offscreen"])
    renderer = QSvgRenderer(str(ROOT / "assets" / "icons" / "gemmviz.svg"))
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for size in ICON_SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        files[size] = folder / f"{size}.png"
        assert image.save(str(files[size])), files[size]
    del app
    return files


def make_bundle(build: Path) -> Path:
    """Return the folder with the program."""
    draw_icons(build / "icons")
    words = ["--noconfirm", "--log-level", "ERROR", "--distpath", str(build / "bundle"), "--workpath", str(build / "work")]
    subprocess.run([sys.executable, "-m", "PyInstaller", *words, str(SPEC)], cwd=build, check=True)  # not beside the sources
    folder = build / "bundle" / "gemmviz"
    if sys.platform.startswith("linux"):
        _strip(folder)
    subprocess.run([str(folder / "gemmviz"), "lesson", "list"], check=True, stdout=subprocess.DEVNULL)
    return folder


def _strip(folder: Path) -> None:
    """Remove the debugging symbols of libraries, a fifth of the folder's size."""
    libraries = [each for each in folder.rglob("*.so*") if each.is_file() and not each.is_symlink()]
    chosen = [str(each) for each in libraries if not any(fnmatch(each.as_posix(), pattern) for pattern in _AS_IT_IS)]
    strip = shutil.which("strip")
    assert strip is not None, "strip is missing: apt-get install binutils"
    subprocess.run([strip, "--strip-unneeded", *chosen], check=True)

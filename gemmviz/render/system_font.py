"""The font of the system for characters that the bundled fonts don't have, and the glyphs of it that a file embeds."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from fontTools.ttLib import TTFont

from gemmviz.model.errors import GemmvizError
from gemmviz.model.translation import tr

_PACKAGES = "fonts-noto-cjk or fonts-wqy-microhei (Debian, Ubuntu), google-noto-sans-cjk-fonts (Fedora), noto-fonts-cjk (Arch)"
_FOLDERS = {
    "win32": (Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts",),
    "darwin": (Path("/System/Library/Fonts"), Path("/Library/Fonts")),
}
_UNIX = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".local/share/fonts")
_NAMES = (
    "NotoSansCJK-Regular*", "NotoSansCJKsc-Regular*", "NotoSansSC*", "SourceHanSansSC-Regular*", "wqy-microhei*", "wqy-zenhei*",
    "DroidSansFallback*", "msyh.*", "simhei*", "simsun*", "PingFang*", "Hiragino Sans GB*", "STHeiti Light*",
)  # fmt: skip


@cache
def system_font() -> TTFont:
    """The font with Chinese characters. Raises GemmvizError, which names what to install, if the system has none."""
    return open_system_font()


def open_system_font() -> TTFont:
    """The same font, opened anew, for callers that change it."""
    return TTFont(_font_path(), fontNumber=0)


@cache
def _font_path() -> Path:
    for path in (*_from_fontconfig(), *_in_folders()):
        try:
            if ord("线") in TTFont(path, fontNumber=0).getBestCmap():
                return path
        except Exception:  # fontTools raises many kinds of errors for damaged tables
            continue
    missing = tr("this system has no font with Chinese characters")
    raise GemmvizError(missing, remedy=tr("install {fonts}", fonts=_PACKAGES))


def _from_fontconfig() -> list[Path]:
    """What fontconfig chooses, if it is installed."""
    command = ["fc-match", "--format=%{file}", "sans-serif:lang=zh-cn"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [Path(done.stdout)] if done.stdout and Path(done.stdout).is_file() else []


def _in_folders() -> list[Path]:
    """Known fonts in the system's folders, the best first."""
    folders = [folder for folder in _FOLDERS.get(sys.platform, _UNIX) if folder.is_dir()]
    return [path for name in _NAMES for folder in folders for path in sorted(folder.rglob(name))]

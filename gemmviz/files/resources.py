"""Finds the files that ship with gemmviz, kernels and assets, and the folder where a user may put some of their own."""

import os
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
ROOTS = (Path(getattr(sys, "_MEIPASS", _PACKAGE / "data")), _PACKAGE / "data", _PACKAGE.parent)


def resource_folder(name: str) -> Path:
    """The folder ``kernels`` or ``assets``: of the frozen app, of the wheel, or of the checkout.

    Raises FileNotFoundError when the installation lacks it.
    """
    for root in ROOTS:
        if (root / name).is_dir():
            return root / name
    raise FileNotFoundError(f"gemmviz is installed without its folder {name!r}: install it again")


def user_folder(name: str) -> Path:
    """Where a user's own files of a kind are: the folder ``name`` within GEMMVIZ_HOME, else within what the system has for such
    files. It need not be there.
    """
    home = os.environ.get("GEMMVIZ_HOME")
    if home:
        return Path(home) / name
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return base / "gemmviz" / name

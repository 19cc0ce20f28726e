"""Finds the files that ship with gemmviz: kernels and assets."""

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

"""Finds the files that ship with gemmviz: kernels and assets."""

import sys
from pathlib import Path


def resource_folder(name: str) -> Path:
    """The folder ``kernels`` or ``assets``: of the frozen app, of the wheel, or of the checkout.

    Raises FileNotFoundError when the installation lacks it.
    """
    package = Path(__file__).resolve().parent.parent
    frozen = Path(getattr(sys, "_MEIPASS", package / "data"))
    for folder in (frozen / name, package / "data" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"gemmviz is installed without its folder {name!r}: install it again")

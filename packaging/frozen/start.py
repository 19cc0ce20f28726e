"""The program of an installer: the command line, for a Python that is packed with it."""

import os
import sys
from multiprocessing import freeze_support

from gemmviz.__main__ import main
from gemmviz.files.resources import packages_folder


def find_more_packages() -> None:
    """Lets the program import what ``packages_folder()`` holds. CuPy looks for CUDA's libraries where CUDA_PATH says."""
    folder = packages_folder()
    sys.path.append(str(folder))
    for toolkit in sorted(folder.glob("nvidia/cu[0-9]*"))[-1:]:
        os.environ.setdefault("CUDA_PATH", str(toolkit))


if __name__ == "__main__":
    freeze_support()  # the processes of ``lesson check`` start here, too
    find_more_packages()
    sys.exit(main())

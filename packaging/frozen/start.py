"""The program of an installer: the command line, for a Python that is packed with it."""

import sys
from multiprocessing import freeze_support

from gemmviz.__main__ import main

if __name__ == "__main__":
    freeze_support()  # the processes of ``lesson check`` start here, too
    sys.exit(main())

"""python -m gemmviz"""

import sys

from gemmviz.cli.main import main

sys.exit(main())

"""Notes the checksums of device files, or of recordings, whose figures were compared with their source: python
packaging/seal.py FILE …; without a file, of those that have none.
"""

import json
import sys
from pathlib import Path

from gemmviz.files.checksums import checked_files, seal
from gemmviz.files.resources import ROOT

TABLE = ROOT / "assets" / "measurements" / "checksums.json"


def main() -> None:
    known = json.loads(TABLE.read_text("utf-8")) if TABLE.is_file() else {}
    new = [path for path in checked_files() if path.relative_to(ROOT).as_posix() not in known]
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else new:
        seal(path)


if __name__ == "__main__":
    main()

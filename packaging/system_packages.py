"""Makes sure that Qt's system libraries are there. Debian and Ubuntu, as root: installs them. Elsewhere: names those that are
missing and exits with 1.
"""

import os
import shutil
import subprocess
import sys

from gemmviz.model.errors import GemmvizError
from gemmviz.render.qt.libraries import missing_libraries, packages_of, platform_here, require_qt


def main() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    platform = (platform_here() if "--for-window" in sys.argv else "") or "offscreen"
    missing = missing_libraries(platform)
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        packages = packages_of(missing)
        print("Installing the system libraries that Qt needs:", *packages, flush=True)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "--quiet=2"], env=quiet, check=False)
        command = ["apt-get", "install", "--yes", "--no-install-recommends", "--quiet=2", *packages]
        subprocess.run(command, env=quiet, check=False)
    try:
        require_qt(platform)
    except GemmvizError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

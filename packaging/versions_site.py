"""Adds the documentation of this version to a site with all versions: ``python packaging/versions_site.py FOLDER``.

The folder has one folder for each version, a page that lists them, and a start page that leads to the newest one.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from gemmviz import __version__

ROOT = Path(__file__).resolve().parent.parent
_PAGE = '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>gemmviz</title>\n{body}\n</html>\n'


def versions(site: Path) -> list[str]:
    """Return the versions in a site, newest first."""
    names = [each.name for each in site.iterdir() if each.is_dir() and re.fullmatch(r"\d+(\.\d+)+", each.name)]
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")], reverse=True)


def write_lists(site: Path) -> None:
    """Write the page of versions and the start page."""
    names = versions(site)
    items = "".join(f'<li><a href="{name}/index.html">gemmviz {name}</a></li>' for name in names)
    (site / "versions.html").write_text(_PAGE.format(body=f"<h1>Versions</h1>\n<ul>{items}</ul>"), encoding="utf-8")
    lead = f'<meta http-equiv="refresh" content="0; url={names[0]}/index.html">\n<a href="versions.html">Versions</a>'
    (site / "index.html").write_text(_PAGE.format(body=lead), encoding="utf-8")


def main() -> None:
    site = Path(sys.argv[1])
    target = site / __version__
    shutil.rmtree(target, ignore_errors=True)
    words = ["-m", "sphinx", "--fail-on-warning", "--quiet", "docs", str(target.resolve())]
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, env={**os.environ, "DOCS_VERSIONS": "../versions.html"})
    write_lists(site)
    print(target / "index.html")


if __name__ == "__main__":
    main()

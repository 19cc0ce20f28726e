"""Adds the figures of this version to docs/releases.toml: make figures.

They are the sizes of the download and of the installers in ``dist``, and all that ``make bench`` prints; ``--sizes`` leaves the
latter out. A second run replaces the figures of the same version.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import tomllib
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

import tomli_w

from gemmviz import __version__

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs" / "releases.toml"
_DOWNLOAD = re.compile(r"\*\*pip install gemmviz\*\* \| \| \*\*([\d.]+)\*\*")
_LINE = re.compile(r"^(\S.*?) +([\d.]+) (\S+) +\(at (?:most|least) ", re.MULTILINE)
_WIDE, _HIGH, _BAR, _LEFT = 900, 26, 14, 420


def figures(printed: str) -> dict[str, float]:
    """Return the figures that ``make bench`` prints, by name and unit."""
    return {f"{name}, {unit}": float(value) for name, value, unit in _LINE.findall(printed)}


def sizes() -> dict[str, float]:
    """Return the sizes of the download, from docs/installing.md, and of the installers, in MiB and MB."""
    page = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    match = _DOWNLOAD.search(page)
    found = {"download of pip install gemmviz, MiB": float(match[1])} if match else {}
    kinds = ("*.deb", "*.run", "*.AppImage", "*.zip", "*.msi", "*.dmg")
    files = [file for kind in kinds for file in sorted((ROOT / "dist").glob(kind))]
    return found | {f"installer {file.suffix}, MB": round(file.stat().st_size / 1e6, 1) for file in files}


def releases() -> list[dict[str, Any]]:
    """Return the recorded releases, oldest first."""
    rows: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8")).get("release", []) if FILE.exists() else []
    return rows


def chart_svg(rows: list[dict[str, Any]]) -> str:
    """Return a chart with one group of bars for each figure and one bar for each release; groups have scales of their own."""
    parts, y = [], 0
    for name in dict.fromkeys(name for row in rows for name in row["figures"]):
        values = [(row["version"], row["figures"][name]) for row in rows if name in row["figures"]]
        most = max(value for _, value in values) or 1.0
        parts.append(f'<text x="0" y="{y + _BAR}" font-size="14">{escape(name)}</text>')
        for version, value in values:
            width = (_WIDE - _LEFT - 120) * value / most
            parts.append(f'<rect x="{_LEFT}" y="{y + 2}" width="{width:.1f}" height="{_BAR}" fill="#2979b8"/>')
            parts.append(
                f'<text x="{_LEFT + width + 8:.1f}" y="{y + _BAR}" font-size="13">{value:g} ({escape(version)})</text>'
            )
            y += _HIGH
    style = "font-family:sans-serif;fill:#12161c;background:#ffffff"  # pages may be dark
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {y}" style="{style}">{"".join(parts)}</svg>\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", action="store_true", help="record only sizes")
    args = parser.parse_args()
    printed = ""
    if not args.sizes:
        printed = subprocess.run(
            [sys.executable, "-m", "tests.bench"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    row = {"version": __version__, "date": date.today(), "machine": machine, "figures": {**sizes(), **figures(printed)}}
    before = [each for each in releases() if each["version"] != __version__]
    FILE.write_text(tomli_w.dumps({"release": [*before, row]}), encoding="utf-8")


if __name__ == "__main__":
    main()

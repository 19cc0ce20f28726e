"""Tables of the documentation: recorded speeds, packages, and figures of releases."""

import email.parser
import os
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

import tomli_w

from documents import DOCS, ROOT, markdown_table, write_part
from gemmviz import __version__
from gemmviz.files.extras import MODULES, licence_of
from gemmviz.files.recordings import recordings
from gemmviz.model.messages import number
from gemmviz.model.timing import Benchmark, Measured
from gemmviz.run.worker.tools import METHODS
from gemmviz.scenes.charts.speeds import rates

RELEASES = DOCS / "releases.toml"
_COMPARED = 4096  # size whose share of cuBLAS is given
_DOWNLOAD = re.compile(r"\*\*pip install gemmviz\*\* \| \| \*\*([\d.]+)\*\*")
_LINE = re.compile(r"^(\S.*?) +([\d.]+) (\S+) +\(at (?:most|least) ", re.MULTILINE)
_WIDE, _HIGH, _BAR, _LEFT = 900, 26, 14, 420


# Speeds


def speeds() -> None:
    """Write the table of recorded speeds."""
    write_part(DOCS / "speeds.md", "speeds", speed_tables())


def speed_tables() -> str:
    """The tables of all recorded benchmarks of the included kernels."""
    found = (recordings(name, Benchmark) for name in ("benchmark", "tensor-speeds"))
    return "\n".join(map(speed_table, chain.from_iterable(found)))


def speed_table(benchmark: Benchmark) -> str:
    """Each kernel's GFLOP/s by size, at its fastest parameters, and its share of cuBLAS of the same type at one size."""
    curves = [curve for curve in rates(benchmark) if curve.main]
    sizes, rows = sorted({x for curve in curves for x, _ in curve.points}), []
    fastest = {row.kernel: row for row in sorted(benchmark.rows, key=_rate) if row.problem.N == _COMPARED}
    for curve in curves:
        at, row = dict(curve.points), fastest.get(curve.family)
        share = percent((row and benchmark.share_of_cublas(row)) or 0) if _COMPARED in at else ""
        rows.append([curve.family, *(number(at[size]) if size in at else "" for size in sizes), share])
    made = markdown_table(["N =", *(f"{size:g}" for size in sizes), "share"], rows, range(1, len(sizes) + 2))
    host = f"; CPU: {benchmark.host}" if any(row.kernel in METHODS for row in benchmark.rows) else ""
    return f"{made}\n\n{benchmark.source[:1].upper()}{benchmark.source[1:]}{host}.\n"


def _rate(row: Measured) -> float:
    return row.gflops or 0.0


def percent(share: float) -> str:
    """A percentage with two significant digits, or without decimals from 10 % on."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


# Packages


@dataclass(frozen=True, slots=True)
class Wheel:
    """A downloaded wheel; sizes in bytes. ``extra``: the extra that asks for it, "" if gemmviz itself does."""

    name: str
    version: str
    downloaded: int
    installed: int
    licence: str
    extra: str = ""


def wheels_of(folder: Path, extra: str = "") -> dict[str, Wheel]:
    """Return the wheels in a folder, by name."""
    found = (_wheel(file, extra) for file in sorted(folder.glob("*.whl")))
    return {each.name: each for each in found}


def download(wheel: Path, extras: Sequence[str], folder: Path) -> None:
    """Download a wheel's requirements into a folder, which also gets the wheel itself."""
    what = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
    words = ["--quiet", "--disable-pip-version-check", "--no-cache-dir", "--only-binary=:all:", "--dest", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "download", *words, what], check=True)


def package_table(wheels: Sequence[Wheel]) -> str:
    """Return the wheels as a Markdown table with a line of sums for each group."""
    rows = []
    for each in sorted(wheels, key=lambda each: (each.extra, -each.downloaded)):
        sizes = _mib(each.downloaded), _mib(each.installed)
        rows.append([each.name, each.version, *sizes, each.licence, each.extra or "the window"])
    for extra in ("", *MODULES):
        group = [each for each in wheels if each.extra == extra]
        name = f"more for gemmviz[{extra}]" if extra else "pip install gemmviz"
        sums = _mib(sum(each.downloaded for each in group)), _mib(sum(each.installed for each in group))
        rows.append([f"**{name}**", "", *(f"**{each}**" for each in sums), "", ""])
    names = ("package", "version", "download, MiB", "installed, MiB", "licence", "for")
    return markdown_table(names, rows, (2, 3)) + "\n"


def sentence(wheels: Sequence[Wheel]) -> str:
    """Return for what the wheels are, and the shares of the two largest parts of the download without extras."""
    own = [each for each in wheels if not each.extra]
    total = sum(each.downloaded for each in own)
    qt, libclang = (
        sum(each.downloaded for each in own if each.name.lower().startswith(names)) / total
        for names in (("pyside6", "shiboken6"), ("libclang",))
    )
    where = f"{platform.system()} {platform.machine()} and Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"Wheels for {where}. Of the download, {qt:.0%} is Qt and {libclang:.0%} is libclang.\n"


def measured() -> list[Wheel]:
    """Return the wheels of an installation with all formats."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(work)], cwd=ROOT, check=True)
        (wheel,) = work.glob("*.whl")
        found: dict[str, Wheel] = {}
        for extra in ("", *MODULES):
            folder = work / (extra or "window")
            download(wheel, [extra] if extra else [], folder)
            found = {**wheels_of(folder, extra), **found}
    return list(found.values())


def _wheel(file: Path, extra: str) -> Wheel:
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        text = archive.read(next(name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)))
        installed = sum(each.file_size for each in archive.infolist())
    facts = email.parser.Parser().parsestr(text.decode())
    return Wheel(facts["Name"], facts["Version"], file.stat().st_size, installed, licence_of(facts), extra)  # type: ignore[arg-type]


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f}"


def packages() -> None:
    """Write what an installation downloads.

    The wheel of this tree and all that it asks for are downloaded into an empty folder without a cache, without extras and with
    each of those for formats. Names, versions and licences are those of the wheels' metadata; installed sizes are those of
    their files.
    """
    wheels = measured()
    write_part(DOCS / "installing.md", "packages", f"{sentence(wheels)}\n{package_table(wheels)}")
    print(f"{_mib(sum(each.downloaded for each in wheels if not each.extra))} MiB for pip install gemmviz")


# Figures of releases


def printed_figures(printed: str) -> dict[str, float]:
    """Return the figures that ``make bench`` prints, by name and unit."""
    return {f"{name}, {unit}": float(value) for name, value, unit in _LINE.findall(printed)}


def sizes() -> dict[str, float]:
    """Return the sizes of the download, from docs/installing.md, and of the installers, in MiB and MB."""
    page = (DOCS / "installing.md").read_text(encoding="utf-8")
    match = _DOWNLOAD.search(page)
    found = {"download of pip install gemmviz, MiB": float(match[1])} if match else {}
    kinds = ("*.deb", "*.run", "*.AppImage", "*.zip", "*.msi", "*.dmg")
    files = [file for kind in kinds for file in sorted((ROOT / "dist").glob(kind))]
    return found | {f"installer {file.suffix}, MB": round(file.stat().st_size / 1e6, 1) for file in files}


def releases() -> list[dict[str, Any]]:
    """Return the recorded releases, oldest first."""
    rows: list[dict[str, Any]] = tomllib.loads(RELEASES.read_text(encoding="utf-8")).get("release", [])
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


def figures(part: str = "all") -> None:
    """Add the figures of this version: the sizes of the download and of the installers in ``dist``, and all that ``make bench``
    prints, unless the part is ``sizes``. A second run replaces the figures of the same version.
    """
    printed = ""
    if part != "sizes":
        printed = subprocess.run(
            [sys.executable, "-m", "tests.bench"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    row = {"version": __version__, "date": date.today(), "machine": machine, "figures": {**sizes(), **printed_figures(printed)}}
    before = [each for each in releases() if each["version"] != __version__]
    RELEASES.write_text(tomli_w.dumps({"release": [*before, row]}), encoding="utf-8")

"""Writes what an installation downloads into docs/installing.md: make packages.

The wheel of this tree and all that it asks for are downloaded into an empty folder without a cache, without extras and
with each of those for formats. Names, versions and licences are those of the wheels' metadata; installed sizes are those of
their files.
"""

import email.parser
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gemmviz.files.distributions import licence_of
from gemmviz.files.extras import MODULES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "installing.md"
BEGIN, END = "<!-- packages: written by make packages -->\n", "<!-- end of packages -->\n"


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
    words = [
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-cache-dir",
        "--only-binary=:all:",
        "--dest",
        str(folder),
    ]
    subprocess.run([sys.executable, "-m", "pip", *words, what], check=True)


def table(wheels: Sequence[Wheel]) -> str:
    """Return the wheels as a Markdown table with a line of sums for each group."""
    lines = ["| package | version | download, MiB | installed, MiB | licence | for |", "|---|---|---:|---:|---|---|"]
    for each in sorted(wheels, key=lambda each: (each.extra, -each.downloaded)):
        sizes = f"{_mib(each.downloaded)} | {_mib(each.installed)}"
        lines.append(f"| {each.name} | {each.version} | {sizes} | {each.licence} | {each.extra or 'the window'} |")
    for extra in ("", *MODULES):
        group = [each for each in wheels if each.extra == extra]
        sizes = f"**{_mib(sum(each.downloaded for each in group))}** | **{_mib(sum(each.installed for each in group))}**"
        lines.append(f"| **{f'more for gemmviz[{extra}]' if extra else 'pip install gemmviz'}** | | {sizes} | | |")
    return "\n".join(lines) + "\n"


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


def main() -> None:
    wheels = measured()
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{sentence(wheels)}\n{table(wheels)}{END}{rest.split(END)[1]}", encoding="utf-8")
    print(f"{_mib(sum(each.downloaded for each in wheels if not each.extra))} MiB for pip install gemmviz")


if __name__ == "__main__":
    main()

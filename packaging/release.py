"""Makes what a release needs: make release WHAT=notes, python packaging/release.py WHAT, with any Python.

    tag TAG                 checks that a tag is this version's
    notes                   the changelog's section of this version, in dist/notes.md
    installer KIND          an installer in dist, made on its own system: deb, archive, appimage, windows, msi or macos
    checksums               the SHA-256 of each file in dist
    only-python-packages    removes from dist what PyPI doesn't take
    site [FOLDER]           adds the documentation of this version to a site with all versions, out/site

Installers are made in an environment with gemmviz, its extras and PyInstaller in ``build``.
"""

import hashlib
import re
import shutil
import sys
from pathlib import Path

from commands import run
from environment import ROOT, VENV, call, installed

COMMANDS = {"release": ("tag", "notes", "installer", "checksums", "only-python-packages", "site")}
DIST = ROOT / "dist"
SUMS = "SHA256SUMS"
PYINSTALLER = "pyinstaller==6.22.3"
SYSTEMS = {"deb": "linux", "archive": "linux", "appimage": "linux", "windows": "win32", "msi": "win32", "macos": "darwin"}
_PAGE = '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>gemmviz</title>\n{body}\n</html>\n'


def version() -> str:
    """The version of this tree."""
    found: list[str] = re.findall(r'^__version__ = "(.+)"', (ROOT / "gemmviz" / "__init__.py").read_text("utf-8"), re.MULTILINE)
    return found[0]


def tag(name: str) -> None:
    """Raise SystemExit if a tag isn't that of this version."""
    if name != f"v{version()}":
        raise SystemExit(f"the tag {name} is not v{version()}; change __version__ in gemmviz/__init__.py, or the tag")


def notes() -> None:
    """Write the changelog's section of this version."""
    DIST.mkdir(exist_ok=True)
    text = section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version())
    (DIST / "notes.md").write_text(text, encoding="utf-8")


def section(changelog: str, version: str) -> str:
    """Return the text of a version's section. Raises SystemExit if there is none."""
    sections = {part.partition(" ")[0].strip(): part.partition("\n")[2].strip() for part in changelog.split("\n## ")[1:]}
    if not sections.get(version):
        raise SystemExit(f"CHANGELOG.md: there is no section {version}; rename Unreleased to '{version} (date)'")
    return sections[version] + "\n"


def checksums() -> None:
    """Write the sums of all files to publish."""
    (DIST / SUMS).write_text(sums_of(DIST), encoding="utf-8")


def sums_of(folder: Path) -> str:
    """Return one line for each file, as sha256sum --check reads it."""
    files = sorted(each for each in folder.iterdir() if each.is_file() and each.name not in (SUMS, "notes.md"))
    return "".join(f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files)


def only_python_packages() -> None:
    """Remove all files but wheels and sources."""
    for file in DIST.rglob("*"):
        if file.is_file() and file.suffix != ".whl" and not file.match("gemmviz-*.tar.gz"):
            file.unlink()


# Installers


def installer(kind: str) -> None:
    """Make an installer. Raises SystemExit if it can't be made here."""
    if kind not in SYSTEMS:
        raise SystemExit(f"{kind} is none of {', '.join(SYSTEMS)}")
    if not sys.platform.startswith(SYSTEMS[kind]):
        raise SystemExit(f"{kind} is made on {SYSTEMS[kind]}, not on {sys.platform}")
    environment = ROOT / "build" / "environment"
    installed(environment, ".[film,slides]", PYINSTALLER)
    python = installed(environment, "--no-deps", "--force-reinstall", ".")  # the files of today, whatever the version is
    if sys.platform.startswith("linux"):  # PyInstaller packs the libraries of a window, too
        call(python, "packaging/environment.py", "libraries", "window", QT_QPA_PLATFORM="xcb")
    call(python, "packaging/installers.py", kind)


# The site


def site(folder: str = "out/site") -> None:
    """Add the documentation to a folder that has one folder for each version, and write the lists of versions."""
    target = Path(folder).resolve() / version()
    shutil.rmtree(target, ignore_errors=True)
    python = installed(VENV, "--editable", ".[docs]")
    words = ("-m", "sphinx", "--fail-on-warning", "--quiet", "docs", str(target))
    call(python, *words, DOCS_VERSIONS="../versions.html")
    write_lists(target.parent)
    print(target / "index.html")


def write_lists(site: Path) -> None:
    """Write the page of versions, newest first, and the start page, which leads to the newest one."""
    names = [each.name for each in site.iterdir() if each.is_dir() and re.fullmatch(r"\d+(\.\d+)+", each.name)]
    names.sort(key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    items = "".join(f'<li><a href="{name}/index.html">gemmviz {name}</a></li>' for name in names)
    (site / "versions.html").write_text(_PAGE.format(body=f"<h1>Versions</h1>\n<ul>{items}</ul>"), encoding="utf-8")
    lead = f'<meta http-equiv="refresh" content="0; url={names[0]}/index.html">\n<a href="versions.html">Versions</a>'
    (site / "index.html").write_text(_PAGE.format(body=lead), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(run(COMMANDS, __doc__))

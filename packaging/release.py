"""What a release needs beside its files.

``release.py notes`` writes the changelog's section of this version to ``dist/notes.md``, ``release.py checksums`` the SHA-256
of each file in ``dist``, and ``release.py tag TAG`` checks that a tag is this version's.
"""

import hashlib
import sys
from pathlib import Path

from gemmviz import __version__

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
SUMS = "SHA256SUMS"


def section(changelog: str, version: str) -> str:
    """Return the text of a version's section. Raises SystemExit if there is none."""
    sections = {part.partition(" ")[0].strip(): part.partition("\n")[2].strip() for part in changelog.split("\n## ")[1:]}
    if not sections.get(version):
        raise SystemExit(f"CHANGELOG.md: there is no section {version}; rename Unreleased to '{version} (date)'")
    return sections[version] + "\n"


def checksums(folder: Path) -> str:
    """Return one line for each file, as sha256sum --check reads it."""
    files = sorted(each for each in folder.iterdir() if each.is_file() and each.name not in (SUMS, "notes.md"))
    return "".join(f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files)


def check_tag(tag: str) -> None:
    """Raise SystemExit if a tag isn't that of this version."""
    if tag != f"v{__version__}":
        raise SystemExit(f"the tag {tag} is not v{__version__}; change __version__ in gemmviz/__init__.py, or the tag")


def main() -> None:
    DIST.mkdir(exist_ok=True)
    match sys.argv[1:]:
        case ["notes"]:
            text = section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), __version__)
            (DIST / "notes.md").write_text(text, encoding="utf-8")
        case ["checksums"]:
            (DIST / SUMS).write_text(checksums(DIST), encoding="utf-8")
        case ["tag", tag]:
            check_tag(tag)
        case _:
            raise SystemExit("usage: python packaging/release.py notes|checksums|tag TAG")


if __name__ == "__main__":
    main()

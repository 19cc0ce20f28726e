"""Stores the widths of the characters of the bundled fonts, so that a picture needs no library for fonts: make advances."""

import zlib

from msgspec import msgpack

from gemmviz.files.resources import ROOT
from gemmviz.scenes.kit.primitives import Face
from gemmviz.scenes.kit.text import ADVANCES, FONT_FILES, Advances, bundled_font


def advances(face: Face) -> Advances:
    """The widths in the tables of a font."""
    font = bundled_font(face)
    widths = {glyph: width for glyph, (width, _) in font["hmtx"].metrics.items()}
    known = {code: widths[glyph] for code, glyph in sorted(font.getBestCmap().items())}
    return Advances(known, widths[".notdef"], font["head"].unitsPerEm)


def main() -> None:
    """Write the file."""
    path = ROOT / ADVANCES
    path.write_bytes(zlib.compress(msgpack.encode({face: advances(face) for face in FONT_FILES}), 9))
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

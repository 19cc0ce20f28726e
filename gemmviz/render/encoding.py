"""Encoding of pixels as PNG, texts in it that say what it shows, and text for XML documents."""

import re
import struct
import zlib
from html import escape

import numpy as np

from gemmviz.model.arrays import Bytes, Floats, Unsigned

# Text for XML documents, without the characters that XML forbids (XML 1.0, 2.2: Char).

_SPACE_REFERENCES = str.maketrans({"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})  # a reader of XML turns others into blanks
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def legible(text: str) -> str:
    """Return the text with each forbidden character written as a backslash, x and its hexadecimal number."""
    return _NOT_IN_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def xml_text(text: str) -> str:
    """Return the text as the content of an element."""
    return escape(legible(text), quote=False)


def xml_attribute(text: str) -> str:
    """Return the text as the value of an attribute, with quotes."""
    escaped = xml_text(text).translate(_SPACE_REFERENCES)
    if '"' in escaped and "'" not in escaped:
        return f"'{escaped}'"
    return '"' + escaped.replace('"', "&quot;") + '"'


# The title and the description of a picture as XMP, the metadata that PNG and PDF files carry (ISO 16684-1).

_HEAD, _TAIL = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>', '<?xpacket end="w"?>'
_NAMESPACES = (
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" '
    'xmlns:Iptc4xmpCore="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"'
)


def xmp(title: str, description: str) -> str:
    """Return an XMP packet. The description is also the text that programs show in place of the picture (IPTC's
    AltTextAccessibility).
    """
    facts = (("dc:title", title), ("dc:description", description), ("Iptc4xmpCore:AltTextAccessibility", description))
    return (
        f'{_HEAD}<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description rdf:about="" {_NAMESPACES}>{"".join(_rdf_text(*fact) for fact in facts)}'
        f"<xmp:CreatorTool>gemmviz</xmp:CreatorTool></rdf:Description></rdf:RDF></x:xmpmeta>{_TAIL}"
    )


def _rdf_text(name: str, text: str) -> str:
    """Return a text in the default language; nothing without one."""
    return f'<{name}><rdf:Alt><rdf:li xml:lang="x-default">{xml_text(text)}</rdf:li></rdf:Alt></{name}>' if text else ""


# PNG encoding of pixels; and texts in a PNG file that say what it shows.

Colours = Bytes  # (n, 3): red, green, blue

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS, _RGB, _PALETTE, _RGBA = 8, 2, 3, 6
_AFTER_HEADER = 33  # bytes: the signature and the chunk IHDR
_MOST_COLOURS, _KEPT = 256, 48  # of a palette, and those of them that cover most pixels and stay as they are
_EDGE_DISTANCE = 20.0  # distance in (red, green, blue) within which the colours at the edges of letters are taken for one
_MOST_EDGES, _MANY_COLOURS = 0.2, 1 << 14  # share of the pixels; colours that are more than those of edges
_LEVEL = 7  # of compression: level 8 takes three times as long and saves 5 %
_ROWS_COUNTED = 4  # every fourth row says which colours cover most pixels


def encode_png(pixels: Bytes, quick: bool = False) -> bytes:
    """Return a PNG file of (rows, columns, 3) uint8, or (rows, columns, 4) with opacity. ``quick`` takes half the time and
    gives a larger file.
    """
    return _file(pixels, _RGB if pixels.shape[2] == 3 else _RGBA, level=1 if quick else _LEVEL)


def encode_picture(pixels: Unsigned) -> bytes:
    """Return a PNG file of (rows, columns) colours, 0xRRGGBB, in less than half of the bytes: with a palette.

    The smooth edges of letters have thousands of colours. They get the nearest one of the palette, which can't be told from
    their own. A picture with more than edges in such colours, such as a gradient, keeps them all.
    """
    is_used = np.zeros(1 << 24, np.bool_)  # by colour: ten times as fast as sorting millions of pixels
    is_used[pixels] = True
    known = np.flatnonzero(is_used)
    if len(known) > _MANY_COLOURS:
        return _with_all_colours(pixels)
    places = np.zeros(1 << 24, np.uint16)
    places[known] = np.arange(len(known))
    place = places[pixels]
    counts = np.bincount(place[::_ROWS_COUNTED].ravel(), minlength=len(known))
    by_use = np.argsort(-counts, kind="stable")
    colours = np.stack([known >> 16, known >> 8, known], axis=1).astype(np.uint8)[by_use]
    palette = most_different(colours, _MOST_COLOURS, _KEPT, _EDGE_DISTANCE)
    away = _distances(colours, palette)
    if away.min(axis=1).max() > _EDGE_DISTANCE**2 or counts[by_use[_KEPT:]].sum() > _MOST_EDGES * counts.sum():
        return _with_all_colours(pixels)
    entries = np.zeros(len(known), np.uint8)
    entries[by_use] = away.argmin(axis=1)
    return _file(entries[place][:, :, None], _PALETTE, _chunk(b"PLTE", palette.tobytes()))


def _with_all_colours(pixels: Unsigned) -> bytes:
    return encode_png(np.stack([pixels >> 16, pixels >> 8, pixels], axis=2).astype(np.uint8))


def most_different(colours: Colours, most: int, kept: int = 1, alike: float = 0.0) -> Colours:
    """Return at most ``most`` of the colours: the first ones that are ``kept``, and then each as far as possible from those
    before it, unless all are ``alike``, within this distance of one of them.
    """
    places = list(range(min(kept, len(colours))))
    distance = _distances(colours, colours[:kept]).min(axis=1)
    while len(places) < most and distance.max() > alike**2:
        places.append(int(distance.argmax()))
        distance = np.minimum(distance, _distances(colours, colours[places[-1:]])[:, 0])
    return colours[places]


def _distances(some: Colours, others: Colours) -> Floats:
    """Return the squares of the distances of colours: (some, others)."""
    a, b = some.astype(np.float64), others.astype(np.float64)
    distances: Floats = (a**2).sum(axis=1)[:, None] - 2 * a @ b.T + (b**2).sum(axis=1)
    return distances


def _file(samples: Bytes, kind: int, palette: bytes = b"", level: int = _LEVEL) -> bytes:
    """Return a file of (rows, columns, samples of a pixel). Rows are stored without a filter, which suits pictures of few
    colours (PNG specification, 12.7).
    """
    rows, columns, each = samples.shape
    unfiltered = np.zeros((rows, 1 + each * columns), np.uint8)  # each row begins with the number of its filter, 0 for none
    unfiltered[:, 1:] = samples.reshape(rows, -1)
    header = struct.pack(">IIBBBBB", columns, rows, _EIGHT_BITS, kind, 0, 0, 0)
    data = zlib.compress(unfiltered.tobytes(), level)
    return _SIGNATURE + _chunk(b"IHDR", header) + palette + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def with_words(png: bytes, title: str, description: str) -> bytes:
    """Return a PNG file with a title and a description, as texts (PNG, third edition, 11.3.3.4) and as XMP; the file itself
    without a title.
    """
    if not title:
        return png
    texts = {"Title": legible(title), "Description": legible(description), "XML:com.adobe.xmp": xmp(title, description)}
    chunks = b"".join(_text_chunk(key, text) for key, text in texts.items() if text)
    return png[:_AFTER_HEADER] + chunks + png[_AFTER_HEADER:]


def _text_chunk(key: str, text: str) -> bytes:
    """Return the chunk of an international text; XMP is never compressed (XMP specification, part 3, 1.1.5)."""
    is_plain, content = key.startswith("XML"), text.encode()
    return _chunk(
        b"iTXt",
        key.encode("latin-1")
        + (b"\0\0" if is_plain else b"\0\1")
        + b"\0\0\0"
        + (content if is_plain else zlib.compress(content)),
    )


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

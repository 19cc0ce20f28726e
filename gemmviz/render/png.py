"""PNG encoding of pixels; and texts in a PNG file that say what it shows."""

import struct
import zlib

import numpy as np
import numpy.typing as npt

from gemmviz.render.xml import legible, xmp

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS, _RGB = 8, 2
_AFTER_HEADER = 33  # bytes: the signature and the chunk IHDR


def encode_png(pixels: npt.NDArray[np.uint8], quick: bool = False) -> bytes:
    """Return a PNG file of (rows, columns, 3) uint8. ``quick`` takes half the time and gives a larger file.

    Rows are stored without a filter, which suits pictures of few colours (PNG specification, 12.7).
    """
    rows, columns, _ = pixels.shape
    unfiltered = np.zeros((rows, 1 + 3 * columns), np.uint8)  # each row begins with the number of its filter, 0 for none
    unfiltered[:, 1:] = pixels.reshape(rows, -1)
    header = struct.pack(">IIBBBBB", columns, rows, _EIGHT_BITS, _RGB, 0, 0, 0)
    data = zlib.compress(unfiltered.tobytes(), 1 if quick else 6)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


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
    """Return the chunk of an uncompressed international text."""
    return _chunk(b"iTXt", key.encode("latin-1") + b"\0\0\0\0\0" + text.encode())


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

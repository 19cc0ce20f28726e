"""Encodes pixels as PNG, with Pillow."""

import io

import numpy as np
import numpy.typing as npt
from PIL import Image


def encode_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """A PNG file of (rows, columns, 3) uint8."""
    buffer = io.BytesIO()
    Image.fromarray(pixels, "RGB").save(buffer, "PNG")
    return buffer.getvalue()

"""The QR code of a URL as a table of modules, made with segno."""

import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import UsageError

QUIET = 4  # modules of margin (ISO/IEC 18004, 6.3.8)


def qr_modules(url: str) -> npt.NDArray[np.uint8]:
    """Return the modules (n, n) of a code with its margin, 1 for a dark one. Raises UsageError if the text is too long."""
    import segno  # imported here because few pictures have a code

    try:
        code = segno.make_qr(url, error="m", boost_error=True)
    except ValueError:
        raise UsageError(f"a QR code can't hold {len(url)} characters", remedy="use a shorter URL") from None
    return np.array([[module & 1 for module in row] for row in code.matrix_iter(border=QUIET)], np.uint8)

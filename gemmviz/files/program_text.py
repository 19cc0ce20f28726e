"""The text of a C++ file, in any encoding that people save it in: UTF-8, UTF-16, GBK or Latin-1, with or without a BOM."""

import codecs
import re
from pathlib import Path

from gemmviz.files.codec import FormatError, check_plain_file
from gemmviz.model.errors import UsageError
from gemmviz.model.translation import tr

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_PAIR = re.compile(rb"[\x81-\xfe][\x81-\xfe]")
_NON_ASCII = re.compile(rb"[\x80-\xff]")


def read_program_text(path: Path, most_bytes: int) -> str:
    """The text of a C++ file, with its line ends as LF.

    Raises UsageError if there is no such file, FormatError if it isn't text or has more than ``most_bytes`` bytes.
    """
    check_plain_file(path, most_bytes)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(tr("there is no such file"), file=str(path)) from None
    except OSError as error:
        raise FormatError(tr("the file can't be read: {error}", error=error.strerror or error), file=str(path)) from None
    text = decoded(content)
    if "\0" in text:
        raise FormatError(tr("the file isn't text"), file=str(path), remedy=tr("choose a file of CUDA C++"))
    return text


def decoded(content: bytes) -> str:
    """Bytes of a text file as text with its line ends as LF. Bytes that no likely encoding explains are read as Latin-1."""
    encoding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), "utf-8")
    for name in (encoding, "gb18030" if _is_mostly_pairs(content) else "latin-1"):
        try:
            return content.decode(name).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")


def _is_mostly_pairs(content: bytes) -> bool:
    """Whether most bytes beyond ASCII come in pairs, as in Chinese text; accented letters stand alone."""
    return 4 * len(_PAIR.findall(content)) > len(_NON_ASCII.findall(content))

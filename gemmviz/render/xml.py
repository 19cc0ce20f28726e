"""Text for XML documents, without the characters that XML forbids (XML 1.0, 2.2: Char)."""

import re
from html import escape  # ``xml.sax.saxutils`` imports modules for networks, which takes longer than a small picture

_SPACES = str.maketrans({"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})  # a reader of XML turns others into blanks
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def legible(text: str) -> str:
    """Return the text with each forbidden character written as a backslash, x and its hexadecimal number."""
    return _NOT_IN_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def xml_text(text: str) -> str:
    """Return the text as the content of an element."""
    return escape(legible(text), quote=False)


def xml_attribute(text: str) -> str:
    """Return the text as the value of an attribute, with quotes."""
    escaped = xml_text(text).translate(_SPACES)
    if '"' in escaped and "'" not in escaped:
        return f"'{escaped}'"
    return '"' + escaped.replace('"', "&quot;") + '"'

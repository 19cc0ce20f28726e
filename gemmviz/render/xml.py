"""Text for XML documents, without the characters that XML forbids (XML 1.0, 2.2: Char)."""

import re
from xml.sax.saxutils import escape, quoteattr

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def legible(text: str) -> str:
    """Return the text with each forbidden character written as a backslash, x and its hexadecimal number."""
    return _NOT_IN_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def xml_text(text: str) -> str:
    """Return the text as the content of an element."""
    return escape(legible(text))


def xml_attribute(text: str) -> str:
    """Return the text as the value of an attribute, with quotes."""
    return quoteattr(legible(text))

"""Text for XML documents, without the characters that XML forbids (XML 1.0, 2.2: Char)."""

import re
from html import escape

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

"""The title and the description of a picture as XMP, the metadata that PNG and PDF files carry (ISO 16684-1)."""

from gemmviz.render.xml import xml_text

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
        f'<rdf:Description rdf:about="" {_NAMESPACES}>{"".join(_fact(*fact) for fact in facts)}'
        f"<xmp:CreatorTool>gemmviz</xmp:CreatorTool></rdf:Description></rdf:RDF></x:xmpmeta>{_TAIL}"
    )


def _fact(name: str, text: str) -> str:
    """Return a text in the default language; nothing without one."""
    return f'<{name}><rdf:Alt><rdf:li xml:lang="x-default">{xml_text(text)}</rdf:li></rdf:Alt></{name}>' if text else ""

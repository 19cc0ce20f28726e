"""The script of a page or a figure from the player's files, without comments and blank lines."""

import base64
import hashlib
import re

from gemmviz.files.resources import resource

_COMMENT = re.compile(r"^\s*/\*\*.*?\*/|(?:^|\s+)// .*?$", re.MULTILINE | re.DOTALL)
_TEXT = re.compile('("[^"]*")')
_SPACED = re.compile(r"\s*([{}()\[\];,=<>*?:&|])\s*")  # not + and -, which would join
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_NOTEBOOK = "export default {"


def page_asset(name: str) -> str:
    """Return the text of a file in ``assets/page``."""
    return resource(f"assets/page/{name}").read_text(encoding="utf-8")


def page_script(rest: str) -> str:
    """Return the player followed by ``rest`` as one script. It adds no name to the document, so that it can run twice."""
    player = page_asset("player.js").partition(_NOTEBOOK)[0]
    plain = _COMMENT.sub("", _EXPORT.sub("", f"{player}\n{rest}"))
    lines = filter(None, (_dense(line.strip()) for line in plain.splitlines()))
    return "\n".join(("(() => {", '"use strict";', *lines, "})();"))


def _dense(line: str) -> str:
    """Return a line of code without the spaces around its signs, unless it may have a pattern or a text with code in it."""
    if re.search(r"['`/\\]", line):
        return line
    return "".join(part if part.startswith('"') else _SPACED.sub(r"\1", part) for part in _TEXT.split(line))


def script_hash(text: str) -> str:
    """Return the source of a content security policy that allows this script or style (W3C CSP 3, 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

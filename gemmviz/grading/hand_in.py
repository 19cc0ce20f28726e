"""A hand-in: the texts of one student's files, and which of them is judged."""

import hashlib
import json
import re
from collections.abc import Mapping

from msgspec import Struct, field

LAUNCH = "<<<"
_KERNEL = re.compile(r"__global__[^;{}]*\{")  # with its body
_IDLE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*endif", re.DOTALL | re.MULTILINE)


class HandIn(Struct, frozen=True):
    """``id``: unique, and safe as the name of a file; ``name``: as displayed, without control characters; ``number``: of the
    student in the course system, "" if there is none; ``texts``: by their names in the hand-in's folder, with forward slashes;
    ``problem``: why it can't be read, "" if it can.
    """

    id: str
    name: str
    texts: Mapping[str, str] = field(default_factory=dict)
    number: str = ""
    problem: str = ""

    @property
    def digest(self) -> str:
        """A hash of everything that is judged."""
        content = json.dumps([sorted(self.texts.items()), self.problem]).encode("utf-8", "replace")
        return hashlib.sha256(content).hexdigest()

    def main(self, entry: str) -> str:
        """The name of the file that is judged: one that defines a kernel, the one called ``entry`` if there is one, and rather
        one that launches it. "" if no file defines a kernel.
        """
        named = re.compile(rf"__global__[^;{{}}]*\b{re.escape(entry)}\s*\([^;{{}}]*\{{") if entry else _KERNEL

        texts = {name: _IDLE.sub(" ", text) for name, text in self.texts.items()}

        def rank(name: str) -> tuple[bool, bool, bool, int, str]:
            text = texts[name]
            return named.search(text) is None, LAUNCH not in text, not name.endswith(".cu"), name.count("/"), name

        return min((name for name, text in texts.items() if _KERNEL.search(text)), key=rank, default="")

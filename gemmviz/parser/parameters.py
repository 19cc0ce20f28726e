"""Parameters of a kernel that take precedence over the file's own definitions of the same names."""

import re
from collections.abc import Mapping

_REST_OF_DIRECTIVE = r"(?:[^\n\\]|\\.|\\\n)*"
_REST_OF_VALUE = r"(?:[^;,(){}\n]|\([^()\n]*\))+(?=[;,])"


def with_parameters(text: str, values: Mapping[str, str]) -> tuple[str, frozenset[str]]:
    """The text with its own ``#define`` of each parameter blanked and its own constants set to the value; the names of the
    constants set. The others have to be defined as macros. Lines keep their numbers.
    """
    constants = set()
    for name, value in values.items():
        define = rf"^[ \t]*#[ \t]*(?:define|undef)[ \t]+{name}\b(?!\(){_REST_OF_DIRECTIVE}"
        text = re.sub(define, _blank, text, flags=re.MULTILINE)
        constant = rf"(\b(?:const|constexpr)\b[^;(){{}}<>#]*?\b{name}\s*=\s*){_REST_OF_VALUE}"
        text, count = re.subn(constant, rf"\g<1>{value}", text)
        if count:
            constants.add(name)
    return text, frozenset(constants)


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")

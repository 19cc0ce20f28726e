"""What nvcc accepts and the parser doesn't, corrected in memory. Lines keep their numbers."""

import re

# Two operands of an asm statement with nothing but space between them.
_OPERAND = r'"[=+&]*[a-zA-Z]{1,2}"\s*\((?:[^()"]|\([^()"]*\))*\)'
_NO_COMMA = re.compile(rf'({_OPERAND})(?=\s*"[=+&]*[a-zA-Z]{{1,2}}"\s*\()')

# kernel << <grid, block >> >(…), as some formatters leave it
_SPACED = re.compile(r"<<([ \t]+)<([^;{}]*?)>(?:>[ \t]+>|[ \t]+>>|[ \t]+>[ \t]+>)(\s*\()")


def corrected(text: str) -> tuple[str, tuple[str, ...]]:
    """The text as nvcc understands it, and a sentence about each correction."""
    text = _SPACED.sub(lambda match: f"<<<{match[1]}{match[2]}>>>{match[3]}", text)
    if "asm" not in text:
        return text, ()
    lines = [text.count("\n", 0, match.end()) + 1 for match in _NO_COMMA.finditer(text)]
    notes = (f"a comma is missing between the asm operands in line {line}, which nvcc accepts" for line in dict.fromkeys(lines))
    return _NO_COMMA.sub(r"\1,", text) if lines else text, tuple(notes)

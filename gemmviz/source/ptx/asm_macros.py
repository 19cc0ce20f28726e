"""Finds the asm statements that the use of a macro stands for, in the texts of the macros' definitions."""

import re
from collections.abc import Iterable, Iterator

_DEFINITION = r"^[ \t]*#[ \t]*define[ \t]+{}\b(\([^)]*\))?((?:[^\n\\]|\\.)*(?:\\\r?\n(?:[^\n\\]|\\.)*)*)"
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*', re.DOTALL)
_ASM = ("asm", "__asm__", "__asm")
_DEEPEST = 8


def asm_statements(use: str, files: Iterable[str], depth: int = 0) -> Iterator[str]:
    """The asm statements in the use of a macro such as ``COPY(a, b)``, in order, with its arguments where ``#`` quotes them."""
    texts = list(files)
    name = re.match(r"\w+", use)
    found = None if name is None else _definition(name[0], texts)
    if found is None or depth > _DEEPEST:
        return
    parameters, body = found
    arguments = _arguments(use[len(name[0]) :]) if name else []
    body = _substituted(body, dict(zip(parameters, arguments, strict=False)))
    at = 0
    while word := _WORD.search(body, at):
        at = word.end()
        opening = body.find("(", at)
        if word[0] in _ASM and opening >= 0:
            at = _closing(body, opening) + 1
            yield body[word.start() : at]
        elif not word[0].startswith('"') and word[0] != (name[0] if name else ""):
            follows = body[at:].lstrip().startswith("(")
            yield from asm_statements(body[word.start() : _closing(body, opening) + 1 if follows else at], texts, depth + 1)


def _substituted(body: str, given: dict[str, str]) -> str:
    """A macro's body with its arguments in place of its parameters."""

    def quoted(match: re.Match[str]) -> str:
        text = given.get(match[1])
        return match[0] if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    return _WORD.sub(lambda word: given.get(word[0], word[0]), re.sub(r"#\s*(\w+)", quoted, body))


def _definition(name: str, texts: list[str]) -> tuple[list[str], str] | None:
    """The parameters and the body of a macro."""
    pattern = re.compile(_DEFINITION.format(re.escape(name)), re.MULTILINE)
    for text in texts:
        if name in text and (match := pattern.search(text)):
            parameters = [each.strip() for each in (match[1] or "()")[1:-1].split(",") if each.strip()]
            return parameters, re.sub(r"\\\r?\n", "\n", match[2])
    return None


def _arguments(text: str) -> list[str]:
    """The arguments in the parentheses at the start of a text."""
    text = text.lstrip()
    if not text.startswith("("):
        return []
    found, start, depth = [], 1, 0
    end = _closing(text, 0)
    for at in range(1, end):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0 and text[at] == ",":
            found.append(text[start:at].strip())
            start = at + 1
    return [*found, text[start:end].strip()]


def _closing(text: str, opening: int) -> int:
    """The index of the parenthesis that closes the one at ``opening``; strings are skipped."""
    depth, at = 0, opening
    while at < len(text):
        if text[at] == '"':
            string = _WORD.match(text, at)
            at = string.end() if string else at + 1
            continue
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
        at += 1
    return len(text) - 1

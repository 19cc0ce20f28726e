"""The preprocessor: expands a kernel file's macros and evaluates its conditionals."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from gemmviz.launch.formula import evaluate
from gemmviz.model.cancelling import checkpoint
from gemmviz.model.errors import SourceError
from gemmviz.source.expanded import ExpandedSource, Segment, line_starts_of, source_place
from gemmviz.source.headers import KNOWN

_TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?(?:\*/|\Z) | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n]){1,8}' | [A-Za-z_]\w*
      | \.?\d(?:[eEpP][+-]|'\w|[\w.])* | \\\n | \n | [^\S\n]+ | \#\# | && | \|\| | [<>=!]= | <<|>> | .""",
    re.VERBOSE | re.DOTALL,
)
_PREDEFINED = {"__CUDACC__": "1", "__CUDA_ARCH__": "900", "__cplusplus": "201703L"}
_MOST_EXPANSIONS, _MOST_EXPANDED, _MOST_TEXT = 100_000, 2_000_000, 2_000_000  # times, characters of macros, of all
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_DEEPEST_IF = 256  # as C++ asks of compilers at least


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its half-open range of characters in the file."""

    text: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro; ``parameters`` is None if it is object-like."""

    parameters: tuple[str, ...] | None
    body: tuple[str, ...]


def preprocess(text: str, defines: Mapping[str, str]) -> ExpandedSource:
    """The text with macros expanded, and directives and untaken branches blanked.

    ``defines`` are the macros given by ``-D``. Raises SourceError, with its place, for an invalid directive or macro use.
    """
    return _Preprocessor(text, {**_PREDEFINED, **defines}).run()


class _Preprocessor:
    def __init__(self, text: str, defines: Mapping[str, str]) -> None:
        self.text = text
        self.line_starts = line_starts_of(text)
        self.tokens = list(_tokens(text))
        self.macros = {name: Macro(None, tuple(_texts(value))) for name, value in defines.items()}
        self.given = frozenset(defines)  # a definition of the text doesn't change these
        self.pieces: list[str] = []
        self.segments: list[Segment] = []
        self.length = 0
        self.taken: list[bool | None] = []  # one per open #if: True taken now, False not yet, None taken before
        self.expansions = self.expanded = 0
        self.left_out: list[str] = []

    def run(self) -> ExpandedSource:
        last = self.tokens[-1] if self.tokens else None
        if last is not None and last.text.startswith("/*") and not (len(last.text) > 3 and last.text.endswith("*/")):
            raise self._error("this comment is not closed", Token("/*", last.start, last.start + 2))
        i, line_begins = 0, True
        while i < len(self.tokens):
            token = self.tokens[i]
            if line_begins:
                checkpoint()
            if line_begins and token.text == "#":
                i = self._directive(i)
                continue
            line_begins = token.text == "\n" or (line_begins and (token.text.isspace() or token.text[:2] in ("/*", "//")))
            i = self._token(i)
        if self.taken:
            raise self._error("an #if without #endif", self.tokens[-1])
        segments = tuple(self.segments) or (Segment(0, 0, 0, True),)
        starts = tuple(segment.at for segment in segments)
        return ExpandedSource(
            self.text, "".join(self.pieces), segments, starts, self.line_starts, tuple(dict.fromkeys(self.left_out))
        )

    def _token(self, i: int) -> int:
        token = self.tokens[i]
        if not all(self.taken):
            self._emit(_blank(token.text), token.start, token.stop, True)
        elif token.text == "\\\n":
            self._emit("\n", token.start, token.stop, False)
        elif token.text in self.macros:
            return self._macro_use(i)
        elif token.text in ("__align__", "_Pragma"):
            return self._blank_call(i)
        else:
            self._emit(token.text, token.start, token.stop, True)
        return i + 1

    def _emit(self, text: str, start: int, stop: int, copied: bool) -> None:
        last = self.segments[-1] if self.segments else None
        if not (last and copied and last.copied and last.start + (self.length - last.at) == start):
            self.segments.append(Segment(self.length, start, stop, copied))
        self.pieces.append(text)
        self.length += len(text)
        if self.length > _MOST_TEXT:
            raise self._error(
                f"with its macros expanded the file has more than {_MOST_TEXT:,} characters", Token(text, start, stop)
            )

    def _macro_use(self, i: int) -> int:
        macro, stop = self.macros[self.tokens[i].text], i + 1
        arguments: list[list[str]] = []
        if macro.parameters is not None:
            called = self._arguments(i)
            if called is None:
                self._emit(self.tokens[i].text, self.tokens[i].start, self.tokens[i].stop, True)
                return i + 1
            arguments, stop = called
        name = self.tokens[i]
        words = self._expand_macro(name.text, macro, arguments, frozenset(), name)
        used = self.text[name.start : self.tokens[stop - 1].stop]
        self._emit(f" {''.join(words)} " + "\n" * used.count("\n"), name.start, self.tokens[stop - 1].stop, False)
        return stop

    def _blank_call(self, i: int) -> int:
        called = self._arguments(i)
        stop = called[1] if called else i + 1
        for token in self.tokens[i:stop]:
            self._emit(_blank(token.text), token.start, token.stop, True)
        return stop

    def _arguments(self, i: int) -> tuple[list[list[str]], int] | None:
        start = i + 1
        while start < len(self.tokens) and self.tokens[start].text.isspace():
            start += 1
        stop = self._closing.get(start)
        if stop is None or self.tokens[start].text != "(":
            return None
        called = _call_arguments([token.text for token in self.tokens[start : stop + 1]], 0)
        return None if called is None else (called[0], stop + 1)

    @cached_property
    def _closing(self) -> dict[int, int]:
        """Number of the closing token of each bracket, by the number of the opening one."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for number, token in enumerate(self.tokens):
            if token.text in _OPENING:
                opened.append(number)
            elif opened and token.text in _CLOSING:
                found[opened.pop()] = number
        return found

    def _expand_macro(
        self, name: str, macro: Macro, arguments: list[list[str]], hidden: frozenset[str], at: Token
    ) -> list[str]:
        checkpoint()
        self.expansions += 1
        if self.expansions > _MOST_EXPANSIONS:
            raise self._error(f"the macro {name} is expanded more than {_MOST_EXPANSIONS:,} times", at)
        body = list(macro.body)
        if "#" in body or (macro.parameters and macro.parameters[-1] == "..."):
            raise self._error("# and ... in a macro are not supported", at)
        if macro.parameters is not None:
            if macro.parameters == () and arguments == [[]]:
                arguments = []
            if len(arguments) != len(macro.parameters):
                raise self._error(f"the macro {name} takes {len(macro.parameters)} arguments, not {len(arguments)}", at)
            expanded = [self._expand(argument, hidden, at) for argument in arguments]
            given = dict(zip(macro.parameters, zip(arguments, expanded, strict=True), strict=True))
            sizes = {each: max(sum(map(len, raw)), sum(map(len, whole))) for each, (raw, whole) in given.items()}
            self._spend(name, sum(sizes.get(word, len(word)) for word in body), at)
            body = _substitute(body, given)
        self._spend(name, sum(map(len, body)), at)
        return self._expand(body, hidden | {name}, at)

    def _spend(self, name: str, characters: int, at: Token) -> None:
        """Counts expanded characters. Raises SourceError above the limit."""
        self.expanded += characters
        if self.expanded > _MOST_EXPANDED:
            raise self._error(f"the macro {name} expands to more than {_MOST_EXPANDED:,} characters", at)

    def _expand(self, words: list[str], hidden: frozenset[str], at: Token) -> list[str]:
        out: list[str] = []
        i = 0
        while i < len(words):
            macro = None if words[i] in hidden else self.macros.get(words[i])
            called = None
            if macro is not None and macro.parameters is not None:
                called = _call_arguments(words, i + 1)
                self._spend(words[i], len(words) - i if called is None else called[1] - i, at)
            if macro is None or (macro.parameters is not None and called is None):
                out.append(words[i])
                i += 1
                continue
            arguments, stop = called or ([], i + 1)
            out += [" ", *self._expand_macro(words[i], macro, arguments, hidden, at), " "]
            i = stop
        return out

    def _directive(self, i: int) -> int:
        stop = i
        while stop < len(self.tokens) and self.tokens[stop].text != "\n":
            stop += 1
        line = self.tokens[i:stop]
        words = [t for t in line[1:] if not t.text.isspace() and t.text != "\\\n" and t.text[:2] not in ("//", "/*")]
        if words:
            self._obey(words, line)
        for token in line:
            self._emit(_blank(token.text), token.start, token.stop, True)
        return stop

    def _obey(self, words: list[Token], line: list[Token]) -> None:
        name, rest = words[0].text, words[1:]
        live = all(self.taken)
        match name:
            case "if" | "ifdef" | "ifndef":
                self.taken.append(self._condition(name, rest, words[0]) if live else None)
                if len(self.taken) > _DEEPEST_IF:
                    raise self._error(f"#if is nested more than {_DEEPEST_IF} deep", words[0])
            case "elif" | "else" | "endif" if not self.taken:
                raise self._error(f"#{name} without #if", words[0])
            case "elif" | "else":
                outer = all(self.taken[:-1])
                now = self.taken[-1]
                true = now is False and outer and (name == "else" or self._condition("if", rest, words[0]))
                self.taken[-1] = None if now is not False else true
            case "endif":
                self.taken.pop()
            case "define" if live:
                self._define(rest, line)
            case "undef" if live and rest:
                self.macros.pop(rest[0].text, None)
            case "error" if live:
                raise self._error("#error " + " ".join(t.text for t in rest), words[0])
            case "include" if live:
                self._leave_out("".join(token.text for token in rest))
            case "include" | "pragma" | "line" | "undef" | "define" | "error" | "warning":
                pass
            case _ if live:
                raise self._error(f"#{name} is not a directive", words[0])

    def _leave_out(self, header: str) -> None:
        name = header.strip('<>"')
        if name not in KNOWN:
            self.left_out.append(name)

    def _define(self, rest: list[Token], line: list[Token]) -> None:
        if not rest or not re.match(r"[A-Za-z_]", rest[0].text):
            raise self._error("#define needs a name", line[0])
        if rest[0].text in self.given:
            return
        following = line[line.index(rest[0]) + 1 :]
        parameters: tuple[str, ...] | None = None
        if following and following[0].text == "(":
            called = _call_arguments([t.text for t in following], 0)
            if called is None:
                raise self._error("a macro's parameter list needs ')'", rest[0])
            parameters = tuple("".join(words).strip() for words in called[0])
            parameters = () if parameters == ("",) else parameters
            following = following[called[1] :]
        body = [" " if t.text == "\\\n" else t.text for t in following if t.text[:2] not in ("//", "/*")]
        text = "".join(body).strip()
        self.macros[rest[0].text] = Macro(parameters, tuple(_texts(text)))

    def _condition(self, kind: str, rest: list[Token], at: Token) -> bool:
        if not rest:
            raise self._error(f"#{kind} needs a condition", at)
        if kind != "if":
            return (rest[0].text in self.macros) == (kind == "ifdef")
        text = re.sub(
            r"defined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
            lambda found: str(int((found[1] or found[2]) in self.macros)),
            " ".join(token.text for token in rest),
        )
        words = self._expand(_texts(text), frozenset(), at)
        python = {"&&": " and ", "||": " or ", "!": " not ", "true": "1", "false": "0"}
        formula = "".join(python.get(word, _without_suffix(word)) for word in words).strip()
        formula = re.sub(r"\b(?!and\b|or\b|not\b)[A-Za-z_]\w*", "0", formula)
        try:
            return bool(evaluate(formula, {}))
        except SourceError:
            raise self._error("this condition can't be evaluated", at) from None

    def _error(self, message: str, at: Token) -> SourceError:
        return SourceError(message, source_place(self.line_starts, at.start, at.stop))


def _tokens(text: str) -> Iterator[Token]:
    for found in _TOKEN.finditer(text):
        if found[0] == "\n":
            checkpoint()
        yield Token(found[0], found.start(), found.end())


def _texts(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _without_suffix(word: str) -> str:
    """An integer literal without its suffix of u and l."""
    return re.sub(r"(?<=[\da-fA-F])[uUlL]+$", "", word) if word[:1].isdigit() else word


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _call_arguments(words: list[str], i: int) -> tuple[list[list[str]], int] | None:
    """Arguments of the call that starts at the first word from ``i`` on that isn't space, and the index after it."""
    while i < len(words) and words[i].isspace():
        i += 1
    if i == len(words) or words[i] != "(":
        return None
    depth, arguments = 0, [[]]  # type: tuple[int, list[list[str]]]
    for j in range(i, len(words)):
        word = words[j]
        depth += (word in _OPENING) - (word in _CLOSING)
        if depth == 0:
            return arguments, j + 1
        if word == "," and depth == 1:
            arguments.append([])
        elif j > i:
            arguments[-1].append(" " if word in ("\n", "\\\n") or word[:2] in ("//", "/*") else word)
    return None


def _substitute(body: Iterable[str], arguments: Mapping[str, tuple[list[str], list[str]]]) -> list[str]:
    """A macro's body with its arguments substituted: as written next to ##, expanded elsewhere."""
    words = [word for word in body]
    out: list[str] = []
    pasting = False
    for i, word in enumerate(words):
        following = next((w for w in words[i + 1 :] if not w.isspace()), "")
        if word == "##":
            while out and out[-1].isspace():
                out.pop()
            pasting = True
            continue
        if pasting and word.isspace():
            continue
        pieces = [word]
        if word in arguments:
            raw, expanded = arguments[word]
            pieces = "".join(raw).split() if pasting or following == "##" else list(expanded)
        if pasting and out and pieces:
            pieces[0] = out.pop() + pieces[0]
        out += pieces
        pasting = False
    return out

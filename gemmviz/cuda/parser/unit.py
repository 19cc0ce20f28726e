"""A translation unit: SourceText to the cursors of libclang, with the places of the shown file and errors in plain words."""

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from clang.cindex import (
    Cursor,
    Diagnostic,
    Index,
    SourceLocation,
    SourceRange,
    TranslationUnit,
    TranslationUnitLoadError,
    TranslationUnitSaveError,
)
from msgspec import Struct

from gemmviz.cuda.functions import function_declarations
from gemmviz.cuda.parser.library import library, raw
from gemmviz.cuda.parser.source_text import SourceText, with_paths
from gemmviz.files.resources import cache_folder
from gemmviz.model.messages import ENDLESS, ErrorId, Place, SourceError

UNCLOSED_BRACE = "expected '}'"
UNCLOSED = re.compile(rf"{UNCLOSED_BRACE}|unterminated /\* comment|bracket nesting .*")


class Sentence(NamedTuple):
    """A sentence of the parser as a pattern, the plain one with the pattern's groups, and the way out, if one is known."""

    pattern: str
    words: str
    remedy: str | None = None
    id: ErrorId = "source"


_NOT_DECLARED = r"'\1' is not declared", "declare it in front of the kernel, or include the file that does"
_ONE_TYPE, _CONVERT = "convert the operands to one type", "convert it, or change the type of the variable"
_ARGUMENTS = "pass arguments of the types of its parameters"
_HOST_FUNCTION = r"\1 is a host function, which a kernel can't call", "write __device__ before it"
_HOST_VARIABLE, _CONSTANT = r"\1 is a host variable, which a kernel can't read", "make it constexpr or __constant__"
_SMALLER, _HOLDS = "make it smaller", "choose template arguments and parameters for which it holds"
_SENTENCES = (
    Sentence(
        r".*'(?:\w+::)*((?:Generic)?PackedTensorAccessor\w*)'.*",
        r"PyTorch's \1 is not supported",
        "pass a pointer to the tensor's data, and its sizes",
        "unsupported",
    ),
    Sentence(r"use of undeclared identifier '(\w+)'", *_NOT_DECLARED, id="unknown-name"),
    Sentence(r"no (?:template|type|member) named '(\w+)' in .*namespace.*", *_NOT_DECLARED, id="unknown-name"),
    Sentence(r"no template named '(\w+)'", *_NOT_DECLARED, id="unknown-name"),
    Sentence(r"unknown type name '(\w+)'", r"'\1' is not a known type", "include the file that declares it", "unknown-name"),
    Sentence(
        r"'(\w+)' is not a (?:class|template|namespace).*",
        r"'\1' is not a known type",
        "include the file that declares it",
        "unknown-name",
    ),
    Sentence(r"no member named '(\w+)' in '(.+)'", r"\2 has no member \1", "use a member that it has"),
    Sentence(r"member reference base type '(.+)' is not a structure or union", r"a \1 has no members", "use the value itself"),
    Sentence(r"member reference type '(.+)' is a pointer.*", r"a \1 is a pointer: its members follow ->", "write -> for ."),
    Sentence(r"redefinition of '(.+?)'.*", r"\1 is declared twice", "rename one of them"),
    Sentence(r"redeclaration of '(.+?)'.*", r"\1 is declared twice", "rename one of them"),
    Sentence(r"static assertion failed due to requirement '.+': (.+)", r'static_assert fails: "\1"', _HOLDS),
    Sentence(r"static assertion failed.* requirement '(.+)'", r"static_assert fails: \1", _HOLDS),
    Sentence(r"static assertion failed: (.+)", r'static_assert fails: "\1"', _HOLDS),
    Sentence(
        r"cannot assign to .* '(\w+)' .*const.*", r"\1 is const and can't be assigned", "leave out const, or assign to a copy"
    ),
    Sentence(
        r"read-only variable is not assignable",
        "const elements can't be assigned",
        "leave out const in the type of the pointer",
    ),
    Sentence(r"expression is not assignable", "this can't be assigned", "assign to a variable or an element"),
    Sentence(r"array subscript is not an integer", "this can't be an index: it is no integer", "convert it to int"),
    Sentence(r"assigning to '(.+?)'.* from .* '(.+)'.*", r"a \2 can't become a \1", _CONVERT),
    Sentence(r"cannot initialize .* type '(.+?)'.* with .* '(.+)'.*", r"a \2 can't become a \1", _CONVERT),
    Sentence(r"no viable conversion from '(.+?)'.* to '(.+?)'.*", r"a \1 can't become a \2", _CONVERT),
    Sentence(r"no viable overloaded '(.+)'", r"these types have no operator \1", _ONE_TYPE),
    Sentence(
        r"invalid operands to binary expression \('(.+)' and '(.+)'\)",
        r"\1 and \2 have no such operator",
        "write it with their members, or define the operator",
    ),
    Sentence(r"use of overloaded operator '(.+?)' is ambiguous.*", r"several operators \1 fit these types", _ONE_TYPE),
    Sentence(r"call to '(.+)' is ambiguous", r"several functions \1 fit these arguments", _ONE_TYPE),
    Sentence(r"no matching .*call to '(.+)': .*call to __host__ function.*", *_HOST_FUNCTION),
    Sentence(
        r"no matching .*call to '(.+)': .*requires (?:at least |at most )?(\d+) arguments?, but (\d+) .*",
        r"\1 takes \2 arguments, not \3",
        "pass as many as it takes",
    ),
    Sentence(r"no matching (?:member )?function for call to '(.+?)'.*", r"no \1 takes these arguments", _ARGUMENTS),
    Sentence(r"no matching constructor for initialization of '(.+)'", r"a \1 can't be made of this", _ARGUMENTS),
    Sentence(
        r"too (?:few|many) arguments to function call, expected (\d+), have (\d+).*",
        r"it takes \1 arguments, not \2",
        "pass as many as it takes",
    ),
    Sentence(
        r"reference to __global__ function '(.+?)'.* in .* function",
        r"\1 is a kernel; kernels that launch kernels are not supported",
        "make it a __device__ function",
        "unsupported",
    ),
    Sentence(r"reference to __host__ function '(.+?)'.* in .* function", *_HOST_FUNCTION),
    Sentence(r"integer literal is too large .*", "this number has too many digits", _SMALLER),
    Sentence(r"unterminated /\* comment", "this comment is not closed", "write */ where it ends"),
    Sentence(
        r"conversion from '(?:double|float)' to .* converted constant expression",
        "this must be a whole number",
        "convert it to int",
    ),
    Sentence(r"reference to __host__ variable '(.+?)'.* in .* function", _HOST_VARIABLE, _CONSTANT),
    Sentence(
        r"definition of variable with array type needs an explicit size or an initializer",
        "an array needs a size",
        "write one between the brackets",
    ),
    Sentence(r"cannot use variable-length arrays.*", "an array's size must be known when it is compiled", "make it a constant"),
    Sentence(r"variable length array.*", "an array's size must be known when it is compiled", "make it a constant"),
    Sentence(
        r"recursive template instantiation exceeded maximum depth of (\d+)",
        r"templates are instantiated more than \1 deep",
        "end the recursion earlier",
    ),
    Sentence(
        r"bracket nesting level exceeded maximum of (\d+)", r"brackets are nested more than \1 deep", "split the expression"
    ),
    Sentence(
        r"#include nested too deeply", "includes are nested too deeply", "write #pragma once in a header that includes itself"
    ),
    Sentence(r"constexpr evaluation .*|constant expression evaluat.*", "a constant takes too long to compute", _SMALLER),
    Sentence(r"array is too large \((\d+) elements\)", r"an array of \1 elements is too large", _SMALLER),
    Sentence(UNCLOSED_BRACE, "this { is not closed", "write } where its block ends"),
    Sentence(r"cannot use '(\w+)' in .*", r"\1 can't be used in a kernel", "leave it out: a kernel has no exceptions"),
    Sentence(r"expected '([^\w'])'(?: after .*| at end of .*)?", r"a \1 is missing here", "insert it"),
    Sentence(r"expected expression", "an operand is missing here", "write it, or delete the operator"),
    Sentence(r"extraneous closing brace .*", "this } closes nothing", "delete it, or write its {"),
    Sentence(r"(expected .*|extraneous .*|missing .*)", r"this can't be read: \1", "correct the syntax"),
)


def plain_sentence(message: str) -> tuple[str, str | None, ErrorId]:
    """A sentence of the parser in plain words, with the way out and the error's id; one that the table lacks stays as it is."""
    message = re.sub(r" \(aka '[^']*'\)", "", message)
    for sentence in _SENTENCES:
        if match := re.fullmatch(sentence.pattern, message):
            return re.sub(r" (?=[*&])", "", match.expand(sentence.words)), sentence.remedy, sentence.id
    return message, "write it in a simpler way", "source"


# The stand-in headers, precompiled.

STUBS = Path(__file__).resolve().parent / "stubs"
ALL_STUBS = STUBS / "gemmviz.h"  # included before the first line of every file
_AFTER_SAVED = STUBS / "standard" / "deallocation.h"
LANGUAGE = (
    "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++", "--cuda-gpu-arch=sm_90",
    "--target=x86_64-unknown-linux-gnu",  # the same sizes of types on every system
    "-std=c++20", "-ferror-limit=0", "-w", "-fno-spell-checking", "-fno-builtin",
    # errors of clang that are warnings of nvcc
    "-Wno-c++11-narrowing", "-Wno-register", "-Wno-reserved-user-defined-literal", "-Wno-non-pod-varargs",
    "-Wno-address-of-temporary", "-Wno-dynamic-exception-spec", "-Wno-return-type",
    f"-D__GEMMVIZ_FUNCTIONS={function_declarations(of_halves=False)}",
    f"-D__GEMMVIZ_FUNCTIONS_OF_HALVES={function_declarations(of_halves=True)}",
    "-isystem", str(STUBS),
)  # fmt: skip
_FOR_PRECOMPILING = TranslationUnit.PARSE_INCOMPLETE | 0x10  # CXTranslationUnit_ForSerialization
_CLANG = "18"
_UNUSED_S = 30 * 24 * 3600
_HEADERS_ALONE = ("-ivfsoverlay", str(STUBS.parent / "files.yaml"), "-include", str(ALL_STUBS))


@cache
def stub_arguments() -> tuple[str, ...]:
    """Arguments that make the stand-in headers known: their saved form if it can be written and read, else their text."""
    with contextlib.suppress(OSError):
        saved = cache_folder().resolve() / f"stubs-{_saved_key()}.pch"
        files = saved.with_suffix(".json")
        arguments = ("-ivfsoverlay", str(files), "-include", str(_AFTER_SAVED), "-include-pch", str(saved))
        if saved.is_file() and _is_usable(arguments):
            return arguments
        if _save(saved, files) and _is_usable(arguments):
            return arguments
    return _HEADERS_ALONE


def have_vanished(arguments: tuple[str, ...]) -> bool:
    """Whether the saved headers of ``stub_arguments`` were removed meanwhile; then the next call gives others."""
    if all(Path(each).exists() for each in arguments if not each.startswith("-")):
        return False
    stub_arguments.cache_clear()
    return True


def _saved_key() -> str:
    """A hash of everything that the saved form depends on."""
    files = [path for path in sorted(STUBS.rglob("*")) if path.is_file()]
    facts = [(str(path), (state := path.stat()).st_mtime_ns, state.st_size) for path in files]
    return hashlib.sha256(repr((_CLANG, LANGUAGE, facts)).encode()).hexdigest()[:20]


def _is_usable(arguments: tuple[str, ...]) -> bool:
    """Whether an empty text is parsed with the saved headers."""
    try:
        unit = Index.create().parse("/empty.cu", [*LANGUAGE, *arguments], [("/empty.cu", "")])
    except TranslationUnitLoadError:
        return False
    return not any(each.severity >= Diagnostic.Error for each in unit.diagnostics)


def _save(saved: Path, files: Path) -> bool:
    """Parses the headers and saves them; whether that worked. ``files`` gets the file system with which they are used."""
    saved.parent.mkdir(parents=True, exist_ok=True)
    try:
        unit = Index.create().parse(str(ALL_STUBS), [*LANGUAGE, *_HEADERS_ALONE[:2]], options=_FOR_PRECOMPILING)
        with _replacement(saved) as draft:
            unit.save(str(draft))
            _remove_old(saved.parent)
        with _replacement(files) as draft:
            draft.write_text(_file_system(saved), encoding="utf-8")
    except (TranslationUnitLoadError, TranslationUnitSaveError):
        return False
    return True


def _file_system(saved: Path) -> str:
    """The parser's file system, in the form of clang's option -ivfsoverlay."""
    stubs = {"type": "directory-remap", "name": str(STUBS), "external-contents": str(STUBS)}
    headers = {"type": "file", "name": str(saved), "external-contents": str(saved)}
    return json.dumps({"version": 0, "fallthrough": "false", "roots": [stubs, headers]})


@contextlib.contextmanager
def _replacement(path: Path) -> Iterator[Path]:
    """A draft beside ``path`` that replaces it, so that other processes see the old file or the whole new one."""
    with NamedTemporaryFile(dir=path.parent, prefix="stubs-", suffix=".tmp", delete=False) as file:
        draft = Path(file.name)
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _remove_old(folder: Path) -> None:
    """Removes saved headers that no version of gemmviz has written for a month."""
    for old in (*folder.glob("stubs-*.pch"), *folder.glob("stubs-*.json")):
        with contextlib.suppress(OSError):  # in use on Windows, or removed by another process
            if time.time() - old.stat().st_mtime > _UNUSED_S:
                old.unlink()


# What nvcc accepts and the parser doesn't, corrected in memory. Lines keep their numbers.

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


# Parameters of a kernel that take precedence over the file's own definitions of the same names.

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


SOURCE_ROOT = "/project"
_PARSER_LIMITS = ("-ftemplate-depth=256", "-fconstexpr-steps=524288", "-fconstexpr-depth=256", "-fbracket-depth=256")
_KEEP_GOING = 0x200  # CXTranslationUnit_KeepGoing: a missing header doesn't end the parse
_MISSING, _CANDIDATE = "' file not found", "candidate"
_WITHOUT_BODY = "is used but not defined in this translation unit"
_REQUESTED = re.compile(r"requested here$|in call to")


class Spot(Struct, frozen=True):
    """A line of a project file; ``file`` is empty outside the project."""

    file: str
    line: int


class ParseError(Struct, frozen=True):
    """An error of the parser, in its own words. ``spots``: where it is, then where what it is in was instantiated or called;
    ``place``: the first of them in the shown file, None if none is.
    """

    message: str
    spots: tuple[Spot, ...]
    place: Place | None


class Unit(Struct, frozen=True, eq=False, dict=True):
    """A parsed translation unit. ``files`` are the texts as the parser read them, by name; ``notes`` sentences about what was
    corrected in them.
    """

    source: SourceText
    tree: TranslationUnit
    files: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text of the shown file as the parser read it: lines are those of the file, columns too where nothing was set."""
        return self.files[self.source.shown or self.source.main]

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """Errors of libclang, except about missing headers and about stand-ins that have no body for a file's own types."""
        return [
            each for each in self._all_errors if not each.spelling.endswith(_MISSING) and _WITHOUT_BODY not in each.spelling
        ]

    @cached_property
    def errors(self) -> tuple[ParseError, ...]:
        """Errors in the order of the text, but for comments and braces that are not closed, of which those behind them come."""
        found = sorted(self.diagnostics, key=lambda each: UNCLOSED.fullmatch(each.spelling) is None)
        return tuple(map(self._error, found))

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Names of the included headers that neither gemmviz nor the project has."""
        ends = (each.spelling for each in self._all_errors if each.spelling.endswith(_MISSING))
        return tuple(dict.fromkeys(spelling.removesuffix(_MISSING).lstrip("'") for spelling in ends))

    def declarations(self) -> Iterator[Cursor]:
        """Top-level declarations of the project's own files, in order."""
        for cursor in self.tree.cursor.get_children():
            if self.file_of(cursor.location):
                yield cursor

    def file_of(self, location: SourceLocation) -> str:
        """Name of the project file of a location, empty for one outside the project."""
        file = location.file
        return file.name.removeprefix(f"{SOURCE_ROOT}/") if file is not None and file.name.startswith(f"{SOURCE_ROOT}/") else ""

    def is_shown(self, cursor: Cursor) -> bool:
        """Whether a cursor is in the shown file."""
        return self.file_of(cursor.location) == self._shown

    def place(self, extent: SourceRange) -> Place:
        """Lines and columns of a range. A macro's expansion is placed where the macro is used."""
        start, end = extent.start, extent.end
        return Place(start.line, self._column(start.line, start.column), end.line, self._column(end.line, end.column))

    def _column(self, line: int, byte: int) -> int:
        """The column of a character of the shown text; libclang counts bytes of UTF-8."""
        if self._lines is None or line > len(self._lines):
            return byte
        return len(self._lines[line - 1].encode()[: byte - 1].decode(errors="replace")) + 1

    @cached_property
    def _lines(self) -> list[str] | None:
        """Lines of the shown text; None if characters are bytes in it."""
        text = self.source.text.removeprefix("\ufeff")
        return None if text.isascii() else text.split("\n")

    @cached_property
    def _all_errors(self) -> list[Diagnostic]:
        return [each for each in self.tree.diagnostics if each.severity >= Diagnostic.Error]

    def _error(self, diagnostic: Diagnostic) -> ParseError:
        notes = [note for note in diagnostic.children if _REQUESTED.search(note.spelling)]
        locations = [diagnostic.location, *(note.location for note in notes)]
        if diagnostic.spelling == UNCLOSED_BRACE:
            locations = [note.location for note in diagnostic.children] or locations  # where the brace opens
        spots = tuple(Spot(self.file_of(at), at.line) for at in locations)
        shown = next((at for at in locations if self.file_of(at) == self._shown), None)
        reasons = [note.spelling for note in diagnostic.children if note.spelling.startswith(_CANDIDATE)]
        message = f"{diagnostic.spelling}: {reasons[0]}" if len(reasons) == 1 else diagnostic.spelling
        return ParseError(message, spots, None if shown is None else self._error_place(diagnostic, shown))

    def _error_place(self, diagnostic: Diagnostic, at: SourceLocation) -> Place:
        """From a location to the end of the error's range around it, or one character."""
        ranges = [each for each in diagnostic.ranges if each.start.line == at.line == each.end.line]
        stop = max((each.end.column for each in ranges if each.end.column > at.column), default=at.column + 1)
        return Place(at.line, self._column(at.line, at.column), at.line, self._column(at.line, stop))

    @property
    def _shown(self) -> str:
        return self.source.shown or self.source.main


def parse(source: SourceText, appended: str = "") -> Unit:
    """The translation unit of a text. ``appended`` is added behind the main file's last line. Raises SourceError if the
    parser gives up.
    """
    files, macros, notes = _prepared(source)
    files[source.main] = f"{files[source.main]}\n{appended}"
    headers = stub_arguments()
    try:
        tree = _tree(source.main, files, macros, headers)
    except TranslationUnitLoadError:
        if have_vanished(headers):
            return parse(source, appended)
        raise SourceError("the parser gives up on this file", remedy=ENDLESS) from None
    return Unit(source, tree, files, notes)


def _tree(main: str, files: Mapping[str, str], macros: Mapping[str, str], headers: tuple[str, ...]) -> TranslationUnit:
    """The tree of prepared texts. Raises TranslationUnitLoadError if the parser gives up."""
    defines = (f"-D{name}={value}" for name, value in macros.items())
    unsaved = [(f"{SOURCE_ROOT}/{name}", text) for name, text in files.items()]
    return _index().parse(f"{SOURCE_ROOT}/{main}", [*LANGUAGE, *headers, *_PARSER_LIMITS, *defines], unsaved, _KEEP_GOING)


def load_parser() -> None:
    """Loads the parser and the stand-in headers ahead of the first text."""
    parse(SourceText("empty.cu", {"empty.cu": ""}))


def _prepared(source: SourceText) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    """Texts as libclang reads them, by name, the macros that define the remaining parameters, and notes on corrections."""
    files, constants, notes = {}, set[str](), list[str]()
    for name, original in source.files.items():
        text, set_here = with_parameters(original, source.macros) if source.macros else (original, frozenset())
        text, corrections = corrected(text)
        files[name] = with_paths(text.removeprefix("\ufeff"), name, source.files, SOURCE_ROOT, stub_names())
        constants |= set_here
        notes += corrections
    return files, {name: value for name, value in source.macros.items() if name not in constants}, tuple(notes)


@cache
def stub_names() -> frozenset[str]:
    """Names of the headers that gemmviz stands in for, as they are included."""
    return frozenset(path.relative_to(STUBS).as_posix() for path in STUBS.rglob("*") if path.is_file())


@cache
def _index() -> Index:
    return Index.create(excludeDecls=True)  # the stand-in headers, hundreds of declarations


# Operators and values of cursors, which the Python bindings of libclang 18 leave out.


def binary_operator(cursor: Cursor) -> str:
    """The operator of a binary operation or compound assignment, such as ``+=``."""
    return library().binary_operator(raw(cursor))


def unary_operator(cursor: Cursor) -> str:
    """The operator of a unary operation; postfix ones are ``x++`` and ``x--``, prefix ones ``++x`` and ``--x``."""
    return library().unary_operator(raw(cursor))


def evaluated(cursor: Cursor) -> int | float | None:
    """The value of a constant expression or of an initialised constant; None if it isn't known when compiling."""
    return library().evaluated(raw(cursor))

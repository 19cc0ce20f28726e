"""Checks of a step's texts: every number and every formula in them is that of an expectation, or of the table of constants; and
what a text says of a number, its unit and what is counted, is what the quantity says.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from msgspec import Struct

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource
from gemmviz.model.messages import ENGLISH, UsageError, language
from gemmviz.teaching.lesson import FIELD, TEXT_FIELDS, Expectation, LessonStep
from gemmviz.teaching.quantities.catalog import contrasts_of, quantity_title
from gemmviz.teaching.quantities.quantity import parse_reference

# Phrases with a number that texts of lessons may have as they are, since nothing of a step could compute it.


class SourcedNumber(Struct, frozen=True):
    """``text``: the phrase, word for word. ``value``: its number. ``meaning``: what the number is. ``source``: who says so."""

    text: str
    value: float
    meaning: str
    source: str


class _File(Struct, frozen=True):
    constants: tuple[SourcedNumber, ...]


@cache
def constants() -> tuple[SourcedNumber, ...]:
    """All of them, the longest phrases first."""
    table = read_toml(resource("assets/measurements/constants.toml"), _File).constants
    return tuple(sorted(table, key=lambda each: -len(each.text)))


# Units of quantities, and the nouns that may follow their numbers in a text.

_UNIT_SIGNS = {
    "milliseconds": "ms", "microseconds": "µs", "nanoseconds": "ns", "percent": "%", "GiB": "GiB", "MiB": "MiB",
    "GFLOP/s": "GFLOP/s", "gb_s": "GB/s", "thousands": "thousand", "gflops": "GFLOP/s",
}  # fmt: skip
_OTHER_UNITS = {"ms", "s", "ns", "µs", "KiB", "kB", "MB", "GB", "TFLOP/s", "MHz", *_UNIT_SIGNS.values()}
_SYNONYMS = (
    {"lane", "thread", "sum", "size"}, {"product", "term"}, {"pass", "wavefront"}, {"multiprocessor", "sm"}, {"byte", "shared"},
    {"scheduler", "granularity"}, {"load", "read", "element", "copy"}, {"phase", "round"}, {"thread", "parallelism"},
    {"operation", "flop", "floating-point", "work", "span"}, {"instruction", "request"}, {"hazard", "collision"},
    {"block", "quadrant", "slab"}, {"write", "store", "element"}, {"request", "store"},
)  # fmt: skip
_NOUNS = frozenset().union(*_SYNONYMS) - {"element", "sum", "size"} | {
    "sector", "line", "warp", "byte", "register", "step", "wave", "row", "column", "core", "blank", "cycle", "tile", "bank",
    "word", "addition", "tick", "strip",
}  # fmt: skip


def is_unit(word: str) -> bool:
    """Whether a word is a unit of measurement."""
    return word in _OTHER_UNITS


def unit_of(reference: str) -> str:
    """The unit that a text must give after the number of a quantity, such as µs; "" for a count."""
    title = quantity_title(reference)
    words = [title.split()[0], *re.findall(r"GFLOP/s|gb_s|gflops", title)]
    return next((_UNIT_SIGNS[word] for word in words if word in _UNIT_SIGNS), "")


def is_counted(reference: str, word: str) -> bool:
    """Whether a word may follow the number of a quantity without a unit: it is no noun for things that are counted, or one of
    those in the quantity's title, or another word for it.
    """
    if is_unit(word):
        return False
    noun, given = _singular(word), parse_reference(reference)
    if noun not in _NOUNS or given.id == "parameter":
        return True
    said = {_singular(each) for each in re.findall(r"[\w-]+", f"{quantity_title(reference)} {given.id}".replace("_", " "))}
    return noun in said or any(noun in same and same & said for same in _SYNONYMS)


def is_of(reference: str, word: str) -> bool:
    """Whether a quantity is one of each of these things, or a share of them: of a block, per thread, percent of cuBLAS."""
    title = quantity_title(reference).replace("_", " ")
    bases = re.findall(r"(?:per|of an?|percent of|and) (\w+)", title)
    of_words = {_singular(each) for each in (*bases, *(title.split() if title.startswith("percent") else ()))}
    noun = _singular(word)
    return not bases or noun in of_words or any(noun in same and same & of_words for same in _SYNONYMS)


def _singular(word: str) -> str:
    return word.lower().removesuffix("es") if word.lower() == "passes" else word.lower().removesuffix("s")


_LETTERS = re.compile(r"\w+")
_NUMBER_WORDS = re.compile(
    r"three|four(teen)?|five|fifteen|six(teen|ty)?|seven(teen|ty)?|eight(een|y)?|nine(teen|ty)?|ten|eleven|twelve|thirteen|twenty|"
    r"thirty|forty|fifty|hundred|thousand|[mb]illion|dozen"
)
_FRACTION = r"(?:third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)"
_MULTIPLES = re.compile(  # not the second half of an array, a third block, or the type double
    r"(?<!\b(?:first|other|third|upper|lower) )(?<!\b(?:second|fourth) )\b(?:half|halves|quarters?)\b|\bhalv(?:ed?|ing)\b|"
    r"\b(?:twice|thrice|(?:two|three|four|ten)fold|doubl(?:ed|ing))\b|"
    r"(?<!\bin )\bdoubles?(?= (?:the|its|their|that|this|as (?:many|much))\b)|"
    r"(?<!\b(?:of|in|as|to|by) )\bdoubles(?=[.,;:?\n]|$| with\b)|"
    rf"\b{_FRACTION}s\b|(?<!\bthe )\b{_FRACTION}(?= (?:of|more|less|fewer|as)\b)|\b(?:a|one) {_FRACTION}(?=[.,;:?\n]|$)|"
    rf"\b(?:second|{_FRACTION}) power\b",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\{\w+\}( thousand)?")
_FORMULA_LIKE = re.compile(r"[·²³]|[\w)] [+−] [\w({]|\b[AB]\([a-z], [a-z]\)")
_NAMED_NUMBER = re.compile(r"\{(\w+)\}(?:(?:,| and| to| or) \{\w+\})*\s?([^\s.,;:?()]*)")
_OF_EACH = re.compile(r"\{(\w+)\} (?:[\w-]+ (?:an?|per)|% of(?: the| its| an?)?) (\w+)")
_PLAIN_WORD = re.compile(r"[^\s.,;:?()]+")
_FIELD_OR_TEXT = re.compile(r"\{(\w+)\}(?: [^\s.,;:?()]+)?|[^{]+")
_CLAUSE_BREAK = re.compile(r"(\{\w+\}[^{,;:?]*?)\b(?:and|but|while)\b(?=[^,;:?.]*\{)")
_CLAUSE = re.compile(r"[,;:?]|\.\s")


def text_errors(step: LessonStep) -> Iterator[tuple[str, UsageError]]:
    """What is wrong with a step's texts: the field, and an error."""
    for field in TEXT_FIELDS:
        for name in step.unknown_fields(field):
            yield field, UsageError(f"no expectation has the name {{{name}}}", remedy="give one that name")
        for text, expected in step.texts_with_names(field) if language() == ENGLISH else ():  # the words below are English
            for digits in typed_numbers(text):
                yield field, UsageError(f"the number {digits} is typed", remedy="name it by an expectation: {name}")
            if formula := _FORMULA_LIKE.search(_without_constants(text)):
                what = f"the formula around {formula[0].strip()!r} is typed"
                yield field, UsageError(what, remedy="name it by an expectation whose value is the formula: {name}")
            for what in wrong_words(text, expected):
                yield field, UsageError(what, remedy="name another expectation, or change the words")


def typed_numbers(text: str) -> list[str]:
    """Words of a text that begin with a digit, numbers in words from three up, and fractions, multiples and powers in words,
    outside names in {} and constants; words that begin with a letter are names, such as H200.
    """
    text = _without_constants(text)
    words = [
        word
        for word in _LETTERS.findall(text)
        if _NUMBER_WORDS.fullmatch(word.lower()) or (not word[0].isalpha() and any(map(str.isnumeric, word)))
    ]
    return words + _MULTIPLES.findall(text)


def _without_constants(text: str) -> str:
    text = _NUMBERS.sub(" {} ", text)
    for each in constants():
        text = re.sub(rf"(?<!\w){re.escape(each.text)}(?!\w)", " ", text)
    return text.replace("{}", " ")


def wrong_words(text: str, expected: Mapping[str, Expectation]) -> Iterator[str]:
    """What a text says beside a number and its quantity doesn't: another unit, other things that are counted, or, in the same
    clause, the words of another argument or the name of another expectation of this kind.
    """
    for found in _NAMED_NUMBER.finditer(text):
        for each in (expected[name] for name in FIELD.findall(found[0]) if name in expected):
            unit, word = unit_of(each.quantity), found[2]
            is_said = word == unit or (unit in _PLAIN_WORD.findall(text) and not is_unit(word))
            if not (is_said if unit else is_counted(each.quantity, word)):
                yield f"{{{each.name}}} is followed by {word or 'nothing'!r}, and its quantity is {unit or each.quantity}"
    for found in _OF_EACH.finditer(text):
        if found[1] in expected and not is_of(expected[found[1]].quantity, found[2]):
            what = quantity_title(expected[found[1]].quantity)
            yield f"{{{found[1]}}} is said of each {found[2]}, and its quantity is {what}"
    for clause in _CLAUSE.split(_CLAUSE_BREAK.sub(r"\1;", text)):
        for each in (expected[name] for name in dict.fromkeys(FIELD.findall(clause)) if name in expected):
            own_part = "".join(part[0] for part in _FIELD_OR_TEXT.finditer(clause) if part[1] in (None, each.name))
            words = set(_LETTERS.findall(FIELD.sub(" ", own_part)))  # without those that follow other names
            title = set(_LETTERS.findall(quantity_title(each.quantity)))
            for own, others in _contrasts(each, expected.values()):
                other = next((other for other in others if _mentions(words, other) and not _mentions(title, other)), None)
                if other is not None and not _mentions(words, own):
                    yield f"{{{each.name}}} is said of {other!r}, and its expectation of {own!r}"


def _contrasts(each: Expectation, others: Iterable[Expectation]) -> Iterator[tuple[str, list[str]]]:
    """Words for an expectation, with those that would stand for another one: names, those of other values of the same quantity,
    and arguments.
    """
    kind = _quantity_kind(each)
    yield each.name, [other.name for other in others if other.name != each.name and _quantity_kind(other) == kind]
    yield from contrasts_of(each.quantity)


def _quantity_kind(each: Expectation) -> str:
    return parse_reference(each.quantity).id.removeprefix("compared_")


def _mentions(words: set[str], word: str) -> bool:
    """Whether a word is among others, in the singular or plural; a single letter only as the name of a matrix."""
    if len(word) == 1:
        return word.upper() in words
    return any(each.lower().rstrip("s") == word.lower().rstrip("s") for each in words)

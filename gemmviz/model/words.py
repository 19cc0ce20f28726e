"""Numbers, counts and lists as text."""

from collections.abc import Iterable
from typing import Literal

from gemmviz.model.translation import counted, grouped, marked, tr, trn

_LIST_FORMS = {"and": marked("{others} and {last}"), "or": marked("{others} or {last}")}
_ORDINALS = {1: marked("{number}st"), 2: marked("{number}nd"), 3: marked("{number}rd")}
_ORDINAL = marked("{number}th")
_GROWING = frozenset({"sector", "wavefront", "lane", "element", "load"})  # what is counted up when a question is answered


def number(value: float) -> str:
    """A number with three digits, or more before its point, with thin spaces between thousands from five digits on."""
    return grouped(value, "\u2009") if value >= 100 else f"{value:.3g}"


def spaced(count: float) -> str:
    """All digits of a count, as ``grouped`` writes those of other numbers."""
    return counted(grouped(count))


def size_text(size: float) -> str:
    """A number of bytes in binary units: "48 KiB", "512 bytes"."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return tr("{size} bytes", size=grouped(round(size)))


def percent(share: float) -> str:
    """A share in percent, with one decimal: "12.5 %"."""
    return f"{counted(f'{100 * share:.1f}')} %"


def many(count: int, noun: str) -> str:
    """A count and its noun: "1 sector", "4 launches". Nouns in calls are messages of the catalogue, as "{count} sector"."""
    text = counted(count, count if count > 1 and noun in _GROWING else None)
    return trn(f"{{count}} {noun}", f"{{count}} {plural(noun)}", count, count=text)


def sized(count: int, noun: str) -> str:
    """A size and its noun, as ``many`` writes counts: "256 threads" of a block. No question hides it."""
    return trn(f"{{count}} {noun}", f"{{count}} {plural(noun)}", count, count=str(count))


def noun(word: str) -> str:
    """Return the noun itself: the mark of a noun in a table, which ``many`` counts or ``tr`` shows."""
    return word


def plural(noun: str) -> str:
    """The English plural of a noun: "sectors", "launches"."""
    return f"{noun}es" if noun.endswith(("ch", "sh", "ss", "x")) else f"{noun}s"


def capital(text: str) -> str:
    """The text with an upper-case first letter."""
    return text[:1].upper() + text[1:]


def listed(names: Iterable[str], last: Literal["and", "or"] = "and") -> str:
    """Names in a sentence: "A, B and C"."""
    *others, end = [*names] or [""]
    return tr(_LIST_FORMS[last], others=", ".join(others), last=end) if others else end


def ordinal(number: int) -> str:
    """A place in a row, from 1: "1st", "22nd"."""
    return tr(_ORDINAL if number % 100 in (11, 12, 13) else _ORDINALS.get(number % 10, _ORDINAL), number=number)


def letter(place: int) -> str:
    """The letter of a choice, "A" for 0."""
    return chr(ord("A") + place)


def all_blocks(count: int) -> str:
    """All blocks of a launch in words: "all 16 blocks"."""
    return tr("all {count} blocks", count=count) if count > 1 else tr("its only block")

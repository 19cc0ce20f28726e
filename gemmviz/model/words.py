"""Numbers, counts and lists as text."""

from collections.abc import Iterable


def number(value: float) -> str:
    """A number with three digits, or more before its point, with thin spaces between thousands from five digits on."""
    return _grouped(value, "\u2009") if value >= 100 else f"{value:.3g}"


def spaced(count: int) -> str:
    """All digits of a count, with narrow spaces between the thousands from five digits on: "4096", "16 384"."""
    return _grouped(count, "\u202f")


def _grouped(value: float, gap: str) -> str:
    """A whole number with gaps between its thousands. Four digits are one group, as in code and in names of sizes."""
    text = f"{value:,d}" if isinstance(value, int) else f"{value:,.0f}"  # an int may be too large for a float
    return text.replace(",", gap if len(text.lstrip("-")) > 5 else "")


def size_text(size: float) -> str:
    """A number of bytes in binary units: "48 KiB", "512 bytes"."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{spaced(round(size))} bytes"


def percent(share: float) -> str:
    """A share in percent, with one decimal: "12.5 %"."""
    return f"{100 * share:.1f} %"


def many(count: int, noun: str) -> str:
    """A count and its noun: "1 sector", "4 sectors"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def capital(text: str) -> str:
    """The text with an upper-case first letter."""
    return text[:1].upper() + text[1:]


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names in a sentence: "A, B and C"."""
    *others, end = [*names] or [""]
    return f"{', '.join(others)} {last} {end}" if others else end


def ordinal(number: int) -> str:
    """A place in a row, from 1: "1st", "22nd"."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def letter(place: int) -> str:
    """The letter of a choice, "A" for 0."""
    return chr(ord("A") + place)


def all_blocks(count: int) -> str:
    """All blocks of a launch in words: "all 16 blocks"."""
    return f"all {count} blocks" if count > 1 else "its only block"

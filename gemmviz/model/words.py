"""Numbers as people write them."""


def number(value: float) -> str:
    """Three digits, thin spaces between thousands."""
    return f"{value:,.0f}".replace(",", "\u2009") if value >= 100 else f"{value:.3g}"


def spaced(count: int) -> str:
    """All digits, with narrow spaces between the thousands."""
    return f"{count:,}".replace(",", "\u202f")


def many(count: int, noun: str) -> str:
    """A count and its noun: "1 sector", "4 sectors"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def capital(text: str) -> str:
    """With its first letter large."""
    return text[:1].upper() + text[1:]


def letter(place: int) -> str:
    """That of a choice, from 0: "A"."""
    return chr(ord("A") + place)


def all_blocks(count: int) -> str:
    """All of a launch's."""
    return f"all {count} blocks" if count > 1 else "its only block"

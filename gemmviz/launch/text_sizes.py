"""Sizes that a kernel's text fixes itself, by macros or constants: a filter's radius, a histogram's bins."""

import re
from collections.abc import Iterator

from msgspec import Struct

from gemmviz.model.kernel import Requirement

_DEFINED = re.compile(
    r"^[ \t]*(?:(?P<macro>#[ \t]*define[ \t]+)|(?:static |const |constexpr |unsigned |int |size_t )*"
    r"(?:int|size_t|unsigned)[ \t]+)(?P<name>\w+)[ \t=]+\(?(?P<value>\d+)\)?[ \t]*;?[ \t]*(?://.*|/\*.*)?\r?$",
    re.MULTILINE,
)
_WHAT = r"(?:mask|filter|kernel|conv\w*|stencil)"
_RADIUS = re.compile(rf"(?:{_WHAT}_?)?(?:radius|halo)|r|{_WHAT}_?r", re.IGNORECASE)
_WIDTH = re.compile(rf"{_WHAT}_?(?:width|size|dim|length|len|w)|k_?size", re.IGNORECASE)
_BINS = re.compile(r"(?:n|num|number_of|hist\w*)?_?(?:bins|buckets|bin_count|num_bins)|histogram_size|hist_size", re.IGNORECASE)


class TextSize(Struct, frozen=True):
    """A size in the text. ``follows``: the name is a macro that is defined anew for another size."""

    name: str
    size: str
    value: int
    follows: bool

    @property
    def rule(self) -> Requirement:
        return Requirement(f"{self.size} == {self.value}", f"{self.size} = {{{self.size}}}: the text has {self.name} for it")


def text_sizes(text: str) -> tuple[TextSize, ...]:
    """The sizes that a text fixes, each once."""
    return tuple({each.size: each for each in reversed(list(_found(text)))}.values())


def size_of_width(name: str) -> bool:
    """Whether a name is that of the width of a filter: twice its radius and one."""
    return _WIDTH.fullmatch(name) is not None


def _found(text: str) -> Iterator[TextSize]:
    for match in _DEFINED.finditer(text):
        name, value, is_macro = match["name"], int(match["value"]), match["macro"] is not None
        if _RADIUS.fullmatch(name):
            yield TextSize(name, "radius", value, is_macro)
        elif _WIDTH.fullmatch(name) and value % 2 and value > 1:
            yield TextSize(name, "radius", value // 2, False)
        elif _BINS.fullmatch(name):
            yield TextSize(name, "bins", value, is_macro)

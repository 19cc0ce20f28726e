"""Candidates for the roles of a launch's arguments, likeliest first: which is A, B, C, M, N, K, alpha or beta."""

import itertools
import re
from collections.abc import Iterator

from msgspec import Struct

from gemmviz.cuda.launch.draft import ARRAY_NAMES, LEADING, SIZE_NAMES, Draft, DraftParameter, bare_name
from gemmviz.cuda.launch.formula import names_in
from gemmviz.model.kernel import Requirement
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems import MULTIPLICATIONS, MULTIPLY

# Sizes that a kernel's text fixes itself, by macros or constants: a filter's radius, a histogram's bins.

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


_MANY, _LIKELY = 6, 2  # more sizes than this have only the likeliest roles
_UNLIKELY, _SPOKEN_AGAINST = 2, 6
_MOST_CANDIDATES = 4000
_STRIDES = ("stride", "ld", "pitch", "leading")
_ADDED = ("c", "cin", "csrc", "source", "src", "residual", "res", "z", "add", "addend", "acc", "d")
_UNTIED_SIZES = ("radius", "bins", "batch")  # sizes that no launch ties to others
FILTER_WIDTH = "(2 * radius + 1)"


class Roles(Struct, frozen=True):
    """What each argument is. ``kind``: of the problem; ``arrays``: the array of each pointer; ``sizes``: the size for each of
    the draft's sizes; ``reals``: the value of each floating-point argument; ``ties``: sizes that no argument tells from
    the first.
    """

    kind: str
    arrays: tuple[str, ...]
    sizes: tuple[str, ...]
    reals: tuple[float, ...] = ()
    ties: tuple[str, ...] = ()

    @property
    def size_names(self) -> frozenset[str]:
        """Sizes that some argument gives, by itself or in a formula."""
        return frozenset(re.findall(r"[A-Za-z_]\w*", " ".join(self.sizes)))


def candidates(draft: Draft, kind: ProblemKind) -> Iterator[Roles]:
    """Roles for the arguments of a draft in a problem of this kind, likeliest first; none if the kind has other arrays."""
    if not fits(draft, kind):
        return
    needed = [size.name for size in kind.sizes if not size.is_optional or _has_name_of(draft, size.name)]
    ranked: list[tuple[float, int, Roles]] = []
    products = itertools.product(_orders(draft, kind), _size_choices(draft, needed), _real_values(draft))
    for number, ((a, arrays), (b, sizes), (c, reals)) in enumerate(itertools.islice(products, _MOST_CANDIDATES)):
        ties = tuple(each for each in needed if each not in (*sizes, *_UNTIED_SIZES)) if sizes else ()
        if ties and sizes[0] in (*_UNTIED_SIZES, FILTER_WIDTH):
            continue
        ranked.append((a + b + c, number, Roles(kind.name, arrays, sizes, reals, ties)))
    yield from (roles for _, _, roles in sorted(ranked, key=lambda each: each[:2]))


def is_told(draft: Draft, kind: ProblemKind, roles: Roles) -> bool:
    """Whether names and copies of the host tell every array and every size of the roles: none that is computed from another."""
    needed = [size.name for size in kind.sizes if not size.is_optional or size.name in roles.sizes]
    known = {name for each in needed for name in SIZE_NAMES.get(each, "").split()}
    computed = [each for each in draft.parameters if each.kind == "whole" and not each.argument.isidentifier()]
    if any(bare_name(each.name) in known and {*names_in([each.argument])} & {*draft.sizes} for each in computed):
        return False
    sizes = (
        0.0 if len(draft.sizes) <= 1 else _cost_of_sizes([_names_of(draft, each) for each in draft.sizes], roles.sizes, needed)
    )
    return _cost_of_order(draft, kind, roles.arrays) < 1 and sizes < 1


def fits(draft: Draft, kind: ProblemKind) -> bool:
    """Whether a draft has as many pointers as a kind has arrays, or one more in a multiplication that adds what it reads; and
    no more numbers than a kind has factors, if it has some.
    """
    reals = sum(each.kind == "real" for each in draft.parameters)
    if kind.factors and kind.name not in MULTIPLICATIONS and reals > len(kind.factors):
        return False
    more = len(draft.pointers) - len(kind.arrays)
    return more == 0 or (more == 1 and kind.name == MULTIPLY and any(map(_may_be_added, draft.pointers)))


def _may_be_added(pointer: DraftParameter) -> bool:
    """Whether a pointer may be to a matrix that is added to the product, as C in D = A B + C."""
    return pointer.is_const and bare_name(pointer.name) in _ADDED


def _orders(draft: Draft, kind: ProblemKind) -> list[tuple[float, tuple[str, ...]]]:
    """The arrays of the pointers, in order. One pointer more, to what is read only, gets the output, as C in D = A B + C."""
    names = [array.name for array in kind.arrays]
    every = [order for order in itertools.permutations(names)]
    if len(draft.pointers) > len(names):
        extra = [place for place, each in enumerate(draft.pointers) if _may_be_added(each)]
        outputs = [array.name for array in kind.arrays if array.is_output]
        every = [(*order[:place], outputs[0], *order[place:]) for place in extra for order in every]
    orders = [(_cost_of_order(draft, kind, order), order) for order in every]
    return sorted(orders, key=lambda each: each[0])


def _cost_of_order(draft: Draft, kind: ProblemKind, order: tuple[str, ...]) -> float:
    """How unlikely an order of the arrays is: names count, constness and copies count, and the usual order counts a little."""
    usual = [array.name for array in kind.arrays]
    outputs = {array.name for array in kind.arrays if array.is_output}
    cost = 0.1 * sum(usual.index(a) > usual.index(b) for a, b in itertools.combinations(order, 2))
    for pointer, array in zip(draft.pointers, order, strict=True):
        words = {bare_name(pointer.name), bare_name(pointer.buffer.name if pointer.buffer is not None else "")}
        named = [each for each in usual if words & set(ARRAY_NAMES[each].split())]
        cost += 0 if array in named else _UNLIKELY if not named else _UNLIKELY + 1
        cost += _SPOKEN_AGAINST if pointer.is_const and array in outputs else 0
        cost += _cost_of_copies(pointer, array in outputs)
    return cost


def _cost_of_copies(pointer: DraftParameter, is_output: bool) -> float:
    """What the host's copies say against a role: inputs are copied in and not out, outputs are copied out."""
    buffer = pointer.buffer
    if buffer is None or not (buffer.is_copied_in or buffer.is_copied_out):
        return 0
    return _UNLIKELY if buffer.is_copied_out != is_output else 0


def _size_choices(draft: Draft, needed: list[str]) -> list[tuple[float, tuple[str, ...]]]:
    """The size that each of the draft's sizes may stand for."""
    known_as = [_names_of(draft, size) for size in draft.sizes]
    if len(draft.sizes) == 1:  # it stands for all sizes
        return [(0.0, (next((each for each in needed if each in "Nn"), needed[0]),))]
    distinct = min(len(draft.sizes), len(needed))
    choices = []
    options = [_options(draft, size, names, needed) for size, names in zip(draft.sizes, known_as, strict=True)]
    for sizes in itertools.islice(itertools.product(*options), _MOST_CANDIDATES):
        if len(set(sizes)) == distinct or len(draft.sizes) > len(needed):
            choices.append((_cost_of_sizes(known_as, sizes, needed), sizes))
    return sorted(choices, key=lambda each: each[0])


def _options(draft: Draft, size: str, names: list[str], needed: list[str]) -> list[str]:
    """What one of the sizes may stand for: all sizes of the problem, or what its names suggest if there are many of them."""
    if "radius" in needed and (size not in draft.macros or size_of_width(size)):
        needed = [*needed, FILTER_WIDTH]
    if len(draft.sizes) <= _MANY:
        return needed
    return sorted(needed, key=lambda each: _cost_of_size(names, each))[:_LIKELY]


def _has_name_of(draft: Draft, size: str) -> bool:
    """Whether a name of the draft is that of an optional size."""
    return any(name in SIZE_NAMES.get(size, "").split() for each in draft.sizes for name in _names_of(draft, each))


def _names_of(draft: Draft, size: str) -> list[str]:
    """The names that a size of the host has: those of the parameters that it is passed to, and its own."""
    passed = [each.name for each in draft.parameters if each.argument == size]
    names = [name for each in (*passed, size) for name in _of_member(each)]
    return [*dict.fromkeys([*(name.lower().replace("_", "") for name in names), *map(bare_name, names)])]


def _of_member(name: str) -> list[str]:
    """The names of a size; of one that belongs to a matrix, "widthA" and "ldA" for "A.width" and "A.stride"."""
    owner, dot, member = name.rpartition(".")
    owner = bare_name(owner)
    known = owner in ("a", "b", "c")
    if not dot or not known:
        return [member]
    return [f"ld{owner}" if member.lower() in _STRIDES else f"{member}{owner}"]


def _cost_of_sizes(known_as: list[list[str]], sizes: tuple[str, ...], usual: list[str]) -> float:
    places = [usual.index(each) for each in sizes if each in usual]
    cost = 0.1 * sum(a > b for a, b in itertools.combinations(places, 2))
    cost += sum(_cost_of_size(names, size) for names, size in zip(known_as, sizes, strict=True))
    return cost + 3 * (min(len(sizes), len(usual)) - len(set(sizes)))


def _cost_of_size(names: list[str], size: str) -> float:
    for name in names:
        if size_of_width(name) or size == FILTER_WIDTH:
            return 0.0 if size_of_width(name) and size == FILTER_WIDTH else _UNLIKELY
        leading = LEADING.get(name)
        if leading is not None:
            return 0.0 if size == leading[0] else 1.0 if size == leading[1] else _SPOKEN_AGAINST
        named = [each for each, known in SIZE_NAMES.items() if name in known.split()]
        if named:
            return 0.0 if size in named else _SPOKEN_AGAINST if size in _UNTIED_SIZES else _UNLIKELY
    return 1.0


def _real_values(draft: Draft) -> list[tuple[float, tuple[float, ...]]]:
    """Values of the floating-point arguments: alpha = 1 and beta = 0, which multiply A * B and the old C."""
    reals = [each for each in draft.parameters if each.kind == "real"]
    if not reals:
        return [(0.0, ())]
    likely = tuple(
        0.0 if re.search("beta", each.name, re.IGNORECASE) or number == 1 else 1.0 for number, each in enumerate(reals)
    )
    others = [each for each in itertools.product((1.0, 0.0), repeat=len(reals)) if each != likely and any(each)]
    return [(0.0, likely), *((_UNLIKELY + number, each) for number, each in enumerate(others[:3]))]

"""Candidates for the roles of a launch's arguments, likeliest first: which is A, B, C, M, N, K, alpha or beta."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gemmviz.launch.draft import Draft, DraftParameter

MATRICES, SIZES = "ABC", "MNK"
_LIKELY, _UNLIKELY, _SPOKEN_AGAINST = 0, 2, 6
_MOST_CANDIDATES = 4000
_WHERE = "d|dev|device|g|gpu|cuda|global|p|ptr|in|mat|matrix|m"  # says where an array lies, or that it is one
_AFFIXES = re.compile(rf"^({_WHERE})_+|_+({_WHERE})$")
_MATRIX_NAMES = {
    "A": "a ma mata matrixa ad da deva m md x lhs left first one in1 input1 input inp src1 mat1 matrix1 a1 q",
    "B": "b mb matb matrixb bd db devb n nd y w rhs right second two in2 input2 weight weights src2 mat2 matrix2 b1 k",
    "C": "c mc matc matrixc cd dc devc p pd z r res result out output o prod product dst answer ans mat3 matrix3 c1 d ab",
}
_SIZE_NAMES = {
    "M": "m rows row height h numarows numcrows rowsa arows rowa ra ha heighta hc rowsc crows mm dimm am cm",
    "N": "n cols col columns width w numbcolumns numccolumns numbcols colsb bcols colb cb wb widthb wc colsc nn dimn bn cn",
    "K": "k inner common depth numacolumns numbrows numacols colsa acols cola ca wa widtha rowsb brows rowb hb kk dimk ak bk",
}
_LEADING: dict[str, tuple[str, str]] = {"lda": ("K", "M"), "ldb": ("N", "K"), "ldc": ("N", "M")}  # by rows, by columns


@dataclass(frozen=True, slots=True)
class Roles:
    """What each argument is. ``matrices``: the matrix of each pointer; ``sizes``: M, N or K for each of the draft's sizes;
    ``reals``: the value of each floating-point argument.
    """

    matrices: tuple[str, ...]
    sizes: tuple[str, ...]
    reals: tuple[float, ...]

    @property
    def ties(self) -> tuple[str, ...]:
        """Sizes that no argument tells apart: they equal the first size that one stands for."""
        return tuple(size for size in SIZES if size not in self.sizes) if self.sizes else ()


def candidates(draft: Draft) -> Iterator[Roles]:
    """Roles for the arguments of a draft, likeliest first. None if it has fewer than three pointers."""
    ranked: list[tuple[float, int, Roles]] = []
    products = itertools.product(_matrix_orders(draft), _size_choices(draft), _real_values(draft))
    for number, ((a, matrices), (b, sizes), (c, reals)) in enumerate(itertools.islice(products, _MOST_CANDIDATES)):
        ranked.append((a + b + c, number, Roles(matrices, sizes, reals)))
    yield from (roles for _, _, roles in sorted(ranked, key=lambda each: each[:2]))


def matrix_words(name: str) -> str:
    """A name without what only says where an array lies: "d_A" and "A_dev" give "a"."""
    bare, before = name.lower(), ""
    while bare != before:
        before, bare = bare, _AFFIXES.sub("", bare)
    return bare.replace("_", "")


def _matrix_orders(draft: Draft) -> list[tuple[float, tuple[str, ...]]]:
    pointers = draft.pointers
    if len(pointers) != len(MATRICES):
        return []
    orders = [(_cost_of_order(pointers, order), order) for order in itertools.permutations(MATRICES)]
    return sorted(orders, key=lambda each: each[0])


def _cost_of_order(pointers: tuple[DraftParameter, ...], order: tuple[str, ...]) -> float:
    """How unlikely an order of the matrices is: names count, constness counts more, and A, B, C in turn is usual."""
    cost = 0.1 * sum(a > b for a, b in itertools.combinations(order, 2))
    for pointer, matrix in zip(pointers, order, strict=True):
        words = {matrix_words(pointer.name)} | ({matrix_words(pointer.buffer.name)} if pointer.buffer is not None else set())
        named = [each for each, names in _MATRIX_NAMES.items() if words & set(names.split())]
        cost += _LIKELY if matrix in named else _UNLIKELY if not named else _UNLIKELY + 1
        cost += _SPOKEN_AGAINST if pointer.is_const and matrix == "C" else 0
        cost += _cost_of_copies(pointer, matrix)
    return cost


def _cost_of_copies(pointer: DraftParameter, matrix: str) -> float:
    """What the host's copies say against a role: inputs are copied in and not out, C is copied out."""
    buffer = pointer.buffer
    if buffer is None or not (buffer.is_copied_in or buffer.is_copied_out):
        return 0
    return _UNLIKELY if buffer.is_copied_out != (matrix == "C") else 0


def _size_choices(draft: Draft) -> list[tuple[float, tuple[str, ...]]]:
    """The size that each of the draft's sizes may stand for."""
    known_as = [_names_of(draft, size) for size in draft.sizes]
    needed = min(len(draft.sizes), len(SIZES))
    choices = []
    for sizes in itertools.product(SIZES, repeat=len(draft.sizes)):
        if len(set(sizes)) == needed or len(draft.sizes) > len(SIZES):
            choices.append((_cost_of_sizes(known_as, sizes), sizes))
    return sorted(choices, key=lambda each: each[0])[:_MOST_CANDIDATES]


def _names_of(draft: Draft, size: str) -> list[str]:
    """The names that a size of the host has: its own, and those of the parameters that it is passed to."""
    passed = [each.name for each in draft.parameters if each.argument == size]
    return [each.lower().strip("_") for each in (*passed, size)]


def _cost_of_sizes(known_as: list[list[str]], sizes: tuple[str, ...]) -> float:
    cost = 0.0
    if len(sizes) > 1:
        cost += 0.1 * sum(SIZES.index(a) > SIZES.index(b) for a, b in itertools.combinations(sizes, 2))
        cost += sum(_cost_of_size(names, size) for names, size in zip(known_as, sizes, strict=True))
    elif sizes and sizes != ("N",):
        cost += _UNLIKELY  # one size for all is called N
    return cost + 3 * (min(len(sizes), len(SIZES)) - len(set(sizes)))


def _cost_of_size(names: list[str], size: str) -> float:
    for name in names:  # the kernel's own name of it first
        leading = _LEADING.get(name.replace("_", ""))
        if leading is not None:
            return 0.0 if size == leading[0] else 1.0 if size == leading[1] else _SPOKEN_AGAINST
        named = [each for each, known in _SIZE_NAMES.items() if name.replace("_", "") in known.split()]
        if named:
            return 0.0 if size in named else _UNLIKELY
    return 1.0


def _real_values(draft: Draft) -> list[tuple[float, tuple[float, ...]]]:
    """Values of the floating-point arguments: alpha = 1 and beta = 0, which multiply A * B and the old C."""
    reals = [each for each in draft.parameters if each.kind == "real"]
    if not reals:
        return [(0.0, ())]
    likely = tuple(0.0 if "beta" in each.name.lower() or number == 1 else 1.0 for number, each in enumerate(reals))
    others = [each for each in itertools.product((1.0, 0.0), repeat=len(reals)) if each != likely and any(each)]
    return [(0.0, likely), *((_UNLIKELY + number, each) for number, each in enumerate(others[:3]))]

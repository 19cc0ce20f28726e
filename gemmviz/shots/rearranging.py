"""Padding of tiles in shared memory, or an XOR of their columns: found in a trace by the rule of the banks, written into the
source, and tried by a run.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.costs import PerRow, Rows, lane_words, request_rows, wavefronts
from gemmviz.analysis.replay.tiles import ROWS_AT_ONCE
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import can_run, launch_for, legal_choices, setup_for
from gemmviz.cuda.program import program_for
from gemmviz.model.arrays import Longs
from gemmviz.model.cases import Cause, CauseKind, Suggestion
from gemmviz.model.messages import (
    Cancelled,
    GemmvizError,
    KernelFault,
    SourceError,
    cancelled_after,
    checkpoint,
    marked,
    sized,
    tr,
)
from gemmviz.model.setup import Setup, parameters_text
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import Touches, Trace
from gemmviz.run.stored import recorded_speed
from gemmviz.run.trial import TrialResult, WorkBudget, attempted, trial_of

_ROW_BYTES = 16  # of a matrix that ldmatrix loads, all in one place
_MOST_PADDING, _MOST_CHUNKS, _MOST_SHIFT = 4, 32, 3  # chunks of padding, and those that are permuted; bits of a row's number
_WORD_BYTES, _LONGEST_ROW_BYTES = 4, 1024


class Arrangement(Struct, frozen=True):
    """Where a tile has the elements of its rows. ``padding``: unused elements behind each row. ``chunk``: neighbours that stay
    together; ``mask``: the number of a chunk is combined (XOR) with these bits of the number of its row, from bit ``shift`` on.
    ``columns``: elements of a row of a tile that is declared without rows, else 0.
    """

    padding: int = 0
    chunk: int = 1
    mask: int = 0
    shift: int = 0
    columns: int = 0

    def moved(self, elements: Longs, shape: Sequence[int]) -> Longs:
        """The places of elements of an array of this shape, -1 for none."""
        columns = self.columns or shape[-1]
        row, column = np.divmod(elements, columns)
        number = row if len(shape) == 1 else row % shape[-2]
        column = column ^ (number >> self.shift & self.mask) * self.chunk
        return np.where(elements >= 0, row * (columns + self.padding) + column, -1)

    def scaled(self, factor: Fraction) -> "Arrangement | None":
        """The same in other elements, of which an element of the record has ``factor``; None if their number isn't whole."""
        scaled = {name: getattr(self, name) * factor for name in ("padding", "chunk", "columns")}
        is_whole = all(each.denominator == 1 for each in scaled.values())
        return structs.replace(self, **{name: int(each) for name, each in scaled.items()}) if is_whole else None

    def column(self, row: str, column: str) -> str:
        """The column of an element in C, from those of its row and its column."""
        bits = f"{_bracketed(row)} >> {self.shift} & {self.mask}" if self.shift else f"{_bracketed(row)} & {self.mask}"
        return f"{_bracketed(column)} ^ ({bits})" + (f" * {self.chunk}" if self.chunk > 1 else "")

    def index(self, index: str) -> str:
        """The index in C of an element of a tile without rows, or with padding its size, from the one that it had."""
        index = _bracketed(index)
        row, times = f"{index} / {self.columns}", self.padding or self.chunk
        moved = f"{index} + {row}" if self.padding else f"{index} ^ ({row} & {self.mask})"
        return moved + (f" * {times}" if times > 1 else "")

    def __str__(self) -> str:
        if self.columns and self.padding:
            elements = sized(self.padding, "element")
            return tr("{elements} of padding behind every {columns}", elements=elements, columns=self.columns)
        if self.columns:
            return self.index("index")
        if self.padding:
            return tr("{elements} of padding behind each row", elements=sized(self.padding, "element"))
        return self.column("row", "column")


class Rearranged(Struct, frozen=True):
    """A tile that was rearranged: the wavefronts of one block's accesses to it ``before`` and after, and the setup with the
    changed source, which gave a right result; None if the source can't be changed so, for a ``reason``.
    """

    array: str
    arrangement: Arrangement
    before: int
    wavefronts: int
    setup: Setup | None
    reason: str = ""


_WRONG = marked("the result would be wrong: other code relies on the layout of the tile")


def rearranged(setup: Setup, trace: Trace) -> Iterator[Rearranged]:
    """Yield for each tile of a run the padding and the XOR with the fewest wavefronts, the better one first, if they take less
    than the tile as it is. Raises Cancelled.
    """
    for number, array in enumerate(trace.arrays):
        if array.space != "shared":
            continue
        before, *found = _ranked(trace, number)
        for took, arrangement in found:
            if took >= before[0]:
                continue
            changed, reason = None, ""
            try:
                changed = _with(setup, array, arrangement)
                trial = _tried(changed)
                if trial is None:
                    changed, reason = None, tr("no trial run could check the result")
                elif trial.column_major != setup.kernel.column_major:
                    changed, reason = None, tr(_WRONG)
            except KernelFault:
                changed, reason = None, tr(_WRONG)
            except GemmvizError as error:
                changed, reason = None, error.message
            yield Rearranged(array.name, arrangement, before[0], took, changed, reason)


def _tried(setup: Setup) -> TrialResult | None:
    """What a run shows, of some blocks of a launch that is too large for a trial; None if they are too large, too. Raises as
    ``trial_of`` does.
    """
    return trial_of(setup, WorkBudget()) or trial_of(setup, WorkBudget(), in_part=True)


# What the banks say


def _ranked(trace: Trace, number: int) -> list[tuple[int, Arrangement]]:
    """The wavefronts of the tile as it is, then of its best padding and its best XOR, the better one first."""
    array, accesses = trace.arrays[number], list(_accesses(trace, number))
    nothing = [(0, Arrangement())]
    if not accesses or any(width is None for *_, width in accesses):
        return nothing
    chunk = max([_WORD_BYTES // array.itemsize, *(width or 1 for *_, width in accesses)])

    def cost(arrangement: Arrangement) -> tuple[int, Arrangement]:
        total = 0
        checkpoint()
        for is_load, rows, times, elements, _ in accesses:
            moved = arrangement.moved(rows, array.shape)
            words = lane_words(moved, array.itemsize, trace.rules, elements)
            total += int(wavefronts(*words, is_load, trace.rules)[0] @ times)
        return total, arrangement

    paddings = [cost(each) for each in _paddings(array, chunk)]
    swizzles = [cost(each) for each in _swizzles(array, chunk)]
    best = [min(each, key=lambda found: found[0]) for each in (paddings, swizzles) if each]
    return [cost(Arrangement()), *sorted(best, key=lambda found: found[0])]


def _row_lengths(array: MemoryArray, chunk: int) -> list[int]:
    """The numbers of elements that may be a row of a tile that is declared without rows, the largest first; 0 for others."""
    if len(array.shape) > 1:
        return [0]
    largest = min(array.size & -array.size, _LONGEST_ROW_BYTES // array.itemsize)
    return [1 << bits for bits in range(largest.bit_length() - 1, chunk.bit_length() - 1, -1)]


def _paddings(array: MemoryArray, chunk: int) -> Iterator[Arrangement]:
    """Yield the arrangements that pad each row."""
    for columns, count in product(_row_lengths(array, chunk), range(1, _MOST_PADDING + 1)):
        yield Arrangement(padding=count * chunk, columns=columns)


def _swizzles(array: MemoryArray, chunk: int) -> Iterator[Arrangement]:
    """Yield the arrangements that permute the chunks of each row."""
    for columns in _row_lengths(array, chunk) if not chunk & (chunk - 1) else ():
        chunks, rest = divmod(columns or array.shape[-1], chunk)
        if not rest:  # an XOR with less than the power of two that divides their number
            for mask, shift in product(range(1, min(chunks & -chunks, _MOST_CHUNKS)), range(1 if columns else _MOST_SHIFT + 1)):
                yield Arrangement(chunk=chunk, mask=mask, shift=shift, columns=columns)


def _accesses(trace: Trace, number: int) -> Iterator[tuple[bool, Rows, PerRow, int, int | None]]:
    """Yield the accesses of the first block to an array: whether it is a load, the different requests and how often each is
    made, the elements of a lane, and how many must stay together; None if a lane's elements are no neighbours.
    """
    array = trace.arrays[number]
    for touches in (*trace.touches_of(number, "read"), *trace.touches_of(number, "write")):
        alike, times = _different_requests(trace, touches)
        layout, is_matrix = touches.operand.layout, trace.sites[touches.site].kind == "matrix"
        width = _ROW_BYTES // array.itemsize if is_matrix else layout.width
        if len(alike):
            yield touches.operand.access == "read", alike, times, layout.width, width if layout.is_dense else None


def _different_requests(trace: Trace, touches: Touches) -> tuple[Rows, PerRow]:
    """The different requests of the first block, told apart by a hash, and how often each is made."""
    threads, found, counts = trace.space.threads_per_block, list[Rows](), list[PerRow]()
    weights = np.random.default_rng(0).integers(1 << 62, size=trace.rules.request_lanes)
    for start in range(0, len(touches.rows), ROWS_AT_ONCE):
        checkpoint()
        rows = request_rows(trace.element[touches.rows[start : start + ROWS_AT_ONCE], :threads], trace.rules)
        rows = rows[(rows >= 0).any(axis=1)]
        _, first, times = np.unique(rows @ weights, return_index=True, return_counts=True)
        found.append(rows[first])
        counts.append(times)
    rows, times = np.concatenate(found), np.concatenate(counts)
    _, first, which = np.unique(rows @ weights, return_index=True, return_inverse=True)
    return rows[first], np.bincount(which, times).astype(np.int64)


# What the source says

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
_CHANGE = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)")
_Span = tuple[int, int]


def _with(setup: Setup, array: MemoryArray, arrangement: Arrangement) -> Setup:
    """The setup with a rearranged tile in its source. Raises SourceError if the source can't be changed so."""
    declared = [each for each in program_for(setup.kernel, setup.definitions).shared if each.name == array.name]
    if len(declared) != 1 or declared[0].dims is None or len(declared[0].dims) != len(array.shape):
        raise SourceError(tr("the declaration of {name} doesn't say its rows and columns", name=array.name))
    own = arrangement.scaled(Fraction(declared[0].dims[-1], array.shape[-1]))
    if own is None:
        raise SourceError(tr("the arrangement would split an element of {name}", name=array.name))
    text = rearranged_text(setup.kernel.text, array.name, len(array.shape), own)
    return structs.replace(setup, kernel=structs.replace(setup.kernel, text=text, is_shipped=False))


def rearranged_text(text: str, name: str, dimensions: int, arrangement: Arrangement) -> str:
    """A kernel's text with a rearranged tile. Raises SourceError if the text doesn't declare it, or uses it other than by all
    subscripts. Pointers into the tile are replaced by the tile, those into a padded row only if their type says its length.
    """
    text = _without_pointers(text, name, dimensions, of_rows_alone=bool(arrangement.padding and not arrangement.columns))
    code = _code_of(text)
    changes: list[tuple[_Span, str]] = []
    for use in re.finditer(rf"\b{re.escape(name)}\b", code):
        spans = list(_subscripts(code, use.end()))
        is_declared = "__shared__" in re.split(r"[;{}]", code[: use.start()])[-1]
        if (is_declared and not arrangement.padding) or (not is_declared and arrangement.padding and not arrangement.columns):
            continue
        if len(spans) != dimensions:
            raise _other_use(name, text, use.start())
        *_, row, column = ("", *(text[start:stop].strip() for start, stop in spans))
        if _CHANGE.search(column if arrangement.columns else row):
            raise _other_use(name, text, use.start())
        if arrangement.columns:
            changes.append((spans[-1], arrangement.index(column)))
        elif is_declared:
            columns = column if re.fullmatch(r"[\w\s*/+]+", column) else f"({column})"
            changes.append((spans[-1], f"{columns} + {arrangement.padding}"))
        else:
            changes.append((spans[-1], arrangement.column(row, column)))
    overlapping = next((one for (one, _), (other, _) in pairwise(changes) if one[1] > other[0]), None)
    if overlapping is not None or not changes:
        raise _other_use(name, text, overlapping[0] if overlapping else 0)
    for (start, stop), written in reversed(changes):
        text = text[:start] + written + text[stop:]
    return text


def _code_of(text: str) -> str:
    """The text with comments and strings blanked."""
    return _NOT_CODE.sub(lambda match: " " * len(match[0]), text)


def _other_use(name: str, text: str, at: int) -> SourceError:
    line = text.count("\n", 0, at) + 1
    return SourceError(tr("line {line} uses {name} other than as an element by its row and column", line=line, name=name))


class _Pointer(Struct, frozen=True):
    """A pointer or reference into a tile: its subscript ``i`` means element ``column + i`` behind the subscripts ``outer``.
    ``start``, ``stop``: its declaration in the text; ``is_of_rows``: its type states the length of a row.
    """

    name: str
    start: int
    stop: int
    outer: tuple[str, ...]
    column: str
    is_of_rows: bool


def _without_pointers(text: str, name: str, dimensions: int, *, of_rows_alone: bool) -> str:
    """The text with the tile in place of the pointers and references into it that are declared in statements of their own.

    Raises SourceError for one that isn't used by subscripts alone, or of which the place may have changed where it is used.
    """
    while True:
        code = _code_of(text)
        uses = re.finditer(rf"\b{re.escape(name)}\b", code)
        pointers = (_pointer(code, use, dimensions) for use in uses)
        pointer = next((each for each in pointers if each is not None and (each.is_of_rows or not of_rows_alone)), None)
        if pointer is None:
            return text
        end = pointer.stop + _block_length(code[pointer.stop :])
        prefix = "".join(f"[{each}]" for each in pointer.outer)
        for each in set(re.findall(r"(?<![.\w])[A-Za-z_]\w*", f"{prefix} {pointer.column}")):
            changed = re.compile(_CHANGE_OF_NAME.format(each)).search(code, pointer.stop, end)
            if changed is not None:
                raise _other_use(pointer.name, text, changed.start())
        changes = [((pointer.start, pointer.stop), "")]
        for use in re.compile(rf"(?<![.\w]){re.escape(pointer.name)}\b").finditer(code, pointer.stop, end):
            spans = list(_subscripts(code, use.end()))
            if len(spans) != dimensions - len(pointer.outer) or use.start() < changes[-1][0][1]:
                raise _other_use(pointer.name, text, use.start())
            first, last = spans[0]
            own = text[first:last].strip()
            index = own if pointer.column == "0" else f"{pointer.column} + {_bracketed(own)}"
            changes.append(((use.start(), last), f"{name}{prefix}[{index}"))
        for (start, stop), written in reversed(changes):
            text = text[:start] + written + text[stop:]


_CHANGE_OF_NAME = r"(?:\+\+|--|[(,=]\s*&)\s*{0}\b|(?<![.\w]){0}\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))"
_POINTER = re.compile(
    r"\s*(?:const\s+)?(?:auto\s*(?:\*\s*)?(?:const\s+)?(?P<auto>\w+)|(?:\w[\w:]*\s+)*?\w[\w:]*(?:\s+const)?\s*"
    r"(?:\*\s*(?:const\s+|__restrict__\s+)*(?P<plain>\w+)|\(\s*[*&]\s*(?:const\s+)?(?P<rows>\w+)\s*\)(?:\s*\[[^][]*\])+))"
    r"\s*=\s*(?P<of>&?)\s*"
)


_MEMORY_READ = re.compile(r"\w\s*[\[(]|->")  # of a memory, or a call


def _pointer(code: str, use: re.Match[str], dimensions: int) -> _Pointer | None:
    """The pointer or reference into a tile that a statement declares from its use; None for another use."""
    start = max(code.rfind(each, 0, use.start()) for each in ";{}") + 1
    declared, stop = _POINTER.fullmatch(code[start : use.start()]), code.find(";", use.end())
    spans = list(_subscripts(code, use.end()))
    rest = re.fullmatch(r"\s*(?:\+([^,?<>=]+))?", code[spans[-1][1] + 1 if spans else use.end() : stop])
    if declared is None or rest is None or (len(spans) == dimensions) != bool(declared["of"]):
        return None
    outer = [code[first:last].strip() for first, last in spans]
    columns = [outer.pop()] if declared["of"] else []
    columns = [_bracketed(each) for each in columns if each != "0"] + ([rest[1].strip()] if rest[1] else [])
    column = " + ".join(columns) or "0"
    if _MEMORY_READ.search(" ".join((*outer, column))):
        return None
    start += len(code[start:]) - len(code[start:].lstrip())
    line = code.rfind("\n", 0, start)
    start = line if code[line:start].isspace() else start
    name = declared["auto"] or declared["plain"] or declared["rows"]
    return _Pointer(name, start, stop + 1, tuple(outer), column, declared["rows"] is not None)


def _block_length(code: str) -> int:
    """The characters up to the end of the block in which a piece of code begins."""
    depth = 0
    for at, each in enumerate(code):
        depth += (each == "{") - (each == "}")
        if depth < 0:
            return at
    return len(code)


def _bracketed(text: str) -> str:
    """A part of an expression in C that stands before or behind any operator."""
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def _subscripts(code: str, at: int) -> Iterator[_Span]:
    """Yield where the subscripts behind a name begin and end, without their brackets."""
    while (opening := re.compile(r"\s*\[").match(code, at)) is not None:
        depth, end = 1, opening.end()
        while depth and end < len(code):
            depth += {"[": 1, "]": -1}.get(code[end], 0)
            end += 1
        yield opening.end(), end - 1
        at = end


# Suggestions against the causes of a kernel's time, those that oppose one another, and the faster of these, by a trial.

# Suggested setups for each bottleneck: another kernel of the ladder, or another parameter. All suggestions can run; their
# effect is not claimed before they have run.

_LADDER: dict[str, tuple[str, tuple[CauseKind, ...], str]] = {
    "02_naive": (marked("swap x and y: 03_coalesced"), ("coalescing",), "03_coalesced"),
    "03_coalesced": (marked("tiles in shared memory: 04_tiled"), ("reuse", "coalescing"), "04_tiled"),
    "04_tiled": (marked("sums in registers: 08_register_tiled"), ("shared", "reuse"), "08_register_tiled"),
    "05_tiled_unguarded": (marked("sums in registers: 08_register_tiled"), ("shared", "reuse"), "08_register_tiled"),
    "06_tiled_unrolled": (marked("sums in registers: 08_register_tiled"), ("shared", "reuse"), "08_register_tiled"),
    "08_register_tiled": ("float4: 09_vectorised", ("shared", "coalescing", "banks", "nothing", "reuse", "occupancy"),
                          "09_vectorised"),
}  # fmt: skip
_TILE_WIDTHS = ("TILE_WIDTH", "BLOCK")
_MOST_TRYING_S = 20


def suggestions_for(setup: Setup, kind: CauseKind) -> tuple[Suggestion, ...]:
    """Suggestions against one kind of bottleneck."""
    return tuple(each for each in _suggestions(setup, kind) if can_run(each.setup))


def _suggestions(setup: Setup, kind: CauseKind) -> Iterator[Suggestion]:
    if kind == "banks" and setup.parameters.get("PAD") == 0:
        yield Suggestion(tr("a column of padding: PAD = 1"), setup.changed(PAD=1))
    if kind == "divergence" and setup.parameters.get("BY_WARP") == 0:
        yield Suggestion(tr("whole warps go one way: BY_WARP = 1"), setup.changed(BY_WARP=1))
    if setup.kernel.is_shipped and setup.kernel.name in _LADDER:
        text, kinds, other = _LADDER[setup.kernel.name]
        if kind in kinds:
            yield from _other_kernel(setup, text, other)
    for name in _TILE_WIDTHS:
        if kind in ("reuse", "coalescing", "lanes") and name in setup.parameters:
            larger = next_choice(setup, name, up=True)
            if larger is not None:
                yield Suggestion(
                    tr("a larger block: {name} = {larger}", name=name, larger=larger), setup.changed(**{name: larger})
                )
        if kind == "idle" and name in setup.parameters:
            smaller = next_choice(setup, name, up=False)
            if smaller is not None:
                yield Suggestion(
                    tr("smaller blocks: {name} = {smaller}", name=name, smaller=smaller), setup.changed(**{name: smaller})
                )


def _fastest_width(setups: list[Setup]) -> Setup | None:
    """The setup with the best recorded time; None if there is no recording."""
    times: dict[int, float] = {}
    for number, setup in enumerate(setups):
        with contextlib.suppress(GemmvizError):
            time_ms = recorded_speed(setup).median_ms
            if time_ms is not None:
                times[number] = time_ms
    return setups[min(times, key=times.__getitem__)] if times else None


def next_choice(setup: Setup, name: str, up: bool) -> int | None:
    """The next larger or smaller choice of a parameter with which the setup can run; None if there is none."""
    now = setup.parameters[name]
    choices = next((each.choices for each in setup.kernel.parameters if each.name == name), None) or ()
    beyond = sorted((each for each in choices if (each > now if up else each < now)), reverse=not up)
    return next((each for each in beyond if can_run(setup.changed(**{name: each}))), None)


def _other_kernel(setup: Setup, text: str, name: str) -> Iterator[Suggestion]:
    """Another kernel on the same problem: with its fastest recorded parameters, otherwise with the same parameters, otherwise
    with the largest block that can run.
    """
    kernel = load_kernel(name)
    common = {own: value for own, value in setup.parameters.items() if own in kernel.defaults}
    if "BLOCK" in setup.parameters and "TILE_WIDTH" in kernel.defaults:
        common["TILE_WIDTH"] = setup.parameters["BLOCK"]
    others = {"filling": setup.filling, "device": setup.device}
    fastest = _fastest_width(list(legal_choices(kernel, setup.problem, **others)))
    if fastest is not None:
        yield Suggestion(f"{tr(text)}, {parameters_text(fastest)}", fastest)
        return
    same = setup_for(kernel, setup.problem, common, **others)
    if can_run(same):
        yield Suggestion(tr(text), same)
        return
    choices = sorted(legal_choices(kernel, setup.problem, **others), key=lambda each: -launch_for(each).threads_per_block)
    if choices:
        yield Suggestion(tr(text), choices[0])


def with_cures(causes: Sequence[Cause], setup: Setup, rearranged: Sequence[Rearranged]) -> list[Cause]:
    """The causes, each with its first suggestion for a setup."""
    arranged = [Suggestion(f"{each.array}: {each.arrangement}", each.setup) for each in rearranged if each.setup is not None]
    cures = ([*suggestions_for(setup, each.kind), *(arranged if each.kind == "banks" else [])] for each in causes)
    return [structs.replace(each, cure=next(iter(own), None)) for each, own in zip(causes, cures, strict=True)]


def opposed_cures(causes: Sequence[Cause], setup: Setup) -> list[Suggestion]:
    """Suggestions that change a parameter of the kernel in opposite directions."""
    cures = [each.cure for each in causes if each.cure is not None and each.cure.setup.kernel.name == setup.kernel.name]
    return [each for each in cures if any(_are_opposed(setup, each.setup, other.setup) for other in cures)]


def _are_opposed(setup: Setup, one: Setup, other: Setup) -> bool:
    return any((one.parameters[name] - now) * (other.parameters[name] - now) < 0 for name, now in setup.parameters.items())


def faster_of(
    cures: Sequence[Suggestion], setup: Setup, now_ms: float, time_ms: Callable[[Setup], float | None]
) -> tuple[Setup, ...]:
    """The setup of the suggestion that takes the least time, if that is less than ``now_ms`` and a run's result is right; none
    if finding it takes long. ``time_ms``: of a setup, None if unknown. Raises Cancelled.
    """
    try:
        with cancelled_after(_MOST_TRYING_S):
            times = [(time_ms(each.setup), each.setup) for each in cures]
    except Cancelled:
        checkpoint()
        return ()
    best_ms, best = min(
        ((each, cure) for each, cure in times if each is not None), key=lambda pair: pair[0], default=(now_ms, setup)
    )
    if best_ms >= now_ms:
        return ()
    trial = attempted(best, WorkBudget()) or attempted(best, WorkBudget(), in_part=True)
    return (best,) if trial is not None and trial.column_major == setup.kernel.column_major else ()

"""The shipped kernels, written out by hand in plain Python as what each thread accesses, and answers to questions about them.

It shares nothing with the program: it reads the printed text of a quiz (its legend and its questions) and, for the numbers of
lines, the .cu files. Each kernel is a generator of the accesses of one thread, in order; accesses that a guard leaves out
are None, so that the accesses of all threads stand side by side.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

KERNELS = Path(__file__).parents[2] / "kernels"
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Event:
    """An access, or a barrier (``array`` is ""). ``at``: values of the loops' counters; ``copy``: the element that is stored."""

    line: int
    array: str
    mode: str
    index: int | None
    at: dict[str, int] = field(default_factory=dict)
    width: int = 1
    copy: tuple[str, int] | None = None


@dataclass
class Thread:
    """A thread of a launch, with C's names for its indices and the launch's numbers."""

    launch: "Launch"
    block: Triple
    thread: Triple

    def __getattr__(self, name: str) -> int:
        if name in self.launch.numbers:
            return self.launch.numbers[name]
        raise AttributeError(name)

    def line(self, code: str, nth: int = 0) -> int:
        return self.launch.lines(code)[nth]


Kernel = Callable[[Thread], Iterator[Event]]


@dataclass
class Launch:
    """A launch, read from the legend of a quiz."""

    kernel: str
    legend: str

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", self.legend.split(": ")[0])}

    def _extents(self, what: str) -> Triple:
        found = re.search(rf"{what} of (\d+) × (\d+)(?: × (\d+))?", self.legend)
        assert found is not None
        return int(found[1]), int(found[2]), int(found[3] or 1)

    @cached_property
    def grid(self) -> Triple:
        return self._extents("grid")

    @cached_property
    def block(self) -> Triple:
        return self._extents("blocks")

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays, from sentences such as "A and B are 8 × 8, C is 8 × 4 (rows × columns). x is 64 long."."""
        shapes: dict[str, tuple[int, ...]] = {}
        for names, shape in re.findall(r"((?:\w+(?:, | and ))*\w+) (?:is|are) (\d+ × \d+|\d+ long)", self.legend):
            for name in re.split(r", | and ", names):
                shapes[name] = tuple(map(int, re.findall(r"\d+", shape)))
        return shapes

    @cached_property
    def source(self) -> list[str]:
        return next(KERNELS.rglob(f"{self.kernel}.cu")).read_text().split("\n")

    @cached_property
    def _lines(self) -> dict[str, list[int]]:
        return {}

    def lines(self, code: str) -> list[int]:
        """Numbers of the lines with this code."""
        if code not in self._lines:
            self._lines[code] = self._lines_with(code)
        return self._lines[code]

    def _lines_with(self, code: str) -> list[int]:
        found = [number for number, line in enumerate(self.source, 1) if code in line and not line.startswith("//")]
        assert found, (self.kernel, code)
        return found

    @cached_property
    def threads(self) -> list[Triple]:
        dx, dy, dz = self.block
        return [(x, y, z) for z in range(dz) for y in range(dy) for x in range(dx)]

    @cached_property
    def blocks(self) -> list[Triple]:
        gx, gy, gz = self.grid
        return [(x, y, z) for z in range(gz) for y in range(gy) for x in range(gx)]

    @cached_property
    def _events(self) -> dict[tuple[Triple, Triple], list[Event]]:
        return {}

    def events(self, block: Triple, thread: Triple) -> list[Event]:
        """The accesses of a thread."""
        key = block, thread
        if key not in self._events:
            self._events[key] = list(THREADS[self.kernel](Thread(self, block, thread)))
        return self._events[key]

    def offset(self, element: str) -> tuple[str, int]:
        """An element as "A[3, 5]": the array and its offset in memory."""
        name, indices = element.split("[")
        place = [int(each) for each in indices.rstrip("]").split(", ")]
        shape = self.shapes[name]
        assert len(place) == len(shape), element
        assert all(0 <= at < extent for at, extent in zip(place, shape, strict=True)), f"{element} is outside"
        if len(shape) == 1:
            return name, place[0]
        return name, place[0] * shape[1] + place[1]


# One element of C for each thread


def _product(
    t: Thread, row: int, col: int, names: str, width: int, n: int, code: str, store: str, inside: bool
) -> Iterator[Event]:
    """The loop over k, and the store. ``width``: elements of a row of A."""
    a, b, c = names.split()
    for k in range(width):
        yield Event(t.line(code), a, "r", row * width + k if inside else None, {"k": k})
        yield Event(t.line(code), b, "r", k * n + col if inside else None, {"k": k})
    if t.launch.kernel == "reads_c":
        yield Event(t.line(store), c, "r", row * n + col if inside else None)
    yield Event(t.line(store), c, "w", row * n + col if inside else None)


def single_block(t: Thread) -> Iterator[Event]:
    col, row, _ = t.thread
    return _product(t, row, col, "A B C", t.K, t.N, "sum += A", "= sum;", True)


def naive(t: Thread) -> Iterator[Event]:
    row, col = t.block[0] * t.BLOCK + t.thread[0], t.block[1] * t.BLOCK + t.thread[1]
    return _product(t, row, col, "A B C", t.K, t.N, "sum += A", "= sum;", row < t.M and col < t.N)


def coalesced(t: Thread) -> Iterator[Event]:
    row, col = t.block[1] * t.BLOCK + t.thread[1], t.block[0] * t.BLOCK + t.thread[0]
    inside = row < t.M and col < t.N
    code, store = ("value += A", "1.0f * value") if t.launch.kernel == "reads_c" else ("sum += A", "= sum;")
    return _product(t, row, col, "A B C", t.K, t.N, code, store, inside)


def cube_block(t: Thread) -> Iterator[Event]:
    (x, y, z), (_, dy, dz) = t.thread, t.launch.block
    row, col = (t.block[1] * dz + z) * dy + y, t.block[0] * 4 + x
    return _product(t, row, col, "A B C", t.K, t.N, "sum += A", "= sum;", row < t.M and col < t.N)


def linear_block(t: Thread) -> Iterator[Event]:
    number = t.block[0] * t.BLOCK + t.thread[0]
    row, col = divmod(number, t.N)
    return _product(t, row, col, "A B C", t.K, t.N, "sum += A", "= sum;", number < t.M * t.N)


def early_return(t: Thread) -> Iterator[Event]:
    row, col = t.block[1] * t.BLOCK + t.thread[1], t.block[0] * t.BLOCK + t.thread[0]
    inside = row < t.width and col < t.width
    return _product(t, row, col, "Md Nd Pd", t.width, t.width, "dot += Md", "= dot;", inside)


def many_blocks(t: Thread) -> Iterator[Event]:
    row, col = t.block[1] * t.TILE_WIDTH + t.thread[1], t.block[0] * t.TILE_WIDTH + t.thread[0]
    return _product(t, row, col, "Md Nd Pd", t.Width, t.Width, "Pvalue += Md", "= Pvalue;", True)


def sequential(t: Thread) -> Iterator[Event]:
    for row in range(t.M):
        for col in range(t.N):
            for k in range(t.K):
                at = {"row": row, "col": col, "k": k}
                yield Event(t.line("sum += A"), "A", "r", row * t.K + k, at)
                yield Event(t.line("sum += A"), "B", "r", k * t.N + col, at)
            yield Event(t.line("= sum;"), "C", "w", row * t.N + col, {"row": row, "col": col})


# Tiles


@dataclass
class Tiled:
    """A kernel with a tile of each factor. ``names``: of matrices, tiles, the counter of phases, and k. ``sizes``: names of the
    rows and columns of C, and of the columns of A. ``codes``: the loads of A and B, the products and the store. ``barriers``: 2
    for one after the loads, 1 for one after the products, 3 for both.
    """

    names: str = "A B C tileA tileB phase k"
    sizes: str = "M N K"
    codes: tuple[str, str, str, str] = ("tileA[y][x] =", "tileB[y][x] =", "sum += tileA", "= sum;")
    width: str = "TILE_WIDTH"
    barriers: int = 3
    guarded: bool = False
    counts_elements: bool = False
    has_else: bool = False
    transposed: bool = False

    def __call__(self, t: Thread) -> Iterator[Event]:
        a, b, c, tile_a, tile_b, phase_name, k_name = self.names.split()
        m, n, depth = (getattr(t, name) for name in self.sizes.split())
        wide, (x, y, _) = getattr(t, self.width), t.thread
        row, col = t.block[1] * wide + y, t.block[0] * wide + x
        pitch = wide + (t.PAD if self.transposed else 0)
        line_a, line_b, line_k, line_c = (t.line(code) for code in self.codes)
        barriers = t.launch.lines("__syncthreads();")
        for phase in range(-(-depth // wide)):
            k0 = phase * wide
            at = {"phase": phase + 1, f"({phase_name})": k0 if self.counts_elements else phase}
            in_a, in_b = row < m and k0 + x < depth, k0 + y < depth and col < n
            yield from self._load(
                t, line_a, a, row * depth + k0 + x, in_a, tile_a, x * pitch + y if self.transposed else y * wide + x, at
            )
            yield from self._load(t, line_b, b, (k0 + y) * n + col, in_b, tile_b, y * wide + x, at)
            if self.barriers & 2:
                yield Event(barriers[0], "", "barrier", 0, at)
            for k in range(wide):
                inner = {**at, k_name: k}
                yield Event(line_k, tile_a, "r", k * pitch + y if self.transposed else y * wide + k, inner)
                yield Event(line_k, tile_b, "r", k * wide + x, inner)
            if self.barriers & 1:
                yield Event(barriers[-1], "", "barrier", 0, at)
        yield Event(line_c, c, "w", row * n + col if row < m and col < n else None)

    def _load(
        self, t: Thread, line: int, matrix: str, index: int, inside: bool, tile: str, cell: int, at: dict[str, int]
    ) -> Iterator[Event]:
        inside = inside or not self.guarded
        yield Event(line, matrix, "r", index if inside else None, at)
        yield Event(
            line, tile, "w", cell if inside or not self.has_else else None, at, copy=(matrix, index) if inside else None
        )
        if self.has_else:
            yield Event(line + 2, tile, "w", None if inside else cell, at)


_THREAD = ("[threadIdx.y][threadIdx.x] = A", "[threadIdx.y][threadIdx.x] = B", "sum += tileA", "= sum;")
_CEIL = Tiled(
    "d_A d_B d_C sh_A sh_B phase k", "C_rows C_cols A_cols", ("= d_A[", "= d_B[", "value += sh_A", "= value;"), guarded=True, has_else=True
)  # fmt: skip
_K0 = Tiled("A B C tileA tileB k0 k", codes=_THREAD, counts_elements=True)


# Several elements for each thread


def register_tiled(t: Thread) -> Iterator[Event]:
    wide, per, deep, (tx, ty, _) = t.TILE_WIDTH, t.PER_THREAD, t.DEPTH, t.thread
    across = wide // per
    thread, row0, col0, y, x = ty * across + tx, t.block[1] * wide, t.block[0] * wide, ty * per, tx * per
    load_a, load_b = (t.line(f"for (int i = thread; i < {what}") for what in ("TILE_WIDTH * DEPTH", "DEPTH * TILE_WIDTH"))
    barriers = t.launch.lines("__syncthreads();")
    for phase in range(t.K // deep):
        k0, at = phase * deep, {"phase": phase + 1, "(k0)": phase * deep}
        for trip, i in enumerate(range(thread, wide * deep, across * across)):
            own, index = {**at, f"loop {load_a}": trip + 1}, (row0 + i // deep) * t.K + k0 + i % deep
            yield Event(load_a + 1, "A", "r", index, own)
            yield Event(load_a + 1, "tileA", "w", i, own, copy=("A", index))
        for trip, i in enumerate(range(thread, wide * deep, across * across)):
            own, index = {**at, f"loop {load_b}": trip + 1}, (k0 + i // wide) * t.N + col0 + i % wide
            yield Event(load_b + 1, "B", "r", index, own)
            yield Event(load_b + 1, "tileB", "w", i, own, copy=("B", index))
        yield Event(barriers[0], "", "barrier", 0, at)
        for k in range(deep):
            for i in range(per):
                yield Event(t.line("a[i] = tileA"), "tileA", "r", (y + i) * deep + k, {**at, "k": k, "i": i})
            for j in range(per):
                yield Event(t.line("b[j] = tileB"), "tileB", "r", k * wide + x + j, {**at, "k": k, "j": j})
        yield Event(barriers[1], "", "barrier", 0, at)
    for i in range(per):
        for j in range(per):
            yield Event(t.line("C[(row0"), "C", "w", (row0 + y + i) * t.N + col0 + x + j, {"i": i, "j": j})


def _place(t: Thread) -> tuple[int, int, int, int, int]:
    """The thread's number, and the first row and column of the block's tile of C, and of the thread's elements in it."""
    per, (tx, ty, _) = t.PER_THREAD, t.thread
    across = t.TILE_WIDTH // per
    thread, row0, col0 = ty * across + tx, t.block[1] * t.TILE_WIDTH, t.block[0] * t.TILE_WIDTH
    if t.launch.kernel == "09_vectorised":
        return thread, row0, col0, ty * per, tx * per
    (warp, lane), parts = divmod(thread, 32), across // 4  # a warp is 8 rows of 4 threads
    return thread, row0, col0, (warp // parts * 8 + lane // 4) * per, (warp % parts * 4 + lane % 4) * per


def _read_tiles(t: Thread, at: dict[str, int], stage: int = 0, padding: int = 0) -> Iterator[Event]:
    """The reads of tiles of which several are one after the other; ``padding``: of a row of the tile of A."""
    wide, (*_, y, x) = t.TILE_WIDTH, _place(t)
    for k in range(t.DEPTH):
        line = stage * t.DEPTH + k
        for i in range(0, t.PER_THREAD, 4):
            index = line * (wide + padding) + y + i
            yield Event(t.line("[k][y + i])"), "tileA", "r", index, {**at, "k": k, "i": i}, 4)
        for j in range(0, t.PER_THREAD, 4):
            yield Event(t.line("[k][x + j])"), "tileB", "r", line * wide + x + j, {**at, "k": k, "j": j}, 4)


def _store(t: Thread) -> Iterator[Event]:
    _, row0, col0, y, x = _place(t)
    for i in range(t.PER_THREAD):
        for j in range(0, t.PER_THREAD, 4):
            yield Event(t.line("(&C[(row0"), "C", "w", (row0 + y + i) * t.N + col0 + x + j, {"i": i, "j": j}, 4)


def vectorised(t: Thread) -> Iterator[Event]:
    wide, deep, (thread, row0, col0, *_) = t.TILE_WIDTH, t.DEPTH, _place(t)
    threads = (wide // t.PER_THREAD) ** 2
    load_a, load_b = (t.line(f"for (int i = thread; i < {what}") for what in ("TILE_WIDTH * DEPTH", "DEPTH * TILE_WIDTH"))
    barriers = t.launch.lines("__syncthreads();")
    for phase in range(t.K // deep):
        k0, at = phase * deep, {"phase": phase + 1, "(k0)": phase * deep}
        for trip, i in enumerate(range(thread, thread + wide * deep // 4, threads)):
            own, row, k = {**at, f"loop {load_a}": trip + 1}, i // (deep // 4), i % (deep // 4) * 4
            index, takes_part = (row0 + row) * t.K + k0 + k, i < wide * deep // 4
            yield Event(t.line("float4 a ="), "A", "r", index if takes_part else None, own, 4)
            for part in range(4):
                cell = (k + part) * wide + row if takes_part else None
                yield Event(t.line("= a.x;") + part, "tileA", "w", cell, own, copy=("A", index + part))
        for trip, i in enumerate(range(thread, thread + wide * deep // 4, threads)):
            own, k, col = {**at, f"loop {load_b}": trip + 1}, i // (wide // 4), i % (wide // 4) * 4
            index, takes_part = (k0 + k) * t.N + col0 + col, i < wide * deep // 4
            yield Event(t.line("float4 b ="), "B", "r", index if takes_part else None, own, 4)
            yield Event(t.line(" = b;"), "tileB", "w", k * wide + col if takes_part else None, own, 4, ("B", index))
        yield Event(barriers[0], "", "barrier", 0, at)
        yield from _read_tiles(t, at)
        yield Event(barriers[1], "", "barrier", 0, at)
    yield from _store(t)


def double_buffered(t: Thread) -> Iterator[Event]:
    wide, deep, (thread, row0, col0, *_) = t.TILE_WIDTH, t.DEPTH, _place(t)
    threads = (wide // t.PER_THREAD) ** 2
    for phase in range(t.K // deep + 1):
        k0, at, stores = phase * deep, {"phase": phase + 1, "(k0)": phase * deep}, list[Event]()
        for load in range(wide * deep // 4 // threads if k0 < t.K else 0):
            own, i = {**at, "load": load}, thread + load * threads
            row, k, line, col = i // (deep // 4), i % (deep // 4) * 4, i // (wide // 4), i % (wide // 4) * 4
            a, b, first = (row0 + row) * t.K + k0 + k, (k0 + line) * t.N + col0 + col, phase % 2 * deep
            yield Event(t.line("nextA[load] ="), "A", "r", a, own, 4)
            yield Event(t.line("nextB[load] ="), "B", "r", b, own, 4)
            for part in range(4):
                cell = (first + k + part) * wide + row
                stores.append(Event(t.line("= nextA[load].x;") + part, "tileA", "w", cell, own, copy=("A", a + part)))
            stores.append(Event(t.line("= nextB[load];"), "tileB", "w", (first + line) * wide + col, own, 4, ("B", b)))
        if phase > 0:
            yield from _read_tiles(t, at, (phase - 1) % 2)
        yield from stores
        yield Event(t.line("__syncthreads();"), "", "barrier", 0, at)
    yield from _store(t)


def pipelined(t: Thread) -> Iterator[Event]:
    wide, deep, (thread, row0, col0, *_) = t.TILE_WIDTH, t.DEPTH, _place(t)
    threads, ahead = (wide // t.PER_THREAD) ** 2, t.STAGES - 1
    load_a, load_b = (t.line(f"for (int i = thread; i < {what}") for what in ("TILE_WIDTH * DEPTH", "DEPTH * TILE_WIDTH"))
    for phase in range(t.K // deep + ahead):
        k0, at, first = phase * deep, {"phase": phase + 1, "(k0)": phase * deep}, phase % t.STAGES * deep
        if phase >= ahead:
            yield Event(t.line("__syncthreads();"), "", "barrier", 0, at)
        for trip, i in enumerate(range(thread, wide * deep if k0 < t.K else 0, threads)):
            own, (row, k) = {**at, f"loop {load_a}": trip + 1}, divmod(i, deep)
            index = (row0 + row) * t.K + k0 + k
            yield Event(load_a + 1, "A", "r", index, own)
            yield Event(load_a + 1, "tileA", "w", (first + k) * (wide + 4) + row, own, copy=("A", index))
        for trip, i in enumerate(range(thread, wide * deep // 4 if k0 < t.K else 0, threads)):
            own, k, col = {**at, f"loop {load_b}": trip + 1}, i // (wide // 4), i % (wide // 4) * 4
            index = (k0 + k) * t.N + col0 + col
            yield Event(load_b + 2, "B", "r", index, own, 4)
            yield Event(load_b + 2, "tileB", "w", (first + k) * wide + col, own, 4, ("B", index))
        if phase >= ahead:
            yield from _read_tiles(t, at, (phase - ahead) % t.STAGES, padding=4)
    yield from _store(t)


def matrix_instructions(t: Thread) -> Iterator[Event]:
    """The stores alone: what a quiz asks of such a kernel. A lane holds two neighbouring elements of each 8 x 8 of the sums."""
    (lane, warp, _), across = t.thread, t.TILE_WIDTH // t.PER_WARP
    row = t.block[1] * t.TILE_WIDTH + warp // across * t.PER_WARP + lane // 4
    col = t.block[0] * t.TILE_WIDTH + warp % across * t.PER_WARP + lane % 4 * 2
    for i in range(0, t.PER_WARP, 8):
        for j in range(0, t.PER_WARP, 8):
            yield Event(t.line("&C[(row0"), "C", "w", (row + i) * t.N + col + j, width=2)


# Other problems


def matrix_vector(t: Thread) -> Iterator[Event]:
    code, bars = t.launch.lines("sum += A"), t.launch.lines("__syncthreads();")
    if not t.BY_BLOCK:
        row = t.block[0] * t.BLOCK + t.thread[0]
        for col in range(t.columns):
            yield Event(code[1], "A", "r", row * t.columns + col if row < t.rows else None, {"col": col})
            yield Event(code[1], "x", "r", col if row < t.rows else None, {"col": col})
        yield Event(t.line("y[row] = sum;"), "y", "w", row if row < t.rows else None)
        return
    row, x = t.block[0], t.thread[0]
    for trip, col in enumerate(range(x, t.columns, t.BLOCK)):
        at = {f"loop {t.line('col = threadIdx.x')}": trip + 1}
        yield Event(code[0], "A", "r", row * t.columns + col, at)
        yield Event(code[0], "x", "r", col, at)
    yield Event(t.line("= sum;"), "sums", "w", x)
    yield Event(bars[0], "", "barrier", 0)
    half, phase = t.BLOCK // 2, 1
    while half > 0:
        yield from _added(t.line("sums[threadIdx.x] +="), "sums", x, x + half, x < half, {"phase": phase, "(half)": half})
        yield Event(bars[1], "", "barrier", 0)
        half, phase = half // 2, phase + 1
    yield Event(t.line("= sums[0];"), "sums", "r", 0 if x == 0 else None)
    yield Event(t.line("= sums[0];"), "y", "w", row if x == 0 else None)


def _added(line: int, array: str, own: int, other: int, takes_part: bool, at: dict[str, int]) -> Iterator[Event]:
    yield Event(line, array, "r", other if takes_part else None, at)
    yield Event(line, array, "r", own if takes_part else None, at)
    yield Event(line, array, "w", own if takes_part else None, at)


def reduction_tree(t: Thread) -> Iterator[Event]:
    x, bars = t.thread[0], t.launch.lines("__syncthreads();")
    i = t.block[0] * t.BLOCK + x
    yield Event(t.line("sums[x] = i < n"), "in", "r", i if i < t.n else None)
    yield Event(t.line("sums[x] = i < n"), "sums", "w", x, copy=("in", i) if i < t.n else None)
    yield Event(bars[0], "", "barrier", 0)
    apart, half, phase = 1, t.BLOCK // 2, 1
    while (apart < t.BLOCK) if t.INTERLEAVED else (half > 0):
        if t.INTERLEAVED:
            own, at = 2 * apart * x, {"phase": phase, "(apart)": apart}
            yield from _added(t.line("sums[own] +="), "sums", own, own + apart, own < t.BLOCK, at)
            yield Event(bars[1], "", "barrier", 0)
        else:
            yield from _added(t.line("sums[x] +="), "sums", x, x + half, x < half, {"phase": phase, "(half)": half})
            yield Event(bars[2], "", "barrier", 0)
        apart, half, phase = apart * 2, half // 2, phase + 1
    yield Event(t.line("= sums[0];"), "sums", "r", 0 if x == 0 else None)
    yield Event(t.line("= sums[0];"), "out", "w", t.block[0] if x == 0 else None)


def stencil_halo(t: Thread) -> Iterator[Event]:
    x, i = t.thread[0], t.block[0] * t.BLOCK + t.thread[0]
    left, right, loads = i - t.radius, i + t.BLOCK, x < t.radius
    for code, cell, index, takes_part in (
        ("tile[x + radius] =", x + t.radius, i, True),
        ("tile[x] =", x, left, loads),
        ("tile[x + radius + BLOCK] =", x + t.radius + t.BLOCK, right, loads),
    ):
        inside = takes_part and 0 <= index < t.n
        yield Event(t.line(code), "in", "r", index if inside else None)
        yield Event(t.line(code), "tile", "w", cell if takes_part else None, copy=("in", index) if inside else None)
    yield Event(t.line("__syncthreads();"), "", "barrier", 0)
    for offset in range(2 * t.radius + 1):
        yield Event(t.line("sum += tile"), "tile", "r", x + offset, {"offset": offset})
    yield Event(t.line("out[i] = sum;"), "out", "w", i if i < t.n else None)


def transpose_naive(t: Thread) -> Iterator[Event]:
    row, col = t.block[1] * t.TILE + t.thread[1], t.block[0] * t.TILE + t.thread[0]
    inside = row < t.rows and col < t.columns
    yield Event(t.line("out[col * rows"), "in", "r", row * t.columns + col if inside else None)
    yield Event(t.line("out[col * rows"), "out", "w", col * t.rows + row if inside else None)


def transpose_tiled(t: Thread) -> Iterator[Event]:
    (x, y, _), wide = t.thread, t.TILE + t.PAD
    row, col = t.block[1] * t.TILE + y, t.block[0] * t.TILE + x
    index, inside = row * t.columns + col, row < t.rows and col < t.columns
    yield Event(t.line("tile[y][x] = in"), "in", "r", index if inside else None)
    yield Event(t.line("tile[y][x] = in"), "tile", "w", y * wide + x if inside else None, copy=("in", index))
    yield Event(t.line("__syncthreads();"), "", "barrier", 0)
    row, col = t.block[0] * t.TILE + y, t.block[1] * t.TILE + x
    inside = row < t.columns and col < t.rows
    yield Event(t.line("= tile[x][y];"), "tile", "r", x * wide + y if inside else None)
    yield Event(t.line("= tile[x][y];"), "out", "w", row * t.rows + col if inside else None)


def vector_add(t: Thread) -> Iterator[Event]:
    thread, stretch = t.block[0] * t.BLOCK + t.thread[0], t.launch.grid[0] * t.BLOCK // t.STRIDE
    i = thread % stretch * t.STRIDE + thread // stretch
    for name in "AB":
        yield Event(t.line("C[i] ="), name, "r", i if i < t.n else None)
    yield Event(t.line("C[i] ="), "C", "w", i if i < t.n else None)


THREADS: dict[str, Kernel] = {
    "01_single_block": single_block,
    "02_naive": naive,
    "03_coalesced": coalesced,
    "04_tiled": Tiled(guarded=True),
    "05_tiled_unguarded": Tiled(),
    "06_tiled_unrolled": Tiled(),
    "07_tiled_transposed": Tiled(codes=("tileA[x][y] =", "tileB[y][x] =", "sum += tileA", "= sum;"), transposed=True),
    "08_register_tiled": register_tiled,
    "09_vectorised": vectorised,
    "10_warp_tiled": vectorised,
    "11_double_buffered": double_buffered,
    "12_pipelined": pipelined,
    "13_wmma": matrix_instructions,
    "14_mma": matrix_instructions,
    "15_swizzled": matrix_instructions,
    "column_first": Tiled(
        "Md Nd Pd Mds Nds m k", "Width Width Width", ("Mds[ty][tx] =", "Nds[ty][tx] =", "Pvalue += Mds", "= Pvalue;"),
    ),
    "cube_block": cube_block,
    "early_return": early_return,
    "hip_form": Tiled(
        "A B C shared_A shared_B step i", "M K N",
        ("[threadIdx.x] = (row < M", "[threadIdx.x] = (b_row", "sum += shared_A", "= sum;"), "BLOCK_DIM", guarded=True,
    ),
    "linear_block": linear_block,
    "many_blocks": many_blocks,
    "no_guard": _K0,
    "no_first_barrier": Tiled(_CEIL.names, _CEIL.sizes, _CEIL.codes, barriers=1, guarded=True, has_else=True),
    "no_second_barrier": Tiled(_CEIL.names, _CEIL.sizes, _CEIL.codes, barriers=2, guarded=True, has_else=True),
    "one_element": coalesced,
    "phases_by_ceil": Tiled(_CEIL.names, _CEIL.sizes, _CEIL.codes, barriers=3, guarded=True, has_else=True),
    "reads_c": coalesced,
    "rolled": _K0,
    "sequential": sequential,
    "unrolled": _K0,
    "matrix_vector": matrix_vector,
    "reduction_tree": reduction_tree,
    "stencil_halo": stencil_halo,
    "transpose_naive": transpose_naive,
    "transpose_tiled": transpose_tiled,
    "vector_add": vector_add,
}  # fmt: skip

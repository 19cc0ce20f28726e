"""Random kernels with tiles in shared memory: of one matrix or both, with one or two buffers, loaded in several ways."""

from collections.abc import Callable

from tests.fuzz.kernel_writer import DIVERGENT, GLOBAL, MISSING, RANGE, SHARED, UNSET, WRONG, Kernel, Writer

_SPLIT = ("two blocks store a sum", "two blocks add to a sum")
Text = tuple[str, dict[str, str]]  # and what it is with each fault


def _joined(write: Callable[..., str], *parts: Text) -> Text:
    """A text made of others; with a fault where any of them has it."""
    names = {name for _, instead in parts for name in instead}
    return write(*(text for text, _ in parts)), {
        name: write(*(instead.get(name, text) for text, instead in parts)) for name in names
    }


class Tiled(Writer):
    """A block multiplies tiles: BM x BK of A by BK x BN of B. A thread computes TM x TN elements of C."""

    def kernel(self) -> Kernel:
        self._choose_tiles()
        self._choose_ways()
        functions = [self.mac_function()] if self.way == 3 else []
        if self.guard == "fetch":
            functions.append(self._fetch_function())
        self.header(functions)
        with self.braces(""):
            self.local_constants()
            self._body()
        self._faults()
        return self.finished()

    # Choices

    def _choose_tiles(self) -> None:
        some = self.random
        self.load = some.choice(("square", "square", "some threads", "in turn", "in turn", "in rows", "wide"))
        w, h = some.choice(((2, 2), (4, 4), (4, 2), (2, 4), (3, 3), (8, 4), (8, 8), (5, 3), (16, 4)))
        tm, tn, bk = some.choice((1, 1, 2, 3)), some.choice((1, 1, 2, 3)), some.randint(2, 6)
        self.tiled = some.choice(("AB", "AB", "AB", "A", "B"))
        if self.load == "square":
            w = h = bk = some.choice((2, 3, 4, 5, 8))
        if self.load == "some threads":
            bk = some.randint(2, min(w, h))
        if self.load in ("square", "some threads"):
            tm = tn = 1
        if self.load == "wide":
            self.type, self.zero, self.is_guarded, self.columns_first, self.tiled = "float", "0.0f", False, set(), "AB"
            bk, tn = some.choice((4, 8)), 4
        self.set_constants(BM=h * tm, BN=w * tn, BK=bk, TM=tm, TN=tn, W=w, H=h)
        sizes = h * tm, w * tn, bk
        if self.is_guarded:
            self.M, self.N = (max(4, some.randint(each // 2, 2 * each + 3)) for each in sizes[:2])
            self.K = some.randint(2, 3 * bk)
        else:
            self.M, self.N, self.K = (each * some.randint(1, 3) for each in sizes)

    def _choose_ways(self) -> None:
        some, c = self.random, self.constants
        self.storage = some.choice(("rows", "rows", "flat", "dynamic"))
        self.pad = {each: some.choice((0, 0, 1, 2)) for each in "AB"}
        self.turned = {each for each in "AB" if some.random() < 0.3}
        self.buffers = some.choice((1, 1, 2))
        self.is_ahead = self.buffers == 1 and self.load == "square" and some.random() < 0.3
        self.guard = some.choice(("?:", "?:", "if", "fetch")) if self.is_guarded else ""
        layouts_differ = len({each in self.columns_first for each in "AB"}) > 1
        if (self.guard == "fetch" and layouts_differ) or (self.is_ahead and self.guard == "if"):
            self.guard = "?:"
        self.loops = some.choice(("for", "for", "while", "do", "break"))
        self.way, self.in_registers, self.is_apart, self.by_number = (
            some.randrange(4),
            *(some.random() < 0.5 for _ in range(3)),
        )
        self.is_linear = some.random() < 0.5
        spare = some.choice((0, 0, 5)) if self.is_linear else 0
        self.threads = c["W"] * c["H"]
        self.block = (self.threads + spare,) if self.is_linear else (c["W"], c["H"])
        self.wait = "__syncwarp();" if self.threads <= 32 and some.random() < 0.15 else "__syncthreads();"
        self.grid = -(-self.N // c["BN"]), -(-self.M // c["BM"])
        self.tiles = self.grid[0] * self.grid[1]
        self.is_persistent = self.tiles > 1 and some.random() < 0.25
        if self.is_persistent:
            self.grid = (some.randint(1, self.tiles),)
        self.loaders = self.threads // 2 if self.load == "in turn" and some.random() < 0.3 else self.threads
        self.is_staged = not self.is_several and some.random() < 0.2
        self.spare_blocks = 0 if self.is_persistent or some.random() < 0.8 else 1
        if self.spare_blocks:
            self.grid = self.grid[0], self.grid[-1] + 1
        self.phases = -(-self.K // c["BK"])
        self.order = some.choice((self.tiled, self.tiled[::-1]))
        if self.storage == "dynamic":
            self.shared_bytes = sum(map(self._size, self.tiled)) * self.item

    # Tiles

    def _extents(self, which: str) -> tuple[str, str]:
        """The constants that say how many rows and columns a tile has."""
        return ("BM", "BK") if which == "A" else ("BK", "BN")

    def _shape(self, which: str) -> tuple[str, str]:
        """Those of its rows and columns in shared memory."""
        rows, cols = self._extents(which)
        return (cols, rows) if which in self.turned else (rows, cols)

    def _size(self, which: str) -> int:
        first, second = (self.constants[each] for each in self._shape(which))
        return first * (second + self.pad[which]) * self.buffers

    def least_bytes(self) -> int:
        return self.shared_bytes - self.pad[self.order[-1]] * self.item

    def _stride(self, which: str) -> str:
        second = self.constant(self._shape(which)[1])
        return f"({second} + {self.pad[which]})" if self.pad[which] else second

    def _cell(self, which: str, buffer: str, row: str, col: str) -> Text:
        """An element of a tile."""
        name, (first, second) = self[f"{which} tile"], (col, row) if which in self.turned else (row, col)

        def place(first: str, second: str, stride: str, buffer: str) -> str:
            if self.storage == "rows":
                return f"{name}{f'[{buffer}]' if self.buffers == 2 else ''}[{first}][{second}]"
            first = f"({first})" if " " in first else first
            buffer = f"({buffer})" if " " in buffer else buffer
            before = (
                f"{buffer} * {self.constant(self._shape(which)[0])} * {self._stride(which)} + " if self.buffers == 2 else ""
            )
            return f"{name}[{before}{first} * {stride} + {second}]"

        stride, narrow = self._stride(which), f"({self.constant(self._shape(which)[1])} - 1)"
        own = place(first, second, stride, buffer)
        instead = {f"{which} stored turned": place(second, first, stride, buffer)}
        if self.storage != "rows":
            before = place(first, second, narrow, buffer)
            instead[f"{which} rows overlap"] = before
        if self.buffers == 2:
            instead["another buffer"] = place(first, second, stride, f"({buffer} ^ 1)")
        return own, instead

    def _declared(self, which: str) -> None:
        first = self._shape(which)[0]
        count = f"{self.constant(first)} * {self._stride(which)}"
        if self.storage == "rows":
            stride = self._stride(which).strip("()")
            dims = [f"[{self.constant(first)}]", f"[{stride}]"]
            fewer = [f"[{self.constant(first)} - 1]", f"[{stride}]"] if self.buffers == 1 else ["[1]", *dims]
            dims = ["[2]", *dims] if self.buffers == 2 else dims
        else:
            dims = [f"[{count} * {self.buffers}]"]
            fewer = [f"[{count} * {self.buffers} - {self.pad[which] + 1}]"]
        align = self.random.choice(("__align__(16) ", "")) if self.load != "wide" else "__align__(16) "
        start = f"__shared__ {align}{self.type} {self[f'{which} tile']}"
        self.add(f"{start}{''.join(dims)};", **{f"{which} too small": f"{start}{''.join(fewer)};"})

    def _fetch_function(self) -> str:
        turned = "A" in self.columns_first
        place = "c_ * rows_ + r_" if turned else "r_ * cols_ + c_"
        kind = self.type
        return (
            f"__device__ {kind} {self['fetch']}(const {kind}* from_, int r_, int c_, int rows_, int cols_) {{\n"
            f"    return r_ < rows_ && c_ < cols_ ? from_[{place}] : 0;\n}}"
        )

    # Body

    def _body(self) -> None:
        x, y, t = self["x"], self["y"], self["t"]
        width, height = self.constant("W"), self.constant("H")
        if self.storage == "dynamic":
            self.add(f"extern __shared__ __align__(16) {self.type} pool[];")
            self.add(f"{self.type}* {self[f'{self.order[0]} tile']} = pool;")
            if len(self.order) > 1:
                self.add(f"{self.type}* {self[f'{self.order[1]} tile']} = pool + {self._size(self.order[0])};")
        else:
            for which in self.order:
                self._declared(which)
        if self.is_staged:
            self.add(f"__shared__ {self.type} staged[{height}][{width}];")
        if self.is_linear:
            self.add(f"const int {t} = threadIdx.x;")
            if self.block[0] > self.threads:
                self.add(f"if ({t} >= {width} * {height}) return;")
            self.shuffled((f"const int {x} = {t} % {width};", {}), (f"const int {y} = {t} / {width};", {}))
        else:
            self.shuffled((f"const int {x} = threadIdx.x;", {}), (f"const int {y} = threadIdx.y;", {}))
            self.add(f"const int {t} = {y} * {width} + {x};")
        if not self.is_persistent:
            self._product("blockIdx.y", "blockIdx.x")
            return
        across, tile = f"((N + {self.constant('BN')} - 1) / {self.constant('BN')})", self["tile"]
        all_tiles = f"{across} * ((M + {self.constant('BM')} - 1) / {self.constant('BM')})"
        self.add("", **{"sum not set to zero again": self._sum()[0]})
        fewer = {"tiles left out": ("blockIdx.x", f"< {all_tiles} - 1", "gridDim.x")}
        with self.loop(tile, "blockIdx.x", all_tiles, "gridDim.x", faults=fewer):
            self._product(f"({tile} / {across})", f"({tile} % {across})")

    def _sum(self) -> tuple[str, str, str]:
        """Declares the sums: set to zero, not set, integers."""
        shape = f"[{self.constant('TM')}][{self.constant('TN')}]" if self.is_several else ""
        zero = self.random.choice(("{}", "{0}")) if shape else self.zero
        name = f"{self['sum']}{shape}"
        return f"{self.type} {name} = {zero};", f"{self.type} {name};", f"int {name} = {'{}' if shape else 0};"

    @property
    def is_several(self) -> bool:
        return self.constants["TM"] * self.constants["TN"] > 1

    def _product(self, block_row: str, block_col: str) -> None:
        row0, col0, k0, now = self["row0"], self["col0"], self["k0"], self["now"]
        depth = self.constant("BK")
        left_out = {} if self.is_persistent else {"block left out": f"const int {row0} = 0;"}
        text, unset, whole = self._sum()
        again = {"sum not set to zero again": ""} if self.is_persistent else {}
        self.shuffled(
            (f"const int {row0} = {block_row} * {self.constant('BM')};", left_out),
            (f"const int {col0} = {block_col} * {self.constant('BN')};", {}),
            (text, {"sum not set": unset, "sum of integers": whole, **again}),
        )
        if self.spare_blocks:
            self.add(f"if ({row0} >= M) return;")
        self.add("", **{"early return": f"if ({row0} + {self['y']} >= M || {col0} + {self['x']} >= N) return;"})
        if self.by_number:
            base, following = f"{k0} * {depth}", f"({k0} + 1) * {depth}"
            limit, step = f"(K + {depth} - 1) / {depth}", "1"
        else:
            base, following, limit, step = k0, f"{k0} + {depth}", "K", depth
        if self.is_ahead:
            self.add(f"{self.type} {', '.join(self[each.lower()] for each in self.tiled)};")
            for which in self.tiled:
                self._to_register(which, "0")
        if self.buffers == 2:
            self.add(f"int {now} = 0;")
            self._load_all("0", "0")
        split = (f"blockIdx.z{'' if self.by_number else f' * {depth}'}", f"< {limit}", f"2 * {step}")
        faults = {**dict.fromkeys(_SPLIT, split), "phases left out": ("0", f"< {limit} - {step}", step)}
        with self.loop(k0, "0", limit, step, self.loops, faults=faults):
            if self.buffers == 2:
                self._barrier("ready")
                with self.braces(f"if ({following} < K)"):
                    self._load_all(following, f"1 - {now}")
                self._multiply(base, now)
                self.add(self.random.choice((f"{now} = 1 - {now};", f"{now} ^= 1;")))
            else:
                self._phase(base, following)
        if self.is_persistent and self.buffers == 2:
            self.add(self.wait)
        self._store()

    def _phase(self, base: str, following: str) -> None:
        if self.is_ahead:
            for which in self.order:
                text, instead = self._cell(which, "", self["y"], self["x"])
                of_store = {name: f"{other} = {self[which.lower()]};" for name, other in instead.items()}
                own = f"{text} = {self[which.lower()]};"
                self.add(own, f"store {which}", **of_store, **{f"{which} partly loaded": f"if ({self['x']} > 0) {own}"})
        else:
            self._load_all(base, "")
        self._barrier("ready")
        if self.is_ahead:
            with self.braces(f"if ({following} < K)"):
                for which in self.order:
                    self._to_register(which, following)
        self._multiply(base, "")
        self._barrier("done")

    def _barrier(self, tag: str) -> None:
        branch = f"if ({self['x']} > 0) {self.wait}"
        self.add(self.wait, tag, **{
            f"not {tag}": "", f"{tag} in a branch": branch, f"{tag} for warps": "__syncwarp();",
        })  # fmt: skip

    # Loads

    def _value(self, which: str, base: str, row: str, col: str) -> tuple[Text, list[str]]:
        """An element of A or B, and the terms of its guard."""
        if which == "A":
            row, col = f"{self['row0']} + {row}", f"{base} + {col}"
            terms = [f"{row} < M", f"{col} < K"]
        else:
            row, col = f"{base} + {row}", f"{self['col0']} + {col}"
            terms = [f"{row} < K", f"{col} < N"]
        if self.guard == "fetch":
            sizes = {"A": "M, K", "B": "K, N"}[which]
            return (f"{self['fetch']}({which}, {row}, {col}, {sizes})", {}), terms
        other = self.element(which, row, col, self.other_leading(which))
        return (self.element(which, row, col), {f"{which} with another width": other}), terms

    def _guarded_value(self, which: str, base: str, row: str, col: str) -> Text:
        """The same with its guard in it."""
        (own, instead), terms = self._value(which, base, row, col)
        if self.guard in ("", "fetch"):
            return own, instead
        found = {name: f"{' && '.join(terms)} ? {other} : {self.zero}" for name, other in instead.items()}
        for name, left in zip(("rows", "columns"), terms[::-1], strict=True):
            found[f"no guard of {which} {name}"] = f"{left} ? {own} : {self.zero}"
        return f"{' && '.join(terms)} ? {own} : {self.zero}", found

    def _to_register(self, which: str, base: str) -> None:
        value = self._guarded_value(which, base, self["y"], self["x"])
        text, instead = _joined(lambda value: f"{self[which.lower()]} = {value};", value)
        self.add(text, f"load {which}", **instead)

    def _load_all(self, base: str, buffer: str) -> None:
        for which in self.random.sample(self.tiled, len(self.tiled)):
            self._load(which, base, buffer)

    def _load(self, which: str, base: str, buffer: str) -> None:
        x, y, t, i, j = (self[role] for role in ("x", "y", "t", "i", "j"))
        rows, cols = (self.constant(each) for each in self._extents(which))
        width, height, part = self.constant("W"), self.constant("H"), f"{which} partly loaded"
        count, threads = f"{rows} * {cols}", f"{width} * {height}"
        match self.load:
            case "square":
                self._put(which, base, buffer, y, x, part)
            case "some threads":
                index, limit = (x, cols) if which == "A" else (y, rows)
                with self.braces(f"if ({index} < {limit})", **{part: f"if ({index} < {limit} - 1)"}):
                    self._put(which, base, buffer, y, x)
            case "in turn":
                only = f"if ({t} < {self.loaders})" if self.loaders < self.threads else ""
                threads = str(self.loaders) if only else threads
                faults = {part: (f"{t} + 1", f"< {count}", threads)}
                with self.braces(only), self.loop(i, t, count, threads, faults=faults):
                    self._put(which, base, buffer, f"{i} / {cols}", f"{i} % {cols}")
            case "in rows":
                with (
                    self.loop(i, y, rows, height, faults={part: (f"{y} + 1", f"< {rows}", height)}),
                    self.loop(j, x, cols, width),
                ):
                    self._put(which, base, buffer, i, j)
            case "wide":
                later = {part: (f"{t} * 4 + 4", f"< {count}", f"{threads} * 4")}
                with self.loop(i, f"{t} * 4", count, f"{threads} * 4", faults=later):
                    self._put_wide(which, base, buffer, f"{i} / {cols}", f"{i} % {cols}")

    def _put(self, which: str, base: str, buffer: str, row: str, col: str, part: str = "") -> None:
        """Stores one element of a tile; ``part``: the fault that only some threads do."""
        cell, tags = self._cell(which, buffer, row, col), (f"store {which}", f"load {which}")
        cell[1].pop("another buffer", None)
        only = f"if ({self['x']} > 0) "
        if self.guard != "if":
            text, instead = _joined(lambda cell, value: f"{cell} = {value};", cell, self._guarded_value(which, base, row, col))
            self.add(text, *tags, **instead, **{part: only + text} if part else {})
            return
        value, terms = self._value(which, base, row, col)
        head = f"if ({' && '.join(terms)})"
        left = {
            f"no guard of {which} {name}": f"if ({term})" for name, term in zip(("rows", "columns"), terms[::-1], strict=True)
        }
        self.add(head, **left, **{part: only + head} if part else {})
        text, instead = _joined(lambda cell, value: f"    {cell} = {value};", cell, value)
        self.add(text, *tags, **instead)
        self.add("else", **{f"no zeros in {which}": ""})
        text, instead = _joined(lambda cell: f"    {cell} = {self.zero};", cell)
        self.add(text, f"store {which}", **instead, **{f"no zeros in {which}": ""})

    def _put_wide(self, which: str, base: str, buffer: str, row: str, col: str) -> None:
        (value, _), _ = self._value(which, base, row, col)
        source = (
            f"*reinterpret_cast<const float4*>(&{value})"
            if self.form != 3
            else f"*reinterpret_cast<const float4*>({value[1:]})"
        )
        if which not in self.turned and not self.pad[which] and self.storage != "dynamic":
            cell, _ = self._cell(which, buffer, row, col)
            self.add(f"*reinterpret_cast<float4*>(&{cell}) = {source};", f"store {which}", f"load {which}")
            return
        wide = self["w"]
        self.add(f"const float4 {wide} = {source};", f"load {which}")
        for n, part in enumerate("xyzw"):
            cell, _ = self._cell(which, buffer, row, f"{col} + {n}" if n else col)
            self.add(f"{cell} = {wide}.{part};", f"store {which}")

    # The product of two tiles, and C

    def _own(self, axis: str) -> str:
        """Row or column in the block's part of C, of the thread's i-th or j-th."""
        place, count, number, step = (
            (self["y"], "TM", self["i"], "H") if axis == "row" else (self["x"], "TN", self["j"], "W")
        )  # fmt: skip
        if not self.is_several:
            return place
        return (
            f"{place} + {number} * {self.constant(step)}" if self.is_apart else f"{place} * {self.constant(count)} + {number}"
        )

    def _operand(self, which: str, base: str, buffer: str) -> Text:
        row, col = (self._own("row"), self["k"]) if which == "A" else (self["k"], self._own("col"))
        if which in self.tiled:
            text, instead = self._cell(which, buffer, row, col)
            instead.pop(f"{which} stored turned")
            return text, instead
        text, _ = self._guarded_value(which, base, row, col)
        return (f"({text})" if "?" in text else text), {}

    def _multiply(self, base: str, buffer: str) -> None:
        k, depth, total = self["k"], self.constant("BK"), self["sum"]
        a, b = self._operand("A", base, buffer), self._operand("B", base, buffer)
        faults = {
            "k one further": ("0", f"<= {depth}", "1"),
            "k from one": ("1", f"< {depth}", "1"),
            "k one short": ("0", f"< {depth} - 1", "1"),
        }
        if self.random.random() < 0.3:
            self.add(self.random.choice(("#pragma unroll", "#pragma unroll 1")))
        with self.loop(k, "0", depth, faults=faults):
            if not self.is_several:
                text, instead = _joined(lambda a, b: self.added(total, a, b, self.way), a, b)
                self.add(text, "use", "read A", "read B", **instead)
                return
            i, j, down, across = self["i"], self["j"], self.constant("TM"), self.constant("TN")
            if self.in_registers:
                self.shuffled((f"{self.type} {self['a']}[{down}];", {}), (f"{self.type} {self['b']}[{across}];", {}))
                for name, number, count, which, operand in (("a", i, down, "A", a), ("b", j, across, "B", b)):
                    text, instead = _joined(lambda cell, to=f"{self[name]}[{number}]": f"{to} = {cell};", operand)
                    with self.loop(number, "0", count):
                        self.add(text, f"read {which}", **instead)
                a, b = (f"{self['a']}[{i}]", {}), (f"{self['b']}[{j}]", {})
            text, instead = _joined(lambda a, b: self.added(f"{total}[{i}][{j}]", a, b, self.way), a, b)
            tags = () if self.in_registers else ("read A", "read B")
            with self.loop(i, "0", down), self.loop(j, "0", across):
                self.add(text, "use", *tags, **instead)

    def _store(self) -> None:
        row, col = f"{self['row0']} + {self._own('row')}", f"{self['col0']} + {self._own('col')}"
        i, j = self["i"], self["j"]
        if self.is_staged:
            self._store_staged()
            return
        if not self.is_several:
            self._store_one(row, col, self["sum"])
            return
        with self.loop(i, "0", self.constant("TM")), self.loop(j, "0", self.constant("TN")):
            self._store_one(row, col, f"{self['sum']}[{i}][{j}]")

    def _store_staged(self) -> None:
        """Another thread stores what a thread computed: it finds that in shared memory."""
        x, y, t, height = self["x"], self["y"], self["t"], self.constant("H")
        self.add(f"staged[{y}][{x}] = {self['sum']};", "stage")
        self.add(self.wait, "staged", **{"not staged": "", "staged in a branch": f"if ({x} > 0) {self.wait}"})
        self.add(f"const {self.type} result = staged[{t} % {height}][{t} / {height}];", "stage")
        self._store_one(f"{self['row0']} + {t} % {height}", f"{self['col0']} + {t} / {height}", "result")

    def _store_one(self, row: str, col: str, value: str) -> None:
        self.shuffled((f"const int {self['row']} = {row};", {}), (f"const int {self['col']} = {col};", {}))
        terms = [f"{self['row']} < M", f"{self['col']} < N"]
        text, instead = self.stored(self["row"], self["col"], value)
        if not self.is_guarded:
            self.add(text, "C", **instead)
            return
        left = {f"no guard of C {name}": f"if ({term})" for name, term in zip(("rows", "columns"), terms[::-1], strict=True)}
        self.add(f"if ({' && '.join(terms)})", **left)
        self.add(f"    {text}", "C", **{name: f"    {other}" for name, other in instead.items()})

    # Faults

    def _faults(self) -> None:
        c, m, n, k = self.constants, self.M, self.N, self.K
        once = not self.is_persistent
        self.common_faults()
        shared = ("store A", "store B", "read A", "read B")
        trips = self.phases if once else self.phases * -(-self.tiles // self.grid[0])
        waits_for_block = self.wait == "__syncthreads();"
        self.fault("not ready", SHARED, *shared)
        self.fault("not done", SHARED, *shared, when=trips > 1)
        for tag in ("ready", "done"):
            self.fault(f"{tag} in a branch", DIVERGENT, tag, when=waits_for_block)
            enough = "B" in self.tiled and self.threads > 32 and 32 % c["W"] == 0 and (tag == "ready" or trips > 1)
            self.fault(f"{tag} for warps", SHARED, *shared, when=enough)
        self.fault("k one further", (RANGE, UNSET), "read A", "read B", when=self.buffers == 1)
        self.fault("k from one", WRONG)
        self.fault("k one short", WRONG, when=k >= c["BK"])
        self.fault("phases left out", WRONG, when=self.loops != "do" or self.phases > 1)
        self.fault("another buffer", (UNSET, SHARED), *shared, may=(WRONG,))
        self.fault("block left out", MISSING, "C", may=(GLOBAL,), when=once and self.grid[-1] - self.spare_blocks > 1)
        self.fault("tiles left out", MISSING)
        divides = {
            "A": (m % c["BM"] == 0, k % c["BK"] == 0),
            "B": (k % c["BK"] == 0, n % c["BN"] == 0),
            "C": (m % c["BM"] == 0, n % c["BN"] == 0),
        }
        for which, axes in divides.items():
            for name, is_even in zip(("rows", "columns"), axes, strict=True):
                self.fault(f"no guard of {which} {name}", RANGE, f"load {which}" if which != "C" else "C", when=not is_even)
        outside = {"A": not divides["A"][0], "B": not divides["B"][1]}
        for which in self.tiled:
            self.fault(f"no zeros in {which}", UNSET, f"read {which}", when=(once and outside[which]) or k < c["BK"])
            self.fault(f"{which} partly loaded", UNSET, f"read {which}")
            self.fault(f"{which} too small", RANGE, f"store {which}", when=self.buffers == 1 or self.phases > 1)
            self.fault(f"{which} stored turned", WRONG, when=self.load == "square")
            self.fault(f"{which} rows overlap", SHARED, f"store {which}", may=(WRONG,), when=self._collides(which))
        self.fault("tile too small", RANGE, f"store {self.order[-1]}", when=self.buffers == 1 or self.phases > 1)
        lost = ("A" in self.tiled and n % c["BN"] != 0) or ("B" in self.tiled and m % c["BM"] != 0)
        self.fault("early return", UNSET, "read A", "read B", when=once and self.load == "square" and lost)
        if self.phases < 2 or self.buffers == 2 or self.is_ahead or self.loops == "do":
            for name in _SPLIT:
                self.faults.pop(name, None)
        self.fault("not staged", SHARED, "stage")
        self.fault("staged in a branch", DIVERGENT, "staged", when=waits_for_block)
        if self.is_persistent or (self.spare_blocks and self.grid[0] == 1):
            self.faults.pop("grid too small", None)
        if self.is_persistent and self.grid[0] == self.tiles:
            self.faults.pop("sum not set to zero again", None)

    def _collides(self, which: str) -> bool:
        """Whether two threads store the same element of a tile whose rows are taken to be one shorter."""
        if self.load == "wide":
            return False
        rows, cols = (self.constants[each] for each in self._extents(which))
        stride = self.constants[self._shape(which)[1]] - 1
        owners: dict[int, set[int]] = {}
        for row in range(rows):
            for col in range(cols):
                a, b = (col, row) if which in self.turned else (row, col)
                owners.setdefault(a * stride + b, set()).add(self._loader(row, col, cols))
        return any(len(each) > 1 for each in owners.values())

    def _loader(self, row: int, col: int, cols: int) -> int:
        width, height = self.constants["W"], self.constants["H"]
        return (row * cols + col) % self.loaders if self.load == "in turn" else row % height * width + col % width

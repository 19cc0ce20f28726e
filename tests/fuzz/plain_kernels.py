"""Random kernels without tiles: a thread for one element or several, or several threads for one element."""

from tests.fuzz.kernel_writer import DIVERGENT, GLOBAL, MISSING, RANGE, SHARED, UNSET, WRONG, Kernel, Writer


class Direct(Writer):
    """Each thread multiplies rows by columns straight from global memory."""

    def kernel(self) -> Kernel:
        some = self.random
        self.shape = some.choice(("plane", "plane", "line", "stride", "several", "several"))
        self.way = some.randrange(4)
        self.loops = some.choice(("for", "for", "while", "do", "break"))
        width, height = some.choice(((2, 2), (4, 4), (8, 4), (3, 5), (16, 2), (4, 1), (1, 8)))
        mine = (some.randint(1, 3), some.randint(2, 3)) if self.shape == "several" else (1, 1)
        self.is_plane = self.shape in ("plane", "several")
        self.extents = height * mine[0], width * mine[1]
        if self.is_plane and not self.is_guarded:
            self.M, self.N = (each * some.randint(1 if each > 1 else 2, 3) for each in self.extents)
        if self.is_plane:
            self.block, self.grid = (width, height), (-(-self.N // self.extents[1]), -(-self.M // self.extents[0]))
            self.set_constants(W=width, H=height, TM=mine[0], TN=mine[1])
        else:
            threads = some.choice((8, 32, 48))
            needed = -(-self.M * self.N // threads)
            self.block, self.grid = (threads,), (max(1, needed // 3) if self.shape == "stride" else needed,)
        self.vector = self._vector()
        self.header([self.mac_function()] if self.way == 3 else [])
        with self.braces(""):
            self.local_constants()
            if self.is_plane:
                self._plane()
            else:
                self._line()
        self._faults()
        return self.finished()

    def _vector(self) -> bool:
        """Whether rows of A are read four elements at a time."""
        if self.type != "float" or "A" in self.columns_first or self.random.random() < 0.6:
            return False
        self.K = self.random.choice((4, 8, 12))
        return True

    def _plane(self) -> None:
        kind = self.counter_type if self.shape == "plane" else "int"
        x, y, row, col = (self[role] for role in ("x", "y", "row", "col"))
        width, height, down, across = (self.constant(role) for role in ("W", "H", "TM", "TN"))
        if self.shape == "plane":
            self.shuffled(
                (
                    f"const {kind} {row} = blockIdx.y * {height} + threadIdx.y;",
                    {"block left out": f"const {kind} {row} = threadIdx.y;"},
                ),
                (f"const {kind} {col} = blockIdx.x * blockDim.x + threadIdx.x;", {}),
            )
            self._guarded([f"{row} < M", f"{col} < N"], ("rows", "columns"))
            return
        self.add(
            f"const int {y} = (blockIdx.y * {height} + threadIdx.y) * {down};",
            **{"block left out": f"const int {y} = threadIdx.y * {down};"},
        )
        self.add(f"const int {x} = (blockIdx.x * {width} + threadIdx.x) * {across};")
        self.add("", **{"sum not set to zero again": f"{self.type} {self['sum']} = 0;"})
        i, j = self["i"], self["j"]
        rows = {"rows left out": ("0", f"< {down} - 1", "1")}
        columns = {"columns left out": ("0", f"< {across} - 1", "1")}
        with self.loop(i, "0", down, faults=rows), self.loop(j, "0", across, faults=columns):
            self.shuffled((f"const int {row} = {y} + {i};", {}), (f"const int {col} = {x} + {j};", {}))
            self._guarded([f"{row} < M", f"{col} < N"], ("rows", "columns"), may_return=False)

    def _line(self) -> None:
        number, row, col = self["n"], self["row"], self["col"]
        start = "blockIdx.x * blockDim.x + threadIdx.x"
        self.add("", **{"sum not set to zero again": f"{self.type} {self['sum']} = 0;"} if self.shape == "stride" else {})
        parts: list[tuple[str, dict[str, str]]]
        parts = [(f"const int {row} = {number} / N;", {}), (f"const int {col} = {number} % N;", {})]
        if self.shape == "stride":
            limit, step = "M * N", "blockDim.x * gridDim.x"
            faults = {"rows left out": (start, f"< {limit} - 1", step), "too many rows": (start, f"<= {limit}", step)}
            with self.loop(number, start, limit, step, faults=faults):
                self.shuffled(*parts)
                self._element()
            return
        self.add(f"const {self.counter_type} {number} = {start};")
        self.shuffled(*parts)
        self._guarded([f"{number} < M * N"], ("rows",))

    def _guarded(self, terms: list[str], names: tuple[str, ...], may_return: bool = True) -> None:
        """The element, where it is one of C; the faults leave a term out."""
        if self.is_plane and not self.is_guarded:
            self._element()
            return
        left = {
            f"no guard of {name}": [each for each in terms if each != term] or ["true"]
            for name, term in zip(names, terms, strict=True)
        }
        if may_return and self.random.random() < 0.5:
            opposite = {term: term.replace("<", ">=") for term in terms}
            instead = {name: f"if ({' || '.join(opposite.get(each, 'false') for each in some)})" for name, some in left.items()}
            self.add(f"if ({' || '.join(opposite.values())})", **instead)
            self.add("    return;")
            self._element()
            return
        with self.braces(f"if ({' && '.join(terms)})", **{name: f"if ({' && '.join(some)})" for name, some in left.items()}):
            self._element()

    def _element(self) -> None:
        row, col, total, k = self["row"], self["col"], self["sum"], self["k"]
        again = {"sum not set to zero again": ""} if self.shape in ("several", "stride") else {}
        self.add(
            f"{self.type} {total} = {self.zero};",
            **{"sum not set": f"{self.type} {total};", "sum of integers": f"int {total} = 0;"},
            **again,
        )
        step = "4" if self.vector else "1"
        faults = {
            "k one further": ("0", "<= K", step), "k from one": ("1", "< K", step), "k one short": ("0", "< K - 1", step),
            **dict.fromkeys(("two blocks store a sum", "two blocks add to a sum"), (f"blockIdx.z * {step}", "< K", f"{step} * 2")),
        }  # fmt: skip
        if self.vector:
            del faults["k from one"], faults["k one short"]
        with self.loop(k, "0", "K", step, self.loops, faults=faults):
            a = self.element("A", row, k)
            if self.vector:
                wide = self["w"]
                self.add(f"const float4 {wide} = *reinterpret_cast<const float4*>(&{a});", "load A")
                for n, part in enumerate("xyzw"):
                    self._term(
                        f"{wide}.{part}",
                        self.element("B", row=k if not n else f"{k} + {n}", col=col),
                        k if not n else f"{k} + {n}",
                    )
            else:
                self._term(a, self.element("B", k, col), k)
        text, faults_of_c = self.stored(row, col, total)
        self.add(text, "C", **faults_of_c)

    def _term(self, a: str, b: str, k: str) -> None:
        ldg = self.random.random() < 0.2
        row, col, total = self["row"], self["col"], self["sum"]

        def added(a: str, b: str) -> str:
            a, b = (f"__ldg(&{each})" if ldg and "[" in each else each for each in (a, b))
            return self.added(total, a, b, self.way)

        instead = {"B with another width": added(a, self.element("B", k, col, self.other_leading("B")))}
        if not self.vector:
            instead["A with another width"] = added(self.element("A", row, k, self.other_leading("A")), b)
            instead["A turned"] = added(self.element("A", k, row), b)
        self.add(added(a, b), "use", "load A", "load B", **instead)

    def _faults(self) -> None:
        m, n, k = self.M, self.N, self.K
        down, across = self.extents
        self.common_faults()
        if self.is_plane:
            self.fault("no guard of rows", RANGE, "use", "load A", when=m % down != 0)
            self.fault("no guard of columns", RANGE, "use", "load A", "C", when=n % across != 0)
        else:
            self.fault("no guard of rows", RANGE, "use", "load A", when=m * n % self.block[0] != 0)
        self.fault("too many rows", RANGE, "use", "load A")
        self.fault("rows left out", MISSING, when=not self.is_plane or self.constants["TM"] > 1)
        self.fault("columns left out", MISSING)
        self.fault("block left out", MISSING, "C", may=(GLOBAL,), when=len(self.grid) > 1 and self.grid[1] > 1)
        self.fault("k one further", RANGE, "use", "load A")
        self.fault("k from one", WRONG, may=(RANGE,), when=k > 1)
        self.fault("k one short", WRONG, when=self.loops != "do" or k > 1)
        self.fault("A turned", (RANGE, WRONG), "use", when=True)
        again = self.constants["TM"] * self.constants["TN"] > 1 if self.is_plane else m * n > self.block[0] * self.grid[0]
        if not again:
            self.faults.pop("sum not set to zero again", None)
        if self.shape == "stride":
            self.faults.pop("grid too small", None)
        if self.vector and k < 8:
            for name in ("two blocks store a sum", "two blocks add to a sum"):
                self.faults.pop(name)


class Lanes(Writer):
    """Some threads share the sum of one element, and add up what they have by shuffles or in shared memory."""

    def kernel(self) -> Kernel:
        some = self.random
        self.how = some.choice(("down", "xor", "tree", "warp tree", "last warp", "last warp", "one adds", "in turn"))
        lanes, groups = some.choice((2, 4, 8, 16, 32)), some.choice((1, 2, 4))
        self.has_beta &= self.how != "in turn"
        if self.how == "last warp":
            lanes, groups = 64, min(groups, 2)
        self.K = some.randint(lanes, 2 * lanes + 3)
        self.M, self.N = (some.randint(4, 9 if lanes <= 32 else 5) for _ in range(2))
        self.set_constants(L=lanes, H=groups)
        self.is_line = some.random() < 0.5
        self.block = (lanes * groups,) if self.is_line else (lanes, groups)
        self.grid = (-(-self.M * self.N // groups),)
        self.way = some.randrange(4)
        self.header([self.mac_function()] if self.way == 3 else [])
        with self.braces(""):
            self.local_constants()
            self._body()
        self._faults()
        return self.finished()

    def _body(self) -> None:
        lane, group, number, row, col, total, k = (self[role] for role in ("lane", "y", "n", "row", "col", "sum", "k"))
        lanes, groups = self.constant("L"), self.constant("H")
        if not self.how.startswith(("down", "xor", "in turn")):
            size = f"{groups} * {lanes}"
            self.add(
                f"__shared__ {self.type} {self['red']}[{size}];",
                **{"tile too small": f"__shared__ {self.type} {self['red']}[{size} - 1];"},
            )
        self.shuffled(
            (f"const int {lane} = {f'threadIdx.x % {lanes}' if self.is_line else 'threadIdx.x'};", {}),
            (f"const int {group} = {f'threadIdx.x / {lanes}' if self.is_line else 'threadIdx.y'};", {}),
        )
        self.add(f"const int {number} = blockIdx.x * {groups} + {group};")
        self.shuffled((f"const int {row} = {number} / N;", {}), (f"const int {col} = {number} % N;", {}))
        self.add(
            f"{self.type} {total} = {self.zero};",
            **{"sum not set": f"{self.type} {total};", "sum of integers": f"int {total} = 0;"},
        )
        faults = {"k one further": (lane, "<= K", lanes), "k from one": (f"{lane} + 1", "< K", lanes)}
        a, b = self.element("A", row, k), self.element("B", k, col)
        other_a, other_b = (
            self.element("A", row, k, self.other_leading("A")),
            self.element("B", k, col, self.other_leading("B")),
        )
        widths = {
            "A with another width": self.added(total, other_a, b, self.way),
            "B with another width": self.added(total, a, other_b, self.way),
        }
        style = self.random.choice(("for", "while", "break"))
        with (
            self.braces(f"if ({number} < M * N)", **{"no guard of rows": "if (true)"}),
            self.loop(k, lane, "K", lanes, style, faults=faults),
        ):
            self.add(self.added(total, a, b, self.way), "use", "load A", "load B", **widths)
        if self.how == "in turn":
            self._add_in_turn(f"{number} < M * N")
            return
        result = self._reduction()
        text, faults_of_c = self.stored(row, col, result)
        first = f"if ({number} < M * N && {lane} == 0)"
        with self.braces(
            first,
            **{"all lanes store": f"if ({number} < M * N)", "another lane stores": f"if ({number} < M * N && {lane} == 1)"},
        ):
            faults_of_c = {name: text for name, text in faults_of_c.items() if not name.startswith("two blocks")}
            self.add(text, "C", **faults_of_c)

    def _add_in_turn(self, guard: str) -> None:
        """One lane after the other adds to C what it has."""
        lane, total, s, lanes = self["lane"], self["sum"], self["s"], self.constant("L")
        with self.loop(s, "0", lanes, faults={"half of the lanes": ("0", f"< {lanes} / 2", "1")}):
            self.add(f"if ({guard} && {lane} == {s}) {self.element('C', self['row'], self['col'])} += {total};", "C")
            self.add("__syncwarp();", **{"not in turn": ""})

    def _reduction(self) -> str:
        """Adds up the lanes' sums; where the first lane finds the result."""
        lane, total, group, s, red = (self[role] for role in ("lane", "sum", "y", "s", "red"))
        lanes = self.constant("L")
        if self.how in ("down", "xor"):

            def head(start: str) -> str:
                return f"for (int {s} = {start}; {s} > 0; {s} /= 2)"

            self.add(head(f"{lanes} / 2"), **{"half of the lanes": head(f"{lanes} / 4")})
            self.add(f"    {total} += __shfl_{self.how}_sync(0xffffffff, {total}, {s}, {lanes});")
            return total
        place = f"{group} * {lanes} + {lane}"
        wait = "__syncwarp();" if self.how == "warp tree" else "__syncthreads();"
        self.add(
            f"{red}[{place}] = {total};", "store", **{"partly stored": f"if ({lane} != {lanes} - 1) {red}[{place}] = {total};"}
        )
        self.add(wait, "ready", **{"no first barrier": "", "divergent barrier": f"if ({lane} > 0) {wait}"})
        if self.how == "one adds":
            i = self["i"]
            with (
                self.braces(f"if ({lane} == 0)"),
                self.loop(i, "1", lanes, faults={"half of the lanes": ("1", f"< {lanes} - 1", "1")}),
            ):
                self.add(f"{total} += {red}[{place} + {i}];", "reduce")
            return total
        if self.how == "last warp":
            return self._last_warp(place)
        start = {"half of the lanes": f"for (int {s} = {lanes} / 4; {s} > 0; {s} /= 2)"}
        with self.braces(f"for (int {s} = {lanes} / 2; {s} > 0; {s} /= 2)", **start):
            self.add(f"if ({lane} < {s})", **{"all lanes add": f"if ({lane} + {s} < {lanes})"})
            self.add(f"    {red}[{place}] += {red}[{place} + {s}];", "reduce")
            self.add(wait, "again", **{"no second barrier": "", "barrier in a branch": f"if ({lane} < {s}) {wait}"})
        return f"{red}[{place}]"

    def _last_warp(self, place: str) -> str:
        """One of two warps adds up what both have; the other one waits for nothing any more, or returns."""
        lane, total, s, red = (self[role] for role in ("lane", "sum", "s", "red"))
        loop = f"for (int {s} = 16; {s} > 0; {s} /= 2)"
        half = {"half of the lanes": loop.replace("16", "8")}
        if returns := self.random.random() < 0.5:
            self.add(f"if ({lane} >= 32) return;")
        with self.braces("" if returns else f"if ({lane} < 32)"):
            if self.random.random() < 0.5:
                self.add(f"{total} += {red}[{place} + 32];", "reduce")
                self.add(loop, **half)
                self.add(f"    {total} += __shfl_down_sync(0xffffffff, {total}, {s});")
                self.add(f"if ({lane} == 0) {red}[{place}] = {total};")
            else:
                self.add(f"{red}[{place}] += {red}[{place} + 32];", "reduce")
                self.add("__syncwarp();", **{"no second barrier": ""})
                with self.braces(loop, **half):
                    self.add(f"if ({lane} < {s}) {red}[{place}] += {red}[{place} + {s}];", "reduce")
                    self.add("__syncwarp();", **{"no second barrier": ""})
        return f"{red}[{place}]"

    def _faults(self) -> None:
        lanes, groups = self.constants["L"], self.constants["H"]
        self.common_faults()
        for name in ("two blocks store a sum", "two blocks add to a sum"):
            self.faults.pop(name)
        self.fault("no guard of rows", RANGE, "use", when=self.M * self.N % groups != 0)
        self.fault("k one further", RANGE, "use")
        self.fault("k from one", WRONG)
        self.fault("half of the lanes", WRONG)
        self.fault("not in turn", GLOBAL, "C", may=(WRONG,))
        self.fault("another lane stores", WRONG, when=self.how != "xor")
        self.fault("all lanes store", GLOBAL, "C", may=(WRONG, SHARED), when=self.how == "down")
        self.fault("all lanes add", SHARED, "reduce", may=(WRONG,), when=lanes > 2)
        self.fault("tile too small", RANGE, "store")
        self.fault("partly stored", UNSET, "reduce")
        barriers = self.how != "warp tree"
        self.fault("divergent barrier", DIVERGENT, "ready", when=barriers)
        self.fault("no first barrier", SHARED, "store", "reduce")
        self.fault("no second barrier", SHARED, "reduce", "C", may=(WRONG,), when=lanes > 2)
        self.fault("barrier in a branch", DIVERGENT, "again", when=barriers)

"""What the writers of random matrix multiplications share: lines with tags, names, constants, guards, indices, faults."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

RANGE, UNSET, DIVERGENT, SHARED, GLOBAL, WRONG, MISSING = (
    "out of range", "unset", "divergent", "hazard in shared memory", "hazard in global memory", "wrong", "unwritten",
)  # fmt: skip
_NAMES = {
    "entry": ("gemm", "matmul", "sgemm_1", "multiply", "product"),
    "x": ("x", "tx", "column_in_tile", "u"),
    "y": ("y", "ty", "row_in_tile", "v"),
    "t": ("t", "tid", "thread", "me"),
    "row": ("row", "r", "i_out", "m"),
    "col": ("col", "c", "j_out", "n"),
    "row0": ("row0", "first_row", "by"),
    "col0": ("col0", "first_col", "bx"),
    "sum": ("sum", "acc", "total", "value"),
    "k": ("k", "kk", "inner", "p"),
    "k0": ("k0", "base", "start", "depth0"),
    "A tile": ("tileA", "As", "Mds", "left"),
    "B tile": ("tileB", "Bs", "Nds", "right"),
    "now": ("now", "cur", "stage", "half"),
    "tile": ("tile", "work", "job"),
    "i": ("i", "ii", "e"),
    "j": ("j", "jj", "f"),
    "n": ("number", "linear", "place"),
    "red": ("red", "partial", "sums"),
    "s": ("s", "apart", "offset"),
    "lane": ("lane", "part", "share"),
    "mac": ("mac", "multiply_add", "accumulate"),
    "fetch": ("fetch", "get_or_zero", "guarded"),
    "a": ("a", "ra", "reg_a"),
    "b": ("b", "rb", "reg_b"),
    "w": ("w", "wide", "four"),
}
_CONSTANTS = {
    "BM": ("BM", "TILE_M", "ROWS"), "BN": ("BN", "TILE_N", "COLS"), "BK": ("BK", "TILE_K", "DEPTH"), "W": ("W", "ACROSS", "WIDTH"),
    "H": ("H", "DOWN", "HEIGHT"), "TM": ("TM", "MY_ROWS", "RM"), "TN": ("TN", "MY_COLS", "RN"), "L": ("L", "LANES", "GROUP"),
}  # fmt: skip

Loops = dict[str, tuple[str, str, str]]


@dataclass(frozen=True)
class Fault:
    """A change of a right kernel. ``edits``: what some lines then are; ``must``: kinds of which the program names one, ``may``:
    others that it may name besides; ``at``: the lines that it may be about, where the program names any.
    """

    edits: dict[int, str]
    must: frozenset[str]
    at: frozenset[int]
    may: frozenset[str]


@dataclass(frozen=True)
class Kernel:
    """A right kernel, as the text of its file, and the faults that it may get."""

    text: str
    faults: dict[str, Fault] = field(default_factory=dict)

    def with_fault(self, name: str) -> str:
        lines = self.text.splitlines()
        for number, text in self.faults[name].edits.items():
            lines[number - 1] = text
        return "\n".join(lines) + "\n"


class Writer:
    """Writes one kernel, line by line. A line may have tags, and a text that it has instead in a kernel with a certain fault."""

    def __init__(self, seed: int) -> None:
        some = self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 0
        self.tags: dict[str, list[int]] = defaultdict(list)
        self.edits: dict[str, dict[int, str]] = defaultdict(dict)
        self.faults: dict[str, Fault] = {}
        self.names = {role: some.choice(names) for role, names in _NAMES.items()}
        self.type = some.choice(("float", "float", "float", "double", "int"))
        self.zero = some.choice(("0", "0.0f", f"({self.type})0")) if self.type == "float" else "0"
        self.columns_first = {each for each in "ABC" if some.random() < 0.15}
        self.form = some.randrange(4)
        self.has_beta = some.random() < 0.2
        self.is_guarded = some.random() < 0.6
        self.counter_type = some.choice(("int", "int", "unsigned", "unsigned int"))
        self.style = some.choice(("parameter", "template", "macro", "constexpr", "const", "literal"))
        self.constants: dict[str, int] = {}
        self.M, self.N, self.K = (some.randint(4, 20) for _ in range(3))
        self.block: tuple[int, ...] = (1,)
        self.grid: tuple[int, ...] = (1,)
        self.shared_bytes = 0

    # Lines

    def add(self, text: str, *tags: str, **instead: str) -> None:
        """A line, and what it is with the faults named so."""
        indent = "    " * self.depth
        self.lines.append(indent + text if text else "")
        for tag in tags:
            self.tags[tag].append(len(self.lines))
        for name, other in instead.items():
            self.edits[name][len(self.lines)] = indent + other if other else ""

    @contextmanager
    def braces(self, head: str, *tags: str, **instead: str) -> Iterator[None]:
        self.add(f"{head} {{".lstrip(), *tags, **{name: f"{other} {{" for name, other in instead.items()})
        self.depth += 1
        yield
        self.depth -= 1
        self.add("}")

    @contextmanager
    def loop(
        self, name: str, start: str, limit: str, step: str = "1", style: str = "for", faults: Loops | None = None
    ) -> Iterator[None]:
        """A loop with a counter; ``faults``: start, limit and step that it has with each of them."""
        places = {
            fault: (f"int {name} = {of[0]}", f"{name} {of[1]}", f"{name} += {of[2]}") for fault, of in (faults or {}).items()
        }
        first, condition = f"int {name} = {start}", f"{name} < {limit}"
        further = self.random.choice((f"++{name}", f"{name}++")) if step == "1" else f"{name} += {step}"
        if style == "for":
            heads = {fault: f"for ({a}; {b}; {c})" for fault, (a, b, c) in places.items()}
            with self.braces(f"for ({first}; {condition}; {further})", f"loop {name}", **heads):
                yield
            return
        if style == "break":
            heads = {fault: f"for ({a}; ; {c})" for fault, (a, _, c) in places.items()}
            with self.braces(f"for ({first}; ; {further})", **heads):
                self.add(
                    f"if ({name} >= {limit}) break;", **{fault: f"if (!({b})) break;" for fault, (_, b, _) in places.items()}
                )
                yield
            return
        self.add(f"{first};", **{fault: f"{a};" for fault, (a, _, _) in places.items()})
        is_while = style == "while"
        self.add(
            f"while ({condition}) {{" if is_while else "do {",
            **{f: f"while ({b}) {{" for f, (_, b, _) in places.items() if is_while},
        )
        self.depth += 1
        yield
        self.add(f"{further};", **{fault: f"{c};" for fault, (_, _, c) in places.items()})
        self.depth -= 1
        self.add(
            "}" if is_while else f"}} while ({condition});",
            **{f: f"}} while ({b});" for f, (_, b, _) in places.items() if not is_while},
        )

    def shuffled(self, *lines: tuple[str, dict[str, str]]) -> None:
        """Lines whose order doesn't matter."""
        for text, instead in self.random.sample(lines, len(lines)):
            self.add(text, **instead)

    # Words

    def __getitem__(self, role: str) -> str:
        """The name of what has this role."""
        return self.names[role]

    def constant(self, role: str) -> str:
        """How the source writes a constant."""
        return str(self.constants[role]) if self.style == "literal" else self.names[role]

    def set_constants(self, **values: int) -> None:
        self.constants = values
        self.names |= {role: self.random.choice(_CONSTANTS[role]) for role in values}

    def element(self, matrix: str, row: str, col: str, leading: str = "") -> str:
        """An element of A, B or C; ``leading``: another leading dimension than the right one."""
        first, second = (col, row) if matrix in self.columns_first else (row, col)
        first, short = (f"({each})" if " " in each else each for each in (first, second))
        leading = leading or self.leading(matrix)
        place = (f"{first} * {leading} + {second}", f"{second} + {first} * {leading}", f"{leading} * {first} + {short}")[
            self.form % 3
        ]
        return f"*({matrix} + {place})" if self.form == 3 else f"{matrix}[{place}]"

    def leading(self, matrix: str) -> str:
        return {"A": "MK", "B": "KN", "C": "MN"}[matrix][matrix not in self.columns_first]

    def other_leading(self, matrix: str) -> str:
        return {"A": "MK", "B": "KN", "C": "MN"}[matrix][matrix in self.columns_first]

    # Parts

    def header(self, functions: Iterable[str] = ()) -> None:
        """The header, constants and functions, and the line above the body. The faults that they may have are named."""
        some, names = self.random, [self.names[role] for role in self.constants]
        arguments = some.choice((["A", "B", "C"], ["C", "A", "B"]))
        sizes = ["M", "N", "K"]
        factors = ["1.0", some.choice(("0.0", "0.5"))] if self.has_beta else []
        together = [*sizes, *arguments, *factors] if some.random() < 0.5 else [*factors, *arguments, *sizes]
        entry = self["entry"] + (f"<{', '.join(names)}>" if self.style == "template" and names else "")
        self.add("// gemmviz = 1")
        self.add(f'// entry = "{entry}"')
        self.add(f"// args = {together}".replace("'", '"'))
        self.add(f"// block = {_texts(self.block)}")
        fewer = next((axis for axis, extent in enumerate(self.grid) if extent > 1), None)
        short = [extent - (axis == fewer) for axis, extent in enumerate(self.grid)]
        twice = [self.grid[0], *(self.grid[1:] or (1,)), 2]
        self.add(
            f"// grid = {_texts(self.grid)}",
            **{"grid too small": f"// grid = {_texts(short)}"} if fewer is not None else {},
            **dict.fromkeys(("two blocks store a sum", "two blocks add to a sum"), f"// grid = {_texts(twice)}"),
        )
        if self.columns_first:
            self.add(f"// column_major = {sorted(self.columns_first)}".replace("'", '"'))
        if self.shared_bytes:
            self.add(
                f'// shared_bytes = "{self.shared_bytes}"',
                **{"tile too small": f'// shared_bytes = "{self.least_bytes() - self.item}"'},
            )
        self.add(f"// problem = {{ M = {self.M}, N = {self.N}, K = {self.K} }}")
        if self.style in ("parameter", "template"):
            for role, value in self.constants.items():
                self.add(f"// [parameters.{self.names[role]}]")
                self.add(f"// default = {value}")
        self.add("")
        if self.style in ("macro", "constexpr"):
            for role, value in self.constants.items():
                self.add(f"#define {self[role]} {value}" if self.style == "macro" else f"constexpr int {self[role]} = {value};")
        for function in functions:
            for line in function.splitlines():
                self.add(line)
        self._signature(together, names)

    @property
    def item(self) -> int:
        """Bytes of an element."""
        return 8 if self.type == "double" else 4

    def least_bytes(self) -> int:
        """The dynamic shared memory that is really used."""
        return self.shared_bytes

    def _signature(self, together: list[str], names: list[str]) -> None:
        restrict = self.random.choice((" ", " __restrict__ "))
        constant, scalars = f"const {self.type}*{restrict}", iter((f"{self.type} alpha", f"{self.type} beta"))
        types = {"A": constant, "B": constant, "C": f"{self.type}*{restrict}", "M": "int ", "N": "int ", "K": "int "}
        parameters = ", ".join(types[each] + each if each in types else next(scalars) for each in together)
        template = f"template <{', '.join(f'int {name}' for name in names)}> " if self.style == "template" and names else ""
        start = template or self.random.choice(("", 'extern "C" '))
        self.add(f"{start}__global__ void {self['entry']}({parameters})")

    def local_constants(self) -> None:
        """Those constants that are the kernel's own."""
        if self.style == "const":
            for role, value in self.constants.items():
                self.add(f"const int {self[role]} = {value};")

    def mac_function(self) -> str:
        return f"__device__ {self.type} {self['mac']}({self.type} q, {self.type} g, {self.type} h) {{ return q + g * h; }}"

    def added(self, target: str, a: str, b: str, way: int) -> str:
        """A statement that adds a product."""
        if way == 2 and self.type != "int":
            return f"{target} = {'fmaf' if self.type == 'float' else 'fma'}({a}, {b}, {target});"
        if way == 3:
            return f"{target} = {self['mac']}({target}, {a}, {b});"
        return f"{target} = {target} + {a} * {b};" if way == 1 else f"{target} += {a} * {b};"

    def stored(self, row: str, col: str, value: str) -> tuple[str, dict[str, str]]:
        """The statement that stores an element of C, and what it is with each fault."""
        own = self.element("C", row, col)
        value = f"alpha * {value} + beta * {own}" if self.has_beta else value
        return f"{own} = {value};", {
            "C one further": f"{self.element('C', row, f'{col} + 1')} = {value};",
            "C turned": f"{self.element('C', col, row)} = {value};",
            "columns collide": f"{self.element('C', row, f'{col} / 2 * 2')} = {value};",
            "C with another width": f"{self.element('C', row, col, self.other_leading('C'))} = {value};",
            "two blocks add to a sum": f"{own} += {value};",
            "two blocks store a sum": f"{own} = {value};",
        }

    # Faults

    def fault(self, name: str, must: str | tuple[str, ...], *tags: str, may: tuple[str, ...] = (), when: bool = True) -> None:
        """Says what a fault is, where it is one: a wrong result alone is certain only of random real numbers."""
        kinds = {must} if isinstance(must, str) else {*must}
        if self.type == "int" and kinds == {WRONG}:
            return
        if when and self.edits.get(name):
            at = frozenset(number for tag in tags for number in self.tags[tag])
            self.faults[name] = Fault(self.edits[name], frozenset(kinds), at, frozenset(kinds | {*may}))

    def common_faults(self, blocks_share_c: bool = False) -> None:
        """Those of how C is stored and how sums begin."""
        m, n, k = self.M, self.N, self.K
        self.fault("C one further", RANGE, "C")
        self.fault("C turned", WRONG if m == n else (RANGE, MISSING, WRONG), "C", may=(GLOBAL, WRONG))
        self.fault("columns collide", MISSING, "C", may=(GLOBAL, WRONG))
        self.fault("C with another width", (RANGE, MISSING), "C", may=(GLOBAL, WRONG), when=m != n)
        self.fault("grid too small", MISSING)
        self.fault("sum not set", UNSET, "use")
        self.fault("sum of integers", WRONG, when=self.type != "int")
        self.fault("sum not set to zero again", WRONG)
        for name in ("two blocks store a sum", "two blocks add to a sum"):
            self.fault(name, GLOBAL, "C", may=(WRONG,))
        for each, (extent, other) in {"A": (m, k), "B": (k, n)}.items():
            self.fault(f"{each} with another width", (RANGE, WRONG), f"load {each}", "fetch", when=extent != other)

    def kernel(self) -> Kernel:
        """The kernel of this seed."""
        raise NotImplementedError

    def finished(self) -> Kernel:
        return Kernel("\n".join(self.lines) + "\n", self.faults)


def _texts(numbers: Iterable[int]) -> str:
    return "[" + ", ".join(f'"{number}"' for number in numbers) + "]"

"""Writes random programs in the C that CUDA and C++ share: typed variables, functions, divergent control flow."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.run.expression_writer import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    SHORT,
    SIZE,
    TYPES,
    UCHAR,
    UINT,
    Expressions,
    Piece,
    Type,
    Variable,
)  # fmt: skip

THREADS, BLOCKS = 6, 2
WORDS = 2  # of C that a thread writes


PRELUDE = """#include <cstdint>
typedef signed char T8; typedef unsigned char U8; using T16 = short; typedef unsigned short U16; using U32 = unsigned;
typedef long long T64; using U64 = unsigned long long; using F32 = float; typedef double F64;
__device__ float fitf(float x, float low, float high) { return x > low && x < high ? x : 1.0f; }
__device__ double fitd(double x, double low, double high) { return x > low && x < high ? x : 1.0; }
__device__ unsigned bitsf(float x) { return x != x ? 0x7fc00000u : __float_as_uint(x); }
__device__ unsigned long long bitsd(double x) { return x != x ? 0x7ff8000000000000ull : __double_as_longlong(x); }
template <typename T> __device__ T same(T x) { return x; }
template <int N> __device__ int times(int x) { return N * x; }
#ifndef ON_HOST
template <typename T, typename F> __device__ T cut(F x) { return (T)x; }
#define SHUFFLED(value, lane) __shfl_sync(63u, value(t), lane)
#endif
"""


class Writer(Expressions):
    """Writes one random program: functions, and the body of a kernel that hashes all that it computed into C."""

    def __init__(self, seed: int, reads_a: bool = False) -> None:
        super().__init__(seed, reads_a)
        self.names = 0
        self.changers: list[tuple[str, Type]] = []
        self.in_kernel = False

    def program(self) -> tuple[str, str]:
        """Constants and functions, and the kernel's body."""
        some = self.random
        before = [self.global_constant() for _ in range(some.randint(0, 2))]
        before += [self.function_that_gives() for _ in range(some.randint(0, 2))]
        before += [self.function_that_changes() for _ in range(some.randint(0, 2))]
        start = "int t = threadIdx.x, b = blockIdx.x; U64 h = 14695981039346656037ull;"
        self.known, self.mutable, self.lists = [Variable("t", INT), Variable("b", INT)], [], []
        lists, declarations = [self.local_list() for _ in range(some.randint(1, 2))], [self.declaration() for _ in range(3)]
        start = " ".join([start, *lists, *declarations, self.shared(), *([] if self.reads_a else [self.shuffle()])])
        everything, self.in_kernel = ([*self.mutable], [*self.lists]), True
        leave = f"{{ {self.result(*everything)} return; }}"
        body = self.block(3, False, leave, some.randint(2, 6))
        return "\n".join(before), f"{start} {body} {self.result(*everything)}"

    def result(self, variables: list[Variable], lists: list[Variable]) -> str:
        """Hashes the bits of variables, and writes that into two elements of C."""
        values = [(each.name, each.type) for each in variables] + [
            (f"{each.name}[{i}]", each.type) for each in lists for i in range(4)
        ]
        text = "".join(_hashed(name, kind) + " " for name, kind in values)
        place = f"(b * {THREADS} + t) * {WORDS}"
        return f"{text}C[{place}] = (int)h; C[{place} + 1] = (int)(h >> 32);"

    # Declarations

    def fresh(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def global_constant(self) -> str:
        kind, name = self.random.choice(TYPES), self.fresh("K")
        with self.constants_only():
            value = self.at(self.cast(self.constant(2), kind), 2)
        self.constants.append(Variable(name, kind))
        return f"const {self.random.choice(kind.spellings)} {name} = {value};"

    def function_that_gives(self) -> str:
        name, (kind, first, second) = self.fresh("value"), self.random.choices(TYPES, k=3)
        parameters = [Variable("x", first), Variable("y", second)]
        with self.function_scope(parameters, Variable("acc", kind)):
            start = f"{kind.name} acc = {self.at(self.cast(Piece('x', first), kind), 2)};"
            body = f"{start} {self.local_list()} {self.block(2, False, 'return VALUE;', 3, kind)}"
        self.functions.append((name, kind, (first, second)))
        return f"__device__ {kind.name} {name}({first.name} x, {second.name} y) {{ {body} return acc; }}"

    def function_that_changes(self) -> str:
        """A function that changes a variable of its caller's."""
        name, (first, second) = self.fresh("change"), self.random.choices(TYPES, k=2)
        kind = self.random.choice([each for each in TYPES if each != BOOL])
        with self.function_scope([Variable("x", first), Variable("y", second)], Variable("acc", kind)):
            start = f"{second.name} y = {self.at(self.cast(Piece('x', first), second), 2)};"
            body = f"{start} {self.local_list()} {self.block(2, False, 'return;', 3)}"
        self.changers.append((name, kind))
        return f"__device__ void {name}({first.name} x, {kind.name} &acc) {{ {body} }}"

    @contextmanager
    def function_scope(self, parameters: list[Variable], acc: Variable) -> Iterator[None]:
        """Within a function only its own names are known, and what it calls is written."""
        kept = self.functions, self.changers, self.reads_a
        self.functions, self.changers, self.reads_a = [], [], False
        self.known, self.mutable, self.lists = [*parameters, acc], [acc] if acc.type != BOOL else [], []
        yield
        self.functions, self.changers, self.reads_a = kept

    def shared(self) -> str:
        """An array in shared memory of which each thread uses one element."""
        kind, name = self.random.choice(TYPES), self.fresh("tile")
        value, element = self.at(self.number(2, kind), 2), Variable(f"{name}[t]", kind)
        self.known.append(element)
        self.mutable.append(element)
        return f"__shared__ {self.random.choice(kind.spellings)} {name}[{THREADS}]; {element.name} = {value};"

    def shuffle(self) -> str:
        """A value of another lane, in some blocks; in all blocks the values are the same."""
        name, kind = self.fresh("value"), self.random.choice((INT, UINT, LONG, FLOAT, DOUBLE))
        kept = self.known, self.lists, self.functions
        self.known, self.lists, self.functions = [Variable("t", INT)], [], []
        value = self.at(self.cast(self.number(2, kind), kind), 2).replace("threadIdx.x", "(unsigned)t")
        self.known, self.lists, self.functions = kept
        condition, lane = (
            self.random.choice(("b", "b == 0", "b < 2")),
            self.random.choice(("t ^ 1", "3", "b + 2", "t / 2", "5 - t")),
        )
        text = _hashed(f"SHUFFLED({name}, {lane})", kind)
        return f"auto {name} = [](int t) -> {kind.name} {{ return {value}; }}; if ({condition}) {{ {text} }}"

    def closure(self) -> str:
        """A lambda, which is called as other functions are."""
        name, own, (kind, parameter) = self.fresh("lambda"), self.fresh("p"), self.random.choices(TYPES, k=2)
        kept, self.known = self.known, [*self.known, Variable(own, parameter)]
        value = self.at(self.cast(self.number(2, kind), kind), 2)
        self.known = kept
        self.functions.append((name, kind, (parameter,)))
        return f"auto {name} = [{self.random.choice('==&')}]({parameter.name} {own}) -> {kind.name} {{ return {value}; }};"

    def local_list(self) -> str:
        kind, name = self.random.choice(TYPES), self.fresh("list")
        values = ", ".join(self.at(self.cast(self.some_number(), kind), 2) for _ in range(4))
        self.lists.append(Variable(name, kind))
        return f"{kind.name} {name}[4] = {{{values}}};"

    def declaration(self) -> str:
        some, kind, name = self.random, self.random.choice(TYPES), self.fresh("v")
        spelling = some.choice(kind.spellings)
        match some.randrange(7):
            case 0:
                value = self.expression()
                kind, text = value.type, f"auto {name} = {self.at(value, 2)};"
            case 1:
                value = self.number(3, kind)
                is_declaration = value.level == 15  # as in float x(int(y)), which declares a function
                text = f"{spelling} {name}({f'({value.text})' if is_declaration else self.at(value, 2)});"
            case 2:
                text = f"{spelling} {name}{{({kind.name})({self.number(3, kind).text})}};"
            case 3:
                text = f"const {spelling} {name} = {self.at(self.number(3, kind), 2)};"
                self.known.append(Variable(name, kind))
                return text
            case _:
                text = f"{spelling} {name} = {self.at(self.number(3, kind), 2)};"
        self.known.append(Variable(name, kind))
        self.mutable.append(Variable(name, kind))
        return text

    # Statements

    def block(self, depth: int, loop: bool, leave: str, count: int, gives: Type | None = None) -> str:
        known, mutable, lists, functions = [*self.known], [*self.mutable], [*self.lists], [*self.functions]
        text = " ".join(self.statement(depth, loop, leave, gives) for _ in range(count))
        self.known, self.mutable, self.lists, self.functions = known, mutable, lists, functions
        return text

    def statement(self, depth: int, loop: bool, leave: str, gives: Type | None) -> str:
        pick, some = self.random.random(), self.random
        if self.in_kernel and some.random() < 0.4:
            return self.observation()
        if pick < 0.05:
            return self.closure()
        if pick < 0.18:
            return self.declaration()
        if pick < 0.55 or depth == 0:
            return self.assignment()
        if pick < 0.7:
            inside = self.block(depth - 1, loop, leave, some.randint(1, 2), gives)
            if loop and some.random() < 0.35:
                inside += some.choice((" break;", " continue;"))
            elif some.random() < 0.15:
                inside += " " + self.leaving(leave, gives)
            other = f" else {{ {self.block(depth - 1, loop, leave, 1, gives)} }}" if some.random() < 0.4 else ""
            return f"if ({self.condition()}) {{ {inside} }}{other}"
        if pick < 0.85:
            return self.loop(depth, leave, gives)
        if pick < 0.9 and loop:
            return f"if ({self.condition()}) {some.choice(('break;', 'continue;'))}"
        return self.change() or f"{{ {self.block(depth - 1, loop, leave, 2, gives)} }}"

    def observation(self) -> str:
        """Hashes an expression."""
        piece = self.expression(self.random.choice((1, 1, 2, 2, 3)))
        return _hashed(piece.text if piece.type.is_float else self.at(piece, 14), piece.type)

    def leaving(self, leave: str, gives: Type | None) -> str:
        return leave if gives is None else leave.replace("VALUE", self.at(self.number(2, gives), 2))

    def change(self) -> str:
        """A call of a function that changes a variable of its type."""
        fitting = [(name, each) for name, kind in self.changers for each in self.mutable if each.type == kind]
        if not fitting:
            return ""
        name, variable = self.random.choice(fitting)
        return f"{name}({self.at(self.cast(self.expression(2), INT), 2)}, {variable.name});"

    def condition(self) -> str:
        counters = [each for each in self.mutable if not each.type.is_float and each.type != BOOL]
        if counters and self.random.random() < 0.15:
            return (
                f"t > 2 && {self.random.choice(counters).name}++ > 1"
                if any(each.name == "t" for each in self.known)
                else "x > 2"
            )
        return self.expression(2).text

    def assignment(self) -> str:
        some = self.random
        if not self.mutable:
            return self.declaration()
        target = some.choice(self.mutable)
        place, is_plain = target.name, self.may_be_read_again(target)
        if self.lists and some.random() < 0.25:
            target = some.choice(self.lists)
            place, is_plain = f"{target.name}[{self.at(self.whole(1), 9)} & 3]", False
        elif some.random() < 0.2:
            return self.nested(target)
        elif some.random() < 0.15 and not self.may_be_read_again(target):
            place, is_plain = self.lvalue(target), True  # g++ evaluates the place of a compound assignment first; C++17 doesn't
        if some.random() < 0.15 and target.type != BOOL and not is_plain:
            return f"{some.choice((f'{place}++', f'++{place}', f'{place}--', f'--{place}'))};"
        if some.random() < 0.4 or is_plain:
            return f"{place} = {self.at(self.number(3, target.type), 2)};"
        return "{}{};".format(*self.compound(place, target.type))

    def lvalue(self, target: Variable) -> str:
        """A place that is ``target`` or, by choice, another variable of its type."""
        others = [each.name for each in self.mutable if each.type == target.type and not self.may_be_read_again(each)]
        others += [f"{each.name}[{self.at(self.whole(1), 9)} & 3]" for each in self.lists if each.type == target.type]
        match self.random.randrange(4):
            case 0:
                return f"({self.at(self.expression(1), 2)}, {target.name})"
            case 1 if target.type != BOOL:
                return f"({self.random.choice(('++', '--'))}{target.name})"
            case 2:
                return f"({target.name} = {self.at(self.number(2, target.type), 2)})"
        condition = self.at(self.expression(2), 4)
        return f"({condition} ? {target.name} : {self.random.choice(others)})"

    def may_be_read_again(self, target: Variable) -> bool:
        """Whether unoptimised code reads the value of an assignment from memory, as a further access, which the interpreter doesn't
        do. It matters where accesses are compared.
        """
        return self.reads_a and "[" in target.name

    def nested(self, target: Variable) -> str:
        """``a = (b += c);`` and ``a = b++;`` of two variables."""
        others = [each for each in self.mutable if each.name != target.name and each.type != BOOL]
        others = [each for each in others if not self.may_be_read_again(each)]
        if not others:
            return f"{target.name} = {self.at(self.number(3, target.type), 2)};"
        other = self.random.choice(others)
        before, inner = "", Piece(self.random.choice((f"{other.name}++", f"--{other.name}")), other.type, 14)
        if self.random.random() < 0.5:
            before, text = self.compound(other.name, other.type)
            inner = Piece(f"({text})", other.type)
        return f"{before}{target.name} = {self.fitting(inner, target.type).text};"

    def compound(self, place: str, kind: Type) -> tuple[str, str]:
        """``place op= value`` and what must come before: where a float is added to an integer, the integer is made small, so that
        the sum fits.
        """
        value, before = self.expression(2), ""
        if kind.is_float or (kind == BOOL and value.type.is_float):
            op = self.random.choice("+-*/")
        elif value.type.is_float:
            op, before = self.random.choice("+/" if kind.bits == 8 else "+/*"), f"{place} &= 63; "
            value = self.fitting(value, kind, (1 if op == "/" else 0 if kind.kind == "u" else -2, 60))
        else:
            op = self.random.choice(("+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"))
            if op in ("<<", ">>"):
                value = self.binary("&", value, Piece(str(kind.promoted.bits - 1), INT), value.type)
            if op in ("/", "%"):
                value = Piece(self.random.choice(("2", "3", "7", "100", "-3", "5u", "9ull")), INT)
        return before, f"{place} {op}= {self.at(value, 2)}"

    def loop(self, depth: int, leave: str, gives: Type | None) -> str:
        name, trips = self.fresh("i"), self.random.randint(1, 4)
        kind = self.random.choice((INT, INT, UINT, UCHAR, SHORT, LONG, SIZE))
        bound = self.random.choice((str(trips), f"({self.at(self.whole(1), 9)} & 3)"))
        self.known.append(Variable(name, kind))
        body = self.block(depth - 1, True, leave, self.random.randint(1, 2), gives)
        condition = self.condition()
        self.known.pop()
        return self.random.choice(
            (
                f"for ({kind.name} {name} = 0; {name} < {bound}; ++{name}) {{ {body} }}",
                f"{{ {kind.name} {name} = {trips}; while ({name}-- > 0) {{ {body} }} }}",
                f"{{ {kind.name} {name} = {trips}; do {{ {body} }} while (--{name} > 0 && ({condition})); }}",
            )
        )


def _hashed(text: str, kind: Type) -> str:
    """The statement that hashes the bits of an expression; all NaN have the same."""
    bits = f"{'bitsf' if kind == FLOAT else 'bitsd'}({text})" if kind.is_float else f"(U64){text}"
    return f"h = (h ^ {bits}) * 1099511628211ull;"


def kernel_text(functions: str, body: str) -> str:
    """A kernel file of a program."""
    header = (
        f'// gemmviz = 1\n// entry = "kernel"\n// args = ["A", "B", "C"]\n// block = ["{THREADS}"]\n// grid = ["{BLOCKS}"]\n'
    )
    return f"{header}{PRELUDE}{functions}\n__global__ void kernel(const int* A, const int* B, int* C) {{ {body} }}\n"

"""Writes random expressions of C, each with the type that C++ gives it.

Nothing that C++ leaves undefined is written, except signed overflow, which -fwrapv defines as a GPU does it. Shifts stay below
the width, divisors are never 0 or -1, and floats are brought into the range of the integers that they become.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    """``kind``: b, i, u or f. ``spellings``: how C++ may call it, the first one first."""

    kind: str
    bits: int
    spellings: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.spellings[0]

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def promoted(self) -> "Type":
        return INT if not self.is_float and self.bits < 32 else self


BOOL = Type("b", 8, ("bool",))
CHAR = Type("i", 8, ("char",))
SCHAR = Type("i", 8, ("signed char", "int8_t", "T8"))
UCHAR = Type("u", 8, ("unsigned char", "uint8_t", "U8"))
SHORT = Type("i", 16, ("short", "short int", "T16"))
USHORT = Type("u", 16, ("unsigned short", "uint16_t", "U16"))
INT = Type("i", 32, ("int", "signed", "int32_t"))
UINT = Type("u", 32, ("unsigned", "unsigned int", "uint32_t", "U32"))
LONG = Type("i", 64, ("long long", "long long int", "T64"))
ULONG = Type("u", 64, ("unsigned long long", "U64"))
SIZE = Type("u", 64, ("size_t", "unsigned long", "uint64_t"))
FLOAT = Type("f", 32, ("float", "F32"))
DOUBLE = Type("f", 64, ("double", "F64"))
TYPES = (BOOL, CHAR, SCHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, SIZE, FLOAT, DOUBLE)
WHOLE = tuple(each for each in TYPES if not each.is_float and each != BOOL)


def common(a: Type, b: Type) -> Type:
    """The usual arithmetic conversions."""
    a, b = a.promoted, b.promoted
    if a.is_float or b.is_float:
        return max((each for each in (a, b) if each.is_float), key=lambda each: each.bits)
    if a.bits != b.bits:
        return max(a, b, key=lambda each: each.bits)
    if a.bits == 64:
        return a if a == b else ULONG
    return a if a.kind == "u" else b


@dataclass(frozen=True)
class Piece:
    """An expression. ``level`` is its operator's precedence, from 1 (comma) to 16 (a name or a literal)."""

    text: str
    type: Type
    level: int = 16


@dataclass(frozen=True)
class Variable:
    name: str
    type: Type


_LEVELS = {"||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9, "<": 10, ">": 10, "<=": 10, ">=": 10, "<<": 11, ">>": 11,
           "+": 12, "-": 12, "*": 13, "/": 13, "%": 13}  # fmt: skip
_COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
_EDGES = (0, 1, 2, 3, 5, 7, 31, 63, 127, 128, 200, 255, 256, 1000, 32767, 32768, 65535, 65536, 16777217, 2147483647, 2147483648,
          4294967295, 4294967296, 9007199254740993, 1152921573326323713, 9223372036854775807, 9223372036854775808,
          9223372586610589697, 18446744073709551615)  # fmt: skip
_FLOATS = ("0.0", "1.0", "0.5", ".25", "3.", "1.5", "1e-3", "2.5e2", "0x1.8p1", "0x1p-3", "16777217.0", "1.00000005960464477540",
           "0.1", "1e10", "3e9", "0.49999997", "2.5", "8388609.0", "1e-45", "1.0000305", "0.99996948", "1.1754944e-38", "1e19",
           "123456789.125", "9223372036854775808.0", "1e-40", "3.4028235e38", "7e22", "4503599627370497.5")  # fmt: skip
_CHARACTERS = ("'a'", "'\\n'", "'\\0'", "'\\x7f'", "'\\''", "'\\377'", "' '")
_BOUNDS = {("i", 8): (-129, 128), ("u", 8): (-1, 256), ("i", 16): (-32769, 32768), ("u", 16): (-1, 65536),
           ("i", 32): (-(2**31), 2**31), ("u", 32): (-1, 2**32), ("i", 64): (-(2**63), 2**63), ("u", 64): (-1, 2**64)}  # fmt: skip
_ROUNDING = ("floor", "ceil", "trunc", "round", "rint", "nearbyint", "fabs", "sqrt")
_OF_TWO = ("fmod", "remainder", "fdim", "fmin", "fmax")
_OF_BITS = (("__popc", UINT, INT), ("__clz", INT, INT), ("__ffs", INT, INT), ("__brev", UINT, UINT), ("__popcll", ULONG, INT),
            ("__clzll", LONG, INT), ("__ffsll", LONG, INT), ("__brevll", ULONG, ULONG), ("__int_as_float", INT, FLOAT),
            ("abs", INT, INT), ("abs", LONG, LONG), ("llabs", LONG, LONG))  # fmt: skip
_OF_TWO_WHOLE = (("__mulhi", INT), ("__umulhi", UINT), ("__mul24", INT), ("__umul24", UINT))
_OPERATORS = (("arithmetic", 20), ("division", 6), ("bitwise", 9), ("shift", 6), ("comparison", 8), ("logic", 4), ("choice", 9),
              ("unary", 8), ("converted", 14), ("size", 2), ("comma", 1))  # fmt: skip
_CALLS = (("call", 5), ("element", 4), ("computed", 16))
_COMPUTED = (
    "rounded",
    "of_two",
    "fused",
    "of_bits",
    "of_two_whole",
    "extreme",
    "mixed_extreme",
    "predicate",
    "to_whole",
    "cut",
)
_CONSTANT_ARGUMENTS = ("3", "-2", "(2) - 5", "1 << 4", "(7 > 2) ? 3 : 4", "'a' * (2)")


class Expressions:
    """Writes typed expressions. ``reads_a``: whether they read the matrix A too."""

    def __init__(self, seed: int, reads_a: bool = False) -> None:
        self.random = random.Random(seed)
        self.reads_a = reads_a
        self.constants: list[Variable] = []
        self.known: list[Variable] = []
        self.lists: list[Variable] = []  # arrays of four
        self.functions: list[tuple[str, Type, tuple[Type, ...]]] = []
        self.mutable: list[Variable] = []
        self.is_constant = False  # what is written must be known before the program runs

    # Pieces

    def at(self, piece: Piece, level: int) -> str:
        """A piece as an operand of this precedence: in parentheses if need be, and sometimes without need."""
        if piece.level < level or self.random.random() < 0.15:
            return f"({piece.text})"
        return piece.text

    def binary(self, op: str, left: Piece, right: Piece, kind: Type) -> Piece:
        level = _LEVELS[op]
        space = self.random.choice((" ", " ", " ", "")) if op not in ("+", "-", "&", "/", "<", ">") else " "
        return Piece(f"{self.at(left, level)}{space}{op}{space}{self.at(right, level + 1)}", kind, level)

    def cast(self, piece: Piece, to: Type) -> Piece:
        """In one of C++'s three ways; a float that becomes an integer fits it."""
        operand, name = self.fitting(piece, to), self.random.choice(to.spellings)
        match self.random.randrange(4):
            case 0 if " " not in name and operand.level != 15:  # T(U(x)) may be a function's type
                return Piece(f"{name}({operand.text})", to, 15)
            case 1:
                return Piece(f"static_cast<{name}>({operand.text})", to, 15)
            case 2:
                return Piece(f"({name})({operand.text})", to, 14)
        return Piece(f"({name}){self.at(operand, 14)}", to, 14)

    def fitting(self, piece: Piece, to: Type, bounds: tuple[int, int] | None = None) -> Piece:
        """The piece, within the bounds of an integer type if it is a float."""
        if not piece.type.is_float or (to.kind in "bf" and bounds is None):
            return piece
        if self.is_constant:  # calls no functions
            return Piece("2.75f" if piece.type == FLOAT else "3.5", piece.type)
        low, high = bounds or _BOUNDS[to.kind, to.bits]
        letter, suffix = ("f", "f") if piece.type == FLOAT else ("d", "")
        return Piece(f"fit{letter}({piece.text}, {low}.0{suffix}, {high}.0{suffix})", piece.type, 15)

    def whole(self, depth: int) -> Piece:
        """An integer, or a truth value."""
        piece = self.expression(depth)
        return self.cast(piece, self.random.choice(WHOLE)) if piece.type.is_float else piece

    def number(self, depth: int, to: Type) -> Piece:
        """An expression that becomes ``to`` without a cast."""
        return self.fitting(self.expression(depth), to)

    # Leaves

    def literal(self) -> Piece:
        some = self.random
        pick = some.random()
        if pick < 0.08:
            return Piece(some.choice(("true", "false")), BOOL)
        if pick < 0.14:
            return Piece(some.choice(_CHARACTERS), CHAR)
        if pick < 0.4:
            kind = some.choice((FLOAT, DOUBLE))
            return Piece(some.choice(_FLOATS) + (some.choice("fF") if kind == FLOAT else ""), kind)
        return self.integer(some.choice((INT, INT, UINT, LONG, ULONG)))

    def integer(self, kind: Type) -> Piece:
        some = self.random
        value = some.choice([each for each in _EDGES if each < 2 ** (kind.bits - (kind.kind == "i"))])
        value = some.randrange(16) if some.random() < 0.3 else value
        digits = some.choice((str(value), str(value), hex(value), f"0{value:o}", bin(value)))
        if digits.isdigit() and digits[0] != "0" and len(digits) > 4 and some.random() < 0.3:
            digits = f"{digits[:-3]}'{digits[-3:]}"
        if kind == INT:
            return Piece(digits, INT)
        suffix = {UINT: ("u", "U"), LONG: ("ll", "LL"), ULONG: ("ull", "ULL", "llu", "LLU")}[kind]
        return Piece(digits + some.choice(suffix), kind)

    def some_number(self) -> Piece:
        """To start with: a number that is special for some type, or something of the thread's own."""
        if self.random.random() < 0.4:
            return self.expression(1)
        piece = self.literal()
        return Piece(f"-{piece.text}", piece.type.promoted, 14) if self.random.random() < 0.3 else piece

    def leaf(self) -> Piece:
        some = self.random
        variables = [*self.known, *self.known, *self.constants]
        if not variables or some.random() < 0.3:
            return self.literal()
        if some.random() < 0.15 and not self.is_constant:
            return Piece("threadIdx.x", UINT, 15)
        chosen = some.choice(variables)
        return Piece(chosen.name, chosen.type)

    def constant(self, depth: int) -> Piece:
        """An expression that is known before the program runs."""
        with self.constants_only():
            return self.expression(depth)

    @contextmanager
    def constants_only(self) -> Iterator[None]:
        kept = self.known, self.is_constant
        self.known, self.is_constant = [], True
        yield
        self.known, self.is_constant = kept

    # Operators

    def expression(self, depth: int = 3) -> Piece:
        some = self.random
        if depth <= 0 or some.random() < 0.12:
            return self.leaf()
        if depth > 1 and self.known and some.random() < 0.08:
            return self.constant(depth - 1)
        operators = (*_OPERATORS, *(() if self.is_constant else _CALLS))
        (name,) = some.choices([name for name, _ in operators], [weight for _, weight in operators])
        piece: Piece = getattr(self, name)(depth - 1)
        return piece

    def arithmetic(self, depth: int) -> Piece:
        left, right = self.expression(depth), self.expression(depth)
        return self.binary(self.random.choice("+-*"), left, right, common(left.type, right.type))

    def division(self, depth: int) -> Piece:
        left, right = self.expression(depth), self.expression(depth)
        if common(left.type, right.type).is_float:
            return self.binary("/", left, right, common(left.type, right.type))
        right = self.random.choice((self.binary("+", self.binary("&", right, Piece("15", INT), right.type), Piece("1", INT), INT),
                                    Piece(str(self.random.choice((2, 3, 7, 10, 255))), INT), Piece("-3", INT, 14), Piece("5u", UINT)))  # fmt: skip
        right = self.cast(right, INT) if right.level < 13 else right
        return self.binary(self.random.choice("/%"), left, right, common(left.type, right.type))

    def bitwise(self, depth: int) -> Piece:
        left, right = self.whole(depth), self.whole(depth)
        return self.binary(self.random.choice("&|^"), left, right, common(left.type, right.type))

    def shift(self, depth: int) -> Piece:
        left, amount = self.whole(depth), self.whole(depth)
        kind = left.type.promoted
        bounded = self.binary("&", amount, Piece(str(kind.bits - 1), INT), amount.type)
        if self.random.random() < 0.4:
            bounded = Piece(str(self.random.randrange(kind.bits)), INT)
        return self.binary(self.random.choice(("<<", ">>")), left, bounded, kind)

    def comparison(self, depth: int) -> Piece:
        return self.binary(self.random.choice(_COMPARISONS), self.expression(depth), self.expression(depth), BOOL)

    def logic(self, depth: int) -> Piece:
        return self.binary(self.random.choice(("&&", "||")), self.expression(depth), self.expression(depth), BOOL)

    def choice(self, depth: int) -> Piece:
        condition = self.expression(depth) if self.random.random() < 0.6 else self.constant(depth)
        then, otherwise = self.expression(depth), self.expression(depth)
        kind = then.type if then.type == otherwise.type else common(then.type, otherwise.type)
        return Piece(f"{self.at(condition, 4)} ? {self.at(then, 3)} : {self.at(otherwise, 3)}", kind, 3)

    def unary(self, depth: int) -> Piece:
        operand = self.expression(depth)
        op = self.random.choice("-+!" if operand.type.is_float else "-+~!")
        return Piece(f"{op} {self.at(operand, 14)}", BOOL if op == "!" else operand.type.promoted, 14)

    def converted(self, depth: int) -> Piece:
        return self.cast(self.expression(depth), self.random.choice(TYPES))

    def size(self, depth: int) -> Piece:
        if self.random.random() < 0.3:
            return Piece(f"sizeof({self.random.choice(self.random.choice(TYPES).spellings)})", SIZE, 14)
        return Piece(f"sizeof({self.expression(depth).text})", SIZE, 14)

    def comma(self, depth: int) -> Piece:
        left, right = self.expression(depth), self.expression(depth)
        return Piece(f"({left.text}, {self.at(right, 2)})", right.type)

    def element(self, depth: int) -> Piece:
        if self.reads_a and self.random.random() < 0.5:
            return Piece(f"A[{self.at(self.whole(depth), 9)} & 31]", INT, 15)
        if not self.lists:
            return self.leaf()
        chosen, index = self.random.choice(self.lists), f"{self.at(self.whole(depth), 9)} & 3"
        if self.random.random() < 0.2:
            return Piece(f"*({chosen.name} + ({index}))", chosen.type, 14)
        return Piece(f"{chosen.name}[{index}]", chosen.type, 15)

    def argument(self, depth: int, to: Type) -> str:
        return self.at(self.number(depth, to), 2)

    def call(self, depth: int) -> Piece:
        if self.functions and self.random.random() < 0.6:
            name, result, parameters = self.random.choice(self.functions)
            return Piece(f"{name}({', '.join(self.argument(depth, each) for each in parameters)})", result, 15)
        if self.random.random() < 0.5:
            return Piece(f"times<{self.random.choice(_CONSTANT_ARGUMENTS)}>({self.argument(depth, INT)})", INT, 15)
        kind = self.random.choice(TYPES)
        return Piece(f"same<{self.random.choice(kind.spellings)}>({self.argument(depth, kind)})", kind, 15)

    def computed(self, depth: int) -> Piece:
        """A function of CUDA's that is exact."""
        piece: Piece = getattr(self, self.random.choice(_COMPUTED))(depth)
        return piece

    def floating(self, name: str, arity: int, depth: int) -> Piece:
        """A call of the float or the double version, by its name or by overloading."""
        kind = self.random.choice((FLOAT, DOUBLE))
        operands = [self.expression(depth) if self.random.random() < 0.4 else self.fraction() for _ in range(arity)]
        if self.random.random() < 0.4:
            operands = [Piece(f"({kind.name})({each.text})", kind, 14) for each in operands]
            return Piece(f"{name}({', '.join(each.text for each in operands)})", kind, 15)
        called = f"{name}f" if kind == FLOAT else name
        return Piece(f"{called}({', '.join(f'({kind.name})({each.text})' for each in operands)})", kind, 15)

    def fraction(self) -> Piece:
        """A float or double of many bits, or a special one; often another one for each thread."""
        kind, number = self.random.choice((FLOAT, DOUBLE)), self.random.choice(_FLOATS)
        text = f"{self.random.choice(('', '', '-'))}{number}{'f' if kind == FLOAT else ''}"
        factor = self.random.choice(("", "", " * (1 + threadIdx.x)", " * (threadIdx.x - 2.5f)", " / (3u + threadIdx.x)"))
        return Piece(text + factor, DOUBLE if kind == DOUBLE else FLOAT, 13 if factor else 14)

    def rounded(self, depth: int) -> Piece:
        return self.floating(self.random.choice(_ROUNDING), 1, depth)

    def of_two(self, depth: int) -> Piece:
        return self.floating(self.random.choice(_OF_TWO), 2, depth)

    def fused(self, depth: int) -> Piece:
        if self.random.random() < 0.5:
            return self.floating("fma", 3, depth)
        kind = self.random.choice((FLOAT, DOUBLE))  # the rounding error of a product
        x, y = (f"({kind.name})({self.fraction().text})" for _ in range(2))
        return Piece(f"fma({x}, {y}, -({x} * {y}))", kind, 15)

    def of_bits(self, depth: int) -> Piece:
        name, of, to = self.random.choice(_OF_BITS)
        return Piece(f"{name}(({of.name})({self.fitting(self.expression(depth), of).text}))", to, 15)

    def of_two_whole(self, depth: int) -> Piece:
        name, kind = self.random.choice(_OF_TWO_WHOLE)
        return Piece(f"{name}({self.argument(depth, kind)}, {self.argument(depth, kind)})", kind, 15)

    def extreme(self, depth: int) -> Piece:
        kind = self.random.choice((SHORT, INT, UINT, LONG, ULONG, FLOAT, DOUBLE))
        operands = (f"({kind.name})({self.number(depth, kind).text})" for _ in range(2))
        return Piece(f"{self.random.choice(('min', 'max'))}({', '.join(operands)})", kind.promoted, 15)

    def mixed_extreme(self, depth: int) -> Piece:
        """min or max of a signed and an unsigned number of one size, or of a float and a double."""
        left, right = self.random.sample(self.random.choice(((INT, UINT), (LONG, ULONG), (FLOAT, DOUBLE))), 2)
        operands = (f"({kind.name})({self.number(depth, kind).text})" for kind in (left, right))
        return Piece(f"{self.random.choice(('min', 'max'))}({', '.join(operands)})", common(left, right), 15)

    def cut(self, depth: int) -> Piece:
        """A float that becomes an integer, whether it fits or not; one that fits where the compiler of the host says what it becomes."""
        kind, to = self.random.choice((FLOAT, DOUBLE)), self.random.choice(WHOLE)
        operand = self.fraction() if self.random.random() < 0.4 else self.expression(depth)
        if self.random.random() < 0.5:  # near the end of a type
            edge = self.random.choice((127, 128, 255, 256, 32767, 32768, 65535, 2**31, 2**32, 2**63, 2**64))
            step = self.random.choice(("", " - 1", " + 1", " - 0.5", " - 128", " * 0.99999994f", " * 1.0000001f"))
            operand = Piece(
                f"({self.random.choice(('', '-'))}{edge}.0{'f' if kind == FLOAT else ''}{step}) * (threadIdx.x & 1)", kind
            )
        if self.reads_a:
            return self.cast(operand, to)
        return Piece(f"cut<{to.name}>(({kind.name})({operand.text}))", to, 15)

    def predicate(self, depth: int) -> Piece:
        kind, name = self.random.choice((FLOAT, DOUBLE)), self.random.choice(("isnan", "isinf", "isfinite", "signbit"))
        operand = Piece(f"({kind.name})({self.expression(depth).text})", kind, 14)
        if name == "signbit":  # no two machines agree on that of NaN
            operand = self.fitting(operand, INT)
        return Piece(f"{name}({operand.text})", BOOL, 15)

    def to_whole(self, depth: int) -> Piece:
        kind, name = self.random.choice((FLOAT, DOUBLE)), self.random.choice(("lrint", "llrint", "lround", "llround"))
        operand = Piece(f"({kind.name})({self.expression(depth).text})", kind, 14)
        fitted = self.fitting(operand, LONG, (-(2**62), 2**62))
        return Piece(f"(long long){name}{'f' if kind == FLOAT else ''}({fitted.text})", LONG, 14)

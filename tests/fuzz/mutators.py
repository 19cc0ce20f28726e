"""Strategies that spoil what is right: texts, JSON, bytes, arrays."""

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from hypothesis import strategies as st

from gemmviz.files.codec import toml_text

NUMBERS = (
    "0", "-1", "1", "2", "31", "32", "33", "1024", "65536", "2147483647", "2147483648", "4294967296", "9223372036854775807",
    "18446744073709551616", "9" * 500, "1e39f", "1e-50f", "0x7fffffff", "0b1", "017", "1.5", "nan", "inf", "-0.0",
)  # fmt: skip
WORDS = (
    *NUMBERS, "", " ", "\n", "\\\n", "\t", ";", "{", "}", "(", ")", "[", "]", "<", ">", "<<<", ">>>", ",", ".", "->", "::", "?",
    ":", "=", "==", "+=", "<<=", "++", "--", "!", "~", "%", "/", "*", "&", "&&", "|", "#", "##", "//", "/*", "*/", '"', "'", "`",
    "\0", "\x1b[31m", "é", "𝄞", "\u202e", "<b>", "if", "else", "for", "while", "do", "break", "continue", "return", "switch",
    "goto", "int", "unsigned", "long long", "float", "double", "bool", "char", "float4", "void", "auto", "const", "constexpr",
    "static", "struct", "template <int T>", "typedef", "using", "namespace", "extern", "sizeof", "new", "__shared__",
    "extern __shared__", "__global__", "__device__", "__syncthreads();", "__syncwarp();", "#define X", "#define F(x) x x",
    "#define P(x) x##x", "#if", "#ifdef X", "#else", "#endif", "#include <x.h>", "#error", "#pragma unroll", "X", "F(", "P(1)",
    "A", "B", "C", "M", "N", "K", "threadIdx.x", "blockIdx.y", "blockDim.z", "A[0]", "C[row]", "make_float4(1,2,3,4)",
    "reinterpret_cast<float4*>", "__ldg(&A[0])", "atomicAdd(&C[0], 1.0f)", "__shfl_sync(0, 1, 2)", "min(M, N)", "sqrtf(-1.0f)",
    "while (true) {}", "for (int i = 0; i < 1000000000; ++i)", "float big[1000];", "__shared__ float t[64];",
)  # fmt: skip
HEADER = (
    "// gemmviz = 1\n", "// gemmviz = 2\n", "// entry = 3\n", "// grid = []\n", '// grid = ["N", "M", "K", "1"]\n',
    '// block = ["2**70"]\n', '// block = ["N // 0"]\n', '// block = ["-1"]\n', '// grid = ["2147483647"]\n',
    '// shared_bytes = "1 << 40"\n', '// column_major = ["Z"]\n', "// problem = { M = 0, N = 1, K = 1 }\n",
    "// problem = { M = 2147483647, N = 1, K = 1 }\n", "// [parameters.T]\n", "// default = -1\n", "// choices = []\n",
    "// choices = [1, 2]\n", '// [[require]]\n// that = "M > {N}"\n// else = "{M // 0} {unknown}"\n', "// \"a\" = 1\n",
    '// args = ["A", "B"]\n', '// args = ["nan", "inf"]\n', "// x = " + "[" * 200 + "\n", "// 0x = 1\n", "// title = '''\n",
)  # fmt: skip


@st.composite
def spoiled_text(draw: st.DrawFn, originals: list[str], words: tuple[str, ...] = WORDS) -> str:
    """One of the texts, changed in a few places: cut, doubled, moved, with words put in, or one thing many times."""
    text = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, max(0, len(text) - 1)))
        stop = min(len(text), start + draw(st.sampled_from((0, 1, 2, 3, 5, 10, 40, 200))))
        piece = text[start:stop]
        match draw(st.sampled_from(("cut", "put", "put", "replace", "replace", "number", "double", "move", "many", "swap"))):
            case "cut":
                text = text[:start] + text[stop:]
            case "put":
                text = text[:start] + draw(st.sampled_from(words)) + text[start:]
            case "replace":
                text = text[:start] + draw(st.sampled_from(words)) + text[stop:]
            case "number":
                digits = [place for place, letter in enumerate(text) if letter.isdigit()]
                if digits:
                    at = draw(st.sampled_from(digits))
                    text = text[:at] + draw(st.sampled_from(NUMBERS)) + text[at + 1 :]
            case "double":
                text = text[:stop] + piece + text[stop:]
            case "move":
                rest = text[:start] + text[stop:]
                at = draw(st.integers(0, len(rest)))
                text = rest[:at] + piece + rest[at:]
            case "many":
                text = text[:start] + draw(st.sampled_from(words)) * draw(st.sampled_from((20, 300, 3000))) + text[start:]
            case "swap":
                text = text[:start] + piece[::-1] + text[stop:]
    return text


@st.composite
def spoiled_bytes(draw: st.DrawFn, originals: list[bytes]) -> bytes:
    """One of the files, with bits turned, parts cut out, doubled or put in."""
    data = bytearray(draw(st.sampled_from(originals)))
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.sampled_from(("bit", "byte", "cut", "end", "put", "double"))):
            case "bit" if data:
                data[at] ^= 1 << draw(st.integers(0, 7))
            case "byte" if data:
                data[at] = draw(st.sampled_from((0, 1, 0x7F, 0x80, 0xFF, 0x22, 0x7B)))
            case "cut":
                del data[at : at + draw(st.integers(1, 100))]
            case "end":
                del data[at:]
            case "put":
                data[at:at] = draw(st.binary(max_size=20))
            case "double":
                data[at:at] = data[at : at + draw(st.integers(1, 200))]
    return bytes(data)


MARKUP = "<img src=x onerror='hacked=1'>\"]]><script>hacked=1</script>"
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 7, 255, 4096, 2**20, 2**31 - 1, 2**31, 2**63, 10**400, 0.0, -0.5, 1e-9, 1e308, "", "x",
    "A", "é", "\x1b[31m", "\x0c", "a\nb", MARKUP, "../x", "x" * 300, "x" * 20_000, "\ud800", [], {}, [[]], [0], [-1],
    [2**31, 2**31], {"x": 1}, "interpreter",
)  # fmt: skip


class EachPlace(Sequence[bytes]):
    """The facts with one place changed: each takes each odd value, is gone, or stands there twice.

    All places come in any order, with some change each, before one comes again with another. ``packed`` makes a file's contents
    of facts.
    """

    def __init__(self, facts: Any, packed: Callable[[Any], bytes], odd: tuple[Any, ...] = ODD) -> None:
        self._facts, self._packed, self._odd = json.loads(json.dumps(facts)), packed, odd
        self._places = list(places(self._facts))
        Random(0).shuffle(self._places)
        self._ways = len(odd) + 2

    def __len__(self) -> int:
        return len(self._places) * self._ways

    def __getitem__(self, number):  # type: ignore[no-untyped-def]
        turn, at = divmod(number, len(self._places))
        return self._packed(changed(self._facts, self._places[at], (turn + at) % self._ways, self._odd))


def changed(facts: Any, place: tuple[Any, ...], way: int, odd: tuple[Any, ...] = ODD) -> Any:
    """A copy of the facts with one place changed: by an odd value, or removed, or doubled."""
    *path, last = place
    facts = copy.deepcopy(facts)
    around = facts
    for key in path:
        around = around[key]
    if way < len(odd):
        around[last] = copy.deepcopy(odd[way])
    elif way == len(odd):
        del around[last]
    elif isinstance(around, list):
        around.append(copy.deepcopy(around[last]))
    else:
        around[f"{last}_"] = copy.deepcopy(around[last])
    return facts


class EachWord(Sequence[bytes]):
    """The text with one of its words or signs replaced by each odd one; all come once before one comes again."""

    def __init__(self, text: str, start: int = 0, odd: tuple[str, ...] = WORDS) -> None:
        self._text, self._odd = text, odd
        self._places = [found.span() for found in re.finditer(r"\w+|[^\w\s]", text) if found.start() >= start]
        Random(0).shuffle(self._places)

    def __len__(self) -> int:
        return len(self._places) * len(self._odd)

    def __getitem__(self, number):  # type: ignore[no-untyped-def]
        turn, at = divmod(number, len(self._places))
        start, stop = self._places[at]
        word = self._odd[(turn + at) % len(self._odd)]
        return f"{self._text[:start]} {word} {self._text[stop:]}".encode("utf-8", "surrogatepass")


def places(facts: Any, path: tuple[Any, ...] = (), most: int = 2) -> Iterator[tuple[Any, ...]]:
    """Paths to everything within nested lists and dicts, of lists to the first few items: the others are like them."""
    for key, inner in facts.items() if isinstance(facts, dict) else enumerate(facts[:most]) if isinstance(facts, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key), most)


@st.composite
def spoiled_facts(draw: st.DrawFn, original: Any) -> Any:
    """JSON's facts with some of them other ones, gone, or in each other's places."""
    facts = json.loads(json.dumps(original))
    for _ in range(draw(st.integers(1, 4))):
        around, key = _anywhere(draw, facts)
        match draw(st.sampled_from(("odd", "odd", "gone", "more", "other", "near"))):
            case "odd":
                around[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case "gone":
                del around[key]
            case "more" if isinstance(around, list):
                around += around[:50] * draw(st.sampled_from((1, 20)))
            case "other":
                elsewhere, other = _anywhere(draw, facts)
                around[key] = json.loads(json.dumps(elsewhere[other]))
            case "near" if isinstance(around[key], int):
                around[key] += draw(st.sampled_from((-1, 1, 100)))
        if not facts:
            break
    return facts


def toml_bytes(facts: object) -> bytes:
    """As TOML; empty where TOML has no such thing."""
    try:
        return toml_text(facts).encode("utf-8", "surrogatepass")  # type: ignore[arg-type]
    except (TypeError, ValueError, AttributeError):
        return b""


def _anywhere(draw: st.DrawFn, facts: Any) -> tuple[Any, Any]:
    """A list or dict somewhere in the facts, and a key of it."""
    here = facts
    while True:
        keys = list(here) if isinstance(here, dict) else range(len(here))
        key = draw(st.sampled_from(keys))
        inner = here[key]
        if not isinstance(inner, dict | list) or not inner or draw(st.integers(0, 3)) == 0:
            return here, key
        here = inner

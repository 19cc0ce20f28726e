"""Hostile texts: each answers within the limit, by a message or a result, and the next request works."""

import itertools
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.program import ReaderLink
from gemmviz.model.messages import SourceError
from tests.conftest import sampled

KERNEL = "__global__ void k(float* a) {{ a[0] = {}; }}\n"
RIGHT = SourceText("a.cu", {"a.cu": KERNEL.format(1)})
DOUBLINGS = "".join(f"#define M{n} M{n - 1} M{n - 1}\n" for n in range(1, 40))
LIMIT = r"reading this file takes (longer than 0.3 s|more than 1024 MiB)"
CRASH = "the parser crashed on this file"

# What the request gives: the words of its first error, "" for none, or of the error that ends it.
BOMBS = {
    "templates without end": ("template <int N> struct T { static const int v = T<N + 1>::v; };\n" + KERNEL.format("T<0>::v"), "templates are instantiated more than"),
    "templates that double": ("template <int N, int M> struct T { static const long v = T<N - 1, 2 * M>::v + T<N - 1, 2 * M + 1>::v; };\ntemplate <int M> struct T<0, M> { static const long v = 1; };\n" + KERNEL.format("T<40, 0>::v"), LIMIT),
    "macros that double": (f"#define M0 a[0] +\n{DOUBLINGS}" + KERNEL.format("M39 1"), LIMIT),
    "an include of itself": ('#include "a.cu"\n' + KERNEL.format(1), "includes are nested too deeply"),
    "a constexpr loop": ("constexpr int f() { int s = 0; for (;;) s++; return s; }\nconstexpr int v = f();\n" + KERNEL.format("v"), "constexpr function never produces a constant"),
    "a constexpr recursion": ("constexpr int f(int n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }\nconstexpr int v = f(60);\n" + KERNEL.format("v"), rf"constexpr variable 'v' must be initialized by a constant|{LIMIT}"),
    "20,000 lines": ("__global__ void k(float* a) {\n" + "a[0] = a[1] + a[2] * 3.0f;\n" * 19_998 + "}\n", ""),
    "20,000 kernels": ("".join(f"__global__ void k{n}(float* a) {{ a[{n}] = threadIdx.x; }}\n" for n in range(20_000)), ""),
    "deep parentheses": (KERNEL.format("(" * 100_000 + "1" + ")" * 100_000), "brackets are nested more than"),
    "deep braces": ("__global__ void k(float* a) " + "{" * 100_000 + "}" * 100_000, "brackets are nested more than"),
    "many signs": (KERNEL.format("- " * 100_000 + "1"), CRASH),
    "a long sum": (KERNEL.format("1" + " + 1" * 100_000), CRASH),
    "huge types": (f"__shared__ float s[1ull << 62];\n{KERNEL.format(1)}", "an array of 4611686018427387904 elements is too large"),
    "a huge sequence": (f"using X = std::make_index_sequence<1 << 24>;\n{KERNEL.format('sizeof(X)')}", LIMIT),
    "a comment without end": ("/*" + "*" * 9000, "this comment is not closed"),
}  # fmt: skip


ALIKE = (
    "templates that double",
    "a huge sequence",
    "a constexpr loop",
    "a constexpr recursion",
    "20,000 lines",
    "20,000 kernels",
    "a long sum",
    "macros that double",
)  # each is like another, the last one like that of the reader process


@pytest.fixture(scope="module")
def link() -> Iterator[ReaderLink]:
    made = ReaderLink()
    made.run("refusal", RIGHT)
    yield made
    made.close()


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.nightly] * (each in ALIKE)) for each in BOMBS])
def test_bombs_answer_within_the_limit(link: ReaderLink, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, words = BOMBS[name]
    if words == LIMIT:
        monkeypatch.setattr("gemmviz.cuda.program._MOST_SECONDS", 0.3)  # a test of the reader process waits for the 2 s
    start = time.monotonic()
    try:
        refusal = link.run("refusal", SourceText("a.cu", {"a.cu": text}))
    except SourceError as error:
        refusal = error
    assert time.monotonic() - start < 12.0  # 2 s on an idle computer
    first = refusal.message if refusal else ""
    assert re.match(words, first) if words else first == ""
    assert link.run("refusal", RIGHT) is None


FILES = ["/dev/zero", "/etc/passwd", "../../../../../../../etc/passwd", "pipe.h", "link.h"]
WAYS = [
    '#include "{}"',
    "#include <{}>",
    '#define H "{}"\n#include H',
    '%:include "{}"',
    '#import "{}"',
    "#include_next <{}>",
    '#/**/include "{}"',
]


@pytest.mark.skipif(os.name == "nt", reason="files of POSIX")
@pytest.mark.parametrize(("file", "way"), sampled(itertools.product(FILES, WAYS), every=4))
def test_no_way_leads_to_a_file_of_the_computer(link: ReaderLink, tmp_path: Path, file: str, way: str) -> None:
    if file in ("pipe.h", "link.h"):
        path = tmp_path / file
        os.mkfifo(path) if file == "pipe.h" else path.symlink_to("/etc/passwd")
        file = str(path)
    text = f'{way.format(file)}\n#if __has_include("{file}")\n#error it is seen\n#endif\n{KERNEL.format(1)}'
    start = time.monotonic()
    assert link.run("refusal", SourceText("a.cu", {"a.cu": text})) is None
    assert link.run("missing", SourceText("a.cu", {"a.cu": text})) == (file,)
    assert time.monotonic() - start < 1.0

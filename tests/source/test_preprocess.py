import pytest

from gemmviz.model.errors import SourceError
from gemmviz.source.preprocess import preprocess
from tests.conftest import sure


def words(text: str, **defines: str) -> list[str]:
    return preprocess(text, defines).text.split()


def test_macros_expand_as_the_preprocessor_does() -> None:
    text = (
        "#define W 4\n#define AT(r, c) A[(r) * W + (c)]\n#define A(i) A[i]\n#define J(a, b) a##b\nAT(x, y+1) A(A(2)) J(x, W)\n"
    )
    assert "".join(words(text)) == "A[(x)*4+(y+1)]A[A[2]]xW"


def test_conditionals() -> None:
    text = "#if defined(T) && T > 8\nbig\n#elif T == 8\neight\n#else\nsmall\n#endif\n#ifndef T\nnone\n#endif\n"
    assert words(text, T="16") == ["big"]
    assert words(text, T="8") == ["eight"]
    assert words(text) == ["small", "none"]


def test_lines_stay_and_offsets_lead_back() -> None:
    text = "#define N 16\nint a = N + b;\n/* x\n y */ c\n"
    found = preprocess(text, {})
    assert found.text.count("\n") == text.count("\n")
    at = found.text.index("b;")
    assert found.original_range(at, at + 1) == (text.index("b;"), text.index("b;") + 1)
    at = found.text.index("16")
    assert found.original_range(at, at + 2) == (text.index("N + b"), text.index("N + b") + 1)
    assert found.is_expansion(at, at + 2)
    assert found.place(found.text.index("c"), found.text.index("c") + 1).line == 4


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("\n#if 1\n", 2, "without #endif"),
        ("#endif\n", 1, "without #if"),
        ("#define F(a) a\nF(1, 2)\n", 2, "takes 1 arguments, not 2"),
        ("#frobnicate\n", 1, "not a directive"),
        ("#error no such GPU\n", 1, "no such GPU"),
        ("#if 1 +\n#endif\n", 1, "can't be evaluated"),
    ],
)
def test_mistakes_are_placed(text: str, line: int, message: str) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        preprocess(text, {})
    assert sure(caught.value.place).line in (line, line + 1)


def test_macros_that_name_each_other_end() -> None:
    assert words("#define a b\n#define b a\na b\n") == ["a", "b"]


def test_comments_inside_a_macro_call_are_dropped() -> None:
    assert "".join(words("#define F(a, b) [a + b]\nF( x, // row\n y /* column */ )\n")) == "[x+y]"


@pytest.mark.parametrize(
    "text", ["int big = 1'000 * WIDE;", "int big = 0x1'f * WIDE; // don't", "char c = '\\''; int w = WIDE;"]
)
def test_what_looks_like_a_character_swallows_nothing(text: str) -> None:
    assert "16" in preprocess(text, {"WIDE": "16"}).text

"""What can't be read is refused with file, line, column and the construct's name."""

import pytest
from msgspec import structs

from gemmviz.cuda.program import program_for
from gemmviz.model.messages import SourceError
from tests.conftest import kernel_from, sure

FIRST_LINE = 10  # of the body


@pytest.mark.parametrize(
    ("body", "column", "message"),
    [
        ("flaot x = 1.0f;", 1, "'flaot' is not a known type .did you mean float"),
        ('asm("nop");', 1, "the PTX instruction nop is not supported"),
        ("goto end; end: return;", 1, "goto is not supported"),
        ("int i; float* p = &i;", 15, "a int\\* can't become a float\\*"),
        ("C[0] = 5 % 0;", 8, "integer division by zero"),
        ("C[0] = fmaf(1.0f, 2.0f);", 8, "fmaf takes 3 arguments, not 2"),
        ("int* p; if (true) C[0] = p[0];", None, "used before it is assigned"),
    ],
)
def test_refused_with_its_place(body: str, column: int | None, message: str) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        program_for(kernel_from(body), {})
    place = sure(caught.value.place)
    assert place.line in (FIRST_LINE, FIRST_LINE + 1) if column is None else place.line == FIRST_LINE
    assert column is None or place.column == column
    assert str(caught.value).startswith(f"kernel.cu:{place.line}:{place.column}: ")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("float s[/*?*/]; C[0] = s[0];", "an array needs a size"),
        ("C[0] = /*?*/;", "an operand is missing here"),
        ("if (/*?*/) C[0] = 1.0f;", "an operand is missing here"),
        ("C[/*?*/] = 1.0f;", "an operand is missing here"),
    ],
)
def test_a_blank_is_refused_with_its_place(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        program_for(kernel_from(f"float x = 1.0f;\n{body}"), {})
    assert sure(caught.value.place).line == FIRST_LINE + 1
    assert caught.value.remedy == "fill in the blank /*?*/"


def test_recursion_is_refused() -> None:
    spec = kernel_from("C[0] = f(1.0f);", before="__device__ float f(float x) { return f(x - 1.0f); }")
    with pytest.raises(SourceError, match="f calls itself"):
        program_for(spec, {})


def test_a_missing_entry_names_what_is_there() -> None:
    spec = kernel_from("C[0] = 1.0f;")
    spec = structs.replace(spec, entry="kernal")
    with pytest.raises(SourceError, match=r"no kernel kernal .did you mean kernel"):
        program_for(spec, {})


def test_a_kernel_that_is_defined_twice() -> None:
    kernel = kernel_from("C[0] = 1.0f;")
    body = (
        kernel.text[kernel.text.index("extern") :]
        if "extern" in kernel.text
        else kernel.text[kernel.text.index("__global__") :]
    )
    twice = structs.replace(kernel, text=f"{kernel.text}\n{body}")
    with pytest.raises(SourceError, match=f"{kernel.entry} is defined twice") as caught:
        program_for(twice, {})
    assert sure(caught.value.place).line > FIRST_LINE

"""Errors inside the kernel and what it calls, in plain words with their place; host code never refuses."""

import pytest

from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.parser.unit import parse
from gemmviz.cuda.reader.read import read_program
from gemmviz.model.messages import SourceError

BEFORE = "template <int N> struct T { static const int v = T<N - 1>::v; }; float host(int); constexpr int TILE = 4;\n"


def source_of(body: str, before: str = BEFORE, **files: str) -> SourceText:
    text = f"{before}__global__ void k(const float* A, float* C, int M) {{\n{body}\n}}\nint main() {{ nonsense; }}\n"
    return SourceText("k.cu", {"k.cu": text, **{name.replace("_h", ".h"): each for name, each in files.items()}})


def refused(source: SourceText) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_program(source, "k")
    return caught.value


@pytest.mark.parametrize(
    ("body", "column", "message", "remedy"),
    [
        ("int i = 0\nC[i] = 1.0f;", 10, "a ; is missing here", "insert it"),
        ("C[0] = (M + 1;", 14, "a ) is missing here", "insert it"),
        ("C[0] = 1.0f + ;", 15, "an operand is missing here", "write it, or delete the operator"),
        ("flaot x = 1.0f;", 1, "'flaot' is not a known type", "did you mean float?"),
        ("float sum; C[0] = summ;", 19, "'summ' is not declared", "did you mean sum?"),
        ("C[0] = __shfl_donw_sync(0, 1, 1);", 8, "'__shfl_donw_sync' is not declared", "did you mean __shfl_down_sync?"),
        (
            "/* 矩阵 */ C[0] = summ;",
            17,
            "'summ' is not declared",
            "declare it in front of the kernel, or include the file that does",
        ),
        ("C[0] = A;", 8, "a const float* can't become a float", "convert it, or change the type of the variable"),
        ("C[threadIdx.w] = 1.0f;", 13, "uint3 has no member w", "use a member that it has"),
        ("C[1.5f] = 1.0f;", 2, "this can't be an index: it is no integer", "convert it to int"),
        ("const int i = 1; i = 2;", 20, "i is const and can't be assigned", "leave out const, or assign to a copy"),
        ("float s[M];", 8, "an array's size must be known when it is compiled", "make it a constant"),
        (
            'static_assert(sizeof(float) == 8, "wide");',
            15,
            'static_assert fails: "wide"',
            "choose template arguments and parameters for which it holds",
        ),
        ("C[0] = fmaf(1.0f, 2.0f);", 8, "fmaf takes 3 arguments, not 2", "pass as many as it takes"),
        ("A[0] = 4.0f;", 6, "const elements can't be assigned", "leave out const in the type of the pointer"),
        ("int q = 3; int q = 4;", 16, "q is declared twice", "rename one of them"),
        ("A[0].x = 1.0f;", 5, "a const float has no members", "use the value itself"),
        (
            "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 8, 8, 128, int> f; nvcuda::wmma::bmma_sync(f, f, f, f);",
            70,
            "the matrix instruction bmma_sync is not supported yet",
            "use mma.sync, ldmatrix, stmatrix or movmatrix",
        ),
        (
            "k<<<1, 1>>>(A, C, M);",
            1,
            "k is a kernel; kernels that launch kernels are not supported",
            "make it a __device__ function",
        ),
        (
            "struct P { int a; } p; float f = p;",
            30,
            "a struct P can't become a float",
            "convert it, or change the type of the variable",
        ),
        ("C[0] = host(1);", 8, "host is a host function, which a kernel can't call", "write __device__ before it"),
        ("C[0] = max(1, 2.0f);", 8, "several functions max fit these arguments", "convert the operands to one type"),
    ],
)
def test_plain_words_place_and_way_out(body: str, column: int, message: str, remedy: str) -> None:
    error = refused(source_of(body))
    assert (error.message, error.remedy) == (message, remedy)
    assert error.place is not None
    assert (error.place.line, error.place.column) == (3, column)


@pytest.mark.parametrize("body", ["int q{3.5};", "dim3 d = {M, 1, 1};", "register int i = 0;"])
def test_what_nvcc_accepts_is_accepted(body: str) -> None:
    read_program(source_of(body), "k")


def test_an_error_in_a_function_that_the_kernel_calls() -> None:
    callees = "__device__ float f(float x) { return y; }\n__device__ float g(float x) { return f(x); }\n__device__ float h() { return z; }\n"
    error = refused(source_of("C[0] = g(1.0f);", callees))
    assert str(error).startswith("1:38: 'y' is not declared")


def test_an_error_in_a_template_is_the_kernels() -> None:
    assert refused(source_of("C[0] = T<1000>::v;")).message == "templates are instantiated more than 256 deep"


def test_an_error_in_another_file_is_placed_at_its_call_and_names_that_file() -> None:
    source = source_of("C[0] = f();", '#include "u.h"\n', u_h="\n__device__ float f() { return y; }\n")
    error = refused(source)
    assert error.message == "'y' is not declared (line 2 of u.h)"
    assert error.place is not None
    assert error.place.line == 3  # of the call


def test_missing_headers_are_named() -> None:
    source = source_of("C[0] = helper();", '#include "foo.cuh"\n#include <vector>\n#include <bar/x.h>\n')
    assert parse(source).missing == ("foo.cuh", "bar/x.h")
    error = refused(source)
    assert error.remedy == "foo.cuh, bar/x.h are not in the project's folder: copy them there"
    assert error.id == "unknown-name"


def test_a_text_in_which_there_is_no_kernel() -> None:
    with pytest.raises(SourceError, match=r"a [)}] is missing here"):
        read_program(SourceText("k.cu", {"k.cu": "__global__ void k(float* C {\n"}), "k")


def test_a_missing_comma_between_asm_operands_is_corrected_and_noted() -> None:
    source = source_of(
        'int x;\nasm volatile("add.s32 %0, %1, %2;" : "=r"(x) : "r"(M)\n  "r"(f(M)));\n', "__device__ int f(int);\n"
    )
    unit = parse(source)
    assert [each.message for each in unit.errors] == ["use of undeclared identifier 'nonsense'"]
    assert unit.notes == ("a comma is missing between the asm operands in line 4, which nvcc accepts",)


@pytest.mark.parametrize(
    "definition",
    ["#define TILE 4", "#ifndef TILE\n#define TILE 4\n#endif", "#define TILE \\\n 4", "constexpr int TILE = 4;", "static const int A = f(1, 2), TILE = (4), B = 3;", "#undef TILE\n# define TILE 4 // four"],
)  # fmt: skip
def test_a_parameter_beats_the_files_own_definition(definition: str) -> None:
    text = f"{definition}\n__shared__ float s[TILE];\n"
    lines = text.count("\n")
    unit = parse(SourceText("k.cu", {"k.cu": text.replace("f(1, 2)", "1")}, macros={"TILE": "16"}))
    assert unit.errors == ()
    array = list(unit.declarations())[-1]
    assert array.type.get_array_size() == 16
    assert array.location.line == lines


def test_includes_are_found_in_folders_of_the_project() -> None:
    files = {
        "src/a.cu": '#include "../deep.h"\n#include <inner/b.h>\n#include "c.h"\nint a = DEEP + B + C;\n',
        "deep.h": "#pragma once\n#define DEEP 1\n",
        "include/inner/b.h": '#include "../../deep.h"\n#define B DEEP\n',
        "other/c.h": '#include "d.h"\n',
        "other/d.h": "#define C 1\n",
    }
    unit = parse(SourceText("src/a.cu", files))
    assert (unit.errors, unit.missing) == ((), ())


def test_the_name_that_was_meant_is_one_of_the_code() -> None:
    said = [refused(source_of(f"{before}\nC[0] = colunms;")).remedy for before in ("float column = 1;", "// the column\n")]
    assert said[0] == "did you mean column?"
    assert "column" not in str(said[1])


def test_a_file_is_not_chosen_among_several_of_its_name() -> None:
    files = {"k.cu": '#include "sizes.h"\nint a = N;\n', "old/sizes.h": "#define N 1\n", "new/sizes.h": "#define N 2\n"}
    assert parse(SourceText("k.cu", files)).missing == ("sizes.h",)
    del files["old/sizes.h"]
    assert parse(SourceText("k.cu", files)).missing == ()


def test_the_unknown_type_of_a_template_s_parameter_is_named() -> None:
    before = "namespace torch { }\n"
    for parameter, message in (
        ("torch::PackedTensorAccessor32<T, 2> a", "PyTorch's PackedTensorAccessor32 is not supported"),
        ("torch::Unknown<T> a", "'Unknown' is not declared"),
    ):
        text = f"{before}template <typename T> __global__ void k(T* C, {parameter}) {{ C[0] = 1; }}\n"
        with pytest.raises(SourceError) as caught:
            read_program(SourceText("k.cu", {"k.cu": text}), "k<float>")
        assert caught.value.message == message
        assert caught.value.place is not None
        assert caught.value.place.line == 2

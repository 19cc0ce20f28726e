import re

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.cuda.nodes import Const, HostCode
from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.program import program_for
from gemmviz.cuda.reader.read import read_program
from gemmviz.cuda.twin.statements import literal
from gemmviz.cuda.twin.units import TWIN_ENTRY, printed_twin, probed_source, real_source, twin_for
from gemmviz.cuda.types import CHAR, DOUBLE, FLOAT, INT, LONG, UINT
from gemmviz.model.kernel import ProjectFile
from gemmviz.model.messages import SourceError
from gemmviz.run.loader import open_kernel
from tests.conftest import DATA, kernel_from, sampled, sure


def body_of(twin: str) -> str:
    return twin[twin.index(f"void {TWIN_ENTRY}(") :]


def test_every_access_is_reported_with_its_own_number() -> None:
    spec = load_kernel("04_tiled")
    text = body_of(twin_for(spec, {"TILE_WIDTH": 8}).text)
    program = program_for(spec, {"TILE_WIDTH": 8})
    for number, access in enumerate(program.accesses):
        if access.kind == "barrier":
            assert f"gv_arrive<{number}>(gv_self" in text
        elif access.kind != "branch":
            assert f"gv_{access.kind}<{number}, GV_IN_{sure(access.space).upper()}>(gv_self" in text
    branches = {number for number, access in enumerate(program.accesses) if access.kind == "branch"}
    assert set() < {int(number) for number in re.findall(r"gv_part<(\d+)>\(gv_self", text)} <= branches
    assert text.count("gv_load<") + text.count("gv_store<") == 7


def test_a_compound_assignment_reads_and_writes() -> None:
    (line,) = [x for x in body_of(twin_for(kernel_from("C[0] += A[0];"), {}).text).split("\n") if "+=" in x]
    wanted = "(gv_wrote(gv_self, gv_store<2, GV_IN_GLOBAL>(gv_self, gv_load<1, GV_IN_GLOBAL>(gv_self, (*C_2))) += gv_load<0, GV_IN_GLOBAL>(gv_self, (*A_0))));"
    assert line.strip() == wanted


def test_functions_are_inlined_and_every_loop_is_counted() -> None:
    spec = kernel_from(
        "int i = 0; do { C[i] = at(A, i) + __ldg(&B[i]); } while (++i < 2);\nfor (;;) break;",
        before="#define SECOND(p) p[1]\n__device__ float at(const float* p, int i) { return SECOND(p); }",
    )
    text = body_of(twin_for(spec, {}).text)
    assert "at(" not in text
    assert "[&]() -> float {" in text
    assert text.count(".next(), ") == 2
    assert "SECOND" not in text


@pytest.mark.parametrize(
    ("constant", "text"),
    [
        (Const(FLOAT, 0.1), "0x1.999999999999ap-4f"),
        (Const(DOUBLE, -2.5), "(-0x1.4000000000000p+1)"),
        (Const(FLOAT, float("inf")), "__int_as_float(0x7f800000)"),
        (Const(INT, -(2**31)), "(-2147483647 - 1)"),
        (Const(UINT, 4294967295), "4294967295u"),
        (Const(LONG, 5), "5ll"),
        (Const(CHAR, -1), "(signed char)(-1)"),
    ],
)
def test_constants_are_exact(constant: Const, text: str) -> None:
    assert literal(constant) == text


LAUNCHER = "void go(float* a) {\n kernel<<<1, 4>>>(a, a, a, 1, 1, 1);\n}"


def test_host_functions_are_blanked_and_all_places_kept() -> None:
    spec = kernel_from("C[0] = 1.0f;")
    spec = structs.replace(spec, text=f"{spec.text}{LAUNCHER}// after\n")
    text = real_source(spec, program_for(spec, {}), {}).text
    assert "<<<" not in text
    assert "}// after" not in text
    assert [len(line) for line in text.split("\n")[1:]] == [len(line) for line in spec.text.split("\n")]


def test_a_pointer_to_rows_points_to_elements() -> None:
    text = "__global__ void f(const float (*A)[4], const float* B, float C[4][4]) { C[0][0] = A[threadIdx.x][1] * B[0]; }"
    twin = printed_twin(read_program(SourceText("f.cu", {"f.cu": text}), "f"), "f.cu").text
    assert "gv_twin(float* A_0, float* B_1, float* C_2)" in twin


HOST_CODE = """
int calls = 0, last[4];
const char* message = "a";
const float SCALE = 1.0f, TABLE[2] = {1.0f, 2.0f};
const dim3 threads(16, 16);
__constant__ float weights[4];
struct Both { int n; __device__ Both(int m) : n(m) { } Both() = default; constexpr int twice() const { return 2 * n; } };
template <typename T> class Buffer {
    T* data; static int made;
public:
    explicit Buffer(size_t n) { cudaMalloc(&data, n); }
    virtual ~Buffer() { cudaFree(data); }
    operator bool() const { return data; }
    void clear();
};
template <typename T> void Buffer<T>::clear() { last[0] = 0; }
"""


def test_methods_and_variables_of_the_host_are_blanked_and_those_of_both_are_not() -> None:
    spec = kernel_from("Both both(2); C[0] = SCALE * TABLE[0] * both.twice();", before=HOST_CODE)
    text = real_source(spec, program_for(spec, {}), {}).text
    for of_host in ("calls", "last", "message", "threads", "made", "Buffer(", "~Buffer", "operator bool", "clear"):
        assert of_host not in text
    for of_both in (
        "const float SCALE = 1.0f, TABLE[2]",
        "weights[4]",
        "Both(int m)",
        "Both() = default",
        "twice() const { return",
    ):
        assert of_both in text
    assert "T* data;" in text


def test_the_probe_stands_at_the_beginning_of_the_body() -> None:
    spec = kernel_from("C[0] = 1.0f;")
    program = program_for(spec, {})
    line = probed_source(spec, program, {}).text.split(f'#line 1 "{spec.file}"\n')[1].split("\n")[program.opening.line - 1]
    assert "{ gv_probe gv;" in line
    hidden = kernel_from("C[0] = 1.0f; END", before="#define END }")
    hidden = structs.replace(
        hidden, text=hidden.text.replace(")\n{", ") BEGIN\n").replace("#define END }", "#define BEGIN {\n#define END")
    )
    with pytest.raises(SourceError, match="begins in a macro"):
        probed_source(hidden, program_for(hidden, {}), {})


def test_includes_of_the_project_are_given_by_their_names() -> None:
    spec = kernel_from("C[0] = 1.0f;", before='#include "../common/tile.cuh"')
    tile = ProjectFile("common/tile.cuh", '#include "sizes.h"\nvoid host() { }\n')
    spec = structs.replace(spec, own_name="kernels/a.cu", project=(tile, ProjectFile("common/sizes.h", "#define T 4\n")))
    place = structs.replace(program_for(kernel_from("C[0] = 1.0f;"), {}).opening, line=2, column=1, end_line=2, end_column=16)
    program = structs.replace(program_for(kernel_from("C[0] = 1.0f;"), {}), host_code=(HostCode(place, "common/tile.cuh"),))
    headers = dict(real_source(spec, program, {}).headers)
    assert headers["sizes.h"] == "#define T 4\n"
    assert headers["../common/tile.cuh"] == '#include "sizes.h"\n' + " " * 15 + "\n"


@pytest.mark.parametrize("name", sampled(["cp_async_ptx", "pipeline_memcpy"]))
def test_a_copy_records_the_number_of_the_arrays_element(name: str) -> None:
    given = GivenLaunch(args=("C", "A", "B", "K", "N"), block=("16", "16"), grid=("N / 16", "M / 16"))
    spec = open_kernel(str(DATA / "kernels" / "styles" / f"{name}.cu"), given if name == "pipeline_memcpy" else GivenLaunch())
    copies = re.findall(r"gv_copy<([^>]*)>", body_of(twin_for(spec, {}).text))
    assert len(copies) == 4
    assert all(each.endswith(", float") for each in copies)


def test_other_characters_are_universal_names() -> None:
    spec = kernel_from("float 和 = A[0]; C[0] = 和;")
    assert "float \\U0000548c = A[0]; C[0] = \\U0000548c;" in real_source(spec, program_for(spec, {}), {}).text

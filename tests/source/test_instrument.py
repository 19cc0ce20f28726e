from gemmviz.source.catalog import load_kernel
from gemmviz.source.instrument import instrument
from gemmviz.source.program import program_for
from tests.conftest import kernel_from


def body_of(twin: str) -> list[str]:
    return twin[twin.index("#line 1") :].split("\n", 1)[1].split("\n")


def test_lines_survive_and_every_access_is_wrapped() -> None:
    spec = load_kernel("04_tiled")
    lines = body_of(instrument(spec, {"TILE_WIDTH": 8}))
    assert len(lines) == len(spec.text.split("\n"))
    program = program_for(spec, {"TILE_WIDTH": 8})
    for number, access in enumerate(program.accesses):
        if access.kind != "barrier":
            assert f"gv_touch<{number}>(gv, " in lines[access.place.line - 1]
    assert sum(line.count("gv_touch<") for line in lines) == 7


def test_a_compound_assignment_reads_and_writes() -> None:
    (line,) = [x for x in body_of(instrument(kernel_from("C[0] += A[0];"), {})) if "+=" in x]
    assert line.strip() == "gv_touch<2>(gv, gv_touch<1>(gv, C[0])) += gv_touch<0>(gv, A[0]);" or line.count("gv_touch") == 3


def test_macros_device_functions_and_every_loop() -> None:
    spec = kernel_from(
        "int i = 0; do { C[i] = at(A, i) + __ldg(&B[i]); } while (++i < 2);\nfor (;;) break;",
        before="#define SECOND(p) p[1]\n__device__ float at(const float* p, int i) { return SECOND(p); }",
    )
    text = "\n".join(body_of(instrument(spec, {})))
    assert "at(gv_thread& gv, const float* p, int i)" in text
    assert "at(gv_call(gv, " in text
    assert text.count("gv_trips.next()") == 2
    assert "gv_touch<1>(gv, */*__ldg*/(&B[i]))" in text


def test_host_functions_that_launch_are_left_out() -> None:
    spec = kernel_from("C[0] = 1.0f;", before="")
    object.__setattr__(spec, "text", spec.text + "void go(float* a) {\n kernel<<<1, 4>>>(a, a, a, 1, 1, 1);\n}\n")
    twin = instrument(spec, {})
    assert "<<<" not in twin
    assert len(body_of(twin)) == len(spec.text.split("\n"))

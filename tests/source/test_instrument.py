from dataclasses import replace

from gemmviz.launch.catalog import load_kernel
from gemmviz.source.instrument import twin_for
from gemmviz.source.program import program_for
from tests.conftest import kernel_from, sure


def body_of(twin: str) -> list[str]:
    return twin[twin.index("#line 1") :].split("\n", 1)[1].split("\n")


def test_lines_survive_and_every_access_is_wrapped() -> None:
    spec = load_kernel("04_tiled")
    lines = body_of(twin_for(spec, {"TILE_WIDTH": 8}).text)
    assert len(lines) == len(spec.text.split("\n"))
    program = program_for(spec, {"TILE_WIDTH": 8})
    for number, access in enumerate(program.accesses):
        call = (
            f"gv_arrive<{number}>"
            if access.kind == "barrier"
            else f"gv_{access.kind}<{number}, GV_IN_{sure(access.space).upper()}>"
        )
        assert f"{call}(gv_self" in lines[access.place.line - 1]
    assert sum(line.count("gv_load<") + line.count("gv_store<") for line in lines) == 7


def test_a_compound_assignment_reads_and_writes() -> None:
    (line,) = [x for x in body_of(twin_for(kernel_from("C[0] += A[0];"), {}).text) if "+=" in x]
    wanted = "gv_wrote(gv_self, gv_store<2, GV_IN_GLOBAL>(gv_self, gv_load<1, GV_IN_GLOBAL>(gv_self, C[0])) += gv_load<0, GV_IN_GLOBAL>(gv_self, A[0]));"
    assert line.strip() == wanted


def test_macros_device_functions_and_every_loop() -> None:
    spec = kernel_from(
        "int i = 0; do { C[i] = at(A, i) + __ldg(&B[i]); } while (++i < 2);\nfor (;;) break;",
        before="#define SECOND(p) p[1]\n__device__ float at(const float* p, int i) { return SECOND(p); }",
    )
    text = "\n".join(body_of(twin_for(spec, {}).text))
    assert "at(gv_thread& gv_self, unsigned int gv_call, const float* p, int i) { gv_inside gv_here(gv_self, gv_call);" in text
    assert "at(gv_self, 0u, A, i)" in text
    assert text.count("gv_trips.next()") == 2
    assert "gv_load<1, GV_IN_GLOBAL>(gv_self, */*__ldg*/(&B[i]))" in text


def test_host_functions_that_launch_are_left_out() -> None:
    spec = kernel_from("C[0] = 1.0f;", before="")
    spec = replace(spec, text=spec.text + "void go(float* a) {\n kernel<<<1, 4>>>(a, a, a, 1, 1, 1);\n}\n")
    twin = twin_for(spec, {}).text
    assert "<<<" not in twin
    assert len(body_of(twin)) == len(spec.text.split("\n"))

"""Branches at which lanes of a warp part: when they are steps, what they cost, who waits, and what says so."""

import math
from collections.abc import Mapping
from functools import cache

import pytest
from msgspec import structs
from recording import DATA
from recording.counters import parting_setups

from gemmviz.analysis.costs import profiled_wavefronts
from gemmviz.analysis.counts import LaunchCounter, LaunchCounts, count_steps, totals
from gemmviz.analysis.reasons import Launched, causes_of
from gemmviz.analysis.replay.divergence import NOT_WAITING, divergence_of, waiting_in_block
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.cuda.program import program_for
from gemmviz.cuda.walk import diverging
from gemmviz.files.codec import read_json
from gemmviz.files.recordings import recorded_machine_code
from gemmviz.model.messages import Place
from gemmviz.model.recording import row_of
from gemmviz.model.setup import Setup
from gemmviz.model.timing import MachineCode, RecordedCounters
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.executor import stream_launch
from gemmviz.run.cuda.toolkit import jumps_in
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.sentence import compiled_branch
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.answers import branch_answer
from gemmviz.shots.knowledge import LaunchFacts
from tests.analysis.test_reasons import limits_of
from tests.conftest import kernel_from, moment_of, sure, trace_of
from tests.legible import texts_of


def traced(body: str, block: int = 64) -> Trace:
    return trace_of(kernel_from(body, block=f'["{block}"]'), 8, 8, 8)


def branches(trace: Trace) -> list[int]:
    return [step for step in range(trace.steps) if trace.site_of(step).kind == "branch"]


ODD_EVEN = "int t = threadIdx.x; if (t % 2 == 0) C[t] = A[t]; else C[t] = B[t];"
BY_WARP = "int t = threadIdx.x; if (t / 32 % 2 == 0) C[t] = A[t]; else C[t] = B[t];"


def test_a_branch_is_a_step_where_lanes_of_a_warp_part() -> None:
    trace = traced(ODD_EVEN)
    assert branches(trace) == [0]
    assert trace.element[0].tolist() == [1, 0] * 32
    assert trace.site_of(0).text == "t % 2 == 0"
    assert len(trace.site_of(0).arms) == 2


def test_a_branch_that_whole_warps_take_is_none() -> None:
    assert branches(traced(BY_WARP)) == []


@pytest.mark.parametrize("body", [
    "for (int k = 0; k < 4; ++k) C[threadIdx.x] = A[k];",
    "if (blockIdx.x == 0) C[threadIdx.x] = A[0];",
    "int n = M; while (n > 0) { C[threadIdx.x] = A[n]; n /= 2; }",
])  # fmt: skip
def test_conditions_of_sizes_and_blocks_are_not_looked_at(body: str) -> None:
    assert diverging(program_for(kernel_from(body), {})) == frozenset()


@pytest.mark.parametrize("body", [
    "for (int k = threadIdx.x; k < 64; k += 32) C[k] = A[k];",
    "if (A[threadIdx.x] > 0.0f) C[threadIdx.x] = 1.0f;",
    "int n = 0; for (int k = 0; k < 9; ++k) { if (k == threadIdx.x) break; n = k; } if (n > 2) C[threadIdx.x] = A[n];",
    "C[threadIdx.x] = threadIdx.x < 3 ? A[threadIdx.x] : 0.0f;",
    "int n = 0; if (threadIdx.x < 5) n = 3; if (n == 3) C[threadIdx.x] = A[0];",
])  # fmt: skip
def test_conditions_that_may_differ_are_found(body: str) -> None:
    assert diverging(program_for(kernel_from(body), {}))


def test_a_launch_counts_executions_by_warps_and_those_that_part() -> None:
    for body, parted in ((ODD_EVEN, 2), (BY_WARP, 0)):
        trace = traced(body)
        counter = LaunchCounter(trace.rules)
        stream_launch(trace.setup, counter)
        (each,) = counter.counts.branches.values()
        assert (each.executions, each.parted, each.lanes) == (2, parted, 64)


def test_traced_branches_are_counted_as_those_of_the_launch() -> None:
    trace = trace_of("02_naive", 20, 20, 8)
    counter = LaunchCounter(trace.rules)
    stream_launch(trace.setup, counter)
    launch, steps = counter.counts.branches, count_steps(trace, range(trace.steps)).branches
    assert {site.text: each.parted for site, each in steps.items()} == {
        site.text: each.parted for site, each in launch.items() if each.parted
    }


def test_lanes_wait_for_the_other_way_and_meet_behind_it() -> None:
    trace = traced(ODD_EVEN)
    found = divergence_of(moment_of(trace, 1))
    assert found is not None
    assert (found.step, found.meets) == (0, None)
    assert [way.lanes.sum() for way in found.ways] == [16, 16]
    assert [way.steps.tolist() for way in found.ways] == [[1, 2], [3, 4]]
    assert waiting_in_block(moment_of(trace, 1)).tolist() == [NOT_WAITING, 0] * 32
    assert waiting_in_block(moment_of(trace, 3)).tolist() == [0, NOT_WAITING] * 32


def test_lanes_that_met_again_no_longer_wait() -> None:
    trace = traced(ODD_EVEN + " C[t] = 1.0f;")
    last = moment_of(trace, trace.steps - 1)
    assert (waiting_in_block(last) == NOT_WAITING).all()
    assert divergence_of(last) is None
    found = divergence_of(moment_of(trace, 0))
    assert found is not None
    assert found.meets == trace.steps - 1


def test_lanes_that_returned_are_told_by_the_branch_at_which_they_did() -> None:
    trace = traced("int t = threadIdx.x; if (t > 5) return; C[t] = A[t];")
    waits = waiting_in_block(moment_of(trace, 1))
    assert waits[:6].tolist() == [NOT_WAITING] * 6
    assert (waits[6:32] == 0).all()
    assert (waits[32:] == NOT_WAITING).all()  # the second warp left as a whole


def test_each_trip_of_a_triangular_loop_parts_its_warp() -> None:
    trace = traced("float s = 0; for (int k = 0; k < threadIdx.x; ++k) s += A[k]; C[threadIdx.x] = s;", block=8)
    parted = branches(trace)
    assert [int((trace.element[trace.row[step]] == 0).sum()) for step in parted] == [1] * 7
    assert trace.visits[parted, 0].tolist() == list(range(7))


def test_a_branch_view_tells_both_ways() -> None:
    said = " ".join(each[1] for each in texts_of(view_named("branch").scene(moment_of(traced(ODD_EVEN), 1), ViewOptions())))
    assert "16 + 16 lanes" in said
    assert "2 + 2 = 4 requests, 8 + 8 = 16 sectors" in said
    none = " ".join(each[1] for each in texts_of(view_named("branch").scene(moment_of(traced(BY_WARP), 0), ViewOptions())))
    assert "No lanes of a warp part in this run" in none


@pytest.mark.parametrize(("body", "answer"), [
    (ODD_EVEN, "t % 2 == 0: lanes part in 2 of 2 executions by a warp"),
    (BY_WARP, "t / 32 % 2 == 0: lanes part in 0 of 2 executions by a warp"),
    ("if (M > 4) C[threadIdx.x] = A[0];", "M > 4 is the same for all threads of a block: no lanes part there"),
])  # fmt: skip
def test_a_click_on_a_branch_is_answered(body: str, answer: str) -> None:
    setup = traced(body).setup
    counter = LaunchCounter(device_for(setup).rules)
    stream_launch(setup, counter)
    column = 1 + body.index("if")
    facts = LaunchFacts(setup, counter.counts)
    found, _, as_compiled = branch_answer(facts, 10, column).partition(". ")
    assert (found, as_compiled.startswith("As written")) == (answer, "lanes part" in answer and "no lanes" not in answer)
    assert branch_answer(facts, 10, body.index("C[") + 1) == ""
    if body is ODD_EVEN:
        assert branch_answer(LaunchFacts(setup), 10, column) == "t % 2 == 0: the launch is being counted"


def test_divergence_is_a_cause_of_the_time() -> None:
    for body, kinds in ((ODD_EVEN, True), (BY_WARP, False), ("if (threadIdx.x < 5) C[threadIdx.x] = A[0];", False)):
        setup = traced(body).setup
        counter = LaunchCounter(device_for(setup).rules)
        stream_launch(setup, counter)
        found = [
            each
            for each in causes_of(Launched(counter.counts, limits_of(setup), setup.problem, 1))
            if each.kind == "divergence"
        ]
        assert bool(found) == kinds
        if found:
            assert found[0].proof == "8 requests on both ways, 4 if no lanes parted"


# What an H200 counted (tests/data/h200-divergence.json). As compiled, some launches differ from what is written:

AS_COMPILED = {
    "chosen": "loads that all ways have are moved in front of the branch",
    "nested": "loads that all ways have are moved in front of the branch",
    "split_k": "loads that both ways have are moved in front of the branch, which is predicated",
    "staggered": "loops are unrolled, and the rests have loads of their own",
    "reduction_tree": "accesses of lanes that are predicated off are executed",
    "strided_reduction": "accesses of lanes that are predicated off are executed",
    "04_tiled": "reads of neighbouring elements are merged",
}


JUMPS = """
\t//## File "/home/user/kernel.cu", line 4
        /*0060*/                   BSSY B0, `(.L_x_3) ;
        /*0070*/              @!P0 BRA `(.L_x_1) ;
\t//## File "/home/user/kernel.cu", line 9 inlined at "/home/user/kernel.cu", line 6
\t//## File "/home/user/kernel.cu", line 6
        /*0080*/               @P1 EXIT ;
\t//## File "/home/user/kernel.cu", line 4
        /*0090*/               @P2 EXIT ;
\t//## File "/usr/include/other.h", line 7
        /*00a0*/              @!P0 BRA `(.L_x_1) ;
\t//## File "/home/user/kernel.cu", line 8
        /*00b0*/                   BRA `(.L_x_2) ;
        /*00c0*/               @P0 FADD R0, R0, R1 ;
        /*00d0*/                   BSYNC B0 ;
.L_x_3:
        /*00e0*/              @!P0 BRA `(.L_x_4) ;
"""


def test_jumps_of_a_listing_belong_to_lines_of_the_file() -> None:
    assert jumps_in(JUMPS, "kernel.cu") == ((4,), (9,))


def test_a_branch_is_told_as_it_is_compiled() -> None:
    guard, odd = Place(25, 9, 25, 31), load_kernel("odd_even")
    code = MachineCode("nvcc 13.0, sm_90", exits=(25,))
    assert "no jump: lanes end here" in compiled_branch(code, guard)
    assert "conditional jump" in compiled_branch(structs.replace(code, jumps=(25,)), guard)
    assert "lanes are predicated" in compiled_branch(MachineCode("nvcc 13.0, sm_90", (24,)), guard)
    assert compiled_branch(None, guard).startswith("As written")
    setup = setup_for(odd)
    found = recorded_machine_code(setup, device_for(setup))
    assert found is not None
    assert found.source.startswith("nvcc")
    assert recorded_machine_code(traced(ODD_EVEN).setup, device_for(setup)) is None


# Launches of less than so much work, every so many of them.
_OF_WORK = pytest.mark.parametrize(("work", "every"), [(1 << 13, 2), pytest.param(1 << 20, 1, marks=pytest.mark.nightly)])


@_OF_WORK
def test_recorded_jumps_agree_with_what_the_hardware_counts(work: int, every: int) -> None:
    """Where warps part at a jump, the hardware counts divergent targets, and elsewhere none."""
    compared = set()
    for setup, hardware, counts in recorded(work, every):
        code = recorded_machine_code(setup, device_for(setup))
        if code is None:
            continue
        places = [site.place for site, each in counts.branches.items() if each.parted]
        at_jumps = any(code.on_lines(range(each.line, each.end_line + 1)).jumps for each in places)
        compared.add(setup.kernel.name)
        assert at_jumps == bool(hardware["divergent_targets"]), setup
    assert len(compared) >= 6


@cache
def recorded(work: int, every: int) -> list[tuple[Setup, Mapping[str, int], LaunchCounts]]:
    """Some launches, and what the hardware and we count of them."""
    rows = read_json(DATA / "h200-divergence.json", RecordedCounters).rows
    setups = [each for each in parting_setups() if math.prod(each.problem.sizes.values()) < work][::every]
    return [(each, sure(row_of(each, rows)).counters, counted(each)) for each in setups]


def counted(setup: Setup) -> LaunchCounts:
    counter = LaunchCounter(device_for(setup).rules, passes=profiled_wavefronts)
    stream_launch(setup, counter)
    return counter.counts


@_OF_WORK
def test_launches_whose_warps_part_are_counted_as_the_hardware_does(work: int, every: int) -> None:
    assert len({setup.kernel.name for setup, _, _ in recorded(work, every)}) >= 10
    for setup, hardware, counts in recorded(work, every):
        ours = {name: value for name, value in totals(counts).items() if name in hardware}
        if setup.kernel.name not in AS_COMPILED:
            assert ours == {name: hardware[name] for name in ours}, setup
        assert counts.total().lanes <= hardware["memory_thread_instructions_on"] or setup.kernel.name == "04_tiled"


@_OF_WORK
def test_branches_of_two_ways_part_as_often_as_on_the_hardware(work: int, every: int) -> None:
    """A guard or an early return becomes a predicate, which the hardware doesn't count as a branch."""
    for setup, hardware, counts in recorded(work, every):
        if setup.kernel.name in AS_COMPILED:
            continue
        both = sum(each.parted for site, each in counts.branches.items() if len(site.arms) == 2)
        assert both == hardware["divergent_targets"], setup


def test_two_launches_of_which_one_has_branches_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "02_naive", "05_tiled_unguarded", "-m", "16", "-n", "16", "-k", "8"]) == 0

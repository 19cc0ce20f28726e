"""Variables of a followed thread: what a debugger would show."""

import re
from typing import Any

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import BlockRange, Triple
from gemmviz.model.trace import Trace, Watched
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.cpu.interpreter import watch_thread
from gemmviz.run.engine import Recording
from tests.conftest import kernel_from, sampled, sure


def watched(setup: Setup, block: Triple, thread: Triple) -> tuple[Watched, Trace]:
    trace = trace_kernel(setup, None, Recording(values=True)).whole
    return watch_thread(setup, block, thread), trace


def test_variables_of_a_tiled_thread() -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(8, 8, 8), {"TILE_WIDTH": 4})
    told, trace = watched(setup, (1, 0, 0), (2, 3, 0))
    assert len(told.rows) == trace.steps
    total, products = 0.0, []
    lane = trace.space.number((1, 0, 0), (2, 3, 0))
    for step in range(trace.steps):
        values = dict(told.at(step, trace.site_of(step)))
        assert (values["x"], values["y"], values["row"], values["col"]) == (2, 3, 3, 6)
        if trace.site_of(step).text.startswith("tile") and trace.site_of(step).kind == "load":
            products.append(float(sure(trace.value)[step, lane]))
            if len(products) == 2:
                total += products[0] * products[1]
                products = []
                assert told.after(step, trace.site_of(step))["sum"] == pytest.approx(total, rel=1e-5)
                assert values["k"] in range(4)
            else:
                assert values["sum"] == pytest.approx(total, rel=1e-5)  # the step doesn't show its own result
        if trace.site_of(step).text.startswith("A["):
            assert "k" not in values  # the inner loop's, not to be seen here
            assert values["k0"] == 4 * trace.phase[step]


def test_arrays_vectors_pointers_and_what_has_no_value_yet() -> None:
    body = """float own[2]; const float* p = A + threadIdx.x; float late; float4 v = make_float4(1.0f, 2.0f, 3.0f, threadIdx.x);
    if (threadIdx.x == 1) late = 5.0f;
    own[0] = *p;
    C[threadIdx.x] = own[0] + v.w;"""
    spec = kernel_from(body)
    one, trace = watched(setup_for(spec), (0, 0, 0), (1, 0, 0))
    last = dict(one.at(trace.steps - 1, trace.sites[-1]))
    assert last["v"] == (1.0, 2.0, 3.0, 1.0)
    assert last["p"] == "A + 1"
    assert last["late"] == 5.0
    assert last["own"] == (pytest.approx(float(sure(trace.value)[1, 1])), None)
    other, _ = watched(setup_for(spec), (0, 0, 0), (2, 0, 0))
    assert dict(other.at(trace.steps - 1, trace.sites[-1]))["late"] is None


def test_a_thread_that_has_returned_keeps_what_it_had() -> None:
    setup = setup_for(load_kernel("03_coalesced"), Problem(3, 3, 4), {"BLOCK": 4})
    told, trace = watched(setup, (0, 0, 0), (3, 3, 0))
    assert all(dict(told.at(step, trace.site_of(step))).get("sum") is None for step in range(trace.steps))
    inside, _ = watched(setup, (0, 0, 0), (2, 2, 0))
    assert dict(inside.at(trace.steps - 1, trace.sites[-1]))["sum"] == pytest.approx(float(sure(trace.value)[-1, 10]))


@pytest.mark.parametrize(
    ("body", "last"),
    [
        ("int n = 0; for (int i = 0; i < 6; ++i) { n += 3; C[n * 4 + i + threadIdx.x] = A[i]; } C[0] = n;", {"n": 15, "i": 4}),
        ("int n = threadIdx.x; C[n] = 1.0f; n += 4; if (threadIdx.x < 2) __syncthreads(); C[n] = 2.0f;", {"n": 5}),
        ("for (int i = 0; ; ++i) C[threadIdx.x] = i;", {"i": 99}),
        ("int n = threadIdx.x; C[n] = 1.0f; n *= 7; C[n] = 2.0f; assert(threadIdx.x < 3); C[n] = n;", {"n": 7}),
    ],
    ids=["fault", "barrier", "endless", "assertion"],
)
def test_a_run_that_ends_early_shows_variables_up_to_its_last_step(
    body: str, last: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemmviz.run.cpu.simt.interpret.step_budget", lambda depth: 200)
    setup = setup_for(kernel_from(body))
    trace = sure(trace_kernel(setup).trace)
    assert trace.stop is not None
    told = watch_thread(setup, (0, 0, 0), (1, 0, 0))
    assert len(told.rows) == trace.steps
    assert dict(told.at(trace.steps - 1, trace.site_of(trace.steps - 1))) == last


def test_some_phases_show_what_the_variables_hold_there() -> None:
    spec = load_kernel("04_tiled")
    setup = setup_for(spec, Problem(8, 8, 16), {"TILE_WIDTH": 4})
    whole = watch_thread(setup, (0, 0, 0), (1, 2, 0))
    some = watch_thread(structs.replace(setup, phases="2-3"), (0, 0, 0), (1, 2, 0))
    trace = trace_kernel(setup, BlockRange((0, 1), (0, 1))).whole
    kept = [step for step in range(trace.steps) if trace.phase[step] in (1, 2, 4)]
    assert some.rows == tuple(whole.rows[step] for step in kept)
    assert [some.during(step) for step in range(len(kept))] == [whole.during(step) for step in kept]


@pytest.mark.parametrize("name", sampled([name for name in kernel_names() if name < "13"]))
def test_the_index_of_each_access_follows_from_the_variables_that_are_shown(name: str) -> None:
    setup = setup_for(load_kernel(name))
    block, blocks = (0, 0, 0), BlockRange((0, 1), (0, 1))
    trace = trace_kernel(setup, blocks).whole
    thread = (3, 1, 0)
    told, lane = watch_thread(setup, block, thread), trace.space.number(block, thread)
    sizes = {"M": setup.problem.M, "N": setup.problem.N, "K": setup.problem.K, **setup.kernel.defaults, **setup.parameters}
    checked = set()
    for step in range(trace.steps):
        site, element = trace.site_of(step), int(trace.element[trace.row[step], lane]) if trace.site_of(step).operands else -1
        if element >= 0:
            array = trace.arrays[site.operands[0].array]
            known = {**sizes, **dict(told.at(step, site))}
            assert element == _element(site.text, array, known), (step, site.text, known)
            checked.add(site.place)
    assert len(checked) == len({site.place for site in trace.sites if site.operands})


def _element(text: str, array: MemoryArray, known: dict[str, Any]) -> int:
    """The element that an access names, by the values of the variables: its indices are the brackets after its array."""
    end = re.search(rf"(?<![\w]){array.name}(?=\[)", text)
    assert end is not None, text
    indices, depth, start = [], 0, end.end()
    for at in range(end.end(), len(text)):
        if text[at] == "[":
            depth, start = depth + 1, at + 1 if not depth else start
        elif text[at] == "]":
            depth -= 1
            if not depth:
                indices.append(eval(text[start:at].replace("/", "//"), {}, known))
                if text[at + 1 : at + 2] != "[":
                    break
    element = 0
    for index, extent in zip(indices, array.shape[-len(indices) :], strict=True):
        element = element * extent + index
    return element


def test_vectors_of_two_are_values_and_no_pointers() -> None:
    spec = kernel_from("int2 q = make_int2(threadIdx.x, 5); float2 p = make_float2(q.x, 0.5f); C[threadIdx.x] = p.x + q.y;")
    told, trace = watched(setup_for(spec, Problem(2, 2, 2)), (0, 0, 0), (2, 0, 0))
    assert dict(told.at(trace.steps - 1, trace.site_of(trace.steps - 1))) == {"q": (2, 5), "p": (2.0, 0.5)}

"""Variables of a followed thread: what a debugger would show."""

import pytest

from gemmviz.files.devices import load_device
from gemmviz.model.kernel import Settings
from gemmviz.model.lanes import Window
from gemmviz.model.problem import Problem
from gemmviz.run.executor import trace_kernel
from gemmviz.run.watch import Watched, watch_thread
from gemmviz.spec.catalog import load_kernel
from tests.conftest import kernel_from


def watched(spec, settings, block, thread) -> tuple[Watched, object]:
    trace = trace_kernel(spec, settings, values=True)
    return watch_thread(spec, settings, load_device(), block, thread), trace


def test_variables_of_a_tiled_thread() -> None:
    settings = Settings(Problem(8, 8, 8), {"TILE_WIDTH": 4})
    told, trace = watched(load_kernel("04_tiled"), settings, (1, 0, 0), (2, 3, 0))
    assert len(told.rows) == trace.steps
    total, products = 0.0, []
    lane = trace.space.lane((1, 0, 0), (2, 3, 0))
    for step in range(trace.steps):
        values = dict(told.at(step, trace.site_of(step)))
        assert (values["x"], values["y"], values["row"], values["col"]) == (2, 3, 3, 6)
        if trace.site_of(step).text.startswith("tile") and trace.site_of(step).kind == "load":
            products.append(float(trace.value[step, lane]))
            if len(products) == 2:
                total += products[0] * products[1]
                products = []
                assert values["sum"] == pytest.approx(total, rel=1e-5)
                assert values["k"] in range(5)
        if trace.site_of(step).text.startswith("A["):
            assert "k" not in values  # the inner loop's, not to be seen here
            assert values["k0"] == 4 * trace.phase[step]


def test_arrays_vectors_pointers_and_what_has_no_value_yet() -> None:
    body = """float own[2]; const float* p = A + threadIdx.x; float late; float4 v = make_float4(1.0f, 2.0f, 3.0f, threadIdx.x);
    if (threadIdx.x == 1) late = 5.0f;
    own[0] = *p;
    C[threadIdx.x] = own[0] + v.w;"""
    spec = kernel_from(body)
    settings = Settings(spec.problem, {})
    one, trace = watched(spec, settings, (0, 0, 0), (1, 0, 0))
    last = dict(one.at(trace.steps - 1, trace.sites[-1]))
    assert last["v"] == (1.0, 2.0, 3.0, 1.0)
    assert last["p"] == "A + 1"
    assert last["late"] == 5.0
    assert last["own"] == (pytest.approx(float(trace.value[0, 1])), None)
    other, _ = watched(spec, settings, (0, 0, 0), (2, 0, 0))
    assert dict(other.at(trace.steps - 1, trace.sites[-1]))["late"] is None


def test_a_thread_that_has_returned_keeps_what_it_had() -> None:
    spec = load_kernel("03_coalesced")
    told, trace = watched(spec, Settings(Problem(3, 3, 4), {"BLOCK": 4}), (0, 0, 0), (3, 3, 0))
    assert all(dict(told.at(step, trace.site_of(step))).get("sum") is None for step in range(trace.steps))
    inside, _ = watched(spec, Settings(Problem(3, 3, 4), {"BLOCK": 4}), (0, 0, 0), (2, 2, 0))
    assert dict(inside.at(trace.steps - 1, trace.sites[-1]))["sum"] == pytest.approx(float(trace.value[-1, 10]))


def test_some_phases_show_what_the_variables_hold_there() -> None:
    spec = load_kernel("04_tiled")
    settings = Settings(Problem(8, 8, 16), {"TILE_WIDTH": 4})
    whole = watch_thread(spec, settings, load_device(), (0, 0, 0), (1, 2, 0))
    some = watch_thread(spec, settings, load_device(), (0, 0, 0), (1, 2, 0), (1, 3))
    trace = trace_kernel(spec, settings, Window((0, 1), (0, 1)))
    kept = [step for step in range(trace.steps) if trace.phase[step] in (1, 2, 4)]
    assert some.rows == tuple(whole.rows[step] for step in kept)

"""On a machine with an NVIDIA GPU: what the twin, the real kernel and the probe make of files in every style."""

import contextlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.cuda.launch.catalog import load_kernel, pattern_kernel_names
from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.cuda.launch.legality import can_run, device_for, launch_for, legal_choices, setup_for
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.executor import stream_launch, trace_kernel
from gemmviz.run.engine import Recording
from gemmviz.run.loader import open_kernel
from gemmviz.run.worker.remote import RemoteGpu
from tests.conftest import DATA, sure
from tests.corpus.test_habits import HABITS, expected_kernels
from tests.corpus.test_tensor import NAMES as TENSOR_NAMES
from tests.corpus.test_tensor import TENSOR
from tests.problem_kernels import OF_TESTS, problem_kernel

pytestmark = pytest.mark.gpu
STYLES = sorted((DATA / "kernels" / "styles").glob("*.cu"))
GIVEN = {  # where sizes are multiples of a constant in the host code
    "pipeline_memcpy": GivenLaunch(args=("C", "A", "B", "K", "N"), block=("16", "16"), grid=("N / 16", "M / 16"))
}
OPENERS: dict[str, Callable[[], KernelSpec]] = {
    **{f"style-{path.stem}": partial(open_kernel, str(path), GIVEN.get(path.stem, GivenLaunch())) for path in STYLES},
    **{f"pattern-{name}": partial(load_kernel, name) for name in pattern_kernel_names()},
    **{f"problem-{name}": partial(problem_kernel, name) for name in OF_TESTS},
    **{
        f"habit-{each.file}-{each.name}": partial(open_kernel, str(HABITS / each.file), GivenLaunch(entry=each.name))
        for each in expected_kernels()
    },
    **{f"tensor-{name}": partial(open_kernel, str(TENSOR / f"{name}.cu")) for name in TENSOR_NAMES},
}
INEXACT = ("tensor-gelu_bf16", "tensor-sample_gemm")  # a GPU approximates tanh, and fuses a product and a sum
NOT_COMPILED = ("tensor-torch_extension",)  # needs headers of PyTorch
WIDE = ("style-bulk_copies", "style-roles_bulk")  # bulk copies are counted by the interpreter alone
ODD, EVEN = {"M": 33, "N": 17, "K": 9}, {"M": 32, "N": 64, "K": 128}


@pytest.fixture(scope="module")
def gpu() -> Iterator[RemoteGpu]:
    with contextlib.closing(RemoteGpu(timeout_s=5.0)) as remote:
        yield remote


@cache
def runs_of(name: str) -> tuple[tuple[Setup, Trace], ...]:
    """Small setups of a kernel and their traces by the interpreter: sizes that tiles don't divide, and sizes that they do."""
    try:
        kernel = OPENERS[name]()
    except GemmvizError as error:
        pytest.skip(f"doesn't open: {error}")
    own, problem = setup_for(kernel), kernel.problem
    odd = ODD if problem.is_multiply else {each: size - 1 for each, size in problem.sizes.items() if each != "radius"}
    runs: list[tuple[Setup, Trace]] = []
    even = (EVEN, dict.fromkeys("MNK", 64)) if problem.is_multiply else ()
    for sizes in (odd, *even, {}):
        with contextlib.suppress(GemmvizError):
            setup = own.changed(**sizes)
            if can_run(setup) and not any(setup == each for each, _ in runs):
                runs.append((setup, trace_kernel(setup, recording=Recording(values=True)).whole))
        if len(runs) == 2:
            break
    return tuple(runs) or pytest.skip("no small launch of it runs in the interpreter")


@pytest.mark.parametrize("name", OPENERS)
def test_every_step_thread_address_and_value(gpu: RemoteGpu, name: str) -> None:
    for setup, want in runs_of(name):
        got = gpu.trace(setup, recording=Recording(values=True)).whole
        assert got.sites == want.sites, setup.problem
        for field in ("site", "visits", "epoch", "completes", "element", "origin_step", "origin_array", "origin"):
            np.testing.assert_array_equal(getattr(got, field), getattr(want, field), err_msg=f"{field}, {setup.problem}")
        assert (got.check.passed, got.check.compared) == (want.check.passed, want.check.compared), setup.problem
        if not _is_atomic(want):
            active = got.element >= 0
            values, expected = sure(got.value)[active], sure(want.value)[active]
            if name.startswith("tensor-") and name not in INEXACT:
                np.testing.assert_array_equal(values, expected, err_msg=str(setup.problem))
            np.testing.assert_allclose(values, expected, rtol=5e-3, atol=1e-3, err_msg=str(setup.problem))


@pytest.mark.parametrize("name", OPENERS)
def test_the_real_kernel_computes_what_its_twin_does(name: str) -> None:
    from gemmviz.run.cuda.discovery import open_runner

    if name in NOT_COMPILED:
        pytest.skip("it needs headers that aren't there")
    runner = open_runner()
    for setup, want in runs_of(name):
        outputs = setup.problem.output_names

        def both(work: Any, outputs: Any = outputs) -> Any:
            runner.trace(work, None, Recording(limit_bytes=1 << 30), timeout_s=10.0)
            twin = [work.matrix(each).get() for each in outputs]
            work.reset_outputs()
            runner.launch_real(work, 1)
            return twin, [work.matrix(each).get() for each in outputs]

        for twin, real in zip(*runner.use(setup, both), strict=True):
            if _is_atomic(want) or setup.problem.factors.get("beta"):  # a compiler fuses one product of two, or the other
                np.testing.assert_allclose(twin, real, rtol=1e-4, atol=1e-4)
            else:
                np.testing.assert_array_equal(twin.view(np.uint8), real.view(np.uint8))


@pytest.mark.parametrize("name", OPENERS)
def test_counts_of_whole_launches(gpu: RemoteGpu, name: str) -> None:
    for setup, _ in runs_of(name):
        ours, theirs = (LaunchCounter(device_for(setup).rules) for _ in range(2))
        stream_launch(setup, ours)
        if name in WIDE:
            with pytest.raises(GemmvizError, match="wide are not counted on the GPU"):
                gpu.count(setup, theirs)
            continue
        gpu.count(setup, theirs)
        assert theirs.counts.accesses == ours.counts.accesses, setup.problem
        assert theirs.counts.phases == ours.counts.phases, setup.problem


@pytest.mark.parametrize("name", OPENERS)
def test_the_real_kernel_is_checked_and_its_blocks_are_watched(gpu: RemoteGpu, name: str) -> None:
    if name in NOT_COMPILED:
        pytest.skip("it needs headers that aren't there")
    for setup, want in runs_of(name):
        timed = gpu.time_kernel(setup)
        assert sure(timed.check).passed == want.check.passed, setup.problem
        if "in_header" in name:
            with pytest.raises(GemmvizError, match="where no probe can be inserted"):
                gpu.schedule(setup)
        else:
            assert gpu.schedule(setup).blocks == launch_for(setup).block_count


@pytest.mark.parametrize("name", pattern_kernel_names())
def test_each_choice_of_parameters(gpu: RemoteGpu, name: str) -> None:
    kernel = load_kernel(name)
    for setup in legal_choices(kernel, kernel.problem):
        if launch_for(setup).threads_per_block <= 256:
            got, want = gpu.trace(setup).whole, trace_kernel(setup).whole
            np.testing.assert_array_equal(got.element, want.element, err_msg=str(setup.parameters))


def _is_atomic(trace: Trace) -> bool:
    """Whether the order of threads can change the result's last bits."""
    return any(site.is_atomic for site in trace.sites)

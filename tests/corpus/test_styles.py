"""Files in many styles open as they stand, run right without hazards, and their twins compile."""

from functools import cache
from pathlib import Path

import pytest

from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.kernel import KernelSpec
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.loader import open_kernel
from tests.conftest import sampled
from tests.nvrtc import cuda_include, nvrtc
from tests.run.test_twin_compiles import compile_twin

STYLES = Path(__file__).parents[1] / "data" / "kernels" / "styles"
GIVEN = {  # launches that name one number for several sizes
    "pipeline_memcpy": GivenLaunch(
        args=("C", "A", "B", "K", "N"), block=("16", "16"), grid=("N / 16", "M / 16"), column_major=frozenset()
    )
}
NAMES = sorted(path.stem for path in STYLES.glob("*.cu"))


@cache
def opened(name: str) -> KernelSpec:
    return open_kernel(str(STYLES / f"{name}.cu"), GIVEN.get(name, GivenLaunch()))


@pytest.mark.parametrize("name", sampled(NAMES, 8))
def test_the_result_is_right_without_hazards(name: str) -> None:
    trace = trace_kernel(setup_for(opened(name))).whole
    assert trace.check.is_checked
    assert trace.check.compared > 0
    assert trace.check.passed, str(trace.check)
    assert trace.check.unwritten == 0
    assert not ordering_of(trace).hazards


@pytest.mark.skipif(nvrtc() is None or cuda_include() is None, reason="needs the wheels of NVRTC and of CUDA's headers")
@pytest.mark.parametrize("name", sampled(NAMES, 14))
def test_the_twin_compiles(name: str) -> None:
    assert compile_twin(setup_for(opened(name)))

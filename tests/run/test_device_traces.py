"""What an H200 recorded is what the interpreter makes of the same source: every step, lane, address and value."""

from pathlib import Path

import numpy as np
import pytest

from gemmviz.cuda.launch.catalog import kernel_names, pattern_kernel_names
from gemmviz.files.trace_file import read_trace
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.engine import Recording
from tests.conftest import DATA, sampled, sure

RECORDED = sorted((DATA / "device").glob("*.gvt"))


@pytest.mark.parametrize("path", sampled(RECORDED, 5), ids=lambda path: path.stem)
def test_the_device_recorded_what_the_interpreter_does(path: Path) -> None:
    found = read_trace(path)
    assert found.by.startswith("NVIDIA H200, driver")
    assert found.check.passed
    want = trace_kernel(found.setup, found.blocks, Recording(values=True)).whole
    assert found.sites == want.sites
    np.testing.assert_array_equal(found.origin, want.origin)
    for name in ("site", "visits", "epoch", "element", "origin_step", "origin_array"):
        np.testing.assert_array_equal(getattr(found, name), getattr(want, name), err_msg=name)
    active = want.element >= 0
    np.testing.assert_allclose(sure(found.value)[active], sure(want.value)[active], rtol=1e-4, atol=1e-6)


def test_they_are_of_kernels_that_there_are() -> None:
    assert RECORDED
    assert {path.stem for path in RECORDED} <= {*kernel_names(), *pattern_kernel_names(), "some-blocks-and-phases"}

"""What an H200 recorded is what the interpreter makes of the same source: every step, lane, address and value."""

from pathlib import Path

import numpy as np
import pytest

from gemmviz.files.trace_file import read_trace
from gemmviz.run.executor import trace_kernel
from gemmviz.spec.catalog import kernel_names
from gemmviz.spec.header import parse_kernel
from tests.conftest import DATA

RECORDED = sorted((DATA / "device").glob("*.gvt"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_the_device_recorded_what_the_interpreter_does(path: Path) -> None:
    found = read_trace(path)
    assert found.executor.startswith("NVIDIA H200, driver")
    assert found.check.passed
    want = trace_kernel(parse_kernel(found.source, found.file), found.settings, found.window, phases=found.phases, values=True)
    assert found.sites == want.sites
    for name in ("site", "visits", "epoch", "element", "origin_step", "origin_array", "origin"):
        np.testing.assert_array_equal(getattr(found, name), getattr(want, name), err_msg=name)
    active = want.element >= 0
    np.testing.assert_allclose(found.value[active], want.value[active], rtol=1e-4, atol=1e-6)


def test_there_is_one_of_every_kernel() -> None:
    assert {path.stem for path in RECORDED} == {*kernel_names(), "some-blocks-and-phases"}

"""Outputs that hold NaN before the run: only a kernel that reads them gives a NaN on."""

import pytest
from msgspec import structs

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import SettingError
from gemmviz.model.setup import Filling
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Recording
from gemmviz.scenes.stage.cells import matrix_values, value_texts
from tests.conftest import sure


def reader(kernel: str, filling: Filling) -> Reader:
    setup = structs.replace(setup_for(load_kernel(kernel)), filling=filling)
    return Reader(Replay.of(sure(Interpreter().trace(setup, None, Recording(values=True)).trace)))


def texts(reader: Reader, step: int) -> list[str]:
    values = matrix_values(reader.at(step), sure(reader.replay.trace.number_of("C")))
    return sorted(set(sure(value_texts(sure(values), 60.0, 20.0)).tolist()))


@pytest.mark.parametrize(("kernel", "wrong"), [("reads_c", 16), ("one_element", 0)])
def test_a_nan_reaches_the_result_of_a_kernel_that_reads_it(kernel: str, wrong: int) -> None:
    assert reader(kernel, Filling()).replay.trace.check.wrong == 0
    assert reader(kernel, Filling(old_outputs="nan")).replay.trace.check.wrong == wrong


def test_a_nan_is_shown_once_it_was_read() -> None:
    one = reader("reads_c", Filling(old_outputs="nan"))
    assert texts(one, 7) == [""]  # nobody has read C yet
    assert texts(one, one.replay.steps - 1) == ["NaN"]
    zeros = reader("reads_c", Filling())
    assert texts(zeros, 8) == ["0"]


def test_a_reduction_that_stores_whole_sums_needs_no_zeros() -> None:
    assert reader("reduction_tree", Filling(old_outputs="nan")).replay.trace.check.wrong == 0


def test_other_contents_are_refused() -> None:
    with pytest.raises(SettingError, match="outputs can't be filled"):
        Filling(old_outputs="ones")  # type: ignore[arg-type]

"""Recorded times of the kernels for other problems."""

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.run.stored import RecordedTimes


def test_a_pattern_has_times_and_no_share_of_cublas() -> None:
    setup = setup_for(load_kernel("transpose_tiled")).changed(rows=1024, columns=1024)
    speed = RecordedTimes().time(setup)
    assert speed.measured.timing is not None
    assert speed.measured.timing.median_ms > 0
    assert speed.share_of_cublas is None

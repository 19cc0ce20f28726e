"""The nesting of block, warp and thread: its tables are as large as what each of them stores of C."""

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment
from gemmviz.files.languages import catalogue
from gemmviz.model.messages import spoken
from gemmviz.scenes.kit.primitives import Cells, Labels
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.tiles_view import nesting_motion, nesting_scene
from tests.conftest import moment_of, trace_of

THREAD = 37


def watched(kernel: str, focus: Focus) -> Moment:
    return moment_of(trace_of(kernel, 128, 128, 8, TILE_WIDTH=64, PER_THREAD=4), 0, focus)


def tables(moment: Moment, share: float = 1.0) -> list[Cells]:
    return [each for each in nesting_motion(moment, ViewOptions(moment=share)) if isinstance(each, Cells)]


@pytest.mark.parametrize(("kernel", "part"), [("10_warp_tiled", (32, 16)), ("09_vectorised", (8, 64))])
def test_tables_are_as_large_as_what_each_stores(kernel: str, part: tuple[int, int]) -> None:
    moment = watched(kernel, Focus((1, 0, 0), None, THREAD))
    whole, block, warp, thread = tables(moment)
    assert [each.fill.shape for each in (whole, block, warp, thread)] == [(128, 128), (64, 64), part, (4, 4)]
    elements, threads = moment.replay.owners.of(moment.scope.of_block)
    rows, columns = np.divmod(elements, 128)
    expected = np.zeros((128, 128), np.uint8)
    expected[rows, columns] = 1
    assert (whole.fill == expected).all()
    assert (block.fill[rows - rows.min(), columns - columns.min()] == threads // 32).all()
    names = [
        each.texts[0] for each in nesting_scene(moment, ViewOptions()).all if isinstance(each, Labels) and "name" in each.key
    ]
    assert names == ["C: 128 × 128", "block (1, 0): 64 × 64", f"warp 1: {part[0]} × {part[1]}", f"thread {THREAD}: 4 × 4"]


def test_tables_come_one_after_the_other() -> None:
    moment = watched("10_warp_tiled", Focus((0, 0, 0)))
    assert [len(tables(moment, share)) for share in (0.0, 0.6, 0.9, 1.0)] == [2, 3, 4, 4]


def test_names_that_are_wider_than_their_tables_are_written_in_full() -> None:
    moment = watched("09_vectorised", Focus((1, 0, 0), None, THREAD))
    with spoken("zh_CN", catalogue("zh_CN")):
        drawn = nesting_scene(moment, ViewOptions(width=1100, height=900)).all
    assert "线程块 (1, 0): 64 × 64" in [each.texts[0] for each in drawn if isinstance(each, Labels)]

"""The sum of a thread: its terms are those of the trace, and nothing is shown before it has arrived."""

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.interpreter import watch_thread
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, text_width
from gemmviz.scenes.kit.theme import TypeSizes
from gemmviz.scenes.kit.view import ARRIVAL, ViewOptions
from gemmviz.scenes.stage.running_sum import running_sum
from tests.conftest import sure, trace_of

ROOM = Box(40.0, 278.0, 381.0, 253.0)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_of("04_tiled", 8, 8, 8, values=True, TILE_WIDTH=4)


def drawn(reader: Reader, step: int, moment: float = 1.0, room: Box = ROOM) -> dict[str, Primitive]:
    return {each.key: each for each in running_sum(reader.at(step), room, ViewOptions(moment=moment))}


def texts(parts: dict[str, Primitive], *keys: str) -> list[str]:
    found = [parts[key] for key in keys if key in parts]
    return [text for each in found if isinstance(each, Labels) for text in each.texts]


def lit(parts: dict[str, Primitive]) -> list[str]:
    return texts(parts, "term-A-2-name", "term-B-2-name")


def test_terms_and_sum_are_those_of_the_trace(trace: Trace) -> None:
    """The sum is computed again here from the inputs of the run."""
    reader = Reader(Replay.of(trace), Focus(thread=6))  # thread (2, 1): C[1, 2]
    row, column = 1, 2
    known: dict[tuple[int, int], float] = {}
    for step in range(trace.steps):
        for touched in reader.at(step).touched:
            if touched.array.space == "global" and touched.array.name in "AB" and trace.value is not None:
                where = trace.element[touched.row]
                values = trace.value[touched.row]
                known |= {(touched.operand.array, int(e)): float(v) for e, v in zip(where, values, strict=True) if e >= 0}
    products = [known[0, row * 8 + k] * known[1, k * 8 + column] for k in range(8)]
    seen = 0
    for step in range(trace.steps):
        parts = drawn(reader, step)
        done = int(texts(parts, "sum-terms")[0].split()[0])
        assert done - seen in (0, 1)
        seen = done
        if done:
            value = float(texts(parts, "sum-value")[0].removeprefix("= "))
            assert value == pytest.approx(sum(products[:done]), rel=0.01, abs=1e-3)
            bar = parts["terms-bar"]
            assert isinstance(bar, Rects)
            assert bar.boxes[0, 2] == pytest.approx(ROOM.width * done / 8)
        else:
            assert "sum-value" not in parts
            assert "terms-bar" not in parts
    assert seen == 8
    assert texts(drawn(reader, 0), "sum-name") == ["C[1, 2]"]  # the sentence says whose sum it is


def test_a_factor_is_in_its_cell_once_it_has_arrived(trace: Trace) -> None:
    reader = Reader(Replay.of(trace))
    assert trace.site_of(5).text == "tileA[y][k]"
    assert lit(drawn(reader, 5, 0.5)) == []
    assert lit(drawn(reader, 5, ARRIVAL)) == ["0,0"]
    assert lit(drawn(reader, 6, 0.5)) == ["0,0"]
    assert texts(drawn(reader, 6, 0.5), "sum-terms") == ["0 of 8 terms"]
    assert lit(drawn(reader, 6)) == ["0,0", "0,0"]
    assert texts(drawn(reader, 6), "sum-terms") == ["1 of 8 terms"]
    assert lit(drawn(reader, 7)) == ["0,1"]
    assert texts(drawn(reader, 7), "term-A-1-name") == ["0,0"]  # done, and dimmer
    assert lit(drawn(reader, 13)) == []  # nothing is read at the barrier


def test_of_many_terms_those_around_the_current_one_are_shown() -> None:
    trace = trace_of("02_naive", 2, 2, 300, BLOCK=2)
    reader = Reader(Replay.of(trace))
    for step in (0, 1, 300, 301, 598, 599):
        parts = drawn(reader, step)
        k = step // 2
        assert f"0,{k}" in lit(parts)
        shown = [each for key, each in parts.items() if key.startswith("term-A") and isinstance(each, Rects)]
        assert sum(len(each.boxes) for each in shown) <= 12
        for each in shown:
            assert (each.boxes[:, 0] >= ROOM.x).all()
            assert (each.boxes[:, 0] + each.boxes[:, 2] <= ROOM.x + ROOM.width).all()
            assert (each.boxes[:, 1] + each.boxes[:, 3] <= ROOM.y + ROOM.height).all()
    assert texts(drawn(reader, 599), "sum-terms") == ["300 of 300 terms"]
    assert "sum-value" not in drawn(reader, 599)  # the trace has no values


def test_registers_hold_what_the_trace_says() -> None:
    trace = trace_of("08_register_tiled", 16, 16, 16, values=True)
    reader = Reader(Replay.of(trace))
    reader.watched = watch_thread(trace.setup, (0, 0, 0), (0, 0, 0))
    names = [site.text for site in trace.sites]
    reads = [s for s in range(trace.steps) if names[int(trace.site[s])].startswith("tileB[k][x")]
    parts = drawn(reader, reads[9], room=Box(0.0, 0.0, 600.0, 500.0))
    tables = [parts[f"register-{name}"] for name in ("a", "b", "sum")]
    a, b, sums = (each for each in tables if isinstance(each, Cells))
    assert (a.fill.shape, b.fill.shape, sums.fill.shape) == ((2, 1), (1, 2), (2, 2))
    assert texts(parts, "register-a-name", "register-b-name") == ["a = A[0…1, 4]", "b = B[4, 0…1]"]
    value = sure(trace.value)[int(trace.row[reads[9]]), 0]
    assert float(sure(b.labels)[0, 1]) == pytest.approx(float(value), rel=0.05)
    assert (sums.fill == 2).all()  # all factors are there: an outer product
    assert texts(parts, "register-terms") == ["5 of 16 terms"]
    assert np.count_nonzero(drawn(reader, reads[9], 0.5)["register-sum"].fill == 2) == 2  # type: ignore[union-attr]


@pytest.mark.parametrize(("wide", "a", "b"), [(600.0, "2,1", "1,14"), (330.0, "2", "14")])
def test_registers_name_the_elements_of_wide_reads(wide: float, a: str, b: str) -> None:
    """Of a float4, a trace has the first value only: the elements are known all the same."""
    trace = trace_of("09_vectorised", 16, 16, 16, values=True)
    reader = Reader(Replay.of(trace), Focus(thread=3))
    step = next(step for step in range(trace.steps) if sure(reader.at(step).thread_terms).k == 1)
    tables = [drawn(reader, step + 1, room=Box(0.0, 0.0, wide, 500.0))[f"register-{name}"] for name in "ab"]
    labels = [sure(table.labels).ravel().tolist() for table in tables if isinstance(table, Cells)]
    assert (labels[0][2], labels[1][2]) == (a, b)


@pytest.mark.parametrize("high", [117.0, 132.0, 192.0, 253.0])
@pytest.mark.parametrize("wide", [300.0, 381.0, 488.0])
def test_words_have_their_least_size_and_stay_in_the_room(trace: Trace, wide: float, high: float) -> None:
    room = Box(40.0, 278.0, wide, high)
    for step in (0, 6, 20, trace.steps - 1):
        for each in drawn(Reader(Replay.of(trace)), step, room=room).values():
            if isinstance(each, Labels):
                assert each.size >= TypeSizes().least
                assert (each.at[:, 1] <= room.y + high).all()
                assert (each.at[:, 1] - 0.7 * each.size >= room.y - 1).all()
            if isinstance(each, Rects):
                assert (each.boxes[:, 0] + each.boxes[:, 2] <= room.x + wide + 1e-6).all()


def test_values_of_the_factors_are_those_that_were_read(trace: Trace) -> None:
    now = Reader(Replay.of(trace)).at(6)
    parts = {each.key: each for each in running_sum(now, ROOM, ViewOptions(values=True))}
    read = [float(sure(trace.value)[int(trace.row[step]), 0]) for step in (5, 6)]
    assert [float(each) for each in lit(parts)] == pytest.approx(read, rel=0.05)
    unknown = Reader(Replay.of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))).at(6)
    assert lit({each.key: each for each in running_sum(unknown, ROOM, ViewOptions(values=True))}) == ["0,0", "0,0"]


def test_the_number_of_terms_is_left_out_where_it_would_run_into_the_sum() -> None:
    reader = Reader(Replay.of(trace_of("04_tiled", 8, 8, 8, values=True, TILE_WIDTH=4)))
    for width in range(120, 400, 20):
        parts = drawn(reader, 12, room=ROOM._replace(width=float(width)))
        value, count = (sure(parts["sum-value"]), parts.get("sum-terms"))
        assert isinstance(value, Labels)
        left = ROOM.x + text_width(value.texts[0], value.size, value.face)
        if isinstance(count, Labels):
            assert ROOM.x + width - text_width(count.texts[0], count.size) >= left
        else:
            assert width < 250


def test_a_picture_is_whole_while_the_terms_become_known(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread computes them: a moment has the terms of the block and of the thread, or neither."""
    reader = Reader(Replay.of(trace))
    moment = reader.at(4)
    with monkeypatch.context() as patch:
        patch.setattr(Replay, "knows_terms", lambda replay, scope: False)
        assert moment.terms is None
    assert moment.thread_terms is None
    assert running_sum(moment, ROOM, ViewOptions()) == []
    assert Reader(reader.replay).at(4).thread_terms is not None

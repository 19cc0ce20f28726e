"""A prepared shot may be drawn from several threads at once."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

from msgspec import structs

from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.shots.export import ExportOptions, Prepared, frame_at, prepare
from gemmviz.shots.shot import default_shot
from tests.conftest import sure

_FRAMES = 60


def drawn(prepared: Prepared, steps: list[int]) -> dict[int, Scene]:
    return {step: frame_at(prepared, step, 0.4, ExportOptions()).scene for step in steps}


def test_two_threads_draw_one_prepared_run() -> None:
    shot = structs.replace(default_shot(), layer="reuse")
    prepared = prepare(shot, lambda kernel: nullcontext(Interpreter()))
    steps = list(range(0, prepared.steps, 4))
    alone = drawn(prepared, steps)
    order = (steps * (_FRAMES // len(steps) + 1))[: _FRAMES // 2]
    with ThreadPoolExecutor(2) as pool:
        wrong = sum(pool.map(lambda numbers: _wrong(prepared, numbers, alone), (order, order[::-1])))
    assert wrong == 0


def _wrong(prepared: Prepared, steps: list[int], alone: dict[int, Scene]) -> int:
    return sum(frame_at(prepared, step, 0.4, ExportOptions()).scene != alone[step] for step in steps)


def test_a_slide_of_a_phase_shows_its_tiles_in_use() -> None:
    stage = prepare(default_shot(), lambda kernel: nullcontext(Interpreter()))
    replay = sure(stage.replay)
    steps = stage.phase_steps()
    assert len(steps) == replay.phases + 1  # and the stores after them
    for phase, step in enumerate(steps[:-1]):
        assert int(replay.trace.phase[step]) == phase
        moment = stage.subject(step)
        assert [each.array.name for each in moment.touched] == ["tileB"]
        assert all((content.array >= 0).all() for content in moment.tiles.values())  # no cell is empty
    assert steps[-1] == stage.steps - 1

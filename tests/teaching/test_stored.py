"""What is stored with the shipped lessons is all that they ask, and what today's sources give."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from recording import stored

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.cuda.launch.catalog import lesson_names, load_kernel, plan_names
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.files.answer_file import FOLDER, Answers, Sums, answer_key, read_answers, write_answers
from gemmviz.model.messages import GemmvizError
from gemmviz.model.records import fields, is_record_type
from gemmviz.model.threads import BlockRange
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import CannotAnswer
from gemmviz.run.stored import StoredAnswers, stored_answers
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.runs import complete, run_so_far
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.captions import number_key
from gemmviz.teaching.lesson import LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.quantities.quantity import ERROR_QUANTITIES
from tests.conftest import sure

ROOT = Path(__file__).resolve().parents[2]


def steps() -> list[LessonStep]:
    return [stop for name in lesson_names() if name not in plan_names() for stop in shipped_lesson(name).steps]


def is_refused(stop: LessonStep) -> bool:
    """Whether a step shows a launch that is refused."""
    return any(each.quantity in ERROR_QUANTITIES for each in stop.expect)


def test_every_step_is_shown_from_what_is_stored() -> None:
    """``make record WHAT=lessons`` after a kernel or a lesson was changed."""
    missing, known = [], Knowledge(steps()[0].shot, StoredAnswers())
    for stop in steps():
        known = known.about(stop.shot)
        ready = complete(known)
        needs = subject_of_view(stop.shot.view).needs
        lacks = isinstance(ready.trouble, CannotAnswer) or ("moment" in needs and run_so_far(ready) is None)
        if lacks and not is_refused(stop):
            missing.append(f"{stop.id}: {ready.trouble}")
    assert not missing, missing


def test_the_counts_of_each_draw_of_a_question_are_stored() -> None:
    """Its picture is shown as quickly as that of the question itself."""
    drawn = [each for stop in steps() for each in stop.variants[1:]]
    counted = [each.id for each in drawn if (found := stored_answers(each.shot.setup)) is not None and found.sums is not None]
    assert len(counted) == len(drawn) > 100


def test_every_number_of_a_caption_is_stored() -> None:
    for stop in steps():
        for each in stop.expect:
            if each.name in stop.needed:
                answers = sure(stored_answers(stop.shot.setup))
                value = answers.numbers.get(number_key(stop.shot, each.quantity))
                assert value is not None, (stop.id, each.quantity)
                assert isinstance(each.value, str) or each.is_met_by(value), (
                    stop.id,
                    each.quantity,
                    value,
                )  # a formula needs sizes


def test_nothing_is_stored_that_no_lesson_asks() -> None:
    known = {path.stem for path in (ROOT / FOLDER).glob("*.npz")}
    setups = [each.shot.setup for stop in steps() for each in stop.variants]
    keys = {answer_key(setup, device_for(setup)) for setup in setups}
    assert keys & known
    assert len(known) < 2 * len(keys)
    assert sum(path.stat().st_size for path in (ROOT / FOLDER).glob("*.npz")) < 2 << 20  # 2 MiB


def test_an_edited_kernel_another_size_or_device_has_no_stored_answers() -> None:
    setup = next(stop.shot.setup for stop in steps() if stop.id == "bytes")
    assert stored_answers(setup) is not None
    edited = structs.replace(setup.kernel, text=setup.kernel.text + "\n// edited\n")
    for other in (structs.replace(setup, kernel=edited), setup.changed(K=2048), structs.replace(setup, device="toy2")):
        assert stored_answers(other) is None
        with pytest.raises(CannotAnswer):
            _ = Knowledge(Shot(other), StoredAnswers()).counts


def test_answers_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = setup_for(load_kernel("04_tiled"))
    engine = Interpreter()
    trace = sure(engine.trace(setup).trace)
    counter = LaunchCounter(device_for(setup).rules)
    engine.count(setup, counter)
    watched = engine.watch(setup, (0, 0, 0), (1, 0, 0))
    sums = Sums(counter.arrays, stored._of_all_phases(counter.sums))
    written = Answers(128, sums, trace, None, {((0, 0, 0), (1, 0, 0)): watched}, {}, {"k": 1.5, "n": 2, "t": "a", "b": True})
    monkeypatch.setattr("gemmviz.files.answer_file.ROOT", tmp_path)
    (tmp_path / FOLDER).mkdir(parents=True)
    write_answers(written, tmp_path / FOLDER / f"{answer_key(setup, device_for(setup))}.npz")
    same(written, sure(read_answers(setup, device_for(setup))))


@pytest.mark.nightly
def test_what_is_stored_is_what_todays_sources_give() -> None:
    engine = stored.noted(lesson_names())
    known = {path.stem for path in (ROOT / FOLDER).glob("*.npz")}
    assert known == set(engine.answers), "run make record WHAT=lessons"
    for setup, answers in engine.answers.values():
        same(answers, sure(read_answers(setup, device_for(setup))))


def same(one: Any, other: Any, path: str = "") -> None:
    """Both have the same values; sums of floats depend on the processor in their last digits."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        np.testing.assert_array_equal(one, other, err_msg=path)
    elif isinstance(one, GemmvizError):
        assert str(one) == str(other), path
    elif is_record_type(type(one)):
        assert type(one) is type(other), path
        for each in fields(type(one)):
            same(getattr(one, each.name), getattr(other, each.name), f"{path}.{each.name}")
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for key in one:
            same(one[key], other[key], f"{path}[{key}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-12), path
    else:
        assert one == other, path


def test_a_shot_is_ready_without_the_reader_of_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first step of a lesson waits for no parser."""

    def refuse(*args: object) -> None:
        raise AssertionError("a source was parsed")

    monkeypatch.setattr("gemmviz.cuda.program._program", refuse)
    for name in ("coalescing", "shared-memory"):
        for stop in shipped_lesson(name).steps[:8]:
            ready = complete(Knowledge(stop.shot, StoredAnswers()))
            assert ready.trouble is None, (stop.id, ready.trouble)


def test_a_stored_trace_answers_for_its_blocks_alone() -> None:
    setup = next(stop.shot.setup for stop in steps() if (found := stored_answers(stop.shot.setup)) and found.trace)
    trace = sure(sure(stored_answers(setup)).trace)
    assert StoredAnswers().trace(setup, trace.blocks).trace is trace
    last = tuple(each - 1 for each in trace.launch.grid)
    other = BlockRange(last, trace.launch.grid)  # type: ignore[arg-type]
    assert other != trace.blocks
    with pytest.raises(CannotAnswer):
        StoredAnswers().trace(setup, other)

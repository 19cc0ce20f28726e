"""Files in TOML that people write: saved views, lessons, devices."""

import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from msgspec import structs

from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import lesson_names, lesson_path, load_kernel
from gemmviz.cuda.launch.legality import launch_for, setup_for
from gemmviz.files.devices import device_names, devices, load_device
from gemmviz.files.resources import resource, user_folder
from gemmviz.model.problem import Problem
from gemmviz.run.choosing import run
from gemmviz.shots.export import ExportOptions
from gemmviz.shots.shot import Shot, default_shot, read_view, shot_text
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.captions import parts_of
from gemmviz.teaching.checking import LessonChecker
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import lesson_text, parse_lesson, read_lesson, shipped_lesson
from gemmviz.teaching.reel import lesson_reel
from tests.fuzz.campaign import Campaign
from tests.fuzz.drawing import INTERPRETER, draw_launch, draw_run, interpreter, random_of
from tests.fuzz.kernels import encoded
from tests.fuzz.mutators import NUMBERS, WORDS, EachPlace, spoiled_facts, spoiled_text, toml_bytes

_MOST_STOPS = 4


# Views


def _own_shot() -> Shot:
    shot = default_shot()
    return structs.replace(shot, setup=structs.replace(shot.setup, kernel=structs.replace(shot.setup.kernel, is_shipped=False)))


def _views() -> st.SearchStrategy[bytes]:
    texts = [shot_text(default_shot()), shot_text(_own_shot())]
    spoiled = spoiled_facts(tomllib.loads(texts[0])) | spoiled_facts(tomllib.loads(texts[1]))
    return spoiled_text(texts).map(encoded) | spoiled.map(toml_bytes)


def _each_view() -> Sequence[bytes]:
    return EachPlace(tomllib.loads(shot_text(_own_shot())), toml_bytes)


def _read_view(path: Path) -> None:
    shot = read_view(path)
    if subject_of_view(shot.view).is_of_run:
        launch_for(shot.setup)
        outcome = run(shot.setup, shot.focus.block, INTERPRETER)
        if outcome.trace is not None:
            draw_run(Replay.of(outcome.trace), random_of(path))


# Lessons

_MINUTES = 120.0


@cache
def lesson_facts() -> Any:
    """A lesson with a question, an exercise, blanks and steps that expect something, as plain data. Each step has a duration:
    a default would not be written, and so never be changed.
    """
    stops = [stop for name in lesson_names() for stop in shipped_lesson(name).steps]
    wanted: tuple[Callable[[LessonStep], bool], ...] = (
        lambda stop: stop.question is not None,
        lambda stop: stop.exercise is not None,
        lambda stop: stop.build == "terms",
        lambda stop: len(stop.expect) > 2,
    )
    chosen = tuple(structs.replace(next(stop for stop in stops if wants(stop)), needs=()) for wants in wanted)
    facts = tomllib.loads(lesson_text(Lesson("Lesson", chosen, "About", ("Source",))))
    return facts | {"step": [step | {"minutes": _MINUTES} for step in facts["step"]]}


def _lessons() -> st.SearchStrategy[bytes]:
    texts = [lesson_path(name).read_text(encoding="utf-8")[:20_000] for name in lesson_names()]
    return spoiled_text(texts, (*NUMBERS, *WORDS[:60])).map(encoded) | spoiled_facts(lesson_facts()).map(toml_bytes)


def _each_lesson() -> Sequence[bytes]:
    return EachPlace(lesson_facts(), toml_bytes)


def _read_lesson(path: Path) -> None:
    """Checks some of its steps and draws what they come by."""
    lesson = read_lesson(path)
    assert parse_lesson(lesson_text(lesson), str(path)) == lesson, "a lesson that is saved is another one"
    first = random_of(path).randrange(max(1, len(lesson.steps) - _MOST_STOPS + 1))
    lesson = structs.replace(lesson, steps=lesson.steps[first : first + _MOST_STOPS])
    for check in LessonChecker(interpreter).checks_of(lesson):
        str(check.as_error())
    for stop in lesson.steps:
        parts_of(stop)
    reel = lesson_reel(lesson, interpreter, ExportOptions(), answers=True)
    for _ in reel.slides():
        pass


# Devices


@cache
def _device(name: str) -> Any:
    return tomllib.loads(resource(f"assets/devices/{name}.toml").read_text(encoding="utf-8"))


def _devices() -> st.SearchStrategy[bytes]:
    return (
        st.sampled_from(("h200", "8800gtx", "rx6800xt", "toy4"))
        .flatmap(lambda name: spoiled_facts(_device(name)))
        .map(toml_bytes)
    )


def _each_device() -> Sequence[bytes]:
    return EachPlace({key: value for key, value in _device("h200").items() if key != "sources"}, toml_bytes)


def _use_device(path: Path) -> None:
    """Puts it where a user would, and runs and draws on it."""
    folder = user_folder("devices")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.toml").write_bytes(path.read_bytes())
    devices.cache_clear()
    try:
        for error in devices().broken:
            raise error
        assert "mine" in device_names()
        load_device("mine")
        setup = setup_for(load_kernel("04_tiled"), Problem(4, 4, 4), {"TILE_WIDTH": 2}, device="mine")
        draw_launch(setup, random_of(path))
        launch_for(setup)
        outcome = run(setup, (0, 0, 0), INTERPRETER, values=True)
        if outcome.trace is not None:
            draw_run(Replay.of(outcome.trace), random_of(path))
    finally:
        (folder / "mine.toml").unlink()
        devices.cache_clear()


CAMPAIGNS = {
    "views": Campaign(".toml", _views, _read_view, _each_view),
    "lessons": Campaign(".toml", _lessons, _read_lesson, _each_lesson),
    "devices": Campaign(".toml", _devices, _use_device, _each_device),
}

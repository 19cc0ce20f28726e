"""Every text of every view and of every step of the lessons goes through the catalogue: in a pseudo-language no plain words are
left.
"""

import re

import pytest

from gemmviz.cuda.launch.catalog import COURSE, lesson_names
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import recordings
from gemmviz.model.recording import AccessTimes
from gemmviz.model.timing import Benchmark, Levels
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.shots.export import prepare
from gemmviz.shots.picture import picture
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson_file import original_lesson
from tests.conftest import once
from tests.pseudo import plain_words, pseudo, texts_of
from tests.shots.test_every_view import shot_of

# Names in pictures of host calls: matrices of the device, functions of CUDA and HIP.
_INSTRUCTION = re.compile(r"\bmma\.\S+")  # of PTX
_OF_FAULTS = {"stop-why"}  # messages of a kernel's faults are English, as those of the compiler
_CALLS = "Ad Bd Cd cudaMalloc cudaMemcpy cudaFree hipMalloc hipMemcpy hipFree clock64 blockIdx threadIdx"


def _names(shot: Shot) -> tuple[str, ...]:
    """Texts of a picture that are data: the kernels, the device, and what was measured."""
    setups = (shot.setup,) if shot.against is None else (shot.setup, shot.against.setup)
    kernels = (text for each in setups for text in (each.kernel.text, each.kernel.name, device_words(each.device)))
    measured = (each for file in recordings("benchmark", Benchmark) for each in (file.host, *(row.kernel for row in file.rows)))
    levels = (text for each in recordings("levels", Levels) for text in (each.method, each.gpu.label))
    return (
        *kernels,
        *levels,
        "NaN",
        *(each.gpu.name for each in recordings("access-times", AccessTimes)),
        *dict.fromkeys(measured),
        _CALLS,
    )


def device_words(name: str) -> str:
    device = load_device(name)
    return f"{device.name} {device.architecture}"


def _plain(scene: Scene, shot: Shot, *more: str) -> list[str]:
    names = (*_names(shot), *more)
    texts = ((key, _INSTRUCTION.sub("", text)) for key, text in texts_of(scene) if key not in _OF_FAULTS)
    found = (f"{key}: {text!r}: {', '.join(words)}" for key, text in texts if (words := plain_words(text, names)))
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("view", views())
def test_no_view_has_a_text_of_its_own(view: str) -> None:
    with pseudo():
        shot = shot_of(view)
        stage = prepare(shot, once)
        for step in sorted({0, stage.steps // 3, stage.steps // 2, stage.steps - 1}):
            assert _plain(picture(shot, stage.subject(step)), shot) == [], step


@pytest.mark.parametrize("name", [name for name in lesson_names() if name != COURSE])
def test_no_step_of_a_lesson_has(name: str) -> None:
    with pseudo():
        for stop in original_lesson(name).stops:
            stage = prepare(stop.shot, once)
            fault = stage.replay.trace.stop if stage.replay is not None else None
            why = () if fault is None else (fault.sentence,)
            assert _plain(picture(stop.shot, stage.subject(stage.step)), stop.shot, *why) == [], stop.id

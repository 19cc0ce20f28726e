"""Every text of every view goes through the catalogue: in a pseudo-language no plain words are left."""

import dataclasses
import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import kernel_names
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import recorded, recordings
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.recording import AccessTimes
from gemmviz.model.setup import Setup
from gemmviz.model.threads import BlockRange
from gemmviz.model.timing import RecordedCounters
from gemmviz.model.trace import Outcome
from gemmviz.run.engine import Engine, EngineRequest, FallbackEngine
from gemmviz.run.stored import StoredAnswers
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.shots.export import prepare
from gemmviz.shots.picture import picture
from gemmviz.shots.shot import Shot
from tests.conftest import ENGINE
from tests.pseudo import plain_words, pseudo, texts_of
from tests.shots.test_every_view import shot_of

# Names in pictures of host calls: matrices of the device, functions of CUDA and HIP.
_INSTRUCTION = re.compile(r"\bmma\.\S+")  # of PTX
_OF_FAULTS = {"stop-why"}  # messages of a kernel's faults are English, as those of the compiler
_CALLS = "Ad Bd Cd cudaMalloc cudaMemcpy cudaFree hipMalloc hipMemcpy hipFree clock64 blockIdx threadIdx"


_STORED_FIRST = FallbackEngine(StoredAnswers(), ENGINE)


class _InPseudo(Engine):
    """The answers that are remembered for all tests, with traces of its own."""

    name = ENGINE.name

    def known_blocks(self, setup: Setup) -> BlockRange | None:
        return _STORED_FIRST.known_blocks(setup)

    def answer(self, request: EngineRequest) -> Any:
        answer = _STORED_FIRST.answer(request)
        if isinstance(answer, Outcome) and answer.trace is not None:
            return structs.replace(answer, trace=dataclasses.replace(answer.trace))
        return answer


_ENGINE = _InPseudo()


def once_in_pseudo(kernel: KernelSpec) -> AbstractContextManager[Engine]:
    """An engine with traces of its own: texts of pictures are remembered with the trace, in the language of the first one."""
    return nullcontext(_ENGINE)


def _names(shot: Shot) -> tuple[str, ...]:
    """Texts of a picture that are data: the kernels, the device, and what was measured."""
    setups = (shot.setup,) if shot.against is None else (shot.setup, shot.against.setup)
    kernels = (text for each in setups for text in (each.kernel.text, each.kernel.name, device_words(each.device)))
    measured = (each for file in recorded().values() for each in (file.host, *(row.kernel for row in file.rows)))
    profiled = (each for name in ("levels", "counters") for each in recordings(name, RecordedCounters))
    levels = (text for each in profiled for text in (each.method, each.gpu.label))
    return (
        *kernels,
        *levels,
        "NaN",
        "half",  # a type
        *(each.gpu.name for each in recordings("access-times", AccessTimes)),
        *dict.fromkeys(measured),
        *(name.replace("_", " ") for name in kernel_names()),
        _CALLS,
    )


def device_words(name: str) -> str:
    device = load_device(name)
    return f"{device.name} {device.architecture}"


def plain_texts(scene: Scene, shot: Shot, *more: str) -> list[str]:
    """Texts of a picture with plain words, other than names: those of the shot, and ``more``."""
    names = (*_names(shot), *more)
    texts = ((key, _INSTRUCTION.sub("", text)) for key, text in texts_of(scene) if key not in _OF_FAULTS)
    found = (f"{key}: {text!r}: {', '.join(words)}" for key, text in texts if (words := plain_words(text, names)))
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("view", views())
def test_no_view_has_a_text_of_its_own(view: str) -> None:
    with pseudo():
        shot = shot_of(view)
        stage = prepare(shot, once_in_pseudo)
        for step in sorted({stage.steps // 3, stage.steps - 1}):
            assert plain_texts(picture(shot, stage.subject(step)), shot) == [], step

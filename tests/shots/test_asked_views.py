"""Every view while a question is open: it gives no count away in any language, and keeps whatever isn't a count."""

import dataclasses
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache

import numpy as np
import pytest
from msgspec import structs

from gemmviz.files.languages import catalogue
from gemmviz.model.messages import UNKNOWN, spoken
from gemmviz.scenes.catalog import view_named, views
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Scene, Squares
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.export import Prepared, prepare
from gemmviz.shots.picture import options_for, theme_of
from tests.conftest import stored_first
from tests.pseudo import pseudo, texts_of
from tests.shots.test_every_view import shot_of, stage_of

# Things that are counted, and words that stand behind a count; what a size is of, such as "rows of 4 elements", is none.
COUNT = re.compile(
    r"(?<![\w.,\[(] )(?<!\w )\d[\d\u202f.]* "
    r"(?:sectors?|wavefronts?|requests?|transactions?|moved|needed|excess|lost|terms?|loads?|reads?|stores?|collisions?|times)\b"
    r"|\d ?%|\d × (?:more|fewer|faster|slower)"
)
_SPOKEN = (0.3,)  # the place that is looked at in other languages
_NUMBER = re.compile(r"\d[\d\u202f\u2009]*(?:\.\d+)?")
_chinese = cache(lambda: catalogue("zh_CN"))
_LANGUAGES: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "English": nullcontext, "Chinese": lambda: spoken("zh_CN", _chinese()), "pseudo": pseudo,
}  # fmt: skip


def asked_at(stage: Prepared, step: int, share: float) -> Scene:
    """The picture of a step with its counts at a share of their value."""
    shot = stage.shot
    options: ViewOptions = options_for(shot, theme_of(shot), (1600.0, 900.0))
    return view_named(shot.view).scene(stage.subject(step), structs.replace(options, counted=share))


def steps_of(stage: Prepared, *places: float) -> list[int]:
    """The steps at places of the time of a view, 0 to 1."""
    return sorted({round(place * (stage.steps - 1)) for place in places})


@pytest.mark.parametrize("view", views())
def test_no_view_gives_a_count_away(view: str) -> None:
    asked: dict[tuple[int, str], set[str]] = {}
    for name, speak in _LANGUAGES.items():
        with speak():
            stage = stage_of(view) if name == "English" else prepare(shot_of(view), stored_first)
            for step in steps_of(stage, *((*_SPOKEN, 1.0) if name == "English" else _SPOKEN)):
                if name == "English":
                    asked_at(stage, step, 1.0)  # what is remembered of the answered picture isn't shown
                texts = [text for _, text in texts_of(asked_at(stage, step, 0.0))]
                asked[step, name] = {number for text in texts for number in _NUMBER.findall(text)}
                if name == "English":
                    assert [text for text in texts if COUNT.search(text)] == []
    of_message = {"1"} if view == "traffic" else set()  # "1/?" in Chinese
    for step in steps_of(stage, *_SPOKEN):
        assert asked[step, "Chinese"] - asked[step, "English"] - of_message == set()
        assert asked[step, "pseudo"] - asked[step, "English"] == set()


FACTS_BESIDE = ("code",)  # views that give the room of their facts to the rest while a question is open


@pytest.mark.parametrize("view", [name for name, view in views().items() if not view.is_count and name not in FACTS_BESIDE])
def test_whatever_is_no_count_is_there(view: str) -> None:
    stage = stage_of(view)
    (step,) = steps_of(stage, 0.3)
    whole, asked = (asked_at(stage, step, share) for share in (1.0, 0.0))
    kept = [each for each in whole.all if each.meaning not in ("count", "lanes", "banks", "action", "cost")]
    assert [(type(each), each.key) for each in asked.all] == [(type(each), each.key) for each in kept]
    for one, other in zip(kept, asked.all, strict=True):
        assert _without_texts(one) == _without_texts(other), one.key
        for text, shown in zip(_texts(one), _texts(other), strict=True):
            assert shown in (text, f"{text}s") or UNKNOWN in shown  # the unit of a hidden count is in the plural


def _texts(each: Primitive) -> list[str]:
    match each:
        case Labels(texts=texts):
            return list(texts)
        case Cells() | Squares():
            tables = (each.labels, each.tips if isinstance(each, Cells) else None)
            return [str(text) for table in tables if table is not None for text in np.ravel(table)]
    return []


def _without_texts(each: Primitive) -> Primitive:
    match each:
        case Labels():
            return dataclasses.replace(each, texts=())
        case Cells():
            return dataclasses.replace(each, labels=None, tips=None)
        case Squares():
            return dataclasses.replace(each, labels=None)
    return each

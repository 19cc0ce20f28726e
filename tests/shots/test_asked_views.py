"""Every view while a question is open: it gives no count away in any language, and keeps whatever isn't a count."""

import dataclasses
import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
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
_SPOKEN = 0.3  # the place that is looked at in other languages
_NUMBER = re.compile(r"\d[\d\u202f\u2009]*(?:\.\d+)?")
_chinese = cache(lambda: catalogue("zh_CN"))
_LANGUAGES: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "Chinese": lambda: spoken("zh_CN", _chinese()), "pseudo": pseudo,
}  # fmt: skip


def asked_at(stage: Prepared, place: float, share: float) -> Scene:
    """The picture at a place of the time of a view, 0 to 1, with its counts at a share of their value."""
    shot = stage.shot
    options: ViewOptions = options_for(shot, theme_of(shot), (1600.0, 900.0))
    step = round(place * (stage.steps - 1))
    return view_named(shot.view).scene(stage.subject(step), structs.replace(options, counted=share))


@cache
def in_english(view: str, place: float, share: float) -> Scene:
    return asked_at(stage_of(view), place, share)


@pytest.mark.parametrize("language", ["Chinese", pytest.param("pseudo", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("view", views())
def test_no_view_gives_a_count_away(view: str, language: str) -> None:
    in_english(view, _SPOKEN, 1.0)  # what is remembered of the answered picture isn't shown
    for place in (1.0, _SPOKEN):
        texts = [text for _, text in texts_of(in_english(view, place, 0.0))]
        assert [text for text in texts if COUNT.search(text)] == []
    told = numbers(texts) | ({"1"} if view == "traffic" else set())  # "1/?" in Chinese
    with _LANGUAGES[language]():
        asked = asked_at(prepare(shot_of(view), stored_first), _SPOKEN, 0.0)
    assert numbers(text for _, text in texts_of(asked)) - told == set()


def numbers(texts: Iterable[str]) -> set[str]:
    return {number for text in texts for number in _NUMBER.findall(text)}


FACTS_BESIDE = ("code",)  # views that give the room of their facts to the rest while a question is open


@pytest.mark.parametrize("view", [name for name, view in views().items() if not view.is_count and name not in FACTS_BESIDE])
def test_whatever_is_no_count_is_there(view: str) -> None:
    whole, asked = (in_english(view, _SPOKEN, share) for share in (1.0, 0.0))
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

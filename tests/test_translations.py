"""The catalogues: in step with the sources, every placeholder kept, every plural form there; and the choice of a language."""

import os
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gemmviz.cli.main import main
from gemmviz.files.languages import VARIABLE, catalogue, languages, lesson_catalogue, system_language, use_language
from gemmviz.launch.catalog import lesson_names
from gemmviz.model.errors import UsageError
from gemmviz.model.translation import ENGLISH, language, speak, spoken, tr, trn
from gemmviz.model.words import listed, many, ordinal, plural
from gemmviz.render.system_font import system_font
from gemmviz.scenes.kit.counting import counted_text
from gemmviz.scenes.kit.text import text_width, wrap_text
from gemmviz.teaching.lesson import Lesson
from gemmviz.teaching.lesson_file import lesson_title, original_lesson, shipped_lesson
from gemmviz.teaching.lesson_translation import translated
from packaging import translations  # type: ignore[attr-defined]

TRANSLATED = [code for code in languages() if code != ENGLISH]


@pytest.fixture(autouse=True)
def _english_afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(VARIABLE, os.environ.get(VARIABLE, ENGLISH))
    yield
    speak(ENGLISH, None)

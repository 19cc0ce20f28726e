"""Checks of a step's texts: every number of a caption has a name, and every name in a text is that of an expectation."""

import re
from collections.abc import Iterator

from gemmviz.model.errors import UsageError
from gemmviz.teaching.lesson import FIELD, TEXT_FIELDS, LessonStep

_WORD = re.compile(r"\w+")


def text_errors(step: LessonStep) -> Iterator[tuple[str, UsageError]]:
    """What is wrong with a step's texts: the field, and an error."""
    for field in TEXT_FIELDS:
        for name in step.unknown_fields(field):
            yield field, UsageError(f"no expectation has the name {{{name}}}", remedy="give one that name")
    for digits in typed_numbers(step.caption):
        yield "caption", UsageError(f"the number {digits} is typed", remedy="name it by an expectation: {name}")


def typed_numbers(caption: str) -> list[str]:
    """Words of a caption that begin with a digit; those that begin with a letter are names, such as H200."""
    return [word for word in _WORD.findall(FIELD.sub(" ", caption)) if not word[0].isalpha() and any(map(str.isnumeric, word))]

"""A link in a picture to another step of the run: a click on it goes there."""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.sites import Space
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.frame import ViewOptions, message
from gemmviz.scenes.kit.primitives import Cells, Hit, Labels, Primitive
from gemmviz.scenes.kit.sentence import next_access, no_access
from gemmviz.scenes.kit.text import text_width

_KEY = "step-link"
_PAD, _HIGH, _BELOW = 24.0, 54.0, 34.0  # units: beside the text, of the link, below a sentence


def nothing_accessed(moment: Moment, space: Space, options: ViewOptions) -> list[Primitive]:
    """Draw a sentence that the step does not access this memory, and a link to the next step that does."""
    said = message(no_access(moment, space), options)
    step = next_access(moment, space)
    return [said] if step is None else [said, _link(step, tr("Go to step {step}, which does", step=step + 1), said, options)]


def _link(step: int, text: str, said: Labels, options: ViewOptions) -> Cells:
    """Return a link below a sentence, as a table of one cell that is numbered by its step."""
    theme, size = options.theme, options.theme.type.words
    wide = text_width(text, size) + 2 * _PAD
    x, y = float(said.at[0, 0]) - wide / 2, float(said.at[0, 1]) + _BELOW
    labels = np.array([[text]])
    fill = np.zeros((1, 1), np.uint8)
    return Cells(_KEY, x, y, wide, fill, (theme.slate,), (theme.text,), labels, size, height=_HIGH, origin=(step, 0))


def linked_step(hit: Hit) -> int | None:
    """Return the step that a click goes to, None if it isn't on a link."""
    return hit.cells.origin[0] if hit.cells.key == _KEY else None

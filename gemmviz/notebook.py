"""The player as a widget of notebooks: Jupyter, VS Code, Colab, marimo. Needs anywidget."""

from typing import Any

import anywidget
import traitlets

from gemmviz.files.resources import resource
from gemmviz.render.page import packed
from gemmviz.render.reel import Reel


class PlayerWidget(anywidget.AnyWidget):
    """``packed``: what the player draws; ``style``: how its buttons look, with the letters that it needs."""

    _esm = resource("assets/page/player.js")
    packed = traitlets.Unicode().tag(sync=True)
    style = traitlets.Unicode().tag(sync=True)


def widget(reel: Reel, theme: str) -> Any:
    """A player of a reel."""
    found = packed(reel, theme)
    style = resource("assets/page/style.css").read_text(encoding="utf-8")
    return PlayerWidget(packed=found.text, style=found.fonts + style)

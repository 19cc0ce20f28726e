"""The player as a notebook widget for Jupyter, VS Code, Colab and marimo. Needs anywidget."""

from typing import Any

import anywidget
import traitlets

from gemmviz.files.resources import resource
from gemmviz.render.pack import packed
from gemmviz.render.reel import Reel


class PlayerWidget(anywidget.AnyWidget):
    """A notebook widget: ``packed`` holds the frames to draw, ``style`` the CSS of its buttons."""

    _esm = resource("assets/page/player.js")
    packed = traitlets.Unicode().tag(sync=True)
    style = traitlets.Unicode().tag(sync=True)


def widget(reel: Reel, theme: str) -> Any:
    """A widget that plays a reel in this theme."""
    style = resource("assets/page/style.css").read_text(encoding="utf-8")
    return PlayerWidget(packed=packed(reel, theme).text, style=style)

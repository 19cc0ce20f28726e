"""The views by name: what the window, the command line and the exporters offer. A new view is one file and one line here."""

from collections.abc import Callable

from gemmviz.analysis.replay import Replay
from gemmviz.scene.bank_view import bank_scene
from gemmviz.scene.frame import StageOptions
from gemmviz.scene.memory_view import memory_scene
from gemmviz.scene.primitives import Scene
from gemmviz.scene.stage_view import stage_scene

View = Callable[[Replay, int, StageOptions], Scene]
VIEWS: dict[str, View] = {"stage": stage_scene, "memory": memory_scene, "banks": bank_scene}

"""The views by name: what the window, the command line and the exporters offer. A new view is one file and one line here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from gemmviz.analysis.replay import Replay
from gemmviz.scene.frame import ViewOptions
from gemmviz.scene.motion import stage_motion
from gemmviz.scene.primitives import Primitive, Scene
from gemmviz.scene.views.bank_view import bank_scene
from gemmviz.scene.views.memory_view import memory_scene
from gemmviz.scene.views.request_view import request_scene
from gemmviz.scene.views.stage_view import stage_scene
from gemmviz.scene.views.warp_view import warp_scene

_MOMENTS = 6


def _nothing_moves(replay: Replay, step: int, options: ViewOptions) -> tuple[Primitive, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class View:
    """``still`` draws a step; ``motion`` what is on its way over it at a moment."""

    title: str
    still: Callable[[Replay, int, ViewOptions], Scene]
    motion: Callable[[Replay, int, ViewOptions], tuple[Primitive, ...]] = _nothing_moves

    def scene(self, replay: Replay, step: int, options: ViewOptions) -> Scene:
        """The whole picture at ``options.moment``."""
        still = self.still(replay, step, options)
        return replace(still, primitives=(*still.primitives, *self.motion(replay, step, options)))

    def film(self, replay: Replay, step: int, options: ViewOptions, step_ms: int) -> Iterator[tuple[Scene, int]]:
        """A step as scenes and how many milliseconds each is shown: several where something moves, else one."""
        moments = [number / _MOMENTS for number in range(_MOMENTS)]
        if any(self.motion(replay, step, replace(options, moment=moment)) for moment in moments):
            for moment in moments:
                yield self.scene(replay, step, replace(options, moment=moment)), step_ms // _MOMENTS
        else:
            yield self.still(replay, step, options), step_ms


VIEWS = {
    "stage": View("Stage", stage_scene, stage_motion),
    "memory": View("Memory: lines and sectors of a request", memory_scene),
    "banks": View("Banks of shared memory", bank_scene),
    "warp": View("Warp: every lane of it", warp_scene),
    "request": View("Request: memory or banks, whichever is touched", request_scene),
}

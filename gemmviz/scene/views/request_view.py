"""The request of this step in the picture that suits it: the address line for global memory, the banks for shared memory."""

from gemmviz.analysis.replay import Replay
from gemmviz.scene.frame import ViewOptions, framed, message
from gemmviz.scene.primitives import Scene
from gemmviz.scene.views.bank_view import bank_scene
from gemmviz.scene.views.memory_view import memory_scene


def request_scene(replay: Replay, step: int, options: ViewOptions | None = None) -> Scene:
    options = options or ViewOptions()
    array = replay.trace.array_of(step)
    if array is None:
        return framed([message("A barrier: no memory is touched.", options)], replay, step, options)
    return (memory_scene if array.space == "global" else bank_scene)(replay, step, options)

"""The request of this step in the picture that suits it: the address line for global memory, the banks for shared memory."""

from gemmviz.analysis.replay.moment import Moment
from gemmviz.scenes.kit.frame import ViewOptions, framed, message
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.views.banks_view import banks_scene
from gemmviz.scenes.views.memory_view import memory_scene


def request_scene(moment: Moment, options: ViewOptions) -> Scene:
    if moment.main is None:
        return framed([message("A barrier: no memory is touched.", options)], moment, options)
    return (memory_scene if moment.main.array.space == "global" else banks_scene)(moment, options)


VIEW = View("Request: memory or banks, whichever is touched", Moment, request_scene, order=5)

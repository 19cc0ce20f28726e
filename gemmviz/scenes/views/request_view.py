"""The request of this step: the address line for global memory, the banks for shared memory."""

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.view import View, ViewOptions, framed, message
from gemmviz.scenes.views.banks_view import banks_motion, banks_scene
from gemmviz.scenes.views.memory_view import memory_motion, memory_scene


def request_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the request in the memory of the step's first operand."""
    if moment.main is None:
        barrier = marked("This step is a barrier and accesses no memory.")
        text = tr(barrier if moment.site.is_barrier else marked("This step accesses no memory."))
        return framed([message(text, options)], moment, options)
    return (memory_scene if moment.main.array.space == "global" else banks_scene)(moment, options)


def _motion_of_request(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw what moves in the same view."""
    if moment.main is None:
        return ()
    return (memory_motion if moment.main.array.space == "global" else banks_motion)(moment, options)


VIEW = View(marked("Request: memory or banks"), Moment, request_scene, _motion_of_request, is_count=True, least=140, order=301)

"""A comparison as one picture: two runs in the same frame with cells of one size, and between them one meter, so that nothing
differs but what the kernels do.
"""

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Lock, Pair
from gemmviz.model.records import replace
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.layout import Box, Paragraph, paragraphs_in
from gemmviz.scenes.kit.primitives import SIDES, Primitive, RunSide, Scene
from gemmviz.scenes.kit.sentence import beat
from gemmviz.scenes.kit.shapes import of_side
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.view import HEADLINE_PITCH, View, ViewOptions, kernel_words, named_timeline
from gemmviz.scenes.stage.layout import Plan
from gemmviz.scenes.stage.motion import stage_motion
from gemmviz.scenes.stage.two_stages import column_primitives, two_stages
from gemmviz.scenes.views.stage_view import planned_scene

_LOCKED: dict[Lock, str] = {
    "phase": marked("in the same phase"),
    "k": marked("at the same k"),
    "step": marked("at the same step"),
    "bytes": marked("after the same bytes moved"),
}


def pair_scene(pair: Pair, options: ViewOptions) -> Scene:
    """Draw both runs in the same frame, without motion, and the meter between them."""
    theme, stages = options.theme, two_stages(pair, options)
    primitives: list[Primitive] = []
    above: list[Primitive] = []
    words: list[Primitive] = []
    for moment, plan, head, side in zip(pair.sides, stages.plans, stages.heads, SIDES, strict=True):
        still = planned_scene(moment, plan, _half(pair, options))
        primitives += [of_side(each, side) for each in still.primitives]
        above += [of_side(each, side) for each in still.above]
        words += [of_side(each, side) for each in _head(moment, pair, head, options)] if options.words else []
    lock = tr("Both {locked}", locked=tr(_LOCKED[pair.lock])) if pair.is_same_problem else tr("The problems differ in size")
    words += column_primitives(pair, stages.between, lock, options)
    words += named_timeline(pair.right, options)
    return Scene(options.width, options.height, theme.background, tuple(primitives), tuple(above), tuple(words))


def pair_motion(pair: Pair, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the motion on the right side, which sets the time, and on the left if it takes a step as well."""
    stages, half = two_stages(pair, options), _half(pair, options)
    moving: list[Primitive] = []
    for moment, plan, side in _moving(pair, stages.plans):
        moving += [of_side(each, side) for each in stage_motion(moment, half, plan)]
    return tuple(moving)


def _moving(pair: Pair, plans: tuple[Plan, Plan]) -> list[tuple[Moment, Plan, RunSide]]:
    sides = list(zip(pair.sides, plans, SIDES, strict=True))
    return sides if pair.both_move else sides[1:]


def _half(pair: Pair, options: ViewOptions) -> ViewOptions:
    """Return the options for one of the stages: the words of a comparison are its own."""
    return replace(options, timeline=False, marked=pair.marked)


def _head(moment: Moment, pair: Pair, box: Box, options: ViewOptions) -> list[Primitive]:
    """Write the kernel of one side, and what it does at this moment."""
    theme, sizes, said = options.theme, options.theme.type, beat(moment, options.labels).text
    title = fitted(_side_title(moment, pair, box.width, sizes.name), sizes.name, box.width, "semibold")
    lines = [
        Paragraph("title", (title,), sizes.name, theme.text, "semibold", "title"),
        Paragraph.wrapped("action", said, theme.plain, box, 2, "action"),
    ]
    return [*paragraphs_in(box, lines, leading=HEADLINE_PITCH)[0]]


def _side_title(moment: Moment, pair: Pair, room: float, size: float) -> str:
    """Return the kernel with its parameters; if those of a side are too long, only with those in which the sides differ."""
    if all(text_width(kernel_words(side), size, "semibold") <= room for side in pair.sides):
        return kernel_words(moment)
    left, right = (side.trace.setup.parameters for side in pair.sides)
    setup = moment.trace.setup
    shared = {name for name in left if name in right}
    differing = [f"{name} = {setup.parameters[name]}" for name in shared if left[name] != right[name]]
    return ", ".join([setup.kernel.name, *differing])


VIEW = View(marked("Comparison"), Pair, pair_scene, pair_motion, has_title=False, order=502)

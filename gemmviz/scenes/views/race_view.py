"""A race as it ran: the turns of the threads and the tiles that they fill, an arrow from the write to the read that came too
early or too late, and the wrong C beside the right one.
"""

from gemmviz.model.race import RaceCase, Turn
from gemmviz.model.translation import capital, many, marked, spaced, tr, trn
from gemmviz.scenes.kit.layout import LINE_PITCH, Paragraph, paragraphs_in
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.text import wrap_text
from gemmviz.scenes.kit.view import View, ViewOptions, titled
from gemmviz.scenes.stage.race import RacePlan, bad_result, pair_of, played_turns, race_tiles, right_result, turn_table


def race_scene(case: RaceCase, options: ViewOptions) -> Scene:
    """Draw the rows of the turns and the right result. What happens in the race is drawn by ``race_motion``."""
    plan = RacePlan(case, options)
    return titled([*turn_table(plan), *right_result(plan)], capital(_race_title(case)), _race_note(case), options)


def race_motion(case: RaceCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the turns one after another with the tiles that they fill, then the arrow, then the wrong elements."""
    plan = RacePlan(case, options)
    return (*played_turns(plan), *race_tiles(plan), *bad_result(plan), *_race_words(plan))


def _race_title(case: RaceCase) -> str:
    one = case.kind[:-1]
    if case.ahead >= 0:
        count = int(case.spoilt.sum())
        steps, elements = many(case.lead, "step"), many(count, "element")
        return trn(
            "{unit} {number} is {steps} ahead, and {elements} of {result} is wrong",
            "{unit} {number} is {steps} ahead, and {elements} of {result} are wrong",
            count, unit=tr(one), number=case.ahead, steps=steps, elements=elements, result=case.result,
        )  # fmt: skip
    if case.pair is not None:
        return tr(
            "Two {kind} race, though no order was found that makes {result} wrong", kind=tr(case.kind), result=case.result
        )
    return tr("No order found that makes {result} wrong", result=case.result)


def _race_note(case: RaceCase) -> str:
    """Return what was run, and how many orders."""
    units = many(case.units, "thread") if case.kind == "threads" else many(case.units, "warp")
    orders = trn(
        "{orders} of the {units} of a block was run", "{orders} of the {units} of a block were run", case.tried,
        orders=many(case.tried, "order"), units=units,
    )  # fmt: skip
    if case.ahead >= 0:
        return tr("{how}. No shorter lead since the last barrier would do", how=case.what)
    rest = case.orders - case.tried
    more = trn(". {rest} more was not tried", ". {rest} more were not tried", rest, rest=spaced(rest)) if rest else ""
    return f"{case.what}. {orders}{more}"


def story(case: RaceCase) -> list[str]:
    """Return sentences about what went wrong, or about the pair that races."""
    pair = pair_of(case)
    if pair is None:
        return (
            []
            if case.ahead >= 0
            else [
                tr("between two barriers, no element that one of the {kind} writes is touched by another", kind=tr(case.kind))
            ]
        )
    write, read = (case.turns[place] for place in pair)
    if case.ahead < 0:
        return [tr("{writer} and {reader}, with no barrier between", writer=_who(case, write), reader=_who(case, read))]
    if not read.is_spoilt:
        return [f"{_who(case, write)}; {_who(case, read)}"]
    late = pair[0] > pair[1]
    several = tr("the old values") if late else tr("the new values")
    values = (
        tr("{read_value} instead of {expected}", read_value=f"{read.value:.3g}", expected=f"{read.expected:.3g}")
        if len(read.cells) == 1
        else several
    )
    return [
        tr("{who} and gets {values}", who=_who(case, read), values=values),
        f"{_who(case, write)} {(tr('too late') if late else tr('too early'))}",
    ]


def _who(case: RaceCase, turn: Turn) -> str:
    values = {"unit": tr(case.kind[:-1]), "number": turn.unit, "what": turn.what, "line": turn.line}
    if turn.action == "write":
        return tr("{unit} {number} writes {what} (line {line})", **values)
    return tr("{unit} {number} reads {what} (line {line})", **values)


def _race_words(plan: RacePlan) -> list[Primitive]:
    """Write the sentences in as many lines as fit, once the arrow is there."""
    if plan.arrow < 1 and plan.case.ahead >= 0:
        return []
    size, room, ink = plan.options.theme.type.caption, plan.story, plan.options.theme.text
    lines = [line for each in story(plan.case) for line in wrap_text(capital(each), size, room.width, 2, "semibold")]
    fits = lines[: max(1, int(room.height / (LINE_PITCH * size)))]
    return [*paragraphs_in(room, [Paragraph("race-story", fits, size, ink, "semibold")])[0]]


VIEW = View(marked("Race: an order that makes the result wrong"), RaceCase, race_scene, race_motion, order=208)

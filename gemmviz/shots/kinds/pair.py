"""Two runs at the same position: a shot's, and the one that it is compared with."""

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Lock, Pair, moment_like
from gemmviz.cuda.launch.legality import shapes_for
from gemmviz.model.device import OccupancyCase
from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.primitives import ArrayCells, Hit
from gemmviz.shots.knowledge import Context
from gemmviz.shots.occupancy import occupancy_case
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def check_pair(shot: Shot) -> None:
    """Check the comparison of a shot. Raises UsageError if there is none, or if the marked element doesn't exist."""
    if shot.against is None:
        raise UsageError(
            tr("nothing is selected for comparison"), remedy=f"gemmviz compare A B --view {shot.view} -o FRAME.png"
        )
    element = shot.against.element
    if element is None:
        return
    name, row, column = element
    shape = shapes_for(shot.setup).get(name, ())
    if len(shape) != 2:
        raise UsageError(
            tr("the problem has no matrix {name}", name=name), remedy=tr("mark an element of a matrix, such as A[3,5]")
        )
    rows, columns = shape
    if row >= rows or column >= columns:
        sentence = tr(
            "{name} has no element [{row}, {column}]: it is {rows} × {columns}",
            name=name,
            row=row,
            column=column,
            rows=rows,
            columns=columns,
        )
        raise UsageError(sentence, remedy=tr("rows and columns count from 0"))


def _make_pair(shot: Shot, context: Context) -> Pair | None:
    """The pair; None while one of the runs, or its position, is unknown. Raises UsageError for a shot without a comparison."""
    against, now, other, facts = shot.against, context.moment, context.compared, context.facts
    if against is None:
        check_pair(shot)
    if against is None or now is None or other is None or facts is None:
        return None
    if not all(_is_side_ready(each, against.lock) for each in (now, other.reader.at(0))):
        return None
    left, lock, both_move = moment_like(other.reader, now, against.lock)
    both = other.facts, facts
    return Pair(
        left, now, lock, (both[0].counts, both[1].counts), (both[0].time_ms, both[1].time_ms),
        tuple(each.speed.short_source for each in both if each.speed is not None), against.element, both_move,
        (_resources(replace(shot, setup=against.setup), both[0].speed), _resources(shot, both[1].speed)),
    )  # fmt: skip


def _resources(shot: Shot, speed: KernelSpeed | None) -> OccupancyCase | None:
    """What a block needs; the registers are those of the run whose time is shown, if they are known."""
    case, resources = occupancy_case(shot, speed), None if speed is None else speed.measured.resources
    if case is None or speed is None or resources is None:
        return case
    needs = replace(case.own, registers=resources.registers)
    return replace(case, needs=needs, own=needs, registers_source=speed.short_source)


def _is_side_ready(moment: Moment, lock: Lock) -> bool:
    """Whether a side's costs are known, and its terms if the lock is k."""
    replay, scope = moment.replay, moment.scope
    return replay.knows_costs(scope) and (lock != "k" or replay.knows_terms(scope))


def _click_pair(pair: Pair, shot: Shot, hit: Hit) -> Shot | None:
    """Follow the element under the pointer in both runs, or stop following it."""
    array, against = hit.cells.meaning, shot.against
    if against is None or not isinstance(array, ArrayCells) or array.space == "shared":
        return None
    row, column = hit.place
    marked = f"{array.name}[{row},{column}]"
    return replace(shot, against=replace(against, marked="" if marked == against.marked else marked))


SUBJECT = Subject(
    Pair, _make_pair, needs=("moment", "compared"), uses=("facts",), time="run", is_comparison=True, check=check_pair,
    click=_click_pair, order=23,
)  # fmt: skip

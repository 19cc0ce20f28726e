"""The largest error of C in two runs, as bars on one scale, with the declarations in which their kernels differ."""

from gemmviz.analysis.declarations import declarations
from gemmviz.model.cases import RoundedRun, RoundingCase
from gemmviz.model.translation import counted, listed, many, marked, tr
from gemmviz.scenes.kit.layout import AIR, REST, Box, Share, beside, round_boxes, write
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.view import View, ViewOptions, titled

_BAR, _VALUE = 96, 250  # height of a bar; width of its value
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rounding_scene(case: RoundingCase, options: ViewOptions) -> Scene:
    """Draw what each kernel declares and the ground of its bar. Bars are drawn by ``rounding_motion``."""
    theme, pieces = options.theme, list[Primitive]()
    for place, (run, parts) in enumerate(zip((case.first, case.second), _bar_rooms(options), strict=False)):
        head, name, track, _ = parts
        other = case.second if place == 0 else case.first
        declared = listed(_own(run, other), "and") or run.kernel
        pieces += [
            write(f"declared-{place}", head, declared, theme.large._replace(face="mono")),
            write(f"kernel-{place}", name, run.kernel, theme.soft),
            round_boxes(f"track-{place}", track, theme.empty),
        ]
    sizes = case.problem.sizes
    note = tr(
        "{items}: C of the run compared with a product in float64",
        items=", ".join((f"{name} = {value}" for name, value in sizes.items())),
    )
    return titled(pieces, tr("Largest error of an element of {array}", array=case.second.check.array), note, options)


def rounding_motion(case: RoundingCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars as they grow, with the errors once they have grown."""
    theme, pieces, share = options.theme, list[Primitive](), options.way
    errors, rooms = (case.first.error, case.second.error), _bar_rooms(options)
    for place, (error, (_, _, track, _)) in enumerate(zip(errors, rooms, strict=False)):
        bar = track._replace(width=(track.width - _VALUE) * share * error / (max(errors) or 1))
        pieces.append(round_boxes(f"bar-{place}", bar, theme.load))
        if share >= 1:
            pieces.append(beside(f"error-{place}", bar, "right", error_text(error), theme.large, AIR))
    if share >= 1 and min(errors) > 0:
        text = tr(
            "{ratio} times as large; {elements} compared",
            ratio=counted(f"{max(errors) / min(errors):.3g}"),
            elements=many(case.second.check.compared, "element"),
        )
        pieces.append(write("ratio", rooms[2][0], text, theme.strong))
    return tuple(pieces)


def _own(run: RoundedRun, other: RoundedRun) -> list[str]:
    """Return the declarations of a kernel that the other one makes with another type."""
    others = {each.name: each.text for each in declarations(other.text)}
    return [each.text for each in declarations(run.text) if others.get(each.name, each.text) != each.text]


def error_text(error: float) -> str:
    """Return an error with two digits and a power of ten."""
    if not error:
        return "0"
    mantissa, _, exponent = f"{error:.1e}".partition("e")
    return f"{mantissa} · 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def _bar_rooms(options: ViewOptions) -> list[list[Box]]:
    """Return the rooms of both bars and of the sentence below them: a declaration, a name, the bar, and what is left."""
    rooms = options.room(150, 30).rows(Share(2), Share(2), REST)
    return [room.rows(52, 38, min(_BAR, max(room.height - 110, 20)), REST) for room in rooms]


VIEW = View(marked("Rounding errors"), RoundingCase, rounding_scene, rounding_motion, order=511)

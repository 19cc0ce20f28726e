"""The largest error of C in two runs, as bars on one scale, with the declarations in which their kernels differ."""

from gemmviz.analysis.declarations import declarations
from gemmviz.model.cases import RoundedRun, RoundingCase
from gemmviz.model.translation import counted, marked, tr
from gemmviz.model.words import listed, many
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import fitted, text_line
from gemmviz.scenes.kit.view import View

_TOP, _BAR, _VALUE = 150.0, 96.0, 250.0
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rounding_scene(case: RoundingCase, options: ViewOptions) -> Scene:
    """Draw what each kernel declares and the ground of its bar. Bars are drawn by ``rounding_motion``."""
    theme, pieces = options.theme, list[Primitive]()
    large, words = theme.type.sentence, theme.type.words
    for place, run in enumerate((case.first, case.second)):
        box = _track(place, options)
        other = case.second if place == 0 else case.first
        declared = fitted(listed(_own(run, other), "and") or run.kernel, large, box.width, "mono")
        pieces += [
            text_at(f"declared-{place}", (box.x, box.y - 56), declared, large, theme.text, "start", "mono"),
            text_line(f"kernel-{place}", (box.x, box.y - 18), run.kernel, words, box.width, theme.faint),
            Rects(f"track-{place}", boxes(box), theme.empty, None, radius=6.0),
        ]
    sizes = case.problem.sizes
    note = tr(
        "{items}: C of the run compared with a product in float64",
        items=", ".join((f"{name} = {value}" for name, value in sizes.items())),
    )
    return titled(pieces, tr("Largest error of an element of {array}", array=case.second.check.array), note, options)


def rounding_motion(case: RoundingCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars as they grow, with the errors once they have grown."""
    theme, pieces, size = options.theme, list[Primitive](), options.theme.type.sentence
    most = max(case.first.error, case.second.error) or 1.0
    share = options.way
    for place, run in enumerate((case.first, case.second)):
        box = _track(place, options)
        wide = (box.width - _VALUE) * run.error / most * share
        pieces.append(Rects(f"bar-{place}", boxes((box.x, box.y, wide, box.height)), theme.load, None, radius=6.0))
        if share >= 1.0:
            at = (box.x + wide + 20, baseline(box.middle_y, size))
            pieces.append(text_at(f"error-{place}", at, error_text(run.error), size, theme.text, "start", "semibold"))
    if share >= 1.0 and case.first.error and case.second.error:
        box = _track(2, options)
        ratio = max(case.first.error, case.second.error) / min(case.first.error, case.second.error)
        text = tr(
            "{ratio} times as large; {elements} compared",
            ratio=counted(f"{ratio:.3g}"),
            elements=many(case.second.check.compared, "element"),
        )
        pieces.append(text_line("ratio", (box.x, box.y - 40), text, size, box.width, theme.text, "semibold"))
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


def _track(place: int, options: ViewOptions) -> Box:
    pitch = (options.height - _TOP - 30) / 2.5
    return Box(MARGIN, _TOP + place * pitch + 90, options.width - 2 * MARGIN, min(_BAR, pitch - 110))


VIEW = View(marked("Rounding errors"), RoundingCase, rounding_scene, rounding_motion, order=52)

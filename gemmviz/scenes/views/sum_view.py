"""One element of C as a sum: its products in order, with braces over k and over the phases, and the current product
highlighted.
"""

import numpy as np

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.terms import Terms
from gemmviz.model.arrays import Longs
from gemmviz.model.words import many
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed, message
from gemmviz.scenes.kit.primitives import Face, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View

_MOST = 8
_NEVER = np.iinfo(np.int32).max


def sum_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the first element of C that the first watched thread stores."""
    terms = moment.terms
    own = [] if terms is None else np.flatnonzero(terms.threads == moment.scope.first_thread).tolist()
    if terms is None or not own:
        return framed([message("The watched thread stores no element of C.", options)], moment, options)
    return framed(_sum(moment, terms, own[0], options), moment, options)


def _sum(moment: Moment, terms: Terms, which: int, options: ViewOptions) -> list[Primitive]:
    theme, labels, replay = options.theme, options.labels, moment.replay
    array = replay.owners.array
    assert array is not None
    row, column = (int(each) for each in array.row_column(terms.elements[which]))
    steps = terms.steps[int(terms.kind[which])]
    order = np.argsort(steps, kind="stable")
    reached = int(np.count_nonzero(steps[order] <= moment.step))
    current = max(0, reached - 1)
    first = 0 if len(order) <= _MOST else min(max(0, current // _MOST * _MOST), len(order) - 1)
    shown = order[first : first + _MOST].tolist()
    room = options.width - 2 * MARGIN
    left = f"{labels.element('C', row, column)} = " + ("… + " if first else "")
    texts = [f"{labels.element('A', row, k)} · {labels.element('B', k, column)}" for k in shown]
    tail = " + …" if first + _MOST < len(order) else ""
    plus = text_width("  +  ", 1.0)
    widest = max(text_width(text, 1.0, "semibold") for text in texts)
    size = min(44.0, room / (text_width(left, 1.0, "semibold") + len(shown) * (widest + plus) + (1.0 if tail else 0.0)))
    wide = (widest + plus) * size
    x0 = MARGIN + text_width(left, size, "semibold")
    middle = options.top + 0.5 * (options.bottom - options.top)
    phases = [int(moment.trace.phase[steps[k]]) if steps[k] < _NEVER else -1 for k in shown]
    primitives: list[Primitive] = [
        Labels("sum-left", points((MARGIN, middle)), (left,), size, theme.accent("C"), "start", "semibold")
    ]
    values = _values(moment, terms, which)
    for place, (k, text) in enumerate(zip(shown, texts, strict=True)):
        x, span = x0 + place * wide, text_width(text, size)
        is_now, is_done = first + place == current and reached > 0, first + place < reached
        value = values.get(k) if is_done else None
        primitives += _term(str(k), text, value, (x, middle, span), size, is_now, theme.text if is_done else theme.faint, theme)
        if place + 1 < len(shown) or tail:
            at = points((x + span + 0.5 * (wide - span), middle))
            primitives.append(Labels(f"plus-{k}", at, ("+",), size, theme.faint, "middle"))
    ks = [(place, place, f"k = {k + labels.first}") for place, k in enumerate(shown)]
    if 1 < replay.phases < terms.length:
        ks = [(place, place, _within(moment, steps, k)) for place, k in enumerate(shown)]
        primitives += _braces(_runs(phases), x0, wide, middle - 3.4 * size, size, texts, options, "phase")
    primitives += _braces(ks, x0, wide, middle - 1.5 * size, size, texts, options, "k")
    if tail:
        primitives.append(Labels("sum-tail", points((x0 + len(shown) * wide, middle)), ("…",), size, theme.faint))
    return [*primitives, *_account(moment, terms, values, reached, middle, size, options)]


def _term(
    k: str, text: str, value: float | None, at: tuple[float, float, float], size: float, is_now: bool, ink: str, theme: Theme
) -> list[Primitive]:
    """Draw one product at (x, y, width), with its value below if it is known."""
    x, y, span = at
    primitives: list[Primitive] = []
    if is_now:
        ground = boxes((x - 8, y - 1.05 * size, span + 16, 1.5 * size))
        primitives.append(Rects(f"term-{k}-ground", ground, theme.tint("C", 0.35), radius=6.0))
    face: Face = "semibold" if is_now else "regular"
    primitives.append(Labels(f"term-{k}", points((x, y)), (text,), size, ink, "start", face))
    if value is not None:
        below = points((x + span / 2, y + 1.9 * size))
        primitives.append(Labels(f"value-{k}", below, (f"{value:.4g}",), 0.8 * size, theme.text, "middle"))
    return primitives


def _within(moment: Moment, steps: Longs, k: int) -> str:
    """Return the text of a term's k, counted from the first one of its phase."""
    made = steps < _NEVER
    if not made[k]:
        return ""
    phase = moment.trace.phase[steps[k]]
    first = int(np.flatnonzero(made & (moment.trace.phase[np.where(made, steps, 0)] == phase))[0])
    return f"k in phase = {k - first}"


def _runs(phases: list[int]) -> list[tuple[int, int, str]]:
    """Return the stretches of terms of one phase: first, last, and the text above them."""
    runs: list[tuple[int, int, str]] = []
    for place, phase in enumerate(phases):
        name = f"phase {phase + 1}"
        if runs and runs[-1][2] == name:
            runs[-1] = (runs[-1][0], place, name)
        else:
            runs.append((place, place, name))
    return runs


def _braces(
    spans: list[tuple[int, int, str]],
    x0: float,
    wide: float,
    y: float,
    size: float,
    texts: list[str],
    options: ViewOptions,
    key: str,
) -> list[Primitive]:
    theme = options.theme
    primitives: list[Primitive] = []
    small = 0.72 * size
    for first, last, name in spans:
        left, right = x0 + first * wide, x0 + last * wide + text_width(texts[last], size)
        middle, low = (left + right) / 2, y + 0.4 * size
        bars = np.array(
            [[left, low, left, y], [left, y, right, y], [right, y, right, low], [middle, y, middle, y - 0.35 * size]]
        )
        primitives.append(Lines(f"brace-{key}-{first}", bars, theme.faint, 2.0))
        font = min(small, small * (wide * (last - first + 1) - 10) / max(1.0, text_width(name, small)))
        primitives.append(
            Labels(f"brace-{key}-{first}-name", points((middle, y - 0.6 * size)), (name,), font, theme.text, "middle")
        )
    return primitives


def _values(moment: Moment, terms: Terms, which: int) -> dict[int, float]:
    """Return the products so far, by k; none if values are unknown."""
    replay, kind = moment.replay, int(terms.kind[which])
    if replay.value is None:
        return {}
    column = moment.scope.of_block.start + moment.scope.first_thread
    values = {}
    for k in range(terms.length):
        steps = (int(terms.reads_a[kind, k]), int(terms.reads_b[kind, k]))
        if max(steps) > moment.step:
            continue
        factors = [_read(moment, step, column) for step in steps]
        if all(factor is not None for factor in factors):
            values[k] = float(np.prod([f for f in factors if f is not None]))
    return values


def _read(moment: Moment, step: int, column: int) -> float | None:
    """Return the value that a thread read at a step that reads a single element."""
    operands = [(place, o) for place, o in enumerate(moment.trace.site_of(step).operands) if o.access == "read"]
    if len(operands) != 1 or operands[0][1].width != 1 or moment.replay.value is None:
        return None
    return float(moment.replay.value[int(moment.trace.row[step]) + operands[0][0], column])


def _account(
    moment: Moment, terms: Terms, values: dict[int, float], reached: int, middle: float, size: float, options: ViewOptions
) -> list[Primitive]:
    """Return how far the sum is."""
    theme = options.theme
    thread = thread_text(moment.scope.first_thread, moment.trace.launch)
    text = f"thread {thread}: {reached} of {many(terms.length, 'term')}"
    if len(values) == reached and reached:
        text += f", sum {np.float32(sum(values.values())):.5g}"
    at = points((MARGIN, middle + 4.4 * size))
    return [Labels("sum-account", at, (text,), min(30.0, size), theme.text, "start", "semibold")]


VIEW = View("Sum, term by term", Moment, sum_scene, multiplies=True, order=32)

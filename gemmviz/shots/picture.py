"""A shot and the value of its subject as a scene with its drawing options, and in words: a title, a sentence, and rows of facts
with their origin.
"""

import dataclasses
from collections.abc import Iterator
from functools import cached_property
from math import ceil
from typing import Any

from msgspec import Struct, structs

from gemmviz.analysis.replay.focus import focus_text
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.analysis.replay.tiles import EMPTY
from gemmviz.cuda.launch.legality import device_for
from gemmviz.cuda.nodes import Program
from gemmviz.model.arrays import Longs
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import listed, many, marked, tr, trn
from gemmviz.model.records import fields
from gemmviz.model.setup import Setup, kernel_title
from gemmviz.model.sites import PLAIN, LabelStyle
from gemmviz.model.threads import Triple
from gemmviz.model.trace import INTERPRETER
from gemmviz.run.cpu.executor import bound
from gemmviz.run.cpu.simt.interpret import Binding
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit import sentence
from gemmviz.scenes.kit.chart import chart_facts
from gemmviz.scenes.kit.primitives import Labels, Scene
from gemmviz.scenes.kit.sentence import beat
from gemmviz.scenes.kit.table import lines_of
from gemmviz.scenes.kit.theme import Theme, load_theme
from gemmviz.scenes.kit.view import HEIGHT, SHEET_EDGE, WIDTH, DrawingOptions, ViewOptions
from gemmviz.shots.shot import Camera, Shot
from gemmviz.shots.subject import Subject, subject_of_view

# Turns the value of a subject into words: a title, a sentence, and rows of facts with their origin, for those who can't see
# the picture and for the metadata of exported files.

_MOST_TEXTS = 60  # of a picture's texts; longer lists are cut, with their number
_COUNTED_FROM = marked("Every number is counted from the trace of the run")
UNTITLED = "gemmviz"  # the title of a picture without one
_ARRAY_VERBS = {"read": marked("Reads {array}"), "write": marked("Writes {array}")}


class Description(Struct, frozen=True):
    """A picture in words. ``title``: what is shown; ``sentence``: what happens; ``facts``: pairs of a name and a text;
    ``origin``: where the numbers come from.
    """

    title: str
    sentence: str
    facts: tuple[tuple[str, str], ...] = ()
    origin: str = ""

    @property
    def text(self) -> str:
        """All of it, one fact per line."""
        return "\n".join(filter(None, (self.sentence, *(f"{name}: {text}" for name, text in self.facts), self.origin)))


def described(scene: Scene, shot: Shot, subject: Any) -> Scene:
    """The scene with its description, which exported files carry."""
    words = description_of(shot, subject, scene)
    return dataclasses.replace(scene, title=words.title, description=words.text)


def description_of(shot: Shot, subject: Any, scene: Scene) -> Description:
    """The picture of a shot in words; the texts of the scene are among its facts unless a moment says all of them."""
    view = view_named(shot.view)
    picture = (tr("Picture"), tr(view.title))
    if isinstance(subject, Moment):
        words = moment_description(subject, shot.labels)
        lines = () if shot.view == "stage" else _lines_of_scene(scene)
        return structs.replace(words, facts=(picture, *words.facts, *lines))
    title, caption, notes = texts_of(subject_of_view(shot.view), subject, scene)
    if isinstance(subject, Pair):
        return Description(
            tr(view.title), _both_sides(subject, shot.labels), (picture, *_lines_of_scene(scene)), f"{tr(_COUNTED_FROM)}."
        )
    facts = _lines_of_scene(scene) if view.chart is None else tuple(chart_facts(view.chart(subject).showing(shot.chart.shown)))
    named = title if title != UNTITLED else tr(view.title)
    return Description(named, caption or tr(view.title), (picture, *facts), notes)


def _both_sides(pair: Pair, labels: LabelStyle) -> str:
    """What both runs of a comparison do."""
    left, right = (f"{_kernel(now)}, {step_sentence(now, labels)}" for now in (pair.left, pair.right))
    return tr("Left: {left}; right: {right}.", left=left, right=right)


def _lines_of_scene(scene: Scene) -> tuple[tuple[str, str], ...]:
    lines = lines_of(scene)
    more = len(lines) - _MOST_TEXTS
    rest = trn(" … and {count} more line", " … and {count} more lines", more) if more > 0 else ""
    return ((tr("Texts"), " | ".join(lines[:_MOST_TEXTS]) + rest),) if lines else ()


def texts_of(kind: Subject, subject: Any, scene: Scene) -> tuple[str, str, str]:
    """Title, caption and notes of a view."""
    if kind.texts is not None:
        return kind.texts(subject)
    texts = {each.meaning: " ".join(each.texts) for each in reversed(scene.words) if isinstance(each, Labels) and not each.side}
    return texts.get("title", UNTITLED), texts.get("action", ""), texts.get("note", "")


def moment_description(moment: Moment, labels: LabelStyle = PLAIN) -> Description:
    """A step of a run in words, with numbers from its trace alone."""
    trace = moment.trace
    title = f"{trace.setup.kernel.name}: {sentence.step_title(moment, labels)}"
    by = tr("the interpreter") if trace.by == INTERPRETER else trace.by
    origin = tr("{counted}, recorded by {by}. {check}", counted=tr(_COUNTED_FROM), by=by, check=trace.check)
    return Description(title, f"{step_sentence(moment, labels)}.", tuple(_facts_of_moment(moment)), origin)


def step_sentence(moment: Moment, labels: LabelStyle = PLAIN) -> str:
    """What the watched threads do at a step, on which line, and what it costs."""
    what, line, cost = beat(moment, labels).text, moment.site.place.line, sentence.cost(moment)
    return tr("{what}, line {line}; {cost}", what=what, line=line, cost=cost)


def _facts_of_moment(moment: Moment) -> Iterator[tuple[str, str]]:
    trace = moment.trace
    yield tr("Kernel"), _kernel(moment)
    yield tr("Watched"), focus_text(moment.focus, trace)
    details = beat(moment).details
    if details[1:]:
        yield tr("Details"), "; ".join(details[1:])
    for touched in moment.touched:
        if len(touched.block_cells):
            yield tr(_ARRAY_VERBS[touched.operand.access], array=touched.array.name), _region(touched)
    for number in sorted(moment.tiles):
        yield trace.arrays[number].name, _held_words(moment, number)


def _kernel(moment: Moment) -> str:
    setup = moment.trace.setup
    return ", ".join((setup.kernel.name, *(f"{name} = {n}" for name, n in {**setup.problem.sizes, **setup.parameters}.items())))


def _region(touched: TouchedOperand) -> str:
    """The rows and columns that the watched threads of the block touch."""
    rows, columns = touched.array.row_column(touched.block_cells)
    elements, area = many(len(set(touched.block_cells.tolist())), "element"), _area(rows, columns)
    if touched.array.space == "shared":
        return tr("{elements} of shared memory, {area}", elements=elements, area=area)
    return tr("{elements} of global memory, {area}", elements=elements, area=area)


def _area(rows: Longs, columns: Longs) -> str:
    """Rows and columns from the first to the last."""
    ends = {"row": rows.min(), "last_row": rows.max(), "column": columns.min(), "last_column": columns.max()}
    return tr("rows {row} to {last_row}, columns {column} to {last_column}", **ends)


def _held_words(moment: Moment, number: int) -> str:
    """What a shared array holds: of which matrices, which rows and columns, from which phases."""
    content, array = moment.tiles[number], moment.trace.arrays[number]
    parts = []
    for matrix in sorted({int(each) for each in content.array if each >= 0}):
        source, inside = moment.trace.arrays[matrix], content.array == matrix
        rows, columns = source.row_column(content.element[inside])
        elements = many(int(inside.sum()), "element")
        parts.append(tr("{elements} of {array}, {area}", elements=elements, array=source.name, area=_area(rows, columns)))
    others = int(((content.array < 0) & (content.array != EMPTY)).sum())
    if others:
        parts.append(trn("{count} constant or computed value", "{count} constants or computed values", others))
    empty = int((content.array == EMPTY).sum())
    if empty:
        is_all = empty == array.size
        parts.append(tr("nothing stored yet") if is_all else tr("{elements} without a value", elements=many(empty, "element")))
    return tr("{elements} of shared memory: {contents}", elements=many(array.size, "element"), contents="; ".join(parts))


# A launch in the words of its kernel's source: the names of arrays and sizes there, and a legend for readers who have only the
# source and a question about it.


class LaunchWords(Struct, frozen=True, dict=True):
    """The words for a launch; ``labels``: how elements and threads are written. Raises GemmvizError if it can't run."""

    setup: Setup
    labels: LabelStyle

    @cached_property
    def _binding(self) -> Binding:
        return bound(self.setup)

    @property
    def program(self) -> Program:
        return self._binding.program

    @property
    def launch(self) -> Launch:
        return self._binding.launch

    @cached_property
    def _names(self) -> dict[str, str]:
        """The kernel's own names of its arguments, by those of the problem."""
        own = {each.argument: each.name for each in reversed(self.program.parameters)}
        return {name: own[place] for place, name in enumerate(self.setup.kernel.args) if place in own}

    def name(self, array: str) -> str:
        """The name of an argument in the source, by that in the problem."""
        return self._names.get(array, array)

    @property
    def legend(self) -> str:
        """The launch, the sizes of the arrays, and how elements and threads are written."""
        return " ".join(filter(None, (f"{self._launch}.", self._sizes, self._notation, self._pictures)))

    @property
    def _launch(self) -> str:
        setup, launch = self.setup, self.launch
        known = setup.problem.sizes
        sizes = {self.name(name): known[name] for name in setup.kernel.args if name in known}
        sizes |= {macro: known[size] for macro, size in setup.kernel.size_macros}
        values = [f"{name} = {size}" for name, size in sizes.items()] or [setup.problem.text()]
        where = tr("{kernel}, on {device}", kernel=", ".join((kernel_title(setup), *values)), device=device_for(setup).name)
        return tr(
            "{where}: a grid of {grid}, blocks of {block}",
            where=where,
            grid=extents_text(launch.grid),
            block=extents_text(launch.block),
        )

    @property
    def _sizes(self) -> str:
        """The shapes of the arrays in global memory; arrays of one shape together."""
        shapes: dict[tuple[int, ...], list[str]] = {}
        for array, shape in self._binding.shapes.items():
            shapes.setdefault(shape, []).append(self.name(array))
        matrices, others = (
            ", ".join(_sized(names, shape) for shape, names in shapes.items() if (len(shape) == 2) == is_matrix)
            for is_matrix in (True, False)
        )
        return " ".join(
            filter(None, (matrices and tr("{matrices} (rows × columns).", matrices=matrices), others and f"{others}."))
        )

    @property
    def _notation(self) -> str:
        has_matrices = any(len(shape) > 1 for shape in self._binding.shapes.values())
        order = tr("written as [{order}] and ", order=tr(self.labels.order)) if has_matrices else ""
        threads, blocks = (self._axes(extents) for extents in (self.launch.block, self.launch.grid))
        indices = (
            tr("threads and blocks as {threads}", threads=threads)
            if threads == blocks
            else tr("threads as {threads}, blocks as {blocks}", threads=threads, blocks=blocks)
        )
        phases = tr("; phases are counted from 1") if self._has_phases else ""
        return tr(
            "Elements are {order}counted from {first}; {indices}, counted from 0{phases}.",
            order=order,
            first=self.labels.first,
            indices=indices,
            phases=phases,
        )

    @property
    def _has_phases(self) -> bool:
        return any(loop.number == self.program.phase_loop and loop.holds_barrier for loop in self.program.loops)

    def _axes(self, extents: Triple) -> str:
        axes = "xyz" if extents[2] > 1 else "xy"
        return f"({', '.join(axes if self.labels.thread == 'x, y' else axes[::-1])})"

    @property
    def _pictures(self) -> str:
        """The names that pictures use, if they are others."""
        other = {self.name(array): array for array in self._binding.shapes if self.name(array) != array}
        if not other:
            return ""
        return trn(
            "In pictures, {names} is called {others}.", "In pictures, {names} are called {others}.", len(other),
            names=listed(other), others=listed(other.values()),
        )  # fmt: skip


def extents_text(extents: Triple) -> str:
    """Extents along x and y, and along z if there are several: "4 × 4 × 2"."""
    return " × ".join(map(str, extents if extents[2] > 1 else extents[:2]))


def _sized(names: list[str], shape: tuple[int, ...]) -> str:
    """Arrays with their shape: "A and B are 8 × 8", "x is 64 long"."""
    size = " × ".join(map(str, shape))
    if len(shape) > 1:
        return trn("{names} is {size}", "{names} are {size}", len(names), names=listed(names), size=size)
    return trn("{names} is {size} long", "{names} are {size} long", len(names), names=listed(names), size=size)


Rectangle = tuple[float, float, float, float]
_Size = tuple[float, float]
_SLIDE_PIXELS, _LEAST_SCALE = 1920, 0.01


def theme_of(shot: Shot, system_is_dark: bool = True) -> Theme:
    """The theme of a shot; for "system", the system's dark or light theme."""
    return load_theme(shot.theme if shot.theme != "system" else "dark" if system_is_dark else "light")


def options_for(
    shot: Shot, theme: Theme, size: _Size | None = None, seen: Rectangle | None = None, scale: float = 0.0
) -> ViewOptions:
    """Drawing options of a shot. ``size``: of the frame in units, by default that of a slide, which has margins and no
    buttons; fewer units enlarge the text.
    ``seen``: the visible part of the frame, by default from the camera; ``scale``: pixels per unit, by default for a slide 1920
    pixels wide.
    """
    camera, (width, height) = shot.camera, size or slide_size(shot)
    label_zoom = float(1 << (int(camera.zoom).bit_length() - 1))
    clip = None if camera.zoom == 1.0 else seen or camera_box(camera, width, height)
    return ViewOptions(
        theme, label_zoom, width, height, clip=clip, curves=shot.chart.shown, scale=scale or _SLIDE_PIXELS / width,
        is_even=shot.chart.is_even, edge=0.0 if size else SHEET_EDGE, buttons=size is not None,
        **{each.name: getattr(shot, each.name) for each in fields(DrawingOptions)},
    )  # fmt: skip


def slide_size(shot: Shot) -> _Size:
    """Width and height in units of a frame with the aspect ratio of a slide."""
    return float(round(WIDTH / shot.type_scale)), float(round(HEIGHT / shot.type_scale))


def frame_for(shot: Shot, width: float, height: float) -> tuple[_Size, float]:
    """Size in units, and pixels per unit, of a frame that fills the given pixels like a slide."""
    scale = max(_LEAST_SCALE, min(width / WIDTH, height / HEIGHT)) * shot.type_scale
    return (max(1.0, round(width / scale)), max(1.0, round(height / scale))), scale


def camera_box(camera: Camera, width: float, height: float) -> Rectangle:
    """The part of a frame that a camera shows: x, y, width, height in units."""
    wide, high = width / camera.zoom, height / camera.zoom
    return camera.x * width - wide / 2, camera.y * height - high / 2, wide, high


def picture(shot: Shot, subject: Any, theme: Theme | None = None) -> Scene:
    """The scene of a shot, magnified as its camera has it, with its description."""
    from gemmviz.scenes.kit.shapes import magnified

    options = options_for(shot, theme or theme_of(shot))
    scene = view_named(shot.view).scene(subject, options)
    return described(magnified(scene, shot.camera.zoom, shot.camera.x, shot.camera.y), shot, subject)


INSTANTS = 60


def instant_place(instant: float) -> tuple[int, float]:
    """The step that contains an instant (0 to 1) of a launch, and the elapsed fraction of that step."""
    at = round(instant * INSTANTS, 6)
    step = max(0, ceil(at) - 1)
    return step, at - step

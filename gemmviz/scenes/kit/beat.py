"""What happens at a step, as a sentence with the count that it is about: "16 threads each fetch one element of A".

Every number is counted in the trace, for the threads that are watched and for this step alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.analysis.replay.tiles import TileContent
from gemmviz.model.labels import PLAIN, LabelStyle
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import CONSTANT
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many

_MOST_COMPARED = 1 << 16  # accesses among which different elements are counted

# By kind of a site without elements: the verb and the rest of the sentence, for several threads.
_SYNCHRONISES: dict[str, tuple[str, str]] = {
    "barrier": ("wait", marked("at the barrier")),
    "warp barrier": ("wait", marked("for their warp")),
    "wait": ("wait", marked("for asynchronous copies to arrive")),
    "fence": ("order", marked("memory accesses")),
}
_GRID = ("wait", marked("for all blocks of the grid"))
_SINGULAR: Mapping[str, str] = {"multiply": "multiplies", "fetch": "fetches"}


@dataclass(frozen=True, slots=True)
class StepSentence:
    """What the watched threads do at a step.

    ``text``: a sentence without a full stop; ``number``: the count that it is about, which stands in it in digits, None for a
    sentence about one thread; ``details``: what else the trace says of this step.
    """

    text: str
    number: int | None = None
    details: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, str, str]:
        """The text before its number, the number in digits, and the text after it; all of the text first if it has none."""
        if self.number is None:
            return self.text, "", ""
        before, digits, after = self.text.partition(str(self.number))
        return before, digits, after


def beat(moment: Moment, labels: LabelStyle = PLAIN) -> StepSentence:
    """Return what the watched threads do at a moment."""
    return moment.cached(("beat", labels), lambda: _beat(moment, labels))


def _beat(moment: Moment, labels: LabelStyle) -> StepSentence:
    active = int((moment.arrived >= 0).sum())
    if not active:
        return _nobody(moment)
    phrase, details = _action(moment, active, labels)
    line = tr("line {line}", line=moment.site.place.line)
    idle = len(moment.arrived) - active
    absent = (
        (
            (
                tr("{idle} of {threads} takes no part", idle=idle, threads=many(len(moment.arrived), "thread"))
                if idle == 1
                else tr("{idle} of {threads} take no part", idle=idle, threads=many(len(moment.arrived), "thread"))
            ),
        )
        if idle
        else ()
    )
    who = _followed(moment) if moment.focus.thread is not None else many(active, "thread")
    number = None if moment.focus.thread is not None else active
    return StepSentence(f"{who} {phrase}", number, (line, *details, *absent, *_collisions(moment)))


def _nobody(moment: Moment) -> StepSentence:
    """Return the sentence for a step in which no watched thread takes part."""
    others = int((moment.trace.element[moment.trace.row[moment.step], moment.scope.of_block] >= 0).sum())
    details = (
        tr("line {line}", line=moment.site.place.line),
        tr("{threads} of the block {does}", threads=many(others, "thread"), does=_does("do", others)),
    )
    if moment.focus.thread is not None:
        return StepSentence(tr("{followed} takes no part", followed=_followed(moment)), None, details)
    whose = tr("warp {warp}", warp=moment.focus.warp) if moment.focus.warp is not None else tr("the block")
    return StepSentence(
        tr("No thread of {whose} takes part", whose=whose), None, details if moment.focus.warp is not None else details[:1]
    )


def _does(verb: str, count: int) -> str:
    return {"do": "does"}.get(verb, verb + "s") if count == 1 else verb


def _followed(moment: Moment) -> str:
    return tr("Thread {thread}", thread=thread_text(moment.focus.thread or 0, moment.trace.launch))


def _action(moment: Moment, active: int, labels: LabelStyle) -> tuple[str, tuple[str, ...]]:
    """Return the sentence from its verb on, and details."""
    site, is_alone = moment.site, moment.focus.thread is not None
    is_one = is_alone or active == 1
    if site.kind in _SYNCHRONISES:
        verb, rest = _GRID if site.visible_to == "grid" and site.is_barrier else _SYNCHRONISES[site.kind]
        return f"{_verb(verb, is_one)} {rest.replace('their', 'its') if is_one else rest}", ()
    reads, writes = ([each for each in moment.touched if each.operand.access == access] for access in ("read", "write"))
    each_ = "" if is_one else tr("each ")
    if site.kind == "matrix":
        return _matrix(reads, writes, is_one), ()
    if not moment.touched:
        return f"{_verb(site.kind, is_one)}", ()
    if reads and writes:
        later = (tr("it arrives later"),) if site.is_async and is_one else (tr("they arrive later"),) if site.is_async else ()
        what, _ = _read_of(moment, reads[0], labels)
        return (
            tr("copies {what} into {array}", what=what, array=writes[0].array.name)
            if is_one
            else tr("each copy {what} into {array}", what=what, array=writes[0].array.name)
        ), (*later, *_different(reads[0]))
    products = _products(moment)
    if products and reads[0].array.space == "shared":
        return f"{each_}{_verb('multiply', is_one)} {_pairs(moment, products, labels)}", _different(reads[0])
    verb, what, details = _access(moment, (reads or writes)[0], labels)
    then = (
        (
            tr(" and {verb} a product", verb=_verb("add", is_one))
            if products == 1
            else tr(" and {verb} {products} products", verb=_verb("add", is_one), products=products)
        )
        if products
        else ""
    )
    return f"{each_}{_verb(verb, is_one)} {what}{then}", details


def _verb(verb: str, is_one: bool) -> str:
    return _SINGULAR.get(verb, verb + "s") if is_one else verb


def _access(moment: Moment, touched: TouchedOperand, labels: LabelStyle) -> tuple[str, str, tuple[str, ...]]:
    """Return verb, object and details of an access of one array."""
    array, is_shared = touched.array, touched.array.space == "shared"
    if moment.site.is_atomic:
        where = tr(" of shared memory") if is_shared else ""
        return (
            "update",
            tr("{elements}{where}, one after the other", elements=_elements(moment, touched, labels), where=where),
            _different(touched),
        )
    if touched.operand.access == "read":
        what, details = _read_of(moment, touched, labels)
        return ("read" if is_shared else "fetch"), what, (*details, *_different(touched))
    if not is_shared:
        return "store", _elements(moment, touched, labels), ()
    what, details = _stored(moment, touched, labels)
    return "store", tr("{what} into {array}", what=what, array=array.name), details


def _matrix(reads: list[TouchedOperand], writes: list[TouchedOperand], is_one: bool) -> str:
    """Return what a step does that works on fragments of matrices, which belong to a whole warp."""
    if reads and not writes:
        return tr("together {verb} part of {array}", verb=_verb("read", is_one), array=reads[0].array.name)
    if writes and not reads:
        return tr("together {verb} part of {array}", verb=_verb("store", is_one), array=writes[0].array.name)
    return tr("together {verb} two matrices", verb=_verb("multiply", is_one))


def _elements(moment: Moment, touched: TouchedOperand, labels: LabelStyle, name: str | None = None) -> str:
    """Return what each thread touches: "one element of A", "4 elements of A", for a followed thread "A[3, 5]"."""
    width = touched.operand.width
    if moment.focus.thread is not None and len(touched.cells):
        first = element_text(touched.array, int(touched.cells[0]), labels)
        return first if width == 1 else tr("{width} elements from {first} on", width=width, first=first)
    return (
        tr("one element of {name}", name=name or touched.array.name)
        if width == 1
        else tr("{width} elements of {name}", width=width, name=name or touched.array.name)
    )


def _read_of(moment: Moment, touched: TouchedOperand, labels: LabelStyle) -> tuple[str, tuple[str, ...]]:
    """Return what is read; of a copy in shared memory, the matrix that it is of."""
    if touched.array.space == "global":
        return _elements(moment, touched, labels), ()
    return _copies(moment, touched, labels, moment.tiles_before.get(touched.operand.array), "from")


def _stored(moment: Moment, touched: TouchedOperand, labels: LabelStyle) -> tuple[str, tuple[str, ...]]:
    """Return what is stored into shared memory, and how many of the stored values are constants."""
    content = moment.tiles.get(touched.operand.array)
    return _copies(moment, touched, labels, content, "")


def _copies(
    moment: Moment, touched: TouchedOperand, labels: LabelStyle, content: TileContent | None, joint: str
) -> tuple[str, tuple[str, ...]]:
    """Return the elements of a matrix whose copies some cells of shared memory hold, or "one value"."""
    width, cells, name = touched.operand.width, touched.block_cells, touched.array.name
    where = f" {joint} {name}" if joint else ""
    value = f"{(tr('one value') if width == 1 else tr('{width} values', width=width))}{where}"
    if content is None or not len(cells):
        return value, ()
    kinds = content.array[cells]
    constants, numbers = int((kinds == CONSTANT).sum()), np.unique(kinds[kinds >= 0]).tolist()
    known = np.unique(content.value[cells[kinds == CONSTANT]])
    constant = f"{known[0]:g}" if len(known) == 1 and not np.isnan(known[0]) else ""
    if constants == len(cells):
        return (f"{constant}{where}" if constant else value), ()
    if len(numbers) != 1 or (kinds < 0).sum() != constants:
        return value, ()
    array = moment.trace.arrays[numbers[0]]
    details = (
        (tr("{constants} of {cells} are constants outside {array}", constants=constants, cells=len(cells), array=array.name),)
        if constants
        else ()
    )
    if moment.focus.thread is not None:
        element = element_text(array, int(content.element[cells[0]]), labels)
        return (
            element if width == 1 else tr("{width} elements from {element} on", width=width, element=element)
        ) + where, details
    otherwise = tr(" or {constant}", constant=constant or tr("a constant")) if constants else ""
    return (
        tr("one element of {array}{otherwise}{where}", array=array.name, otherwise=otherwise, where=where)
        if width == 1
        else tr(
            "{width} elements of {array}{otherwise}{where}", width=width, array=array.name, otherwise=otherwise, where=where
        )
    ), details


def _different(touched: TouchedOperand) -> tuple[str, ...]:
    """Return the number of different elements if threads share some."""
    if len(touched.elements) * touched.operand.width > _MOST_COMPARED:
        return ()
    cells = touched.cells
    count = len(np.unique(cells))
    return (
        (tr("{different_elements} in all", different_elements=many(count, "different element")),) if count < len(cells) else ()
    )


def _products(moment: Moment) -> int:
    """Return the number of products that each active thread can add to its sums with what it reads at this step; 0 if that
    is unknown or differs between threads.
    """
    terms, scope = moment.terms, moment.scope
    if terms is None or moment.focus.everyone or not any(each.operand.access == "read" for each in moment.touched):
        return 0
    made = (terms.steps == moment.step).sum(axis=1)[terms.kind]
    per_thread = np.bincount(terms.threads, made, scope.of_block.stop - scope.of_block.start)
    start = scope.first_thread
    chosen = per_thread[start : start + len(moment.arrived)][moment.arrived >= 0].astype(np.int64)
    return int(chosen[0]) if (chosen == chosen[0]).all() else 0


def _pairs(moment: Moment, products: int, labels: LabelStyle) -> str:
    """Return the factors of the products: for a followed thread with one sum, the elements."""
    terms = moment.thread_terms
    if moment.focus.thread is not None and terms is not None and len(terms.elements) == 1:
        row, column = int(terms.rows[0]), int(terms.columns[0])
        return tr(
            "{element} by {element_2}",
            element=labels.element("A", row, terms.k),
            element_2=labels.element("B", terms.k, column),
        )
    where = tr("the tiles") if _is_all_copied(moment) else tr("{array} and registers", array=moment.touched[0].array.name)
    return (
        tr("one pair from {where}", where=where)
        if products == 1
        else tr("{products} pairs from {where}", products=products, where=where)
    )


def _is_all_copied(moment: Moment) -> bool:
    """Whether elements of every input are copied into shared memory."""
    trace = moment.trace
    copied = moment.replay.cached("copied", lambda: np.unique(trace.origin_array[trace.origin_array >= 0]))
    return set(trace.inputs) <= set(copied.tolist())


def _collisions(moment: Moment) -> tuple[str, ...]:
    """Return how many elements of shared memory collide at this step."""
    found = []
    for touched in moment.touched:
        cells = moment.replay.conflicts.cells(moment.step, touched.operand.array, moment.scope.block_number)
        if len(cells):
            found.append(
                tr("{elements} of {array} collides", elements=many(len(cells), "element"), array=touched.array.name)
                if len(cells) == 1
                else tr("{elements} of {array} collide", elements=many(len(cells), "element"), array=touched.array.name)
            )
    return tuple(found)


def element_text(array: MemoryArray, element: int, labels: LabelStyle = PLAIN) -> str:
    """Return an element with its indices: "A[3, 5]"."""
    if array.space == "shared":
        return f"{array.name}[{element}]" if len(array.shape) == 1 else PLAIN.element(array.name, *array.place(element))
    return labels.named(array, element)


def stage_of_run(moment: Moment, labels: LabelStyle = PLAIN) -> str:
    """Return the position in the run: "phase 2 of 2", with the k whose factors are read; "k = 33 of 64" if the trips of a loop
    without a barrier are counted; "" if there are none.
    """
    trace, replay, phase = moment.trace, moment.replay, moment.phase
    k = _k_read(moment)
    if not replay.phases:
        return ""
    if not trace.loops[trace.phase_loop].holds_barrier:
        k = _k_loaded(moment) if k is None else k
        if k is not None:
            return tr("k = {k} of {K}", k=k + labels.first, K=trace.setup.problem.K)
        return tr("pass {phase} of {phases}", phase=phase + 1, phases=replay.phases) if 0 <= phase < replay.phases else ""
    if not 0 <= phase < replay.phases:
        return tr("before the phases") if phase < 0 else tr("after the phases")
    of = (
        tr(" of {phases}", phases=replay.phases) if trace.phases is None and trace.stop is None else ""
    )  # else their number is unknown
    return tr("phase {phase}{of}", phase=phase + 1, of=of) + ("" if k is None else f", k = {k + labels.first}")


def _k_read(moment: Moment) -> int | None:
    """Return the k of the factors that the first watched thread reads at this step, None for other steps."""
    terms = moment.thread_terms
    if terms is None or terms.k < 0:
        return None
    return terms.k if moment.step in terms.steps_a or moment.step in terms.steps_b else None


def _k_loaded(moment: Moment) -> int | None:
    """Return the k of the factors that all watched threads load from a matrix, None if they differ."""
    for touched in moment.touched if moment.trace.is_multiply else ():
        if touched.array.name in ("A", "B") and touched.array.space == "global":
            ks = np.unique(touched.array.row_column(touched.cells)[touched.array.name == "A"])
            return int(ks[0]) if len(ks) == 1 else None
    return None

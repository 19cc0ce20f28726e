"""Sentences about a step: what happens at it, where in the run it is, and what it costs."""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.counts import Counts
from gemmviz.analysis.replay.divergence import parted_warps
from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.analysis.replay.replay import Replay
from gemmviz.analysis.replay.tiles import TileContent
from gemmviz.model.device import MemoryRules
from gemmviz.model.messages import Place, counted, many, marked, shown_facts, sized, tr, trn
from gemmviz.model.sites import PLAIN, LabelStyle, MemoryArray, Space
from gemmviz.model.timing import MachineCode
from gemmviz.model.trace import CONSTANT

_WORDS_A_SECOND, _FIRST_WIDE = 3.0, 0x2E80
_MOST_COUNTED = 1 << 16  # accesses among which different elements are counted

# By kind of a site: what one thread does, and what several do.
_SYNCHRONISES: dict[str, tuple[str, str]] = {
    "barrier": (marked("waits at the barrier"), marked("wait at the barrier")),
    "warp barrier": (marked("waits for its warp"), marked("wait for their warp")),
    "wait": (marked("waits for asynchronous copies to arrive"), marked("wait for asynchronous copies to arrive")),
    "fence": (marked("orders memory accesses"), marked("order memory accesses")),
}
_AT_BARRIER: dict[str, tuple[str, str]] = {
    "init": (marked("sets up {barrier}"), marked("each set up {barrier}")),
    "arrive": (marked("arrives at {barrier}"), marked("arrive at {barrier}")),
    "wait": (marked("waits at {barrier}"), marked("wait at {barrier}")),
}
_GRID = (marked("waits for all blocks of the grid"), marked("wait for all blocks of the grid"))
_ACCESSES: dict[str, tuple[str, str]] = {
    "fetch": (marked("fetches {what}"), marked("each fetch {what}")),
    "read": (marked("reads {what}"), marked("each read {what}")),
    "store": (marked("stores {what}"), marked("each store {what}")),
    "update": (marked("updates {what}"), marked("each update {what}")),
    "multiply": (marked("multiplies {what}"), marked("each multiply {what}")),
}
_BRANCHES = (
    marked("tests {condition}: it holds for {taken}"), marked("test {condition}: it holds for {taken}")
)  # fmt: skip
_COPIES = (marked("copies {what} into {array}"), marked("each copy {what} into {array}"))
_TOGETHER: dict[str, tuple[str, str]] = {
    "read": (marked("with its warp reads part of {array}"), marked("together read part of {array}")),
    "store": (marked("with its warp stores part of {array}"), marked("together store part of {array}")),
    "multiply": (marked("with its warp multiplies two matrices"), marked("together multiply two matrices")),
    "transpose": (marked("with its warp transposes a matrix"), marked("together transpose a matrix")),
}


class StepSentence(Struct, frozen=True):
    """What the watched threads do at a step.

    ``text``: a sentence without a full stop; ``number``: the count that it is about, in digits, if it begins with it, else "";
    ``details``: what else the trace says of this step.
    """

    text: str
    number: str = ""
    details: tuple[str, ...] = ()


def reading_seconds(text: str) -> float:
    """Return how long a hall needs to read a sentence, at least a second. A Chinese character counts as half a word."""
    wide = sum(ord(letter) >= _FIRST_WIDE for letter in text)
    return max(1.0, (len(text.split()) + wide / 2) / _WORDS_A_SECOND)


def beat(moment: Moment, labels: LabelStyle = PLAIN) -> StepSentence:
    """Return what the watched threads do at a moment."""
    return moment.cached(("beat", labels, shown_facts()), lambda: _beat(moment, labels))


def _beat(moment: Moment, labels: LabelStyle) -> StepSentence:
    active = int((moment.arrived >= 0).sum())
    if not active:
        return _nobody(moment)
    phrase, details = _action(moment, active, labels)
    line = tr("line {line}", line=moment.site.place.line)
    idle = len(moment.arrived) - active
    threads = sized(len(moment.arrived), "thread")
    absent = trn("{count} of {threads} takes no part", "{count} of {threads} take no part", idle, threads=threads)
    who = _followed_thread(moment) if moment.focus.thread is not None else many(active, "thread")
    number = str(active) if who.startswith(str(active)) else ""
    details = (line, *details, *((absent,) if idle else ()), *_collisions(moment))
    return StepSentence(tr("{who} {phrase}", who=who, phrase=phrase), number, details)


def _nobody(moment: Moment) -> StepSentence:
    """Return the sentence for a step in which no watched thread takes part."""
    others = int((moment.trace.element[moment.trace.row[moment.step], moment.scope.of_block] >= 0).sum())
    does = trn("{threads} of the block does", "{threads} of the block do", others, threads=many(others, "thread"))
    details = (tr("line {line}", line=moment.site.place.line), does)
    if moment.focus.thread is not None:
        return StepSentence(tr("{followed} takes no part", followed=_followed_thread(moment)), "", details)
    if moment.focus.warp is None:
        return StepSentence(tr("No thread of the block takes part"), "", details[:1])
    return StepSentence(tr("No thread of warp {warp} takes part", warp=moment.focus.warp), "", details)


def _followed_thread(moment: Moment) -> str:
    return tr("Thread {thread}", thread=thread_text(moment.focus.thread or 0, moment.trace.launch))


def _action(moment: Moment, active: int, labels: LabelStyle) -> tuple[str, tuple[str, ...]]:
    """Return the sentence from its verb on, and details."""
    site, is_alone = moment.site, moment.focus.thread is not None
    is_one = is_alone or active == 1
    if (barrier := barrier_name(moment)) is not None:
        return _form(_AT_BARRIER.get(site.kind, _AT_BARRIER["wait"]), is_one, barrier=barrier), ()
    if site.kind in _SYNCHRONISES:
        forms = _GRID if site.visible_to == "grid" and site.is_barrier else _SYNCHRONISES[site.kind]
        return _form(forms, is_one), ()
    reads, writes = ([each for each in moment.touched if each.operand.access == access] for access in ("read", "write"))
    if site.kind == "branch":
        return _branch(moment, active)
    if site.kind == "product":
        return _form(_TOGETHER["multiply"], is_one), ()
    if site.kind == "matrix":
        return _matrix(reads, writes, is_one), ()
    if not moment.touched:
        return _form((f"{site.kind}s", site.kind), is_one), ()
    if reads and writes:
        later = (tr("it arrives later"),) if site.is_async and is_one else (tr("they arrive later"),) if site.is_async else ()
        what, _ = _read_of(moment, reads[0], labels)
        copies = _form(_COPIES, is_one, what=what, array=writes[0].array.name)
        return copies, (*later, *_different(reads[0]))
    products = products_added(moment)
    if products and reads[0].array.space == "shared":
        return _form(_ACCESSES["multiply"], is_one, what=_factor_words(moment, products, labels)), _different(reads[0])
    verb, what, details = _access(moment, (reads or writes)[0], labels)
    return _form(_ACCESSES[verb], is_one, what=what) + _added(products, is_one), details


def _branch(moment: Moment, active: int) -> tuple[str, tuple[str, ...]]:
    """Return where a condition holds, and how many warps have lanes on both sides."""
    condition, taken = " ".join(moment.site.text.split()), int((moment.arrived == 1).sum())
    if moment.focus.thread is not None:
        found = marked("finds that {condition} holds") if taken else marked("finds that {condition} doesn't hold")
        return tr(found, condition=condition), ()
    parted, warps = parted_warps(moment)
    details = trn("{parted} of {warps} parts", "{parted} of {warps} part", parted, parted=parted, warps=many(warps, "warp"))
    return _form(_BRANCHES, active == 1, condition=condition, taken=taken), (details,)


def barrier_name(moment: Moment) -> str | None:
    """The mbarrier or the barrier with a number at which the watched threads are; None at other steps."""
    site, arrived = moment.site, np.unique(moment.arrived[moment.arrived >= 0]).tolist()
    operand = site.operand(0)
    if site.is_of_mbarrier and operand is not None:
        array = moment.trace.arrays[operand.array]
        return array.subscripted(arrived[0]) if len(arrived) == 1 and array.size > 1 else array.name
    if site.kind == "arrive" or (site.kind == "barrier" and arrived != [0]):
        return tr("barrier {number}", number=arrived[0]) if len(arrived) == 1 else tr("their barriers")
    return None


def _form(forms: tuple[str, str], is_one: bool, /, **values: object) -> str:
    """Return the phrase for one thread or for several."""
    return tr(forms[0 if is_one else 1], **values)


def _added(products: int, is_one: bool) -> str:
    """Return that products are added to sums; "" if there are none."""
    if not products:
        return ""
    if products == 1:
        return tr(" and adds a product") if is_one else tr(" and add a product")
    form = (marked(" and adds {products} products"), marked(" and add {products} products"))
    return _form(form, is_one, products=products)


def _access(moment: Moment, touched: TouchedOperand, labels: LabelStyle) -> tuple[str, str, tuple[str, ...]]:
    """Return verb, object and details of an access of one array."""
    array, is_shared = touched.array, touched.array.space == "shared"
    if moment.site.is_atomic:
        elements = _elements(moment, touched, labels)
        if is_shared:
            what = tr("{elements} of shared memory, one after the other", elements=elements)
        else:
            what = tr("{elements}, one after the other", elements=elements)
        return "update", what, _different(touched)
    if touched.operand.access == "read":
        what, details = _read_of(moment, touched, labels)
        return ("read" if is_shared else "fetch"), what, (*details, *_different(touched))
    if not is_shared:
        return "store", _elements(moment, touched, labels), ()
    what, details = _stored(moment, touched, labels)
    return "store", tr("{what} into {array}", what=what, array=array.name), details


def _matrix(reads: list[TouchedOperand], writes: list[TouchedOperand], is_one: bool) -> str:
    """Return what a step does that works on fragments of matrices, which belong to a whole warp."""
    if not reads and not writes:
        return _form(_TOGETHER["transpose"], is_one)
    if reads:
        return _form(_TOGETHER["read"], is_one, array=reads[0].array.name)
    return _form(_TOGETHER["store"], is_one, array=writes[0].array.name)


def _elements(moment: Moment, touched: TouchedOperand, labels: LabelStyle, name: str | None = None) -> str:
    """Return what each thread touches: "one element of A", "4 elements of A", for a followed thread "A[3, 5]"."""
    width = touched.operand.width
    if moment.focus.thread is not None and len(touched.cells):
        first = element_text(touched.array, int(touched.cells[0]), labels)
        return first if width == 1 else tr("{width} elements from {first} on", width=counted(width), first=first)
    return trn("one element of {array}", "{count} elements of {array}", width, array=name or touched.array.name)


def _read_of(moment: Moment, touched: TouchedOperand, labels: LabelStyle) -> tuple[str, tuple[str, ...]]:
    """Return what is read; of a copy in shared memory, the matrix that it is of."""
    if touched.array.space == "global":
        return _elements(moment, touched, labels), ()
    return _content_words(moment, touched, labels, moment.tiles_before.get(touched.operand.array), is_read=True)


def _stored(moment: Moment, touched: TouchedOperand, labels: LabelStyle) -> tuple[str, tuple[str, ...]]:
    """Return what is stored into shared memory, and how many of the stored values are constants."""
    content = moment.tiles.get(touched.operand.array)
    return _content_words(moment, touched, labels, content, is_read=False)


def _content_words(
    moment: Moment, touched: TouchedOperand, labels: LabelStyle, content: TileContent | None, is_read: bool
) -> tuple[str, tuple[str, ...]]:
    """Return the elements of a matrix whose copies some cells of shared memory hold, or "one value"."""
    width, cells, name = touched.operand.width, touched.block_cells, touched.array.name
    where = tr(" from {array}", array=name) if is_read else ""
    value = trn("one value", "{count} values", width) + where
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
            element if width == 1 else tr("{width} elements from {element} on", width=counted(width), element=element)
        ) + where, details
    otherwise = tr(" or {constant}", constant=constant or tr("a constant")) if constants else ""
    return trn("one element of {array}", "{count} elements of {array}", width, array=array.name) + otherwise + where, details


def _different(touched: TouchedOperand) -> tuple[str, ...]:
    """Return the number of different elements if threads share some."""
    if len(touched.elements) * touched.operand.width > _MOST_COUNTED:
        return ()
    cells = touched.cells
    count = len(np.unique(cells))
    return (
        (tr("{different_elements} in all", different_elements=many(count, "different element")),) if count < len(cells) else ()
    )


def products_added(moment: Moment) -> int:
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


def _factor_words(moment: Moment, products: int, labels: LabelStyle) -> str:
    """Return the factors of the products: for a followed thread with one sum, the elements."""
    terms = moment.thread_terms
    if moment.focus.thread is not None and terms is not None and len(terms.elements) == 1:
        row, column = int(terms.rows[0]), int(terms.columns[0])
        return tr("{a} by {b}", a=labels.element("A", row, terms.k), b=labels.element("B", terms.k, column))
    where = tr("the tiles") if _is_all_copied(moment) else tr("{array} and registers", array=moment.touched[0].array.name)
    return trn("one pair from {where}", "{count} pairs from {where}", products, where=where)


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
            elements, array = many(len(cells), "element"), touched.array.name
            found.append(
                trn(
                    "{elements} of {array} collides", "{elements} of {array} collide", len(cells),
                    elements=elements, array=array,
                )
            )  # fmt: skip
    return tuple(found)


def element_text(array: MemoryArray, element: int, labels: LabelStyle = PLAIN) -> str:
    """Return an element with its indices: "A[3, 5]"."""
    if array.space == "shared":
        return f"{array.name}[{element}]" if len(array.shape) == 1 else PLAIN.element(array.name, *array.place(element))
    return labels.named(array, element)


def stage_of_run(moment: Moment, labels: LabelStyle = PLAIN) -> str:
    """Return the position in the run in words; "" if it has no phases and no trips."""
    return ", ".join(stages_of_run(moment, labels))


def stages_of_run(moment: Moment, labels: LabelStyle) -> tuple[str, ...]:
    """Return the position in the run: "phase 2 of 2", with the index along K whose factors are read, which isn't the k of a
    kernel that counts within its tile; "k = 33 of 64" if the trips of a loop without a barrier are counted.
    """
    trace, replay, phase = moment.trace, moment.replay, moment.phase
    k = _k_read(moment)
    if not replay.phases:
        return ()
    if not trace.loops[trace.phase_loop].holds_barrier:
        k = _k_loaded(moment) if k is None else k
        if k is not None:
            return (tr("k = {k} of {terms}", k=k + labels.first, terms=trace.setup.problem.K),)
        return (_pass_of_run(moment),) if 0 <= phase < replay.phases else ()
    if not 0 <= phase < replay.phases:
        return (tr("before the phases") if phase < 0 else tr("after the phases"),)
    text = tr("phase {phase}", phase=phase + 1)
    if trace.phases is None and trace.stop is None:  # else their number is unknown
        text = tr("phase {phase} of {phases}", phase=phase + 1, phases=counted(replay.phases))
    return (text,) if k is None else (text, tr("K-index {k}", k=k + labels.first))


def _pass_of_run(moment: Moment) -> str:
    if moment.trace.phases is None and moment.trace.stop is not None:  # their number is unknown
        return tr("pass {phase}", phase=moment.phase + 1)
    return tr("pass {phase} of {phases}", phase=moment.phase + 1, phases=counted(moment.replay.phases))


def _k_read(moment: Moment) -> int | None:
    """Return the k of the factors that the first watched thread reads at this step, None for other steps."""
    terms = moment.thread_terms
    if terms is None or terms.k < 0:
        return None
    return terms.k if moment.step in terms.steps_a or moment.step in terms.steps_b else None


def _k_loaded(moment: Moment) -> int | None:
    """Return the k of the factors that all watched threads load from a matrix; None if they differ, or if the run ends with
    this access or makes more trips than there are terms: its elements may then lie in the next row.
    """
    trace, replay = moment.trace, moment.replay
    ends_here = trace.stop is not None and moment.step == replay.steps - 1
    if ends_here or (trace.is_multiply and replay.phases > trace.setup.problem.K):
        return None
    for touched in moment.touched if moment.trace.is_multiply else ():
        if touched.array.name in ("A", "B") and touched.array.space == "global":
            ks = np.unique(touched.array.row_column(touched.cells)[touched.array.name == "A"])
            return int(ks[0]) if len(ks) == 1 else None
    return None


def step_title(moment: Moment, labels: LabelStyle = PLAIN) -> str:
    """Return the position in the run: "step 12 of 153, phase 1 of 4", the traced part, and the GPU that recorded it."""
    return in_one_line(step_parts(moment, labels))


def step_parts(moment: Moment, labels: LabelStyle, has_timeline: bool = True) -> list[list[str]]:
    """Return the parts of ``step_title``, each with the pieces that belong together; without step and phase for a picture that
    has no timeline of its own, but stands over one.
    """
    trace, stages = moment.trace, stages_of_run(moment, labels)
    here = [step_of_steps(moment), *stages] if has_timeline else [*(stages[-1:] if _k_read(moment) is not None else ())]
    parts = [*([here] if here else []), *([each] for each in left_out(moment.replay))]
    if not trace.check.is_checked:
        parts.append([tr("nothing is checked")])
    return [*parts, [trace.recorded_on]] if trace.recorded_on else parts


def in_one_line(parts: list[list[str]]) -> str:
    """Return parts of several pieces as a text."""
    return " · ".join(", ".join(pieces) for pieces in parts)


def step_of_steps(moment: Moment) -> str:
    return tr("step {step} of {steps}", step=moment.step + 1, steps=moment.trace.steps)


def no_access(moment: Moment, space: Space) -> str:
    """Return a sentence that the step does not access this memory."""
    what = tr("shared memory") if space == "shared" else tr("global memory")
    return tr("Step {step} does not access {what}", step=moment.step + 1, what=what) + (
        "" if next_access(moment, space) is not None else tr("; no step does")
    )


def next_access(moment: Moment, space: Space) -> int | None:
    """Return the next step of the watched threads that accesses this memory, None if no step does."""
    arrays = moment.trace.arrays
    sites = [
        number for number, site in enumerate(moment.trace.sites)
        if any(arrays[operand.array].space == space for operand in site.operands)
    ]  # fmt: skip
    return moment.replay.next_step(sites, moment.step, moment.scope)


def left_out(replay: Replay) -> list[str]:
    """Return what part of the launch the trace holds; nothing if it holds all of it."""
    trace, parts = replay.trace, []
    if trace.blocks.count < trace.launch.block_count:
        parts.append(tr("{count} of {block_count} blocks", count=trace.blocks.count, block_count=trace.launch.block_count))
    if trace.phases is not None:
        first, last = trace.phases[0] + 1, replay.phases
        parts.append(
            tr("only phase {last} traced", last=last)
            if first == last
            else tr("only phases {first} to {last} traced", first=first, last=last)
        )
    return parts


def cost(moment: Moment) -> str:
    """Return the cost of the step for the watched threads, and the minimum."""
    stop = moment.trace.stop
    if stop is not None and moment.step == moment.replay.steps - 1:
        return tr("then the run ends: {sentence}", sentence=stop.sentence)
    if moment.site.kind == "branch":
        parted, warps = parted_warps(moment)
        values = {"parted": counted(parted), "warps": many(warps, "warp")}
        return tr("{parted} of {warps} part: their ways are executed one after the other", **values)
    if not moment.touched:
        return tr("no memory access")
    counts = moment.cost
    if not counts.requests:
        return tr("no active thread")
    whose = "" if moment.focus.thread is None else tr("its warp: ")
    spaces = {touched.array.space for touched in moment.touched}
    parts = [global_cost(counts, moment.trace.rules)] if "global" in spaces else []
    matrices = moment.site.rows if moment.site.kind == "matrix" else 1
    return whose + "; ".join([*parts, *([shared_cost(counts, moment.trace.rules, matrices)] if "shared" in spaces else [])])


def global_cost(counts: Counts, rules: MemoryRules) -> str:
    requests, sectors = many(counts.requests, "request"), many(counts.sectors, "sector")
    moved = trn(
        "{requests} moves {sectors} of {bytes} bytes", "{requests} move {sectors} of {bytes} bytes", counts.requests,
        requests=requests, sectors=sectors, bytes=rules.sector_bytes,
    )  # fmt: skip
    lost = counts.lost_sectors
    values = {"needed": counted(counts.needed_sectors), "lost": counted(lost)}
    excess = tr("{needed} needed, {lost} lost", **values) if lost else counted(tr("none lost"))
    return tr("{moved}: {excess}", moved=moved, excess=excess)


def shared_cost(counts: Counts, rules: MemoryRules, matrices: int = 1) -> str:
    """Return the cost in shared memory. It is counted per instruction, of so many ``matrices``, if a warp's lanes are served
    together.
    """
    is_whole, count = rules.request_lanes == rules.warp_size, counts.requests // matrices
    made = many(count, "instruction") if is_whole else many(count, "request")
    lost = counts.excessive_wavefronts
    tail = tr("{conflicts} excess (bank conflicts)", conflicts=counted(lost)) if lost else counted(tr("no bank conflicts"))
    return tr("{made}, {wavefronts}: {tail}", made=made, wavefronts=many(counts.wavefronts, "wavefront"), tail=tail)


def compiled_branch(code: MachineCode | None, branch: Place) -> str:
    """Return what became of a branch in machine code, or that it is unknown."""
    if code is None:
        return tr("As written: a compiler may predicate a short branch, or move what both ways do in front of it")
    here = code.on_lines(range(branch.line, branch.end_line + 1))
    if here.jumps:
        return tr("In the machine code ({source}) it is a conditional jump", source=code.source)
    if here.exits:
        return tr("In the machine code ({source}) it is no jump: lanes end here under a condition", source=code.source)
    return tr("In the machine code ({source}) it is no jump: lanes are predicated, or values are selected", source=code.source)

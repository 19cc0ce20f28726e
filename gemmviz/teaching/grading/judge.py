"""A hand-in and a task to a grade: its kernel is run at each size, and each check is judged by the rules of exercises."""

from collections.abc import Sequence
from math import prod

import numpy as np
from msgspec import Struct, field, structs

from gemmviz.analysis.counts import Counts
from gemmviz.analysis.hazard import Hazard
from gemmviz.cuda.launch.launch_form import not_confirmed
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.kernel import text_hash
from gemmviz.model.messages import GemmvizError, KernelFault, SettingError, SourceError, listed
from gemmviz.model.problems import MULTIPLY
from gemmviz.model.setup import MOST_SEED, Filling
from gemmviz.model.sites import LoopInfo
from gemmviz.run.engine import Engine
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.teaching.exercises import SizeRun, at_costly_access, at_wrong_access
from gemmviz.teaching.grading.opening import OpenedHandIn, opened_hand_in, precision_error
from gemmviz.teaching.grading.task import BarrierGap, CheckResult, Grade, HandIn, JudgedRow, Task, TaskCheck
from gemmviz.teaching.lesson import ExerciseSize

# A check while it is judged: what is known of it so far, and its result in the end.


_WITHOUT_SIZES = frozenset(("parses", "host"))


class CheckState(Struct):
    """What is known of a check. ``unjudged``: why it can't be judged at some size; ``beyond``: the id of the error if that is a
    limit of the interpreter; ``is_met``: whether it is met at some size.
    """

    check: TaskCheck
    rows: list[JudgedRow] = field(default_factory=list)
    failure: CheckResult | None = None
    unjudged: str = ""
    beyond: str = ""
    is_met: bool = False

    def fail(self, finding: str, output: str, *, line: int = 0, size: str = "", gap: BarrierGap | None = None) -> None:
        """Fails the check, unless it has failed before."""
        if self.failure is None:
            check = self.check
            self.failure = CheckResult(check.id, check.title, "failed", 0.0, check.points, finding, output, line, size, gap=gap)

    def result(self) -> CheckResult:
        """The result. A count may be unknown at some sizes; what is always judged must be known at all of them."""
        check = self.check
        if self.failure is not None:
            return self.failure
        if self.is_met and (not self.unjudged or not check.is_always_judged or check.id in _WITHOUT_SIZES):
            return CheckResult(check.id, check.title, "passed", check.points, check.points)
        return CheckResult(check.id, check.title, "unjudged", 0.0, check.points, self.beyond, f"Not judged: {self.unjudged}.")


def sentence_for(error: GemmvizError) -> str:
    """An error for a student: its place without the name of the file, and no settings that only a lecturer can change."""
    where = "" if error.place is None else f"line {error.place.line}: "
    is_setting = isinstance(error, SettingError)
    remedy = f" ({error.remedy})" if error.remedy and not is_setting else ""
    return f"{where}{error.message}{remedy}"


_IN_HAZARDS = frozenset(("divergent-barrier", "hazard"))
_IN_GUARDS = frozenset(("out-of-range", "misaligned-access", "uninitialised-read"))
_INTERPRETER_LIMITS = frozenset(("unsupported", "setting"))  # limits of the interpreter, not mistakes
NOT_MET, _UNCONFIRMED = "not-met", "unconfirmed"
_MOST_REUSED = 16
_MOST_TRACED, _ONE_BLOCK = 1 << 21, "0:1,0:1"  # multiplications of a problem that is run as a whole: 128³
_LAUNCH_ERROR_IDS = frozenset(("block-extent", "grid-extent", "block-threads", "shared-memory", "registers"))


class Judged(Struct, frozen=True):
    """A grade, and the shots of the replays that its checks refer to, each with the run that it is of."""

    grade: Grade
    replays: tuple[tuple[Shot, SizeRun], ...] = ()


def judged_hand_in(hand_in: HandIn, task: Task, engine: Engine) -> Judged:
    """The grade on a hand-in."""
    judging = _Judging(task, engine, _seed(hand_in, task))
    main = hand_in.main(task.launch.entry)
    try:
        opened = opened_hand_in(hand_in, task)
    except GemmvizError as error:
        judging.refuse(error)
        return judging.judged(main, "", ())
    judging.judge(opened)
    return judging.judged(main, opened.kernel.function, tuple(filter(None, [opened.note])))


def _seed(hand_in: HandIn, task: Task) -> int:
    """The seed of the inputs: always the same for a hand-in, and another one for each, so that no table of results fits."""
    return int(text_hash(task.digest + hand_in.digest)[:8], 16) % MOST_SEED


class _Judging:
    """Judges the checks of a task on one kernel."""

    def __init__(self, task: Task, engine: Engine, seed: int) -> None:
        self.task, self.engine, self.seed = task, engine, seed
        self.states = {each.id: CheckState(each) for each in task.checks}
        self.runs: dict[str, SizeRun] = {}
        self.has_given_up = False
        self.doubt: GemmvizError | None = None  # about the launch

    def refuse(self, error: GemmvizError) -> None:
        """Fails reading for a file that can't be read, and the host code for a launch that isn't known."""
        if error.id == "unsupported":
            self._give_up(error)
            return
        is_text = isinstance(error, SourceError)
        self._fail("parses" if is_text else "host", error)
        if not is_text:
            self._pass("parses")
        self._leave("the kernel couldn't be run")

    def judge(self, opened: OpenedHandIn) -> None:
        self.doubt = not_confirmed(opened.kernel)
        if opened.refusal is not None:
            self._fail("parses", opened.refusal)
            if "host" in self.states:
                self.states["host"].unjudged = "a compiler refuses the file"
        elif opened.host is not None:
            self._fail("host", opened.host.error, finding=opened.host.finding)
        self._pass("parses")
        if opened.refusal is None:
            self._pass("host")
        imprecise = precision_error(opened.kernel, self.task)
        if imprecise is not None:
            self._fail("result", imprecise, finding="precision")
            self._leave("the result can't be compared as precisely as the task wants")
            return
        shot = self._shot(opened)
        task = self.task.for_square() if opened.kernel.tied_sizes else self.task
        for size in task.all_sizes:
            if self.has_given_up:
                break
            states = [self.states[each.id] for each in task.checks_at(size)]
            if any(each.failure is None for each in states if each.check.requirements):
                self._judge_at(size, shot, states)

    def _shot(self, opened: OpenedHandIn) -> Shot:
        if self.task.shot is not None and self.task.shot.setup.kernel.blanks:
            shot = self.task.shot
            return structs.replace(shot, setup=structs.replace(shot.setup, kernel=opened.kernel))
        filling = Filling(seed=self.seed, old_outputs="nan" if opened.is_unset else "zeros")
        return Shot(setup_for(opened.kernel, device=self.task.device, blocks="all", filling=filling))

    def _judge_at(self, size: ExerciseSize, shot: Shot, states: list[CheckState]) -> None:
        """Judges the checks of one size. A launch that is refused fails the host code, a fault the check that it is about. A
        size at which only quantities are judged is traced if they need it: counts of the whole launch don't.
        """
        try:
            run = SizeRun(size, shot, self.engine)
            self.runs[size.words] = run
            traced = self._traced(run)
            fault = traced.facts.outcome.fault
        except GemmvizError as error:
            self._refused(size, error)
            return
        if fault is not None and fault.id not in ("no-access", _UNCONFIRMED):
            self._faulted(size, fault)
        why = "" if self.task.shot is not None else _untouched(traced) or _too_few_reads(traced)
        untouched = f"at {size.words}, {why}" if why else ""
        ids = {each.check.id for each in states}
        states = [
            each for each in self.states.values() if each.check.id in ids | {"result"}
        ]  # right at some sizes alone is wrong
        for state in states:
            if state.failure is None and state.check.requirements:
                self._judge_check(state, run if state.check.id != "result" else traced, fault, untouched)

    def _refused(self, size: ExerciseSize, error: GemmvizError) -> None:
        """Fails the check that is about an error before the first access, and leaves the others unjudged at this size."""
        if error.id in _INTERPRETER_LIMITS:
            self._give_up(error, size.words)
            return
        if self.doubt is not None:
            self._leave(_because(size.words, self.doubt))
            return
        about = "parses" if isinstance(error, SourceError) else "host" if error.id in _LAUNCH_ERROR_IDS else "result"
        self._fail(about, error, size=size.words)
        self._leave(f"at {size.words}, the kernel couldn't be run")

    def _faulted(self, size: ExerciseSize, fault: KernelFault) -> None:
        about = "guards" if fault.id in _IN_GUARDS else "hazards" if fault.id in _IN_HAZARDS else "result"
        self._fail(about, fault, size=size.words)

    def _judge_check(self, state: CheckState, run: SizeRun, fault: KernelFault | None, untouched: str) -> None:
        """Judges a check at one size. ``untouched``: says which array the kernel leaves alone; it passes no check then."""
        check, size = state.check, run.size.words
        if check.id == "guards":
            state.rows.append(JudgedRow(size, "fault", fault.id if fault is not None else "none", "none", fault is None))
            state.unjudged = state.unjudged or (_because(size, fault) if fault is not None else untouched)
            state.is_met = not state.unjudged
            return
        rows, error = run.judged(check.requirements)
        state.rows += [JudgedRow(size, each.title, each.value, each.required, each.is_met) for each in rows]
        if error is not None and error.id == _UNCONFIRMED:
            state.unjudged = _because(size, error)
        elif any(not each.is_met for each in rows):
            self._unmet(state, run)
        elif isinstance(error, SettingError):
            self._refused(run.size, error)
        elif error is not None or (fault is not None and check.id in ("hazards", "result")):
            state.unjudged = _because(size, error or fault)
        elif check.id == "result" and (changed := run.facts.replay.trace.written_inputs):
            state.fail("input-written", f"the kernel writes to {listed(changed)}, which it may only read", size=size)
        elif untouched:
            state.unjudged = untouched
        else:
            state.is_met = True

    def _traced(self, run: SizeRun) -> SizeRun:
        """The run of all blocks, or of one where only counts of a large problem are judged."""
        if prod(run.shot.setup.problem.sizes.values()) <= _MOST_TRACED or run.size in self.task.for_square().sizes:
            return run
        return self._of_blocks(run, _ONE_BLOCK)

    def _of_blocks(self, run: SizeRun, blocks: str) -> SizeRun:
        """The run of some blocks; "" means those that are quick to trace."""
        return SizeRun(run.size, structs.replace(run.shot, setup=structs.replace(run.shot.setup, blocks=blocks)), self.engine)

    def _unmet(self, state: CheckState, run: SizeRun) -> None:
        """Fails a check whose requirements aren't met, with the sentence of what was found."""
        check, size = state.check, run.size.words
        unmet = [each for each in state.rows if each.size == size and not each.is_met]
        if check.id == "hazards":
            hazard = run.facts.replay.hazards[0]
            fault = hazard.fault("")
            fault.file = None
            gap = barrier_gap(hazard, run.facts.replay.trace.loops)
            fault.remedy = fault.remedy if gap is None else None
            self._fail("hazards", fault, size=size, finding=hazard.kind.replace(" ", "-"), gap=gap)
            return
        if check.id == "result":
            state.fail(*_wrong_result(run), size=size)
            return
        values = "; ".join(f"{each.title}: {each.value}, required: {each.required}" for each in unmet)
        state.fail(NOT_MET, f"{check.message} ({values})" if check.message else values, size=size)

    # Results

    def _pass(self, id: str) -> None:
        if id in self.states:
            self.states[id].is_met = True

    def _fail(self, id: str, error: GemmvizError, *, size: str = "", finding: str = "", gap: BarrierGap | None = None) -> None:
        """Fails a check; the first of the task if it isn't judged, so that nothing that was found is lost."""
        state = self.states.get(id) or self.states.get("result") or next(reversed(self.states.values()))
        line = 0 if error.place is None else error.place.line
        output = sentence_for(error) if gap is None else f"{sentence_for(error)} {gap}"
        state.fail(finding or error.id, output, line=line, size=size, gap=gap)

    def _give_up(self, error: GemmvizError, size: str = "") -> None:
        """Leaves everything unjudged that isn't judged yet: the interpreter can't run what a compiler may accept."""
        self.has_given_up = True
        for state in self.states.values():
            state.beyond = state.beyond or error.id
        where = f"at {size}, " if size else ""
        self._leave(f"{where}the interpreter can't run this, a person has to look at it: {sentence_for(error)}")

    def _leave(self, why: str) -> None:
        for state in self.states.values():
            state.unjudged = state.unjudged or why

    def judged(self, file: str, kernel: str, notes: tuple[str, ...]) -> Judged:
        """The grade, and a replay for each place at which a check failed."""
        replays: list[tuple[Shot, SizeRun]] = []
        results = []
        for state in self.states.values():
            result, replay = structs.replace(state.result(), rows=tuple(state.rows)), self._replay(state)
            if replay is not None:
                shots = [shot for shot, _ in replays]
                replays += [] if replay[0] in shots else [replay]
                result = structs.replace(result, replay=[*shots, replay[0]].index(replay[0]))
            results.append(result)
        is_right = all(each.status == "passed" for each in results if each.id in _RIGHTNESS)
        told = [run for run in self.runs.values() if run.size not in self.task.private]
        good = _praise(told[-1]) if is_right and told else ()
        return Judged(Grade(tuple(results), file, kernel, notes, good), tuple(replays))

    def _replay(self, state: CheckState) -> tuple[Shot, SizeRun] | None:
        """The picture of a failed check: the wrong access, or for a count the access that costs most; None if there is none."""
        run = None if state.failure is None else self.runs.get(state.failure.size)
        if state.failure is None or run is None or state.check.id in ("parses", "host"):
            return None
        try:
            if state.failure.finding != NOT_MET:
                return at_wrong_access(run.facts), run
            near = self._of_blocks(run, "")
            return at_costly_access(near.facts, state.check.requirements), near
        except GemmvizError:
            return None


def barrier_gap(hazard: Hazard, loops: Sequence[LoopInfo]) -> BarrierGap | None:
    """Where a barrier is missing between the two accesses of a hazard: in front of the statement of the later one, or of
    the outermost loop around it that doesn't hold the earlier one; in a loop that comes back to it, behind that of the earlier
    one. None where no barrier of a block helps.
    """
    if hazard.earlier_block is not None or hazard.is_under_way:
        return None
    before, after = (
        next((loops[number].place for number in site.loops if number not in other.loops), site.statement or site.place)
        for site, other in ((hazard.earlier, hazard.later), (hazard.later, hazard.earlier))
    )
    first, second = hazard.earlier.place.line, hazard.later.place.line
    if before.end_line < after.line:
        return BarrierGap(after.line - 1, first, second)
    is_next_trip = after.line <= before.line and after.line != before.end_line
    return BarrierGap(before.end_line, first, second, is_in_loop=True) if is_next_trip else None


def _wrong_result(run: SizeRun) -> tuple[str, str]:
    """The finding about a wrong result, and its sentence."""
    trace = run.facts.outcome.trace
    if trace is None or not trace.check.compared:
        return "unwritten", "no element of the result is written"
    check = trace.check
    if check.wrong and check.worst_error is None and run.shot.setup.filling.old_outputs == "nan":
        return "unset", f"{check} (is something added to {check.array} that was never set to 0?)"
    return "wrong" if check.wrong else "unwritten", str(check)


def _untouched(run: SizeRun) -> str:
    """Says which array of the problem the kernel leaves alone: what it does costs nothing then, and can't go wrong. "" if it
    touches at least half of each. A run that ended early may not have come to its results.
    """
    outcome = run.facts.outcome
    trace = outcome.trace
    if trace is None:
        return "the kernel reads and writes nothing"
    least = 0.5 if trace.is_whole and outcome.fault is None else 0.0
    for array in trace.setup.problem.arrays:
        if outcome.fault is not None and array.is_output:
            continue
        share = trace.touched_share(array.name, "write" if array.is_output else "read")
        if share == 0 or share < least:
            return f"the kernel {'writes' if array.is_output else 'reads'} {100 * share:.0f} % of {array.name}"
    return ""


def _too_few_reads(run: SizeRun) -> str:
    """Says how little a wrong kernel reads; "" unless it can't have multiplied: one with 16 × 16 results in registers still
    reads an operand for every sixteenth product.
    """
    trace = run.facts.outcome.trace
    if trace is None or not trace.is_multiply or not trace.check.wrong or not trace.is_whole:
        return ""
    loads = [each for each in trace.touches if each.operand.access == "read"]
    reads = sum(each.operand.layout.width * np.count_nonzero(trace.element[each.rows] >= 0) for each in loads)
    products = prod(trace.setup.problem.sizes.values())
    return "" if reads * _MOST_REUSED >= products else f"the kernel reads {reads:,} elements for {products:,} products"


def _because(size: str, error: GemmvizError | None) -> str:
    why = error.message if error is not None and error.id == _UNCONFIRMED else str(error)
    is_fault = isinstance(error, KernelFault) and error.id != _UNCONFIRMED
    return (f"at {size}, " if size else "") + (f"the run ended early ({error.id})" if error and is_fault else why)


# What a right kernel does well, from the counts of its launch: sentences for the page of its student.

_RIGHTNESS = frozenset(("parses", "guards", "hazards", "result"))  # checks that a kernel passes if it is right
_FEWER_READS = 2  # times: what a kernel with tiles reads less than one without, at least


def _praise(run: SizeRun) -> tuple[str, ...]:
    """The size of a run and the sentences about it; none if its launch can't be counted, or does nothing well."""
    try:
        sentences = (*_global_memory(run.facts), *_shared_memory(run.facts))
    except GemmvizError:
        return ()
    return (f"At {run.size.words}:", *sentences) if sentences else ()


def _totals(facts: Knowledge, space: str) -> dict[tuple[str, str], Counts]:
    """The costs of all accesses of a memory, by the name of the array and the direction."""
    totals: dict[tuple[str, str], Counts] = {}
    for (_, each), cost in facts.counts.accesses.items():
        array = facts.counts.arrays[each.array]
        if array.space == space:
            key = array.name, each.access
            totals[key] = totals.get(key, Counts()) + cost
    return totals


def _global_memory(facts: Knowledge) -> list[str]:
    sentences = []
    for (name, access), cost in _totals(facts, "global").items():
        if cost.requests and not cost.excessive_sectors:
            what = "reads" if access == "read" else "writes"
            sentences.append(f"The {what} of {name} are coalesced: {cost.sectors:,} sectors moved, {cost.sectors:,} needed.")
    problem = facts.setup.problem
    products = (problem.flops or 0) // 2 if problem.kind.name == MULTIPLY else 0
    for name in ("A", "B"):
        reads = facts.counts.elements("global", "read", name)
        if reads and products >= _FEWER_READS * reads:
            sentences.append(f"{name} is read {reads:,} times; without tiles it would be {products:,} times.")
    return sentences


def _shared_memory(facts: Knowledge) -> list[str]:
    costs = _totals(facts, "shared").values()
    requests, excess = sum(each.requests for each in costs), sum(each.excessive_wavefronts for each in costs)
    wavefronts = sum(each.wavefronts for each in costs)
    if not requests or excess:
        return []
    return [f"Shared memory has no bank conflict: {wavefronts:,} wavefronts, {wavefronts:,} needed."]

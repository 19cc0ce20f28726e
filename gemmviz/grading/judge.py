"""A hand-in and a task to a verdict: its kernel is run at each size, and each check is judged by the rules of exercises."""

from dataclasses import dataclass, field, replace

from gemmviz.grading.hand_in import HandIn
from gemmviz.grading.opening import Opened, opened_hand_in
from gemmviz.grading.task import Check, Task
from gemmviz.grading.verdict import CheckResult, Row, Verdict
from gemmviz.launch.legality import setup_for
from gemmviz.model.errors import GemmvizError, KernelFault, SettingError, SourceError
from gemmviz.model.filling import Filling
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot
from gemmviz.teaching.costly_access import at_costly_access
from gemmviz.teaching.lesson import ExerciseSize
from gemmviz.teaching.requirements import SizeRun
from gemmviz.teaching.wrong_access import at_wrong_access

_IN_HAZARDS = frozenset(("divergent-barrier", "hazard"))
_IN_GUARDS = frozenset(("out-of-range", "misaligned-access", "uninitialised-read"))
_BEYOND = frozenset(("unsupported", "setting"))  # limits of the interpreter, not mistakes
_LAUNCH = frozenset(("block-extent", "grid-extent", "block-threads", "shared-memory", "registers"))


@dataclass
class _State:
    """What is known of a check so far. ``unjudged``: why it can't be judged at some size; ``beyond``: the id of the error if that
    is a limit of the interpreter.
    """

    check: Check
    rows: list[Row] = field(default_factory=list)
    failure: CheckResult | None = None
    shot: Shot | None = None
    unjudged: str = ""
    beyond: str = ""
    is_met: bool = False

    def fail(self, finding: str, output: str, *, line: int = 0, size: str = "") -> None:
        if self.failure is None:
            check = self.check
            self.failure = CheckResult(check.id, check.title, "failed", 0.0, check.points, finding, output, line, size)


@dataclass(frozen=True)
class Judged:
    """A verdict, and the shots of the replays that its checks refer to, each with the run that it is of."""

    verdict: Verdict
    replays: tuple[tuple[Shot, SizeRun], ...] = ()


def judged_hand_in(hand_in: HandIn, task: Task, engine: Engine) -> Judged:
    """The verdict on a hand-in."""
    judging = _Judging(task, engine)
    main = hand_in.main(task.launch.entry)
    try:
        opened = opened_hand_in(hand_in, task)
    except GemmvizError as error:
        judging.refuse(error)
        return judging.judged(main, "", ())
    judging.judge(opened)
    return judging.judged(main, opened.kernel.function, tuple(filter(None, [opened.note])))


class _Judging:
    """Judges the checks of a task on one kernel."""

    def __init__(self, task: Task, engine: Engine) -> None:
        self.task, self.engine = task, engine
        self.states = {each.id: _State(each) for each in task.checks}
        self.runs: dict[str, SizeRun] = {}

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

    def judge(self, opened: Opened) -> None:
        self._pass("parses")
        if opened.host is not None:
            self._fail("host", opened.host, finding="host-copy" if "cop" in opened.host.message else "not-launched")
        self._pass("host")
        shot = self._shot(opened)
        task = self.task.for_square() if opened.kernel.tied_sizes else self.task
        for size in task.all_sizes:
            states = [self.states[each.id] for each in task.checks_at(size)]
            if any(each.failure is None for each in states if each.check.requirements):
                self._judge_at(size, shot, states)

    def _shot(self, opened: Opened) -> Shot:
        if self.task.shot is not None and self.task.shot.setup.kernel.blanks:
            shot = self.task.shot
            return replace(shot, setup=replace(shot.setup, kernel=opened.kernel))
        filling = Filling(old_outputs="nan" if opened.is_unset else "zeros")
        return Shot(setup_for(opened.kernel, device=self.task.device, blocks="all", filling=filling))

    def _judge_at(self, size: ExerciseSize, shot: Shot, states: list[_State]) -> None:
        """Judges the checks of one size. A launch that is refused fails the host code, a fault the check that it is about."""
        try:
            run = SizeRun(size, shot, self.engine)
            self.runs[size.words] = run
            fault = run.facts.outcome.fault
        except GemmvizError as error:
            self._refused(size, error)
            return
        if fault is not None and fault.id != "no-access":
            self._faulted(size, fault)
        for state in states:
            if state.failure is None and state.check.requirements:
                self._judge_check(state, run, fault)

    def _refused(self, size: ExerciseSize, error: GemmvizError) -> None:
        """Fails the check that is about an error before the first access, and leaves the others unjudged at this size."""
        if error.id in _BEYOND:
            self._give_up(error, size.words)
            return
        about = "parses" if isinstance(error, SourceError) else "host" if error.id in _LAUNCH else "result"
        self._fail(about, error, size=size.words)
        self._leave(f"at {size.words}, the kernel couldn't be run")

    def _faulted(self, size: ExerciseSize, fault: KernelFault) -> None:
        about = "guards" if fault.id in _IN_GUARDS else "hazards" if fault.id in _IN_HAZARDS else "result"
        self._fail(about, fault, size=size.words)

    def _judge_check(self, state: _State, run: SizeRun, fault: KernelFault | None) -> None:
        check, size = state.check, run.size.words
        if check.id == "guards":
            state.is_met = state.is_met or fault is None
            state.rows.append(Row(size, "fault", fault.id if fault is not None else "none", "none", fault is None))
            if fault is not None:
                state.unjudged = _because(size, fault)
            return
        rows, error = run.judged(check.requirements)
        state.rows += [Row(size, each.title, each.value, each.required, each.is_met) for each in rows]
        if any(not each.is_met for each in rows):
            self._unmet(state, run)
        elif error is not None or (fault is not None and check.id in ("hazards", "result")):
            state.unjudged = _because(size, error or fault)
        else:
            state.is_met = True

    def _unmet(self, state: _State, run: SizeRun) -> None:
        """Fails a check whose requirements aren't met, with the sentence of what was found."""
        check, size = state.check, run.size.words
        unmet = [each for each in state.rows if each.size == size and not each.is_met]
        if check.id == "hazards":
            hazard = run.facts.replay.hazards[0].fault("")
            hazard.file = None
            self._fail("hazards", hazard, size=size, finding=run.facts.replay.hazards[0].kind.replace(" ", "-"))
            return
        if check.id == "result":
            state.fail(*_wrong_result(run), size=size)
            return
        values = "; ".join(f"{each.title}: {each.value}, required: {each.required}" for each in unmet)
        state.fail("not-met", f"{check.message} ({values})" if check.message else values, size=size)

    # Results

    def _pass(self, id: str) -> None:
        if id in self.states:
            self.states[id].is_met = True

    def _fail(self, id: str, error: GemmvizError, *, size: str = "", finding: str = "") -> None:
        """Fails a check; the first of the task if it isn't judged, so that nothing that was found is lost."""
        state = self.states.get(id) or self.states.get("result") or next(reversed(self.states.values()))
        line = 0 if error.place is None else error.place.line
        state.fail(finding or error.id, _sentence(error), line=line, size=size)

    def _give_up(self, error: GemmvizError, size: str = "") -> None:
        """Leaves everything unjudged that isn't judged yet: the interpreter can't run what a compiler may accept."""
        for state in self.states.values():
            state.beyond = state.beyond or error.id
        self._leave(f"{f'at {size}, ' if size else ''}the interpreter can't run this, a person has to look at it: {_sentence(error)}")

    def _leave(self, why: str) -> None:
        for state in self.states.values():
            state.unjudged = state.unjudged or why

    def judged(self, file: str, kernel: str, notes: tuple[str, ...]) -> Judged:
        replays: list[tuple[Shot, SizeRun]] = []
        results = []
        for state in self.states.values():
            result = state.failure
            if result is None:
                result = _result(state)
            elif (shown := self._replay(state)) is not None:
                places = [shot for shot, _ in replays]
                if shown[0] not in places:
                    replays.append(shown)
                result = replace(result, replay=[shot for shot, _ in replays].index(shown[0]))
            results.append(replace(result, rows=tuple(state.rows)))
        return Judged(Verdict(tuple(results), file, kernel, notes), tuple(replays))

    def _replay(self, state: _State) -> tuple[Shot, SizeRun] | None:
        """The picture of a failed check: the wrong access, or for a count the access that costs most."""
        assert state.failure is not None
        run = self.runs.get(state.failure.size)
        if run is None or state.check.id in ("parses", "host"):
            return None
        try:
            is_count = not state.check.is_always_judged and run.facts.outcome.fault is None
            shot = at_costly_access(run.facts, state.check.requirements) if is_count else at_wrong_access(run.facts)
        except GemmvizError:
            return None
        return shot, run


def _result(state: _State) -> CheckResult:
    """The result of a check that nothing speaks against: a count may be unknown at some sizes, the rest must be judged at all."""
    check = state.check
    is_known = state.is_met and (not state.unjudged or not check.is_always_judged or check.id in ("parses", "host"))
    if is_known:
        return CheckResult(check.id, check.title, "passed", check.points, check.points)
    return CheckResult(check.id, check.title, "unjudged", 0.0, check.points, state.beyond, f"Not judged: {state.unjudged}.")


def _wrong_result(run: SizeRun) -> tuple[str, str]:
    """The finding about a wrong result, and its sentence."""
    trace = run.facts.outcome.trace
    if trace is None or not trace.check.compared:
        return "unwritten", "no element of the result is written"
    check = trace.check
    if check.wrong and check.worst_error is None and run.shot.setup.filling.old_outputs == "nan":
        return "unset", f"{check} (is something added to {check.array} that was never set to 0?)"
    return "wrong" if check.wrong else "unwritten", str(check)


def _because(size: str, error: GemmvizError | None) -> str:
    where = f"at {size}, " if size else ""
    return f"{where}the run ended early ({error.id})" if isinstance(error, KernelFault) else f"{where}{error}"


def _sentence(error: GemmvizError) -> str:
    """An error for a student: its place without the name of the file."""
    where = "" if error.place is None else f"line {error.place.line}: "
    remedy = f" ({error.remedy})" if error.remedy else ""
    return f"{where}{error.message}{remedy}"

"""Values of subjects are made once, and made again where they would differ."""

import gc
import queue
import weakref
from collections.abc import Callable
from typing import Any

from msgspec import structs

from gemmviz.model.messages import UsageError
from gemmviz.model.trace import Outcome
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.session.display import SubjectValues
from gemmviz.shots.knowledge import Context, FactAnswer, Knowledge, LaunchFacts
from gemmviz.shots.shot import Shot, default_shot
from gemmviz.shots.subject import Subject
from tests.conftest import moment_of, sure, trace_of


class Counter:
    """Makes values, and counts how often."""

    def __init__(self) -> None:
        self.calls = 0

    def make(self, shot: Shot, context: Context) -> Any:
        self.calls += 1
        if shot.setup.problem.M == 1:
            raise UsageError("one row is too few")
        return f"{shot.setup.problem.M}, {context.facts is not None}"


def context_of(shot: Shot, like: tuple[Knowledge, ...] = (), **given: Any) -> Context:
    return Context(Knowledge(shot, Interpreter(), like=like), **given)


def values_of(subject: Subject, *contexts: Context) -> list[Any]:
    values = SubjectValues(lambda action: None, lambda: None)
    return [sure(values.of(subject, context)).value for context in contexts]


def test_a_value_is_made_again_for_another_setup_or_more_that_is_known() -> None:
    counter, shot = Counter(), default_shot()
    subject, first = Subject(str, counter.make, uses=("facts",)), context_of(shot)
    others = [
        context_of(each, (first.known,)) for each in (structs.replace(shot, view="memory"), structs.replace(shot, moment=0.5))
    ]
    assert values_of(subject, first, *others) == [f"{shot.setup.problem.M}, False"] * 3
    assert counter.calls == 1
    known = structs.replace(first, facts=LaunchFacts(shot.setup))
    assert values_of(subject, known, known) == [f"{shot.setup.problem.M}, True"] * 2
    assert counter.calls == 2
    assert values_of(subject, context_of(structs.replace(shot, setup=shot.setup.changed(M=12)), (first.known,))) == [
        "12, False"
    ]


def test_what_the_subject_does_not_use_changes_nothing() -> None:
    counter, context = Counter(), context_of(default_shot())
    values_of(Subject(str, counter.make), context, structs.replace(context, facts=LaunchFacts(default_shot().setup)))
    assert counter.calls == 1


def test_nothing_of_an_earlier_run_is_kept() -> None:
    shot, values = default_shot(), SubjectValues(lambda action: None, lambda: None)
    drawn, other = (
        Subject(int, lambda shot, context: 1, needs=("moment",)),
        Subject(str, lambda shot, context: "", needs=("moment",)),
    )
    failing = Subject(float, refuse, needs=("moment",))
    traces = [trace_of("02_naive", size) for size in (3, 4)]
    first, second = (
        Context(
            Knowledge(structs.replace(shot, setup=trace.setup), Interpreter(), Outcome(trace, trace.by)),
            moment=moment_of(trace),
        )
        for trace in traces
    )
    for subject in (drawn, other, failing):
        values.of(subject, first)
    values.of(drawn, second)
    trace = weakref.ref(traces[0])
    del first, traces
    gc.collect()
    assert trace() is None


def refuse(shot: Shot, context: Context) -> float:
    raise UsageError(f"not {context.moment}")


def test_an_error_that_is_kept_holds_no_frames() -> None:
    def computed() -> None:
        large = Counter()
        held.append(weakref.ref(large))
        try:
            raise ValueError
        except ValueError:
            raise UsageError("too few")  # noqa: B904 - with a context

    held: list[weakref.ref[Counter]] = []
    try:
        computed()
    except UsageError as error:
        kept = error.kept()
    gc.collect()
    assert held[0]() is None
    assert str(kept) == "too few"


def test_a_slow_value_is_made_beside_and_an_error_takes_its_place() -> None:
    posted: queue.Queue[Callable[[], None]] = queue.Queue()
    counter, shot = Counter(), default_shot()
    values = SubjectValues(posted.put, lambda: None)
    subject = Subject(str, counter.make, is_slow=True)

    def asked(shot: Shot) -> FactAnswer[Any] | None:
        return values.of(subject, context_of(shot))

    assert asked(shot) is None
    posted.get(timeout=10)()
    assert sure(asked(structs.replace(shot, moment=0.5))).value == f"{shot.setup.problem.M}, False"
    assert counter.calls == 1
    bad = structs.replace(shot, setup=shot.setup.changed(M=1))
    assert asked(bad) is None
    posted.get(timeout=10)()
    refused = sure(asked(bad))
    assert (refused.value, refused.why_none) == (None, "one row is too few")
    assert sure(asked(shot)).value is not None  # it is remembered
    assert counter.calls == 2
    values.worker.close()

"""Values of subjects are made once, and made again where they would differ."""

import gc
import queue
import weakref
from collections.abc import Callable
from typing import Any

from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.cache import WAITING, SubjectCache
from gemmviz.shots.knowledge import Context, Knowledge, LaunchFacts
from gemmviz.shots.shot import Shot, default_shot
from gemmviz.shots.subject import Subject
from tests.conftest import moment_of, trace_of


class Counter:
    """Makes values, and counts how often."""

    def __init__(self) -> None:
        self.calls = 0

    def make(self, shot: Shot, context: Context) -> Any:
        self.calls += 1
        if shot.setup.problem.M == 1:
            raise UsageError("one row is too few")
        return f"{shot.setup.problem.M}, {context.facts is not None}"


CONTEXT = Context(Knowledge(default_shot(), Interpreter()))


def test_a_value_is_made_again_for_another_setup_or_more_that_is_known() -> None:
    counter, cache, shot = Counter(), SubjectCache(lambda action: None, lambda: None), default_shot()
    subject = Subject(str, counter.make, uses=("facts",))
    for other in (shot, replace(shot, view="memory"), replace(shot, moment=0.5)):
        assert cache.value(subject, other, CONTEXT) == f"{shot.setup.problem.M}, False"
    assert counter.calls == 1
    known = replace(CONTEXT, facts=LaunchFacts(shot.setup))
    for _ in range(2):
        assert cache.value(subject, shot, known) == f"{shot.setup.problem.M}, True"
    assert counter.calls == 2
    assert cache.value(subject, replace(shot, setup=shot.setup.changed(M=12)), CONTEXT) == "12, False"


def test_what_the_subject_does_not_use_changes_nothing() -> None:
    counter, cache, shot = Counter(), SubjectCache(lambda action: None, lambda: None), default_shot()
    subject = Subject(str, counter.make)
    for context in (CONTEXT, replace(CONTEXT, facts=LaunchFacts(shot.setup))):
        cache.value(subject, shot, context)
    assert counter.calls == 1


def test_nothing_of_an_earlier_run_is_kept() -> None:
    cache, shot = SubjectCache(lambda action: None, lambda: None), default_shot()
    drawn, other = (
        Subject(int, lambda shot, context: 1, needs=("moment",)),
        Subject(str, lambda shot, context: "", needs=("moment",)),
    )
    failing = Subject(float, refuse, needs=("moment",))
    first, second = (moment_of(trace_of("02_naive", size)) for size in (3, 4))
    for subject in (drawn, other, failing):
        cache.value(subject, shot, replace(CONTEXT, moment=first))
    cache.value(drawn, shot, replace(CONTEXT, moment=second))
    trace = weakref.ref(first.trace)
    del first
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
    cache = SubjectCache(posted.put, lambda: None)
    subject = Subject(str, counter.make, is_slow=True)
    assert cache.value(subject, shot, CONTEXT) is None
    assert cache.missing(subject, shot, CONTEXT) == WAITING
    posted.get(timeout=10)()
    assert cache.value(subject, shot, CONTEXT) == f"{shot.setup.problem.M}, False"
    assert counter.calls == 1
    bad = replace(shot, setup=shot.setup.changed(M=1))
    assert cache.value(subject, bad, CONTEXT) is None
    posted.get(timeout=10)()
    assert cache.value(subject, bad, CONTEXT) is None
    assert cache.missing(subject, bad, CONTEXT) == "one row is too few"
    assert counter.calls == 2
    cache.worker.close()

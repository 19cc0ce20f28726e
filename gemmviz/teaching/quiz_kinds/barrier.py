"""Question: what can happen without a barrier."""

from contextlib import suppress

from gemmviz.model.errors import GemmvizError
from gemmviz.model.sites import Site
from gemmviz.model.translation import marked, tr
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizKind, QuizSource

_OUTCOMES = {  # by kind of hazard: what happens, why, and why it doesn't
    "read-after-write": (
        marked("a thread reads an element before another thread has stored it"),
        marked("only this barrier separates the stores from reads by other threads"),
        marked("no element is read too early: between the store and a read by another thread is another barrier"),
    ),
    "write-after-read": (
        marked("a thread overwrites an element that another thread has yet to read"),
        marked("only this barrier separates the reads from stores by other threads"),
        marked("no element is overwritten too early: no other thread stores into it before the next barrier"),
    ),
    "none": (
        marked("nothing: every order of the threads gives the same result"),
        marked("a search of the launch without this barrier finds no two threads whose order matters"),
        marked("a search of the launch without this barrier finds threads whose order matters"),
    ),
    "stuck": (
        marked("the threads of a block wait for each other, and the kernel never ends"),
        "",
        marked("a barrier that is not there holds nobody up, and all threads still reach the others"),
    ),
}


def _question(source: QuizSource) -> GeneratedQuestion | None:
    kinds = source.cached("without barriers", lambda: _hazard_kinds(source))
    if len(set(kinds.values())) < 2:
        return None  # all barriers have one answer, or there is none
    line, kind = source.random.choice(list(kinds.items()))
    right, why, _ = _OUTCOMES[kind]
    wrong = [(text, why_not) for other, (text, _, why_not) in _OUTCOMES.items() if other != kind]
    text = tr("The barrier in line {line} is removed, and nothing else is changed. What can happen in this launch?", line=line)
    site = next(site for site in source.replay.trace.sites if site.kind == "barrier" and site.place.line == line)
    expect = (Expectation(f"hazards_without(line={line})", kind),)
    return GeneratedQuestion(text, right, why, source.shot(_first_step_at(source, site), "stage"), wrong, expect)


def _first_step_at(source: QuizSource, site: Site) -> int:
    """The first step at a barrier."""
    trace = source.replay.trace
    return next(step for step in range(trace.steps) if trace.site_of(step) == site)


def _hazard_kinds(source: QuizSource) -> dict[int, str]:
    """The kind of hazard, or "none", without the barrier in each line; lines without a single answer are left out."""
    kinds: dict[int, str] = {}
    for line in sorted({site.place.line for site in source.replay.trace.sites if site.kind == "barrier"}):
        with suppress(GemmvizError):  # such a kernel doesn't run
            found = source.known.without_barriers(line).hazard_kinds
            kind = "none" if not found else found[0] if len(found) == 1 else ""
            if kind in _OUTCOMES and not source.replay.hazards:
                kinds[line] = kind
    return kinds


QUIZ_KIND = QuizKind(marked("Missing barrier"), _question, order=8)

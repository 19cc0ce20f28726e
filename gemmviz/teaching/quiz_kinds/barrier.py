"""Which of the barriers may go."""

from dataclasses import replace

from gemmviz.analysis.hazards.ordering import ordering_of
from gemmviz.model.errors import Place
from gemmviz.subjects.runs import run
from gemmviz.subjects.titles import launch_title
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace = source.replay.trace
    places = {site.place.line: site.place for site in trace.sites if site.kind == "barrier"}
    lines = sorted(places)
    if len(lines) < 2 or len({site.place for site in trace.sites if site.kind == "barrier"}) > len(lines):
        return None
    free = [line for line in lines if _may_go(source, (places[line],))]
    all_may = len(free) == len(lines) and _may_go(source, tuple(places.values()))
    if len(free) > 1 and not all_may:
        return None  # each may go, but not with the others: no one answer is right
    right = "all of them" if all_may else "none of them" if not free else f"that in line {free[0]}"
    wrong = [] if not free else [("none of them", f"that in line {free[0]} may go")]
    wrong += [] if all_may else [("all of them", "then two threads collide in shared memory")]
    for line in lines:
        why = "it may go, and so may the others" if all_may else "without it two threads collide in shared memory"
        if f"that in line {line}" != right:
            wrong.append((f"that in line {line}", why))
    said = " and ".join(map(str, lines))
    text = (
        f"{launch_title(source.setup)} has barriers in lines {said}. "
        "Which one may go in this launch, with C right in every order of threads?"
    )
    first = next(step for step in range(trace.steps) if trace.site_of(step).kind == "barrier")
    reason = "each was taken out, and the run searched for threads that collide"
    return GeneratedQuestion(text, right, reason, source.shot(first, "stage"), wrong)


def _may_go(source: QuizSource, places: tuple[Place, ...]) -> bool:
    """Whether no two threads collide without some barriers: they are taken out, and the kernel run."""

    def made() -> bool:
        kernel = source.setup.kernel
        lines = kernel.text.split("\n")
        for place in places:
            line = lines[place.line - 1]
            lines[place.line - 1] = (
                line[: place.column - 1] + " " * (place.end_column - place.column) + line[place.end_column - 1 :]
            )
        other = replace(source.setup, kernel=replace(kernel, text="\n".join(lines), is_shipped=False))
        outcome = run(other, (0, 0, 0), source.engine)
        return outcome.fault is None and outcome.trace is not None and not ordering_of(outcome.trace).hazards

    return source.replay.cached(("may go", places), made)


QUIZ_KIND = QuizKind("Barrier that may go", _question, order=8)

"""Question: which barriers can be removed."""

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
    removable = [line for line in lines if _is_removable(source, (places[line],))]
    all_removable = len(removable) == len(lines) and _is_removable(source, tuple(places.values()))
    if len(removable) > 1 and not all_removable:
        return None  # each can be removed, but not together: there is no single answer
    right = "all of them" if all_removable else "none of them" if not removable else f"the one in line {removable[0]}"
    wrong = [] if not removable else [("none of them", f"the one in line {removable[0]} can be removed")]
    wrong += [] if all_removable else [("all of them", "without them, threads race in shared memory")]
    for line in lines:
        why = "it can be removed, and so can the others" if all_removable else "without it, threads race in shared memory"
        if f"the one in line {line}" != right:
            wrong.append((f"the one in line {line}", why))
    listed, result = " and ".join(map(str, lines)), " and ".join(source.setup.problem.output_names) or "the result"
    text = (
        f"{launch_title(source.setup)} has barriers in lines {listed}. "
        f"Which can be removed in this launch without making {result} depend on the order of threads?"
    )
    first = next(step for step in range(trace.steps) if trace.site_of(step).kind == "barrier")
    reason = "each was removed, and the run searched for hazards"
    return GeneratedQuestion(text, right, reason, source.shot(first, "stage"), wrong)


def _is_removable(source: QuizSource, places: tuple[Place, ...]) -> bool:
    """Whether the kernel has no hazards without the barriers at these places, by running it."""

    def is_free_of_hazards() -> bool:
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

    return source.replay.cached(("removable", places), is_free_of_hazards)


QUIZ_KIND = QuizKind("Removable barrier", _question, order=8)

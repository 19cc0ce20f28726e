"""Question: how many sectors a request moves."""

from gemmviz.model.words import capital, many
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    access, rules = source.request("global"), source.replay.trace.rules
    if access is None or not access.moment.cost.requests:
        return None
    cost, size = access.moment.cost, rules.sector_bytes
    where = f"{capital(access.who)} {access.verb} {access.main.array.name} in line {access.line}, step {access.step + 1}."
    text = f"{where} How many sectors does its request move?"
    wrong = [
        (many(cost.lanes, "sector"), "one per lane: lanes can share a sector"),
        (many(cost.ideal_sectors, "sector"), "the minimum, if the bytes were contiguous"),
        (many(cost.lines, "sector"), f"the number of {rules.line_bytes}-byte lines it touches"),
        (many(1, "sector"), "a request can move several sectors"),
        (many(cost.sectors * 4, "sector"), f"one per {size // 4} bytes: a sector has {size}"),
        (many(2 * cost.sectors, "sector"), f"twice as many: a sector has {size} bytes, not {size // 2}"),
        (many(cost.sectors + 1, "sector"), "one too many: the request starts at a sector boundary"),
    ]
    why = f"its {many(cost.lanes, 'lane')} access {many(cost.sectors, 'sector')} of {size} bytes"
    return GeneratedQuestion(text, many(cost.sectors, "sector"), why, source.shot(access.step, "memory", access.focus), wrong)


QUIZ_KIND = QuizKind("Sectors of a request", _question, order=1)

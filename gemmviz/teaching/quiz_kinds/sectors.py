"""How many sectors a request moves."""

from gemmviz.model.words import capital, many
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    asked, rules = source.request("global"), source.replay.trace.rules
    if asked is None or not asked.moment.cost.requests:
        return None
    cost, size = asked.moment.cost, rules.sector_bytes
    where = f"{capital(asked.who)} {asked.verb} {asked.main.array.name} in line {asked.line}, step {asked.step + 1}."
    text = f"{where} How many sectors does its request move?"
    wrong = [
        (many(cost.lanes, "sector"), "one for each lane, as if no two lanes shared one"),
        (many(cost.ideal_sectors, "sector"), "as many as its bytes would take side by side"),
        (many(cost.lines, "sector"), f"that is how many lines of {rules.line_bytes} bytes it touches"),
        (many(1, "sector"), "one request is not one sector"),
        (many(cost.sectors * 4, "sector"), f"one for every {size // 4} bytes: sectors have {size}"),
        (many(2 * cost.sectors, "sector"), f"twice as many: sectors have {size} bytes, not {size // 2}"),
        (many(cost.sectors + 1, "sector"), "one more than it touches: it begins where a sector does"),
    ]
    why = f"its {many(cost.lanes, 'lane')} move {many(cost.sectors, 'sector')} of {size} bytes"
    return GeneratedQuestion(text, many(cost.sectors, "sector"), why, source.shot(asked.step, "memory", asked.focus), wrong)


QUIZ_KIND = QuizKind("Sectors of a request", _question, order=1)

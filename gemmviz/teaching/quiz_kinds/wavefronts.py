"""How many passes a request to shared memory takes."""

import numpy as np

from gemmviz.model.words import capital
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    asked, rules = source.request("shared"), source.replay.trace.rules
    if asked is None or not asked.moment.cost.requests:
        return None
    cost, main, request = asked.moment.cost, asked.main, asked.moment.request
    words = len(np.unique(request.lanes[request.lanes >= 0])) if request is not None else 1
    where = f"{capital(asked.who)} {asked.verb} {main.array.name} in step {asked.step + 1}, line {asked.line}."
    text = f"{where} How many wavefronts does that take?"
    parts = -(-rules.warp_size // rules.request_lanes)
    is_plain = parts == 1 and main.operand.width * main.array.itemsize <= rules.bank_bytes
    alone = "one, as if there were no conflict" if is_plain else "one for the whole warp: its lanes are served in parts"
    wrong = [
        (str(cost.lanes), "one for each lane: different banks are served at once"),
        (str(words), "one for each different word: those in different banks go together"),
        (str(1), alone),
        (str(2 * cost.wavefronts), "twice as many"),
        (str(cost.wavefronts + 1), "one more than needed"),
        (str(rules.banks), "one for each bank"),
    ]
    why = f"the most different words that it needs from one bank: {cost.wavefronts}"
    if not is_plain:
        why = f"its lanes are served in parts, each with the words that it needs most from one bank: {cost.wavefronts} in all"
    return GeneratedQuestion(text, str(cost.wavefronts), why, source.shot(asked.step, "banks", asked.focus), wrong)


QUIZ_KIND = QuizKind("Wavefronts of a request", _question, order=7)

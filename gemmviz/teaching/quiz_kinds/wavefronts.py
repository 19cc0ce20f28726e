"""Question: how many wavefronts a request to shared memory takes."""

import numpy as np

from gemmviz.model.words import capital
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    access, rules = source.request("shared"), source.replay.trace.rules
    if access is None or not access.moment.cost.requests:
        return None
    cost, main, request = access.moment.cost, access.main, access.moment.request
    words = len(np.unique(request.lanes[request.lanes >= 0])) if request is not None else 1
    where = f"{capital(access.who)} {access.verb} {main.array.name} in step {access.step + 1}, line {access.line}."
    text = f"{where} How many wavefronts does its request take?"
    parts = -(-rules.warp_size // rules.request_lanes)
    is_plain = parts == 1 and main.operand.width * main.array.itemsize <= rules.bank_bytes
    alone = "one: only without bank conflicts" if is_plain else "one for the whole warp: its lanes are served in groups"
    wrong = [
        (str(cost.lanes), "one per lane: different banks are served at the same time"),
        (str(words), "one per distinct word: words in different banks are served together"),
        (str(1), alone),
        (str(2 * cost.wavefronts), "twice as many"),
        (str(cost.wavefronts + 1), "one too many"),
        (str(rules.banks), "one per bank"),
    ]
    why = f"the largest number of distinct words in one bank: {cost.wavefronts}"
    if not is_plain:
        why = f"lanes are served in groups, each taking its largest number of words in one bank: {cost.wavefronts} in total"
    return GeneratedQuestion(text, str(cost.wavefronts), why, source.shot(access.step, "banks", access.focus), wrong)


QUIZ_KIND = QuizKind("Wavefronts of a request", _question, order=7)

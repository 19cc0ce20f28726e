"""Question: how many lanes of a warp take part in an access."""

import numpy as np

from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    access, size = source.request("global"), source.replay.trace.rules.warp_size
    request = None if access is None else access.moment.request
    if access is None or request is None:
        return None
    count, words = int(np.count_nonzero(request.lanes >= 0)), source.words
    who = f"warp {access.focus.warp}{words.of_block(access.focus.block)}"
    text = f"How many lanes of {who} take part in the access in line {access.line}{words.moment(access.step)}?"
    wrong = [
        (f"{other} lanes", reason)
        for other, reason in (
            (size, "those are all lanes of a warp: some are off"),
            (size // 2, "half a warp: it isn't the unit that executes"),
            (source.replay.trace.space.threads_per_block, "those are the threads of the block"),
            (1, "lanes of a warp execute an access together"),
        )
        if other != count
    ]
    expect = (Expectation("step_cost(measure=lanes)", count),)
    shot = source.shot(access.step, "warp", access.focus)
    return GeneratedQuestion(text, f"{count} lanes", f"{count} of its {size} lanes are active", shot, wrong, expect)


QUIZ_KIND = QuizKind("Active lanes", _question)

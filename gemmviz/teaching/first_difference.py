"""The blank of an exercise whose answer is wrong by itself, and the first access that differs from the solution's."""

from collections.abc import Callable, Sequence

import numpy as np

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.model.errors import GemmvizError
from gemmviz.model.records import replace
from gemmviz.model.trace import Trace
from gemmviz.model.translation import tr
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot


def wrong_blank(answers: Sequence[str], key: Sequence[str], passes: Callable[[tuple[str, ...]], bool]) -> int | None:
    """Number of the first blank whose answer fails among the right answers for the others; None if each of them passes."""
    other = [place for place, answer in enumerate(answers) if answer.strip() != key[place].strip()]
    if len(other) == 1:
        return other[0] + 1
    return next((at + 1 for at in other if not passes((*key[:at], answers[at], *key[at + 1 :]))), None)


def difference_text(shot: Shot, answers: Sequence[str], key: Sequence[str], engine: Engine) -> str:
    """A sentence about the first access in which the run with ``answers`` differs from that with the key; "" if there is none,
    or one of them can't be run.
    """
    kernel = shot.setup.kernel
    try:
        own, right = (engine.trace(replace(shot.setup, kernel=kernel.filled(each))).trace for each in (answers, key))
    except GemmvizError:
        return ""
    if own is None or right is None:
        return ""
    for step in range(min(own.steps, right.steps)):
        one, other = _accesses(own, step), _accesses(right, step)
        thread = next((thread for thread in range(own.space.thread_count) if one(thread) != other(thread)), None)
        if thread is not None:
            block, _ = own.space.indices(thread)
            return tr(
                "first difference: thread {thread} of block {block}, line {line}: {own}; the solution: {right}",
                thread=thread_text(thread % own.space.threads_per_block, own.launch), block=f"({', '.join(map(str, block))})",
                line=own.site_of(step).place.line, own=one(thread), right=other(thread),
            )  # fmt: skip
    return ""


def _accesses(trace: Trace, step: int) -> Callable[[int], str]:
    """The function that says what a thread does at a step, as in "read Md[5]"."""
    site, rows = trace.site_of(step), trace.element[trace.row[step] : trace.row[step + 1]]

    def said(thread: int) -> str:
        elements = np.asarray(rows[:, thread])
        parts = [
            f"{tr(operand.access)} {trace.arrays[operand.array].subscripted(int(element))}"
            for operand, element in zip(site.operands, elements, strict=False)
            if element >= 0
        ]
        return ", ".join(parts) or (tr(site.kind) if (elements >= 0).any() else tr("nothing"))

    return said

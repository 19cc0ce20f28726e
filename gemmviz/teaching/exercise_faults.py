"""Checks of an exercise itself: its own solution passes, and what a student begins with doesn't."""

from random import Random

from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.model.errors import GemmvizError
from gemmviz.model.records import replace
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.state.shot import Shot
from gemmviz.teaching.answer_keys import answers_of
from gemmviz.teaching.exercises import judged
from gemmviz.teaching.lesson import Exercise, LessonStep, Solution


def exercise_faults(step: LessonStep) -> list[GemmvizError]:
    """What is wrong with the exercise of a step, at the place of the step; nothing if it has none, or a right one."""
    exercise = step.exercise
    if exercise is None:
        return []
    faults = []
    try:
        shot, answers = solved(exercise, step.shot)
        verdict = judged(exercise, shot, Interpreter(), answers, Random(0))
        if not verdict.passed:
            faults.append(GemmvizError(f"the exercise's own solution fails: {'; '.join(verdict.lines)}"))
    except GemmvizError as error:
        faults.append(GemmvizError(error.message, remedy=error.remedy))
    untouched = ("",) * step.shot.setup.kernel.blanks
    if judged(exercise, step.shot, Interpreter(), untouched, Random(0)).passed:
        what = "empty blanks" if untouched else "the step as it is shown"
        faults.append(GemmvizError(f"the exercise is passed by {what}", remedy="require what only a solution has"))
    for fault in faults:
        fault.place = step.place
    return faults


def solved(exercise: Exercise, shot: Shot) -> tuple[Shot, tuple[str, ...]]:
    """The shot of an exercise's solution, and its answers for the blanks. Raises GemmvizError for an exercise without a
    solution, or for one whose number of answers isn't that of the blanks.
    """
    solution = exercise.solution or Solution()
    answers = answers_of(exercise.key) if exercise.key else solution.answers
    setup, blanks = shot.setup, shot.setup.kernel.blanks
    if not exercise.key and exercise.solution is None:
        raise GemmvizError("the exercise has no solution to be checked with", remedy="give it a key, or solution = { … }")
    if len(answers) != blanks:
        where = f"the key {exercise.key!r}" if exercise.key else "the solution"
        raise GemmvizError(f"{where} has {len(answers)} answers for {blanks} blanks", remedy="write one for each blank")
    if solution.kernel:
        setup = setup_for(load_kernel(solution.kernel), setup.problem, device=setup.device)
    return replace(shot, setup=setup.changed(**solution.parameters)), answers

"""Sizes that are drawn at each try of an exercise, so that an answer can't know them."""

from random import Random

from gemmviz.launch.legality import can_run
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.teaching.lesson import Exercise, ExerciseSize

_LARGEST = 48  # of each size
_TRIES = 20


def drawn_sizes(exercise: Exercise, setup: Setup, random: Random) -> list[ExerciseSize]:
    """Up to two sizes that an exercise doesn't list, without its limits: one between those that it lists, and one that is a
    fifth or more larger, with the parameters of the largest.
    """
    listed = sorted((each for each in exercise.sizes if each.problem), key=lambda each: max(each.problem.values()))
    if not listed:
        return []
    first, last = (max(each.problem.values()) for each in (listed[0], listed[-1]))
    ways = ((random.choice(listed), first, last), (listed[-1], last + last // 5, _LARGEST))
    drawn = (_drawn(each, first, last, setup, random) for each, first, last in ways if first < last)
    return [each for each in drawn if each is not None and each.problem not in [one.problem for one in listed]]


def _drawn(like: ExerciseSize, first: int, last: int, setup: Setup, random: Random) -> ExerciseSize | None:
    """A size with the parameters of another one: a multiple of the largest of them if nothing else runs."""
    tied = len(set(like.problem.values())) == 1
    width = max(like.parameters.values(), default=1)
    for number in range(_TRIES):
        same = random.randint(first, last)
        values = [same if tied else random.randint(first, last) for _ in like.problem]
        if number % 2:
            values = [-(-value // width) * width for value in values]
        problem = dict(zip(like.problem, values, strict=True))
        if can_run(setup.changed(**problem, **like.parameters)):
            return replace(like, problem=problem, at_most={})
    return None

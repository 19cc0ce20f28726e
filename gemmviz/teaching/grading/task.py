"""A task: what is judged of each hand-in, at which sizes, and how its kernel is found."""

from math import prod
from typing import Literal

from msgspec import Struct, field

from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.problem import Problem
from gemmviz.model.problems.catalog import MULTIPLY
from gemmviz.model.records import replace
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import ExerciseSize
from gemmviz.teaching.requirements import QuantityRequirement

AlwaysJudged = Literal["parses", "host", "guards", "hazards", "result"]
ALWAYS_JUDGED: dict[AlwaysJudged, str] = {
    "parses": "Reading the file",
    "host": "Launch and copies in the host code",
    "guards": "Bounds of all accesses",
    "hazards": "Barriers and hazards",
    "result": "Result",
}  # titles by id, in the order in which they are shown
HAZARDS = tuple(f"hazards(kind={kind})" for kind in ("read-after-write", "write-after-read", "write-after-write"))
REQUIREMENTS: dict[str, tuple[QuantityRequirement, ...]] = {
    "guards": (QuantityRequirement("fault", ""),),
    "hazards": tuple(QuantityRequirement(each, 0) for each in HAZARDS),
    "result": (QuantityRequirement("result", "right"), QuantityRequirement("unwritten_elements", 0)),
}  # of what is always judged and needs a run


class TaskCheck(Struct, frozen=True):
    """One thing that is judged. ``id``: one of ALWAYS_JUDGED, or ``criterion-N``; ``requirements``: all must be met;
    ``message``: for students who don't meet them; ``at``: the only size at which it is judged, None for every size.
    """

    id: str
    title: str
    points: float
    requirements: tuple[QuantityRequirement, ...] = ()
    message: str = ""
    at: ExerciseSize | None = None

    @property
    def is_always_judged(self) -> bool:
        return self.id in ALWAYS_JUDGED


class Task(Struct, frozen=True):
    """What is judged, in the order in which it is shown, at which ``sizes``.

    ``launch``: the kernel's name, the roles of its parameters, and the launch of hand-ins without host code; ``problem``: what
    the kernel computes; ``type``: the least precise floating-point type of its arrays and arithmetic; ``shot``: of an exercise,
    whose kernel the hand-ins complete if it has blanks; ``files``: that hand-ins may include, by name; ``name``: of the
    task's file; ``square``: sizes for kernels that have one number for all sizes, where the task gives none; ``private``: sizes
    that students aren't told; ``digest``: a hash of all of it.
    """

    title: str
    checks: tuple[TaskCheck, ...]
    sizes: tuple[ExerciseSize, ...]
    text: str = ""
    name: str = "task"
    launch: GivenLaunch = field(default_factory=GivenLaunch)
    problem: Problem = field(default_factory=lambda: Problem(kind=MULTIPLY))
    device: str = DEFAULT_DEVICE
    type: str = "float"
    shot: Shot | None = None
    files: tuple[tuple[str, str], ...] = ()
    square: tuple[ExerciseSize, ...] = ()
    private: tuple[ExerciseSize, ...] = ()
    digest: str = ""

    @property
    def most_points(self) -> float:
        return sum(each.points for each in self.checks)

    @property
    def all_sizes(self) -> tuple[ExerciseSize, ...]:
        """The sizes of the task and of its checks, those with the least work first."""
        own = (each.at for each in self.checks if each.at is not None)
        return tuple(sorted(dict.fromkeys((*self.sizes, *own)), key=_work))

    @property
    def private_words(self) -> tuple[str, ...]:
        return tuple(each.words for each in self.private)

    def for_square(self) -> "Task":
        """The task for a kernel that multiplies square matrices alone."""
        return replace(self, sizes=self.square) if self.square else self

    def checks_at(self, size: ExerciseSize) -> tuple[TaskCheck, ...]:
        """The checks that are judged at a size."""
        is_common = size in self.sizes
        return tuple(each for each in self.checks if each.at == size or (each.at is None and is_common))


def _work(size: ExerciseSize) -> int:
    return prod(size.problem.values())

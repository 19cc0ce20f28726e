"""A task: what is judged of each hand-in, at which sizes, and how its kernel is found; and the hand-in, its limits and the
result of each check, as values that are stored as JSON.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Collection, Mapping
from math import prod
from typing import Literal

import psutil
from msgspec import Struct, field, structs

from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.problem import Problem
from gemmviz.model.problems import MULTIPLY
from gemmviz.shots.shot import Shot
from gemmviz.teaching.exercises import QuantityRequirement
from gemmviz.teaching.lesson import ExerciseSize

# A hand-in, the limits within which it is judged, and the result of each check, as values that are stored as JSON.

CheckStatus = Literal["passed", "failed", "unjudged"]


class JudgedRow(Struct, frozen=True):
    """A requirement at one size: the displayed name of a quantity, its value and the required one."""

    size: str
    title: str
    value: str
    required: str
    is_met: bool


class BarrierGap(Struct, frozen=True):
    """A place where a barrier is missing: behind ``line``, between the accesses of the lines ``first`` and ``second``.
    ``is_in_loop``: the second one is in the next trip of a loop, in which the barrier belongs.
    """

    line: int
    first: int
    second: int
    is_in_loop: bool = False

    def __str__(self) -> str:
        where = f"behind line {self.line}, in the loop" if self.is_in_loop else f"between lines {self.line} and {self.line + 1}"
        return f"A barrier is missing {where}."


class CheckResult(Struct, frozen=True):
    """``finding``: id of what was found if the check failed, such as "out-of-range"; ``output``: a sentence for the student;
    ``line``: of the judged file, 0 if none is meant; ``size``: at which it failed; ``replay``: index of the replay that shows
    it, -1 for none; ``gap``: where a barrier is missing.
    """

    id: str
    title: str
    status: CheckStatus
    score: float
    points: float
    finding: str = ""
    output: str = ""
    line: int = 0
    size: str = ""
    rows: tuple[JudgedRow, ...] = ()
    replay: int = -1
    gap: BarrierGap | None = None

    def without(self, private: Collection[str]) -> "CheckResult":
        """The result as students see it, who aren't told the sizes in ``private``."""
        rows = tuple(each for each in self.rows if each.size not in private)
        if self.size not in private and not any(each in self.output for each in private):
            return structs.replace(self, rows=rows)
        where = f", line {self.line}" if self.line else ""
        output = f"{self.finding or 'not judged'}{where}" if self.size in private else "Not judged at this size."
        return structs.replace(self, rows=rows, size="a size that the task doesn't tell", output=output, replay=-1)


class Grade(Struct, frozen=True):
    """The results of all checks. ``file``: the judged one; ``kernel``: its name; ``notes``: what was assumed; ``good``: what a
    right kernel does well, behind the size at which it does.
    """

    checks: tuple[CheckResult, ...]
    file: str = ""
    kernel: str = ""
    notes: tuple[str, ...] = ()
    good: tuple[str, ...] = ()

    def without(self, private: Collection[str]) -> "Grade":
        """The grade as students see it, who aren't told the sizes in ``private``."""
        return structs.replace(self, checks=tuple(each.without(private) for each in self.checks)) if private else self

    @property
    def score(self) -> float:
        return sum(each.score for each in self.checks)

    @property
    def points(self) -> float:
        return sum(each.points for each in self.checks)

    @property
    def unjudged(self) -> float:
        """Points of the checks that weren't judged."""
        return sum(each.points for each in self.checks if each.status == "unjudged")

    @property
    def words(self) -> str:
        """The points as text."""
        left = f", {self.unjudged:g} not judged" if self.unjudged else ""
        return f"{self.score:g} of {self.points:g} points{left}"

    @property
    def has_passed(self) -> bool:
        return all(each.status == "passed" for each in self.checks)

    @property
    def findings(self) -> tuple[str, ...]:
        """Ids of everything that was found, in the order of the checks."""
        return tuple(each.finding for each in self.checks if each.finding)


# A hand-in: the texts of one student's files, and which of them is judged.

LAUNCH = "<<<"
_KERNEL_WITH_BODY = re.compile(r"__global__[^;{}]*\{")  # with its body
_IDLE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*endif", re.DOTALL | re.MULTILINE)


class HandIn(Struct, frozen=True):
    """``id``: unique, and safe as the name of a file; ``name``: as displayed, without control characters; ``number``: of the
    student in the course system, "" if there is none; ``texts``: by their names in the hand-in's folder, with forward slashes;
    ``problem``: why it can't be read, "" if it can.
    """

    id: str
    name: str
    texts: Mapping[str, str] = field(default_factory=dict)
    number: str = ""
    problem: str = ""

    @property
    def digest(self) -> str:
        """A hash of everything that is judged."""
        content = json.dumps([sorted(self.texts.items()), self.problem]).encode("utf-8", "replace")
        return hashlib.sha256(content).hexdigest()

    def main(self, entry: str) -> str:
        """The name of the file that is judged: one that defines a kernel, the one called ``entry`` if there is one, and rather
        one that launches it. "" if no file defines a kernel.
        """
        named = re.compile(rf"__global__[^;{{}}]*\b{re.escape(entry)}\s*\([^;{{}}]*\{{") if entry else _KERNEL_WITH_BODY

        texts = {name: _IDLE.sub(" ", text) for name, text in self.texts.items()}

        def rank(name: str) -> tuple[bool, bool, bool, int, str]:
            text = texts[name]
            return named.search(text) is None, LAUNCH not in text, not name.endswith(".cu"), name.count("/"), name

        return min((name for name, text in texts.items() if _KERNEL_WITH_BODY.search(text)), key=rank, default="")


# Limits of the process that judges a hand-in: processor time, memory, and files.

_BYTES_PER_MIB = 1 << 20


class Limits(Struct, frozen=True):
    """``cpu_s``: seconds of processor time; ``memory_mib``: memory beyond that of the program itself."""

    cpu_s: float = 20.0
    memory_mib: int = 2048

    @property
    def wall_s(self) -> float:
        """Seconds after which a process is ended, also on a busy computer."""
        return 4 * self.cpu_s + 10

    @property
    def time_words(self) -> str:
        return f"judging takes more than {self.cpu_s:g} s (does a loop never end?)"

    @property
    def memory_words(self) -> str:
        return f"judging takes more than {self.memory_mib:,} MiB of memory (choose smaller arrays or tiles)"


def limit_this_process(limits: Limits) -> None:
    """Limit processor time, memory, and the size of files that are written, where the system can. The process that started this
    one watches its time and memory everywhere.
    """
    with contextlib.suppress(ImportError):
        import resource

        used = psutil.Process().cpu_times()
        seconds = int(used.user + used.system + limits.cpu_s) + 1
        _lower(resource.RLIMIT_CPU, seconds)
        _lower(resource.RLIMIT_AS, psutil.Process().memory_info().vms + limits.memory_mib * _BYTES_PER_MIB)
        _lower(resource.RLIMIT_FSIZE, 0)
        _lower(resource.RLIMIT_CORE, 0)


def _lower(kind: int, value: int) -> None:
    """Lower a limit of this process; it can't be raised again."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


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
        return structs.replace(self, sizes=self.square) if self.square else self

    def checks_at(self, size: ExerciseSize) -> tuple[TaskCheck, ...]:
        """The checks that are judged at a size."""
        is_common = size in self.sizes
        return tuple(each for each in self.checks if each.at == size or (each.at is None and is_common))


def _work(size: ExerciseSize) -> int:
    return prod(size.problem.values())

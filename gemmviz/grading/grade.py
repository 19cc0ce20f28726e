"""What was judged of a hand-in: the result of each check, as values that are sent between processes and stored as JSON."""

from typing import Literal

from msgspec import Struct

CheckStatus = Literal["passed", "failed", "unjudged"]


class JudgedRow(Struct, frozen=True):
    """A requirement at one size: the displayed name of a quantity, its value and the required one."""

    size: str
    title: str
    value: str
    required: str
    is_met: bool


class CheckResult(Struct, frozen=True):
    """``finding``: id of what was found if the check failed, such as "out-of-range"; ``output``: a sentence for the student;
    ``line``: of the judged file, 0 if none is meant; ``size``: at which it failed; ``replay``: index of the replay that shows
    it, -1 for none.
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


class Grade(Struct, frozen=True):
    """The results of all checks. ``file``: the judged one; ``kernel``: its name; ``notes``: what was assumed."""

    checks: tuple[CheckResult, ...]
    file: str = ""
    kernel: str = ""
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        return sum(each.score for each in self.checks)

    @property
    def points(self) -> float:
        return sum(each.points for each in self.checks)

    @property
    def has_passed(self) -> bool:
        return all(each.status == "passed" for each in self.checks)

    @property
    def findings(self) -> tuple[str, ...]:
        """Ids of everything that was found, in the order of the checks."""
        return tuple(each.finding for each in self.checks if each.finding)

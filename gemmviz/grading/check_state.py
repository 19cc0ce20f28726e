"""A check while it is judged: what is known of it so far, and its result in the end."""

from msgspec import Struct, field

from gemmviz.grading.grade import CheckResult, JudgedRow
from gemmviz.grading.task import TaskCheck
from gemmviz.model.errors import GemmvizError, SettingError

_WITHOUT_SIZES = frozenset(("parses", "host"))


class CheckState(Struct):
    """What is known of a check. ``unjudged``: why it can't be judged at some size; ``beyond``: the id of the error if that is a
    limit of the interpreter; ``is_met``: whether it is met at some size.
    """

    check: TaskCheck
    rows: list[JudgedRow] = field(default_factory=list)
    failure: CheckResult | None = None
    unjudged: str = ""
    beyond: str = ""
    is_met: bool = False

    def fail(self, finding: str, output: str, *, line: int = 0, size: str = "") -> None:
        """Fails the check, unless it has failed before."""
        if self.failure is None:
            check = self.check
            self.failure = CheckResult(check.id, check.title, "failed", 0.0, check.points, finding, output, line, size)

    def result(self) -> CheckResult:
        """The result. A count may be unknown at some sizes; what is always judged must be known at all of them."""
        check = self.check
        if self.failure is not None:
            return self.failure
        if self.is_met and (not self.unjudged or not check.is_always_judged or check.id in _WITHOUT_SIZES):
            return CheckResult(check.id, check.title, "passed", check.points, check.points)
        return CheckResult(check.id, check.title, "unjudged", 0.0, check.points, self.beyond, f"Not judged: {self.unjudged}.")


def sentence_for(error: GemmvizError) -> str:
    """An error for a student: its place without the name of the file, and no settings that only a lecturer can change."""
    where = "" if error.place is None else f"line {error.place.line}: "
    is_setting = isinstance(error, SettingError)
    remedy = f" ({error.remedy})" if error.remedy and not is_setting else ""
    return f"{where}{error.message}{remedy}"

"""What a run at a kernel's launch may be judged by: a launch that is confirmed, or the sentence that says what is uncertain."""

from gemmviz.launch.launch_line import launch_command
from gemmviz.model.errors import GemmvizError, KernelFault, UsageError
from gemmviz.model.kernel import KernelSpec, LaunchOrigin
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Check
from gemmviz.model.translation import marked, tr

GUESSED = marked("{entry} is launched nowhere in the files that were read, and this launch is a guess")
NOT_READ = marked("{part} of the launch in line {line} can't be read ({reason})")
NO_ROLES = marked("no choice of roles for the arguments gives a right result")
TOO_LARGE = marked("the kernel is not right at small sizes, and {sizes}, which the code has, is too large to be tried")
ILLEGAL = marked("the block in the code has more threads than any GPU allows, and this one is smaller")
_ORIGINS: dict[LaunchOrigin, str] = {
    "header": marked("launch from the header"), "read": marked("launch read from the code"),
    "guessed": marked("launch guessed"), "unsure": marked("launch read from the code"),
    "unchecked": marked("launch read from the code"), "given": marked("launch as given"),
}  # fmt: skip


def not_confirmed(kernel: KernelSpec) -> UsageError | None:
    """The sentence that replaces a verdict on C, on ranges and on races, with the flags that correct the launch; None if the
    launch is confirmed: given, or read in full, at sizes that the code uses or that it leaves open.
    """
    if not kernel.unconfirmed:
        return None
    remedy = tr("correct it with Edit … in the window, or by flags: {command}", command=launch_command(kernel))
    return UsageError(tr("launch not confirmed: {what}", what=kernel.unconfirmed), file=kernel.file, remedy=remedy)


def basis(setup: Setup) -> str:
    """What a finding rests on: the sizes of the run, and where the launch comes from."""
    return tr("at {sizes}, {origin}", sizes=setup.problem.text(), origin=tr(_ORIGINS[setup.kernel.launch_from]))


def judged_check(check: Check, kernel: KernelSpec) -> Check:
    """The check of a result, without a verdict if C isn't right and the launch isn't confirmed."""
    doubt = not_confirmed(kernel)
    return check if doubt is None or check.passed else Check(0, 0, 0, 0.0, 0.0, (0,), is_checked=False, why_not=doubt.message)


def judged_fault(fault: KernelFault, setup: Setup) -> KernelFault:
    """The fault of a run: without a verdict if the launch isn't confirmed, else with what it rests on if that was read."""
    doubt = not_confirmed(setup.kernel)
    if doubt is not None:
        message = tr("{doubt}; with this launch the run can't be continued", doubt=doubt.message)
        return KernelFault(message, None, remedy=doubt.remedy, id="unconfirmed")
    with_basis(fault, setup)
    return fault


def with_basis(error: GemmvizError, setup: Setup) -> None:
    """Adds what a finding rests on to its message, unless the file's own header gives the launch."""
    if setup.kernel.launch_from != "header":
        error.message += f" ({basis(setup)})"

"""Host code to the mistake in it that leaves the result unwritten on a GPU: no launch, or a copy that is missing or wrong."""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.outline import BufferOutline, KernelOutline, LaunchOutline

_COPY_FINDING = "host-copy"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MAIN = re.compile(r"\bmain\s*\(")
_TO_HOST, _TO_DEVICE = "cudaMemcpyDeviceToHost", "cudaMemcpyHostToDevice"


class HostMistake(Struct, frozen=True):
    """A mistake in host code: the id of the finding, and the error."""

    finding: str
    error: GemmvizError


def launch_mistake(
    texts: Mapping[str, str], kernel: KernelOutline, launch: LaunchOutline | None, *, has_launch_elsewhere: bool
) -> HostMistake | None:
    """The mistake of a program that never launches the kernel; None for one that does, and for a kernel without host code."""
    remedy = f"write {kernel.name}<<<grid, block>>>(…) in the host code"
    if launch is None:
        is_program = any(_MAIN.search(_COMMENT.sub(" ", text)) for text in texts.values())
        if is_program and not has_launch_elsewhere:
            return HostMistake("not-launched", UsageError(f"{kernel.name} is launched nowhere", remedy=remedy))
        return None
    reason = next((each.reason for each in launch.unread if each.part == "launch"), "")
    if not reason or has_launch_elsewhere:
        return None
    message = f"the launch of {kernel.name} is never made: {reason}"
    return HostMistake("not-launched", UsageError(message, launch.place, file=launch.file, remedy="launch it in any case"))


def copy_mistake(
    launch: LaunchOutline, inputs: Iterable[BufferOutline], outputs: Iterable[BufferOutline]
) -> HostMistake | None:
    """The first copy that is missing or goes the wrong way; None if there is none, or if other functions may copy."""
    inputs, outputs = list(inputs), list(outputs)
    for each in (*inputs, *outputs):
        if each.bytes and each.misdirected is not None and not each.passed:
            message = f"{each.name} is memory of the GPU, and the direction of this copy is the opposite one"
            remedy = f"{_TO_DEVICE} copies to the GPU, {_TO_HOST} from it"
            return HostMistake(_COPY_FINDING, UsageError(message, each.misdirected, file=launch.file, remedy=remedy))
    for each in inputs:
        if each.bytes and not (each.is_copied_in or each.is_zeroed or "before" in each.passed):
            message = f"{each.name} is never filled before the launch: nothing is copied to it"
            remedy = f"copy the values to it with cudaMemcpy(…, {_TO_DEVICE})"
            return HostMistake(_COPY_FINDING, UsageError(message, launch.place, file=launch.file, remedy=remedy))
    for each in outputs:
        if each.bytes and not (each.is_copied_out or "after" in each.passed):
            message = f"the result is never copied back from the GPU: {each.name} is not read behind the launch"
            remedy = f"copy it with cudaMemcpy(…, {_TO_HOST})"
            return HostMistake(_COPY_FINDING, UsageError(message, launch.place, file=launch.file, remedy=remedy))
    return None


def is_unset(buffer: BufferOutline) -> bool:
    """Whether the host code allocates memory and gives it no values before the launch."""
    return bool(buffer.bytes) and not (buffer.is_zeroed or buffer.is_copied_in or "before" in buffer.passed)

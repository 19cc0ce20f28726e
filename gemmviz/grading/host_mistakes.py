"""Host code to the mistake in it that leaves the result unwritten on a GPU: no launch, or a copy in the wrong direction."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gemmviz.model.errors import GemmvizError, Place, UsageError
from gemmviz.model.outline import KernelOutline, LaunchOutline

_COPY = re.compile(r"\bcudaMemcpy(?:Async)?\s*\(")
_LONGEST_CALL = 1000
_COPY_FINDING = "host-copy"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MAIN = re.compile(r"\bmain\s*\(")
_NAME = re.compile(r"^\W*(?:\([^()]*\)\s*)*&?\s*(\w+)\b(?!\s*[(.])")
_COPIES_BACK = re.compile(
    r"DeviceToHost|cudaMemcpyDefault|Managed|HostAlloc|HostRegister|thrust|copy\(|memcpy2D", re.IGNORECASE
)
_OTHER_WAYS = re.compile(r"Managed|HostAlloc|HostRegister|thrust|[Ff]ill|[Ii]nit|[Zz]ero|[Mm]emset")
_TO_HOST, _TO_DEVICE = "cudaMemcpyDeviceToHost", "cudaMemcpyHostToDevice"


@dataclass(frozen=True, slots=True)
class HostMistake:
    """A mistake in host code: the id of the finding, and the error."""

    finding: str
    error: GemmvizError


def host_mistake(
    texts: Mapping[str, str], kernel: KernelOutline, launch: LaunchOutline | None, *, has_launch_elsewhere: bool
) -> HostMistake | None:
    """The first mistake of the host code; None for host code without one, and for a kernel without host code."""
    if launch is None:
        is_program = any(_MAIN.search(_without_comments(text)) for text in texts.values())
        if is_program and not has_launch_elsewhere:
            remedy = f"write {kernel.name}<<<grid, block>>>(…) in the host code"
            return HostMistake("not-launched", UsageError(f"{kernel.name} is launched nowhere", remedy=remedy))
        return None
    on_device = {each.name for each in launch.buffers if each.name}
    for text in texts.values():
        mistake = _wrong_copy(_without_comments(text), on_device)
        if mistake is not None:
            return mistake
    return _missing_copy("\n".join(map(_without_comments, texts.values())), launch)


def is_output_unset(texts: Mapping[str, str], launch: LaunchOutline, name: str) -> bool:
    """Whether the host code allocates the memory of a pointer and gives it no values before the launch."""
    buffer = next((each for each in launch.buffers if each.name == name), None)
    if buffer is None or not buffer.bytes or buffer.is_zeroed or buffer.is_copied_in:
        return False
    return not any(_OTHER_WAYS.search(_without_comments(text)) for text in texts.values())


def _missing_copy(text: str, launch: LaunchOutline) -> HostMistake | None:
    """The mistake of host code that copies to the GPU and never back."""
    copies_in = any(each.is_copied_in for each in launch.buffers)
    copies_out = any(each.is_copied_out for each in launch.buffers) or _COPIES_BACK.search(text) is not None
    if not copies_in or copies_out:
        return None
    remedy = f"copy it with cudaMemcpy(…, {_TO_HOST})"
    return HostMistake(_COPY_FINDING, UsageError("the result is never copied back from the GPU", remedy=remedy))


def _wrong_copy(text: str, on_device: set[str]) -> HostMistake | None:
    """The first copy whose direction contradicts which of its pointers is the kernel's."""
    for match in _COPY.finditer(text):
        arguments = _arguments(text[match.end() : match.end() + _LONGEST_CALL])
        if len(arguments) < 4:
            continue
        target, source = (_name(each) for each in arguments[:2])
        to_device, to_host = target in on_device, source in on_device
        if to_device == to_host:
            continue
        right, wrong = (_TO_DEVICE, _TO_HOST) if to_device else (_TO_HOST, _TO_DEVICE)
        if arguments[3].strip() == wrong:
            line = text.count("\n", 0, match.start()) + 1
            name = target if to_device else source
            message = f"{name} is memory of the GPU, but the copy {'to' if to_device else 'from'} it is {wrong}"
            return HostMistake(_COPY_FINDING, UsageError(message, Place(line, 1, line, 2), remedy=f"write {right}"))
    return None


def _name(argument: str) -> str:
    match = _NAME.match(argument.strip())
    return match[1] if match is not None else ""


def _arguments(text: str) -> list[str]:
    """The arguments of a call, from behind its opening bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return parts
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return []


def _without_comments(text: str) -> str:
    """The text with comments blanked; lines keep their numbers."""
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)

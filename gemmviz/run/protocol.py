"""The protocol between gemmviz and its worker: one JSON object per line.

A job has an ``id``, the name of the method in ``do``, and its arguments; ``{"cancel": id}`` cancels it. Replies carry the id
and one of ``progress`` (done, total), ``result`` or ``error``. Traces and other arrays are passed as files.
"""

from typing import Any

from gemmviz.files.codec import from_plain, to_json, to_plain
from gemmviz.model.errors import (
    Cancelled,
    DeviceError,
    GemmvizError,
    KernelFault,
    Place,
    SettingError,
    SourceError,
    UsageError,
)

TIMEOUT_S = 10.0  # how long a launch may take
PROFILED_LAUNCHES = 5  # of each kernel under a profiler: the first warms the caches, the fastest of the others counts
Payload = dict[str, Any]
_ERRORS: dict[str, Any] = {
    each.__name__: each for each in (DeviceError, GemmvizError, KernelFault, SettingError, SourceError, UsageError)
}


def line_of(message: Payload) -> bytes:
    """A message as one line of JSON, dataclasses as their fields."""
    return to_json(message) + b"\n"


def error_to_plain(error: Exception, fatal: bool = False) -> Payload:
    """An error as a dict for the pipe. ``fatal``: the worker exits after it."""
    if isinstance(error, Cancelled):
        return {"kind": "Cancelled"}
    if not isinstance(error, GemmvizError):
        return {"kind": "GemmvizError", "message": f"internal error: {type(error).__name__}: {error}", "fatal": fatal}
    kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
    facts: Payload = {
        "kind": kind, "message": error.message, "place": to_plain(error.place), "file": error.file, "remedy": error.remedy,
        "fatal": fatal,
    }  # fmt: skip
    if isinstance(error, KernelFault):
        facts |= {"array": error.array, "elements": error.elements, "block": error.block, "thread": error.thread}
    if isinstance(error, SettingError):
        facts |= {"names": error.names, "nearest": error.nearest}
    return facts


def error_from_plain(facts: Payload) -> Exception:
    """The error that ``error_to_plain`` converted."""
    if facts["kind"] == "Cancelled":
        return Cancelled()
    kind, remedy = _ERRORS[facts["kind"]], facts.get("remedy")
    if kind is SettingError:
        names = tuple(facts.get("names", ()))
        error: GemmvizError = SettingError(facts["message"], names=names, nearest=facts.get("nearest"), remedy=remedy)
    else:
        error = kind(facts["message"], None, remedy=remedy)
    error.place = None if facts.get("place") is None else from_plain(facts["place"], Place)
    error.file = facts.get("file")
    if isinstance(error, KernelFault):
        error.array, error.elements = facts["array"], tuple(facts["elements"])
        error.block, error.thread = (None if facts.get(n) is None else tuple(facts[n]) for n in ("block", "thread"))
    return error

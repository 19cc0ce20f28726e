"""What the window and its worker say to each other: one JSON object a line.

A request names an ``id``, what to ``do`` and the facts for it; ``{"cancel": id}`` calls it off. Answers carry the id and one of
``progress`` (done, of how many), ``result`` or ``error``. Traces and other arrays travel as files, which a result names.
"""

import json
from dataclasses import asdict
from typing import Any

from gemmviz.files.devices import load_device
from gemmviz.model.device import Device
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
from gemmviz.model.filling import Filling
from gemmviz.model.kernel import KernelSpec, Settings
from gemmviz.model.problem import Problem
from gemmviz.spec.header import parse_kernel

PATIENCE_S = 10.0  # how long a launch may take
Facts = dict[str, Any]
_ERRORS: dict[str, Any] = {
    each.__name__: each for each in (DeviceError, GemmvizError, KernelFault, SettingError, SourceError, UsageError)
}


def line_of(message: Facts) -> bytes:
    return json.dumps(message, allow_nan=True).encode("ascii") + b"\n"


def kernel_facts(spec: KernelSpec, settings: Settings, device_name: str) -> Facts:
    """A kernel and its settings as facts."""
    return {
        "file": spec.file,
        "text": spec.text,
        "problem": settings.problem.sizes,
        "parameters": dict(settings.parameters),
        "filling": asdict(settings.filling),
        "device": device_name,
    }


def read_kernel(facts: Facts) -> tuple[KernelSpec, Settings, Device]:
    """What ``kernel_facts`` was made from. Raises as parsing a kernel does."""
    settings = Settings(Problem(**facts["problem"]), facts["parameters"], Filling(**facts["filling"]))
    return parse_kernel(facts["text"], facts["file"]), settings, load_device(facts["device"])


def error_facts(error: Exception, fatal: bool = False) -> Facts:
    """An error as facts. ``fatal``: the worker ends with it."""
    if isinstance(error, Cancelled):
        return {"kind": "Cancelled"}
    if not isinstance(error, GemmvizError):
        return {"kind": "GemmvizError", "message": f"gemmviz failed here: {type(error).__name__}: {error}", "fatal": fatal}
    kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
    facts: Facts = {
        "kind": kind,
        "message": error.message,
        "place": None if error.place is None else asdict(error.place),
        "file": error.file,
        "remedy": error.remedy,
        "fatal": fatal,
    }
    if isinstance(error, KernelFault):
        facts |= {"array": error.array, "elements": list(error.elements), "block": error.block, "thread": error.thread}
    if isinstance(error, SettingError):
        facts["nearest"] = error.nearest
    return facts


def read_error(facts: Facts) -> Exception:
    """What ``error_facts`` was made from."""
    if facts["kind"] == "Cancelled":
        return Cancelled()
    place = None if facts.get("place") is None else Place(**facts["place"])
    kind = _ERRORS[facts["kind"]]
    if kind is SettingError:
        error: GemmvizError = SettingError(facts["message"], nearest=facts.get("nearest"), remedy=facts.get("remedy"))
    else:
        error = kind(facts["message"], place, remedy=facts.get("remedy"))
    error.place, error.file = place, facts.get("file")
    if isinstance(error, KernelFault):
        error.array, error.elements = facts["array"], tuple(facts["elements"])
        error.block, error.thread = (None if each is None else tuple(each) for each in (facts["block"], facts["thread"]))
    return error

"""The protocol between gemmviz and its worker: one JSON object per line.

A job has an ``id``, the name of the method in ``do``, and its arguments; ``{"cancel": id}`` cancels it. Replies carry the id
and one of ``progress`` (done, total), ``result`` or ``error``. Traces and other arrays are passed as files.
"""

from typing import Any

import msgspec
from msgspec import Struct

from gemmviz.files.codec import from_plain, to_json
from gemmviz.model.messages import (
    Cancelled,
    DeviceError,
    ErrorId,
    GemmvizError,
    InstallationError,
    KernelFault,
    Place,
    SettingError,
    SourceError,
    TraceFileError,
    UsageError,
)
from gemmviz.model.threads import Triple

TIMEOUT_S = 10.0  # how long a launch may take
PROFILED_LAUNCHES = 5  # of each kernel under a profiler: the first warms the caches, the fastest of the others counts
Payload = dict[str, Any]


class _ErrorFields(Struct, tag_field="kind", tag="GemmvizError", omit_defaults=True):
    """An error of a class without fields of its own. ``fatal``: the worker ends with it."""

    message: str
    id: ErrorId | None = None
    place: Place | None = None
    file: str | None = None
    remedy: str | None = None
    fatal: bool = False

    def error(self) -> GemmvizError:
        """The error without its place and file."""
        return GemmvizError(self.message, remedy=self.remedy, id=self.id)


class _DeviceFields(_ErrorFields, tag="DeviceError"):
    def error(self) -> GemmvizError:
        return DeviceError(self.message, remedy=self.remedy, id=self.id)


class _SourceFields(_ErrorFields, tag="SourceError"):
    def error(self) -> GemmvizError:
        return SourceError(self.message, remedy=self.remedy, id=self.id)


class _UsageFields(_ErrorFields, tag="UsageError"):
    def error(self) -> GemmvizError:
        return UsageError(self.message, remedy=self.remedy, id=self.id)


class _TraceFileFields(_ErrorFields, tag="TraceFileError"):
    def error(self) -> GemmvizError:
        return TraceFileError(self.message, remedy=self.remedy, id=self.id)


class _InstallationFields(_ErrorFields, tag="InstallationError"):
    def error(self) -> GemmvizError:
        return InstallationError(self.message, file=self.file or "")


class _SettingFields(_ErrorFields, tag="SettingError"):
    names: tuple[str, ...] = ()
    nearest: dict[str, int | str] = {}

    def error(self) -> GemmvizError:
        return SettingError(self.message, names=self.names, nearest=self.nearest, remedy=self.remedy, id=self.id)


class _FaultFields(_ErrorFields, tag="KernelFault"):
    block: Triple | None = None
    thread: Triple | None = None
    array: int = -1
    elements: tuple[int, ...] = ()

    def error(self) -> GemmvizError:
        fault = KernelFault(self.message, None, remedy=self.remedy, id=self.id)
        fault.block, fault.thread, fault.array, fault.elements = self.block, self.thread, self.array, self.elements
        return fault


class _CancelledFields(Struct, tag_field="kind", tag="Cancelled"):
    """The job was cancelled."""


_FIELDS_OF_ERRORS: dict[type[GemmvizError], type[_ErrorFields]] = {
    GemmvizError: _ErrorFields,
    DeviceError: _DeviceFields,
    InstallationError: _InstallationFields,
    KernelFault: _FaultFields,
    SettingError: _SettingFields,
    SourceError: _SourceFields,
    TraceFileError: _TraceFileFields,
    UsageError: _UsageFields,
}
_AnyError = (
    _ErrorFields | _DeviceFields | _InstallationFields | _FaultFields | _SettingFields | _SourceFields | _TraceFileFields
    | _UsageFields | _CancelledFields
)  # fmt: skip


def line_of(message: Payload) -> bytes:
    """A message as one line of JSON, dataclasses as their fields."""
    return to_json(message) + b"\n"


def error_to_plain(error: Exception, fatal: bool = False) -> Payload:
    """An error as facts; one of a class that the protocol doesn't know becomes one of its nearest base. ``fatal``: the worker
    ends with it.
    """
    if isinstance(error, Cancelled):
        return _plain_json(_CancelledFields())
    if not isinstance(error, GemmvizError):
        return _plain_json(_ErrorFields(f"internal error: {type(error).__name__}: {error}", fatal=fatal))
    kind = next(_FIELDS_OF_ERRORS[each] for each in type(error).__mro__ if each in _FIELDS_OF_ERRORS)
    own = {name: getattr(error, name) for name in kind.__struct_fields__ if name != "fatal"}
    return _plain_json(kind(**own, fatal=fatal))


def _plain_json(fields: Struct) -> Payload:
    plain: Payload = msgspec.to_builtins(fields)
    return plain


def error_from_plain(facts: Payload) -> Exception:
    """The error that ``error_to_plain`` turned into facts. Raises FormatError for other facts."""
    fields: Any = from_plain(facts, _AnyError)  # type: ignore[arg-type]  # a union is not a type to mypy
    if isinstance(fields, _CancelledFields):
        return Cancelled()
    error: GemmvizError = fields.error()
    error.place, error.file = fields.place, fields.file
    return error

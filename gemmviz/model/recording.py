"""What was recorded on GPUs: rows that were measured on one of them on one day, by one method."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from gemmviz.model.device import Device, Gpu
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.translation import tr

_RecordedRow = TypeVar("_RecordedRow")


class Recorded(Struct, Generic[_RecordedRow], frozen=True):
    """Rows measured on one GPU on one day. ``host``: its CPU, where that matters; ``method``: how they were measured."""

    gpu: Gpu
    date: str
    rows: tuple[_RecordedRow, ...]
    host: str = ""
    method: str = ""

    @property
    def source(self) -> str:
        """Source of the figures, shown in every picture of them."""
        return tr("recorded on {label}, {date}", label=self.gpu.label, date=self.date)


_Recording = TypeVar("_Recording", bound=Recorded[Any])


def recording_of(device: Device, recordings: Iterable[_Recording]) -> _Recording | None:
    """The recording of a device; None if there is none."""
    return next((each for each in recordings if each.gpu.name == device.name), None)


def nearest_recording(device: Device, recordings: Sequence[_Recording]) -> _Recording:
    """The recording of a device, otherwise the first."""
    return recording_of(device, recordings) or recordings[0]


class LaunchRow(Protocol):
    """A row about one launch. ``source_hash``: of the kernel's text."""

    @property
    def source_hash(self) -> str: ...
    @property
    def problem(self) -> Problem: ...
    @property
    def parameters(self) -> Mapping[str, int]: ...


_L = TypeVar("_L", bound=LaunchRow)


def row_of(setup: Setup, rows: Iterable[_L]) -> _L | None:
    """The row with exactly the kernel text, problem and parameters of a setup; None if there is none."""
    key = setup.kernel.text_hash, setup.problem, dict(setup.parameters)
    return next((row for row in rows if (row.source_hash, row.problem, dict(row.parameters)) == key), None)

"""The recordings that ship with gemmviz, registers of compiled kernels, and figures that the course reports."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct

from gemmviz.files.codec import from_plain, json_to_plain, read_json, read_toml, to_plain
from gemmviz.files.resources import resource, resources
from gemmviz.model.device import Device
from gemmviz.model.recording import Recorded
from gemmviz.model.setup import Setup

MEASUREMENTS = "assets/measurements"
_RecordedFile = TypeVar("_RecordedFile", bound=Recorded[Any])


def recordings(name: str, kind: type[_RecordedFile]) -> tuple[_RecordedFile, ...]:
    """The shipped recordings of a kind, one per GPU, sorted by its name. ``name``: of their files, before the GPU."""
    return _recordings(name, kind)


@cache
def _recordings(name: str, kind: type[Any]) -> tuple[Any, ...]:
    return tuple(from_plain(json_to_plain(path.read_bytes()), kind) for path in resources(MEASUREMENTS, f"{name}-*.json"))


def recording_text(recording: Recorded[Any]) -> str:
    """The text of a recording's file."""
    head = to_plain(recording, brief=True)
    return text_of_rows(head, head.pop("rows"))


def text_of_rows(head: Mapping[str, Any], rows: Iterable[Any]) -> str:
    """JSON with one row per line, so that diffs are readable."""
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    return json.dumps(head, indent=1)[:-2] + f',\n "rows": [\n{lines}\n ]\n}}\n'


# Registers


class RegisterCount(Struct, frozen=True):
    """Registers of one thread, and the compiler that allocated them."""

    per_thread: int
    source: str


class _Registers(Struct, frozen=True):
    """Registers by kernel text, parameters and compute capability."""

    compiler: str
    kernels: dict[str, dict[str, dict[str, int]]]


def recorded_registers(setup: Setup, device: Device) -> RegisterCount | None:
    """Registers of a setup's kernel text and parameters on the device's architecture; None if they were not recorded."""
    record, architecture = _recorded_register_counts(), device.compute_capability
    count = record.kernels.get(setup.kernel.text_hash, {}).get(parameter_key(setup.parameters), {}).get(architecture)
    return None if count is None else RegisterCount(count, f"{record.compiler}, sm_{architecture.replace('.', '')}")


def parameter_key(parameters: Mapping[str, int]) -> str:
    """Parameters as one string such as "BM=64 BN=32", sorted by name."""
    return " ".join(f"{name}={parameters[name]}" for name in sorted(parameters))


@cache
def _recorded_register_counts() -> _Registers:
    return read_json(resource(f"{MEASUREMENTS}/registers.json"), _Registers)


# What the course reports


class ReportedShare(Struct, frozen=True):
    """Percent of cuBLAS's rate that a part of the course reports for a kernel, at large sizes on a device that it leaves
    unnamed: neither measured by gemmviz nor modelled. ``source``: where.
    """

    part: int
    kernel: str
    percent: float
    source: str


class _Reported(Struct, frozen=True):
    shares: tuple[ReportedShare, ...]


@cache
def reported_shares() -> tuple[ReportedShare, ...]:
    """All reported shares, in the order of the course."""
    return read_toml(resource(f"{MEASUREMENTS}/course-reported.toml"), _Reported).shares

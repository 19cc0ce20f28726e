"""Recorded register counts of compiled kernels, by kernel text, parameters and architecture."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from gemmviz.files.resources import resource
from gemmviz.model.device import Device
from gemmviz.model.kernel import text_hash


class RegisterCount(Struct, frozen=True):
    """Registers of one thread, and the compiler that allocated them."""

    per_thread: int
    source: str


def recorded_registers(kernel_text: str, parameters: Mapping[str, int], device: Device) -> RegisterCount | None:
    """Registers of a kernel text with these parameters on the device's architecture; None if they were not recorded."""
    record = _registers()
    by_architecture = record["kernels"].get(text_hash(kernel_text), {}).get(parameter_key(parameters), {})
    count = by_architecture.get(device.compute_capability)
    return (
        None
        if count is None
        else RegisterCount(count, f"{record['compiler']}, sm_{device.compute_capability.replace('.', '')}")
    )


def parameter_key(parameters: Mapping[str, int]) -> str:
    """Parameters as one string such as "BM=64 BN=32", sorted by name."""
    return " ".join(f"{name}={parameters[name]}" for name in sorted(parameters))


@cache
def _registers() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(resource("assets/measurements/registers.json").read_text("utf-8"))
    return record

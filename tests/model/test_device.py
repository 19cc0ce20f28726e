"""Figures of devices: what no device has is refused where it is read."""

from typing import Any

import pytest
from msgspec import structs

from gemmviz.files.devices import device_names, load_device
from gemmviz.model.device import MemoryRules
from gemmviz.model.messages import UsageError
from gemmviz.shots.shot import device_text


def test_every_device_that_ships_is_sound() -> None:
    for name in device_names():
        device = load_device(name)
        assert structs.replace(device) == device
        assert structs.replace(device.rules) == device.rules


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("sms", 0, "sms of a device can't be 0"),
        ("sms", 1 << 40, "up to 16,384"),
        ("warp_size", 1 << 20, "up to 1,024"),
        ("warp_size", 33, "its warps have 33"),
        ("max_threads_per_block", 16, "larger than a block"),
        ("max_grid", (1, 0, 1), "max_grid of a device can't be 0"),
        ("bandwidth_gb_s", float("nan"), "can't be nan"),
        ("peak_gflops", float("inf"), "can't be inf"),
        ("schedulers", 0, "schedulers of a device can't be 0"),
    ],
)
def test_figures_that_no_device_has(name: str, value: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        structs.replace(load_device(), **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("line_bytes", 1 << 64),
        ("sector_bytes", 1),
        ("sector_bytes", 48),
        ("bank_bytes", 2),
        ("banks", 3),
        ("request_lanes", 64),
    ],
)
def test_memory_that_no_device_has(name: str, value: Any) -> None:
    with pytest.raises(UsageError):
        structs.replace(MemoryRules(), **{name: value})


@pytest.mark.parametrize(("name", "text"), [
    ("a100", "48 KiB (163 KiB opted in)"), ("h200", "48 KiB (227 KiB opted in)"), ("rtx3090", "48 KiB (99 KiB opted in)"),
    ("8800gtx", "16 KiB"), ("rx6800xt", "64 KiB"),
])  # fmt: skip
def test_the_shared_memory_of_a_block_is_told_with_what_it_may_ask_for(name: str, text: str) -> None:
    device = load_device(name)
    assert device.block_shared_text == text
    assert device_text(name).count(text) == 1
    assert device.shared_limit(opts_in=False) == device.shared_per_block


def test_a_block_may_ask_for_all_but_the_reserve_of_an_sm() -> None:
    for name in device_names():
        device = load_device(name)
        if device.shared_opt_in is not None:
            assert device.shared_opt_in == device.shared_per_sm - device.shared_reserved_per_block
            assert "shared_opt_in" in device.sources

"""Recorded times of loads at several strides."""

from functools import cache

from gemmviz.files.codec import from_plain, json_to_plain
from gemmviz.files.resources import resources
from gemmviz.model.stride_times import StrideTimes


@cache
def recorded_strides() -> tuple[StrideTimes, ...]:
    """The shipped records of strides, one per GPU."""
    paths = resources("assets/measurements", "strides-*.json")
    return tuple(from_plain(json_to_plain(path.read_bytes()), StrideTimes) for path in paths)

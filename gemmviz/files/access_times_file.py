"""Recorded times of one access to each memory of a GPU."""

from functools import cache

from gemmviz.files.codec import from_plain, json_to_plain
from gemmviz.files.resources import resources
from gemmviz.model.access_times import AccessTimes


@cache
def recorded_access_times() -> tuple[AccessTimes, ...]:
    """The shipped access times, one record per GPU."""
    return tuple(
        from_plain(json_to_plain(path.read_bytes()), AccessTimes)
        for path in resources("assets/measurements", "access-times-*.json")
    )

"""Recorded times of a host's calls around a kernel launch."""

from functools import cache

from gemmviz.files.codec import from_plain, json_to_plain
from gemmviz.files.resources import resources
from gemmviz.model.host_run import HostRuns


@cache
def recorded_host_runs() -> tuple[HostRuns, ...]:
    """The shipped records of host calls, one per GPU."""
    return tuple(
        from_plain(json_to_plain(path.read_bytes()), HostRuns) for path in resources("assets/measurements", "host-*.json")
    )

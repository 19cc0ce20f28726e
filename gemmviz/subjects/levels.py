"""Bytes that a launch moves at each level of memory."""

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.files.levels_file import recorded_levels
from gemmviz.launch.legality import device_for
from gemmviz.model.setup import Setup
from gemmviz.model.speed_case import DRAM, MOVED, REQUESTED, Traffic
from gemmviz.model.translation import tr


def traffic_of(setup: Setup, counts: LaunchCounts) -> tuple[Traffic, ...]:
    """Bytes at each level of memory; DRAM only if a profiler recorded exactly this launch."""
    total, counted = counts.total("global"), tr("counted from the source as written")
    levels = [
        Traffic(REQUESTED, total.bytes_asked, counted),
        Traffic(MOVED, total.bytes_moved(counts.rules), counted),
    ]
    device = device_for(setup)
    for each in recorded_levels():
        row = each.find(setup) if each.gpu.name == device.name else None
        if row is not None:
            both = row.counters["dram_bytes_read"] + row.counters["dram_bytes_written"]
            levels.append(Traffic(DRAM, both, each.source, is_dram=True))
    return tuple(levels)

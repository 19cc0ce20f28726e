"""Latency and bandwidth of the memory of a shot's device, or of the GPU whose access times were recorded."""

from gemmviz.files.access_times_file import recorded_access_times
from gemmviz.files.devices import device_names, load_device
from gemmviz.launch.legality import device_for
from gemmviz.model.cases import TripCase
from gemmviz.model.errors import UsageError
from gemmviz.model.translation import tr
from gemmviz.state.shot import Shot
from gemmviz.subjects.subject import Context, Subject


def _make(shot: Shot, context: Context) -> TripCase:
    """The trip. Raises UsageError where no access to memory was recorded, or the GPU's bandwidth is unknown."""
    devices = {device.name: device for device in (device_for(shot.setup), *map(load_device, device_names()))}
    known = [
        (times, cycles) for times in recorded_access_times() if (cycles := times.cycles("DRAM")) and times.device in devices
    ]
    own = [each for each in known if each[0].device == device_for(shot.setup).name]
    if not known:
        raise UsageError(tr("no access to memory was recorded"), remedy=tr("reinstall gemmviz: its measurements are missing"))
    times, cycles = (own or known)[0]
    return TripCase(times, cycles, devices[times.device].bandwidth_gb_s)


SUBJECT = Subject(TripCase, _make, order=62)

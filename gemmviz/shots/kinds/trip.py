"""Latency and bandwidth of the memory of a shot's device, or of the GPU whose access times were recorded."""

from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.devices import device_of, load_device
from gemmviz.files.recordings import recordings
from gemmviz.model.cases import TripCase
from gemmviz.model.errors import UsageError
from gemmviz.model.recording import AccessTimes, nearest_recording
from gemmviz.model.translation import tr
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_trip(shot: Shot, context: Context) -> TripCase:
    """The trip. Raises UsageError where no access to memory was recorded, or the GPU's bandwidth is unknown."""
    times = nearest_recording(device_for(shot.setup), recordings("access-times", AccessTimes))
    name, cycles = device_of(times.gpu), times.cycles("DRAM")
    if name is None or cycles is None:
        raise UsageError(tr("no access to memory was recorded"), remedy=tr("reinstall gemmviz: its measurements are missing"))
    return TripCase(times, cycles, load_device(name).bandwidth_gb_s)


SUBJECT = Subject(TripCase, _make_trip, order=62)

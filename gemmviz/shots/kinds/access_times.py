"""Recorded access times of the memories of a shot's device, or of another one if its own were not recorded."""

from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.recordings import recordings
from gemmviz.model.recording import AccessTimes, AccessTimesCase, nearest_recording
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_access_times(shot: Shot, context: Context) -> AccessTimesCase:
    device = device_for(shot.setup)
    return AccessTimesCase(nearest_recording(device, recordings("access-times", AccessTimes)), device.name)


SUBJECT = Subject(AccessTimesCase, _make_access_times, order=51)

"""Recorded access times of the memories of a shot's device, or of another one if its own were not recorded."""

from gemmviz.files.recordings import recordings
from gemmviz.launch.legality import device_for
from gemmviz.model.access_times import AccessTimes, AccessTimesCase
from gemmviz.model.recording import nearest_recording
from gemmviz.state.shot import Shot
from gemmviz.subjects.knowledge import Context
from gemmviz.subjects.subject import Subject


def _make(shot: Shot, context: Context) -> AccessTimesCase:
    device = device_for(shot.setup)
    return AccessTimesCase(nearest_recording(device, recordings("access-times", AccessTimes)), device.name)


SUBJECT = Subject(AccessTimesCase, _make, order=51)

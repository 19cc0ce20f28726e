"""Strides: recorded times of loads at several strides, on the device of a shot or on another one."""

from gemmviz.files.recordings import recordings
from gemmviz.launch.legality import device_for
from gemmviz.model.access_times import StrideTimes
from gemmviz.model.recording import nearest_recording
from gemmviz.state.shot import Shot
from gemmviz.subjects.knowledge import Context
from gemmviz.subjects.subject import Subject


def _make(shot: Shot, context: Context) -> StrideTimes:
    return nearest_recording(device_for(shot.setup), recordings("strides", StrideTimes))


SUBJECT = Subject(StrideTimes, _make, order=51)

"""Strides: recorded times of loads at several strides, on the device of a shot or on another one."""

from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.recordings import recordings
from gemmviz.model.recording import StrideTimes, nearest_recording
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_strides(shot: Shot, context: Context) -> StrideTimes:
    return nearest_recording(device_for(shot.setup), recordings("strides", StrideTimes))


SUBJECT = Subject(StrideTimes, _make_strides, order=51)

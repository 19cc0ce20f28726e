"""Strides: recorded times of loads at several strides, on the device of a shot or on another one."""

from gemmviz.files.strides_file import recorded_strides
from gemmviz.launch.legality import device_for
from gemmviz.model.stride_times import StrideTimes
from gemmviz.state.shot import Shot
from gemmviz.subjects.subject import Context, Subject


def _make(shot: Shot, context: Context) -> StrideTimes:
    """The record of the shot's device, otherwise the first."""
    known = recorded_strides()
    return next((each for each in known if each.device == device_for(shot.setup).name), known[0])


SUBJECT = Subject(StrideTimes, _make, order=51)

"""Recorded access times of the memories of a shot's device, or of another one if its own were not recorded."""

from gemmviz.files.access_times_file import recorded_access_times
from gemmviz.launch.legality import device_for
from gemmviz.model.access_times import AccessTimesCase
from gemmviz.model.errors import UsageError
from gemmviz.model.translation import tr
from gemmviz.state.shot import Shot
from gemmviz.subjects.subject import Context, Subject


def _make(shot: Shot, context: Context) -> AccessTimesCase:
    """The access times. Raises UsageError without a recording."""
    name, known = device_for(shot.setup).name, recorded_access_times()
    times = next((each for each in known if each.device == name), known[0] if known else None)
    if times is None:
        raise UsageError(tr("no access times are recorded"), remedy=tr("reinstall gemmviz: its measurements are missing"))
    return AccessTimesCase(times, name)


SUBJECT = Subject(AccessTimesCase, _make, order=51)

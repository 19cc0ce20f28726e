"""Launch of a shot on its device, without running it."""

from gemmviz.launch.legality import device_for, launch_for
from gemmviz.model.errors import GemmvizError
from gemmviz.model.launch_case import LaunchCase
from gemmviz.state.shot import Shot
from gemmviz.subjects.subject import Context, Subject
from gemmviz.subjects.titles import kernel_title


def _make(shot: Shot, context: Context) -> LaunchCase:
    """The launch, or the limit of the device that it breaks."""
    setup, device, title = shot.setup, device_for(shot.setup), kernel_title(shot.setup)
    try:
        return LaunchCase(setup, device, title, launch_for(setup, with_nearest=False))
    except GemmvizError as error:
        return LaunchCase(setup, device, title, None, error.message)


SUBJECT = Subject(LaunchCase, _make, order=40)

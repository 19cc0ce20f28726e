"""Launch of a shot on its device, without running it."""

from gemmviz.cuda.launch.legality import device_for, launch_for, requested_launch
from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Needs
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import Launch
from gemmviz.model.setup import Setup, kernel_title
from gemmviz.run.needs import needs_of
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_launch(shot: Shot, context: Context) -> LaunchCase:
    """The launch, or the limit of the device that it breaks."""
    setup, device, title = shot.setup, device_for(shot.setup), kernel_title(shot.setup)
    try:
        return LaunchCase(setup, device, title, launch_for(setup, with_nearest=False))
    except GemmvizError as error:
        return LaunchCase(setup, device, title, None, error.message, _refused_launch(setup), _needs(setup))


def _refused_launch(setup: Setup) -> Launch | None:
    """The grid and block that a device refuses; None if the sizes don't even give one."""
    try:
        return requested_launch(setup)
    except GemmvizError:
        return None


def _needs(setup: Setup) -> Needs | None:
    """The resources of a block that a device refuses; None if the kernel can't be read."""
    try:
        return needs_of(setup)[0]
    except (GemmvizError, RecursionError):
        return None


SUBJECT = Subject(LaunchCase, _make_launch, order=40)

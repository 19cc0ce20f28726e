"""Launch of a shot on its device, without running it."""

from gemmviz.cuda.launch.legality import can_run, device_for, launch_for, requested_launch
from gemmviz.model.cases import TF32_TILE, LaunchCase, Suggestion
from gemmviz.model.device import DEFAULT_DEVICE, Device, Needs
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import Launch
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup, kernel_title
from gemmviz.model.translation import tr
from gemmviz.run.needs import needs_of
from gemmviz.scenes.kit.primitives import Button, Hit
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

_HOLDS_TILES = 32


def _make_launch(shot: Shot, context: Context) -> LaunchCase:
    """The launch, or the limit of the device that it breaks."""
    setup, device, title = shot.setup, device_for(shot.setup), kernel_title(shot.setup)
    cure = _with_tile(setup, device)
    try:
        return LaunchCase(setup, device, title, launch_for(setup, with_nearest=False), cure=cure)
    except GemmvizError as error:
        return LaunchCase(setup, device, title, None, error.message, _refused_launch(setup), _needs(setup), cure)


def _with_tile(setup: Setup, device: Device) -> Suggestion | None:
    """The launch on a device with tensor cores, or at sizes that hold several of their tiles; None if it has one, or can't run
    then.
    """
    tile, sizes = TF32_TILE, setup.problem.sizes
    if not setup.problem.is_multiply:
        return None
    if device.vendor != "NVIDIA" or device.capability < tile.since:
        cure = replace(setup, device=DEFAULT_DEVICE)
        return Suggestion(tr("show it on {device}", device=device_for(cure).name), cure)
    if all(sizes[name] >= size for name, size in (("M", tile.m), ("N", tile.n), ("K", tile.k))):
        return None
    cure = setup.changed(**{name: max(size, _HOLDS_TILES) for name, size in sizes.items() if name in "MNK"})
    return Suggestion(tr("try {sizes}", sizes=cure.problem.text()), cure) if can_run(cure) else None


def _click_launch(case: LaunchCase, shot: Shot, hit: Hit) -> Shot | None:
    """Use the launch that is offered."""
    is_cure = isinstance(hit.cells.meaning, Button) and hit.cells.meaning.action == "cure"
    return replace(shot, setup=case.cure.setup) if is_cure and case.cure is not None else None


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


SUBJECT = Subject(LaunchCase, _make_launch, click=_click_launch, order=40)

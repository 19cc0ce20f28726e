"""A launch on a device, without a run of it."""

from dataclasses import dataclass

from gemmviz.model.device import Device
from gemmviz.model.kernel import Launch
from gemmviz.model.setup import Setup


@dataclass(frozen=True)
class LaunchCase:
    """``what``: the launch in words. ``launch``: its grid and block, None where the device refuses it, and ``refusal`` says
    why.
    """

    setup: Setup
    device: Device
    what: str
    launch: Launch | None
    refusal: str = ""

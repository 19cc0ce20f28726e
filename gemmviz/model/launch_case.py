"""A launch on a device, without a run."""

from msgspec import Struct

from gemmviz.model.device import Device
from gemmviz.model.kernel import Launch
from gemmviz.model.occupancy import Needs
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup


class LaunchCase(Struct, frozen=True):
    """A launch. ``what``: its name for titles. ``launch``: its grid and block, None if the device refuses it; ``refusal`` is
    the reason, and ``requested`` the refused grid and block, None if they are unknown. ``needs``: resources of a refused
    block, None if they are unknown.
    """

    setup: Setup
    device: Device
    what: str
    launch: Launch | None
    refusal: str = ""
    requested: Launch | None = None
    needs: Needs | None = None

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a refused block, 0 if it is unknown."""
        return 0 if self.needs is None else self.needs.shared_bytes

    @property
    def problem(self) -> Problem:
        return self.setup.problem

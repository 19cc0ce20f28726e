"""A launch on a device, without a run."""

from dataclasses import dataclass

from gemmviz.model.device import Device
from gemmviz.model.kernel import Launch
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup


@dataclass(frozen=True)
class LaunchCase:
    """A launch. ``what``: its name for titles. ``launch``: its grid and block, None if the device refuses it; ``refusal`` is
    the reason, and ``requested`` the refused grid and block, None if they are unknown. ``shared_bytes``: shared memory of a
    refused block, None if it is unknown.
    """

    setup: Setup
    device: Device
    what: str
    launch: Launch | None
    refusal: str = ""
    requested: Launch | None = None
    shared_bytes: int | None = None

    @property
    def problem(self) -> Problem:
        return self.setup.problem

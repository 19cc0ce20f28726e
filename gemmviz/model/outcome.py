"""How a run ended: with a trace, with a fault and the trace up to there, or with neither."""

from dataclasses import dataclass

from gemmviz.model.errors import GemmvizError, KernelFault
from gemmviz.model.trace import Trace


@dataclass(frozen=True)
class Outcome:
    """``trace``: what was recorded, None where the kernel was stopped before its first access. ``fault``: why it was stopped.

    ``by``: who ran it, as the trace says. ``instead_of``: what kept the one who was asked first from running it.
    """

    trace: Trace | None
    by: str
    fault: KernelFault | None = None
    instead_of: GemmvizError | None = None

    @property
    def whole(self) -> Trace:
        """The trace of a run that came to its end. Raises the fault of one that didn't."""
        if self.fault is not None:
            raise self.fault
        assert self.trace is not None
        return self.trace

"""Result of a run: a trace, a fault with the trace up to it, or a fault alone."""

from msgspec import Struct

from gemmviz.model.errors import GemmvizError, KernelFault
from gemmviz.model.trace import Trace


class Outcome(Struct, frozen=True):
    """``trace``: the record, None if the kernel stopped before its first access. ``fault``: why it stopped.

    ``by``: the engine that ran it, as in the trace. ``instead_of``: the error of the engine that was tried first.
    """

    trace: Trace | None
    by: str
    fault: KernelFault | None = None
    instead_of: GemmvizError | None = None

    @property
    def whole(self) -> Trace:
        """The trace of a complete run. Raises the fault of one that stopped early."""
        if self.fault is not None:
            raise self.fault
        assert self.trace is not None
        return self.trace

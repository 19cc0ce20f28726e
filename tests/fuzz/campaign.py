"""The shape of a campaign."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st


@cache
def application() -> Any:
    """Qt's application. All cases of a process share it: what is drawn may need one, and a window needs more than a picture."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    return QApplication.instance() or QApplication([])


@dataclass(frozen=True)
class Campaign:
    """One kind of input and what is done with it. Every case is a file, so that it can be kept and tried again.

    Parameters
    ----------
    suffix
        Of the files, with its dot.
    cases
        Makes a strategy for the contents of files.
    run
        Uses such a file. A GemmvizError or Cancelled is an answer; any other
        exception is a finding.
    every
        Makes contents that are all tried in turn: one change at a time, in every place.
    ready
        Prepares what all cases share, before the first one and outside of its limits.
    missing
        Says which program a campaign lacks on this machine; "" if it can run.
    starts
        Names of programs that a case may start.
    connects
        Whether a case may open sockets.
    own_time
        Whether the limit on processor time is for the main thread only: the window's other threads may work on, and what its
        own thread draws is never called off, as in the program.
    """

    suffix: str
    cases: Callable[[], st.SearchStrategy[bytes]]
    run: Callable[[Path], object]
    every: Callable[[], Sequence[bytes]] | None = None
    ready: Callable[[], object] = field(default=application)
    missing: Callable[[], str] = field(default=lambda: "")
    starts: tuple[str, ...] = ()
    connects: bool = False
    own_time: bool = False

"""What commands that run a kernel share: options and output, progress on a terminal, interruption between two pictures."""

import argparse
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import FrameType

from gemmviz.analysis.hazard import Hazard
from gemmviz.cli.command import print_error
from gemmviz.cuda.launch.launch_form import not_confirmed, with_basis, wrong_result
from gemmviz.files.devices import device_names
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError, cancellable, checkpoint
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Outcome
from gemmviz.run.choosing import CHOICES, choice_for, engine_for, has_cupy
from gemmviz.run.engine import Engine
from gemmviz.run.protocol import TIMEOUT_S
from gemmviz.session.export_job import SAVED


def add_on(parser: argparse.ArgumentParser, default: str) -> None:
    meaning = "; ".join(f"{name}: {words}" for name, words in CHOICES.items())
    parser.add_argument(
        "--on", choices=tuple(CHOICES), default=default, help=f"where to run the kernel. {meaning} (default: %(default)s)"
    )


def add_timeout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout", type=seconds, default=TIMEOUT_S, metavar="S",
        help="time limit of a launch on the GPU in seconds (default: %(default)g)",
    )  # fmt: skip


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add the option for the device, for commands on several kernels."""
    parser.add_argument(
        "--device", choices=device_names(), default=DEFAULT_DEVICE, help="device whose limits apply (default: %(default)s)"
    )


def seconds(text: str) -> float:
    """Return a positive time in seconds. Raises argparse.ArgumentTypeError for anything else."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not a time in seconds")
    return value


@contextmanager
def engine_of(args: argparse.Namespace, kernel: KernelSpec) -> Iterator[Engine]:
    """Open the engine for a kernel, by the options of ``add_on`` and ``add_timeout``. Says if its launch isn't confirmed."""
    doubt = not_confirmed(kernel)
    if doubt is not None:
        print_error(doubt, 0)
    on = choice_for(args.on, kernel)
    if on != args.on and has_cupy():
        remedy = "use --on gpu to run it on the GPU"
        print_error(GemmvizError("this kernel is not part of gemmviz; it runs in the interpreter", remedy=remedy), 0)
    with closing(engine_for(on, args.timeout)) as engine:
        yield engine


def print_fallback(error: GemmvizError | None) -> None:
    """Print to stderr why the requested engine could not run the kernel. None prints nothing."""
    if error is not None:
        print_error(GemmvizError(f"{error}; using the interpreter instead"), 0)


def report_outcome(outcome: Outcome) -> int:
    """Print what is wrong with a run to stderr and return the exit code: 1, or 0 if nothing is."""
    if outcome.fault is not None:
        return print_error(outcome.fault, 1)
    trace = outcome.trace
    return 0 if trace is None or trace.check.passed else print_error(wrong_result(trace.check, trace.setup), 1)


def report_hazards(hazards: list[Hazard], setup: Setup) -> int:
    """Print the first hazard to stderr and return the exit code: 1, or 0 without hazards."""
    if not hazards:
        return 0
    fault = hazards[0].fault(setup.kernel.file)
    if len(hazards) > 1:
        fault.message += f"; {len(hazards) - 1} more hazards"
    with_basis(fault, setup)
    return print_error(fault, 1)


# Progress of a long command on a terminal.

_EVERY_S = 2.0


class ProgressBar:
    """A progress report. On a terminal it prints the state and the remaining time every other second; for a calling program,
    every picture.
    """

    _printed = 0.0  # when any of them printed

    def __init__(self, what: str, for_program: bool = False) -> None:
        self._what, self._for_program = what, for_program
        self._began = ProgressBar._printed = time.monotonic()

    def update(self, done: int, of: int) -> None:
        """Report how many pictures are done. Raises Cancelled if the command was interrupted."""
        checkpoint()
        if self._for_program:
            print(done, of, flush=True)
        elif done:
            left = (time.monotonic() - self._began) / done * (of - done)
            self._print(f"{done} of {of}, {left:.0f} s left")

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Report at the checkpoints of the body for how long it has worked."""

        def look() -> bool:
            if not self._for_program:
                self._print(f"at work for {time.monotonic() - self._began:.0f} s")
            return False

        with cancellable(look):
            yield

    def _print(self, state: str) -> None:
        now = time.monotonic()
        if now - ProgressBar._printed >= _EVERY_S and sys.stderr.isatty():
            ProgressBar._printed = now
            print(f"{self._what}: {state}", file=sys.stderr)

    def saved(self) -> None:
        """Report to a calling program that the file is complete. The exit code can't, because it also depends on the kernel."""
        if self._for_program:
            print(SAVED, flush=True)


# Interruption of a command between two pictures, by Ctrl+C or by the window.

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[None]:
    """Make SIGINT and SIGTERM raise Cancelled at the next checkpoint of the body; a second signal ends the program.

    An exception raised by Python's own signal handler while Qt paints would crash Qt.
    """
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)

    before = {each: signal.signal(each, note) for each in _SIGNALS}
    try:
        with cancellable(lambda: bool(received)):
            yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)

"""The definition of a command, and options and output that several commands share."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gemmviz.analysis.hazards.hazard import Hazard
from gemmviz.files.devices import device_names
from gemmviz.files.outputs import check_output
from gemmviz.files.whole import is_file
from gemmviz.launch.confirmation import not_confirmed, with_basis
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.run.choosing import CHOICES, choice_for, engine_for, has_cupy
from gemmviz.run.engine import Engine
from gemmviz.run.protocol import TIMEOUT_S


@dataclass(frozen=True)
class Command:
    """A command, defined by a file in ``gemmviz.cli.commands`` that ends with ``COMMAND = Command(...)``.

    Its name is the file's name. ``run`` returns the exit code. A command with an empty ``help`` is not listed; the program
    itself calls it.
    """

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    order: int = 99


def print_error(error: GemmvizError, code: int) -> int:
    """Print an error to stderr on one line, and return ``code``."""
    print(f"gemmviz: {error}".replace("\n", " "), file=sys.stderr)
    return code


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


def wrong_result(trace: Trace) -> GemmvizError:
    """Return the error for a wrong C."""
    error = GemmvizError(str(trace.check), file=trace.setup.kernel.file)
    with_basis(error, trace.setup)
    return error


def report_hazards(hazards: list[Hazard], setup: Setup) -> int:
    """Print the first hazard to stderr and return the exit code: 1, or 0 without hazards."""
    if not hazards:
        return 0
    fault = hazards[0].fault(setup.kernel.file)
    if len(hazards) > 1:
        fault.message += f"; {len(hazards) - 1} more hazards"
    with_basis(fault, setup)
    return print_error(fault, 1)


def print_json(facts: Any) -> None:
    print(json.dumps(facts, indent=1, allow_nan=False))


def seconds(text: str) -> float:
    """Return a positive time in seconds. Raises argparse.ArgumentTypeError for anything else."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not a time in seconds")
    return value


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_output(
    parser: argparse.ArgumentParser,
    suffixes: tuple[str, ...],
    help: str = "also write the result to a file",
    *,
    flags: tuple[str, ...] = ("-o", "--output"),
    required: bool = False,
) -> None:
    """Add an option for an output file, which ``check_outputs`` checks."""
    name = "|".join(("FILE" + suffixes[0], *suffixes[1:]))
    action = parser.add_argument(*flags, type=Path, required=required, metavar=name, help=help)
    declare_output(parser, action.dest, suffixes)


def declare_output(parser: argparse.ArgumentParser, name: str, suffixes: tuple[str, ...] = ()) -> None:
    """Declare that an argument names an output file with one of these suffixes, for ``check_outputs``."""
    parser.set_defaults(outputs={**(parser.get_default("outputs") or {}), name: suffixes})


def check_outputs(args: argparse.Namespace) -> None:
    """Check the output files. Raises UsageError for a wrong suffix, and for a file that another argument names or that belongs
    to gemmviz.
    """
    outputs: dict[str, tuple[str, ...]] = getattr(args, "outputs", {})
    for name, suffixes in outputs.items():
        path = getattr(args, name)
        if path is not None:
            check_output(Path(path), suffixes, _named_files(args, name))


def _named_files(args: argparse.Namespace, but: str) -> list[Path]:
    """Return the files that all arguments but one name."""
    values = [value for name, value in vars(args).items() if name not in (but, "outputs")]
    texts = [each for value in values for each in (value if isinstance(value, list) else [value])]
    return [path for text in texts if isinstance(text, str | Path) and is_file(path := Path(text))]


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


def no_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments, for commands without any."""

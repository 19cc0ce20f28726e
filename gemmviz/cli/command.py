"""What a command is, and what several of them share."""

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
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.trace import Trace
from gemmviz.run.choosing import CHOICES, choice_for, engine_for, has_cupy
from gemmviz.run.engine import Engine
from gemmviz.run.protocol import TIMEOUT_S


@dataclass(frozen=True)
class Command:
    """One command of the program; a file in ``gemmviz.cli.commands`` that ends with ``COMMAND = Command(...)``, its name is the
    file's. ``run`` gives the exit code. One without ``help`` is not listed: the program itself calls it.
    """

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    order: int = 99


def complain(error: GemmvizError, code: int) -> int:
    """Puts an error on stderr, on one line; gives ``code`` back."""
    print(f"gemmviz: {error}".replace("\n", " "), file=sys.stderr)
    return code


@contextmanager
def engine_of(args: argparse.Namespace, kernel: KernelSpec) -> Iterator[Engine]:
    """Who runs this kernel, as ``add_on`` and ``add_timeout`` had it asked."""
    on = choice_for(args.on, kernel)
    if on != args.on and has_cupy():
        remedy = "--on gpu runs it on the GPU, as its author wrote it"
        complain(GemmvizError("this kernel doesn't ship with gemmviz: the interpreter runs it", remedy=remedy), 0)
    with closing(engine_for(on, args.timeout)) as engine:
        yield engine


def remark(error: GemmvizError | None) -> None:
    """Says on stderr what kept who was asked first from answering."""
    if error is not None:
        complain(GemmvizError(f"{error}; the interpreter runs it instead"), 0)


def wrong(trace: Trace) -> GemmvizError:
    """What a check says of a wrong C."""
    return GemmvizError(str(trace.check), file=trace.setup.kernel.file)


def report_hazards(hazards: list[Hazard], file: str) -> int:
    """Complains about the first; the exit code."""
    if not hazards:
        return 0
    fault = hazards[0].fault(file)
    if len(hazards) > 1:
        fault.message += f"; {len(hazards) - 1} more such pairs of accesses"
    return complain(fault, 1)


def print_json(facts: Any) -> None:
    print(json.dumps(facts, indent=1, allow_nan=False))


def seconds(text: str) -> float:
    """A time, as argparse asks for it."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text} are no seconds")
    return value


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def add_output(
    parser: argparse.ArgumentParser,
    suffixes: tuple[str, ...],
    help: str = "also save it",
    *,
    flags: tuple[str, ...] = ("-o", "--output"),
    required: bool = False,
) -> None:
    """An option for a file to write; ``check_outputs`` knows it."""
    name = "|".join(("FILE" + suffixes[0], *suffixes[1:]))
    action = parser.add_argument(*flags, type=Path, required=required, metavar=name, help=help)
    declare_output(parser, action.dest, suffixes)


def declare_output(parser: argparse.ArgumentParser, name: str, suffixes: tuple[str, ...] = ()) -> None:
    """Tells ``check_outputs`` that an argument names a file to write, and with which suffixes."""
    parser.set_defaults(outputs={**(parser.get_default("outputs") or {}), name: suffixes})


def check_outputs(args: argparse.Namespace) -> None:
    """Raises UsageError where a file to write has a wrong suffix, is one of the files that the other arguments name, or belongs
    to gemmviz.
    """
    outputs: dict[str, tuple[str, ...]] = getattr(args, "outputs", {})
    for name, suffixes in outputs.items():
        path = getattr(args, name)
        if path is not None:
            check_output(Path(path), suffixes, _named_files(args, name))


def _named_files(args: argparse.Namespace, but: str) -> list[Path]:
    """Files that arguments name, apart from one argument."""
    values = [value for name, value in vars(args).items() if name not in (but, "outputs")]
    texts = [each for value in values for each in (value if isinstance(value, list) else [value])]
    return [path for text in texts if isinstance(text, str | Path) and is_file(path := Path(text))]


def add_on(parser: argparse.ArgumentParser, default: str) -> None:
    meaning = "; ".join(f"{name}: {words}" for name, words in CHOICES.items())
    parser.add_argument("--on", choices=tuple(CHOICES), default=default, help=f"who runs it. {meaning} (default: %(default)s)")


def add_timeout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout", type=seconds, default=TIMEOUT_S, metavar="S",
        help="how long one launch may run on the GPU (default: %(default)g s)",
    )  # fmt: skip


def add_device(parser: argparse.ArgumentParser) -> None:
    """Of a command that takes several kernels."""
    parser.add_argument(
        "--device", choices=device_names(), default=DEFAULT_DEVICE, help="whose limits hold (default: %(default)s)"
    )


def nothing(parser: argparse.ArgumentParser) -> None:
    """Of a command without arguments."""

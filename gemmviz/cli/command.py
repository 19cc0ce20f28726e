"""The definition of a command, and options and output that all commands share."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from gemmviz.files.resources import check_output, is_file
from gemmviz.model.messages import GemmvizError


class Command(Struct, frozen=True):
    """A command, defined in ``gemmviz.cli.commands``: a file of its name ends with ``COMMAND = Command(...)``, a file of
    several with COMMANDS by name.

    ``run`` returns the exit code. A command with an empty ``help`` is not listed; the program
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


def print_json(facts: Any) -> None:
    print(json.dumps(facts, indent=1, allow_nan=False))


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


def no_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments, for commands without any."""

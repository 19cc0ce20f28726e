"""Finds the commands and runs the one that was named. Errors are one line on stderr.

Exit codes: 0 done, 1 the kernel is wrong or a check failed, 2 wrong usage, 130 interrupted.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NoReturn

import gemmviz.cli.commands as folder
from gemmviz import __version__
from gemmviz.cli.command import Command, check_outputs, complain
from gemmviz.cli.terminal import guard_terminals
from gemmviz.files.codec import FormatError
from gemmviz.files.devices import device_extensions
from gemmviz.files.extensions import Extensions, extensions_in
from gemmviz.model.errors import Cancelled, GemmvizError, SettingError, UsageError
from gemmviz.model.words import capital
from gemmviz.render.export import format_extensions
from gemmviz.scenes.catalog import view_extensions
from gemmviz.subjects.catalog import subject_extensions

_WINDOW = "gui"


@cache
def command_extensions() -> Extensions[Command]:
    """All commands, and the modules of ``gemmviz.cli.commands`` that could not be used."""
    return extensions_in(folder, "COMMAND", Command)


def commands() -> dict[str, Command]:
    """Commands by name, in their order."""
    return command_extensions().items


def broken_extensions() -> list[GemmvizError]:
    """One error for each command, view, subject, format and device that was left out."""
    found = command_extensions(), view_extensions(), subject_extensions(), format_extensions(), device_extensions()
    return [error for extensions in found for error in extensions.broken]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    guard_terminals()
    try:
        args = parser().parse_args(_with_command(list(sys.argv[1:] if argv is None else argv)))
        for error in broken_extensions():
            complain(error, 0)
        check_outputs(args)
        command: Command = args.command
        code = command.run(args)
        sys.stdout.flush()  # what can't be written is to be said
        return code
    except (SettingError, UsageError, FormatError) as error:
        return complain(error, 2)
    except GemmvizError as error:
        return complain(error, 1)
    except MemoryError:
        return complain(GemmvizError("there is not enough memory for this", remedy="choose smaller sizes or fewer blocks"), 1)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - whoever read our output has left
        return 0
    except OSError as error:
        file = None if error.filename is None else str(error.filename)
        return complain(GemmvizError(f"can't write: {error.strerror or error}", file=file), 1)
    except Cancelled:
        return complain(GemmvizError("interrupted; files that were not complete are as before"), 130)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # nobody who uses the program has any use for a traceback
        return complain(GemmvizError(f"internal error: {type(error).__name__}: {error}", remedy="please report it"), 1)


def _with_command(argv: list[str]) -> list[str]:
    """The window is what is meant where no command is named."""
    first = argv[0] if argv else ""
    return argv if first in (*commands(), "-h", "--help", "--version") else [_WINDOW, *argv]


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as all errors are said: on one line."""

    def error(self, message: str) -> NoReturn:
        words = self.prog.removeprefix("gemmviz").strip()
        remedy = f"see gemmviz {words} --help" if words else "see gemmviz --help"
        self.exit(complain(UsageError(message, remedy=remedy), 2))


def _with_arguments(command: Command, name: str, parser: argparse.ArgumentParser) -> Command:
    """The command, its arguments added to the parser; one that raises an error instead if they can't be."""
    try:
        command.add_arguments(parser)
    except GemmvizError:
        raise
    except Exception as error:  # an extension's fault ends only its own command
        reason = GemmvizError(f"the command {name!r} can't be used: {type(error).__name__}: {error}", remedy="mend its file")

        def fail(args: argparse.Namespace) -> int:
            raise reason

        return replace(command, run=fail)
    return command


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    made = _Parser(prog="gemmviz", description="Shows what every thread of a matrix-multiplication kernel does.")
    made.add_argument("--version", action="version", version=f"gemmviz {__version__}")
    subparsers = made.add_subparsers(required=True, metavar="COMMAND")
    for name, command in commands().items():
        about: dict[str, Any] = {}
        if command.help:
            about = {"help": command.help, "description": f"{capital(command.help)}."}
        subparser = subparsers.add_parser(name, **about)
        subparser.set_defaults(command=_with_arguments(command, name, subparser))
    return made

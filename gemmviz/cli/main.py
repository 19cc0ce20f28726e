"""Finds the commands and runs the one that was named. Errors are one line on stderr.

Exit codes: 0 done, 1 the kernel is wrong or a check failed, 2 wrong usage.
"""

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

import gemmviz.cli.commands as folder
from gemmviz import __version__
from gemmviz.cli.command import Command, complain
from gemmviz.cli.terminal import guard_terminals
from gemmviz.files.codec import FormatError
from gemmviz.model.errors import GemmvizError, SettingError, UsageError
from gemmviz.model.words import capital

_WINDOW = "gui"


@cache
def commands() -> dict[str, Command]:
    """By name, in their order: every module of ``gemmviz.cli.commands``."""
    names = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    found = {name: importlib.import_module(f"{folder.__name__}.{name}").COMMAND for name in names}
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    guard_terminals()
    args = parser().parse_args(_with_command(list(sys.argv[1:] if argv is None else argv)))
    try:
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
        return complain(GemmvizError(f"this can't be written: {error.strerror or error}", file=file), 1)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # nobody who uses the program has any use for a traceback
        return complain(GemmvizError(f"gemmviz failed here: {type(error).__name__}: {error}", remedy="please report it"), 1)


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
        command.add_arguments(subparser)
        subparser.set_defaults(command=command)
    return made

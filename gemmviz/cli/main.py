"""Finds the commands and runs one of them. Errors are printed to stderr on one line.

Exit codes: 0 success, 1 wrong result or failed check, 2 wrong usage, 130 interrupted.
"""

import argparse
import gc
import io
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NoReturn, TextIO

from msgspec import structs

from gemmviz import RELEASES, __version__
from gemmviz.cli.command import Command, check_outputs, print_error
from gemmviz.files.extensions import Catalog, extensions_in
from gemmviz.model.messages import Cancelled, GemmvizError, SettingError, UsageError, capital, closest

# Output to a terminal, without control characters.

_ALLOWED = "\n\t"


def escaped(text: str) -> str:
    """Return the text with control characters escaped, so that text from files can't control the terminal."""
    if text.isprintable():
        return text
    return "".join(each if each in _ALLOWED or not _is_control(each) else f"\\x{ord(each):02x}" for each in text)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf")


class Terminal:
    """A stream to a terminal that escapes control characters."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(escaped(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def guard_terminals() -> None:
    """Escape what is printed to terminals. Pipes and files receive all characters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # characters that the output's encoding lacks
        if stream is not None and not isinstance(stream, Terminal) and stream.isatty():
            setattr(sys, name, Terminal(stream))


_WINDOW, _LANGUAGE = "gui", "--language"
_VERSION_FLAG = "--version"
_WITHOUT_COMMAND = "-h", "--help", _VERSION_FLAG


@cache
def commands() -> Catalog[Command]:
    """Return the commands by name."""
    return extensions_in("gemmviz.cli.commands", "COMMAND", Command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    guard_terminals()
    try:
        words, names = _with_command(list(sys.argv[1:] if argv is None else argv))
        args = parser(names).parse_args(words)
        from gemmviz.files.languages import use_language  # as in _languages

        use_language(args.language)
        check_outputs(args)
        command: Command = args.command
        if not gc.isenabled():  # the program has just been loaded, and all of it stays
            gc.freeze()
            gc.enable()
        code = command.run(args)
        sys.stdout.flush()  # raises if the output can't be written
        return code
    except GemmvizError as error:
        return print_error(error, 2 if isinstance(error, SettingError | UsageError) or error.id == "format" else 1)
    except MemoryError:
        return print_error(
            GemmvizError("there is not enough memory for this", remedy="choose smaller sizes or fewer blocks"), 1
        )
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - the reader of the output has gone
        return 0
    except OSError as error:
        file = None if error.filename is None else str(error.filename)
        return print_error(GemmvizError(f"can't write: {error.strerror or error}", file=file), 1)
    except Cancelled:
        return print_error(GemmvizError("interrupted; incomplete files were discarded"), 130)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # a traceback is of no use to users
        return print_error(GemmvizError(f"internal error: {type(error).__name__}: {error}", remedy="please report it"), 1)


def _with_command(argv: list[str]) -> tuple[list[str], Iterable[str]]:
    """Return the arguments, with the default command in front if they name none, and the commands that their parser needs: all
    for their list, none for the version.
    """
    option = argv[:2] if argv[:1] == [_LANGUAGE] else argv[:1] if argv and argv[0].startswith(f"{_LANGUAGE}=") else []
    rest = argv[len(option) :]
    first = rest[0] if rest else ""
    if first in _WITHOUT_COMMAND:
        return argv, () if first == _VERSION_FLAG else commands()
    if first not in commands():
        rest = [_WINDOW, *rest]
    return [*option, *rest], rest[:1]


class _Parser(argparse.ArgumentParser):
    """A parser that prints errors on one line, like all other errors."""

    @property
    def flags(self) -> list[str]:
        """The options of this parser and of those of its commands."""
        inner = (each for action in self._actions if isinstance(action.choices, dict) for each in action.choices.values())
        return [*self._option_string_actions, *(flag for each in inner if isinstance(each, _Parser) for flag in each.flags)]

    def error(self, message: str) -> NoReturn:
        words = self.prog.removeprefix("gemmviz").strip()
        remedy = f"see gemmviz {words} --help" if words else "see gemmviz --help"
        unknown = re.search(r"^unrecognized arguments: .*?(--?\w[\w-]*)", message)
        if unknown is not None:
            remedy = closest(unknown[1], self.flags) or remedy
        if "--width" in message:
            remedy = "the size of a picture is --size 1920x1080, the tile width of a chart --tile-width 32"
        self.exit(print_error(UsageError(message, remedy=remedy), 2))


def _with_arguments(command: Command, name: str, parser: argparse.ArgumentParser) -> Command:
    """Add the arguments of a command to its parser and return the command; if that fails, a command that raises the error."""
    try:
        command.add_arguments(parser)
    except GemmvizError:
        raise
    except Exception as error:  # a faulty extension loses only its own command
        reason = GemmvizError(f"the command {name!r} can't be used: {type(error).__name__}: {error}", remedy="correct its file")

        def fail(args: argparse.Namespace) -> int:
            raise reason

        return structs.replace(command, run=fail)
    return command


def parser(names: Iterable[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of some commands; the default is all."""
    parser = _Parser(prog="gemmviz", description="Shows what every thread of a CUDA kernel does.")
    version = f"gemmviz {__version__} (newer versions: {RELEASES})"
    parser.add_argument(_VERSION_FLAG, action="version", help="print the version, and where newer ones are", version=version)
    chosen = "language of the window and of pictures (default: that chosen in the window, or the system's if it is complete)"
    parser.add_argument(_LANGUAGE, metavar="CODE", help=chosen if names is not None else f"{chosen}: {_languages()}")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in commands() if names is None else names:
        command = commands()[name]
        about: dict[str, Any] = {}
        if command.help:
            about = {"help": command.help, "description": f"{capital(command.help)}."}
        subparser = subparsers.add_parser(name, **about)
        subparser.set_defaults(command=_with_arguments(command, name, subparser))
    return parser


def _languages() -> str:
    from gemmviz.files.languages import languages  # imported here so that --version needs none of it

    return ", ".join(languages())

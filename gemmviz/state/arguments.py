"""A shot as words of the command line, and back: one table for what every command understands and for what is copied."""

import argparse
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from gemmviz.files.kinds import kind_of
from gemmviz.launch.catalog import DEFAULT_KERNEL, load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.model.errors import UsageError
from gemmviz.model.setup import Setup
from gemmviz.scenes.kit.theme import theme_names
from gemmviz.state.flags import Flag, setup_flags, view_flags, whole_number
from gemmviz.state.shot import Against, Shot, Trial, read_view

# Parsers


def add_setup(parser: argparse.ArgumentParser, what: str, *, required: bool = True, with_record: bool = True) -> None:
    """The kernel, and a flag for everything that can be set of its run, and of what is recorded of it."""
    parser.add_argument("kernel", metavar=what, nargs=None if required else "?")
    for flag in setup_flags(with_record=with_record):
        _add(parser, flag)
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the kernel")


def add_view(parser: argparse.ArgumentParser) -> None:
    """A flag for everything that a picture can be told besides, and one for a phase in place of a step."""
    groups: dict[str, Any] = {}
    for flag in view_flags():
        if flag.group and flag.group not in groups:
            groups[flag.group] = parser.add_mutually_exclusive_group()
        _add(groups.get(flag.group, parser), flag)
    groups["time"].add_argument("--phase", type=whole_number(1), help="the first step of this phase, counted from 1")


def _add(parser: Any, flag: Flag) -> None:
    parser.add_argument(flag.name, dest=flag.attribute, default=None, **flag.options)


# From words to a shot


def setup_from(args: argparse.Namespace) -> Setup:
    """What is to be run. Raises UsageError or SettingError."""
    return with_setup(args, Shot(setup_for(load_kernel(args.kernel or DEFAULT_KERNEL)))).setup


def shot_from_setup(args: argparse.Namespace, trial: Trial) -> Shot:
    """A shot of what is to be run, with something of its blocks tried out. Raises UsageError or SettingError."""
    return Shot(setup_from(args), trial=trial)


def is_set(args: argparse.Namespace) -> bool:
    """Whether anything of the setup was given but the kernel."""
    return bool(args.D) or any(getattr(args, flag.attribute, None) is not None for flag in setup_flags())


def shot_from(args: argparse.Namespace) -> Shot:
    """What is to be shown: of a kernel, or of a saved view with what was given put in its place."""
    path = Path(args.kernel or "")
    if args.kernel is not None and kind_of(path) == "view":
        shot = read_view(path)
    else:
        shot = Shot(setup_for(load_kernel(args.kernel or DEFAULT_KERNEL)), theme="dark")
    return view_from(args, with_setup(args, shot))


def view_from(args: argparse.Namespace, shot: Shot) -> Shot:
    """The shot with what was given of how it is looked at."""
    return _taken(args, shot, view_flags())


def with_setup(args: argparse.Namespace, shot: Shot) -> Shot:
    """The shot with what was given of its setup. Raises UsageError or SettingError."""
    parameters = dict(parameter(text) for text in args.D)
    setup = shot.setup
    setup_for(setup.kernel, parameters=parameters)  # says which there are none of
    changed = replace(shot, setup=replace(setup, parameters={**setup.parameters, **parameters}))
    return _taken(args, changed, setup_flags())


def parameter(text: str) -> tuple[str, int]:
    """A parameter of a kernel, from NAME=NUMBER. Raises UsageError."""
    found = re.fullmatch(r"(\w+)=(-?\d+)", text)
    if found is None:
        raise UsageError(f"-D {text}: write -D NAME=NUMBER")
    return found[1], int(found[2])


def _taken(args: argparse.Namespace, shot: Shot, flags: list[Flag]) -> Shot:
    for flag in flags:
        value = getattr(args, flag.attribute, None)
        if value is not None:
            shot = flag.take(shot, value)
    return shot


# And back


def words_of(shot: Shot) -> list[str]:
    """What stands behind ``gemmviz`` to save this shot."""
    if shot.against is not None:
        return _words_of_two(shot, shot.against)
    kernel = shot.setup.kernel
    found = ["export", kernel.name if kernel.is_shipped else kernel.file]
    for flag in setup_flags():
        found += _given(flag, shot)
    own = setup_for(kernel)
    for name, value in shot.setup.parameters.items():
        found += ["-D", f"{name}={value}"] if own.parameters.get(name) != value else []
    for flag in view_flags():
        found += _given(flag, shot)
    return found


def view_words(shot: Shot, without: tuple[str, ...] = ()) -> list[str]:
    """Those of how it is looked at, without some flags."""
    return [word for flag in view_flags() if flag.name not in without for word in _given(flag, shot)]


def _words_of_two(shot: Shot, against: Against) -> list[str]:
    """As ``gemmviz compare`` has it; both at the sizes of the shot."""
    found = [
        "compare",
        *(kernel.name if kernel.is_shipped else kernel.file for kernel in (against.setup.kernel, shot.setup.kernel)),
    ]
    for flag in setup_flags(with_record=False):
        found += _given(flag, shot)
    for option, setup in (("--left", against.setup), ("--right", shot.setup)):
        for name, value in setup.parameters.items():
            found += [option, f"{name}={value}"]
    if against.setup.device != shot.setup.device:
        found += ["--left-device", against.setup.device]
    if shot.view == "grid":
        found += ["--view", "grid", "--instant", f"{shot.instant:.4g}"]
    else:
        found += ["--lock", against.lock, "--step", str(shot.at.step + 1)]
    found += ["--mark", against.marked] if against.marked else []
    return found + (["--theme", shot.theme] if shot.theme in theme_names() else [])


def _given(flag: Flag, shot: Shot) -> list[str]:
    words = flag.words(shot)
    if isinstance(words, list):
        return [part for word in words for part in (flag.name, word)]
    return [] if words is None else [flag.name, words] if words else [flag.name]


def command_line(shot: Shot) -> str:
    """The command that makes a picture of this shot, to be pasted into a shell."""
    return shlex.join(["gemmviz", *words_of(shot), "--output", "frame.svg"])

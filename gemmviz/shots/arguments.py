"""Shots as command-line arguments and back, from the same table of flags for all commands."""

import argparse
import re
import shlex
from pathlib import Path
from typing import Any

from gemmviz.cuda.launch.catalog import DEFAULT_KERNEL
from gemmviz.cuda.launch.launch_form import GivenLaunch, formulas_of
from gemmviz.cuda.launch.legality import setup_for, tied
from gemmviz.files.kinds import kind_of
from gemmviz.model.errors import UsageError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.run.opening.loader import open_kernel
from gemmviz.scenes.kit.theme import theme_names
from gemmviz.shots.flags import Flag, integer_from, setup_flags, view_flags
from gemmviz.shots.shot import Against, Shot, Trial, read_view

_LAUNCH_FLAGS = {
    "entry": ("NAME", "the kernel, with template arguments if it has any: 'sgemm<64, 8>'"),
    "args": ("LIST", "what each argument is, 'A,B,C,N', or some by name: 'width=N,out=C'"),
    "block": ("LIST", "threads of a block, '16,16'"),
    "grid": ("LIST", "blocks of the grid, 'ceil_div(N, 16),ceil_div(M, 16)'"),
    "shared": ("BYTES", "dynamic shared memory of a block"),
    "column-major": ("LIST", "matrices that are stored by columns, 'A,B'"),
}
_MOST_FORMULAS = {"args": 64, "block": 3, "grid": 3, "column-major": 64}  # most formulas of each

# Parsers


def add_setup(
    parser: argparse.ArgumentParser,
    what: str,
    *,
    required: bool = True,
    with_record: bool = True,
    with_launch: bool = True,
    taken: tuple[str, ...] = (),
) -> None:
    """Add the kernel, flags for all settings of its run, for what is recorded if ``with_record``, and for its launch if
    ``with_launch``; those of the launch that are ``taken`` by the command are called ``--launch-…``.
    """
    parser.add_argument("kernel", metavar=what, nargs=None if required else "?")
    for flag in setup_flags(with_record=with_record):
        _add_setting(parser, flag)
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the kernel")
    if with_launch:
        add_launch(parser, taken)


def add_view(parser: argparse.ArgumentParser) -> None:
    """Add flags for all display settings, and ``--phase`` as an alternative to ``--step``."""
    groups: dict[str, Any] = {}
    for flag in view_flags():
        if flag.group and flag.group not in groups:
            groups[flag.group] = parser.add_mutually_exclusive_group()
        _add_setting(groups.get(flag.group, parser), flag)
    groups["time"].add_argument("--phase", type=integer_from(1), help="the first step of this phase, counted from 1")


def add_labels(parser: argparse.ArgumentParser) -> None:
    """Add the flag for how elements and threads are written."""
    _add_setting(parser, _labels_flag())


def _labels_flag() -> Flag:
    return next(flag for flag in view_flags() if flag.name == "--labels")


def add_launch(parser: argparse.ArgumentParser, taken: tuple[str, ...] = ()) -> None:
    """Add flags for the parts of a launch. They take precedence over the file's header and its host code."""
    group = parser.add_argument_group("launch of a kernel in a file", "read from the file where they are left out")
    for name, (metavar, text) in _LAUNCH_FLAGS.items():
        flag = f"--launch-{name}" if name in taken else f"--{name}"
        group.add_argument(flag, dest=f"launch_{name.replace('-', '_')}", default="", metavar=metavar, help=text)


def _add_setting(parser: Any, flag: Flag) -> None:
    parser.add_argument(flag.name, dest=flag.attribute, default=None, **flag.options)


# From arguments to a shot


def launch_from(args: argparse.Namespace) -> GivenLaunch:
    """The given parts of the launch. Raises UsageError."""
    texts = {name: getattr(args, f"launch_{name.replace('-', '_')}", "") for name in _LAUNCH_FLAGS}
    lists = {name: formulas_of(texts[name], f"--{name}", most) if texts[name] else () for name, most in _MOST_FORMULAS.items()}
    columns = lists["column-major"]
    return GivenLaunch(
        texts["entry"], lists["args"], lists["block"], lists["grid"], texts["shared"], frozenset(columns) if columns else None
    )


def kernel_from(args: argparse.Namespace) -> KernelSpec:
    """The kernel that the arguments name, with the given parts of its launch. Raises GemmvizError."""
    return open_kernel(args.kernel or DEFAULT_KERNEL, launch_from(args))


def setup_from(args: argparse.Namespace) -> Setup:
    """The setup to run. Raises UsageError or SettingError."""
    return with_setup(args, Shot(setup_for(kernel_from(args)))).setup


def shot_from_setup(args: argparse.Namespace, trial: Trial) -> Shot:
    """A shot of the setup to run, with trial values for its occupancy. Raises UsageError or SettingError."""
    return Shot(setup_from(args), trial=trial)


def is_set(args: argparse.Namespace) -> bool:
    """Whether any setting of the setup was given besides the kernel."""
    return bool(args.D or launch_from(args)) or any(getattr(args, flag.attribute, None) is not None for flag in setup_flags())


def shot_from(args: argparse.Namespace) -> Shot:
    """The shot to display: of a kernel, or a saved view with the given settings applied. Raises GemmvizError."""
    path = Path(args.kernel or "")
    if args.kernel is not None and kind_of(path) == "view":
        shot = read_view(path)
    else:
        shot = Shot(setup_for(kernel_from(args)), theme="dark")
    return view_from(args, with_setup(args, shot))


def view_from(args: argparse.Namespace, shot: Shot) -> Shot:
    """The shot with the given display settings applied."""
    return _with_flags(args, shot, view_flags())


def labelled(args: argparse.Namespace, shot: Shot) -> Shot:
    """The shot with the given labels. Raises UsageError."""
    return _with_flags(args, shot, [_labels_flag()])


def with_setup(args: argparse.Namespace, shot: Shot) -> Shot:
    """The shot with the given setup settings applied. Raises UsageError or SettingError."""
    parameters = dict(given_parameter(text) for text in args.D)
    setup = shot.setup
    setup_for(setup.kernel, parameters=parameters)  # reports parameters that the kernel doesn't have
    changed = replace(shot, setup=replace(setup, parameters={**setup.parameters, **parameters}))
    shot = _with_flags(args, changed, setup_flags())
    sizes, as_tied = shot.setup.problem.sizes, tied(shot.setup)
    asked = [name for name in sizes if getattr(args, name.lower(), None) is not None]
    asked += [text.partition("=")[0] for text in getattr(args, "dim", None) or ()]
    keeps = all(as_tied.problem.sizes.get(name) == sizes.get(name) for name in asked)
    return replace(shot, setup=as_tied) if keeps else shot  # its rule then refuses the sizes that were asked for


def given_parameter(text: str) -> tuple[str, int]:
    """Name and value of a kernel parameter from NAME=NUMBER. Raises UsageError."""
    match = re.fullmatch(r"(\w+)=(-?\d+)", text)
    if match is None:
        raise UsageError(f"-D {text}: write -D NAME=NUMBER")
    return match[1], int(match[2])


def _with_flags(args: argparse.Namespace, shot: Shot, flags: list[Flag]) -> Shot:
    for flag in flags:
        value = getattr(args, flag.attribute, None)
        if value is not None:
            shot = flag.take(shot, value)
    return shot


# From a shot to arguments


def command_words(shot: Shot) -> list[str]:
    """Arguments of ``gemmviz`` that export this shot."""
    if shot.against is not None:
        return _comparison_words(shot, shot.against)
    kernel = shot.setup.kernel
    words = ["export", kernel.name if kernel.is_shipped else kernel.file]
    for flag in setup_flags():
        words += _flag_words(flag, shot)
    own = setup_for(kernel)
    for name, value in shot.setup.parameters.items():
        words += ["-D", f"{name}={value}"] if own.parameters.get(name) != value else []
    for flag in view_flags():
        words += _flag_words(flag, shot)
    return words


def view_words(shot: Shot, without: tuple[str, ...] = ()) -> list[str]:
    """Arguments for the display settings, without the flags in ``without``."""
    return [word for flag in view_flags() if flag.name not in without for word in _flag_words(flag, shot)]


def _comparison_words(shot: Shot, against: Against) -> list[str]:
    """Arguments of ``gemmviz compare``; both runs use the sizes of the shot."""
    words = [
        "compare",
        *(kernel.name if kernel.is_shipped else kernel.file for kernel in (against.setup.kernel, shot.setup.kernel)),
    ]
    for flag in setup_flags(with_record=False):
        words += _flag_words(flag, shot)
    for option, setup in (("--left", against.setup), ("--right", shot.setup)):
        for name, value in setup.parameters.items():
            words += [option, f"{name}={value}"]
    if against.setup.device != shot.setup.device:
        words += ["--left-device", against.setup.device]
    if shot.view == "grid":
        words += ["--view", "grid", "--instant", f"{shot.instant:.4g}"]
    else:
        words += ["--lock", against.lock, "--step", str(shot.at.step + 1)]
    words += ["--mark", against.marked] if against.marked else []
    return words + (["--theme", shot.theme] if shot.theme in theme_names() else [])


def _flag_words(flag: Flag, shot: Shot) -> list[str]:
    words = flag.words(shot)
    if isinstance(words, list):
        return [part for word in words for part in (flag.name, word)]
    return [] if words is None else [flag.name, words] if words else [flag.name]


def command_line(shot: Shot) -> str:
    """A command that exports a picture of this shot, quoted for a shell."""
    return shlex.join(["gemmviz", *command_words(shot), "--output", "frame.svg"])

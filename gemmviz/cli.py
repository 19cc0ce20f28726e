"""The command line: the window, and everything that it does without one. Errors are one line on stderr.

Exit codes: 0 done, 1 the kernel is wrong or a check failed, 2 wrong usage.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gemmviz import __version__, commands, measuring
from gemmviz.commands import complain
from gemmviz.files.devices import device_names
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.errors import GemmvizError, SettingError, UsageError
from gemmviz.model.filling import PATTERNS
from gemmviz.run.benchmark import LONGEST_S
from gemmviz.run.protocol import PATIENCE_S
from gemmviz.scene.frame import LAYERS
from gemmviz.scene.views import VIEWS


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    args = _parser().parse_args(_with_command(list(sys.argv[1:] if argv is None else argv)))
    try:
        return int(args.command(args))
    except (SettingError, UsageError) as error:
        return complain(error, 2)
    except GemmvizError as error:
        return complain(error, 1)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - whoever read our output has left
        return 0
    except KeyboardInterrupt:
        return 130


_COMMANDS = (
    "gui", "kernels", "trace", "counts", "render", "instrument", "info", "bench", "verify", "schedule", "worker", "launches",
)  # fmt: skip


def _with_command(argv: list[str]) -> list[str]:
    """The window is what is meant where no command is named."""
    first = argv[0] if argv else ""
    return argv if first in (*_COMMANDS, "-h", "--help", "--version") else ["gui", *argv]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gemmviz", description="Shows what every thread of a matrix-multiplication kernel does."
    )
    parser.add_argument("--version", action="version", version=f"gemmviz {__version__}")
    subcommands = parser.add_subparsers(required=True, metavar="COMMAND")

    gui = subcommands.add_parser("gui", help="open the window (also without naming this command)")
    _add_settings(gui, "KERNEL|FILE.cu|FILE.gvt", required=False)
    gui.set_defaults(command=commands.gui)

    kernels = subcommands.add_parser("kernels", help="list the kernels that ship with gemmviz")
    kernels.add_argument("--json", action="store_true", help="as JSON")
    kernels.set_defaults(command=commands.kernels)

    trace = subcommands.add_parser("trace", help="run a kernel and save the record of every access")
    _add_settings(trace, "KERNEL|FILE.cu")
    trace.add_argument("--blocks", default="all", help="all, or X0:X1,Y0:Y1[,Z0:Z1] (half-open)")
    trace.add_argument("--phases", metavar="P-Q", help="record only these phases, counted from 1, and what is before and after")
    _add_on(trace, "auto")
    trace.add_argument("--values", action="store_true", help="also record what was read and written")
    trace.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.gvt")
    trace.set_defaults(command=commands.trace)

    counts = subcommands.add_parser("counts", help="count requests, sectors and wavefronts of a whole launch")
    _add_settings(counts, "KERNEL|FILE.cu")
    _add_on(counts, "cpu")
    counts.add_argument("--json", action="store_true", help="as JSON")
    counts.set_defaults(command=commands.counts)

    render = subcommands.add_parser("render", help="save one frame as SVG or PNG")
    _add_settings(render, "KERNEL|FILE.cu|FILE.gvt")
    render.add_argument("--view", choices=tuple(VIEWS), default="stage", help="what to look at")
    moment = render.add_mutually_exclusive_group()
    moment.add_argument("--step", type=_natural, help="counted from 1, as the window does (0 is taken as 1)")
    moment.add_argument("--phase", type=int, help="the first step of this phase, counted from 1")
    render.add_argument("--block", default="0,0", metavar="X,Y", help="the block to watch")
    whom = render.add_mutually_exclusive_group()
    whom.add_argument("--warp", type=_natural, help="the warp to watch (default: the whole block)")
    whom.add_argument("--thread", type=_natural, help="the thread to follow, by its number in the block")
    whom.add_argument("--all", action="store_true", help="watch all traced blocks")
    render.add_argument("--layer", choices=LAYERS, default="matrix", help="what colours tell")
    render.add_argument("--moment", type=_share, default=1.0, help="how much of the step has passed, 0 to 1 (default)")
    render.add_argument("--theme", choices=("dark", "light"), default="dark")
    render.add_argument("--scale", type=int, choices=(1, 2, 4), default=1, help="PNG pixels: 1 is 1920 x 1080")
    render.add_argument("-o", "--output", type=Path, required=True, metavar="FRAME.svg|.png")
    render.set_defaults(command=commands.render)

    twin = subcommands.add_parser("instrument", help="print the instrumented twin of a kernel")
    _add_settings(twin, "KERNEL|FILE.cu")
    twin.set_defaults(command=commands.instrument)

    info = subcommands.add_parser("info", help="say what is in a trace file")
    info.add_argument("file", type=Path, metavar="FILE.gvt")
    info.add_argument("--json", action="store_true", help="as JSON")
    info.set_defaults(command=commands.info)
    _add_measuring(subcommands)
    return parser


def _add_measuring(subcommands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """What asks a GPU."""
    bench = subcommands.add_parser("bench", help="time kernels on the GPU over sizes, cuBLAS and the CPU beside them")
    bench.add_argument("kernels", nargs="*", metavar="KERNEL|FILE.cu", help="default: all that ship with gemmviz")
    bench.add_argument("--sizes", default="128:4096", help="as 128:8192 (doubling) or 100,200 (default: %(default)s)")
    bench.add_argument(
        "--longest", type=_seconds, default=LONGEST_S, metavar="S", help="leave out what takes longer than S seconds a launch"
    )
    _add_gpu(bench)
    bench.add_argument("--recorded", action="store_true", help="measure nothing: show what was recorded and ships with gemmviz")
    bench.add_argument("--json", action="store_true", help="as JSON")
    bench.add_argument("-o", "--output", type=Path, metavar="FILE.json", help="also save it")
    bench.set_defaults(command=measuring.bench)

    verify = subcommands.add_parser("verify", help="hold our counts against the GPU's own (needs Nsight Compute)")
    verify.add_argument("kernels", nargs="*", metavar="KERNEL|FILE.cu", help="default: all that ship with gemmviz")
    verify.add_argument("--sizes", help="of square matrices, as 128,512 (default: six problems, square and not)")
    _add_gpu(verify)
    verify.add_argument("--json", action="store_true", help="as JSON")
    verify.add_argument("-o", "--output", type=Path, metavar="FILE.json", help="also save it")
    verify.set_defaults(command=measuring.verify)

    schedule = subcommands.add_parser("schedule", help="record where and when each block ran on the GPU")
    _add_settings(schedule, "KERNEL|FILE.cu")
    schedule.add_argument("--patience", type=_seconds, default=PATIENCE_S, metavar="S", help="how long a kernel may run")
    schedule.add_argument("--json", action="store_true", help="as JSON, all blocks")
    schedule.set_defaults(command=measuring.schedule)

    worker = subcommands.add_parser("worker")  # serves the window; no help, so that it is not listed
    worker.set_defaults(command=measuring.worker)
    launches = subcommands.add_parser("launches")  # for a profiler to watch
    launches.add_argument("file", type=Path, metavar="FILE.json")
    launches.set_defaults(command=measuring.launches)


def _add_on(parser: argparse.ArgumentParser, default: str) -> None:
    meaning = "who runs it: the interpreter on the CPU, the GPU, or the GPU where CuPy is installed (default: %(default)s)"
    parser.add_argument("--on", choices=("auto", "gpu", "cpu"), default=default, help=meaning)


def _add_gpu(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", choices=device_names(), default=DEFAULT_DEVICE, help="whose limits hold (default: %(default)s)"
    )
    parser.add_argument("--patience", type=_seconds, default=PATIENCE_S, metavar="S", help="how long a kernel may run")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text} are no seconds")
    return value


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} does not lie between 0 and 1")
    return value


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 0 on")
    return int(text)


def _add_settings(parser: argparse.ArgumentParser, what: str, required: bool = True) -> None:
    parser.add_argument("kernel", metavar=what, nargs=None if required else "?")
    for name, meaning in (("m", "rows of A and C"), ("n", "columns of B and C"), ("k", "columns of A, rows of B")):
        parser.add_argument(f"-{name}", type=int, metavar=name.upper(), help=meaning)
    parser.add_argument(
        "--device", choices=device_names(), default=DEFAULT_DEVICE, help="whose limits hold (default: %(default)s)"
    )
    parser.add_argument("--fill", choices=PATTERNS, default="random", help="what A and B hold (default: %(default)s)")
    parser.add_argument("--seed", type=_natural, default=0, help="of the random matrices")
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the kernel")

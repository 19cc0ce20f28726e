"""The command ``launch``: prints how a kernel is launched and what its arguments are, as it was read from the file."""

import argparse
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gemmviz.cli.command import Command, add_json, print_error, print_json
from gemmviz.cli.running import report_hazards, report_outcome
from gemmviz.cuda.launch.launch_form import (
    compared_at,
    header_text,
    launch_command,
    launch_flags,
    launch_line,
    not_confirmed,
    with_header,
)
from gemmviz.cuda.launch.legality import requested_launch, setup_for
from gemmviz.files.resources import is_folder, write_text
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError, UsageError
from gemmviz.run.choosing import engine_for
from gemmviz.run.loader import Opened, opened
from gemmviz.run.project import kernel_files
from gemmviz.shots.arguments import add_launch, launch_from
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot

_ORIGIN_WORDS = {
    "header": "from the file's header",
    "read": "read from the code; the result is right at {sizes}",
    "guessed": "a guess; with it the result is right at {sizes}",
    "unsure": "read from the code; the result is not right at {sizes}",
    "unchecked": "read from the code; the result is not checked, since no problem fits it",
    "given": "as given by flags",
}


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kernel", metavar="FILE.cu|FOLDER")
    add_launch(parser)
    parser.add_argument("--header", action="store_true", help="print the launch as a header")
    parser.add_argument("--insert", action="store_true", help="write the launch into the file, as a header")
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    path = Path(args.kernel)
    if is_folder(path):
        return _print_folder(path, args.json)
    read = opened(args.kernel, launch_from(args))
    requested_launch(setup_for(read.kernel))  # reports formulas that have no value
    if args.insert:
        _insert(read.kernel)
    if args.json:
        print_json(_launch_json(read))
    elif args.header:
        print(header_text(read.kernel), end="")
    else:
        return _print_launch(read)
    return 0


def _print_launch(read: Opened) -> int:
    """Print a launch, and what is wrong with it; return the exit code."""
    kernel = read.kernel
    text, report = _origin_text(kernel)
    print(f"{kernel.entry}: {launch_line(kernel)} ({text})")
    print(launch_command(kernel))
    others = [name for name in read.names if name != kernel.function]
    if others:
        print(f"other kernels of the file: {', '.join(others)} (choose one with --entry)")
    return report()


def _origin_text(kernel: KernelSpec) -> tuple[str, Callable[[], int]]:
    """Origin of the launch and what was seen with it; and a function that prints what is wrong and returns the exit code."""
    doubt, origin = not_confirmed(kernel), kernel.launch_from
    if doubt is not None:
        return doubt.message, lambda: 0
    if origin == "header":
        return _ORIGIN_WORDS[origin], lambda: 0
    setup = setup_for(kernel)
    known = Knowledge(Shot(setup), engine_for("cpu"), with_values=False)
    try:
        outcome = known.outcome
        hazards = [] if outcome.fault else known.replay.hazards
    except GemmvizError:
        return _ORIGIN_WORDS[origin].format(sizes=kernel.problem.text()), lambda: 0
    is_wrong = outcome.fault is not None or (outcome.trace is not None and not outcome.trace.check.passed)
    text = _ORIGIN_WORDS["unsure" if is_wrong and origin == "read" else origin].format(sizes=kernel.problem.text())
    if is_wrong:
        return text, lambda: report_outcome(outcome)
    judged = known.judged_as_launched
    if hazards:
        text += ", but only in one order of threads"
    elif judged.error is not None:
        text += f", but not at {known.whole.setup.problem.text()} as main() launches it"
    elif judged.value is not None and judged.value.is_checked and judged.value.compared:
        text += f", and at {compared_at(judged.value, known.whole.setup)} as main() launches it"
    error = judged.error
    return text, lambda: report_hazards(list(hazards), setup) or (0 if error is None else print_error(error, 1))


def _insert(kernel: KernelSpec) -> None:
    """Write the launch into the kernel's file. Raises UsageError for a kernel that has a header, or none of its own."""
    if kernel.is_shipped or kernel.launch_from == "header":
        file, remedy = (None, None) if kernel.is_shipped else (kernel.file, "change the header, or delete it first")
        raise UsageError(f"{kernel.name} has a header", file=file, remedy=remedy)
    write_text(Path(kernel.file), with_header(kernel, kernel.text))


def _print_folder(folder: Path, as_json: bool) -> int:
    """Print the kernel files of a folder with the kernels that can be opened. Raises UsageError if there is none."""
    folder = folder.resolve()
    files = kernel_files(folder)
    if not files and not as_json:
        raise UsageError("no file of the folder has a kernel", file=str(folder), remedy="a kernel is a __global__ function")
    rows = [(path, *_folder_row(path, path.relative_to(folder).as_posix())) for path in files]
    if as_json:
        print_json([{"file": str(path), "kernels": names, "error": error} for path, names, _, error in rows])
    else:
        for _, _, line, error in rows:
            print(error or line)
    return 0 if rows else 1


def _folder_row(path: Path, name: str) -> tuple[list[str], str, str | None]:
    """Names of a file's kernels, the launch of the first on one line, and why it can't be opened."""
    try:
        read = opened(str(path))
    except GemmvizError as error:
        error.file = name
        return [], "", str(error)
    kernel = read.kernel
    others = f"; {len(read.names) - 1} more kernels" if len(read.names) > 1 else ""
    line = f"{name}: {kernel.entry}: {launch_line(kernel)} ({_origin_text(kernel)[0]}){others}"
    return list(read.names), line, None


def _launch_json(read: Opened) -> dict[str, Any]:
    kernel = read.kernel
    return {
        "entry": kernel.entry, "kernels": read.names, "from": kernel.launch_from, "line": launch_line(kernel),
        "uncertain": kernel.unconfirmed,
        "flags": shlex.join(launch_flags(kernel)), "problem": kernel.problem.to_flat(), "parameters": kernel.defaults,
    }  # fmt: skip


COMMAND = Command("print how a kernel is launched and what its arguments are", _add, _run, order=2)

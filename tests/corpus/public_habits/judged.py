"""What gemmviz says of a file of the corpus: opened without a header, in process, at its own launch; and of a file with a
fault, at the launch of the file without it.
"""

import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec import structs

from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.cuda.launch.formula import grid_units, replace_sizes
from gemmviz.cuda.launch.launch_form import with_header
from gemmviz.cuda.launch.legality import launch_for, setup_for
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError, KernelFault
from gemmviz.model.problem import Problem
from gemmviz.model.problems import NONE
from gemmviz.run.choosing import MOST_BYTES, engine_for, run
from gemmviz.run.loader import LaunchUnknown, opened
from tests.corpus.public_habits.corpus import Entry

OPENED, GUESSED, UNCONFIRMED, UNCHECKED, ASKED, REFUSED, ACCUSED, INTERNAL = CLASSES = (
    "opened, right", "opened, launch guessed", "launch not confirmed", "opened, nothing checked", "asks for a launch", "refused",
    "accused", "internal error",
)  # fmt: skip
_MOST_KERNELS = 6


@dataclass(frozen=True)
class Judged:
    """``said``: the sentence behind the class; ``seconds``: of the processor, to open the file and to judge it; ``opening``: to
    open it alone.
    """

    name: str
    verdict: str
    said: str
    seconds: float
    opening: float = 0.0


def judged(name: str, files: dict[str, str], main: str) -> Judged:
    """The class of one entry. Its files are written into a folder of their own, a repository."""
    with tempfile.TemporaryDirectory() as folder:
        _write(files, Path(folder))
        start = time.process_time()
        opening = 0.0
        try:
            kernel = opened(str(Path(folder) / main)).kernel
            opening = time.process_time() - start
            verdict, said = _verdict(kernel)
        except LaunchUnknown as error:
            verdict, said = ASKED, str(error)
        except KernelFault as error:
            verdict, said = (UNCONFIRMED if error.id == "unconfirmed" else ACCUSED), str(error)
        except GemmvizError as error:
            verdict, said = REFUSED, str(error)
        except Exception:
            verdict, said = INTERNAL, " | ".join(traceback.format_exc().strip().splitlines()[-3:])
        return Judged(name, verdict, said.replace(folder + "/", ""), time.process_time() - start, opening)


def judged_as(right: Entry, faulty: Entry) -> Judged:
    """The class of a file with a fault, each of whose kernels is launched as in the file without it: accused if one is at one
    of the sizes at which it is right without the fault.
    """
    with tempfile.TemporaryDirectory() as folder:
        _write(right.files, Path(folder))
        start = time.process_time()
        try:
            kernels = list(_kernels(str(Path(folder) / right.main)))
        except GemmvizError as error:
            return Judged(faulty.name, ASKED, str(error), time.process_time() - start)
        _write(faulty.files, Path(folder))
        found = ASKED, "no sizes"
        for found in (each for kernel in kernels for each in _with_launch(kernel, right)):
            if found[0] == ACCUSED:
                break
    return Judged(faulty.name, found[0], found[1].replace(folder + "/", ""), time.process_time() - start)


def _kernels(file: str) -> Iterator[KernelSpec]:
    """The kernel that the file opens with, and its other ones whose launch is known."""
    read = opened(file)
    yield read.kernel
    for name in read.names[:_MOST_KERNELS] if len(read.names) > 1 else ():
        with suppress(LaunchUnknown):
            yield opened(f"{file}:{name}").kernel


def _with_launch(kernel: KernelSpec, right: Entry) -> Iterator[tuple[str, str]]:
    """The classes of what the file holds now, with the kernel's header, at sizes at which that one is right."""
    path = Path(kernel.file)
    text = path.read_text(encoding="utf-8")
    path.write_text(with_header(kernel, text), encoding="utf-8")
    try:
        other = opened(str(path)).kernel
    except KernelFault as error:
        yield ACCUSED, str(error)
    except GemmvizError as error:
        yield REFUSED, str(error)
    else:
        right_at = (each for each in _problems(kernel, right) if _said(kernel, each)[0] in (OPENED, GUESSED, UNCHECKED))
        yield from (_said(other, each) for each in right_at)
    finally:
        path.write_text(text, encoding="utf-8")


def _problems(kernel: KernelSpec, entry: Entry) -> Iterator[Problem]:
    """The kernel's own sizes, two blocks along each, and those that leave the parts of tiles which main's sizes leave."""
    yield kernel.problem
    units = {name: unit for name, unit in grid_units(kernel).items() if unit}
    own = entry.case.values if entry.case else {}
    for change in (
        {name: 2 * unit for name, unit in units.items()},
        {name: unit + own.get(name, 3) % unit for name, unit in units.items()},
        {name: size + own.get(name, 3) % 16 for name, size in kernel.problem.sizes.items() if name not in units},
        {name: 2 * size for name, size in kernel.problem.sizes.items() if name not in units},
        dict.fromkeys(units, 96),
        {name: size + 5 * place for place, (name, size) in enumerate(kernel.problem.sizes.items(), 1)},
        own,
    ):
        yield replace_sizes(kernel, change)


def _said(kernel: KernelSpec, problem: Problem) -> tuple[str, str]:
    try:
        return _verdict(structs.replace(kernel, problem=problem))
    except KernelFault as error:
        return ACCUSED, f"{error}; {problem}"
    except GemmvizError as error:
        return REFUSED, f"{error}; {problem}"


def _write(files: dict[str, str], folder: Path) -> None:
    for each, text in files.items():
        path = folder / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / ".git").mkdir(exist_ok=True)


def _verdict(kernel: KernelSpec) -> tuple[str, str]:
    setup = setup_for(kernel)
    launch_for(setup)
    with closing(engine_for("cpu")) as engine:
        trace = run(setup, (0, 0, 0), engine, most_bytes=MOST_BYTES).whole
    facts = f"{kernel.entry} {kernel.problem}; {','.join(kernel.args)}; block {kernel.block} grid {kernel.grid}"
    if kernel.unconfirmed:
        return UNCONFIRMED, f"{kernel.unconfirmed}; {facts}"
    hazards = ordering_of(trace).hazards
    if hazards:
        return ACCUSED, f"{hazards[0].fault(kernel.file)}; {facts}"
    if kernel.problem.kind.name == NONE or not trace.check.is_checked:
        return UNCHECKED, facts
    if not trace.check.passed:
        return ACCUSED, f"{trace.check}; {facts}"
    return (GUESSED if kernel.launch_from == "guessed" else OPENED), facts


def percentiles(values: list[float]) -> str:
    """Median and 95th percentile, in seconds."""
    return (
        f"{np.median(values):.2f} s in the median, {np.percentile(values, 95):.2f} s at the 95th percentile" if values else "-"
    )

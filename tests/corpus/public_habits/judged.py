"""What gemmviz says of a file of the corpus: opened without a header, in process, at its own launch."""

import tempfile
import time
import traceback
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gemmviz.analysis.hazards.ordering import ordering_of
from gemmviz.launch.legality import launch_for, setup_for
from gemmviz.loading.headerless import LaunchUnknown
from gemmviz.loading.loader import opened
from gemmviz.model.errors import GemmvizError, KernelFault
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problems.catalog import NONE
from gemmviz.run.choosing import engine_for
from gemmviz.subjects.runs import MOST_BYTES, run

OPENED, GUESSED, UNCONFIRMED, UNCHECKED, ASKED, REFUSED, ACCUSED, INTERNAL = CLASSES = (
    "opened, right", "opened, launch guessed", "launch not confirmed", "opened, nothing checked", "asks for a launch", "refused",
    "accused", "internal error",
)  # fmt: skip


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
        for each, text in files.items():
            path = Path(folder) / each
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (Path(folder) / ".git").mkdir()
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

"""Effects of an order of threads other than the traced one: hazards in shared and in global memory, and barriers that some
threads don't reach.
"""

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from gemmviz.analysis.hazards.global_hazards import global_hazards
from gemmviz.analysis.hazards.hazard import Conflicts, Hazard, arrivals
from gemmviz.analysis.hazards.shared_hazards import examined
from gemmviz.files.devices import load_device
from gemmviz.model.sites import Site
from gemmviz.model.trace import Trace
from gemmviz.model.translation import many, tr

_INDEPENDENT = 7  # compute capability from which __syncthreads() waits thread by thread


class Ordering(Struct, frozen=True):
    """``hazards`` in the order of their first steps; ``conflicts``: elements at which threads conflict in shared memory;
    ``remarks``: sentences about early returns and about anything that could not be decided.
    """

    hazards: tuple[Hazard, ...] = ()
    conflicts: Conflicts = field(default_factory=Conflicts)
    remarks: tuple[str, ...] = ()


def ordering_of(
    trace: Trace,
    blocks: int | None = None,
    values: npt.NDArray[np.float32] | None = None,
) -> Ordering:
    """The hazards and remarks of a trace. ``blocks``: number of the traced blocks that are searched for hazards in shared
    memory; ``values``: values read and written, as for ``global_hazards``. A launch that isn't confirmed has no hazards. Raises
    Cancelled.
    """
    if trace.setup.kernel.unconfirmed:
        return Ordering(remarks=returned_early(trace))
    finder = examined(trace, blocks)
    in_global = global_hazards(trace, values)
    hazards = sorted([*finder.hazards, *in_global.hazards], key=lambda hazard: hazard.step)
    remarks = returned_early(trace)
    if blocks == 0:
        remarks += (tr("Shared memory was not searched for hazards: the trace is too large"),)
    if in_global.undecided:
        stored = tr("{elements} of a matrix, stored by several threads", elements=many(in_global.undecided, "element"))
        remarks += (
            tr(
                "The order of writes could matter for {stored}; this was not checked because the values are unknown",
                stored=stored,
            ),
        )
    return Ordering(tuple(hazards), finder.conflicts, remarks)


def returned_early(trace: Trace) -> tuple[str, ...]:
    """A sentence for each __syncthreads() that some threads of a block don't reach: because they have returned, or because they
    reach one in another branch.

    Source: CUDA C++ Programming Guide, Synchronization Functions and Compute Capability 7.x, Independent Thread
    Scheduling.
    """
    missing: dict[Site, tuple[int, int]] = {}  # the most threads that have returned, and that are elsewhere
    for step, site, reached in arrivals(trace, slice(None)):
        numbers = trace.element[int(trace.row[step])].reshape(reached.shape)
        if site.kind == "barrier" and not numbers.max(initial=0):
            some = (numbers >= 0).any(axis=1, keepdims=True)
            counts = ((some & each).sum(axis=1).max(initial=0) for each in (reached & (numbers < 0), ~reached))
            missing[site] = tuple(map(max, counts, missing.get(site, (0, 0))))  # type: ignore[assignment]
    sentences = []
    for site, (returned, elsewhere) in missing.items():
        if elsewhere:
            sentences.append(
                tr(
                    "Up to {threads} of a block aren't at the barrier in line {line} but at one in another branch: CUDA leaves "
                    "this undefined; the hardware counts the threads that arrive, wherever they are",
                    threads=many(elsewhere, "thread"),
                    line=site.place.line,
                )
            )
        elif returned:
            sentences.append(_returned(trace, site.place.line, returned))
    return tuple(sentences)


def _returned(trace: Trace, line: int, threads: int) -> str:
    device = load_device(trace.setup.device)
    capability = device.compute_capability.partition(".")[0]
    waits = not capability.isdecimal() or int(capability) >= _INDEPENDENT
    outcome = tr("it waits only for the others") if waits else tr("the behaviour is undefined on {device}", device=device.name)
    return tr(
        "Up to {threads} of a block have returned before the barrier in line {line}: {outcome}",
        threads=many(threads, "thread"),
        line=line,
        outcome=outcome,
    )

"""The choice of an engine: by name, by what is installed, and by whether a kernel may run on the GPU; and a run by it."""

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Literal

from gemmviz.cuda.launch.catalog import is_shipped_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.setup import Setup
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Outcome
from gemmviz.run.cpu.executor import blocks_to_trace
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Engine, FallbackEngine, KernelEngines, Recording
from gemmviz.run.protocol import TIMEOUT_S
from gemmviz.run.stored import RecordedTimes, StoredAnswers

QUICK_BYTES = 32 << 20  # of a trace if the user did not choose the blocks: what is recorded, carried and analysed at a click
MOST_BYTES = 384 << 20  # of a trace of named blocks
EngineChoice = Literal["auto", "gpu", "cpu"]
EngineOf = Callable[[KernelSpec], AbstractContextManager[Engine]]
CHOICES: Mapping[EngineChoice, str] = {
    "auto": "the GPU if CuPy is installed, with the CPU as fallback; the CPU for a kernel of your own",
    "gpu": "the GPU only",
    "cpu": "the interpreter on the CPU",
}


def has_cupy() -> bool:
    """Whether CuPy is installed, which the GPU engine needs."""
    return importlib.util.find_spec("cupy") is not None


def choice_for(on: EngineChoice, kernel: KernelSpec) -> EngineChoice:
    """The choice for this kernel: "auto" means "cpu" for a kernel that doesn't ship with gemmviz."""
    return "cpu" if on == "auto" and not is_shipped_kernel(kernel) else on


def engine_for(on: EngineChoice, timeout_s: float = TIMEOUT_S) -> Engine:
    """The engine of this choice. ``timeout_s`` limits one launch on the GPU."""
    if on == "cpu" or (on == "auto" and not has_cupy()):
        return FallbackEngine(Interpreter(), RecordedTimes())
    from gemmviz.run.worker.remote import RemoteGpu  # imported here: most runs need none of it

    gpu = RemoteGpu(timeout_s=timeout_s)
    return gpu if on == "gpu" else FallbackEngine(gpu, Interpreter(), RecordedTimes())


def with_stored_answers(engine_of: EngineOf) -> EngineOf:
    """Engines that first look up what is stored with the shipped lessons."""

    @contextmanager
    def stored_first(kernel: KernelSpec) -> Iterator[Engine]:
        with engine_of(kernel) as engine:
            yield FallbackEngine(StoredAnswers(), engine)

    return stored_first


@contextmanager
def opened_engines(engine_of: EngineOf) -> Iterator[Engine]:
    """One engine for all kernels, of those that ``engine_of`` opens when a kernel first needs them."""
    known: dict[KernelSpec, Engine] = {}
    with ExitStack() as stack:

        def engine_for(kernel: KernelSpec) -> Engine:
            if kernel not in known:
                known[kernel] = stack.enter_context(engine_of(kernel))
            return known[kernel]

        yield KernelEngines(engine_for)


def run(
    setup: Setup,
    around: Triple,
    engine: Engine,
    *,
    values: bool = False,
    most_bytes: int = MOST_BYTES,
) -> Outcome:
    """Trace the blocks that a setup names, or some near the block ``around``. ``most_bytes``: limit of the trace of
    named blocks. Raises as ``Engine.trace`` does.
    """
    blocks = engine.known_blocks(setup)
    if blocks is None:
        blocks = blocks_to_trace(setup, around, limit_bytes=QUICK_BYTES, most_bytes=most_bytes)
    return engine.trace(setup, blocks, Recording(values=values, limit_bytes=most_bytes))

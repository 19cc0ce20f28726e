"""Milliseconds from the text of 04_tiled to its trace, 64 cubed: the first time, again after another size, and after an edit.

``trace.py [size [tile [blocks]]]``; prints JSON. Knows where this and older commits keep what it calls.
"""

import gc
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from gemmviz.model.problem import Problem


def main() -> None:
    size, tile, blocks = (*sys.argv[1:], *("64", "16", "")[len(sys.argv) - 1 :])
    load = first_of(("gemmviz.cuda.launch.catalog", "gemmviz.spec.catalog", "gemmviz.cuda.catalog"), "load_kernel")
    parse = first_of(("gemmviz.files.kernel_file", "gemmviz.cuda.header"), "parse_kernel")
    trace = tracer(blocks)
    kernel = load("04_tiled")

    def run(size: int, edit: str = "") -> float:
        gc.collect()
        start = time.perf_counter()
        trace(parse(kernel.text + edit, kernel.file), Problem(size, size, size), {"TILE_WIDTH": int(tile)})
        return (time.perf_counter() - start) * 1e3

    first, again, edited = run(int(size)), [], []
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for other in range(65, 72) if int(size) == 64 else ():
        run(other)
        again.append(run(int(size)))
        edited.append(run(int(size), f"// {other}\n"))
    figures = {"first": first, "again": statistics.median(again or [first]), "edited": statistics.median(edited or [first])}
    print(json.dumps({**figures, "peak_mib": peak}))


def tracer(blocks: str) -> Callable[..., object]:
    """From a kernel, its problem and its parameters to a trace."""
    trace_kernel = first_of(("gemmviz.run.cpu.executor", "gemmviz.run.executor"), "trace_kernel")
    try:
        setup_for = first_of(("gemmviz.cuda.launch.legality", "gemmviz.spec.legality"), "setup_for")
    except ModuleNotFoundError:
        settings_for = first_of(("gemmviz.cuda.launching",), "settings_for")
        return lambda kernel, problem, parameters: trace_kernel(kernel, settings_for(kernel, problem, parameters))
    return lambda kernel, problem, parameters: trace_kernel(setup_for(kernel, problem, parameters, blocks=blocks)).whole


def first_of(modules: tuple[str, ...], name: str) -> Any:
    """What a name stands for in the first of some modules that exists. Raises ModuleNotFoundError where none does."""
    for module in modules:
        try:
            return getattr(import_module(module), name)
        except ModuleNotFoundError as error:
            missing = error
    raise missing


if __name__ == "__main__":
    main()

"""What each command does: from parsed arguments to output and an exit code."""

import argparse
import contextlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gemmviz.analysis.counts import Counts, LaunchCounter, loads_per_element, totals
from gemmviz.analysis.focus import Focus
from gemmviz.analysis.hazards import Hazard, HazardSink, find_hazards
from gemmviz.analysis.replay import Replay
from gemmviz.files.devices import load_device
from gemmviz.files.trace_file import describe, read_trace, write_trace
from gemmviz.model.errors import DeviceError, GemmvizError, UsageError
from gemmviz.model.filling import Filling
from gemmviz.model.kernel import KernelSpec, Launch, Settings
from gemmviz.model.lanes import LaneSpace, Window, parse_phases, parse_window, phases_text
from gemmviz.model.problem import Problem
from gemmviz.model.trace import AccessSink, MemoryArray, Trace
from gemmviz.run.executor import affordable_window, bound, stream_launch, trace_kernel
from gemmviz.run.remote import RemoteGpu
from gemmviz.run.tee import Tee
from gemmviz.source import instrument as twin
from gemmviz.spec.catalog import DEFAULT_KERNEL, kernel_names, load_kernel
from gemmviz.spec.legality import launch_for, settings_for

_LARGEST_HAZARD_SEARCH = 1 << 26
_PICTURE_BYTES = 128 << 20


def complain(error: GemmvizError, code: int) -> int:
    """Puts an error on stderr, on one line; gives ``code`` back."""
    print(f"gemmviz: {error}".replace("\n", " "), file=sys.stderr)
    return code


def settings_from(args: argparse.Namespace, spec: KernelSpec) -> Settings:
    given = {name: getattr(args, name.lower()) for name in "MNK"}
    sizes = {name: spec.problem.sizes[name] if size is None else size for name, size in given.items()}
    parameters = {}
    for text in args.D:
        found = re.fullmatch(r"(\w+)=(-?\d+)", text)
        if found is None:
            raise UsageError(f"-D {text}: write -D NAME=NUMBER")
        parameters[found[1]] = int(found[2])
    filling = Filling(getattr(args, "fill", "random"), getattr(args, "seed", 0))
    return replace(settings_for(spec, Problem(**sizes), parameters), filling=filling)


def gui(args: argparse.Namespace) -> int:
    if not _has_display():
        from gemmviz.headless import render_without_display

        return render_without_display(_kernel_or_trace(args)[1])
    from gemmviz.gui.app import run_window

    if args.kernel is not None and not Path(args.kernel).is_file():
        load_kernel(args.kernel)  # a name that means nothing is an error here, not an empty window
    given = args.D or args.fill != "random" or args.seed or not (args.m is args.n is args.k is None)
    wants_settings = given and not (args.kernel or "").endswith(".gvt")
    settings = settings_from(args, load_kernel(args.kernel or DEFAULT_KERNEL)) if wants_settings else None
    return run_window(args.kernel, settings, args.device)


def _has_display() -> bool:
    if os.environ.get("QT_QPA_PLATFORM") or not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def kernels(args: argparse.Namespace) -> int:
    specs = [load_kernel(name) for name in kernel_names()]
    if args.json:
        _print_json([_kernel_facts(spec) for spec in specs])
    else:
        for spec in specs:
            values = " ".join(f"-D {name}={value}" for name, value in spec.defaults.items())
            print(f"{spec.name:20} {spec.title}" + (f"  [{values}]" if values else ""))
    return 0


def _kernel_facts(spec: KernelSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "title": spec.title,
        "description": " ".join(spec.description.split()),
        "entry": spec.entry,
        "problem": spec.problem.sizes,
        "parameters": [
            {"name": p.name, "default": p.default, "choices": p.choices, "description": p.description} for p in spec.parameters
        ],
    }


def trace(args: argparse.Namespace) -> int:
    spec = load_kernel(args.kernel)
    settings = settings_from(args, spec)
    device = load_device(args.device)
    launch = launch_for(spec, settings, device)
    window = Window.whole(launch) if args.blocks == "all" else parse_window(args.blocks)
    phases = None if args.phases is None else parse_phases(args.phases)
    trace = None
    if wants_gpu(args.on):
        trace = _on_gpu(
            args, lambda gpu: gpu.trace(spec, settings, window, device=args.device, phases=phases, values=args.values)
        )
    if trace is None:
        trace = trace_kernel(spec, settings, window, device=device, phases=phases, values=args.values)
    write_trace(trace, args.output)
    share = f"{window.blocks} of {launch.blocks} blocks" + (f", phases {args.phases}" if phases else "")
    print(f"{args.output}: {trace.steps} steps of {trace.space.lanes} threads ({share}); {trace.check}")
    for note in trace.notes:
        print(note)
    hazards = find_hazards(trace) if trace.element.size <= _LARGEST_HAZARD_SEARCH else []
    return _report_faults(hazards, spec) or (0 if trace.check.passed else complain(_wrong(trace), 1))


def wants_gpu(on: str) -> bool:
    """What ``--on`` means here: a GPU is only asked for where CuPy is installed."""
    return on == "gpu" or (on == "auto" and importlib.util.find_spec("cupy") is not None)


def _on_gpu(args: argparse.Namespace, task: Callable[[RemoteGpu], Any]) -> Any:
    """What the GPU makes of a task; None, and a word about it, where it can't and nobody insists on it."""
    with contextlib.closing(RemoteGpu()) as gpu:
        try:
            return task(gpu)
        except DeviceError as error:
            if args.on == "gpu":
                raise
            complain(GemmvizError(f"{error}; the interpreter runs it instead"), 0)
            return None


def _wrong(trace: Trace) -> GemmvizError:
    return GemmvizError(str(trace.check), file=trace.file)


def _report_faults(hazards: list[Hazard], spec: KernelSpec) -> int:
    if not hazards:
        return 0
    fault = hazards[0].fault(spec.file)
    if len(hazards) > 1:
        fault.message += f"; {len(hazards) - 1} more such pairs of accesses"
    return complain(fault, 1)


def counts(args: argparse.Namespace) -> int:
    spec = load_kernel(args.kernel)
    settings = settings_from(args, spec)
    device = load_device(args.device)
    launch = launch_for(spec, settings, device)
    counter = LaunchCounter()
    hazards: list[HazardSink] = []
    if wants_gpu(args.on):
        found = _on_gpu(args, lambda gpu: gpu.count(spec, settings, device=args.device))
        if found is not None:
            return _print_counts(args, spec, settings, launch, LaunchCounter.of(*found), [])

    def sink(space: LaneSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        hazards.append(HazardSink(arrays, space))
        return Tee(counter.sink(space, arrays, phase_loop), hazards[-1])

    stream_launch(spec, settings, sink, device=device)
    unique = {key: hazard for each in hazards for key, hazard in each.hazards_by_pair().items()}
    return _print_counts(args, spec, settings, launch, counter, list(unique.values()))


def _print_counts(
    args: argparse.Namespace,
    spec: KernelSpec,
    settings: Settings,
    launch: Launch,
    counter: LaunchCounter,
    hazards: list[Hazard],
) -> int:
    found = totals(counter.sites, counter.arrays)
    sites = [
        {"line": s.place.line, "column": s.place.column, "text": s.text, "kind": s.kind, "array": counter.arrays[s.array].name,
         "space": counter.arrays[s.array].space, **_count_facts(c)}
        for s, c in counter.sites.items()
    ]  # fmt: skip
    if args.json:
        facts = {
            "kernel": spec.name, "problem": settings.problem.sizes, "parameters": dict(settings.parameters),
            "grid": launch.grid, "block": launch.block, "blocks_counted": launch.blocks, "totals": found, "sites": sites,
            "phases": [{"phase": n + 1 if n >= 0 else None, **_count_facts(c)} for n, c in sorted(counter.phases.items())],
            "loads_per_element": loads_per_element(counter.sites, counter.arrays),
            "hazards": [str(hazard) for hazard in hazards],
            "counted": "from a lockstep trace of the source as written, all blocks",
        }  # fmt: skip
        _print_json(facts)
    else:
        print(f"{spec.name}, {settings.problem}, all {launch.blocks} blocks, counted from the source as written")
        for name, value in found.items():
            print(f"  {name:28} {value:>16,}")
    return _report_faults(hazards, spec)


def _count_facts(counts: Counts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in counts.__dataclass_fields__}


def render(args: argparse.Namespace) -> int:
    from gemmviz.render.export import save_frame
    from gemmviz.scene.frame import ViewOptions
    from gemmviz.scene.theme import THEMES
    from gemmviz.scene.views import VIEWS

    block = re.fullmatch(r"(\d+),(\d+)", args.block)
    if block is None:
        raise UsageError(f"--block {args.block}: write X,Y")
    watched = (int(block[1]), int(block[2]), 0)
    _, trace = _kernel_or_trace(args, watched)
    focus = Focus((*watched[:2], trace.window.z[0]), args.warp, args.thread, args.all)
    replay = Replay(trace, focus)
    asked_warp = replay.warp if args.warp is None else args.warp
    if (replay.block, replay.thread, replay.warp) != (focus.block, args.thread, asked_warp):
        raise UsageError(f"{_asked(args)} is not in the trace (blocks {trace.window})")
    options = ViewOptions(THEMES[args.theme], layer=args.layer, moment=args.moment)
    scene = VIEWS[args.view].scene(replay, _step(args, replay), options)
    if args.output.suffix.lower() == ".png":
        from gemmviz.render.qt.offscreen import start_qt

        start_qt()
    save_frame(scene, args.output, args.scale)
    return 0 if trace.check.passed else complain(_wrong(trace), 1)


def _asked(args: argparse.Namespace) -> str:
    warp = "" if args.warp is None else f", warp {args.warp}"
    return f"block {args.block}{warp}" + ("" if args.thread is None else f", thread {args.thread}")


def _step(args: argparse.Namespace, replay: Replay) -> int:
    if args.phase is not None:
        inside = [int(s) for s in replay.phase_starts if int(replay.trace.phase[s]) == args.phase - 1]
        if not inside or not 1 <= args.phase <= replay.phases:
            which = f"the kernel has {replay.phases} phases, counted from 1"
            if replay.trace.phases is not None:
                which = f"of the phases, {replay.trace.phases[0] + 1} to {replay.phases} are in the trace"
            raise UsageError(f"--phase {args.phase}: {which}")
        return inside[0]
    step = max(args.step or 1, 1)
    if not 1 <= step <= replay.steps:
        raise UsageError(f"--step {args.step}: the trace has {replay.steps} steps, counted from 1")
    return step - 1


def _kernel_or_trace(args: argparse.Namespace, around: tuple[int, int, int] = (0, 0, 0)) -> tuple[KernelSpec | None, Trace]:
    """The trace in a file, or of as many blocks around one as are quick to trace."""
    if args.kernel is not None and args.kernel.endswith(".gvt"):
        if args.D or args.m or args.n or args.k:
            raise UsageError("a trace has its own sizes and parameters", remedy="leave out -m, -n, -k and -D")
        return None, read_trace(Path(args.kernel))
    spec = load_kernel(args.kernel or DEFAULT_KERNEL)
    settings = settings_from(args, spec)
    device = load_device(args.device)
    window = affordable_window(spec, settings, around, device=device, limit_bytes=_PICTURE_BYTES)
    return spec, trace_kernel(spec, settings, window, device=device, values=True)


def instrument(args: argparse.Namespace) -> int:
    spec = load_kernel(args.kernel)
    settings = settings_from(args, spec)
    device = load_device(args.device)
    bound(spec, settings, launch_for(spec, settings, device), device)
    print(twin.twin_for(spec, settings.parameters).text, end="")
    return 0


def info(args: argparse.Namespace) -> int:
    facts = describe(args.file)
    if args.json:
        _print_json(facts)
        return 0
    read_trace(args.file)
    steps, lanes = facts["arrays"]["element"]["shape"]
    named = {**facts["settings"]["problem"], **facts["settings"]["parameters"]}
    print(f"{facts['kernel']}: " + ", ".join(f"{name} = {value}" for name, value in named.items()))
    print(f"format version {facts['version']}, {facts['bytes']:,} bytes, recorded by the {facts['executor']}")
    grid, block = (" x ".join(map(str, facts["launch"][what])) for what in ("grid", "block"))
    traced = ", ".join("{}:{}".format(*facts["window"][axis]) for axis in "xyz")
    print(f"grid {grid}, block {block}, blocks traced {traced}")
    if facts.get("phases"):
        print(f"phases traced: {phases_text(tuple(facts['phases']))}, counted from 1, and what is before and after them")
    print(f"{steps} steps of {lanes} threads, arrays: {', '.join(facts['arrays'])}")
    print("C was right" if facts["check"]["wrong"] == facts["check"]["unwritten"] == 0 else "C was wrong")
    return 0


def _print_json(facts: Any) -> None:
    print(json.dumps(facts, indent=1, allow_nan=False))

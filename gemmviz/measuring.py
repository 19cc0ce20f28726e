"""The commands that ask a GPU: worker, bench, verify, schedule."""

import argparse
import contextlib
import json
import sys
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

from gemmviz.analysis.counts import LaunchCounter, totals
from gemmviz.commands import complain, settings_from
from gemmviz.files.benchmark_file import benchmark_text, recorded_benchmarks
from gemmviz.files.devices import load_device
from gemmviz.model.benchmark import CUBLAS, Benchmark
from gemmviz.model.errors import GemmvizError, SettingError
from gemmviz.model.gpu import Gpu
from gemmviz.model.kernel import KernelSpec, Settings, text_hash
from gemmviz.model.problem import Problem
from gemmviz.model.words import number
from gemmviz.run import profiler
from gemmviz.run.benchmark import jobs_for, legal_settings, run_benchmark
from gemmviz.run.executor import stream_launch
from gemmviz.run.host_speed import METHODS
from gemmviz.run.remote import RemoteGpu
from gemmviz.run.worker import serve
from gemmviz.spec.catalog import kernel_names, load_kernel
from gemmviz.spec.sizes import problems, sizes_of

_WIDE = "  as written, as compiled: wide loads of several"
_OFF = "  as written, as compiled: with stores whose threads are all switched off"
_VERIFIED = ((8, 8, 8), (24, 16, 32), (128, 128, 128), (100, 70, 50), (192, 64, 128), (512, 512, 512))


def worker(args: argparse.Namespace) -> int:
    return serve()


def launches(args: argparse.Namespace) -> int:
    return profiler.launch_all(args.file)


def bench(args: argparse.Namespace) -> int:
    specs = [load_kernel(name) for name in args.kernels or kernel_names()]
    if args.recorded:
        for benchmark in recorded_benchmarks():
            shown = replace(benchmark, rows=tuple(row for row in benchmark.rows if row.kernel in _names(specs)))
            print(benchmark_text(shown) if args.json else benchmark_table(shown))
        return 0
    jobs = jobs_for(specs, problems(sizes_of(args.sizes)), args.device)
    if not any(job.spec for job in jobs):
        raise SettingError("none of these kernels can run at these sizes", remedy="choose other sizes")
    gpu = RemoteGpu(patience_s=args.patience)
    latest: list[Benchmark] = []

    def measured(benchmark: Benchmark, done: int) -> None:
        latest[:] = [benchmark]
        row = benchmark.rows[-1]
        rate = f"{row.gflops:10,.1f} GFLOP/s" if row.gflops else f"  {row.failure}"
        print(f"{done:4} of {len(jobs)}  {row.label:38} {row.problem!s:20} {rate}", file=sys.stderr)

    try:
        benchmark = run_benchmark(gpu, jobs, args.device, longest_s=args.longest, measured=measured)
    except KeyboardInterrupt:
        if not latest:
            raise
        benchmark = latest[0]
    finally:
        gpu.close()
    text = benchmark_text(benchmark)
    if args.output is not None:
        _write(args.output, text)
    if args.json:
        print(text, end="")
    else:
        print(benchmark_table(benchmark))
    return 0 if any(row.timing for row in benchmark.rows) else 1


def _names(specs: list[KernelSpec]) -> set[str]:
    return {CUBLAS, *METHODS, *(spec.name for spec in specs)}


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise GemmvizError(f"this can't be written: {error.strerror or error}", file=str(path)) from None


def benchmark_table(benchmark: Benchmark) -> str:
    """GFLOP/s by kernel and size, as a table of Markdown, and where it is from."""
    sizes = sorted({row.problem.M for row in benchmark.rows})
    labels = list(dict.fromkeys(row.label for row in benchmark.rows))
    lines = [f"| GFLOP/s, N = | {' | '.join(map(str, sizes))} |", f"|---|{'---:|' * len(sizes)}"]
    for label in labels:
        cells = []
        for size in sizes:
            row = next((each for each in benchmark.rows if each.label == label and size == each.problem.M), None)
            cells.append(number(row.gflops) if row is not None and row.gflops else "")
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"{benchmark.source}; host {benchmark.host}"])


def verify(args: argparse.Namespace) -> int:
    specs = [load_kernel(name) for name in args.kernels or kernel_names()]
    asked = _VERIFIED if args.sizes is None else tuple((size, size, size) for size in sizes_of(args.sizes))
    profiler.find_profiler()
    with contextlib.closing(RemoteGpu(patience_s=args.patience)) as gpu:
        facts = gpu.gpu()
        jobs = [(spec, each) for spec in specs for size in asked for each in legal_settings(spec, Problem(*size), args.device)]
        counted = profiler.counters_of(jobs, args.device)
        rows = [_verified(gpu, spec, settings, args.device, said) for (spec, settings), said in zip(jobs, counted, strict=True)]
    record = _record(facts, rows)
    if args.output is not None:
        _write(args.output, json.dumps(record, indent=0) + "\n")
    if args.json:
        print(json.dumps(record, indent=1))
    else:
        for row in rows:
            print(_verdict(row))
    different = [row for row in rows if any(_differences(row).values())]
    print(
        f"{len(rows)} launches on {facts.label}: {len(rows) - len(different)} count as the source is written", file=sys.stderr
    )
    unexpected = [row for row in different if not _is_expected(row)]
    if unexpected:
        return complain(GemmvizError(f"{len(unexpected)} launches count otherwise, and no merged loads explain it"), 1)
    return 0


def _verified(gpu: RemoteGpu, spec: KernelSpec, settings: Settings, device: str, said: dict[str, Any]) -> dict[str, Any]:
    counter = LaunchCounter()
    stream_launch(spec, settings, counter.sink, device=load_device(device))
    ours = totals(counter.sites, counter.arrays)
    measured = gpu.time(spec, settings, device=device)
    assert measured.timing is not None
    assert measured.check is not None
    return {
        "kernel": spec.name, "sha256": text_hash(spec.text), "problem": settings.problem.sizes,
        "parameters": dict(settings.parameters), "largest_error": measured.check.worst_error,
        "ours": {name: ours[name] for name in profiler.METRICS if name in ours}, **said,
        "measured_ns": round(measured.timing.median_ms * 1e6),
    }  # fmt: skip


def _record(gpu: Gpu, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "device": gpu.name, "driver": gpu.driver, "compiler": f"{gpu.compiler}, --std=c++17",
        "tool": f"{profiler.profiler_version(profiler.find_profiler())}, clock control none, caches warm",
        "date": str(date.today()), "gpu": asdict(gpu), "metrics": profiler.METRICS, "launches": rows,
    }  # fmt: skip


def _differences(row: dict[str, Any]) -> dict[str, int]:
    return {name: row["counters"][name] - ours for name, ours in row["ours"].items()}


def _is_expected(row: dict[str, Any]) -> bool:
    """Only shared memory differs: there are fewer loads, since the compiler made wide ones of several; and more stores: those
    beyond ours are executed with all threads switched off and take no wavefront.
    """
    different = {name for name, difference in _differences(row).items() if difference}
    merged = {"shared_load_instructions", "shared_wavefronts", "shared_wavefronts_ideal", "shared_store_instructions"}
    fewer_loads = row["counters"]["shared_load_instructions"] <= row["ours"]["shared_load_instructions"]
    more_stores = row["counters"]["shared_store_instructions"] >= row["ours"]["shared_store_instructions"]
    return different <= merged and fewer_loads and more_stores


def _verdict(row: dict[str, Any]) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in row["parameters"].items())
    problem = Problem(**row["problem"])
    lines = [f"{row['kernel']}{f' ({values})' if values else ''}, {problem}"]
    merged = _is_expected(row) and any(_differences(row).values())
    for name, ours in row["ours"].items():
        counter, difference = row["counters"][name], _differences(row)[name]
        why = "" if not difference or not merged else _OFF if name == "shared_store_instructions" else _WIDE
        lines.append(f"  {name.replace('_', ' '):28} {ours:>14,} {counter:>14,} {difference:>+12,}{why}")
    ours_us, profiled_us = row["measured_ns"] / 1e3, row["duration_ns"] / 1e3
    share = f"{ours_us / profiled_us - 1:+.1%}"
    lines.append(f"  {'time of a launch, µs':28} {ours_us:>14,.2f} {profiled_us:>14,.2f} {share:>12}")
    return "\n".join(lines)


def schedule(args: argparse.Namespace) -> int:
    spec = load_kernel(args.kernel)
    settings = settings_from(args, spec)
    with contextlib.closing(RemoteGpu(patience_s=args.patience)) as gpu:
        facts, found = gpu.gpu(), gpu.schedule(spec, settings, device=args.device)
    if args.json:
        print(json.dumps({
            "kernel": spec.name, "problem": settings.problem.sizes, "parameters": dict(settings.parameters),
            "gpu": asdict(facts), "tick_ns": found.tick_ns, "sm": found.sm.tolist(), "start_ns": found.start_ns.tolist(),
            "stop_ns": found.stop_ns.tolist(),
        }))  # fmt: skip
        return 0
    resident = found.resident()
    used = int((resident > 0).sum())
    print(f"{spec.name}, {settings.problem}: {found.blocks} blocks on {used} of {facts.sms} SMs of {facts.name}")
    print(f"  at most {resident.max()} blocks on one SM at once; {found.duration_ns / 1e3:,.1f} µs from the first to the last")
    times = found.stop_ns - found.start_ns
    print(f"  a block takes {times.min() / 1e3:,.1f} to {times.max() / 1e3:,.1f} µs (the clock ticks every {found.tick_ns} ns)")
    return 0

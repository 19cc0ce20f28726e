"""The command ``trace``: runs a kernel and saves its trace."""

import argparse

from gemmviz.analysis.hazards.ordering import ordering_of
from gemmviz.cli.command import Command, add_output
from gemmviz.cli.running import add_on, add_timeout, engine_of, print_fallback, report_hazards, report_outcome
from gemmviz.files.trace_file import write_trace
from gemmviz.model.translation import many
from gemmviz.run.choosing import run
from gemmviz.run.engine import record_limit
from gemmviz.shots.arguments import add_setup, setup_from

_LARGEST_HAZARD_SEARCH = 1 << 26


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu")
    add_on(parser, "auto")
    add_timeout(parser)
    parser.add_argument("--values", action="store_true", help="also record the values read and written")
    add_output(parser, (".gvt",), "output file", required=True)


def _run(args: argparse.Namespace) -> int:
    setup = setup_from(args)
    with engine_of(args, setup.kernel) as engine:
        outcome = run(setup, (0, 0, 0), engine, values=args.values, most_bytes=record_limit())
    print_fallback(outcome.instead_of)
    trace = outcome.whole
    write_trace(trace, args.output)
    share = f"{trace.blocks.count} of {many(trace.launch.block_count, 'block')}" + (
        f", phases {setup.phases}" if trace.phases is not None else ""
    )
    ordering = ordering_of(trace, None if trace.element.size <= _LARGEST_HAZARD_SEARCH else 0)
    verdict = f"{trace.check}{', in the order of this run' if trace.check.passed and ordering.hazards else ''}"
    print(f"{args.output}: {many(trace.steps, 'step')} of {many(trace.space.thread_count, 'thread')} ({share}); {verdict}")
    if not trace.is_whole and not setup.blocks:
        print("Use --blocks all to record all blocks")
    for sentence in (*ordering.remarks, *trace.notes):
        print(sentence)
    return report_hazards(list(ordering.hazards), setup) or report_outcome(outcome)


COMMAND = Command("run a kernel and save a trace of every access", _add, _run, order=2)

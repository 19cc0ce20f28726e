"""Figures of speed, as medians. Each is compared with what is promised, or with the same figure of another commit."""

import argparse
import os
import resource
import sys

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from tests.bench import against, commands, engine, lecture, motion, window


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--against", metavar="COMMIT", help="run the figures of this commit and of the working tree by turns")
    parser.add_argument(
        "--pairs", type=int, default=5, help="how often each figure is run by each of both (default: %(default)s)"
    )
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="figures whose names contain one of these")
    args = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}; medians")
    if args.against:
        against.compare(args.against, args.pairs, args.only)
        return
    print(f"this process has peaked at {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")
    engine.run()
    commands.run()
    lecture.run()
    window.run()
    motion.run()


if __name__ == "__main__":
    main()

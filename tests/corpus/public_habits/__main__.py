"""Opens every file of the corpus and prints how many are opened, refused and accused: ``python -m tests.corpus.public_habits``.

``--faults`` opens the planted faults instead, ``--known`` at the launches of the files without them. A run that was interrupted is resumed from ``--results``.
"""

import argparse
import fnmatch
import json
import os
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth file")
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--results", type=Path, help="a file of results: names in it are not opened again")
    args = parser.parse_args()
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()  # roles that were found before don't help
    from tests.corpus.public_habits.corpus import Entry, entries
    from tests.corpus.public_habits.judged import ACCUSED, CLASSES, INTERNAL, OPENED, Judged, judged, judged_as, percentiles
    from tests.corpus.public_habits.planted import faults

    all_ = faults() if args.faults else [(each, each) for each in entries()]
    chosen = [each for each in all_ if fnmatch.fnmatch(each[1].name, args.only)][:: args.every]
    done: dict[str, Judged] = {}
    if args.results and args.results.exists():
        lines = args.results.read_text(encoding="utf-8").splitlines()
        done = {each["name"]: Judged(**each) for each in map(json.loads, lines)}
    if not done:
        judged("first", chosen[0][0].files, chosen[0][0].main)  # loads the reader
    results: list[tuple[Entry, Judged]] = []
    for right, entry in chosen:
        result = done.get(entry.name)
        if result is None:
            result = judged_as(right, entry) if args.known else judged(entry.name, entry.files, entry.main)
        results.append((entry, result))
        if entry.name not in done and args.results:
            with args.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
        good = result.verdict == (ACCUSED if args.faults else OPENED)
        if not good:
            print(f"{result.verdict:24} {result.seconds:5.1f} s  {entry.name}: {result.said[:300]}", flush=True)
    for title, group in (
        ("multiplications", [each for entry, each in results if entry.multiplies]),
        ("others", [each for entry, each in results if not entry.multiplies]),
        ("all", [each for _, each in results]),
    ):
        counts = Counter(each.verdict for each in group)
        print(f"\n{title}: {len(group)}")
        for name in CLASSES:
            if counts[name]:
                print(f"  {name:26} {counts[name]:4}  {100 * counts[name] / len(group):5.1f} %")
        print(f"  processor time: {percentiles([each.seconds for each in group])}")
        print(f"  of it to open:  {percentiles([each.opening or each.seconds for each in group])}")
    bad = Counter(each.verdict for _, each in results)
    return int(bad[INTERNAL] > 0 or (not args.faults and bad[ACCUSED] > 0))


if __name__ == "__main__":
    sys.exit(main())

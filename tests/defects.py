"""Defects to plant in the package, one at a time, so that it can be seen whether the tests find them.

``python -m tests.defects`` plants each defect of ``tests/defects.toml`` in a copy of the tree and runs tests until one fails: first those
that the defect names, then (``--wide``) all. Each result is one line of the file given with ``--from``; a later call skips what
stands there. ``--only NAME ...`` plants these alone, ``--check`` plants nothing and says which texts no longer occur once.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import CodeType

from msgspec import Struct, convert
from msgspec.json import decode, encode

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_name("defects.toml")
_RUN_BY_MAKE_TEST = "not nightly and not gpu"
_NAMED_S, _WIDE_S = 120.0, 3600.0  # time limits; what the named tests don't find by then is left to all tests
_LIMIT = "the time limit"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::[^\s\[]+(?:\[.*?\])?|\S+)", re.MULTILINE)


class Defect(Struct, frozen=True, forbid_unknown_fields=True):
    """``path``: below the package; ``text`` occurs once there, and ``by`` replaces it; ``tests``: folders, files or ``FILE::NAME``
    below the tests that are run first.
    """

    name: str
    kind: str
    path: str
    text: str
    by: str
    tests: tuple[str, ...]

    @property
    def room(self) -> str:
        return self.path.partition("/")[0] if "/" in self.path else "top"

    def planted(self, package: Path) -> str:
        """The text of the file with the defect; a ValueError if it can't be planted."""
        path = package / self.path
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if (times := text.count(self.text)) != 1:
            raise ValueError(f"{self.name}: the text occurs {times} times in gemmviz/{self.path}")
        return text.replace(self.text, self.by)


class Result(Struct, frozen=True):
    """``found_by``: the first test that failed, "" if none did; ``ran``: the tests that were run, as given to pytest."""

    name: str
    found_by: str
    ran: tuple[str, ...]
    seconds: float


def defects() -> list[Defect]:
    """All defects, in the order of the file."""
    return convert(tomllib.loads(FILE.read_text(encoding="utf-8"))["defect"], list[Defect])


def stale(some: Iterable[Defect], package: Path = ROOT / "gemmviz") -> Iterator[str]:
    """What keeps defects from being planted, one sentence each."""
    for defect in some:
        try:
            after, before = defect.planted(package), (package / defect.path).read_text(encoding="utf-8")
            at = before.index(defect.text)
            if not _differ(before, after, at, at + len(defect.text)):
                yield f"{defect.name}: the code stays the same"
        except ValueError as error:
            yield str(error)
        except SyntaxError as error:
            yield f"{defect.name}: {error}"
        yield from (f"{defect.name}: no tests/{each}" for each in defect.tests if not _is_there(each))


def _differ(before: str, after: str, at: int, end: int) -> bool:
    """Whether two texts of a module that differ from ``at`` to ``end`` of the first are compiled to different code. Only the
    statement around it is compiled if it stands alone, which most do. Raises SyntaxError if the second is no Python.
    """
    starts = [match.start() for match in re.finditer(r"^(?:@.*\n(?:[ )].*\n)*)*\w", before, re.MULTILINE)]
    first = max((start for start in starts if start <= at), default=0)
    last = min((start for start in starts if start >= end and start > first), default=len(before))
    try:
        original = _code(before[first:last])
    except SyntaxError:  # a part of a statement
        return _code(before) != _code(after)
    return original != _code(after[first : last + len(after) - len(before)])


@lru_cache(maxsize=8)
def _code(text: str) -> CodeType:
    """What a module is compiled to, wherever its lines stand."""
    return _without_places(compile(text, "", "exec", dont_inherit=True))


def _without_places(code: CodeType) -> CodeType:
    inner = (_without_places(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_consts=tuple(inner), co_linetable=b"", co_firstlineno=1)


def _is_there(test: str) -> bool:
    """Whether a folder, a file or a function ``FILE::NAME`` of tests is there."""
    file, _, name = test.partition("::")
    path = ROOT / "tests" / file
    return path.exists() and (not name or f"def {name}(" in path.read_text(encoding="utf-8"))


@contextmanager
def copied_tree() -> Iterator[Path]:
    """A copy of the files that git tracks or would add, as they are now; gone in the end."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    )
    with tempfile.TemporaryDirectory(prefix="gemmviz-defects-") as name:
        for each in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / each).is_file():
                (Path(name) / each).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / each, Path(name) / each)
        yield Path(name)


@contextmanager
def planted_in(tree: Path, some: Sequence[Defect]) -> Iterator[None]:
    """Plants defects in a copy of the tree, and restores it."""
    before = dict[Path, str]()
    try:
        for defect in some:
            path = tree / "gemmviz" / defect.path
            before.setdefault(path, path.read_text(encoding="utf-8"))
            _write(path, defect.planted(tree / "gemmviz"))
        yield
    finally:
        for path, text in before.items():
            _write(path, text)


def _write(path: Path, text: str) -> None:
    """Write a module, and forget what it was compiled to: two texts of one length may have been written in one second."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def failed(tree: Path, tests: Sequence[str], limit_s: float, *, first: bool = True) -> list[str]:
    """The tests that fail in a copy of the tree, only the ``first`` unless told otherwise. What doesn't end is ended and fails."""
    python = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", _RUN_BY_MAKE_TEST, "--tb=no"]
    command = ["nice", "-n", "15", *python, *(["-x"] if first else []), *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "QT_QPA_PLATFORM": "offscreen"}
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, cwd=tree, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()
        output.seek(0)
        said = output.read()
    if code is None:
        return [_LIMIT]
    if code in (0, 5):  # all passed, or all were deselected
        return []
    return _FAILED.findall(said) or [f"pytest's exit code {code}: {said[-300:].strip()}"]


def plant(some: Sequence[Defect], results: Path, *, is_wide: bool) -> None:
    """Plants what has no result yet, and writes each result as it comes."""
    done = {each.name: each for each in read_results(results)}
    with copied_tree() as tree:
        for defect in _in_turn(some):
            before = done.get(defect.name)
            if before is not None and (before.found_by or not is_wide or "tests" in before.ran):
                continue
            ran = ("tests",) if before is not None else tuple(f"tests/{each}" for each in defect.tests)
            since = time.monotonic()
            with planted_in(tree, [defect]):
                found = failed(tree, ran, _NAMED_S if before is None else _WIDE_S)
            is_open = before is None and found == [_LIMIT]
            result = Result(defect.name, found[0] if found and not is_open else "", ran, round(time.monotonic() - since, 1))
            with results.open("ab") as file:
                file.write(encode(result) + b"\n")
            print(f"{defect.name}: {result.found_by or 'NOT FOUND'} ({result.seconds:.0f} s)", flush=True)


def _in_turn(some: Sequence[Defect]) -> list[Defect]:
    """Defects of each room in turn, so that a run that is interrupted says something of every room."""
    seen = Counter[str]()
    places = []
    for defect in some:
        places.append((seen[defect.room], defect.room, defect))
        seen[defect.room] += 1
    return [defect for _, _, defect in sorted(places, key=lambda each: each[:2])]


def accused_alone(results: Sequence[Result]) -> list[str]:
    """The tests that found a defect but fail without any, too."""
    tests = sorted({each.found_by for each in results if "::" in each.found_by})
    with copied_tree() as tree:
        return failed(tree, tests, _WIDE_S, first=False) if tests else []


def read_results(file: Path) -> list[Result]:
    """The last result of each defect."""
    lines = file.read_bytes().splitlines() if file.exists() else []
    return list({each.name: each for each in (decode(line, type=Result) for line in lines)}.values())


def report(some: Sequence[Defect], results: Sequence[Result]) -> str:
    """How many defects were found, by kind and by room, and the names of the others."""
    by_name = {each.name: each for each in results}
    planted = [each for each in some if each.name in by_name]
    lines = list[str]()
    for title in ("kind", "room"):
        all_of = Counter(str(getattr(each, title)) for each in planted)
        found = Counter(str(getattr(each, title)) for each in planted if by_name[each.name].found_by)
        lines += ["", f"{title:20} planted  found"]
        lines += [f"{name:20} {count:7} {found[name]:6}" for name, count in sorted(all_of.items())]
    missed = [each for each in planted if not by_name[each.name].found_by]
    lines += ["", f"{len(planted) - len(missed)} of {len(planted)} found"]
    lines += [f"not found: {each.name} (gemmviz/{each.path}: {each.kind})" for each in missed]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="plant these alone")
    parser.add_argument(
        "--from",
        dest="results",
        metavar="RESULTS",
        type=Path,
        default=ROOT / "out" / "defects.jsonl",
        help="where results are kept",
    )
    parser.add_argument("--wide", action="store_true", help="run all tests for what the named ones don't find")
    parser.add_argument("--check", action="store_true", help="only say which defects can't be planted")
    parser.add_argument("--control", action="store_true", help="run the tests that found a defect without any")
    args = parser.parse_args()
    some = [each for each in defects() if not args.only or each.name in args.only]
    problems = list(stale(some))
    print("\n".join(problems), end="\n" if problems else "")
    if args.check:
        return bool(problems)
    args.results.parent.mkdir(parents=True, exist_ok=True)
    names = {each.partition(":")[0] for each in problems}
    able = [each for each in some if each.name not in names]
    plant(able, args.results, is_wide=False)
    if args.wide:
        plant(able, args.results, is_wide=True)
    results = [each for each in read_results(args.results) if each.name in {defect.name for defect in some}]
    if args.control:
        print("\n".join(f"fails without a defect, too: {each}" for each in accused_alone(results)))
    print(report(able, results))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The files of the corpus: kernels in their authors' words, and whole files and folders."""

import random
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.corpus.public_habits import folder_authors, more_authors  # noqa: F401  (they add their authors)
from tests.corpus.public_habits.authors import AUTHORS
from tests.corpus.public_habits.case import Case, Piece, read_pieces

FOLDER = Path(__file__).parent
_FREE = (
    (512, 512, 512),
    (1000, 1000, 1000),
    (333, 257, 129),
    (320, 640, 320),
    (100, 200, 150),
    (1024, 1024, 1024),
    (127, 95, 63),
    (1200, 800, 400),
)
_SQUARE = (512, 1000, 1024, 500, 64, 129, 2048, 300)
_LENGTHS = (1 << 20, 1000000, 50000, 4096, 1000, 12345)
_SMALL = 160
_SEED = 33


@dataclass(frozen=True)
class Entry:
    """One kernel of the corpus: ``files`` by their paths in the entry's folder; ``main`` is opened."""

    name: str
    main: str
    files: dict[str, str]
    multiplies: bool
    small: dict[str, str] = field(default_factory=dict)  # the files at sizes that a slow computer can run
    case: Case | None = None


def entries() -> list[Entry]:
    """All of the corpus, in a fixed order."""
    return [*_composed(), *_whole()]


@cache
def _pieces() -> dict[str, Piece]:
    return read_pieces(FOLDER / "pieces")


def _composed() -> list[Entry]:
    draw = random.Random(_SEED)
    authors = list(AUTHORS)
    found = []
    for place, piece in enumerate(_pieces().values()):
        rounds = 5 if "gemm" in piece.problem or piece.problem in ("batched", "square", "square_const") else 3
        for turn in range(rounds):
            author = authors[(place * 3 + turn * 7) % len(authors)]
            write, names = AUTHORS[author]
            case = Case(piece, _sizes(piece, turn + place, draw), names, turn)
            small = Case(piece, {name: _smaller(piece, name, value) for name, value in case.values.items()}, names, turn)
            name = f"{piece.name}-{author}"
            files, smaller = _files(name, write(case)), _files(name, write(small))
            found.append(Entry(name, _main(files), files, case.problem.multiplies, smaller, case))
    return found


def _files(name: str, text: str) -> dict[str, str]:
    """The files of a text whose parts begin with ``//// file NAME``, or one file."""
    parts = re.split(r"^//// file (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True)) if len(parts) > 1 else {f"{name}.cu": text}


def _main(files: dict[str, str]) -> str:
    """The file that a person opens: the one with the launch, of a header the file that includes it."""
    return next((each for each, text in files.items() if "__global__" in text and each.endswith(".cu")), None) or next(
        each for each in files if each.endswith(".cu")
    )


def _fit(piece: Piece) -> int:
    return (
        int(piece.fits.split("=")[0].rstrip())
        if piece.fits[:1].isdigit()
        else int(piece.fits.split("=")[1])
        if piece.fits
        else 1
    )


def _sizes(piece: Piece, turn: int, draw: random.Random) -> dict[str, int]:
    """The sizes that main gives: ones that the kernel is right at, often ones that no tile divides."""
    case = Case(piece, {}, AUTHORS["course_student"][1])
    names, fit = case.problem.sizes, _fit(piece)
    if piece.sizes:
        choices = [int(each) for each in piece.sizes.split(", ")]
        return dict.fromkeys(names, choices[turn % len(choices)])
    if names == ("N",):
        return {"N": _up(_SQUARE[turn % len(_SQUARE)], fit)}
    triple = _FREE[turn % len(_FREE)]
    if names == ("n",):
        return {"n": _up(_LENGTHS[turn % len(_LENGTHS)], fit)}
    values = {
        name: _up(triple["MNK".index(name)], fit) if name in "MNK" else {"batch": 4, "n": 10000, "m": 5, "R": 2}[name]
        for name in names
    }
    if piece.fits.endswith("K16"):
        values["K"] = 16
    return values


def _up(value: int, fit: int) -> int:
    return (value + fit - 1) // fit * fit


def _smaller(piece: Piece, name: str, value: int) -> int:
    if name not in "MNKn" or value <= _SMALL or piece.sizes:
        return value
    if name == "n":
        return _up(min(value, 4000), _fit(piece)) + (3 if _fit(piece) == 1 and value % 256 else 0)
    return _up({"M": 96, "N": 128, "K": 64}[name], _fit(piece)) + (value % 32 if _fit(piece) == 1 else 0)


def _whole() -> list[Entry]:
    """Files and folders that are written by hand."""
    found = []
    for path in sorted(each for each in (FOLDER / "whole").iterdir() if not each.name.startswith(".")):
        paths = [each for each in sorted(path.rglob("*")) if each.is_file()] if path.is_dir() else [path]
        files = {each.relative_to(path if path.is_dir() else path.parent).as_posix(): each.read_text() for each in paths}
        found.append(Entry(path.stem, _main(files), files, not path.name.startswith("other_")))
    return found

"""A translation unit: SourceText to the cursors of libclang, with the places of the shown file."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clang.cindex import Cursor, Diagnostic, Index, SourceRange, TranslationUnit

from gemmviz.model.errors import Place
from gemmviz.parser.source_text import SourceText

_ROOT = "/project"
_STUBS = Path(__file__).parent / "stubs"
_ARGUMENTS = (
    "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++", "--cuda-gpu-arch=sm_90",
    "--target=x86_64-unknown-linux-gnu",  # the same sizes of types on every system
    "-std=c++20", "-ferror-limit=0", "-w", "-isystem", str(_STUBS), "-include", str(_STUBS / "gemmviz_stubs.h"),
)  # fmt: skip
_KEEP_GOING = 0x200


@dataclass(frozen=True, eq=False)
class Unit:
    """A parsed translation unit."""

    source: SourceText
    tree: TranslationUnit

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return list(self.tree.diagnostics)

    def declarations(self) -> Iterator[Cursor]:
        """Top-level declarations of the project's own files, in order."""
        for cursor in self.tree.cursor.get_children():
            file = cursor.location.file
            if file is not None and file.name.startswith(_ROOT):
                yield cursor

    def is_shown(self, cursor: Cursor) -> bool:
        """Whether a cursor is in the shown file."""
        file = cursor.location.file
        return file is not None and file.name == f"{_ROOT}/{self.source.shown or self.source.main}"

    def place(self, extent: SourceRange) -> Place:
        """Lines and columns of a range. A macro's expansion is placed where the macro is used."""
        start, end = extent.start, extent.end
        return Place(start.line, start.column, end.line, end.column)


def parse(source: SourceText, appended: str = "") -> Unit:
    """The translation unit of a text. ``appended`` is added behind the main file's last line."""
    files = {**source.files, source.main: f"{source.files[source.main]}\n{appended}"}
    defines = [f"-D{name}={value}" for name, value in source.macros.items()]
    unsaved = [(f"{_ROOT}/{name}", text) for name, text in files.items()]
    tree = _index().parse(
        f"{_ROOT}/{source.main}", args=[*_ARGUMENTS, *defines, f"-I{_ROOT}"], unsaved_files=unsaved, options=_KEEP_GOING
    )
    return Unit(source, tree)


@cache
def _index() -> Index:
    return Index.create()

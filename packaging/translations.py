"""Brings the catalogues of translations up to date with the sources: make translations.

Messages are the literals in calls of ``tr``, ``trn``, ``marked``, ``many``, ``sized``, ``noun`` and ``Control``, and the texts
of files that the program shows; those of a lesson are its texts. Each language has a folder in ``translations``, with a
catalogue (``.po``) of the program and of each lesson that is translated. New messages are merged into them; the program loads
their compiled forms (``.mo``) from ``assets/translations``.
docs/translating.md says how to add a language.
"""

import argparse
import ast
import io
import json
import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as BabelMessage
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from gemmviz.cuda.launch.catalog import kernel_names, lesson_kernel_names, lesson_path, load_kernel, pattern_kernel_names
from gemmviz.files.languages import LESSONS, PROGRAM, original_glossary
from gemmviz.model.messages import plural
from gemmviz.teaching.lesson_file import original_lesson, translated

ROOT = Path(__file__).resolve().parent.parent
SOURCES, FOLDER = ROOT / "translations", ROOT / "assets" / "translations"  # what people edit, and what the program loads
_SINGLE, _PLURAL, _COUNTED = {"tr", "marked", "noun"}, {"trn"}, {"many", "_many", "sized", "noun"}
_CONTROL, _OF_CONTROL = "Control", {"empty", "menu", "undo", "unless"}  # label and help come first
_CALL = re.compile(rf"\b(?:{'|'.join({*_SINGLE, *_PLURAL, *_COUNTED, _CONTROL})})\s*\(")
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)  # files must not change with the date


@dataclass(frozen=True, slots=True)
class Message:
    """A text of the sources. ``id``: the text, or its singular and plural; ``file``: where it is used, relative to the root;
    ``where``: the place in a lesson.
    """

    id: str | tuple[str, str]
    file: str
    where: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--language", help="a language to begin, such as fr or pt_BR")
    parser.add_argument("--lesson", help="a lesson to begin in this language, such as lecture")
    begun = parser.parse_args()
    if begun.language:
        begin(begun.language, begun.lesson)
    for path, content in made_files().items():
        write_if_changed(path, content)
    for path in catalogues():
        print(f"{path.relative_to(ROOT)}: {state_of(read(path))}")


def begin(language: str, lesson: str | None) -> None:
    """Make an empty catalogue of the program, or of a lesson, in a language."""
    path = SOURCES / language / (f"{LESSONS}/{lesson}.po" if lesson else f"{PROGRAM}.po")
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_bytes(po_bytes(Catalog(locale=language, charset="utf-8", fuzzy=False)))


def made_files() -> dict[Path, bytes]:
    """All files that are made: the template, the catalogues with all messages, their compiled forms, and the languages."""
    program, files, complete = template_of(PROGRAM, messages_of_program()), dict[Path, bytes](), dict[str, bool]()
    files[SOURCES / f"{PROGRAM}.pot"] = po_bytes(program)
    for path in catalogues():
        place = path.relative_to(SOURCES)
        template = program if path.stem == PROGRAM else template_of(path.stem, messages_of_lesson(path.stem))
        catalogue = merged(path, template)
        files[path], files[FOLDER / place.with_suffix(".mo")] = po_bytes(catalogue), mo_bytes(catalogue)
        if path.stem == PROGRAM:
            complete[place.parts[0]] = is_complete(catalogue)
    return {**files, FOLDER / "languages.json": facts_of(complete)}


def catalogues() -> list[Path]:
    """The catalogues of all languages."""
    return sorted(SOURCES.rglob("*.po"))


def template_of(name: str, messages: Iterator[Message]) -> Catalog:
    """A catalogue of messages without translations, in the order of their files."""
    catalogue = Catalog(
        project=name, version="", creation_date=_LONG_AGO, revision_date=_LONG_AGO, charset="utf-8", fuzzy=False
    )
    for message in messages:
        catalogue.add(message.id, locations=[(message.file, 0)], auto_comments=[message.where] if message.where else ())
    return catalogue


def messages_of_program() -> Iterator[Message]:
    """The messages of all modules."""
    for path in sorted((ROOT / "gemmviz").rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        for call in calls_in(path.read_text(encoding="utf-8")):
            yield from (Message(message, file) for message in messages_of(call))
    yield from messages_of_assets()
    yield from messages_of_kernels()


def calls_in(text: str) -> Iterator[ast.Call]:
    """The calls in a module that may have messages, from the outer ones to the inner ones."""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if _CALL.search(line)]
    nodes: list[ast.AST] = [ast.parse(text)] if lines else []
    while nodes:
        yield from (node for node in nodes if isinstance(node, ast.Call))
        nodes = [inner for node in nodes for inner in ast.iter_child_nodes(node) if _has_line(inner, lines)]


def _has_line(node: ast.AST, lines: list[int]) -> bool:
    """Whether one of these lines, which are sorted, is of a node or its decorators."""
    start = (getattr(node, "decorator_list", None) or [node])[0]
    first, last = getattr(start, "lineno", 0), getattr(node, "end_lineno", lines[-1])
    place = bisect_left(lines, first)
    return place < len(lines) and lines[place] <= last


def messages_of_assets() -> Iterator[Message]:
    """The texts of files that the program shows: glossary, titles of themes, names of devices, and what was measured."""
    for entry in original_glossary():
        yield Message(entry.message, "docs/glossary.md")
    for path in sorted((ROOT / "assets" / "themes").glob("*.toml")):
        yield Message(tomllib.loads(path.read_text(encoding="utf-8"))["title"], path.relative_to(ROOT).as_posix())
    for path in sorted((ROOT / "assets" / "devices").glob("*.toml")):
        device = tomllib.loads(path.read_text(encoding="utf-8"))
        if device["vendor"] != "NVIDIA":
            yield Message(device["name"], path.relative_to(ROOT).as_posix())
    for pattern, name in (("strides-*.json", "method"), ("host-*.json", "kernel")):
        for path in sorted((ROOT / "assets" / "measurements").glob(pattern)):
            yield Message(json.loads(path.read_text(encoding="utf-8"))[name], path.relative_to(ROOT).as_posix())


def messages_of_kernels() -> Iterator[Message]:
    """The titles and descriptions of the kernels that ship with gemmviz, and of their parameters and rules."""
    for name in (*kernel_names(), *pattern_kernel_names(), *lesson_kernel_names()):
        kernel = load_kernel(name)
        described = (each.description for each in kernel.parameters)
        rules = (each.otherwise for each in kernel.requirements)
        for text in filter(None, (kernel.title, " ".join(kernel.description.split()), *described, *rules)):
            yield Message(text, f"kernels/{name}.cu")


def messages_of_lesson(name: str) -> Iterator[Message]:
    """The texts of a lesson, in order."""
    found, file = list[Message](), lesson_path(name).relative_to(ROOT).as_posix()

    def note(text: str, where: str) -> str:
        found.append(Message(text, file, where))
        return text

    translated(original_lesson(name), note)
    yield from found


def messages_of(call: ast.Call) -> Iterator[str | tuple[str, str]]:
    """The messages of a call: none if it passes on a text from elsewhere, two for a noun that is counted or stands alone."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    texts = list(map(text_in, call.args))
    match texts:
        case [str(text), *_] if name in _SINGLE:
            yield text
        case [str(one), str(others), *_] if name in _PLURAL:
            yield one, others
    match texts:
        case [_, str(noun)] | [str(noun)] if name in _COUNTED:
            yield f"{{count}} {noun}", f"{{count}} {plural(noun)}"
        case [*shown] if name == _CONTROL:
            shown = shown[:2] + [text_in(each.value) for each in call.keywords if each.arg in _OF_CONTROL]
            yield from (text for text in shown if text and len(text) > 1)  # one letter is that of a formula


def text_in(node: ast.expr) -> str | None:
    """The text of a literal."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def merged(po: Path, template: Catalog) -> Catalog:
    """The catalogue of a language with the messages of a template. Similar old messages give fuzzy translations."""
    catalogue = read(po)
    catalogue.update(template, update_header_comment=False)
    catalogue.obsolete.clear()
    catalogue.creation_date = catalogue.revision_date = _LONG_AGO
    catalogue.project, catalogue.version = template.project, ""
    return catalogue


def read(po: Path) -> Catalog:
    """The catalogue in a file."""
    with po.open("rb") as file:
        return read_po(file, locale=po.relative_to(SOURCES).parts[0])


def po_bytes(catalogue: Catalog) -> bytes:
    """A catalogue as text, ordered by file."""
    file = io.BytesIO()
    write_po(file, catalogue, width=120, sort_by_file=catalogue.project == PROGRAM, include_lineno=False, ignore_obsolete=True)
    return file.getvalue()


def mo_bytes(catalogue: Catalog) -> bytes:
    """A catalogue in the form that the program loads, without fuzzy translations."""
    file = io.BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def state_of(catalogue: Catalog) -> str:
    """How much of a catalogue is translated."""
    messages = [each for each in catalogue if each.id]
    done = sum(is_translated(each) and not each.fuzzy for each in messages)
    return f"{done} of {len(messages)} messages translated, {sum(each.fuzzy for each in messages)} to check"


def is_complete(catalogue: Catalog) -> bool:
    """Whether every message is translated."""
    return all(is_translated(each) and not each.fuzzy for each in catalogue if each.id)


def facts_of(complete: dict[str, bool]) -> bytes:
    """The file that names the languages for the program."""
    facts = {code: {"name": Locale.parse(code).get_language_name(), "complete": done} for code, done in complete.items()}
    return (json.dumps(facts, ensure_ascii=False, indent=1) + "\n").encode()


def is_translated(message: BabelMessage) -> bool:
    """Whether a message has a text, or one for each plural form."""
    texts = [message.string] if isinstance(message.string, str) else list(message.string or ())
    return bool(texts) and all(texts)


def write_if_changed(path: Path, content: bytes) -> None:
    """Write a file unless it has this content already."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()

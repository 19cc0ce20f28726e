"""Brings the catalogues of translations up to date with the sources: make translations.

Messages are the literals in calls of ``tr``, ``trn``, ``marked`` and ``many``. Templates (``.pot``) hold them without a
translation. Each language has a folder with a catalogue (``.po``) for each template, into which new messages are merged, and
its compiled form (``.mo``), which the program loads. A new language: make translations LANGUAGE=fr.
"""

import argparse
import ast
import io
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as BabelMessage
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from gemmviz.model.words import plural

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "assets" / "translations"
PROGRAM = "gemmviz"  # the template of the program's own messages
_SINGLE, _PLURAL, _COUNTED = {"tr", "marked", "noun"}, {"trn"}, {"many", "_many", "noun"}
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)  # files must not change with the date


@dataclass(frozen=True, slots=True)
class Message:
    """A text of the sources. ``id``: the text, or its singular and plural; ``file``: where it is used, relative to the root."""

    id: str | tuple[str, str]
    file: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--language", help="a language to begin, such as fr or pt_BR")
    begun = parser.parse_args().language
    if begun:
        (FOLDER / begun).mkdir(parents=True, exist_ok=True)
    complete = dict.fromkeys(languages(), True)
    for name, template in templates().items():
        write_if_changed(FOLDER / f"{name}.pot", po_bytes(template))
        for language in languages():
            po = FOLDER / language / f"{name}.po"
            catalogue = merged(po, language, template)
            write_if_changed(po, po_bytes(catalogue))
            write_if_changed(po.with_suffix(".mo"), mo_bytes(catalogue))
            complete[language] &= name != PROGRAM or is_complete(catalogue)
            print(f"{po.relative_to(ROOT)}: {state_of(catalogue)}")
    write_if_changed(FOLDER / "languages.json", facts_of(complete))


def languages() -> list[str]:
    """The languages that have a folder."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def templates() -> dict[str, Catalog]:
    """All templates by name."""
    return {PROGRAM: template_of(PROGRAM, messages_of_program())}


def template_of(name: str, messages: Iterator[Message]) -> Catalog:
    """A catalogue of messages without translations, in the order of their files."""
    catalogue = Catalog(
        project=name, version="", creation_date=_LONG_AGO, revision_date=_LONG_AGO, charset="utf-8", fuzzy=False
    )
    for message in messages:
        catalogue.add(message.id, locations=[(message.file, 0)])
    return catalogue


def messages_of_program() -> Iterator[Message]:
    """The messages of all modules."""
    for path in sorted((ROOT / "gemmviz").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for message in messages_of(node) if isinstance(node, ast.Call) else ():
                yield Message(message, path.relative_to(ROOT).as_posix())
    yield from messages_of_assets()


def messages_of_assets() -> Iterator[Message]:
    """The texts of assets that the program shows: titles of themes, and how access times were measured."""
    for path in sorted((ROOT / "assets" / "themes").glob("*.toml")):
        yield Message(tomllib.loads(path.read_text(encoding="utf-8"))["title"], path.relative_to(ROOT).as_posix())
    for path in sorted((ROOT / "assets" / "measurements").glob("strides-*.json")):
        yield Message(json.loads(path.read_text(encoding="utf-8"))["method"], path.relative_to(ROOT).as_posix())


def messages_of(call: ast.Call) -> Iterator[str | tuple[str, str]]:
    """The messages of a call: none if it passes on a text from elsewhere, two for a noun that is counted or stands alone."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    texts = [each.value if isinstance(each, ast.Constant) and isinstance(each.value, str) else None for each in call.args]
    match texts:
        case [str(text), *_] if name in _SINGLE:
            yield text
        case [str(one), str(others), *_] if name in _PLURAL:
            yield one, others
    match texts:
        case [_, str(noun)] | [str(noun)] if name in _COUNTED:
            yield f"{{count}} {noun}", f"{{count}} {plural(noun)}"


def merged(po: Path, language: str, template: Catalog) -> Catalog:
    """The catalogue of a language with the messages of a template. Similar old messages give fuzzy translations."""
    catalogue = Catalog(locale=language, charset="utf-8", fuzzy=False)
    if po.exists():
        with po.open("rb") as file:
            catalogue = read_po(file, locale=language)
    catalogue.update(template, update_header_comment=False)
    catalogue.obsolete.clear()
    catalogue.creation_date = catalogue.revision_date = _LONG_AGO
    catalogue.project, catalogue.version = template.project, ""
    return catalogue


def po_bytes(catalogue: Catalog) -> bytes:
    """A catalogue as text, ordered by file."""
    file = io.BytesIO()
    write_po(file, catalogue, width=120, sort_by_file=True, include_lineno=False, ignore_obsolete=True)
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
        path.write_bytes(content)


if __name__ == "__main__":
    main()

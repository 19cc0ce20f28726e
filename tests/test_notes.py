"""The notes of the documentation are what their data give: pages, tables, pictures, and what they say of them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from documents import gallery, notes
from documents.notes import differing, recorded_races, requests
from PIL import Image
from recording.races import RACES

from gemmviz.cli.main import parser


def stale(made: dict[str, str]) -> list[str]:
    """The files that differ from what is made of the data: make document WHAT=notes."""
    return [name for name, text in made.items() if (notes.FOLDER / name).read_text(encoding="utf-8") != text]


def test_what_is_about_accesses_is_made_from_the_data() -> None:
    assert stale(notes.files_of_accesses()) == []


@pytest.mark.nightly
def test_every_file_is_made_from_the_data() -> None:
    assert stale(notes.files_of_races()) == []
    made = {*notes.files_of_accesses(), *notes.files_of_races()}
    assert {*notes.templates()} == {name for name in made if name.endswith(".md")}


def test_no_number_in_a_template_is_typed_that_is_measured() -> None:
    """Numbers of templates are those of the rule and of names: a count comes from the data."""
    recorded = len(json.loads(RACES.read_text(encoding="utf-8"))["programs"])
    measured = {len(requests()), len(differing()), len(requests()) - len(differing()), recorded}
    for name, text in notes.templates().items():
        numbers = {int(each) for each in re.findall(r"\b\d+\b", text)}
        assert not numbers & measured, name


def test_what_the_notes_say_of_the_accesses() -> None:
    """The rule holds in all, the column differs in loads alone, and the accesses that verify's rule misses are random ones."""
    assert all(each.rule == each.counter for each in requests())
    assert {each.op for each in differing()} == {"ld"}
    assert min(each.bits for each in differing()) >= 64
    assert all("some lanes" in each.pattern for each in requests() if each.column_rule != each.column)
    assert all(each.rule == each.unmerged for each in requests() if each.op == "st")


@pytest.mark.nightly
def test_what_the_note_says_of_races() -> None:
    """gemmviz finds every race; racecheck none of those in global memory, and some in the debug build alone."""
    assert all(race.hazards for race in recorded_races())
    assert all(race.optimised == race.debug == 0 for race in recorded_races() if not race.is_in_shared_memory)
    assert all(race.debug for race in recorded_races() if race.is_in_shared_memory)
    hidden = [race for race in recorded_races() if race.is_hidden]
    assert [race.program for race in hidden if race.shared] == ["no_second_barrier"]
    assert {race.program for race in hidden} >= {"two_stores", "scale", "unused"}


def test_every_picture_has_a_command() -> None:
    for name, command in notes.PICTURES.items():
        parser().parse_args([*command.split(), "-o", name])


@pytest.mark.nightly
@pytest.mark.parametrize("name", notes.PICTURES)
def test_a_picture_is_what_its_command_makes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(notes.FOLDER.parents[1])
    made = np.asarray(gallery.reduced(notes.picture_of(name, tmp_path), notes.SIZE), np.int16)
    with Image.open(notes.FOLDER / name) as picture:
        kept = np.asarray(picture.convert("RGB"), np.int16)
    assert (np.abs(made - kept).max(axis=-1) > 24).mean() < 0.01, "look at it, then make document WHAT=notes"

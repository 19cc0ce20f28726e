"""Pictures in words: every view has them, and their numbers are counted again here."""

import re

import numpy as np
from msgspec import structs

import gemmviz
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.messages import asking, told
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.table import tables_of
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.stage.hover import cell_sentence, table_title
from gemmviz.shots.picture import description_of, moment_description
from gemmviz.shots.shot import default_shot
from tests.conftest import trace_of
from tests.pseudo import plain_words, pseudo
from tests.shots.test_every_view import shot_of

_REGION = re.compile(r"(\d+) elements? of (global|shared) memory, rows (\d+) to (\d+), columns (\d+) to (\d+)")


def test_what_a_step_touches_and_holds_is_that_of_the_trace() -> None:
    trace = trace_of("04_tiled", 16, 16, 16)
    reader = Reader(Replay.of(trace))
    checked = 0
    for step in range(trace.steps):
        now = reader.at(step)
        facts = dict(moment_description(now).facts)
        for place, operand in enumerate(trace.site_of(step).operands):
            array = trace.arrays[operand.array]
            touched = trace.element[int(trace.row[step]) + place, now.scope.of_block]
            elements = np.unique(touched[touched >= 0])
            verb = "Reads" if operand.access == "read" else "Writes"
            match = _REGION.match(facts[f"{verb} {array.name}"])
            assert match is not None
            rows, columns = np.divmod(elements, array.shape[-1])
            counted = len(elements), rows.min(), rows.max(), columns.min(), columns.max()
            assert tuple(int(match[n]) for n in (1, 3, 4, 5, 6)) == counted
            assert match[2] == array.space
            checked += 1
    assert checked > 40
    stored = dict(moment_description(reader.at(trace.steps - 1)).facts)
    assert stored["tileA"] == "16 elements of shared memory: 16 elements of A, rows 0 to 3, columns 12 to 15"
    assert "nothing stored yet" in dict(moment_description(reader.at(0)).facts)["tileA"]


def test_the_words_name_their_origin() -> None:
    words = moment_description(Reader(Replay.of(trace_of("04_tiled"))).at(0))
    assert words.origin.startswith("Every number is counted from the trace of the run, recorded by the interpreter.")
    assert words.text.endswith(words.origin)
    assert "?" not in words.text
    with asking():
        hidden = moment_description(Reader(Replay.of(trace_of("04_tiled"))).at(0))
    assert "? requests move ? sectors of 32 bytes" in told(hidden.sentence, 0.0)
    assert told(hidden.text, 1.0).count("sector") == words.text.count("sector")


def test_many_texts_are_cut_and_counted() -> None:
    shot = structs.replace(default_shot(), view="phases")
    moment = Reader(Replay.of(trace_of("04_tiled", 64, 64, 64, TILE_WIDTH=8))).at(3)
    facts = dict(description_of(shot, moment, view_named("phases").scene(moment, ViewOptions())).facts)
    assert re.search(r"… and \d+ more lines$", facts["Texts"])


def test_the_words_are_those_of_the_language() -> None:
    trace = trace_of("04_tiled", 16, 16, 16, values=True)
    reader, names = Reader(Replay.of(trace)), tuple(array.name for array in trace.arrays)
    with pseudo():
        for step in range(0, trace.steps, 5):
            now = reader.at(step)
            drawn = view_named("stage").scene(now, ViewOptions())
            cells = [Hit(table, 0, 0) for table in tables_of(drawn, names)]
            said = [
                moment_description(now).text,
                *(cell_sentence(now, hit) for hit in cells),
                *(table_title(now, hit) for hit in cells),
            ]
            assert not [word for text in said for word in plain_words(text, ("04_tiled", "TILE_WIDTH", *names))]


def test_a_chart_tells_its_points() -> None:
    drawn = gemmviz.scene(shot_of("rate")).shown
    assert drawn.title == "GFLOP/s by size"
    assert re.search(r"^cuBLAS: 128: \d+, 256: ", drawn.description, re.MULTILINE)


def test_a_comparison_tells_both_sides() -> None:
    drawn = gemmviz.scene(shot_of("pair")).shown
    assert drawn.description.startswith("Left: 04_tiled, M = 8, N = 8, K = 8, TILE_WIDTH = 2, ")
    assert "; right: 04_tiled, M = 8, N = 8, K = 8, TILE_WIDTH = 4, 16 threads each fetch" in drawn.description

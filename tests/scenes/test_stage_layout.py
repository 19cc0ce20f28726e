"""The composition of the stage: places of tiles, rooms, lights, padding, values, and what can be read."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Rects, Scene, text_width
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.scenes.kit.timeline import height_with_names, timeline_names, track_room, track_text
from gemmviz.scenes.kit.view import LAYERS, ViewOptions
from gemmviz.scenes.stage.layout import places, plan_of, sides_of, tile_grids
from gemmviz.scenes.views.stage_view import stage_scene
from tests.conftest import kernel_from, piece, sure, trace_of
from tests.legible import too_small, wrong_with
from tests.problem_kernels import run_of

THEME = load_theme("dark")

Sized = tuple[str, int, int, int, dict[str, int]]
KERNELS: list[Sized] = [
    ("01_single_block", 8, 8, 8, {}),
    ("02_naive", 8, 8, 8, {"BLOCK": 4}),
    ("02_naive", 32, 32, 32, {}),
    ("04_tiled", 8, 8, 8, {"TILE_WIDTH": 4}),
    ("04_tiled", 64, 64, 64, {"TILE_WIDTH": 16}),
    ("04_tiled", 5, 7, 6, {"TILE_WIDTH": 4}),
    ("04_tiled", 8, 8, 8, {"TILE_WIDTH": 16}),
    ("05_tiled_unguarded", 8, 8, 8, {"TILE_WIDTH": 4}),
    ("07_tiled_transposed", 8, 8, 8, {"TILE_WIDTH": 4}),
    ("08_register_tiled", 64, 64, 64, {}),
    ("09_vectorised", 64, 64, 64, {}),
]
FRAMES = [(1600.0, 900.0), (1433.0, 704.0), (1200.0, 900.0), (990.0, 558.0)]


def reader_of(kernel: Sized, focus: Focus | None = None, **options: bool) -> Reader:
    name, m, n, k, parameters = kernel
    return Reader(_replay(name, m, n, k, **parameters, **options), focus)


@cache
def _replay(name: str, m: int, n: int, k: int, **options: int) -> Replay:
    return Replay.of(trace_of(name, m, n, k, **options))


def steps_of(reader: Reader) -> list[int]:
    """One step of each site in each of the first phases, and the last step."""
    trace = reader.replay.trace
    seen = {(int(trace.site[step]), min(2, int(trace.phase[step]))): step for step in reversed(range(trace.steps))}
    return sorted({*seen.values(), trace.steps - 1})


def frames_of(reader: Reader) -> Iterator[tuple[Moment, ViewOptions]]:
    for width, height in FRAMES:
        for step in steps_of(reader)[:: 3 if width == FRAMES[0][0] else 6]:
            yield reader.at(step), ViewOptions(width=width, height=height)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: f"{each[0]}-{each[1]}-{each[3]}")
def test_everything_can_be_read(kernel: Sized) -> None:
    reader = reader_of(kernel)
    for moment, options in frames_of(reader):
        scene = stage_scene(moment, options)
        assert [*wrong_with(scene), *too_small(scene)] == [], (moment.step, options.width)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: f"{each[0]}-{each[1]}-{each[3]}")
def test_arrays_stand_apart_and_inside_the_corner(kernel: Sized) -> None:
    reader = reader_of(kernel)
    for moment, options in frames_of(reader):
        plan = plan_of(moment, options)
        grids = [each.box for each in (*plan.matrices.values(), *tile_grids(moment, plan).values())]
        for number, (x, y, wide, high) in enumerate(grids):
            assert x > 0
            assert y > 0
            assert x + wide < options.width
            assert y + high < options.height - options.timeline_height(reader.replay)
            for other in grids[number + 1 :]:
                across = min(x + wide, other[0] + other[2]) - max(x, other[0])
                assert across <= 0.01 or min(y + high, other[1] + other[3]) - max(y, other[1]) <= 0.01
        if plan.lanes is not None:
            corner = plan.lanes.corner
            for x, y, wide, high in grids[3:]:
                assert corner.x - 6.01 <= x <= corner.x + corner.width - wide + 0.01
                assert corner.y - 0.01 <= y <= corner.y + corner.height - high + 0.01


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: f"{each[0]}-{each[1]}-{each[3]}")
def test_tiles_keep_their_places_over_the_whole_run(kernel: Sized) -> None:
    reader = reader_of(kernel)
    options = ViewOptions(width=1366.0, height=768.0)
    drawn, steps = set(), reader.replay.steps
    for step in range(0, steps, max(3, steps // 8)):
        for part in (0.2, 1.0):
            scene = stage_scene(reader.at(step), structs.replace(options, moment=part))
            drawn.add(tuple((each.key, each.box) for each in scene.all if isinstance(each, Cells) and "tile-" in each.key))
    assert len(drawn) == 1


@pytest.mark.parametrize("name", ["04_tiled", "05_tiled_unguarded", "06_tiled_unrolled"])
def test_copies_move_up_or_left_into_tiles_of_the_same_cells(name: str) -> None:
    reader = reader_of((name, 8, 8, 8, {"TILE_WIDTH": 4}), Focus((1, 1, 0)))
    compared = 0
    for step in range(reader.replay.steps):
        moment = reader.at(step)
        plan = plan_of(moment, ViewOptions())
        for number, content in moment.tiles.items():
            source = np.flatnonzero((content.array >= 0) & (content.phase == moment.phase))
            if not len(source):
                continue
            matrix = int(content.array[source[0]])
            start = places(moment, plan, matrix, content.element[source].astype(np.int64))
            along = 0 if moment.trace.arrays[matrix].name == "A" else 1
            assert (places(moment, plan, number, source)[:, 1 - along] < start[:, 1 - along]).all()
            assert sides_of(moment, plan, number) == pytest.approx(plan.matrices["A"].sides)
            compared += len(source)
    assert compared > 100


def test_a_transposed_tile_stands_in_the_lane_of_its_matrix() -> None:
    moment = reader_of(("07_tiled_transposed", 8, 8, 8, {"TILE_WIDTH": 4})).at(12)
    plan = plan_of(moment, ViewOptions())
    assert {each.side for each in sure(plan.lanes).tiles} == {"A", "B"}
    a, b = tile_grids(moment, plan).values()
    assert a.y + a.box[3] < plan.matrices["A"].y < a.y + a.box[3] + 30
    assert b.x + b.box[2] < plan.matrices["B"].x < b.x + b.box[2] + 30


def test_kernels_without_shared_arrays_have_larger_cells_and_the_words_in_the_corner() -> None:
    naive = plan_of(reader_of(("02_naive", 8, 8, 8, {"BLOCK": 4})).at(3), ViewOptions())
    tiled = plan_of(reader_of(("04_tiled", 8, 8, 8, {"TILE_WIDTH": 4})).at(3), ViewOptions())
    assert naive.matrices["A"].wide > 1.04 * tiled.matrices["A"].wide
    a, b = naive.matrices["A"], naive.matrices["B"]
    for room in naive.rooms.values():
        assert a.x <= room.x < room.x + room.width < b.x
        assert b.y <= room.y < room.y + room.height < a.y


@pytest.mark.parametrize("focus", [Focus(), Focus(warp=0), Focus(thread=5)])
def test_a_warp_is_seen_among_its_block_and_beside_its_request(focus: Focus) -> None:
    plan = plan_of(reader_of(("07_tiled_transposed", 64, 64, 64, {"TILE_WIDTH": 16}), focus).at(1), ViewOptions())
    assert plan.window.is_lens
    assert min(plan.matrices["A"].rows, plan.matrices["C"].rows) >= 16
    assert plan.rooms["detail"].height >= 170


def test_numbers_have_air_on_both_sides() -> None:
    cells = piece(stage_scene(reader_of(("04_tiled", 8, 8, 8, {"TILE_WIDTH": 4})).at(0), ViewOptions()), "A", Cells)
    assert text_width("0,0", cells.label_size) <= 0.85 * cells.size


def test_arrays_of_several_matrices_and_flat_ones_have_a_place() -> None:
    body = (
        "__shared__ float s[64]; s[threadIdx.x] = A[threadIdx.x] ; s[threadIdx.x + 4] = B[threadIdx.x]; C[threadIdx.x] = s[0];"
    )
    moment = Reader(Replay.of(trace_of(kernel_from(body)))).at(2)
    plan = plan_of(moment, ViewOptions())
    (grid,) = tile_grids(moment, plan).values()
    corner = sure(plan.lanes).corner
    assert sure(plan.lanes).tiles[0].side == ""
    assert corner.x <= grid.x < grid.x + grid.box[2] <= corner.x + corner.width
    assert corner.y <= grid.y < grid.y + grid.box[3] <= corner.y + corner.height


def test_titles_stand_outside_and_under_no_line() -> None:
    for kernel in KERNELS:
        moment = reader_of(kernel).at(0)
        for width, height in FRAMES:
            options = ViewOptions(width=width, height=height)
            plan, scene = plan_of(moment, options), stage_scene(moment, options)
            box, c = plan.box, plan.matrices["C"]
            a, b, last = (piece(scene, f"{name}-name", Labels) for name in "ABC")
            assert a.at[0, 1] > c.y + c.box[3] or (a.anchor == "end" and a.at[0, 0] < box.x)
            assert last.at[0, 1] > c.y + c.box[3] or last.at[0, 0] > box.x + box.width
            assert b.at[0, 1] < box.y or b.at[0, 0] > box.x + box.width
            for lines in scene.all:
                if isinstance(lines, Lines) and lines.key in ("guides", "ties"):
                    assert (lines.segments[:, [1, 3]] <= c.y + c.box[3] + 0.01).all()
                    assert (lines.segments[:, [1, 3]] >= box.y - 0.01).all()


@pytest.mark.parametrize("theme", theme_names())
def test_white_is_left_to_the_pointer(theme: str) -> None:
    reader = reader_of(("04_tiled", 5, 7, 6, {"TILE_WIDTH": 4}), Focus((1, 1, 0), thread=0))
    white = load_theme(theme).text
    for step in steps_of(reader)[::4]:
        for layer in LAYERS:
            scene = view_named("stage").scene(reader.at(step), ViewOptions(load_theme(theme), layer=layer, moment=0.9))
            for each in scene.primitives:
                if isinstance(each, Cells):
                    assert white not in {each.palette[entry] for entry in np.unique(each.fill).tolist()}, each.key
                elif isinstance(each, Rects) and not each.key.startswith("lane-first"):
                    assert white not in (each.fill, each.stroke), each.key


def test_numbers_stand_where_this_phase_is() -> None:
    reader = reader_of(("04_tiled", 8, 8, 8, {"TILE_WIDTH": 4}))
    cells = piece(stage_scene(reader.at(14), ViewOptions()), "A", Cells)
    texts = sure(cells.labels)
    assert texts[:4, 4:].tolist() == [[f"{row},{column}" for column in range(4, 8)] for row in range(4)]
    assert set(texts[4:].ravel()) | set(texts[:, :4].ravel()) == {""}


class TestPadding:
    reader = reader_of(("04_tiled", 5, 7, 6, {"TILE_WIDTH": 4}), Focus((1, 1, 0)))

    def hatched(self, step: int, key: str) -> set[tuple[int, int]]:
        """Rows and columns of the hatched cells."""
        scene, plan = stage_scene(self.reader.at(step), ViewOptions()), plan_of(self.reader.at(step), ViewOptions())
        lines = scene.find(key)
        if lines is None:
            return set()
        assert isinstance(lines, Lines)
        table = plan.matrices["A" if key.endswith("3") else "B"]
        middle = (lines.segments[:, :2] + lines.segments[:, 2:]) / 2
        column, row = np.floor((middle - [table.x, table.y]) / table.sides).astype(int).T
        return set(zip(row.tolist(), column.tolist(), strict=True))

    def test_zeros_of_a_tile_lie_beyond_the_edge_of_their_matrix(self) -> None:
        step = next(s for s in range(self.reader.replay.steps - 1, 0, -1) if self.reader.replay.trace.phase[s] == 1)
        inside = {(4, 4), (4, 5)}  # of the rows 4 to 7 and columns 4 to 7 that the block's tile stands for
        assert self.hatched(step, "beyond-3") == {(r, c) for r in range(4, 8) for c in range(4, 8)} - inside
        held = {(r, c) for r in (4, 5) for c in (4, 5, 6)}
        assert self.hatched(step, "beyond-4") == {(r, c) for r in range(4, 8) for c in range(4, 8)} - held

    def test_nothing_is_hatched_before_it_is_stored_or_without_padding(self) -> None:
        assert self.hatched(0, "beyond-3") == set()
        whole = reader_of(("04_tiled", 8, 8, 8, {"TILE_WIDTH": 4}))
        assert not any(each.key.startswith(("beyond", "padding")) for each in stage_scene(whole.at(20), ViewOptions()).all)


class TestValues:
    reader = reader_of(("04_tiled", 4, 4, 4, {"TILE_WIDTH": 2}), values=True)

    def labels(self, step: int, key: str) -> np.ndarray:
        return sure(piece(stage_scene(self.reader.at(step), ViewOptions(values=True)), key, Cells).labels)

    def test_cells_hold_the_values_that_threads_read(self) -> None:
        replay = self.reader.replay
        row = int(replay.trace.row[0])
        known = {int(e): float(v) for e, v in zip(replay.trace.element[row], sure(replay.value)[row], strict=True) if e >= 0}
        texts = self.labels(0, "A").ravel()
        for element, value in known.items():
            assert float(texts[element]) == pytest.approx(value, abs=0.051)

    def test_sums_are_blank_until_they_are_stored(self) -> None:
        last = self.reader.replay.steps - 1
        assert set(self.labels(0, "C").ravel().tolist()) == {""}
        assert "" not in set(self.labels(last, "C").ravel().tolist())

    def test_nothing_is_written_that_the_run_does_not_tell(self) -> None:
        unknown = reader_of(("04_tiled", 4, 4, 4, {"TILE_WIDTH": 2}))
        texts = piece(stage_scene(unknown.at(5), ViewOptions(values=True)), "A", Cells).labels
        assert texts is None or set(texts.ravel().tolist()) == {""}


def test_the_source_shows_the_whole_statement_with_its_term_lit() -> None:
    reader = reader_of(("04_tiled", 8, 8, 8, {"TILE_WIDTH": 4}))
    scene = stage_scene(reader.at(0), ViewOptions())
    text = " ".join(piece(scene, "code", Labels).texts)
    lit = "".join(text for each in scene.all if isinstance(each, Labels) and each.key == "code-lit" for text in each.texts)
    assert text.startswith("tileA[y][x] = ")
    assert lit.replace(" ", "") == reader.at(0).site.text.replace(" ", "")


def timeline_texts(scene: Scene) -> set[str]:
    keys = ("track-", "phase-names")
    return {text for each in scene.all if isinstance(each, Labels) and each.key.startswith(keys) for text in each.texts}


def test_the_timeline_names_its_tracks_and_phases() -> None:
    tiled = stage_scene(reader_of(("04_tiled", 8, 8, 8, {"TILE_WIDTH": 4})).at(0), ViewOptions())
    assert timeline_texts(tiled) == {"load A", "load B", "into tile", "multiply", "store C", "phase 1", "phase 2"}
    naive = stage_scene(reader_of(("02_naive", 8, 8, 8, {"BLOCK": 4})).at(0), ViewOptions())
    assert timeline_texts(naive) == {"load A", "load B", "store C"}
    reads_c = stage_scene(reader_of(("reads_c", 8, 8, 8, {"BLOCK": 4})).at(0), ViewOptions())
    assert timeline_texts(reads_c) == {"load A", "load B", "load, store C"}


@pytest.mark.parametrize(
    ("kernel", "tracks"),
    [
        (("04_tiled", 8, 8, 8, {"TILE_WIDTH": 4}), [0, 1, 2, 3, 4]),
        (("02_naive", 8, 8, 8, {"BLOCK": 4}), [0, 1, 4]),
        (("12_pipelined", 32, 32, 32, {}), [2, 3, 4]),
    ],
)
def test_the_names_of_tracks_stand_apart_in_one_column_each_at_its_track(kernel: Sized, tracks: list[int]) -> None:
    """A track without a step takes no room, and a low frame, in which names would touch, has none."""
    for height in (900, 590):
        scene = stage_scene(reader_of(kernel).at(0), ViewOptions(height=height))
        names = {each.key: each for each in scene.all if isinstance(each, Labels) and each.key.startswith("track-")}
        rows = piece(scene, "score", Cells)
        if height == 900 or len(tracks) == 5:
            assert list(names) == ([f"track-{track}" for track in tracks] if height > 600 else [])
        assert len({(each.at[0, 0], each.anchor) for each in names.values()}) <= 1
        baselines = [each.at[0, 1] for each in names.values()]
        assert all(after - before > 1.1 * THEME.type.least for before, after in pairwise(baselines))
        assert [int((y - rows.y) / rows.pitch) for y in baselines] == list(range(len(names)))
        assert all(each.at[0, 0] < rows.x for each in names.values())


def test_long_names_of_tracks_leave_the_run_its_room() -> None:
    kernel = parse_kernel(
        '// gemmviz = 1\n// entry = "kernel"\n// args = ["temperatures_of_all_cells", "out"]\n// block = ["n"]\n// grid = ["1"]\n'
        '// problem = { kind = "none", n = 8, arrays = { temperatures_of_all_cells = "n", out = "n" }, outputs = ["out"] }\n'
        'extern "C" __global__ void kernel(const float* temperatures_of_all_cells, float* out)\n'
        "{ out[threadIdx.x] = temperatures_of_all_cells[threadIdx.x]; }\n",
        "kernel.cu",
    )
    replay = Replay.of(run_of(kernel).whole)
    for width in (700.0, 1600.0):
        whole = Box(0.0, 0.0, width, height_with_names(replay, THEME))
        room = track_room(replay, whole, THEME)
        assert 0.7 * width < room.width < width
        names = [text for each in timeline_names(replay, whole, THEME) if isinstance(each, Labels) for text in each.texts]
        assert names[0].startswith("load temp")
        assert names[0].endswith("…")
        assert track_text(replay, room.y + 1.0, room) == "load temperatures_of_all_cells"
        assert track_text(replay, room.bottom - 1.0, room) == "load, store out"


def test_larger_type_leaves_the_matrices_their_share() -> None:
    moment = reader_of(("04_tiled", 8, 8, 8, {"TILE_WIDTH": 4})).at(14)
    shares = []
    for scale in (1.0, 1.25, 1.5, 1.75):
        plan = plan_of(moment, ViewOptions(width=1600 / scale, height=900 / scale, timeline=False))
        shares.append(plan.box.height / (900 / scale))
    assert min(shares) > 0.88 * shares[0]


def test_smaller_tiles_turn_to_the_lens_and_do_not_turn_back() -> None:
    for size in (16, 32, 64):
        for frame in FRAMES:
            readers = (reader_of(("04_tiled", size, size, size, {"TILE_WIDTH": width})) for width in (4, 8, 16))
            plans = [plan_of(each.at(0), ViewOptions(width=frame[0], height=frame[1])) for each in readers]
            seen = [plan.window.is_lens for plan in plans]
            assert seen == sorted(seen, reverse=True), (size, frame)

"""The caption bar: no caption of an included lesson is cut, and everything is large enough for the last row."""

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import lesson_names, plan_names
from gemmviz.scenes.kit.band import Caption, band_height, with_band
from gemmviz.scenes.kit.primitives import Labels, Scene, points
from gemmviz.scenes.kit.theme import TypeSizes, load_theme
from gemmviz.teaching.captions import parts_of
from gemmviz.teaching.lesson import LessonStep, shown_value
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.legible import wrong_with

WIDTH, HEIGHT = 1600.0, 900.0


def band(caption: Caption) -> Scene:
    high = band_height(caption, WIDTH, HEIGHT)
    return with_band(Scene(WIDTH, HEIGHT - high, "#101418", ()), caption, HEIGHT, load_theme("dark"))


def words(scene: Scene, key: str) -> str:
    return " ".join(each.texts[0] for each in scene.words if isinstance(each, Labels) and each.key.startswith(f"band-{key}"))


def captions_of(stop: LessonStep) -> list[Caption]:
    """All captions of a step, with its numbers as they are expected."""
    numbers = {each.name: shown_value(each.value) for each in stop.expect if each.name}
    return [part.caption for part in parts_of(stop.with_numbers(numbers))]


@pytest.mark.parametrize("name", [name for name in lesson_names() if name not in plan_names()])
def test_no_caption_of_a_lesson_is_cut(name: str) -> None:
    stops = shipped_lesson(name).steps
    for place, stop in enumerate(stops):
        for caption in captions_of(stop):
            scene = band(structs.replace(caption, place=place, count=len(stops)))
            assert words(scene, "caption") == caption.caption, stop.id
            assert words(scene, "title") == stop.with_numbers({}).title, stop.id
            for number, choice in enumerate(caption.choices):
                assert choice in words(scene, "choice"), (stop.id, number)
            assert wrong_with(scene) == [], stop.id
            assert min(each.size for each in scene.words if isinstance(each, Labels)) >= TypeSizes().least - 0.01, stop.id


def test_the_sentence_is_44_pixels_of_1080_and_the_title_24() -> None:
    scene = band(Caption("A title", "32 lanes read one column", place=2, count=9))
    sizes = {each.key: 1.2 * each.size for each in scene.words if isinstance(each, Labels)}
    assert sizes["band-caption-0"] == pytest.approx(44.0, abs=0.1)
    assert sizes["band-title-0"] == sizes["band-place"] == pytest.approx(24.0)
    assert words(scene, "place") == "3 of 9"
    dots = [each for each in scene.words if each.key in ("band-past", "band-here", "band-left")]
    assert [len(each.boxes) for each in dots] == [2, 1, 6]  # type: ignore[union-attr]


def test_lines_of_a_caption_are_about_equally_long_and_percent_signs_stay_with_their_numbers() -> None:
    scene = band(Caption("A title", "On the smallest matrix, 65 % of cuBLAS coalesced, but 6.95 % uncoalesced"))
    lines = [each.texts[0] for each in scene.words if isinstance(each, Labels) and each.key.startswith("band-caption")]
    assert len(lines) == 2
    assert min(map(len, lines)) > 0.6 * max(map(len, lines))
    assert not any(line.startswith("%") for line in lines)
    assert words(scene, "caption") == "On the smallest matrix, 65 % of cuBLAS coalesced, but 6.95 % uncoalesced"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("The first blocks in row order: 32 elements of A, but 512 of B, all there are", "The first blocks in row order:"),
        ("As many blocks in groups of 4 rows: 128 elements of A and 128 of B", "As many blocks in groups of 4 rows:"),
        ("按行的顺序，最先运行的线程块：需要 A 的 32 个元素，却需要 B 的全部 512 个元素", "按行的顺序，最先运行的线程块："),
    ],
)
def test_two_lines_of_a_caption_part_where_a_clause_ends(text: str, first: str) -> None:
    lines = [each.texts[0] for each in band(Caption("A title", text)).words if each.key.startswith("band-caption")]  # type: ignore[union-attr]
    assert lines == [first, text.removeprefix(first).lstrip()]


def test_the_number_of_a_beat_is_large() -> None:
    scene = band(Caption("A title", "16 threads each fetch one element of A", number="16"))
    (number,) = [each for each in scene.words if each.key == "band-number"]
    (text,) = [each for each in scene.words if each.key == "band-caption-0"]
    assert isinstance(number, Labels)
    assert isinstance(text, Labels)
    assert number.texts + text.texts == ("16", "threads each fetch one element of A")
    assert number.size > 1.5 * text.size
    assert wrong_with(scene) == []


def test_pictures_of_one_step_keep_their_height() -> None:
    """Whether the caption of a part has one line or two."""
    short, long = (Caption("A title", " ".join(["words"] * count)) for count in (3, 16))
    assert band_height(short, WIDTH, HEIGHT) == band_height(long, WIDTH, HEIGHT)


def test_a_sentence_is_not_said_twice() -> None:
    """The picture's own sentence of the moment goes if the caption is the same; what stands below it takes its place."""
    title, action, progress = (
        Labels(key, points((40, y)), ("words",), 25.0, "#FFFFFF", meaning=key)  # type: ignore[arg-type]
        for key, y in (("title", 30), ("action", 60), ("progress", 120))
    )
    scene = Scene(WIDTH, 780.0, "#101418", (), words=(title, action, progress))
    for is_beat in (False, True):
        shown = with_band(scene, Caption("A title", "words", is_beat=is_beat), HEIGHT, load_theme("dark"))
        assert (shown.find("action") is None) == is_beat
        below = shown.find("progress")
        assert isinstance(below, Labels)
        assert 30.0 < below.at[0, 1] <= (60.0 if is_beat else 120.0)


def test_choices_are_side_by_side_where_they_fit() -> None:
    """So that the picture has more room: in a row, in two columns, or one below the other; and they stay where they are."""
    short, middle, long = ("18", "27", "54", "9"), ("one sector for each lane of it",) * 4, ("a choice of many words " * 4,) * 4
    rows = {}
    for choices in (short, middle, long):
        caption = Caption("A title", "Which of these?", choices)
        places = [[each.at[0].tolist() for each in band(said).words if isinstance(each, Labels) and each.key.startswith("band-choice-")]
                  for said in (caption, structs.replace(caption, right=2, picked=1))]  # fmt: skip
        assert places[0] == places[1]
        assert wrong_with(band(caption)) == []
        rows[choices] = len({y for _, y in places[0]})
    assert [rows[each] for each in (short, middle, long)] == [1, 2, 4]
    heights = [band_height(Caption("A title", "Which of these?", each), WIDTH, HEIGHT) for each in (short, middle, long)]
    assert heights == sorted(heights)
    assert heights[0] < 0.22 * HEIGHT


def test_a_wrong_choice_that_was_picked_is_told_from_the_others() -> None:
    theme = load_theme("dark")
    scene = band(Caption("A title", "Which?", choices=("one", "two", "three"), right=0, picked=1))
    colours = [each.colour for each in scene.words if isinstance(each, Labels) and each.key.startswith("band-choice-")]
    assert colours == [theme.text, theme.warning, theme.faint]

"""The page that plays, driven in a browser without a network."""

import base64
import gzip
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from PIL import Image
from PySide6.QtWidgets import QApplication
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import gemmviz
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.render.export import save_frame, save_reel
from gemmviz.render.pack import packed
from gemmviz.render.reel import RenderOptions
from gemmviz.scenes.kit.primitives import Squares
from gemmviz.scenes.kit.transition import Transition
from gemmviz.shots.export import ExportOptions, prepare, run_reel, slide_at
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.reel import lesson_reel
from tests.conftest import sure
from tests.render.test_formats import difference, interpreter, pixels, stage_of


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        pytest.skip("needs chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for each in (
        "--headless=new",
        "--no-sandbox",
        "--window-size=1400,1100",
        "--force-device-scale-factor=1",
        "--host-resolver-rules=MAP * ~NOTFOUND",
    ):
        options.add_argument(each)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: webdriver.Chrome, tmp_path: Path, qapp: QApplication) -> webdriver.Chrome:
    stage = stage_of(at=0)
    save_reel(run_reel(stage, ExportOptions(), [0], range(stage.steps)), tmp_path / "p.html")
    return opened(browser, tmp_path / "p.html")


def opened(browser: webdriver.Chrome, path: Path) -> webdriver.Chrome:
    browser.get(path.as_uri())
    WebDriverWait(browser, 20).until(
        lambda driver: driver.execute_script("return document.querySelector('.gemmviz')?.dataset.step")
    )
    browser.execute_async_script(
        "const done = arguments[0]; document.fonts.ready.then(() => window.gemmviz).then((player) => { player.draw(); done(); })"
    )
    return browser


def press(page: webdriver.Chrome, *keys: str) -> None:
    canvas = page.find_element(By.TAG_NAME, "canvas")
    for key in keys:
        canvas.send_keys(key)


def step(page: webdriver.Chrome) -> int:
    return int(page.find_element(By.CSS_SELECTOR, ".gemmviz").get_attribute("data-step") or 0)


def drawn(page: webdriver.Chrome) -> Any:
    data = page.execute_script("return document.querySelector('canvas').toDataURL('image/png')").partition(",")[2]
    return np.asarray(
        Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB").resize((960, 540), Image.Resampling.BOX)
    ).astype(np.int64)


def test_keys_move_it(page: webdriver.Chrome) -> None:
    press(page, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert step(page) == 2
    press(page, Keys.PAGE_DOWN)
    assert step(page) == 15
    press(page, Keys.END)
    assert step(page) == 29
    press(page, Keys.HOME, " ")
    WebDriverWait(page, 10).until(lambda driver: step(driver) > 1)
    assert "step 1 of" not in page.find_element(By.CSS_SELECTOR, ".caption").text
    press(page, " ")
    assert page.find_element(By.CSS_SELECTOR, ".gemmviz").get_attribute("data-playing") == "false"
    assert "16 threads" in page.find_element(By.CSS_SELECTOR, ".caption").text  # what a screen reader says


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_it_draws_what_the_picture_shows(page: webdriver.Chrome, tmp_path: Path, theme: str) -> None:
    if theme == "light":
        press(page, "d")
    for number in (0, 5, 9):
        press(page, Keys.HOME, *[Keys.ARROW_RIGHT] * number)
        save_frame(slide_at(stage_of(theme=theme), number, ExportOptions()).scene, tmp_path / "own.png", RenderOptions())
        assert difference(drawn(page), pixels(tmp_path / "own.png")) < 4.0, number


def test_a_thread_is_chosen_and_a_cell_is_pointed_at(page: webdriver.Chrome) -> None:
    before = drawn(page)
    page.execute_script("const s = document.querySelector('.threads'); s.value = '5-5'; s.dispatchEvent(new Event('change'))")
    ringed = np.abs(drawn(page) - before).sum(axis=2) > 0
    assert 0 < ringed.mean() < 0.02  # the one element that it reads
    choose = "const s = document.querySelector('.threads'); s.value = [...s.options].find((each) => each.text === arguments[0]).value;"
    page.execute_script(f"{choose} s.dispatchEvent(new Event('change'))", "block (1, 0)")
    assert (np.abs(drawn(page) - before).sum(axis=2) > 0).mean() > 4 * ringed.mean()  # it reads the same tile of A
    description = page.execute_script(
        "return window.gemmviz.then(({replay}) => { const A = replay.primitives.find((each) => each.k === 'A');"
        " return replay.describe(A.x + 1.5 * A.s, A.y + 1.5 * A.h); })"
    )
    assert description == "A[1, 1]: thread 5 of the block in this step"


def test_a_lesson_is_a_page_too(browser: webdriver.Chrome, tmp_path: Path, qapp: QApplication) -> None:
    shots = [
        Shot(setup_for(load_kernel(name)), view=view, theme="dark")
        for name, view in (("04_tiled", "stage"), ("02_naive", "occupancy"))
    ]
    lesson = Lesson("Two", tuple(LessonStep(shot, f"View {number}", f"words {number}") for number, shot in enumerate(shots)))
    save_reel(lesson_reel(lesson, interpreter, ExportOptions()), tmp_path / "l.html")
    page = opened(browser, tmp_path / "l.html")
    press(page, Keys.ARROW_RIGHT)
    assert page.find_element(By.CSS_SELECTOR, ".caption").text == "View 1. words 1"


def test_a_lesson_that_plays_shows_each_picture_for_its_time(
    browser: webdriver.Chrome, tmp_path: Path, qapp: QApplication
) -> None:
    """Pictures arrive in motion, and stay for the five seconds that the page states."""
    lesson = shipped_lesson("coalescing")
    stops = tuple(lesson.steps[sure(lesson.find(id))] for id in ("uncoalesced", "coalesced"))
    save_reel(lesson_reel(structs.replace(lesson, steps=stops), interpreter, ExportOptions()), tmp_path / "l.html")
    page = opened(browser, tmp_path / "l.html")
    played = page.execute_async_script(
        "const done = arguments[0]; window.gemmviz.then(({replay, draw}) => { replay.isPlaying = true; const seen = [];"
        " for (const seconds of [4.9, 0.2, 0.1, 5, 4.9, 0.2]) { replay.advance(seconds, false); draw();"
        " seen.push([replay.step, replay.isMoving]); } replay.isPlaying = false; done(seen); })"
    )
    assert played == [[0, False], [1, True], [1, True], [1, False], [1, False], [0, False]]
    assert page.find_element(By.CSS_SELECTOR, ".speed").get_attribute("value") == "0.2"


def test_a_lesson_moves_as_in_the_lecture(browser: webdriver.Chrome, tmp_path: Path, qapp: QApplication) -> None:
    """The lanes of a warp swing from a column into a row, through the same places as in the window."""
    lesson = shipped_lesson("coalescing")
    stops = tuple(lesson.steps[sure(lesson.find(id))] for id in ("uncoalesced", "coalesced"))
    stops = tuple(
        structs.replace(stop, shot=structs.replace(stop.shot, moment=0.99)) for stop in stops
    )  # without the beat after the way
    reel = lesson_reel(structs.replace(lesson, steps=stops), interpreter, ExportOptions())
    save_reel(reel, tmp_path / "l.html")
    one, other = (step.after["dark"] for step in reel.steps())
    own = [each for layer in Transition(one, other).at(0.4) for each in layer.primitives if isinstance(each, Squares)]
    page = opened(browser, tmp_path / "l.html")
    theirs = page.execute_async_script(
        "const done = arguments[0]; window.gemmviz.then(({replay}) => { replay.forward(false);"
        " done(replay.passage.at(0.4).filter(([each]) => each.t === 'q').map(([each]) => [each.k, each.b])); })"
    )
    places = {key: np.reshape(boxes, (-1, 3)) for key, boxes in theirs}
    assert {each.key for each in own} == set(places)
    for each in own:
        assert np.allclose(each.boxes, places[each.key], atol=0.3), each.key
    press(page, Keys.PAGE_DOWN)  # finishes the motion
    assert (
        page.execute_async_script("const done = arguments[0]; window.gemmviz.then(({replay}) => done(replay.isMoving))")
        is False
    )
    assert step(page) == 2
    press(page, Keys.PAGE_UP)
    assert step(page) == 1


def test_a_notebook_plays_it(tmp_path: Path) -> None:
    player = gemmviz.show("02_naive", theme="dark", M=1, N=1, K=1, BLOCK=2)
    bundle = player._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in (bundle[0] if isinstance(bundle, tuple) else bundle)
    assert "<iframe" in player._repr_html_()
    gemmviz.save(gemmviz.trace("02_naive", M=1, N=1, K=1, BLOCK=2), tmp_path / "r.html")
    assert "data-do" in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(gemmviz.GemmvizError, match="no theme"):
        gemmviz.show("04_tiled", theme="blue")


def test_the_browser_draws_the_vectors(browser: webdriver.Chrome, tmp_path: Path, qapp: QApplication) -> None:
    scene = slide_at(stage_of(), 2, ExportOptions()).scene
    save_frame(scene, tmp_path / "f.svg")
    save_frame(scene, tmp_path / "own.png")
    (tmp_path / "p.html").write_text(f'<body style="margin: 0">{(tmp_path / "f.svg").read_text(encoding="utf-8")}')
    browser.get((tmp_path / "p.html").as_uri())
    browser.execute_async_script("document.fonts.ready.then(arguments[0])")
    browser.find_element(By.TAG_NAME, "svg").screenshot(str(tmp_path / "drawn.png"))
    with Image.open(tmp_path / "drawn.png") as image:
        width, height = image.size
    own = pixels(tmp_path / "own.png", (1600, 900))[:height, :width]
    assert difference(pixels(tmp_path / "drawn.png", (width, height)), own) < 4.0


def test_each_step_has_its_words(qapp: QApplication) -> None:
    stage = prepare(Shot(setup_for(load_kernel("04_tiled"))), interpreter)
    reel = run_reel(stage, ExportOptions(), [0], range(4))
    data = json.loads(gzip.decompress(base64.b64decode(packed(reel, "dark").text)))
    said = ["\n".join(data["parts"][number] for number in step["words"]) for step in data["steps"]]
    assert said == [step.after["dark"].description for step in reel.steps()]
    assert "16 threads each fetch one element of A, line 36" in said[0]

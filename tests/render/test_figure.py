"""The figure for web pages: its markup, and its player in a browser without a network."""

import base64
import gzip
import io
import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication
from selenium import webdriver
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import gemmviz
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.resources import ROOT
from gemmviz.model.messages import GemmvizError
from gemmviz.render.export import page_asset, page_html, save_frame, script_hash
from gemmviz.render.figure import figure_html, figure_script, script_name
from gemmviz.render.pack import Packed, packed, player_words
from gemmviz.render.reel import FigureOptions, Reel, RenderOptions, citation
from gemmviz.scenes.kit.primitives import Cells
from gemmviz.shots.export import ExportOptions, prepare, run_reel, slide_at
from gemmviz.shots.shot import Shot
from tests.pseudo import accented, pseudo
from tests.render.test_formats import difference, drawn_once, interpreter, needs, pixels, stage_of
from tests.render.test_hostile import CONTROL, SCRIPT, reels
from tests.render.test_page import browser  # noqa: F401 - a fixture

VOID = {"br", "img"}


class Markup(HTMLParser):
    """The elements of an HTML text, with what must not be there."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.depth, self.roots, self.words = 0, 0, ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.roots += self.depth == 0
        self.depth += tag not in VOID
        self.tags.append(tag)
        self.attributes += attrs

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag not in VOID

    def handle_data(self, data: str) -> None:
        self.words += data


def reel_at(step: int = 2, steps: int | None = None) -> Reel:
    """The first steps of a run, by default all, which begins at one of them."""
    stage = stage_of(at=step, theme="light")
    return run_reel(stage, ExportOptions(), [stage.step], range(steps or stage.steps))


@pytest.fixture(scope="module")
def reel() -> Reel:
    return drawn_once(reel_at(steps=6))


@pytest.fixture(scope="module")
def whole_reel() -> Reel:
    return drawn_once(reel_at())


@pytest.fixture(autouse=True)
def _pack_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures and pages of the same pictures hold the same data, which is packed once."""
    monkeypatch.setattr("gemmviz.render.figure.packed", packed_once)
    monkeypatch.setattr("gemmviz.render.export.packed", packed_once)


_PACKED = dict[tuple[int, str], tuple[Reel, Packed]]()


def packed_once(reel: Reel, theme: str) -> Packed:
    """The data of a reel, which is kept with it, so that no other one gets its id."""
    key = id(reel), theme
    if key not in _PACKED:
        _PACKED[key] = reel, packed(reel, theme)
    return _PACKED[key][1]


# The markup


def test_a_figure_can_stand_in_any_page(reel: Reel) -> None:
    text = figure_html(reel, FigureOptions(author="A. Lecturer", link="https://example.org/a?b=1&c=2"))
    markup = Markup(text)
    assert (markup.roots, markup.depth, markup.tags[0]) == (1, 0, "figure")
    names = {name for name, _ in markup.attributes}
    assert not names & {"id", "style"}
    assert not [name for name in names if name.startswith("on")]
    assert "\n\n" not in text  # would end an HTML block in Markdown
    assert not re.search(r"\{\{|\{%|\{#", text)  # would be a template
    assert markup.tags.count("img") == 2
    assert "eval(" not in text
    assert "innerHTML" not in text


def test_the_still_says_the_step_that_it_shows(reel: Reel) -> None:
    words = Markup(figure_html(reel, FigureOptions())).words
    slide = next(reel.slides())
    assert slide.title in words
    assert slide.caption in words
    assert reel.start == 2


def test_the_credits_are_those_that_were_chosen(reel: Reel) -> None:
    text = figure_html(reel, FigureOptions())
    assert '<a href="https://creativecommons.org/licenses/by/4.0/" rel="license">CC BY 4.0</a>' in text
    text = figure_html(reel, FigureOptions(licence="my own <b>words</b>", author="Ada & Co"))
    assert "my own &lt;b&gt;words&lt;/b&gt;" in text
    assert "Ada &amp; Co" in text
    assert 'rel="license"' not in text
    assert "license" not in figure_html(reel, FigureOptions(licence="")).partition("<script")[0]
    assert citation().version == gemmviz.__version__
    assert citation().address in text
    assert citation().words.partition(",")[0] in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "javascript://example.org/%0Aalert(1)",
        "ftp://example.org",
        "//example.org",
        "https://",
        "data:text/html,x",
        "https://a b",
        'https://a"b',
    ],
)
def test_only_web_addresses_are_links(link: str) -> None:
    with pytest.raises(GemmvizError, match="can't be linked to"):
        FigureOptions(link=link)


@pytest.mark.parametrize(
    "wrong", [{"name": "a b"}, {"name": "x:step"}, {"follow": '"'}, {"theme": "blue"}, {"author": "x" * 501}]
)
def test_what_cannot_be_an_option_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(GemmvizError):
        FigureOptions(**wrong)


def test_one_hash_allows_all_figures(reel: Reel) -> None:
    for options in (FigureOptions(), FigureOptions("other", "dark", "Ada", "", "https://example.org", "figure")):
        scripts = re.findall(r'<script type="module">(.*?)</script>', figure_html(reel, options), re.DOTALL)
        assert [script_hash(each) for each in scripts] == [script_hash(figure_script())]


@pytest.mark.parametrize("payload", [SCRIPT, pytest.param(CONTROL, marks=pytest.mark.nightly)])
def test_names_stay_text(payload: str) -> None:
    for each in reels(payload).values():
        markup = Markup(figure_html(each, FigureOptions(author=payload, licence=payload)))
        assert set(markup.tags) <= {"figure", "div", "img", "figcaption", "p", "strong",
            "small", "a", "script"}  # fmt: skip
        assert not [name for name, _ in markup.attributes if name.startswith("on")]
        assert markup.tags.count("script") == 2
        assert "onerror" in markup.words or "\\x0c" in markup.words


@pytest.mark.parametrize(
    ("size", "most"),
    [(4, 95_000), *(pytest.param(*each, marks=pytest.mark.nightly) for each in ((32, 115_000), (64, 150_000)))],
)
def test_a_page_and_a_figure_are_small(size: int, most: int) -> None:
    shot = Shot(setup_for(load_kernel("04_tiled")).changed(M=size, N=size, K=size, TILE_WIDTH=min(size, 16)), theme="light")
    stage = prepare(shot, interpreter)
    reel = drawn_once(run_reel(stage, ExportOptions(), [0], range(stage.steps)))
    assert len(figure_html(reel, FigureOptions()).encode()) <= most
    text = page_html(reel, "light")
    assert len(text) < most
    assert "://" not in text.replace("http://www.w3.org", "")


def test_a_qr_code_is_the_url(reel: Reel, tmp_path: Path) -> None:
    """Read by another program, from the modules as drawn."""
    zxing = pytest.importorskip("zxingcpp", reason="needs zxing-cpp")
    text = figure_html(reel, FigureOptions(link="https://example.org/course#tiled"))
    path, size = (
        re.search(r"%3Cpath d='([^']*)'", text.partition("<figcaption>")[2]),
        re.search(r"viewBox='0 0 (\d+) \1'", text),
    )
    assert path
    assert size
    image = np.full((int(size[1]), int(size[1])), 255, np.uint8)
    for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1H\d+z", path[1]):
        image[int(y), int(x) : int(x) + int(width)] = 0
    codes = zxing.read_barcodes(np.kron(image, np.ones((8, 8), np.uint8)))
    assert [each.text for each in codes] == ["https://example.org/course#tiled"]


def test_a_picture_has_the_code_too(tmp_path: Path, qapp: QApplication) -> None:
    """Below the picture, which makes space for it."""
    zxing = pytest.importorskip("zxingcpp", reason="needs zxing-cpp")
    for words in (["--theme", "dark", "-o", "p.png"], ["--steps", "1:2", "-o", "p.pdf"]):
        path = tmp_path / words[-1]
        assert main(["export", "04_tiled", "--link", "https://example.org/a#b", *words[:-1], str(path)]) == 0
    codes = zxing.read_barcodes(Image.open(tmp_path / "p.png"))
    assert [each.text for each in codes] == ["https://example.org/a#b"]
    scene = slide_at(stage_of(), 2, ExportOptions(link="https://example.org/a#b")).scene
    assert (scene.width, scene.height) == (1600, 900)
    code = scene.find("link-code")
    assert isinstance(code, Cells)
    assert not [each.key for each in scene.primitives if isinstance(each, Cells) and each.box[1] + each.box[3] > code.y]
    assert main(["export", "04_tiled", "--link", "javascript:x", "-o", str(tmp_path / "q.png")]) == 2


# The command


def test_the_command_writes_a_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my tiles.html"
    words = ["--embed", "--follow", "left", "--author", "Ada & Co"]
    small = ["export", "04_tiled", "-m", "2", "-n", "2", "-k", "2", "-D", "TILE_WIDTH=2"]
    assert main([*small, "--phase", "1", *words, "-o", str(path)]) == 0
    assert script_hash(figure_script()) in capsys.readouterr().out
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<figure ")
    assert 'data-name="my-tiles" data-theme="auto" data-follow="left"' in text
    assert "Ada &amp; Co" in text
    assert main([*small, "--steps", "3:5", "--embed", "--split", "--theme", "dark", "-o", str(path)]) == 0
    text, script = path.read_text(encoding="utf-8"), tmp_path / f"gemmviz-figure-{gemmviz.__version__}.js"
    assert f'<script src="{script.name}" defer></script>' in text
    assert 'data-theme="dark"' in text
    assert script.read_text(encoding="utf-8") == figure_script()


@pytest.mark.parametrize("words", [["--embed", "-o", "a.svg"], ["--author", "x", "-o", "a.html"], ["--split", "-o", "a.html"]])
def test_options_of_figures_are_for_figures(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", "04_tiled", *words]) == 2
    assert not list(tmp_path.iterdir())


# In a browser

STAGE = "document.querySelectorAll('figure')[arguments[0]].querySelector('[data-part=stage]').shadowRoot"


class Host:
    """A web page with figures in columns."""

    def __init__(self, browser: webdriver.Chrome, path: Path, *figures: str, head: str = "", width: int = 1200) -> None:  # noqa: F811
        self.browser, self.path = browser, path
        columns = "".join(f'<div class="column">{each}</div>' for each in figures)
        style = f"<style>.column {{ width: {width}px }}</style>"
        path.write_text(f"<!doctype html><meta charset=utf-8>{head or style}<body>{columns}", encoding="utf-8")

    def open(self, fragment: str = "") -> "Host":
        self.browser.get("about:blank")
        self.browser.get(self.path.as_uri() + fragment)
        WebDriverWait(self.browser, 20).until(
            lambda driver: driver.execute_script(
                "return [...document.querySelectorAll('figure')].every((each) => each.querySelector('div')?.shadowRoot?.querySelector('.gemmviz')?.dataset.step)"
            )
        )
        self.settle()
        return self

    def settle(self) -> None:
        self.browser.execute_async_script(
            "const done = arguments[0]; document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def of(self, script: str, number: int = 0, *arguments: Any) -> Any:
        return self.browser.execute_script(f"const root = {STAGE}; {script}", number, *arguments)

    def step(self, number: int = 0) -> int:
        return int(self.of("return root.querySelector('.gemmviz').dataset.step", number))

    def theme(self, number: int = 0) -> str:
        return str(self.of("return root.querySelector('.gemmviz').dataset.theme", number))

    def press(self, *keys: str, number: int = 0) -> None:
        canvas = self.of("return root.querySelector('.live')", number)
        for key in keys:
            canvas.send_keys(key)
        self.settle()

    def drawn(self, number: int = 0, canvas: str = ".live") -> Any:
        data = self.of(f"return root.querySelector('{canvas}').toDataURL('image/png')", number).partition(",")[2]
        image = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
        return np.asarray(image.resize((960, 540), Image.Resampling.BOX)).astype(np.int64)

    def log(self) -> list[str]:
        log: Any = self.browser.get_log
        return [each["message"] for each in log("browser")]


@pytest.fixture
def host(browser: webdriver.Chrome, whole_reel: Reel, tmp_path: Path) -> Host:  # noqa: F811
    return Host(browser, tmp_path / "host.html", figure_html(whole_reel, FigureOptions())).open()


class TestInABrowser:
    @pytest.mark.parametrize("theme", ["dark", "light"])
    def test_it_draws_what_the_window_draws(self, host: Host, tmp_path: Path, theme: str, qapp: QApplication) -> None:
        host.browser.execute_script(f"document.querySelector('figure').dataset.theme = '{theme}'; document.body.title = 'x'")
        for number in (0, 5, 9):
            host.press(Keys.HOME, *[Keys.ARROW_RIGHT] * number)
            save_frame(slide_at(stage_of(theme=theme), number, ExportOptions()).scene, tmp_path / "own.png", RenderOptions())
            assert difference(host.drawn(), pixels(tmp_path / "own.png")) < 4.0, number
        assert host.theme() == theme

    def test_the_still_shows_what_the_window_draws(
        self, host: Host, whole_reel: Reel, tmp_path: Path, qapp: QApplication
    ) -> None:
        """Where no script runs. Its letters are those of the reader, so the tolerance is larger."""
        text = re.sub(r"<script.*?</script>", "", host.path.read_text(encoding="utf-8"), flags=re.DOTALL)
        host.path.write_text(text, encoding="utf-8")
        host.browser.get(host.path.as_uri())
        still = host.browser.find_element("css selector", "figure img")
        still.screenshot(str(tmp_path / "still.png"))
        save_frame(next(whole_reel.slides()).scene, tmp_path / "own.png", RenderOptions())
        assert difference(pixels(tmp_path / "still.png"), pixels(tmp_path / "own.png")) < 8.0

    def test_keys_move_it_and_nothing_else(self, host: Host) -> None:
        assert host.step() == 3
        host.browser.execute_script("window.keys = 0; document.addEventListener('keydown', () => (window.keys += 1))")
        host.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
        assert host.step() == 4
        host.press(Keys.END)
        assert host.step() == 29
        assert host.browser.execute_script("return window.keys") == 0  # slides around it don't turn
        host.press("x")
        assert host.browser.execute_script("return window.keys") == 1

    def test_a_swipe_moves_it(self, host: Host) -> None:
        swipe = """
            const canvas = root.querySelector('.live'), at = (clientX) => ({ pointerType: 'touch', pointerId: 7, clientX, clientY: 200, bubbles: true });
            canvas.dispatchEvent(new PointerEvent('pointerdown', at(arguments[1])));
            canvas.dispatchEvent(new PointerEvent('pointerup', at(arguments[2])));
        """
        for start, end, step in ((300, 200, 4), (200, 300, 3), (200, 210, 3)):
            host.of(swipe, 0, start, end)
            assert host.step() == step

    def test_its_size_follows_its_column(self, host: Host) -> None:
        for width in (400, 900):
            host.browser.execute_script(f"document.querySelector('.column').style.width = '{width}px'")
            host.settle()
            wide, high = host.of("const canvas = root.querySelector('.live'); return [canvas.clientWidth, canvas.clientHeight]")
            assert width - 20 < wide <= width
            assert high == pytest.approx(wide * 9 / 16, abs=1)
            assert host.of("return document.documentElement.scrollWidth <= innerWidth")

    def test_everything_has_a_name(self, host: Host) -> None:
        unnamed = """
            return [...root.querySelectorAll('button, select, input, canvas')].filter((each) => !each.ariaLabel).length
        """
        assert host.of(unnamed) == 0
        assert host.of("return root.querySelector('.caption').ariaLive") == "polite"
        tree: Any = host.browser.execute_cdp_cmd
        nodes = tree("Accessibility.getFullAXTree", {})["nodes"]
        roles = {(each["role"]["value"], each.get("name", {}).get("value", "")) for each in nodes if not each.get("ignored")}
        assert ("button", "Step forward") in roles
        assert ("slider", "Step") in roles
        assert not [role for role, name in roles if role in ("button", "slider", "image", "combobox") and not name]

    def test_it_takes_the_theme_of_the_page(self, host: Host) -> None:
        assert host.theme() == "light"
        host.browser.execute_script("document.body.style.color = '#eee'")
        host.settle()
        assert host.theme() == "dark"
        host.browser.execute_script("document.body.style.color = 'oklch(20% 0.1 200)'")
        host.settle()
        assert host.theme() == "light"
        host.press("d")  # the reader's own choice stays
        host.browser.execute_script("document.body.style.color = 'black'")
        host.settle()
        assert host.theme() == "dark"

    def test_a_dark_system_makes_it_dark_where_the_page_follows(self, host: Host) -> None:
        command: Any = host.browser.execute_cdp_cmd
        try:
            command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
            assert host.open().theme() == "light"  # the page stays white
            host.browser.execute_script("document.documentElement.style.colorScheme = 'light dark'")
            host.settle()
            assert host.theme() == "dark"
        finally:
            command("Emulation.setEmulatedMedia", {"features": []})

    def test_it_keeps_still_for_those_who_want_that(self, host: Host) -> None:
        command: Any = host.browser.execute_cdp_cmd
        try:
            command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
            host.press(Keys.HOME)
            host.browser.execute_script(
                "window.moments = []; document.addEventListener('gemmviz:step', ({ detail }) => window.moments.push(detail.moment))"
            )
            host.press(" ")
            WebDriverWait(host.browser, 10).until(lambda _: host.step() > 2)
            host.press(" ")
            assert set(host.browser.execute_script("return window.moments")) == {1}
        finally:
            command("Emulation.setEmulatedMedia", {"features": []})

    def test_a_url_opens_it_at_a_moment(self, host: Host) -> None:
        host.open("#gemmviz=figure:step=5,lane=3,theme=dark")
        assert (host.step(), host.theme()) == (5, "dark")
        assert host.of("return root.querySelector('.threads').selectedOptions[0].text") == "thread 3"
        host.browser.execute_script("location.hash = '#gemmviz=figure:step=9999'")
        host.settle()
        assert host.step() == 29
        for other in ("#gemmviz=other:step=2", "#step=2", "#gemmviz=figure:%zz", "#gemmviz=figure"):
            host.browser.execute_script("location.hash = arguments[0]", other)
            host.settle()
            assert host.step() == 29

    def test_a_link_leads_back_to_the_moment(self, host: Host) -> None:
        """The browser refuses the clipboard to a file, so the link is shown."""
        host.of("const s = root.querySelector('.threads'); s.value = '5-5'; s.dispatchEvent(new Event('change'))")
        host.press(Keys.ARROW_RIGHT)
        host.browser.execute_script("navigator.clipboard.writeText = () => Promise.reject(new Error())")
        host.of("root.querySelector('[data-do=link]').click()")
        WebDriverWait(host.browser, 5).until(lambda _: host.of("return root.querySelector('.hover').textContent"))
        url = host.of("return root.querySelector('.hover').textContent")
        assert url.endswith("#gemmviz=figure:step=4,warp=0,lane=5,theme=light")
        host.open("#" + url.partition("#")[2])
        assert host.step() == 4
        assert host.of("return root.querySelector('.threads').value") == "5-5"

    def test_two_figures_do_not_know_each_other(self, host: Host, whole_reel: Reel) -> None:
        figure = figure_html(whole_reel, FigureOptions())
        two = Host(host.browser, host.path, figure, figure).open()
        two.press(Keys.ARROW_RIGHT, number=1)
        assert (two.step(0), two.step(1)) == (3, 4)
        assert two.log() == []

    def test_figures_follow_each_other_if_told_so(self, host: Host, whole_reel: Reel) -> None:
        left, right = (figure_html(whole_reel, FigureOptions(name, follow=other)) for name, other in (("a", "b"), ("b", "a")))
        third = figure_html(whole_reel, FigureOptions("c", follow="b"))
        three = Host(host.browser, host.path, left, right, third).open()
        three.press(Keys.ARROW_RIGHT, number=0)
        assert [three.step(number) for number in range(3)] == [4, 4, 4]
        three.press(Keys.END, number=1)
        assert [three.step(number) for number in range(3)] == [29, 29, 29]
        three.press(Keys.HOME, number=2)  # nobody follows it
        assert [three.step(number) for number in range(3)] == [29, 29, 1]
        three.press(Keys.HOME)
        three.press(" ")  # a figure plays on while others follow it
        WebDriverWait(host.browser, 10).until(lambda _: three.step() == three.step(1) == three.step(2) and three.step() > 3)
        assert three.of("return root.querySelector('.gemmviz').dataset.playing") == "true"

    def test_it_works_under_a_strict_policy(self, host: Host, whole_reel: Reel) -> None:
        rules = f"default-src 'none'; script-src {script_hash(figure_script())}; style-src 'none'; img-src data:; require-trusted-types-for 'script'; trusted-types 'none'"
        head = f'<meta http-equiv="Content-Security-Policy" content="{rules}">'
        strict = Host(
            host.browser, host.path, figure_html(whole_reel, FigureOptions(link="https://example.org")), head=head
        ).open()
        strict.press(Keys.ARROW_RIGHT)
        assert strict.step() == 4
        assert strict.log() == []

    def test_its_script_can_be_a_file(self, host: Host, whole_reel: Reel) -> None:
        (host.path.parent / script_name()).write_text(figure_script(), encoding="utf-8")
        split = Host(host.browser, host.path, *[figure_html(whole_reel, FigureOptions(is_split=True))] * 2).open()
        split.press(Keys.ARROW_RIGHT, number=1)
        assert (split.step(0), split.step(1)) == (3, 4)

    def test_no_script_of_a_name_runs(self, host: Host, tmp_path: Path) -> None:
        for each in reels(SCRIPT).values():
            figure = figure_html(each, FigureOptions(author=SCRIPT, licence=SCRIPT))
            page = Host(host.browser, host.path, figure).open()
            page.press(Keys.ARROW_RIGHT)
            assert host.browser.execute_script("return window.hacked") is None
            assert page.of("return root.querySelectorAll('img, iframe, script, a').length") == 0

    def test_without_its_data_the_still_stays(self, host: Host) -> None:
        text = host.path.read_text(encoding="utf-8")
        host.path.write_text(re.sub(r'(data-part="data">)[^<]*', r"\1QUJD", text), encoding="utf-8")
        host.browser.get(host.path.as_uri())
        host.settle()
        assert host.browser.execute_script("return document.querySelector('figure img').checkVisibility()")
        assert host.of("return root") is None

    @needs("pdftoppm")
    def test_the_current_step_is_printed_on_white(self, host: Host, tmp_path: Path, qapp: QApplication) -> None:
        host.open("#gemmviz=figure:step=10,theme=dark")
        host.browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
        save_frame(slide_at(stage_of(theme="light"), 9, ExportOptions()).scene, tmp_path / "own.png", RenderOptions())
        assert difference(host.drawn(canvas=".paper"), pixels(tmp_path / "own.png")) < 4.0
        host.browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
        assert host.of("return root.querySelector('.paper').width") == 0
        assert self.blue(host, tmp_path) > 0.003

    @needs("pdftoppm")
    def test_the_still_is_printed_where_no_script_runs(self, host: Host, tmp_path: Path) -> None:
        text = re.sub(r"<script.*?</script>", "", host.path.read_text(encoding="utf-8"), flags=re.DOTALL)
        host.path.write_text(text, encoding="utf-8")
        host.browser.get(host.path.as_uri())
        assert self.blue(host, tmp_path) > 0.003

    @staticmethod
    def blue(host: Host, folder: Path) -> float:
        """The share of a printed page that has the light blue of matrix A."""
        command: Any = host.browser.execute_cdp_cmd
        printed = command("Page.printToPDF", {"printBackground": False})
        (folder / "p.pdf").write_bytes(base64.b64decode(printed["data"]))
        subprocess.run(
            ["pdftoppm", "-r", "60", "-png", "-f", "1", "-l", "1", "-singlefile", "p.pdf", "p"], cwd=folder, check=True
        )
        red, green, blue = np.asarray(Image.open(folder / "p.png").convert("RGB")).astype(int).transpose(2, 0, 1)
        return float(((blue > 200) & (blue - red > 25) & (green > 180)).mean())


def test_the_player_speaks_the_language_of_the_program() -> None:
    scripts = "".join(page_asset(name) for name in ("player.js", "figure.js"))
    used = set(re.findall(r'say\("([^"]+)"', scripts)) | set(re.findall(r'said\([\w.]+, "([^"]+)"', scripts))
    used |= set(re.findall(r'"(\{cell\}[^"]+)"', scripts))
    assert player_words() == {}
    with pseudo():
        assert set(player_words()) == used
        figure = figure_html(reel_at(steps=3), FigureOptions())
    assert accented("Cite as:") in figure
    packed = re.search(r'data-part="data">([^<]+)<', figure)
    assert packed is not None
    assert json.loads(gzip.decompress(base64.b64decode(packed[1])))["say"]["Full screen"] == accented("Full screen")


def test_buttons_are_named_in_the_language(browser: webdriver.Chrome, tmp_path: Path) -> None:  # noqa: F811
    with pseudo():
        host = Host(browser, tmp_path / "page.html", figure_html(reel_at(), FigureOptions())).open()
    names = host.of(
        "return [...root.querySelectorAll('button, select, option')].map((each) => each.ariaLabel || each.textContent)"
    )
    assert accented("Play or pause") in names
    assert accented("thread {thread}").format(thread=3) in names
    assert host.of("return root.querySelector('button').title") == f"{accented('First step')} (Home)"

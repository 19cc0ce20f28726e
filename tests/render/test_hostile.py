"""No text of a file becomes markup: names that are scripts, tags and control characters, in every field that may hold a text."""

import copy
import io
import json
import re
import tempfile
import tomllib
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from selenium import webdriver

import gemmviz
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.codec import read_toml, toml_text
from gemmviz.files.recordings import benchmark_text, read_benchmark, recordings
from gemmviz.files.resources import resource
from gemmviz.files.trace_file import read_trace
from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device
from gemmviz.model.messages import GemmvizError
from gemmviz.model.timing import Benchmark
from gemmviz.model.trace import Outcome, Trace
from gemmviz.render.export import formats, save_frame, save_reel
from gemmviz.render.pack import packed
from gemmviz.render.reel import Film, Reel, RenderOptions
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.export import ExportOptions, prepare_run, run_reel
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Lesson
from gemmviz.teaching.lesson_file import lesson_text, parse_lesson, shipped_lesson
from gemmviz.teaching.pack import moodle_xml
from gemmviz.teaching.quiz import quiz_of
from gemmviz.teaching.reel import lesson_reel
from tests.render.test_formats import drawn_once, interpreter, needs
from tests.render.test_page import browser  # noqa: F401 - a fixture

SCRIPT = (
    "<img src=x onerror=\"hacked=1\">'\"></title></style></script><script>hacked=1</script><svg onload='hacked=1'>]]>&lt;b&gt;"
)
CONTROL = "form\x0cfeed\x1b[31m\x07\x00\x0b\x9b\ufffe\u202e end"
FOLDER = tempfile.TemporaryDirectory()  # of the hostile files, each made once
PAYLOADS = {"script": SCRIPT, "control": CONTROL}
ELEMENTS = {"svg", "g", "path", "rect", "text", "style", "image"}  # of SVG, that our own writer uses
RELATIONSHIPS = re.compile(rb'TargetMode="External"|hlinkClick|oleObject|vbaProject|javascript:', re.IGNORECASE)


def leaves(facts: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to the texts in nested lists and dicts."""
    if isinstance(facts, str):
        yield path
    for key, inner in facts.items() if isinstance(facts, dict) else enumerate(facts) if isinstance(facts, list) else ():
        yield from leaves(inner, (*path, key))


def with_text(facts: Any, path: tuple[Any, ...], text: str) -> Any:
    """A copy with the text at this path replaced; a kernel's text and names keep what they are read by."""
    changed = copy.deepcopy(facts)
    around = changed
    for key in path[:-1]:
        around = around[key]
    around[path[-1]] = text
    return changed


def hostile(facts: Any, payload: str, read: Callable[[Any], Any]) -> tuple[Any, int]:
    """The facts with the payload in every text where ``read`` takes it, and in how many that is."""
    count = 0
    for path in leaves(facts):
        around: Any = facts
        for key in path:
            around = around[key]
        for text in (payload, around + payload):
            changed = with_text(facts, path, text)
            with suppress(GemmvizError):
                read(changed)
                facts, count = changed, count + 1
                break
    return facts, count


# What is read


@cache
def hostile_trace(payload: str) -> Trace:
    folder = Path(tempfile.mkdtemp(dir=FOLDER.name))
    gemmviz.save(gemmviz.trace("04_tiled", M=4, N=4, K=4, TILE_WIDTH=2, on="cpu", values=True), folder / "right.gvt")
    with zipfile.ZipFile(folder / "right.gvt") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def read(facts: Any) -> Trace:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, json.dumps(facts).encode() if name == "manifest.json" else data)
        (folder / "hostile.gvt").write_bytes(held.getvalue())
        return read_trace(folder / "hostile.gvt")

    facts, count = hostile(json.loads(members["manifest.json"]), payload, read)
    assert count > 15
    return read(facts)


@cache
def hostile_lesson(payload: str) -> Lesson:
    lesson = shipped_lesson("slides")
    question = next(stop for stop in lesson.steps if stop.question is not None)
    facts = tomllib.loads(lesson_text(Lesson(lesson.title, (question,), lesson.about)))
    facts, count = hostile(facts, payload, lambda each: parse_lesson(toml_text(each), "hostile.toml"))
    assert count > 20
    return parse_lesson(toml_text(facts), "hostile.toml")


@cache
def hostile_benchmark(payload: str) -> Benchmark:
    folder = Path(tempfile.mkdtemp(dir=FOLDER.name))
    plain = json.loads(benchmark_text(recordings("benchmark", Benchmark)[0]))
    plain["rows"] = plain["rows"][:12]

    def read(facts: Any) -> Benchmark:
        (folder / "hostile.json").write_text(json.dumps(facts), encoding="utf-8")
        return read_benchmark(folder / "hostile.json")

    facts, count = hostile(plain, payload, read)
    assert count > 5
    return read(facts)


@cache
def hostile_device(payload: str) -> Device:
    path = Path(tempfile.mkdtemp(dir=FOLDER.name)) / "hostile.toml"

    def read(facts: Any) -> Device:
        path.write_text(toml_text(facts), encoding="utf-8")
        return read_toml(path, Device)

    facts, count = hostile(tomllib.loads(resource("assets/devices/rx6800xt.toml").read_text(encoding="utf-8")), payload, read)
    assert count > 5
    return read(facts)


@cache
def reels(payload: str) -> dict[str, Reel]:
    trace = hostile_trace(payload)
    stage = prepare_run(Shot(trace.setup), Outcome(trace, payload))
    return {
        "trace": drawn_once(run_reel(stage, ExportOptions(), [0, 3], range(4))),
        "lesson": drawn_once(lesson_reel(hostile_lesson(payload), interpreter, ExportOptions(), answers=True)),
    }


@pytest.fixture(params=["script", pytest.param("control", marks=pytest.mark.nightly)])
def payload(request: pytest.FixtureRequest) -> str:
    return PAYLOADS[request.param]


# Vectors


def scenes(payload: str) -> Iterator[tuple[str, Scene]]:
    """Every view of a run, of measurements and of devices."""
    options = ViewOptions(load_theme("dark"), code=True)
    replay = Replay.of(hostile_trace(payload))
    moment = Reader(replay, Focus(thread=0)).at(3)
    for name, view in views_of(Moment).items():
        yield name, view.scene(moment, options)
    benchmark = hostile_benchmark(payload)
    for name, view in views_of(Benchmark).items():
        yield name, view.scene(benchmark, options)
    case = LaunchCase(replay.trace.setup, hostile_device(payload), payload, replay.trace.launch)
    yield "device", view_named("device").scene(case, options)


_OUTLINED = ("stage", "listing", "rate", "device")  # views that are drawn with outlines too, which hold no text of theirs


@pytest.mark.usefixtures("without_fonts")
def test_svg_holds_texts_and_nothing_else(payload: str, tmp_path: Path, qapp: QApplication) -> None:
    seen = 0
    for name, scene in scenes(payload):
        for outlines in (False, True) if name in _OUTLINED else (False,):
            save_frame(scene, tmp_path / f"{name}.svg", RenderOptions(has_outlines=outlines))
            tree = ET.parse(tmp_path / f"{name}.svg")
            assert {each.tag.rpartition("}")[2] for each in tree.iter()} <= ELEMENTS, name
            assert not [key for each in tree.iter() for key in each.attrib if key.startswith("on")]
            links = [value for each in tree.iter() for key, value in each.attrib.items() if key.endswith("href")]
            assert all(link.startswith("data:image/png;base64,") for link in links)
            texts = "".join(each.text or "" for each in tree.iter() if each.tag.endswith("text"))
            seen += "onerror" in texts or "\\x0c" in texts
    assert seen > 3


def test_every_format_can_be_read_again(payload: str, tmp_path: Path, qapp: QApplication) -> None:
    for name, reel in reels(payload).items():
        for suffix, kind in formats().items():
            if name == "lesson" and isinstance(kind, Film):
                continue  # whose pictures are those of the other formats
            save_reel(reel, tmp_path / f"{name}.{suffix}", RenderOptions(320, 180, fps=4))
            assert (tmp_path / f"{name}.{suffix}").stat().st_size > 1000
        with zipfile.ZipFile(tmp_path / f"{name}.pptx") as parts:
            for part in parts.namelist():
                data = parts.read(part)
                if part.endswith((".xml", ".rels")):
                    ET.fromstring(data)
                    assert not RELATIONSHIPS.search(data), part
        pdf = (tmp_path / f"{name}.pdf").read_bytes()
        assert not re.search(rb"/JavaScript|/JS\b|/URI|/Launch|/OpenAction|/AA\b", pdf)


@needs("pdftotext")
def test_pages_of_a_pdf_show_the_texts(payload: str, tmp_path: Path, qapp: QApplication) -> None:
    import subprocess

    save_reel(reels(payload)["lesson"], tmp_path / "l.pdf", RenderOptions())
    text = subprocess.run(["pdftotext", str(tmp_path / "l.pdf"), "-"], capture_output=True, text=True, check=True).stdout
    assert "onerror" in text or "\\x0c" in text


def test_moodle_reads_the_texts(payload: str) -> None:
    quiz = hostile_lesson(payload)
    tree = ET.fromstring(moodle_xml(quiz).encode())
    assert tree.findall("question")
    html = "".join(each.text or "" for each in tree.iter("text"))
    assert "onerror" in html or "\\x0c" in html
    assert set(re.findall(r"<(/?\w+)", "".join(each.find("text").text or "" for each in tree.iter("questiontext")))) <= {  # type: ignore[union-attr]
        "p", "/p", "pre", "/pre"
    }  # fmt: skip


# In a browser


def unharmed(browser: webdriver.Chrome, path: Path) -> None:  # noqa: F811
    """Opens a page that must run no script but its own."""
    browser.get(path.as_uri())
    browser.execute_async_script("setTimeout(arguments[0], 200)")
    assert browser.execute_script("return window.hacked") is None, path.name
    strange = browser.execute_script(
        "return [...document.querySelectorAll('img,iframe,object,embed,link,base,form,[onerror]')].length"
    )
    assert strange == 0, path.name


def test_a_page_runs_no_script_but_its_own(browser: webdriver.Chrome, tmp_path: Path, qapp: QApplication) -> None:  # noqa: F811
    for name, reel in reels(SCRIPT).items():
        save_reel(reel, tmp_path / f"{name}.html")
        unharmed(browser, tmp_path / f"{name}.html")
        assert browser.execute_script("return document.scripts.length") == 2
        assert "onerror" in browser.execute_script(
            "return document.querySelector('canvas').getAttribute('aria-label') + document.title + document.querySelector('.caption').textContent"
        )
        log: Any = browser.get_log
        assert [each for each in log("browser") if "Security Policy" in each["message"]] == []


def test_the_policy_of_a_page_stops_what_gets_in(browser: webdriver.Chrome, tmp_path: Path, qapp: QApplication) -> None:  # noqa: F811
    reel = reels(SCRIPT)["trace"]
    save_reel(reel, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    for number, bad in enumerate(
        ("<script>hacked=1</script>", '<img src="data:x" onerror="hacked=1">', '<svg onload="hacked=1"></svg>')
    ):
        (tmp_path / f"{number}.html").write_text(text.replace("<noscript>", f"{bad}<noscript>"), encoding="utf-8")
        browser.get((tmp_path / f"{number}.html").as_uri())
        browser.execute_async_script("setTimeout(arguments[0], 200)")
        assert browser.execute_script("return window.hacked") is None
    refused = browser.execute_script(
        "try { document.body.innerHTML = '<b>x</b>'; return '' } catch (error) { return error.name }"
    )
    assert refused == "TypeError"


def test_a_notebook_runs_no_script_of_a_file(browser: webdriver.Chrome, tmp_path: Path, qapp: QApplication) -> None:  # noqa: F811
    """Without the policy of a page: a notebook has its own."""
    trace = hostile_trace(SCRIPT)
    shown: list[Any] = [
        gemmviz.Kernel(trace.setup.kernel), gemmviz.Run(trace), gemmviz.Measurements(hostile_benchmark(SCRIPT)),
    ]  # fmt: skip
    for number, each in enumerate(shown):
        (tmp_path / f"{number}.html").write_text(f"<meta charset=utf-8>{each._repr_html_()}", encoding="utf-8")
        unharmed(browser, tmp_path / f"{number}.html")
    for name, reel in reels(SCRIPT).items():
        player = resource("assets/page/player.js").read_text(encoding="utf-8").replace("export default", "const notebook =")
        found = packed(reel, "dark")
        model = f"{{ get: (name) => ({{ packed: '{found.text}', style: '' }})[name] }}"
        script = f"{player.replace('export ', '')}\nnotebook.render({{ model: {model}, el: document.body }});"
        (tmp_path / f"{name}.html").write_text(f"<meta charset=utf-8><script type=module>{script}</script>", encoding="utf-8")
        unharmed(browser, tmp_path / f"{name}.html")
        assert browser.execute_script("return document.querySelectorAll('canvas.live').length") == 1
        frame = gemmviz.Player(reel)._repr_html_()
        (tmp_path / f"{name}-frame.html").write_text(f"<meta charset=utf-8>{frame}", encoding="utf-8")
        browser.get((tmp_path / f"{name}-frame.html").as_uri())
        browser.execute_async_script("setTimeout(arguments[0], 500)")
        assert browser.execute_script("return window.hacked") is None
        browser.switch_to.frame(0)
        assert browser.execute_script("return window.hacked") is None
        assert browser.execute_script("return document.querySelector('.gemmviz').dataset.step") == "1"
        browser.switch_to.default_content()


def test_the_vectors_run_no_script(browser: webdriver.Chrome, tmp_path: Path, qapp: QApplication) -> None:  # noqa: F811
    for name, scene in scenes(SCRIPT):
        save_frame(scene, tmp_path / f"{name}.svg")
        unharmed(browser, tmp_path / f"{name}.svg")


def test_questions_run_no_script(browser: webdriver.Chrome, tmp_path: Path) -> None:  # noqa: F811
    quiz = quiz_of(setup_for(load_kernel("04_tiled")), Interpreter(), 3)
    for lesson in (hostile_lesson(SCRIPT), quiz):
        tree = ET.fromstring(moodle_xml(lesson).encode())
        html = "".join(each.text or "" for each in tree.iter("text"))
        names = {each.text for each in tree.findall("question/name/text")}
        for name in names:  # a plain text, which Moodle itself escapes
            html = html.replace(name or "", "")
        (tmp_path / "quiz.html").write_text(f"<meta charset=utf-8>{html}", encoding="utf-8")
        unharmed(browser, tmp_path / "quiz.html")

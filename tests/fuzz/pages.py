"""Exported pages, opened in a browser: whatever stands in a trace or a lesson, it is shown as text and nothing else."""

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from selenium import webdriver

from gemmviz.files.trace_file import read_trace
from gemmviz.model.trace import Outcome
from gemmviz.render.export import save_reel
from gemmviz.shots.export import ExportOptions, prepare_run, run_reel
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson_file import read_lesson
from gemmviz.teaching.reel import lesson_reel
from tests.fuzz.campaign import Campaign, application
from tests.fuzz.documents import lesson_facts
from tests.fuzz.drawing import interpreter
from tests.fuzz.mutators import MARKUP, places, toml_bytes
from tests.fuzz.records import trace_bytes, trace_facts

_HOSTILE = (
    MARKUP, "</title></style></script><script>hacked=1</script>", "<svg onload='hacked=1'>", "'\"` onerror=hacked=1 x='",
    "javascript:hacked=1", "\x0c\x1b[31m\x00\ufffe\u202e", "&lt;b&gt;&amp;#0;", "${hacked=1}{{hacked=1}}", "<!--", "]]>", "𝄞" * 400,
)  # fmt: skip
_STRANGE = "img,iframe,object,embed,link,base,form,[onerror],[onload]"
_LOADED = "const done = arguments[0]; window.gemmviz ? document.fonts.ready.then(() => done()) : setTimeout(done, 100)"


@cache
def _browser() -> webdriver.Chrome:
    application()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for each in ("--headless=new", "--no-sandbox", "--window-size=800,600", "--host-resolver-rules=MAP * ~NOTFOUND"):
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def _missing() -> str:
    return next((each for each in ("chromium", "chromedriver") if shutil.which(each) is None), "")


def _texts(facts: Any) -> list[tuple[Any, ...]]:
    """Paths to all texts."""
    return [path for path in places(facts, most=100) if isinstance(_at(facts, path), str)]


def _at(facts: Any, path: Sequence[Any]) -> Any:
    for key in path:
        facts = facts[key]
    return facts


_WHOLE: dict[str, Callable[[], Any]] = {"trace": trace_facts, "lesson": lesson_facts}


def _each_page() -> list[bytes]:
    return [
        json.dumps([kind, [[place, hostile, added]]]).encode()
        for kind, facts in _WHOLE.items()
        for place in range(len(_texts(facts())))
        for hostile in range(2)
        for added in (False, True)
    ]


def _pages() -> st.SearchStrategy[bytes]:
    change = st.tuples(st.integers(0, 10_000), st.integers(0, len(_HOSTILE) - 1), st.booleans())
    case = st.tuples(st.sampled_from(tuple(_WHOLE)), st.lists(change, min_size=1, max_size=8))
    return case.map(lambda each: json.dumps(each).encode())


def _open(path: Path) -> None:
    """Exports a page of what can be read, and opens it: no script but its own runs, and nothing breaks."""
    kind, changes = json.loads(path.read_bytes())
    facts = json.loads(json.dumps(_WHOLE[kind]()))
    texts = _texts(facts)
    for place, hostile, added in changes:
        *around, last = texts[place % len(texts)]
        inner = _at(facts, around)
        inner[last] = (inner[last] if added else "") + _HOSTILE[hostile]
    page = path.with_name("page.html")
    if kind == "trace":
        path.with_name("hostile.gvt").write_bytes(trace_bytes(facts))
        trace = read_trace(path.with_name("hostile.gvt"))
        stage = prepare_run(Shot(trace.setup), Outcome(trace, _HOSTILE[0]))
        reel = run_reel(stage, ExportOptions(), [0], range(2))
    else:
        path.with_name("hostile.toml").write_bytes(toml_bytes(facts))
        reel = lesson_reel(read_lesson(path.with_name("hostile.toml")), interpreter, ExportOptions(), answers=True)
    save_reel(reel, page)
    _look_at(page)


def _look_at(page: Path) -> None:
    browser = _browser()
    log: Any = browser.get_log
    log("browser")
    browser.get(page.as_uri())
    with suppress(Exception):
        browser.switch_to.alert.dismiss()
        raise AssertionError("a dialog opened")
    browser.execute_async_script(_LOADED)
    assert browser.execute_script("return window.hacked") is None, "a text ran as a script"
    assert browser.execute_script("return document.querySelectorAll(arguments[0]).length", _STRANGE) == 0, (
        "a text became markup"
    )
    assert browser.execute_script("return document.querySelector('.gemmviz')?.dataset.step") is not None, (
        "the page doesn't play"
    )
    complaints = [each["message"] for each in log("browser") if each["level"] == "SEVERE" and "favicon" not in each["message"]]
    assert not complaints, complaints[0]


CAMPAIGNS = {
    "pages": Campaign(".json", _pages, _open, _each_page, ready=_browser, missing=_missing, connects=True),
}

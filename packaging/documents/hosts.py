"""Tries a figure inside web pages that other programs make: opens and prints them in Chromium, and writes the table of
docs/embedding.md.

Programs of Python are looked for in the folder HOSTS_BIN (a virtual environment's), reveal.js in HOSTS_REVEAL (its npm folder),
HTML Purifier in HOSTS_PURIFIER. A host raises FileNotFoundError with the name of a program that isn't installed, and is left
out; it raises RuntimeError for one that fails. Pages are kept in the folder HOSTS_KEEP.
"""

import base64
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from PySide6.QtWidgets import QApplication
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.support.ui import WebDriverWait

import gemmviz
from documents import DOCS, markdown_table, write_part
from gemmviz.render.export import save_frame, script_hash
from gemmviz.render.figure import figure_script
from gemmviz.render.reel import RenderOptions

BIN, REVEAL = Path(os.environ.get("HOSTS_BIN", "")), Path(os.environ.get("HOSTS_REVEAL", ""))
PURIFIER = os.environ.get("HOSTS_PURIFIER", "/usr/share/php")
STEP = 9  # the step that a figure begins with
MOODLE = """<?php
set_include_path($argv[1]);
require_once 'HTMLPurifier/Bootstrap.php';
spl_autoload_register(array('HTMLPurifier_Bootstrap', 'autoload'));
$config = HTMLPurifier_Config::createDefault();
$config->set('Cache.DefinitionImpl', null);
$config->set('Core.ConvertDocumentToFragment', true);
$config->set('HTML.Doctype', 'XHTML 1.0 Transitional');
$config->set('Attr.AllowedFrameTargets', array('_blank'));
$config->set('URI.AllowedSchemes', array_fill_keys(array('http', 'https', 'ftp', 'mailto'), true));
echo (new HTMLPurifier($config))->purify(stream_get_contents(STDIN)), "\\n", HTMLPurifier::VERSION;
"""  # with the settings of Moodle's purify_html in lib/weblib.php
PAGE = DOCS / "embedding.md"
COLUMNS = "host", "version", "plays, difference", "still without scripts", "printed", "remark"
LIMIT = 4.0  # the largest mean difference of a channel, of 255
ROOTS = "[...document.querySelectorAll('figure')].map((each) => each.querySelector('[data-part=stage]')?.shadowRoot)"


@dataclass(frozen=True)
class HostPage:
    """A page: its ``path`` or a file of that name with a query, and the ``version`` of the program that made it."""

    path: Path
    version: str
    query: str = ""
    remark: str = ""
    plays: bool = True


Host = Callable[[Path, str], HostPage]


def program(name: str, *words: str | Path, folder: Path, text: str | None = None) -> str:
    """Run a program in a folder, and return its output."""
    path = BIN / name if (BIN / name).is_file() else shutil.which(name)
    if path is None:
        raise FileNotFoundError(name)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [path, *words], cwd=folder, input=text, capture_output=True, text=True, check=False, env=environment, timeout=300
    )
    if "ModuleNotFoundError" in run.stderr:
        raise FileNotFoundError(run.stderr.strip().rpartition("named ")[2])
    if run.returncode:
        raise RuntimeError(f"{name} failed: {(run.stderr or run.stdout).strip()[-800:]}")
    return run.stdout


def version_of(package: str, folder: Path) -> str:
    return program(
        "python", "-c", f"from importlib.metadata import version; print(version('{package}'))", folder=folder
    ).strip()


# Hosts


def plain(folder: Path, figure: str) -> HostPage:
    (folder / "p.html").write_text(
        f"<!doctype html><meta charset=utf-8><title>x</title><h1>A page</h1>{figure}", encoding="utf-8"
    )
    return HostPage(folder / "p.html", "")


def policy(folder: Path, figure: str) -> HostPage:
    rules = f"default-src 'none'; script-src {script_hash(figure_script())}; img-src data:"
    head = f'<!doctype html><meta charset=utf-8><meta http-equiv="Content-Security-Policy" content="{rules}">'
    (folder / "p.html").write_text(f"{head}<title>x</title>{figure}", encoding="utf-8")
    return HostPage(folder / "p.html", "", remark="scripts by their hash only, no styles, no network")


def two(folder: Path, figure: str) -> HostPage:
    return plain(folder, f"{figure}<p>Another:</p>{figure}")


def reveal(folder: Path, figure: str, query: str = "") -> HostPage:
    if not (REVEAL / "dist").is_dir():
        raise FileNotFoundError("reveal.js (HOSTS_REVEAL)")
    shutil.copytree(REVEAL / "dist", folder / "dist", dirs_exist_ok=True)
    links = "".join(f'<link rel="stylesheet" href="dist/{name}">' for name in ("reset.css", "reveal.css", "theme/black.css"))
    slides = f'<div class="reveal"><div class="slides"><section>{figure}</section><section>End</section></div></div>'
    script = '<script src="dist/reveal.js"></script><script>Reveal.initialize()</script>'
    (folder / "p.html").write_text(f"<!doctype html><meta charset=utf-8>{links}<body>{slides}{script}", encoding="utf-8")
    return HostPage(folder / "p.html", json.loads((REVEAL / "package.json").read_text(encoding="utf-8"))["version"], query)


def reveal_printed(folder: Path, figure: str) -> HostPage:
    return reveal(folder, figure, "?print-pdf")


def mkdocs(folder: Path, figure: str, theme: str = "mkdocs") -> HostPage:
    (folder / "docs").mkdir()
    (folder / "mkdocs.yml").write_text(f"site_name: x\ntheme: {{name: {theme}, font: false}}\n", encoding="utf-8")
    (folder / "docs" / "index.md").write_text(f"# A page\n\nText *before*.\n\n{figure}\nText *after*.\n", encoding="utf-8")
    program("mkdocs", "build", "-q", "-d", folder / "site", folder=folder)
    return HostPage(folder / "site" / "index.html", version_of("mkdocs", folder))


def material(folder: Path, figure: str) -> HostPage:
    page = mkdocs(folder, figure, "material")
    return HostPage(page.path, version_of("mkdocs-material", folder))


def sphinx(folder: Path, figure: str) -> HostPage:
    (folder / "figure.html").write_text(figure, encoding="utf-8")
    (folder / "conf.py").write_text('extensions = ["myst_parser"]\nhtml_theme = "furo"\n', encoding="utf-8")
    (folder / "index.md").write_text("# A page\n\n```{raw} html\n:file: figure.html\n```\n", encoding="utf-8")
    program("sphinx-build", "-q", "-b", "html", ".", "site", folder=folder)
    return HostPage(folder / "site" / "index.html", version_of("sphinx", folder), remark="MyST, theme Furo")


def commonmark(folder: Path, figure: str) -> HostPage:
    text = f"# A page\n\nText *before*.\n\n{figure}\nText *after*.\n"
    code = "import sys, markdown_it; print(markdown_it.MarkdownIt('commonmark').render(sys.stdin.read()))"
    body = program("python", "-c", code, folder=folder, text=text)
    (folder / "p.html").write_text(f"<!doctype html><meta charset=utf-8><main>{body}</main>", encoding="utf-8")
    return HostPage(
        folder / "p.html", "", remark=f"simulated: CommonMark by markdown-it-py {version_of('markdown-it-py', folder)}"
    )


def pandoc(folder: Path, figure: str) -> HostPage:
    (folder / "p.md").write_text(f"---\ntitle: x\n---\n\n# A page\n\n```{{=html}}\n{figure}```\n", encoding="utf-8")
    found = program("python", "-c", "import pypandoc; print(pypandoc.get_pandoc_path())", folder=folder).strip()
    program(found, "p.md", "--standalone", "--embed-resources", "-o", "p.html", folder=folder)
    version = program(found, "--version", folder=folder).split()[1]
    return HostPage(folder / "p.html", "", remark=f"simulated: pandoc {version} --embed-resources, which Quarto calls")


def notebook(folder: Path, figure: str) -> HostPage:
    """A notebook that was run, saved, read again and exported."""
    paths = f"import os, sys; sys.path += {sys.path!r}; os.environ['PYTHONPATH'] = os.pathsep.join(sys.path)"
    cells = [paths, f"import gemmviz\ngemmviz.figure('04_tiled', step={STEP}, name='tiled')"]
    code = (
        "import nbformat, nbclient; from nbformat import v4\n"
        f"book = v4.new_notebook(cells=[v4.new_code_cell(text) for text in {cells!r}])\n"
        "nbclient.NotebookClient(book, kernel_name='python3').execute(); nbformat.write(book, 'p.ipynb')"
    )
    program("python", "-c", code, folder=folder)
    program("jupyter-nbconvert", "--to", "html", "p.ipynb", folder=folder)
    return HostPage(folder / "p.html", version_of("nbconvert", folder), remark="run, saved, read again, exported to HTML")


def moodle(folder: Path, figure: str) -> HostPage:
    if not (Path(PURIFIER) / "HTMLPurifier" / "Bootstrap.php").is_file():
        raise FileNotFoundError("HTML Purifier (HOSTS_PURIFIER)")
    (folder / "p.php").write_text(MOODLE, encoding="utf-8")
    text, _, version = (
        program("php", "-d", "error_reporting=0", "p.php", PURIFIER, folder=folder, text=figure).rstrip().rpartition("\n")
    )
    (folder / "p.html").write_text(f"<!doctype html><meta charset=utf-8>{text}", encoding="utf-8")
    words = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    assert "Cite as" in words, words
    assert len(words) < 700, words  # the caption, and nothing else
    remark = f"simulated: HTML Purifier {version} with Moodle's settings. Caption, licence and links stay"
    return HostPage(folder / "p.html", "", remark=remark, plays=False)


HOSTS: dict[str, Host] = {
    "plain page": plain, "strict content security policy": policy, "two on a page": two, "reveal.js": reveal,
    "reveal.js, print mode": reveal_printed, "MkDocs": mkdocs, "MkDocs Material": material, "Sphinx": sphinx,
    "mdBook": commonmark, "Quarto, self-contained": pandoc, "Jupyter": notebook, "Moodle, text of a student": moodle,
}  # fmt: skip


# What they show


def chromium() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for word in ("headless=new", "no-sandbox", "window-size=1400,1200", "force-device-scale-factor=1"):
        options.add_argument(f"--{word}")
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def command(driver: webdriver.Chrome, name: str, **values: Any) -> Any:
    run: Any = driver.execute_cdp_cmd
    return run(name, values)


def pixels(data: bytes) -> npt.NDArray[np.int64]:
    image = Image.open(io.BytesIO(data)).convert("RGB")
    return np.asarray(image.resize((960, 540), Image.Resampling.BOX)).astype(np.int64)


def differences(driver: webdriver.Chrome, folder: Path) -> Iterator[float]:
    """The mean difference of the canvas of each figure from the window's picture of the same step."""
    WebDriverWait(driver, 15).until(
        lambda _: driver.execute_script(f"return {ROOTS}.every((root) => root?.querySelector('.gemmviz')?.dataset.step)")
    )
    driver.execute_async_script("const done = arguments[0]; document.fonts.ready.then(() => setTimeout(done, 400))")
    for number in range(driver.execute_script(f"return {ROOTS}.length")):
        find = f"{ROOTS}[{number}].querySelector"
        driver.execute_script(
            f"const root = {ROOTS}[{number}], click = (name) => root.querySelector(`[data-do=${{name}}]`).click();"
            "Object.assign(root.host.style, { width: '1300px', maxWidth: 'none' }); click('back'); click('on')"
        )
        driver.execute_async_script("setTimeout(arguments[0], 200)")
        theme = driver.execute_script(f"return {find}('.gemmviz').dataset.theme")
        assert driver.execute_script(f"return {find}('.gemmviz').dataset.step") == str(STEP)
        drawn = driver.execute_script(f"return {find}('.live').toDataURL('image/png')").partition(",")[2]
        shot = gemmviz.scene("04_tiled", step=STEP, theme=theme, on="cpu").shown
        save_frame(shot, folder / "own.png", RenderOptions())
        yield float(np.abs(pixels(base64.b64decode(drawn)) - pixels((folder / "own.png").read_bytes())).mean())


def printed(driver: webdriver.Chrome, folder: Path, name: str) -> bool:
    """Whether the page on paper has the light blue of matrix A."""
    data = command(driver, "Page.printToPDF", printBackground=False)["data"]
    (folder / f"{name}.pdf").write_bytes(base64.b64decode(data))
    subprocess.run(["pdftoppm", "-r", "60", "-png", f"{name}.pdf", name], cwd=folder, check=True)
    return any(is_blue(np.asarray(Image.open(path).convert("RGB"))) for path in folder.glob(f"{name}-*.png"))


def is_blue(image: npt.NDArray[np.uint8]) -> bool:
    red, green, blue = image.astype(int).transpose(2, 0, 1)
    return bool(((blue > 200) & (blue - red > 25) & (green > 180)).mean() > 0.002)


@dataclass(frozen=True)
class Seen:
    """What a host shows: a figure that plays, a still without scripts, and either on paper."""

    plays: bool
    difference: float
    has_still: bool
    is_printed: bool
    is_still_printed: bool


def look(driver: webdriver.Chrome, page: HostPage, folder: Path) -> Seen:
    address = page.path.as_uri() + page.query
    driver.get(address)
    try:
        found = max(differences(driver, folder)) if page.plays else np.nan
    except (WebDriverException, AssertionError):
        found = np.nan
    driver.get("about:blank")
    driver.get(address)
    driver.execute_async_script("setTimeout(arguments[0], 1500)")
    driver.save_screenshot(str(folder / "seen.png"))
    on_paper = printed(driver, folder, "live")
    command(driver, "Emulation.setScriptExecutionDisabled", value=True)
    try:
        driver.get(page.path.as_uri())
        driver.save_screenshot(str(folder / "still.png"))
        has_still = is_blue(np.asarray(Image.open(folder / "still.png").convert("RGB")))
        return Seen(bool(found <= LIMIT), found, has_still, on_paper, printed(driver, folder, "still"))
    finally:
        command(driver, "Emulation.setScriptExecutionDisabled", value=False)


def row(name: str, page: HostPage, seen: Seen) -> list[str]:
    def yes_or_no(fact: bool) -> str:
        return "yes" if fact else "no"

    plays = f"yes, {seen.difference:.1f}" if seen.plays else "no"
    facts = map(yes_or_no, (seen.has_still, seen.is_printed and seen.is_still_printed))
    return [name, page.version, plays, *facts, page.remark]


def hosts() -> None:
    """Print a row for each host, and write the table if all are installed."""
    app = QApplication.instance() or QApplication(sys.argv)
    figure = gemmviz.figure("04_tiled", step=STEP, name="tiled", on="cpu").html
    driver, rows = chromium(), []
    browser = driver.capabilities["browserVersion"]
    try:
        for name, host in HOSTS.items():
            with TemporaryDirectory() as temporary:
                folder = Path(os.environ.get("HOSTS_KEEP") or temporary) / re.sub(r"\W+", "-", name)
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                try:
                    page = host(folder, figure)
                except FileNotFoundError as missing:
                    print(f"{name}: left out, {missing} is not installed", file=sys.stderr)
                    continue
                except RuntimeError as failed:
                    print(f"{name}: left out, {failed}", file=sys.stderr)
                    continue
                rows.append(row(name, page, look(driver, page, folder)))
                print(*rows[-1], sep=" | ", flush=True)
    finally:
        driver.quit()
    del app
    if len(rows) < len(HOSTS):
        sys.exit(f"{PAGE} is unchanged: its table names all {len(HOSTS)} hosts")
    about = f"\n\nChromium {browser}, gemmviz {gemmviz.__version__}.\n"
    write_part(PAGE, "hosts", markdown_table(COLUMNS, rows) + about)

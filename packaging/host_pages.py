"""A figure inside web pages that other programs make: a function for each of these hosts.

Programs of Python are looked for in the folder HOSTS_BIN (a virtual environment's), reveal.js in HOSTS_REVEAL (its npm folder),
HTML Purifier in HOSTS_PURIFIER. A host raises FileNotFoundError with the name of a program that isn't
installed, and RuntimeError for one that fails.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gemmviz.render.figure import figure_script
from gemmviz.render.page_script import script_hash

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

"""Sphinx configuration, used by ``make docs``. The layer diagram, the commands and the API reference come from the code."""

import ast
import colorsys
import inspect
import os
import sys
import tomllib
from html import escape
from pathlib import Path

import gemmviz
from gemmviz.files.resources import resource
from gemmviz.python import library
from gemmviz.scenes.kit.primitives import text_width

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging"))

from documents.tables import chart_svg, releases  # noqa: E402 - found by the path above

project, author = "gemmviz", "The gemmviz authors"
copyright = "2026, the gemmviz authors"
version = release = gemmviz.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinxarg.ext"]
html_theme, html_title = "furo", "gemmviz"
html_static_path, html_css_files = ["static"], ["gallery.css"]
if os.environ.get("DOCS_VERSIONS"):  # the page of a site that lists its versions
    announcement = f'Version {version}. <a href="{os.environ["DOCS_VERSIONS"]}">Other versions</a>'
    html_theme_options = {"announcement": announcement}
html_favicon = str(resource("assets/icons/gemmviz.svg"))
myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3
autodoc_member_order, autodoc_typehints, autoclass_content = "bysource", "signature", "class"
suppress_warnings = ["epub.unknown_project_files"]

_WIDE, _HIGH, _GAP, _LEFT, _NAME = 900, 58, 8, 20, 140
_WIDER = 1.15  # a browser's font may be this much wider than ours

for node in ast.parse(inspect.getsource(library)).body:  # signatures of Structs are evaluated
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        exec("\n".join(map(ast.unparse, node.body)), vars(library))


def layers() -> list[list[str]]:
    """Packages from top to bottom, as in the import contract. Packages in the same row don't import each other."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    rows = next(each["layers"] for each in contracts if each["type"] == "layers")
    return [[name.strip().removeprefix("gemmviz.") for name in row.split("|")] for row in rows]


def sentence(name: str) -> str:
    """First sentence of the docstring of a package or module."""
    path = ROOT / "gemmviz" / name
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).split(": ``")[0].replace("``", "")


def wrapped(text: str, size: float, width: float) -> list[str]:
    """Lines of the text, each at most ``width`` pixels wide at this font size."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], longer] if text_width(longer, size) * _WIDER <= width else [*lines, word]
    return lines


def _tint(share: float) -> str:
    red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(0.57 + 0.22 * share, 0.92, 0.5))
    return f"#{red:02x}{green:02x}{blue:02x}"


def layers_svg() -> str:
    """SVG diagram with one row per layer. A layer may import the layers below it."""
    rows = [row for row in layers() if "__main__" not in row]
    parts = []
    for number, row in enumerate(rows):
        y, width = number * (_HIGH + _GAP), (_WIDE - (len(row) - 1) * _GAP) / len(row)
        for place, name in enumerate(row):
            x, tint = place * (width + _GAP), _tint(number / len(rows))
            left = _NAME if len(row) == 1 else 110
            lines = wrapped(sentence(name), 14, width - left - _LEFT)
            parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{_HIGH}" rx="8" fill="{tint}"/>')
            parts.append(f'<text x="{x + _LEFT}" y="{y + 35}" font-size="17" font-weight="600">{name}</text>')
            for line, words in enumerate(lines):
                base = y + _HIGH / 2 + 5 + (line - (len(lines) - 1) / 2) * 17
                parts.append(f'<text x="{x + left}" y="{base}" font-size="14">{escape(words)}</text>')
    high = len(rows) * (_HIGH + _GAP)
    style = "font-family:sans-serif;fill:#12161c"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {high}" style="{style}">{"".join(parts)}</svg>\n'


(ROOT / "docs" / "made").mkdir(exist_ok=True)
(ROOT / "docs" / "made" / "layers.svg").write_text(layers_svg(), encoding="utf-8")
(ROOT / "docs" / "made" / "releases.svg").write_text(chart_svg(releases()), encoding="utf-8")

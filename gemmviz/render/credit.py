"""The options of a figure for web pages: its name and theme, who made it, its licence, its link, and how it is cited."""

import re
from functools import cache
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from gemmviz.files.resources import resource
from gemmviz.model.errors import UsageError

FigureTheme = Literal["auto", "dark", "light"]
FIGURE_THEMES: tuple[FigureTheme, ...] = ("auto", "dark", "light")
DEFAULT_LICENCE = "CC-BY-4.0"
LICENCES = {
    **{
        f"CC-{terms}-{version}": (f"CC {terms} {version}", f"https://creativecommons.org/licenses/{terms.lower()}/{version}/")
        for terms in ("BY", "BY-SA", "BY-ND", "BY-NC", "BY-NC-SA", "BY-NC-ND")
        for version in ("3.0", "4.0")
    },
    "CC0-1.0": ("CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    **{
        name: (name, f"https://spdx.org/licenses/{name}.html")
        for name in ("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "GFDL-1.3-only", "GFDL-1.3-or-later")
    },
}  # by SPDX identifier: the name that is shown, and the address of the text
_LONGEST_LINK, _LONGEST_TEXT = 2000, 500
_SAFE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class FigureOptions(Struct, frozen=True):
    """Options of a figure.

    ``name``: what URLs and other figures call it; ``follow``: the name of the figure whose steps it shows; ``theme``: "auto"
    for that of the page; ``licence``: an SPDX identifier or any text, "" for no line; ``link``: the URL of its QR code;
    ``is_split``: the script is a file of its own. Raises UsageError for a name, a theme or a link that can't be used.
    """

    name: str = "figure"
    theme: FigureTheme = "auto"
    author: str = ""
    licence: str = DEFAULT_LICENCE
    link: str = ""
    follow: str = ""
    is_split: bool = False

    def __post_init__(self) -> None:
        for name in filter(None, (self.name, self.follow)):
            if not _SAFE_NAME.fullmatch(name):
                raise UsageError(f"a figure can't be called {name!r}", remedy="use up to 64 letters, digits, and _ . -")
        if self.theme not in FIGURE_THEMES:
            raise UsageError(f"a figure has no theme {self.theme!r}", remedy=f"choose {', '.join(FIGURE_THEMES)}")
        if max(len(self.author), len(self.licence)) > _LONGEST_TEXT:
            raise UsageError(f"author and licence have at most {_LONGEST_TEXT} characters", remedy="write a shorter text")
        if self.link:
            check_link(self.link)


def check_link(url: str) -> None:
    """Check that a URL can be linked to. Raises UsageError."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and len(url) <= _LONGEST_LINK
    except ValueError:
        is_usable = False
    if not is_usable or re.search(r"[\s\x00-\x1f\x7f\"<>\\^`{|}]", url):
        raise UsageError(f"{url[:80]!r} can't be linked to", remedy="write a URL such as https://example.org/course#tiled")


def figure_name(text: str) -> str:
    """Return a text as the name of a figure: without the characters that names can't have."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.")[:64] or "figure"


def known_licence(identifier: str) -> tuple[str, str]:
    """Return the name of a licence and the address of its text, which is "" unless the SPDX identifier is known."""
    return LICENCES.get(identifier, (identifier, ""))


class Citation(Struct, frozen=True):
    """How gemmviz is cited: in ``words``, with its ``version`` and the ``address`` of its repository."""

    words: str
    version: str
    address: str


@cache
def citation() -> Citation:
    """Return what CITATION.cff says."""
    text = resource("CITATION.cff").read_text(encoding="utf-8")
    facts = dict(re.findall(r"^(?:  - )?([\w-]+): \"?(.*?)\"?$", text, re.MULTILINE))
    version = facts["version"]
    return Citation(f"{facts['title']}, version {version} ({facts['name']})", version, facts["repository-code"])

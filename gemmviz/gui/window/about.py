"""The About box: what this is, the versions of what it stands on, and everyone's licence."""

import platform
import re
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata, requires

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QTextBrowser, QVBoxLayout, QWidget

from gemmviz import __version__
from gemmviz.files.resources import resource


def about_text() -> str:
    """Versions and licences, as HTML."""
    rows = "".join(f"<tr><td>{name}</td><td>{version}</td><td>{licence}</td></tr>" for name, version, licence in _facts())
    fonts = resource("assets/fonts/OFL.txt").read_text(encoding="utf-8")
    return (
        f"<p>Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}</p>"
        "<table cellpadding=3><tr><th align=left>library</th><th align=left>version</th><th align=left>licence</th></tr>"
        f"{rows}</table>"
        "<p>gemmviz is under the MIT licence. The fonts Inter and JetBrains Mono are under the SIL Open Font License:</p>"
        f"<pre>{fonts}</pre>"
    )


def _facts() -> list[tuple[str, str, str]]:
    found = []
    for name in _libraries():
        try:
            facts = metadata(name)
        except PackageNotFoundError:  # a frozen program leaves the metadata out
            continue
        licence = _fact(facts, "License-Expression") or _fact(facts, "License")
        classified = [
            each.rsplit("::", 1)[-1].strip() for each in facts.get_all("Classifier") or [] if each.startswith("License")
        ]
        short = licence.strip().splitlines()[0] if licence.strip() else ", ".join(classified)
        found.append((name, facts["Version"], short))
    return found


def _libraries() -> list[str]:
    """Names of the packages that gemmviz requires; none where its metadata is left out."""
    try:
        required = requires("gemmviz") or []
    except PackageNotFoundError:
        return []
    return [re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in required if "extra ==" not in each]


def _fact(facts: PackageMetadata, name: str) -> str:
    return str(facts[name]) if name in facts else ""


class AboutBox(QDialog):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About gemmviz")
        self.resize(620, 520)
        heading = QLabel(f"<h2>gemmviz {__version__}</h2>Shows what every thread of a matrix-multiplication kernel does.")
        heading.setTextFormat(Qt.TextFormat.RichText)
        self.text = QTextBrowser()
        self.text.setAccessibleName("Versions and licences")
        self.text.setHtml(about_text())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(heading)
        layout.addWidget(self.text, 1)
        layout.addWidget(buttons)

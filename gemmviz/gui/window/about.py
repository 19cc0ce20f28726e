"""The About box: the version, the versions of the libraries, and all licences."""

import platform
import re
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata, requires

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QTextBrowser, QVBoxLayout, QWidget

from gemmviz import __version__
from gemmviz.files.resources import resource
from gemmviz.model.translation import tr


def about_text() -> str:
    """Return versions and licences as HTML."""
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
    rows = []
    for name in _libraries():
        try:
            package = metadata(name)
        except PackageNotFoundError:  # a frozen program has no metadata
            continue
        licence = _fact(package, "License-Expression") or _fact(package, "License")
        classified = [
            each.rsplit("::", 1)[-1].strip() for each in package.get_all("Classifier") or [] if each.startswith("License")
        ]
        short = licence.strip().splitlines()[0] if licence.strip() else ", ".join(classified)
        rows.append((name, package["Version"], short))
    return rows


def _libraries() -> list[str]:
    """Return the names of the packages that gemmviz requires; none if its metadata is missing."""
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
        self.setWindowTitle(tr("About gemmviz"))
        self.resize(620, 520)
        heading = QLabel(tr("<h2>gemmviz {version}</h2>Shows what every thread of a CUDA kernel does.", version=__version__))
        heading.setTextFormat(Qt.TextFormat.RichText)
        self.text = QTextBrowser()
        self.text.setAccessibleName(tr("Versions and licences"))
        self.text.setHtml(about_text())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(heading)
        layout.addWidget(self.text, 1)
        layout.addWidget(buttons)

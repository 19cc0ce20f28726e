"""The About box: the version, the versions of the libraries, and all licences."""

import platform
from html import escape

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QTextBrowser, QVBoxLayout, QWidget

from gemmviz import RELEASES, __version__
from gemmviz.files.distributions import installed_distributions
from gemmviz.files.resources import resource
from gemmviz.model.translation import tr


def about_text() -> str:
    """Return versions and licences as HTML."""
    cells = ((each.name, each.version, each.licence) for each in installed_distributions())
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
    fonts = resource("assets/fonts/OFL.txt").read_text(encoding="utf-8")
    return (
        f"<p>Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}</p>"
        "<table cellpadding=3><tr><th align=left>library</th><th align=left>version</th><th align=left>licence</th></tr>"
        f"{rows}</table>"
        "<p>gemmviz is under the MIT licence. The fonts Inter and JetBrains Mono are under the SIL Open Font License:</p>"
        f"<pre>{fonts}</pre>"
    )


class AboutBox(QDialog):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("About gemmviz"))
        self.resize(620, 520)
        what = tr("<h2>gemmviz {version}</h2>Shows what every thread of a CUDA kernel does.", version=__version__)
        newer = tr("Newer versions: {link}", link=f'<a href="{RELEASES}">{RELEASES}</a>')
        heading = QLabel(f"{what}<p>{newer}</p>")
        heading.setTextFormat(Qt.TextFormat.RichText)
        heading.setOpenExternalLinks(True)
        self.text = QTextBrowser()
        self.text.setAccessibleName(tr("Versions and licences"))
        self.text.setHtml(about_text())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(heading)
        layout.addWidget(self.text, 1)
        layout.addWidget(buttons)

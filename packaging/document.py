"""Writes what is generated in the documentation: make document WHAT=gallery, python packaging/document.py WHAT.

gallery          docs/gallery.md with its pictures: every lesson, view and format
pictures         the README's pictures, and the gallery's examples of formats
film             the film of a first minute in the window
contact-sheet    the picture with all steps of the course
notes            docs/notes: pages, tables and pictures, from recordings
speeds           the table of recorded speeds in docs/speeds.md
packages         the table in docs/installing.md of what an installation downloads; downloads all of it
figures [sizes]  the figures of this version in docs/releases.toml, or only those of sizes
hosts            the table in docs/embedding.md of programs that make pages; needs them and Chromium
"""

import os
import sys

from commands import run

COMMANDS = {
    "documents.gallery": ("gallery",),
    "documents.pictures": ("pictures", "film", "contact-sheet"),
    "documents.notes": ("notes",),
    "documents.tables": ("speeds", "packages", "figures"),
    "documents.hosts": ("hosts",),
}

if __name__ == "__main__":
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    sys.exit(run(COMMANDS, __doc__))

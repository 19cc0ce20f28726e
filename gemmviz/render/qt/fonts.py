"""The bundled fonts as Qt fonts."""

from functools import cache

from PySide6.QtGui import QFont, QFontDatabase

from gemmviz.model.errors import InstallationError
from gemmviz.scenes.kit.primitives import Face
from gemmviz.scenes.kit.text import font_path


@cache
def load_fonts() -> dict[Face, str]:
    """Register the bundled fonts with Qt, once, and return the family of each face.

    Needs a QGuiApplication. Raises InstallationError for a font file that is missing or damaged.
    """
    families: dict[Face, str] = {}
    faces: tuple[Face, ...] = ("regular", "semibold", "mono")
    for face in faces:
        number = QFontDatabase.addApplicationFont(str(font_path(face)))
        if number < 0:
            raise InstallationError("this font can't be read", file=str(font_path(face)))
        families[face] = QFontDatabase.applicationFontFamilies(number)[0]
    return families


def font(face: Face, pixels: float) -> QFont:
    """Return a bundled font at a size in pixels."""
    font = QFont(load_fonts()[face])
    font.setPixelSize(max(1, round(pixels)))
    font.setWeight(QFont.Weight.DemiBold if face == "semibold" else QFont.Weight.Normal)
    font.setFeature(QFont.Tag("calt"), 0)  # no ligatures: code keeps its columns
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font

"""Modules and shared libraries that no part of the program needs, and that installers leave out.

A test opens every view of the window and exports without these modules, and compares the libraries that are loaded with the
patterns.
"""

from fnmatch import fnmatch
from pathlib import Path, PurePath

from gemmviz.files.languages import languages
from gemmviz.model.messages import ENGLISH

_OPTIONAL = (  # of pyqtgraph, of the prompt, and of hashlib, which has functions of its own
    "PySide6.QtNetwork", "PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets", "PySide6.QtTest", "readline", "_hashlib", "_ssl", "ssl",
)  # fmt: skip
_UNUSED = (
    "IPython", "OpenGL", "PIL.AvifImagePlugin", "PIL.ImageCms", "PIL.ImageQt", "PIL.ImageTk", "PIL.WebPImagePlugin",
    "PIL._avif", "PIL._imagingcms", "PIL._imagingft", "PIL._imagingtk", "PIL._webp", "anywidget", "cupy", "lxml.html",
    "lxml.isoschematron", "lxml.objectify", "lxml.sax", "matplotlib", "numba", "numpy._core._multiarray_tests",
    "numpy.distutils", "numpy.f2py", "pip", "pydoc_data", "pyqtgraph.canvas", "pyqtgraph.console",
    "pyqtgraph.dockarea", "pyqtgraph.examples", "pyqtgraph.flowchart", "pyqtgraph.jupyter", "pyqtgraph.opengl",
    "pytest", "scipy", "setuptools", "sqlite3", "tkinter", "traitlets", "wheel",
)  # fmt: skip
MODULES = _OPTIONAL + _UNUSED
STAND_IN = Path(__file__).with_name("stand_in.py")
STOOD_IN_FOR = ("PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets")  # of MODULES

_SCREENS = (  # screens without a desktop, and the devices that only those read
    "*/plugins/egldeviceintegrations/*", "*/plugins/generic/*", "*/plugins/platforms/libq[ml]in*",
    "*/plugins/platforms/libqeglfs*", "*/plugins/platforms/libqv*", "libQt6EglF*",
)  # fmt: skip
_NETWORK = ("*/plugins/networkinformation/*", "*/plugins/tls/*", "libQt6Network.*", "QtNetwork.*")
_PICTURES = ("*/plugins/imageformats/libq[gijtw]*",)  # they come from SVG files and from memory
_PARTS_OF_QT = (
    "libQt6OpenGL*", "libQt6Pdf*", "libQt6Qml*", "libQt6Quick*", "libQt6Test.*", "libQt6VirtualKeyboard*", "QtOpenGL*.so",
    "QtQml*", "QtQuick*", "QtTest.*", "*/Qt/qml/*", "*/Qt/translations/*",
)  # fmt: skip
_GTK = (  # Qt's theme for GTK, and what it needs
    "libqgtk3.so", "libatk-*", "libatspi.*", "libcairo*", "libdatrie.*", "libepoxy.*", "libgdk*", "libgio-*", "libgmodule-*",
    "libgobject-*", "libgraphite2.*", "libgtk-3.*", "libharfbuzz.*", "libpango*", "libpixman-*", "libthai.*",
    "libwayland-egl.*", "libXcomposite.*", "libXdamage.*", "libXi.*", "libXinerama.*", "libXrandr.*",
)  # fmt: skip
_OF_PYQTGRAPH = ("*/pyqtgraph/icons/peegee/*", "*/pyqtgraph/colors/maps/*")
_OF_LEFT_OUT_ONES = (
    "libavif-*", "libblkid.*", "libbrotli*-*", "libcom_err.*", "libcrypto.*", "libfreetype-*", "libgssapi_krb5.*",
    "libharfbuzz-*", "libk5crypto.*", "libkeyutils.*", "libkrb5*", "liblcms2-*", "libmount.*", "libpng16-*", "libreadline.*",
    "libsharpyuv-0066295b*", "libssl.*", "libtinfo.*", "libwebpdemux-*", "libwebpmux-8*",
)  # fmt: skip
LANGUAGES = tuple(code for code in languages() if code != ENGLISH)  # Qt's own texts in others are never shown
LIBRARIES = (*_SCREENS, *_NETWORK, *_PICTURES, *_OF_PYQTGRAPH, *_PARTS_OF_QT, *_GTK, *_OF_LEFT_OUT_ONES)


def is_unneeded(path: str) -> bool:
    """Whether a file is a library that no part of the program needs, by its path in the bundle or in an environment."""
    path = path.replace("\\", "/")
    if PurePath(path).name in {f"qtbase_{language}.qm" for language in LANGUAGES}:
        return False
    return any(fnmatch(path if "/" in pattern else PurePath(path).name, pattern) for pattern in LIBRARIES)

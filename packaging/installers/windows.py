"""Windows: a zip archive, and an MSI made by WiX from the same folder. SIGNTOOL_PFX, a certificate in Base64, signs them."""

import base64
import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from gemmviz import __version__
from installers.bundle import ROOT, make_bundle

BUILD, DIST = ROOT / "build", ROOT / "dist"
_TIMES = "http://timestamp.digicert.com"


def archive() -> Path:
    """Return a zip archive of the program."""
    folder = _program()
    return Path(shutil.make_archive(str(DIST / f"gemmviz-{__version__}-windows"), "zip", folder.parent, folder.name))


def msi() -> Path:
    """Return an installer for one user. Raises FileNotFoundError without WiX."""
    wix = shutil.which("wix")
    if wix is None:
        raise FileNotFoundError("WiX is missing: dotnet tool install --global wix")
    folder, file = _program(), DIST / f"gemmviz-{__version__}.msi"
    recipe = ROOT / "packaging" / "windows" / "gemmviz.wxs"
    words = ["build", str(recipe), "-d", f"Version={__version__}", "-d", f"Folder={folder}", "-o", str(file)]
    subprocess.run([wix, *words], check=True)
    _sign(file)
    return file


def _program() -> Path:
    DIST.mkdir(exist_ok=True)
    folder = make_bundle(BUILD)
    _sign(folder / "gemmviz.exe")
    return folder


def _sign(file: Path) -> None:
    """Sign a file with the certificate and the password that the environment has; without them it stays unsigned."""
    if not os.environ.get("SIGNTOOL_PFX"):
        return
    with TemporaryDirectory() as folder:
        certificate = Path(folder) / "certificate.pfx"
        certificate.write_bytes(base64.b64decode(os.environ["SIGNTOOL_PFX"]))
        key = ["/f", str(certificate), "/p", os.environ.get("SIGNTOOL_PASSWORD", "")]
        subprocess.run(["signtool", "sign", *key, "/fd", "SHA256", "/tr", _TIMES, "/td", "SHA256", str(file)], check=True)

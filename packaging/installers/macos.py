"""macOS: a disk image with the application, signed where CODESIGN_IDENTITY names a certificate of the keychain, and notarized
where NOTARY_APPLE_ID, NOTARY_TEAM_ID and NOTARY_PASSWORD are set.
"""

import os
import subprocess
from pathlib import Path

from gemmviz import __version__
from installers.bundle import ROOT, make_bundle

BUILD, DIST = ROOT / "build", ROOT / "dist"


def image() -> Path:
    """Return the disk image."""
    application = make_bundle(BUILD).with_suffix(".app")
    identity, person = os.environ.get("CODESIGN_IDENTITY"), os.environ.get("NOTARY_APPLE_ID")
    if identity:
        _run("codesign", "--force", "--deep", "--options", "runtime", "--timestamp", "--sign", identity, str(application))
    DIST.mkdir(exist_ok=True)
    file = DIST / f"gemmviz-{__version__}-macos-{os.uname().machine}.dmg"
    _run("hdiutil", "create", "-volname", "gemmviz", "-srcfolder", str(application), "-ov", "-format", "ULMO", str(file))
    if identity:
        _run("codesign", "--sign", identity, str(file))
    if person:
        who = ("--apple-id", person, "--team-id", os.environ["NOTARY_TEAM_ID"], "--password", os.environ["NOTARY_PASSWORD"])
        _run("xcrun", "notarytool", "submit", str(file), *who, "--wait")
        _run("xcrun", "stapler", "staple", str(file))
    return file


def _run(*words: str) -> None:
    subprocess.run(words, check=True)

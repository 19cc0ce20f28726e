"""Makes one installer, in an environment that has gemmviz with its extras and PyInstaller: called by ``release.py installer``.

On each system, the program with its own Python is a folder, made by PyInstaller. Linux gets a Debian package, an archive that
installs itself and an AppImage, all from one tree of files below a prefix; Windows a zip archive, and an MSI made by WiX;
macOS a disk image. SIGNTOOL_PFX, a certificate in Base64, signs files for Windows. For macOS, CODESIGN_IDENTITY names a
certificate of the keychain, and NOTARY_APPLE_ID, NOTARY_TEAM_ID and NOTARY_PASSWORD have the image notarized.
"""

import base64
import os
import platform
import shutil
import subprocess
import sys
from datetime import date
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory

from gemmviz import __version__

ROOT = Path(__file__).resolve().parent.parent
PACKAGING, BUILD, DIST = ROOT / "packaging", ROOT / "build", ROOT / "dist"
_TOOLS = {
    "strip": "apt-get install binutils",
    "ar": "apt-get install binutils",
    "mksquashfs": "apt-get install squashfs-tools",
    "wix": "dotnet tool install --global wix",
}


def _tool(name: str) -> str:
    """The path of a program. Raises FileNotFoundError that says how to install it."""
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is missing: {_TOOLS[name]}")
    return found


def _run(*words: str, folder: Path | None = None) -> None:
    subprocess.run(words, cwd=folder, check=True)


# The program as a folder

ICON_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
_AS_IT_IS = ("*.libs/*", "*/PySide6/*", "*/clang/native/*")  # their loaders' tables don't survive strip


def draw_icons(folder: Path) -> dict[int, Path]:
    """Draw the icon in each size. Returns the files by size in pixels."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    app = QGuiApplication.instance() or QGuiApplication(["icons", "-platform", "offscreen"])
    renderer = QSvgRenderer(str(ROOT / "assets" / "icons" / "gemmviz.svg"))
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for size in ICON_SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        files[size] = folder / f"{size}.png"
        assert image.save(str(files[size])), files[size]
    del app
    return files


def make_bundle() -> Path:
    """Return the folder with the program."""
    draw_icons(BUILD / "icons")
    words = ["--noconfirm", "--log-level", "ERROR", "--distpath", str(BUILD / "bundle"), "--workpath", str(BUILD / "work")]
    spec = str(PACKAGING / "frozen" / "gemmviz.spec")
    _run(sys.executable, "-m", "PyInstaller", *words, spec, folder=BUILD)  # not beside the sources
    folder = BUILD / "bundle" / "gemmviz"
    if sys.platform.startswith("linux"):
        _strip(folder)
    subprocess.run([str(folder / "gemmviz"), "lesson", "list"], check=True, stdout=subprocess.DEVNULL)
    return folder


def _strip(folder: Path) -> None:
    """Remove the debugging symbols of libraries, a fifth of the folder's size."""
    libraries = [each for each in folder.rglob("*.so*") if each.is_file() and not each.is_symlink()]
    chosen = [str(each) for each in libraries if not any(fnmatch(each.as_posix(), pattern) for pattern in _AS_IT_IS)]
    _run(_tool("strip"), "--strip-unneeded", *chosen)


# Linux

FILES = PACKAGING / "linux"
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
_SHARE = {
    "gemmviz.desktop": "applications/gemmviz.desktop",
    "gemmviz.xml": "mime/packages/gemmviz.xml",
    "io.github.gemmviz.metainfo.xml": "metainfo/io.github.gemmviz.metainfo.xml",
}
_XZ = ("xz", "--x86", "--lzma2=preset=6,dict=64MiB")  # the filter for machine code saves a twentieth
# What the bundle takes from the system: a driver brings its own libGL, and a display its own protocol.
_GLIBC = platform.libc_ver()[1]  # a newer one runs what was built with this one
DEPENDS = f"libc6 (>= {_GLIBC}), libegl1, libfontconfig1, libgl1, libxcb1, fonts-dejavu-core"
_CONTROL = """\
Package: gemmviz
Version: {version}
Architecture: {architecture}
Section: education
Priority: optional
Maintainer: The gemmviz authors <gemmviz@users.noreply.github.com>
Installed-Size: {size}
Depends: {depends}
Homepage: https://github.com/gemmviz/gemmviz
Description: Shows what every thread of a CUDA kernel does
 gemmviz opens a CUDA file, runs its kernel, records every memory access of
 every thread, and replays the record: blocks, phases, tiles in shared memory,
 registers, warps, sectors and bank conflicts. It needs no GPU.
"""
_AFTER = """\
#!/bin/sh
set -e
if command -v update-mime-database > /dev/null; then update-mime-database /usr/share/mime; fi
if command -v update-desktop-database > /dev/null; then update-desktop-database -q; fi
if command -v gtk-update-icon-cache > /dev/null; then gtk-update-icon-cache -q -t -f /usr/share/icons/hicolor || true; fi
"""  # of the installation and of the removal


def make_tree(prefix: Path) -> None:
    """Put the program, its link, and the files for the desktop below a prefix such as ``/usr``."""
    shutil.copytree(make_bundle(), prefix / "lib" / "gemmviz", symlinks=True)
    (prefix / "bin").mkdir()
    (prefix / "bin" / "gemmviz").symlink_to("../lib/gemmviz/gemmviz")
    add_desktop_files(prefix / "share")
    names = [each.relative_to(prefix).as_posix() for each in sorted((prefix / "share").rglob("*")) if each.is_file()]
    (prefix / "lib" / "gemmviz" / "installed-files").write_text("\n".join(["bin/gemmviz", *names, ""]), encoding="utf-8")


def add_desktop_files(share: Path) -> None:
    """Put the menu entry, the types of files, the description, the licence and the icons into a folder ``share``."""
    facts = {"@VERSION@": __version__, "@DATE@": _date()}
    for name, place in _SHARE.items():
        _write(share / place, _filled((FILES / name).read_text(encoding="utf-8"), facts))
    _write(share / "doc" / "gemmviz" / "copyright", (ROOT / "LICENSE").read_text(encoding="utf-8"))
    for size, file in draw_icons(BUILD / "icons").items():
        target = share / "icons" / "hicolor" / f"{size}x{size}" / "apps" / "gemmviz.png"
        target.parent.mkdir(parents=True)
        shutil.copy(file, target)
    scalable = share / "icons" / "hicolor" / "scalable" / "apps" / "gemmviz.svg"
    scalable.parent.mkdir(parents=True)
    shutil.copy(ROOT / "assets" / "icons" / "gemmviz.svg", scalable)


def deb() -> Path:
    """Return a Debian package. It is put together from its three parts, so that the data can be packed tighter."""
    with TemporaryDirectory(dir=_folder(BUILD)) as name:
        work = Path(name)
        make_tree(work / "data" / "usr")
        kib = sum(each.stat().st_size for each in (work / "data").rglob("*") if each.is_file()) // 1024
        facts = {"version": __version__, "architecture": ARCHITECTURE, "size": kib, "depends": DEPENDS}
        _write(work / "control" / "control", _CONTROL.format(**facts))
        for script in ("postinst", "postrm"):
            _write(work / "control" / script, _AFTER)
            (work / "control" / script).chmod(0o755)
        (work / "debian-binary").write_text("2.0\n", encoding="ascii")
        _tar(work / "control", work / "control.tar.xz")
        _tar(work / "data", work / "data.tar.xz")
        file = _folder(DIST) / f"gemmviz_{__version__}_{ARCHITECTURE}.deb"
        file.unlink(missing_ok=True)
        _run(_tool("ar"), "rcD", str(file), "debian-binary", "control.tar.xz", "data.tar.xz", folder=work)
    return file


def archive() -> Path:
    """Return a shell script that ends with the packed tree and installs it for one user."""
    with TemporaryDirectory(dir=_folder(BUILD)) as name:
        work = Path(name)
        make_tree(work / "tree")
        _tar(work / "tree", work / "tree.tar.xz")
        script = (FILES / "install.sh").read_text(encoding="utf-8")
        head = _filled(script, {"@VERSION@": __version__, "@LINES@": str(script.count("\n") + 1)})
        file = _folder(DIST) / f"gemmviz-{__version__}-linux-{platform.machine()}.run"
        file.write_bytes(head.encode() + (work / "tree.tar.xz").read_bytes())
        file.chmod(0o755)
    return file


def appimage() -> Path:
    """Return an AppImage: its runtime, a program named by APPIMAGE_RUNTIME, and an image of the tree behind it.

    Raises FileNotFoundError without the runtime, which is on the AppImage project's page and in no package registry.
    """
    runtime = Path(os.environ.get("APPIMAGE_RUNTIME", ""))
    if not runtime.is_file():
        raise FileNotFoundError("an AppImage begins with its runtime: set APPIMAGE_RUNTIME to the file runtime-x86_64")
    with TemporaryDirectory(dir=_folder(BUILD)) as name:
        work = Path(name)
        make_tree(work / "AppDir" / "usr")
        for link, target in (
            ("AppRun", "usr/bin/gemmviz"), ("gemmviz.desktop", "usr/share/applications/gemmviz.desktop"),
            ("gemmviz.svg", "usr/share/icons/hicolor/scalable/apps/gemmviz.svg"),
        ):  # fmt: skip
            (work / "AppDir" / link).symlink_to(target)
        image = work / "image"
        words = ["-root-owned", "-noappend", "-quiet", "-comp", "xz", "-Xbcj", "x86"]
        _run(_tool("mksquashfs"), str(work / "AppDir"), str(image), *words)
        file = _folder(DIST) / f"gemmviz-{__version__}-{platform.machine()}.AppImage"
        file.write_bytes(runtime.read_bytes() + image.read_bytes())
        file.chmod(0o755)
    return file


def _tar(folder: Path, file: Path) -> None:
    """Pack a folder with files of one kind side by side, so that they are packed tighter; all belong to root."""
    paths = list(folder.rglob("*"))
    files = sorted((each for each in paths if not _is_folder(each)), key=lambda each: (".so" in each.name, each.suffix, each))
    names = [*sorted(filter(_is_folder, paths)), *files]
    listed = "".join(f"./{each.relative_to(folder)}\0" for each in names)
    words = ["tar", "-c", "--no-recursion", "--owner=0", "--group=0", "--numeric-owner", f"--mtime={_date()}"]
    with file.open("wb") as target:
        tar = subprocess.Popen([*words, "--null", "-T", "-"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        xz = subprocess.Popen(_XZ, stdin=tar.stdout, stdout=target)
        assert tar.stdin is not None
        assert tar.stdout is not None
        tar.stdout.close()
        tar.stdin.write(listed.encode())
        tar.stdin.close()
        if tar.wait() or xz.wait():
            raise OSError(f"{file} can't be packed")


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _date() -> str:
    """Return the date of the release by the changelog, today before there is one."""
    line = next(each for each in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if each.startswith("## "))
    _, _, day = line.rstrip(")").partition("(")
    return day or date.today().isoformat()


def _filled(text: str, facts: dict[str, str]) -> str:
    for name, value in facts.items():
        text = text.replace(name, value)
    return text


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


# Windows

_TIMES = "http://timestamp.digicert.com"


def windows() -> Path:
    """Return a zip archive of the program."""
    folder = _program()
    return Path(shutil.make_archive(str(DIST / f"gemmviz-{__version__}-windows"), "zip", folder.parent, folder.name))


def msi() -> Path:
    """Return an installer for one user. Raises FileNotFoundError without WiX."""
    wix = _tool("wix")
    folder, file = _program(), DIST / f"gemmviz-{__version__}.msi"
    recipe = PACKAGING / "windows" / "gemmviz.wxs"
    words = ["build", str(recipe), "-d", f"Version={__version__}", "-d", f"Folder={folder}", "-o", str(file)]
    _run(wix, *words)
    _sign(file)
    return file


def _program() -> Path:
    _folder(DIST)
    folder = make_bundle()
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
        _run("signtool", "sign", *key, "/fd", "SHA256", "/tr", _TIMES, "/td", "SHA256", str(file))


# macOS


def macos() -> Path:
    """Return a disk image."""
    application = make_bundle().with_suffix(".app")
    identity, person = os.environ.get("CODESIGN_IDENTITY"), os.environ.get("NOTARY_APPLE_ID")
    if identity:
        _run("codesign", "--force", "--deep", "--options", "runtime", "--timestamp", "--sign", identity, str(application))
    file = _folder(DIST) / f"gemmviz-{__version__}-macos-{os.uname().machine}.dmg"
    _run("hdiutil", "create", "-volname", "gemmviz", "-srcfolder", str(application), "-ov", "-format", "ULMO", str(file))
    if identity:
        _run("codesign", "--sign", identity, str(file))
    if person:
        who = ("--apple-id", person, "--team-id", os.environ["NOTARY_TEAM_ID"], "--password", os.environ["NOTARY_PASSWORD"])
        _run("xcrun", "notarytool", "submit", str(file), *who, "--wait")
        _run("xcrun", "stapler", "staple", str(file))
    return file


MAKERS = {"deb": deb, "archive": archive, "appimage": appimage, "windows": windows, "msi": msi, "macos": macos}


def main() -> int:
    """Make the installer of the kind that is named."""
    try:
        file = MAKERS[sys.argv[1]]()
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

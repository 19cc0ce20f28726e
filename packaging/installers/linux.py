"""Linux: a Debian package, an archive that installs itself, and an AppImage, all from one tree of files below a prefix."""

import os
import platform
import shutil
import subprocess
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from gemmviz import __version__
from installers.bundle import ROOT, draw_icons, make_bundle

BUILD, DIST = ROOT / "build", ROOT / "dist"
FILES = ROOT / "packaging" / "linux"
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


def make_tree(prefix: Path) -> None:
    """Put the program, its link, and the files for the desktop below a prefix such as ``/usr``."""
    shutil.copytree(make_bundle(BUILD), prefix / "lib" / "gemmviz", symlinks=True)
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
        facts = {"@VERSION@": __version__, "@ARCHITECTURE@": ARCHITECTURE, "@SIZE@": str(kib), "@DEPENDS@": DEPENDS}
        _write(work / "control" / "control", _filled((FILES / "control").read_text(encoding="utf-8"), facts))
        for script in ("postinst", "postrm"):
            shutil.copy(FILES / "after-install.sh", work / "control" / script)
            (work / "control" / script).chmod(0o755)
        (work / "debian-binary").write_text("2.0\n", encoding="ascii")
        _tar(work / "control", work / "control.tar.xz")
        _tar(work / "data", work / "data.tar.xz")
        file = _folder(DIST) / f"gemmviz_{__version__}_{ARCHITECTURE}.deb"
        file.unlink(missing_ok=True)
        subprocess.run([_tool("ar"), "rcD", str(file), "debian-binary", "control.tar.xz", "data.tar.xz"], cwd=work, check=True)
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
        subprocess.run([_tool("mksquashfs"), str(work / "AppDir"), str(image), *words], check=True)
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
    words = [
        "tar",
        "-c",
        "--no-recursion",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        f"--mtime={_date()}",
        "--null",
        "-T",
        "-",
    ]
    with file.open("wb") as target:
        tar = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        package = {"ar": "binutils", "mksquashfs": "squashfs-tools"}[name]
        raise FileNotFoundError(f"{name} is missing: apt-get install {package}")
    return found


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

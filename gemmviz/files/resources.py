"""Paths of what ships with gemmviz and of the user's own folder; and child processes, which start gemmviz itself."""

import os
import sys
from pathlib import Path
from typing import IO

from platformdirs import user_cache_path, user_config_path, user_data_path

from gemmviz.model.errors import InstallationError

_PACKAGE = Path(__file__).resolve().parent.parent
_IS_CHECKOUT = (_PACKAGE.parent / "pyproject.toml").is_file() and not (_PACKAGE / "data").is_dir()
ROOT = _PACKAGE.parent if _IS_CHECKOUT else _PACKAGE / "data"


def resource(name: str) -> Path:
    """Path of a shipped file or folder, such as ``"assets/fonts/OFL.txt"``.

    Raises InstallationError if it is missing.
    """
    path = ROOT / name
    if not path.exists():
        raise _missing_resource("file" if path.suffix else "folder", name)
    return path


def resources(folder: str, pattern: str) -> list[Path]:
    """Paths in a shipped folder that match ``pattern``, sorted: ``resources("kernels", "*.cu")``.

    Raises InstallationError if the folder is missing or none of its files matches.
    """
    paths = sorted(resource(folder).glob(pattern), key=str)
    if not paths:
        raise _missing_resource("files", f"{folder}/{pattern}")
    return paths


def _missing_resource(kind: str, name: str) -> InstallationError:
    verb = "are" if kind == "files" else "is"
    return InstallationError(f"the {kind} {name} {verb} missing from this installation", file=str(ROOT))


def user_folder(name: str) -> Path:
    """Folder of a user's own files of one kind, which may not exist.

    It is ``name`` in the folder GEMMVIZ_HOME if that is set, else in ``gemmviz`` in the system's folder for settings.
    """
    home = os.environ.get("GEMMVIZ_HOME")
    if home:
        return Path(home) / name
    return user_config_path("gemmviz", appauthor=False, roaming=True) / name


def cache_folder() -> Path:
    """Folder of files that can be written again at any time, which may not exist: ``cache`` in the folder GEMMVIZ_HOME if that
    is set, else the system's folder for caches.
    """
    home = os.environ.get("GEMMVIZ_HOME")
    return Path(home) / "cache" if home else user_cache_path("gemmviz", appauthor=False)


def packages_folder() -> Path:
    """Folder of the packages that an installer's program may import beside its own, such as CuPy; it may not exist. It is
    ``packages`` in the folder GEMMVIZ_HOME if that is set, else in the system's folder for data.
    """
    home = os.environ.get("GEMMVIZ_HOME")
    return Path(home or user_data_path("gemmviz", appauthor=False)) / "packages"


# Child processes of the program: the command line that starts gemmviz itself, and frames of bytes on a pipe.

NO_CONSOLE = 0x08000000 if os.name == "nt" else 0  # creation flag: open no console window
_LENGTH_BYTES = 8


def gemmviz_command(*words: str) -> list[str]:
    """Command line that runs gemmviz with these arguments. It imports nothing from the current folder."""
    frozen = getattr(sys, "frozen", False)
    return [sys.executable, *words] if frozen else [sys.executable, "-P", "-m", "gemmviz", *words]


def child_environment(variables: dict[str, str] | None = None) -> dict[str, str]:
    """Environment in which ``gemmviz_command`` runs this same package, with more variables."""
    package = str(Path(__file__).resolve().parent.parent.parent)
    environment = {**os.environ, **(variables or {})}
    environment["PYTHONPATH"] = os.pathsep.join([package, *filter(None, [environment.get("PYTHONPATH")])])
    return environment


def write_frame(pipe: IO[bytes], content: bytes) -> None:
    """Write bytes so that ``read_frame`` at the other end reads them as one. Raises OSError if the other end is closed."""
    pipe.write(len(content).to_bytes(_LENGTH_BYTES, "little") + content)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> bytes | None:
    """The next frame; None at the end of the pipe, also within a frame."""
    head = pipe.read(_LENGTH_BYTES)
    size = int.from_bytes(head, "little")
    content = pipe.read(size) if len(head) == _LENGTH_BYTES else b""
    return content if len(head) == _LENGTH_BYTES and len(content) == size else None

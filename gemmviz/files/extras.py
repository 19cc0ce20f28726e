"""The packages that only some formats need: which are missing, and the command that installs them."""

import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Iterable
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata, requires, version
from pathlib import Path, PurePath

from msgspec import Struct

from gemmviz.files.resources import packages_folder
from gemmviz.model.messages import GemmvizError, listed, tr

MODULES = {"film": ("av", "PIL"), "slides": ("pptx", "PIL")}  # the modules of each extra of pyproject.toml
_INSTALLS = {  # the command for each way of installing, by a folder in the environment's path
    "uv/tools": 'uv tool install "gemmviz[{extras}]"',
    "uv/archive-v0": 'uvx --from "gemmviz[{extras}]" gemmviz',
    "pipx/venvs": 'pipx install --force "gemmviz[{extras}]"',
    "pipx/.cache": 'pipx run --spec "gemmviz[{extras}]" gemmviz',
}


def missing_extras(extras: Iterable[str]) -> list[str]:
    """Return the extras of which a module isn't installed."""
    return [extra for extra in extras if any(importlib.util.find_spec(module) is None for module in MODULES[extra])]


def require_extras(extras: Iterable[str], what: str) -> None:
    """Check that the packages of some extras are installed. Raises GemmvizError with the command that installs them;
    ``what`` needs them.
    """
    missing = missing_extras(extras)
    if missing:
        needed = listed(missing_packages(missing))
        message = tr("writing {what} needs packages that aren't installed: {needed}", what=what, needed=needed)
        raise GemmvizError(message, remedy=extras_command(missing), id="installation")


def extras_command(extras: Iterable[str]) -> str:
    """Return the command that adds extras to this environment, for the program that made it: pip, uv or pipx."""
    prefix = PurePath(sys.prefix).as_posix()
    command = next((each for folder, each in _INSTALLS.items() if f"/{folder}/" in prefix), 'pip install "gemmviz[{extras}]"')
    return command.format(extras=",".join(extras))


def cupy_command() -> str:
    """Return the command that installs CuPy, with a compiler, for this program. An installer's program can't be changed: it
    finds packages in a folder beside it.
    """
    if getattr(sys, "frozen", False):
        version = ".".join(map(str, sys.version_info[:2]))
        return (
            f'pip install --target "{packages_folder()}" --python-version {version} --only-binary=:all: "cupy-cuda13x[ctk]", '
            "for drivers from 580 on"
        )
    return f"{extras_command(['gpu13'])} for drivers from 580 on, {extras_command(['gpu'])} for older ones"


def missing_packages(extras: Iterable[str]) -> list[str]:
    """Return the names of the packages of extras that aren't installed; all of them if each is, but can't be imported."""
    names = packages_of(extras)
    return [name for name in names if not _is_installed(name)] or names


def _is_installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def packages_of(extras: Iterable[str]) -> list[str]:
    """Return the names of the packages of extras."""
    return [re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in required_packages(extras)] or list(extras)


def required_packages(extras: Iterable[str]) -> list[str]:
    """Return the requirements of extras, such as "av>=14", without duplicates."""
    try:
        required = requires("gemmviz") or []
    except PackageNotFoundError:  # a folder with the modules alone
        required = []
    markers = [f"extra == {quote}{extra}{quote}" for extra in extras for quote in ("'", '"')]
    found = [each.partition(";") for each in required]
    return sorted({name.strip() for name, _, marker in found if marker.strip() in markers})


def pip_command(extras: Iterable[str]) -> list[str]:
    """Return the command line with which this environment's pip installs extras; empty if it has no pip, can't be written or
    belongs to the system's package manager.
    """
    requirements = required_packages(extras)
    is_managed = sys.prefix == sys.base_prefix and (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").exists()
    is_own = os.access(sysconfig.get_path("purelib"), os.W_OK) and not is_managed and not getattr(sys, "frozen", False)
    if not (requirements and is_own and importlib.util.find_spec("pip")):
        return []
    return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *requirements]


# The Python packages that are installed with gemmviz: their versions and licences, by their own metadata


_EXTRA_MARKER = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")


class Distribution(Struct, frozen=True):
    """An installed package. ``extra``: the extra of gemmviz that asks for it, "" if gemmviz itself does."""

    name: str
    version: str
    licence: str
    extra: str = ""


def installed_distributions(requirements: Iterable[str] | None = None) -> list[Distribution]:
    """Return the packages that gemmviz and its extras for formats ask for, and those that they ask for, as far as they are
    installed; by default by gemmviz's metadata, else by requirements such as ``av>=14; extra == "film"``.
    """
    found: dict[str, Distribution] = {}
    listed = list(_requires("gemmviz") if requirements is None else requirements)
    for extra in ("", *MODULES):
        _add(found, [each for each in listed if _extra_of(each) == extra], extra)
    return list(found.values())


def _add(found: dict[str, Distribution], requirements: Iterable[str], extra: str) -> None:
    for each in requirements:
        name = re.split(r"[^\w.-]", each, maxsplit=1)[0]
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found:
            continue
        try:
            facts = metadata(name)
        except PackageNotFoundError:  # for another system, or for another version of Python
            continue
        found[key] = Distribution(facts["Name"], facts["Version"], licence_of(facts), extra)
        _add(found, [requirement for requirement in _requires(name) if not _extra_of(requirement)], extra)


def licence_of(facts: PackageMetadata) -> str:
    """Return the licence that a package's metadata names: as an expression, in words, or by its classifiers."""
    words = _metadata_field(facts, "License-Expression") or _metadata_field(facts, "License")
    classified = [each.rsplit("::", 1)[-1].strip() for each in facts.get_all("Classifier") or [] if each.startswith("License")]
    return words.strip().splitlines()[0] if words.strip() else ", ".join(classified)


def _requires(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def _extra_of(requirement: str) -> str:
    match = _EXTRA_MARKER.search(requirement)
    return match[1] if match else ""


def _metadata_field(facts: PackageMetadata, name: str) -> str:
    return str(facts[name]) if name in facts else ""

"""The Python packages that are installed with gemmviz: their versions and licences, by their own metadata."""

import re
from collections.abc import Iterable
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata, requires

from msgspec import Struct

from gemmviz.files.extras import MODULES

_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")


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
    words = _fact(facts, "License-Expression") or _fact(facts, "License")
    classified = [each.rsplit("::", 1)[-1].strip() for each in facts.get_all("Classifier") or [] if each.startswith("License")]
    return words.strip().splitlines()[0] if words.strip() else ", ".join(classified)


def _requires(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def _extra_of(requirement: str) -> str:
    match = _EXTRA.search(requirement)
    return match[1] if match else ""


def _fact(facts: PackageMetadata, name: str) -> str:
    return str(facts[name]) if name in facts else ""

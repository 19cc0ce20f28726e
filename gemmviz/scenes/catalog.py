"""Finds the views: every module of ``gemmviz.scenes.views`` that ends with ``VIEW = View(...)``."""

from functools import cache

import gemmviz.scenes.views as folder
from gemmviz.files.extensions import Extensions, extensions_in
from gemmviz.model.errors import UsageError, closest
from gemmviz.scenes.kit.view import View


@cache
def view_extensions() -> Extensions[View]:
    """All views, and the modules that could not be used."""
    return extensions_in(folder, "VIEW", View, suffix="_view")


def views() -> dict[str, View]:
    """Views by name ("stage" is the view in ``stage_view.py``), in their order."""
    return view_extensions().items


def views_of(subject: type) -> dict[str, View]:
    """Those that show this type of subject."""
    return {name: view for name, view in views().items() if view.subject is subject}


def view_named(name: str) -> View:
    """Raises UsageError for a name that no view has."""
    if name not in views():
        raise UsageError(f"there is no view {name!r}", remedy=closest(name, views()) or f"choose one of {', '.join(views())}")
    return views()[name]

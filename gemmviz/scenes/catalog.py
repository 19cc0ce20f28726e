"""The views: every module of ``gemmviz.scenes.views`` that ends with ``VIEW = View(...)``."""

from functools import cache

from gemmviz.files.extensions import Catalog, extensions_in
from gemmviz.model.errors import UsageError, closest
from gemmviz.scenes.kit.view import View


@cache
def views() -> Catalog[View]:
    """Return the views by name: "stage" is the view in ``stage_view.py``."""
    return extensions_in("gemmviz.scenes.views", "VIEW", View, suffix="_view")


def views_of(subject: type) -> dict[str, View]:
    """Return the views of a type of subject, by name."""
    return {name: view for name, view in views().items() if view.subject is subject}


def view_named(name: str) -> View:
    """Return a view by name. Raises UsageError for an unknown name, GemmvizError for a view that can't be used."""
    if name not in views():
        raise UsageError(f"there is no view {name!r}", remedy=closest(name, views()) or f"choose one of {', '.join(views())}")
    return views()[name]

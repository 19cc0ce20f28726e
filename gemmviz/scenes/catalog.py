"""Finds the views: every module of ``gemmviz.scenes.views`` that ends with ``VIEW = View(...)``."""

import importlib
import pkgutil
from functools import cache

import gemmviz.scenes.views as folder
from gemmviz.model.errors import UsageError, closest
from gemmviz.scenes.view import View

_SUFFIX = "_view"


@cache
def views() -> dict[str, View]:
    """By name ("stage" is the view in ``stage_view.py``), in their order."""
    found = {}
    for module in pkgutil.iter_modules(folder.__path__):
        if module.name.endswith(_SUFFIX):
            found[module.name.removesuffix(_SUFFIX)] = importlib.import_module(f"{folder.__name__}.{module.name}").VIEW
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))


def views_of(subject: type) -> dict[str, View]:
    """Those that show this type of subject."""
    return {name: view for name, view in views().items() if view.subject is subject}


def view_named(name: str) -> View:
    """Raises UsageError for a name that no view has."""
    if name not in views():
        raise UsageError(f"there is no view {name!r}", remedy=closest(name, views()) or f"choose one of {', '.join(views())}")
    return views()[name]

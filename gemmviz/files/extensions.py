"""Finds what a folder of modules adds to the program: each module ends with one object, such as ``VIEW = View(...)``."""

import importlib
import importlib.util
import pkgutil
import traceback
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from gemmviz.model.errors import GemmvizError, Place

T = TypeVar("T")
_PLAIN = (str, int, bool)


@dataclass(frozen=True, slots=True)
class Extensions(Generic[T]):
    """``items``: the objects by name, sorted by their ``order`` and then by name. ``broken``: one error for each module that
    can't be used; the others are not affected.
    """

    items: dict[str, T]
    broken: tuple[GemmvizError, ...]


def extensions_in(folder: ModuleType, attribute: str, *kinds: type[T], suffix: str = "") -> Extensions[T]:
    """Objects of one of the types ``kinds`` that the modules of a package define under the name ``attribute``.

    An object is named after its module, without ``suffix``; modules that don't end with it are not looked at. A module that
    raises while it is imported, or whose object is missing or has a field of the wrong type, is left out.
    """
    items: dict[str, Any] = {}
    broken: list[GemmvizError] = []
    for module in pkgutil.iter_modules(folder.__path__):
        if not module.name.endswith(suffix):
            continue
        try:
            loaded = importlib.import_module(f"{folder.__name__}.{module.name}")
            items[module.name.removesuffix(suffix)] = _checked(getattr(loaded, attribute, None), attribute, kinds)
        except (Exception, SystemExit) as error:
            broken.append(_left_out(folder, module.name, error))
    ordered = sorted(items.items(), key=lambda item: (item[1].order, item[0]))
    return Extensions(dict(ordered), tuple(broken))


def _checked(item: Any, attribute: str, kinds: tuple[type[T], ...]) -> T:
    """The object, if its texts and numbers are such. Raises TypeError."""
    if not isinstance(item, kinds):
        raise TypeError(f"it must define {attribute} = {' or '.join(kind.__name__ for kind in kinds)}(...)")
    for each in fields(item) if is_dataclass(item) else ():
        value = getattr(item, each.name)
        if each.type in _PLAIN and not isinstance(value, each.type):  # type: ignore[arg-type]
            raise TypeError(f"{attribute}.{each.name} must be of type {each.type.__name__}, not {type(value).__name__}")  # type: ignore[union-attr]
    return item


def _left_out(folder: ModuleType, name: str, error: BaseException) -> GemmvizError:
    """What is wrong with a module, with the line of it that the error comes from."""
    spec = importlib.util.find_spec(f"{folder.__name__}.{name}")
    file = None if spec is None else spec.origin
    line, column = 0, 1
    if isinstance(error, SyntaxError):
        line, column = error.lineno or 0, error.offset or 1
    else:
        line = next(
            (each.lineno or 0 for each in reversed(traceback.extract_tb(error.__traceback__)) if each.filename == file), 0
        )
    place = Place(line, column, line, column + 1) if line else None
    reason = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
    what = f"{Path(file).name if file else name} is left out: {type(error).__name__}: {reason}"
    return GemmvizError(what, place, file=file, remedy="mend the file, or remove it")

"""Discovery of extensions: modules of a folder that define an object such as ``VIEW = View(...)``, and such objects in the
entry points of installed packages.
"""

import importlib
import importlib.util
import pkgutil
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from gemmviz.files.entry_points import entry_points, package_of
from gemmviz.model.errors import GemmvizError, Place

T = TypeVar("T")
_PLAIN = (str, int, bool)


@dataclass(frozen=True, slots=True)
class Extensions(Generic[T]):
    """``items``: the objects by name, sorted by their ``order`` and then by name. ``broken``: one error for each module or
    entry point that can't be used; the others are not affected.
    """

    items: dict[str, T]
    broken: tuple[GemmvizError, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """Source of an extension: ``origin`` for messages, and ``module``, from which ``load`` gets the object."""

    name: str
    origin: str
    module: str
    load: Callable[[], Any]


def extensions_in(folder: ModuleType, attribute: str, *kinds: type[T], suffix: str = "") -> Extensions[T]:
    """Objects of one of the types ``kinds`` that the modules of a package define under the name ``attribute``, and those that
    installed packages have in their entry points: of the group "gemmviz.views" for "VIEW".

    An object is named after its module, without ``suffix``, or after its entry point; modules that don't end with the suffix
    are not looked at. A module that raises while it is imported, or whose object is missing or has a field of the wrong type,
    is left out. So is a second one of the same name.
    """
    items: dict[str, Any] = {}
    origins: dict[str, str] = {}
    broken: list[GemmvizError] = []
    for source in (*_modules(folder, attribute, suffix), *_entries(attribute)):
        if source.name in items:
            broken.append(duplicate(source.name, source.origin, origins[source.name]))
            continue
        try:
            items[source.name] = _checked(source.load(), attribute, kinds)
            origins[source.name] = source.origin
        except (Exception, SystemExit) as error:
            broken.append(extension_error(source.module, source.origin, error))
    ordered = sorted(items.items(), key=lambda item: (item[1].order, item[0]))
    return Extensions(dict(ordered), tuple(broken))


def _modules(folder: ModuleType, attribute: str, suffix: str) -> Iterator[_Source]:
    for module in pkgutil.iter_modules(folder.__path__):
        if module.name.endswith(suffix):
            path = f"{folder.__name__}.{module.name}"

            def load(path: str = path) -> Any:
                return getattr(importlib.import_module(path), attribute, None)

            yield _Source(module.name.removesuffix(suffix), f"{module.name}.py", path, load)


def _entries(attribute: str) -> Iterator[_Source]:
    for point in entry_points(f"{attribute.lower()}s"):
        yield _Source(point.name, f"{point.name} of the package {package_of(point)}", point.module, point.load)


def _checked(item: Any, attribute: str, kinds: tuple[type[T], ...]) -> T:
    """The object, if its texts and numbers have the right types. Raises TypeError."""
    if not isinstance(item, kinds):
        raise TypeError(f"it must define {attribute} = {' or '.join(kind.__name__ for kind in kinds)}(...)")
    for each in fields(item) if is_dataclass(item) else ():
        value = getattr(item, each.name)
        if each.type in _PLAIN and not isinstance(value, each.type):  # type: ignore[arg-type]
            raise TypeError(f"{attribute}.{each.name} must be of type {each.type.__name__}, not {type(value).__name__}")  # type: ignore[union-attr]
    return item


def duplicate(name: str, origin: str, first: str) -> GemmvizError:
    """The error for a second extension of the same name."""
    what = f"{origin} is ignored: {first} has the same name, {name!r}"
    return GemmvizError(what, remedy="rename one of them, or uninstall its package")


def extension_error(module: str, origin: str, error: BaseException) -> GemmvizError:
    """The error for a module that can't be used, with the line of it that raised."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):  # its package can't be imported
        spec = None
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
    what = f"{origin if file is None or ' ' in origin else Path(file).name} is ignored: {type(error).__name__}: {reason}"
    return GemmvizError(what, place, file=file, remedy="fix the file, or remove it")

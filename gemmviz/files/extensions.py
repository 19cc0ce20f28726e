"""Catalogs of extensions: modules of a folder that define an object such as ``VIEW = View(...)``, and such objects in the
entry points of installed packages. What a catalog holds is known from names alone; a module is imported on first use.
"""

import importlib
import importlib.util
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

from gemmviz.model.messages import GemmvizError, Place

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
_CHECKED_TYPES = (str, int, bool)


class Candidate(Struct, Generic[T], frozen=True):
    """Where an object comes from: ``origin`` for messages; ``load`` returns the object, or raises GemmvizError."""

    name: str
    origin: str
    load: Callable[[], T]


class Catalog(Mapping[str, T]):
    """Objects by name, sorted by ``order`` and then by name. An object is loaded when it is used first; iteration loads all
    and leaves out those that can't be used.

    ``catalog[name]`` raises the error of an object that can't be used. ``sources`` yields where the objects come from, and
    errors. A second object of the same name is an error too.
    """

    def __init__(self, sources: Callable[[], Iterable[Candidate[T] | GemmvizError]], order: Callable[[T], Any]) -> None:
        self._order, self._list_sources = order, sources
        self._loaded: dict[str, T] = {}
        self._errors: dict[str, GemmvizError] = {}

    @cached_property
    def _found(self) -> tuple[dict[str, Candidate[T]], list[GemmvizError]]:
        found: dict[str, Candidate[T]] = {}
        errors = list[GemmvizError]()
        for each in self._list_sources():
            if isinstance(each, GemmvizError):
                errors.append(each)
            elif each.name in found:
                what = f"{each.origin} is ignored: {found[each.name].origin} has the same name, {each.name!r}"
                errors.append(GemmvizError(what, remedy="rename one of them, or uninstall its package"))
            else:
                found[each.name] = each
        return found, errors

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all objects, also of those that can't be used; loads none."""
        return tuple(self._found[0])

    @property
    def broken(self) -> tuple[GemmvizError, ...]:
        """One error for each object that can't be used; loads all."""
        len(self)
        return (*self._found[1], *self._errors.values())

    def find(self, is_wanted: Callable[[T], bool], likely: Callable[[str], bool]) -> T | None:
        """An object that meets a condition, None if there is none. Looks at those first that are loaded, then at those whose
        names are ``likely``; the others are loaded one by one.
        """
        for name in sorted(self.names, key=lambda name: (name not in self._loaded, not likely(name))):
            with suppress(GemmvizError):  # it is in ``broken``
                if is_wanted(self[name]):
                    return self[name]
        return None

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            if name not in self._errors:
                try:
                    self._loaded[name] = self._found[0][name].load()
                    return self._loaded[name]
                except GemmvizError as error:
                    self._errors[name] = error
            raise self._errors[name]
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sorted)

    def __len__(self) -> int:
        return len(self._sorted)

    @cached_property
    def _sorted(self) -> list[str]:
        usable = list[tuple[Any, str]]()
        for name in self.names:
            try:
                usable.append((self._order(self[name]), name))
            except GemmvizError:
                continue  # in ``broken``
        return [name for _, name in sorted(usable)]


def extensions_in(
    folder: str, attribute: str, *kinds: type[T], suffix: str = "", also: Mapping[str, Callable[[], T]] | None = None
) -> Catalog[T]:
    """The catalog of the objects that the modules of the package ``folder`` define under the name ``attribute``, and that
    installed packages have in their entry points: of the group "gemmviz.views" for "VIEW". ``also``: further objects by name,
    such as the rows of a table, each with the function that makes it.

    An object is named after its module, without ``suffix``, or after its entry point; modules that don't end with the suffix
    are not looked at. A module with several objects defines them by name, ``VIEWS = {"order": View(...)}``; FAMILIES of the
    package has their names by module, so that a list needs no imports. A module that raises while it is imported can't be
    used, nor one whose object is missing, is of none of the types ``kinds``, or has a field of the wrong type.
    """

    def load(module: str, origin: str, get: Callable[[], Any]) -> T:
        try:
            return _with_checked_fields(get(), attribute, kinds)
        except (Exception, SystemExit) as error:
            raise extension_error(module, origin, error) from None

    def of_module(path: str, name: str | None) -> Any:
        module = importlib.import_module(path)
        return getattr(module, attribute, None) if name is None else getattr(module, f"{attribute}S")[name]

    def sources() -> Iterator[Candidate[T]]:
        package = importlib.import_module(folder)
        families = getattr(package, "FAMILIES", {})
        for each in pkgutil.iter_modules(package.__path__):
            path, origin = f"{folder}.{each.name}", f"{each.name}.py"
            for name in families.get(each.name, ()):
                yield Candidate(name, origin, partial(load, path, origin, partial(of_module, path, name)))
            if each.name.endswith(suffix) and each.name not in families:
                own = each.name.removesuffix(suffix)
                yield Candidate(own, origin, partial(load, path, origin, partial(of_module, path, None)))
        for name, make in (also or {}).items():
            yield Candidate(name, f"{name} of {folder}", make)
        for point in entry_points(f"{attribute.lower()}s"):
            origin = f"{point.name} of the package {package_of(point)}"
            yield Candidate(point.name, origin, partial(load, point.module, origin, point.load))

    return Catalog(sources, lambda item: item.order)  # type: ignore[attr-defined]


def _with_checked_fields(item: Any, attribute: str, kinds: tuple[type[T], ...]) -> T:
    """The object, if its texts and numbers have the right types. Raises TypeError."""
    if not isinstance(item, kinds):
        raise TypeError(f"it must define {attribute} = {' or '.join(kind.__name__ for kind in kinds)}(...)")
    for name, kind in type(item).__annotations__.items():
        value = getattr(item, name)
        if kind in _CHECKED_TYPES and not isinstance(value, kind):
            raise TypeError(f"{attribute}.{name} must be of type {kind.__name__}, not {type(value).__name__}")
    return item


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


# Entry points. Importing importlib.metadata takes 50 ms: it is imported only if an installed package has such a group, which a
# search of the folders of sys.path finds out in 1 ms.


_PREFIX = "gemmviz."
_METADATA = ("*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt")


@cache
def entry_points(kind: str) -> "tuple[EntryPoint, ...]":
    """Entry points of the group "gemmviz.KIND", by the name of their package and then by their own."""
    if not _are_there_any():
        return ()
    from importlib import metadata

    return tuple(sorted(metadata.entry_points(group=_PREFIX + kind), key=lambda each: (package_of(each), each.name)))


def package_of(point: "EntryPoint") -> str:
    """Name of the installed package that has an entry point."""
    return point.dist.name if point.dist is not None else point.module


def folders_of(point: "EntryPoint") -> list[Path]:
    """The folders of the package that an entry point names, without importing it. Raises ImportError if there is no such
    package.
    """
    spec = find_spec(point.module)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"there is no package {point.module}")
    return [Path(each) for each in spec.submodule_search_locations]


@cache
def _are_there_any() -> bool:
    return any(map(_mentions_gemmviz, _entry_point_files()))


def _entry_point_files() -> Iterator[Path]:
    """The files that list entry points; an archive in ``sys.path`` counts as one."""
    for folder in map(Path, dict.fromkeys(sys.path)):
        if folder.is_file():
            yield folder
        for pattern in _METADATA:
            yield from folder.glob(pattern)


def _mentions_gemmviz(path: Path) -> bool:
    try:
        return path.suffix != ".txt" or f"[{_PREFIX}".encode() in path.read_bytes()
    except OSError:
        return False

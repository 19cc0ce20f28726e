"""The table of subjects, from every module of ``gemmviz.shots.kinds`` that ends with ``SUBJECT = Subject(...)``."""

from functools import cache
from typing import Any, TypeVar

from gemmviz.files.extensions import Catalog, extensions_in
from gemmviz.model.errors import UsageError
from gemmviz.scenes.catalog import view_named
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.subject import Subject

_Value = TypeVar("_Value")


@cache
def subjects() -> Catalog[Subject]:
    """Kinds of subjects by name; the name is the module's, such as "occupancy"."""
    return extensions_in("gemmviz.shots.kinds", "SUBJECT", Subject)


def subject_for(kind: type) -> Subject:
    """The subject with values of this type. Raises UsageError if there is none."""
    subject = subjects().find(lambda each: each.kind is kind, lambda name: name.replace("_", "") in kind.__name__.lower())
    if subject is not None:
        return subject
    raise UsageError(
        f"no subject has the type {kind.__name__}", remedy="add a file with SUBJECT = Subject(...) to gemmviz/shots/kinds"
    )


def remembered_value(subject: Subject, known: Knowledge) -> Any:
    """The value of a subject for what is known of a shot; a slow one is shared by all positions. Raises GemmvizError."""
    store = known.stores["subject" if subject.is_slow else "shot"]
    return store.get(value_name(subject), lambda: subject.make(known.shot, known.context(subject.needs)))


def value_name(subject: Subject) -> str:
    """The name under which a value of a subject is remembered."""
    return f"the {subject.kind.__name__}"


def value_of(kind: type[_Value], known: Knowledge) -> _Value:
    """The value of this type for what is known of a shot. Raises GemmvizError if there is none."""
    value = remembered_value(subject_for(kind), known)
    assert isinstance(value, kind)
    return value


@cache
def subject_of_view(name: str) -> Subject:
    """The subject that a view shows. Raises UsageError for an unknown view, or a view of an unknown subject."""
    view = view_named(name)
    try:
        return subject_for(view.subject)
    except UsageError as error:
        raise UsageError(f"the view {name!r} can't be drawn: {error.message}", remedy=error.remedy) from None

"""All quantities by id, and the value and the title of a reference to one."""

from functools import cache
from types import ModuleType
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

from gemmviz.model.messages import UsageError, closest, tr
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.quantities import counts, launch, models, per_thread
from gemmviz.teaching.quantities.quantity import IN_PROBLEM, Origin, Quantity, QuantityReference, QuantityValue, parse_reference

_MATRIX_NAMES = ("A", "B", "C")
_THEMES: tuple[ModuleType, ...] = (launch, counts, per_thread, models)


@cache
def quantities() -> dict[str, Quantity]:
    """All quantities by id, in the order of their files."""
    return {each.id: each for theme in _THEMES for each in vars(theme).values() if isinstance(each, Quantity)}


def quantity_value(reference: str, facts: Knowledge) -> QuantityValue:
    """The value of the quantity that ``reference`` names, computed once for a shot. Raises UsageError for an unknown quantity
    or a wrong argument, GemmvizError where the shot can't be run.
    """
    quantity, arguments = _resolved(parse_reference(reference))
    given = {name: getattr(arguments, name) for name in arguments.__struct_fields__}
    value: QuantityValue = facts.stores["shot"].get(f"quantity {reference}", lambda: quantity.compute(facts, **given))
    return value.item() if isinstance(value, np.generic) else value


def check_reference(reference: str) -> None:
    """Checks that ``reference`` names a quantity with the arguments that it takes. Raises UsageError."""
    _resolved(parse_reference(reference))


def value_type_of(reference: str) -> type | None:
    """The type of the quantity's values; None if it depends on the arguments. Raises UsageError."""
    kind = get_type_hints(_resolved(parse_reference(reference))[0].compute)["return"]
    return kind if isinstance(kind, type) else None


def is_recorded(reference: str) -> bool:
    """Whether the quantity is a recorded or reported figure, unless its ``source`` is a model. Raises UsageError."""
    quantity, arguments = _resolved(parse_reference(reference))
    return quantity.origin in ("recorded", "reported") and getattr(arguments, "source", "") != "model"


def problem_arrays_of(reference: str) -> tuple[str, ...]:
    """Arguments of a reference that must name arrays of the problem. Raises UsageError."""
    quantity, arguments = _resolved(parse_reference(reference))
    hints = get_type_hints(quantity.compute, include_extras=True)
    return tuple(
        getattr(arguments, name)
        for name in arguments.__struct_fields__
        if any(IN_PROBLEM in (getattr(each, "extra", None) or {}) for each in getattr(hints[name], "__metadata__", ()))
    )


def contrasts_of(reference: str) -> list[tuple[str, list[str]]]:
    """The values of a reference's arguments that have few choices, each with the other choices. Raises UsageError."""
    quantity, arguments = _resolved(parse_reference(reference))
    found = []
    for field in msgspec.structs.fields(quantity.arguments):
        kinds = (field.type, *get_args(field.type))
        choices = next(
            (get_args(each) for each in kinds if get_origin(each) is Literal), _MATRIX_NAMES if field.name == "array" else ()
        )
        value = getattr(arguments, field.name)
        if value in choices:
            found.append((value, [choice for choice in choices if choice != value]))
    return found


def quantity_origin(reference: str) -> Origin | None:
    """What the value of the quantity that ``reference`` names comes from; None where it names none."""
    try:
        return _resolved(parse_reference(reference))[0].origin
    except UsageError:
        return None


def quantity_title(reference: str) -> str:
    """The displayed name of the quantity that ``reference`` names; the reference itself where it names none."""
    try:
        quantity, arguments = _resolved(parse_reference(reference))
    except UsageError:
        return reference
    return quantity.title_with(arguments)


def _resolved(reference: QuantityReference) -> tuple[Quantity, msgspec.Struct]:
    """A quantity with its arguments converted to their types."""
    quantity = quantities().get(reference.id)
    if quantity is None:
        remedy = closest(reference.id, quantities()) or "see gemmviz lesson quantities"
        raise UsageError(tr("there is no quantity {id}", id=f"{reference.id!r}"), remedy=remedy)
    unknown = [name for name in reference.arguments if name not in quantity.arguments.__struct_fields__]
    if unknown:
        remedy = closest(unknown[0], quantity.arguments.__struct_fields__) or tr(
            "write {signature}", signature=quantity.signature
        )
        raise UsageError(tr("{id} has no argument {unknown}", id=quantity.id, unknown=f"{unknown[0]!r}"), remedy=remedy)
    try:
        return quantity, msgspec.convert(reference.arguments, quantity.arguments, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"{quantity.id}: {error}", remedy=tr("write {signature}", signature=quantity.signature)) from None

"""Records: values with named fields, as a rule frozen Structs. A few are dataclasses, because they compare or hash only some of
their fields.
"""

import dataclasses
from functools import cache
from typing import Any

from msgspec import NODEFAULT, Struct, structs


def is_record_type(kind: Any) -> bool:
    """Whether a type is one of records."""
    return isinstance(kind, type) and (issubclass(kind, Struct) or dataclasses.is_dataclass(kind))


def field_default(field: structs.FieldInfo) -> Any:
    """The default value of a field, NODEFAULT if it has none."""
    return field.default if field.default_factory is NODEFAULT else field.default_factory()


def fields(kind: Any) -> tuple[structs.FieldInfo, ...]:
    """The fields of a type of records, those of its base class first, in the order in which they are written."""
    return _fields(kind)


@cache
def _fields(kind: Any) -> tuple[structs.FieldInfo, ...]:
    if not issubclass(kind, Struct):
        return tuple(_field_info(each) for each in dataclasses.fields(kind))  # type: ignore[arg-type]
    known = {each.name: each for each in structs.fields(kind)}
    written = dict.fromkeys(name for base in reversed(kind.__mro__) for name in vars(base).get("__annotations__", ()))
    return tuple(known[name] for name in written if name in known)


def _field_info(each: "dataclasses.Field[Any]") -> structs.FieldInfo:
    default, factory = (NODEFAULT if value is dataclasses.MISSING else value for value in (each.default, each.default_factory))
    return structs.FieldInfo(each.name, each.name, each.type, default, factory)

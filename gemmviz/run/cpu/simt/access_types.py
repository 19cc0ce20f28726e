"""How one access touches a memory: the scalar type of what it reads or writes, and how many of it."""

from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.source.types import Scalar, VectorType, scalar_of


class AccessType(Struct, frozen=True, eq=False):
    """A scalar or vector type as memory sees it, one object per type. Offsets of such an access count its scalars.

    ``dtype``: the NumPy type of a stored scalar; ``is_coded``: whether values of a run have another type, as for bfloat16.
    ``form``: one object for all types that a run holds in the same way. ``step``: the offset must be a multiple of it.
    """

    scalar: Scalar
    width: int
    dtype: Any
    bytes: int
    step: int
    is_coded: bool
    form: Any

    def decoded(self, stored: Any) -> Any:
        """Stored scalars as values of a run."""
        return (stored.astype(np.uint32) << 16).view(np.float32) if self.is_coded else stored

    def encoded(self, value: Any) -> Any:
        """Values of a run in their stored form; floats hold numbers that the type represents."""
        if not self.is_coded:
            return value
        return (np.asarray(value, np.float32).view(np.uint32) >> 16).astype(np.uint16)

    def single(self, stored: Any) -> Any:
        """One stored scalar as a value that all lanes share."""
        if self.is_coded:
            return self.decoded(np.asarray(stored))[()]
        return stored if self.scalar.is_float and self.bytes < 8 else stored.item()

    def raw(self, value: Any) -> Any:
        """The bytes of values: uint8 (..., bytes)."""
        stored = np.asarray(self.encoded(value) if self.is_coded else np.asarray(value, self.dtype))
        return np.asarray(stored.reshape((*stored.shape, 1)), order="C").view(np.uint8)

    def of_raw(self, raw: Any) -> Any:
        """Values from their bytes: the inverse of ``raw``."""
        stored = np.asarray(raw, order="C").view(self.dtype)[..., 0]
        return self.decoded(stored) if stored.ndim else self.single(stored[()])


@lru_cache(maxsize=256)
def access_type(ctype: Scalar | VectorType) -> AccessType:
    """How an access of this type touches memory."""
    scalar = scalar_of(ctype)
    width, step = (ctype.count, ctype.alignment // scalar.bytes) if isinstance(ctype, VectorType) else (1, 1)
    is_coded = scalar.element.decode is not None
    form = scalar.element if is_coded else scalar.dtype
    return AccessType(scalar, width, scalar.dtype, scalar.bytes, step, is_coded, form)

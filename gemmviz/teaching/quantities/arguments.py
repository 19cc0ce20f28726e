"""Types of the arguments that several quantities take."""

from typing import Annotated, Literal

from msgspec import Meta

Whole = Annotated[int, Meta(ge=0, le=999_999_999)]
Measure = Literal["requested", "moved"]
Matrix = Literal["A", "B", "C"]
Factor = Literal["A", "B"]
MatrixAxis = Literal["rows", "columns"]

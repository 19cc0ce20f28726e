"""A matrix multiplication: C (M x N) = A (M x K) . B (K x N), named as in BLAS."""

from dataclasses import dataclass
from typing import Annotated

from gemmviz.model.errors import SettingError
from gemmviz.model.setting import Control


@dataclass(frozen=True, slots=True)
class Problem:
    """Sizes of the three matrices, in elements. Raises SettingError for a size below 1 or beyond 32 bits."""

    M: Annotated[int, Control("M", "rows of A and C", "-m", least=1)]
    N: Annotated[int, Control("N", "columns of B and C", "-n", least=1)]
    K: Annotated[int, Control("K", "columns of A, rows of B", "-k", least=1)]

    def __post_init__(self) -> None:
        for name, size in self.sizes.items():
            if size < 1:
                message = f"{name} = {size}: a matrix needs at least one row and one column"
                raise SettingError(message, names=(name,), nearest={name: 1})
        for name, (rows, columns) in self.shapes.items():
            if rows * columns >= 2**31:
                raise SettingError(
                    f"{name} would have {rows} x {columns} elements: more than a 32-bit index can name",
                    names={"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")}[name], remedy="choose smaller M, N or K",
                )  # fmt: skip

    @property
    def sizes(self) -> dict[str, int]:
        return {"M": self.M, "N": self.N, "K": self.K}

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of A, B and C, by name."""
        return {"A": (self.M, self.K), "B": (self.K, self.N), "C": (self.M, self.N)}

    @property
    def flops(self) -> int:
        """Floating-point operations of the multiplication: 2 M N K."""
        return 2 * self.M * self.N * self.K

    def __str__(self) -> str:
        return f"{self.M} x {self.N} x {self.K}"

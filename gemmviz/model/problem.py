"""The multiplication at hand: C (M x N) = A (M x K) . B (K x N), in BLAS letters."""

from dataclasses import dataclass

from gemmviz.model.errors import SettingError


@dataclass(frozen=True, slots=True)
class Problem:
    """Sizes of the three matrices, in elements. Raises SettingError for a size below 1 or beyond 32 bits."""

    M: int
    N: int
    K: int

    def __post_init__(self) -> None:
        for name, size in self.sizes.items():
            if size < 1:
                raise SettingError(f"{name} = {size}: a matrix needs at least one row and one column", nearest={name: 1})
        for name, (rows, columns) in self.shapes.items():
            if rows * columns >= 2**31:
                raise SettingError(
                    f"{name} would have {rows} x {columns} elements: more than a 32-bit index can name",
                    remedy="choose smaller M, N or K",
                )

    @property
    def sizes(self) -> dict[str, int]:
        return {"M": self.M, "N": self.N, "K": self.K}

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of A, B and C."""
        return {"A": (self.M, self.K), "B": (self.K, self.N), "C": (self.M, self.N)}

    def __str__(self) -> str:
        return f"{self.M} x {self.N} x {self.K}"

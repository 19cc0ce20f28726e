"""The tile that one instruction of the tensor cores multiplies."""

from msgspec import Struct


class TensorTile(Struct, frozen=True):
    """``m`` × ``n`` elements of C gain ``k`` products each, by one instruction of a warp. ``element``: the type of A and B;
    ``since``: the first compute capability with it; ``source``: the publication of the shape.
    """

    m: int
    n: int
    k: int
    element: str
    since: tuple[int, int]
    source: str

    @property
    def products(self) -> int:
        """Products of one instruction."""
        return self.m * self.n * self.k

    @property
    def shape(self) -> str:
        """The name of the shape in PTX."""
        return f"m{self.m}n{self.n}k{self.k}"


TF32_TILE = TensorTile(16, 8, 8, "TF32", (8, 0), "PTX ISA, mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")

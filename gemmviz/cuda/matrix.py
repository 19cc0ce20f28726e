"""The table of matrix instructions: ``mma.sync`` of shape m16n8, by the types of its matrices and its number of products.

A call of one takes the registers of A, B and C of each lane, and gives those of D. Source: PTX ISA, "mma".
"""

from msgspec import Struct

from gemmviz.cuda.types import FLOAT, INT, UINT, Scalar, VectorType

_PER_REGISTER = {"f16": 2, "bf16": 2, "tf32": 1, "s8": 4, "u8": 4}
_ELEMENTS = {"f16": "float16", "bf16": "bfloat16"}
_RESULT_REGISTERS = {"f32": VectorType(FLOAT, 4), "f16": VectorType(UINT, 2), "s32": VectorType(INT, 4)}
PREFIX = "__gemmviz_"  # of the functions that the stand-in headers call


class MatrixInstruction(Struct, frozen=True):
    """D (16 x 8) = A (16 x k) . B (k x 8) + C. ``d``, ``a``, ``b``: the types of D and C, of A, and of B, as PTX names them."""

    k: int
    d: str
    a: str
    b: str

    @property
    def name(self) -> str:
        """Its name as a function: ``mma_m16n8k16_f32_f16_f16``."""
        return f"mma_m16n8k{self.k}_{self.d}_{self.a}_{self.b}"

    @property
    def ptx(self) -> str:
        """Its name in PTX."""
        return f"mma.sync.aligned.m16n8k{self.k}.row.col.{self.d}.{self.a}.{self.b}.{self.d}"

    @property
    def registers(self) -> tuple[int, int, int]:
        """The numbers of registers that each lane holds of A, of B, and of C and D."""
        of_a = 16 * self.k // 32 // _PER_REGISTER[self.a]
        return of_a, of_a // 2, self.result.count

    @property
    def roundoff(self) -> float:
        """The largest relative error of a sum: float32 is cut off rather than rounded."""
        return {"f32": 2.0**-23, "f16": 2.0**-11, "s32": 0.0}[self.d]

    @property
    def element(self) -> str:
        """The name of the type of the elements of A and B; "" if memory holds none of it."""
        return _ELEMENTS.get(self.a, "")

    @property
    def roundoff_of_factors(self) -> float:
        """The largest relative error of a product of float32 numbers that become TF32: both are cut off."""
        return 2.0**-9 if self.a == "tf32" else 0.0

    @property
    def result(self) -> VectorType:
        """The registers of D."""
        return _RESULT_REGISTERS[self.d]

    @property
    def parameters(self) -> tuple[Scalar, ...]:
        """The types of the registers of A, B and C."""
        of_a, of_b, of_c = self.registers
        return (UINT,) * (of_a + of_b) + (self.result.scalar,) * of_c


_SIGNED_AND_NOT = [(a, b) for a in ("s8", "u8") for b in ("s8", "u8")]
MATRIX_INSTRUCTIONS = {
    each.name: each
    for each in (
        *(MatrixInstruction(k, d, "f16", "f16") for k in (8, 16) for d in ("f32", "f16")),
        *(MatrixInstruction(k, "f32", "bf16", "bf16") for k in (8, 16)),
        *(MatrixInstruction(k, "f32", "tf32", "tf32") for k in (4, 8)),
        *(MatrixInstruction(k, "s32", a, b) for k in (16, 32) for a, b in _SIGNED_AND_NOT),
    )
}

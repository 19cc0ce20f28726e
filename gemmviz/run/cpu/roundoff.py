"""Finds how a kernel rounds: the unit roundoff of its floating-point arithmetic, by which its result is checked."""

from functools import lru_cache

from gemmviz.source.functions import function_for
from gemmviz.source.nodes import Assign, Binary, Call, Convert
from gemmviz.source.program_parts import Program
from gemmviz.source.types import Scalar, VectorType, scalar_of
from gemmviz.source.walk import parts

_ARITHMETIC = frozenset("+-*/")


@lru_cache(maxsize=64)
def arithmetic_roundoff(program: Program) -> float:
    """The largest unit roundoff of a floating-point operation or narrowing conversion in a program; 0 without any."""
    return max((scalar.element.roundoff for part in parts(program.body) for scalar in _rounded(part)), default=0.0)


def _rounded(part: object) -> tuple[Scalar, ...]:
    """The floating-point types to which a node rounds."""
    match part:
        case Binary(op=op, type=Scalar() as scalar) if op in _ARITHMETIC and scalar.is_float:
            return (scalar,)
        case Assign(op=str(op), within=Scalar() as scalar) if op in _ARITHMETIC and scalar.is_float:
            return (scalar,)
        case Convert(type=Scalar() as to, operand=operand) if to.is_float and _is_wider(operand.type, to):
            return (to,)
        case Call(type=Scalar() | VectorType() as ctype, name=name, args=args) if scalar_of(ctype).is_float:
            types = [arg.type for arg in args if isinstance(arg.type, Scalar | VectorType)]
            return (scalar_of(ctype),) if function_for(name, types) is not None else ()
    return ()


def _is_wider(ctype: object, to: Scalar) -> bool:
    return isinstance(ctype, Scalar) and ctype.is_float and ctype.element.significant > to.element.significant

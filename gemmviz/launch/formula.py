"""Evaluates formulas of headers and of host code, arithmetic over named values, by walking Python's syntax tree.

``/`` divides as in C: two integers give an integer, rounded towards zero; a floating-point number gives one.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from gemmviz.model.errors import GemmvizError, SettingError, SourceError
from gemmviz.model.translation import tr

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: lambda a, b: a / b if isinstance(a, float) or isinstance(b, float) else _truncated(a, b),
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_FUNCTIONS: dict[str, Callable[..., int | float]] = {
    "ceil_div": lambda a, b: -(-a // b), "min": min, "max": max, "abs": abs, "int": int, "float": float, "ceil": math.ceil,
    "floor": math.floor, "sqrt": math.sqrt, "round": lambda a: math.floor(a + 0.5), "log2": math.log2, "pow": math.pow,
}  # fmt: skip
_LARGEST = 2**62
_LONGEST, _SHOWN = 4000, 60  # characters: the preprocessor's conditions may be longer than a header's formulas


def _truncated(a: int, b: int) -> int:
    """The quotient of C, rounded towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


@lru_cache(maxsize=1024)
def _parsed(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


def evaluate(formula: str, names: Mapping[str, int]) -> int:
    """The integer value of ``formula``. Raises what ``formula_value`` raises."""
    return int(formula_value(formula, names))


def formula_value(formula: str, names: Mapping[str, int | float]) -> int | float:
    """The value of ``formula``, a float only if one occurs in it.

    Raises SourceError if it contains anything but numbers, known names and arithmetic, and SettingError if it divides by
    zero, shifts by less than 0 or more than 63, or exceeds 2**62.
    """
    if len(formula) > _LONGEST:
        raise SourceError(
            tr(
                "the formula {formula} has {length} characters; at most {longest} are read",
                formula=_short(formula),
                length=f"{len(formula):,}",
                longest=f"{_LONGEST:,}",
            )
        )
    try:
        tree = _parsed(formula)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise SourceError(tr("the formula {formula} has a syntax error", formula=_short(formula))) from None
    try:
        result: int | float = _value(tree, names, formula)
        int(result)  # infinity and NaN have no place in a launch
    except ZeroDivisionError:
        raise SettingError(tr("the formula {formula} divides by zero", formula=_short(formula))) from None
    except GemmvizError:
        raise
    except RecursionError:
        raise SourceError(tr("the formula {formula} is nested too deeply", formula=_short(formula))) from None
    except (KeyError, TypeError, ValueError, OverflowError):
        raise SourceError(tr("the formula {formula} can't be evaluated", formula=_short(formula))) from None
    return result


def _short(formula: str) -> str:
    return repr(formula if len(formula) <= _SHOWN else f"{formula[:_SHOWN]}…")


def _value(node: ast.expr, names: Mapping[str, int | float], formula: str) -> Any:
    value = _unchecked(node, names, formula)
    if isinstance(value, int | float) and abs(value) > _LARGEST:
        raise SettingError(tr("the formula {formula} exceeds 2**62", formula=_short(formula)))
    return value


def _unchecked(node: ast.expr, names: Mapping[str, int | float], formula: str) -> Any:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name):
            allowed = ", ".join(sorted(names))
            raise SourceError(
                tr("the formula {formula} uses {name}", formula=_short(formula), name=f"{name!r}"),
                remedy=tr("it may use {allowed}", allowed=allowed),
            )
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand, names, formula))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            a, b = _value(left, names, formula), _value(right, names, formula)
            if isinstance(op, ast.LShift | ast.RShift) and not 0 <= b < 64:
                raise SettingError(tr("the formula {formula} shifts by {b}", formula=_short(formula), b=b))
            return _BINARY[type(op)](a, b)
        case ast.BoolOp(op=op, values=values):
            results = (_value(each, names, formula) for each in values)
            return all(results) if isinstance(op, ast.And) else any(results)
        case ast.Compare(left=left, ops=ops, comparators=rights):
            terms = [_value(each, names, formula) for each in (left, *rights)]
            return all(_BINARY[type(op)](a, b) for op, a, b in zip(ops, terms, terms[1:], strict=False))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, names, formula) else orelse, names, formula)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            return _FUNCTIONS[name](*(_value(each, names, formula) for each in args))
    raise SourceError(tr("the formula {formula} contains more than arithmetic", formula=_short(formula)))

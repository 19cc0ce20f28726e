"""Sentences of the parser in plain words: a table from its own to ours, with the error's id and the way out."""

import re
from typing import NamedTuple

from gemmviz.model.errors import ErrorId

UNCLOSED_BRACE = "expected '}'"
UNCLOSED = re.compile(rf"{UNCLOSED_BRACE}|unterminated /\* comment|bracket nesting .*")


class Sentence(NamedTuple):
    """A sentence of the parser as a pattern, the plain one with the pattern's groups, and the way out, if one is known."""

    pattern: str
    words: str
    remedy: str | None = None
    id: ErrorId = "source"


_NOT_DECLARED = r"'\1' is not declared", "declare it in front of the kernel, or include the file that does"
_ONE_TYPE, _CONVERT = "convert the operands to one type", "convert it, or change the type of the variable"
_ARGUMENTS = "pass arguments of the types of its parameters"
_HOST_FUNCTION = r"\1 is a host function, which a kernel can't call", "write __device__ before it"
_HOST_VARIABLE, _CONSTANT = r"\1 is a host variable, which a kernel can't read", "make it constexpr or __constant__"
_SMALLER, _HOLDS = "make it smaller", "choose template arguments and parameters for which it holds"
_SENTENCES = (
    Sentence(
        r".*'(?:\w+::)*((?:Generic)?PackedTensorAccessor\w*)'.*",
        r"PyTorch's \1 is not supported",
        "pass a pointer to the tensor's data, and its sizes",
        "unsupported",
    ),
    Sentence(r"use of undeclared identifier '(\w+)'", *_NOT_DECLARED, id="unknown-name"),
    Sentence(r"no (?:template|type|member) named '(\w+)' in .*namespace.*", *_NOT_DECLARED, id="unknown-name"),
    Sentence(r"no template named '(\w+)'", *_NOT_DECLARED, id="unknown-name"),
    Sentence(r"unknown type name '(\w+)'", r"'\1' is not a known type", "include the file that declares it", "unknown-name"),
    Sentence(
        r"'(\w+)' is not a (?:class|template|namespace).*",
        r"'\1' is not a known type",
        "include the file that declares it",
        "unknown-name",
    ),
    Sentence(r"no member named '(\w+)' in '(.+)'", r"\2 has no member \1", "use a member that it has"),
    Sentence(r"member reference base type '(.+)' is not a structure or union", r"a \1 has no members", "use the value itself"),
    Sentence(r"member reference type '(.+)' is a pointer.*", r"a \1 is a pointer: its members follow ->", "write -> for ."),
    Sentence(r"redefinition of '(.+?)'.*", r"\1 is declared twice", "rename one of them"),
    Sentence(r"redeclaration of '(.+?)'.*", r"\1 is declared twice", "rename one of them"),
    Sentence(r"static assertion failed due to requirement '.+': (.+)", r'static_assert fails: "\1"', _HOLDS),
    Sentence(r"static assertion failed.* requirement '(.+)'", r"static_assert fails: \1", _HOLDS),
    Sentence(r"static assertion failed: (.+)", r'static_assert fails: "\1"', _HOLDS),
    Sentence(
        r"cannot assign to .* '(\w+)' .*const.*", r"\1 is const and can't be assigned", "leave out const, or assign to a copy"
    ),
    Sentence(
        r"read-only variable is not assignable",
        "const elements can't be assigned",
        "leave out const in the type of the pointer",
    ),
    Sentence(r"expression is not assignable", "this can't be assigned", "assign to a variable or an element"),
    Sentence(r"array subscript is not an integer", "this can't be an index: it is no integer", "convert it to int"),
    Sentence(r"assigning to '(.+?)'.* from .* '(.+)'.*", r"a \2 can't become a \1", _CONVERT),
    Sentence(r"cannot initialize .* type '(.+?)'.* with .* '(.+)'.*", r"a \2 can't become a \1", _CONVERT),
    Sentence(r"no viable conversion from '(.+?)'.* to '(.+?)'.*", r"a \1 can't become a \2", _CONVERT),
    Sentence(r"no viable overloaded '(.+)'", r"these types have no operator \1", _ONE_TYPE),
    Sentence(
        r"invalid operands to binary expression \('(.+)' and '(.+)'\)",
        r"\1 and \2 have no such operator",
        "write it with their members, or define the operator",
    ),
    Sentence(r"use of overloaded operator '(.+?)' is ambiguous.*", r"several operators \1 fit these types", _ONE_TYPE),
    Sentence(r"call to '(.+)' is ambiguous", r"several functions \1 fit these arguments", _ONE_TYPE),
    Sentence(r"no matching .*call to '(.+)': .*call to __host__ function.*", *_HOST_FUNCTION),
    Sentence(
        r"no matching .*call to '(.+)': .*requires (?:at least |at most )?(\d+) arguments?, but (\d+) .*",
        r"\1 takes \2 arguments, not \3",
        "pass as many as it takes",
    ),
    Sentence(r"no matching (?:member )?function for call to '(.+?)'.*", r"no \1 takes these arguments", _ARGUMENTS),
    Sentence(r"no matching constructor for initialization of '(.+)'", r"a \1 can't be made of this", _ARGUMENTS),
    Sentence(
        r"too (?:few|many) arguments to function call, expected (\d+), have (\d+).*",
        r"it takes \1 arguments, not \2",
        "pass as many as it takes",
    ),
    Sentence(
        r"reference to __global__ function '(.+?)'.* in .* function",
        r"\1 is a kernel; kernels that launch kernels are not supported",
        "make it a __device__ function",
        "unsupported",
    ),
    Sentence(r"reference to __host__ function '(.+?)'.* in .* function", *_HOST_FUNCTION),
    Sentence(r"integer literal is too large .*", "this number has too many digits", _SMALLER),
    Sentence(r"unterminated /\* comment", "this comment is not closed", "write */ where it ends"),
    Sentence(
        r"conversion from '(?:double|float)' to .* converted constant expression",
        "this must be a whole number",
        "convert it to int",
    ),
    Sentence(r"reference to __host__ variable '(.+?)'.* in .* function", _HOST_VARIABLE, _CONSTANT),
    Sentence(
        r"definition of variable with array type needs an explicit size or an initializer",
        "an array needs a size",
        "write one between the brackets",
    ),
    Sentence(r"cannot use variable-length arrays.*", "an array's size must be known when it is compiled", "make it a constant"),
    Sentence(r"variable length array.*", "an array's size must be known when it is compiled", "make it a constant"),
    Sentence(
        r"recursive template instantiation exceeded maximum depth of (\d+)",
        r"templates are instantiated more than \1 deep",
        "end the recursion earlier",
    ),
    Sentence(
        r"bracket nesting level exceeded maximum of (\d+)", r"brackets are nested more than \1 deep", "split the expression"
    ),
    Sentence(
        r"#include nested too deeply", "includes are nested too deeply", "write #pragma once in a header that includes itself"
    ),
    Sentence(r"constexpr evaluation .*|constant expression evaluat.*", "a constant takes too long to compute", _SMALLER),
    Sentence(r"array is too large \((\d+) elements\)", r"an array of \1 elements is too large", _SMALLER),
    Sentence(UNCLOSED_BRACE, "this { is not closed", "write } where its block ends"),
    Sentence(r"cannot use '(\w+)' in .*", r"\1 can't be used in a kernel", "leave it out: a kernel has no exceptions"),
    Sentence(r"expected '([^\w'])'(?: after .*| at end of .*)?", r"a \1 is missing here", "insert it"),
    Sentence(r"expected expression", "an operand is missing here", "write it, or delete the operator"),
    Sentence(r"extraneous closing brace .*", "this } closes nothing", "delete it, or write its {"),
    Sentence(r"(expected .*|extraneous .*|missing .*)", r"this can't be read: \1", "correct the syntax"),
)


def plain_sentence(message: str) -> tuple[str, str | None, ErrorId]:
    """A sentence of the parser in plain words, with the way out and the error's id; one that the table lacks stays as it is."""
    message = re.sub(r" \(aka '[^']*'\)", "", message)
    for sentence in _SENTENCES:
        if match := re.fullmatch(sentence.pattern, message):
            return re.sub(r" (?=[*&])", "", match.expand(sentence.words)), sentence.remedy, sentence.id
    return message, "write it in a simpler way", "source"

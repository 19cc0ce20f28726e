"""Reads PTX text to the instructions of one entry, with all calls expanded in place."""

import dataclasses
import re
from dataclasses import dataclass, field

_BITS = {"pred": 8, "f16x2": 32, "bf16x2": 32, "bf16": 16}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(r"\.(entry|func)\s*(?:\(([^)]*)\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?[^{};]*([{;])")
_VARIABLE = re.compile(
    r"\.(param|shared|local|const|global)\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(?:\.ptr\s+(?:\.\w+\s+)?(?:\.align\s+\d+\s+)?)?"
    r"([\w$%]+)((?:\[\d*\])*)(?:\s*=\s*(\{[^}]*\}|[^;]*))?"
)
_STATEMENT = re.compile(r"\s*(?:([{}])|(\.loc\s[^\n]*)|([\w$%]+)\s*:(?!:)|([^;{}]*(?:\{[^;{}]*\}[^;{}]*)*);)")
_DEEPEST = 32


class PtxError(Exception):
    """What this oracle doesn't know, or a fault of the kernel."""


@dataclass(frozen=True)
class Variable:
    """A declared variable: its space and size in bytes, 0 for extern shared memory; ``data`` are its initial values."""

    name: str
    space: str
    kind: str
    bytes: int
    data: tuple[str, ...] = ()


@dataclass(frozen=True)
class Instruction:
    """An instruction, a declaration of a parameter of a call (``op`` is "declare"), or a label (``op`` is "label")."""

    op: tuple[str, ...]
    args: tuple[str, ...] = ()
    guard: str = ""
    line: int = 0


@dataclass
class Function:
    """A function's parameters, its result, its registers with their types, and its body."""

    params: list[str]
    result: list[str]
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    body: list[Instruction] = field(default_factory=list)


@dataclass
class Program:
    """An entry with its calls expanded: code, target of each label, types of registers, variables, and parameters in order."""

    code: list[Instruction]
    labels: dict[str, int]
    registers: dict[str, str]
    variables: dict[str, Variable]
    params: tuple[Variable, ...]


def bits(kind: str) -> int:
    """Bits of a PTX type."""
    return _BITS[kind] if kind in _BITS else int(kind[1:])


def split(text: str) -> tuple[str, ...]:
    """Operands at commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "{[(") - (c in "}])")
        if c == "," and not depth:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return tuple(each for each in (*parts, current.strip()) if each)


def program(text: str, entry: str, file: str) -> Program:
    """The entry of a PTX text; the lines of its instructions are those of ``file``, -1 elsewhere and 0 where none is known.

    Raises PtxError for recursion and indirect calls.
    """
    files = {
        found[1] for found in re.finditer(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.MULTILINE) if found[2].endswith(file)
    }
    text = _COMMENT.sub("", text.replace("\0", ""))
    text = text[: found.start()] if (found := re.search(r"^\s*\.section\b", text, re.MULTILINE)) else text
    functions: dict[str, Function] = {}
    heads = [*_FUNCTION.finditer(text)]
    outside, at = "", 0
    formal: dict[str, tuple[Variable, ...]] = {}
    for head in heads:
        outside += text[at : head.start()]
        at = head.end()
        if head[5] == "{":
            at = _end(text, head.end())
            params = _variables(head[4] or "")
            formal[head[3]] = tuple(params)
            names = [each.name for each in params]
            functions[head[3]] = _function(
                text[head.end() : at - 1], files, names, [each.name for each in _variables(head[2] or "")]
            )
    variables = {each.name: each for each in _variables(outside + text[at:])}
    made = Program([], {}, {}, variables, formal[entry])
    _expand(made, functions, entry, "", {}, 0)
    made.labels = {each.args[0]: number for number, each in enumerate(made.code) if each.op == ("label",)}
    return made


def _end(text: str, at: int) -> int:
    depth = 1
    while depth:
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
    return at


def _variables(text: str) -> list[Variable]:
    return [_variable(found) for found in _VARIABLE.finditer(text)]


def _variable(found: re.Match[str]) -> Variable:
    size = bits(found[2]) // 8
    for extent in re.findall(r"\[(\d*)\]", found[4]):
        size *= int(extent or 0)
    return Variable(found[3], found[1], found[2], size, split((found[5] or "").strip().strip("{}")))


def _function(text: str, files: set[str], params: list[str], result: list[str]) -> Function:
    function, at, line, scopes, count = Function(params, result), 0, 0, [""], 0
    while found := _STATEMENT.match(text, at):
        at = found.end()
        brace, loc, label, statement = found.groups()
        if brace == "{":
            count += 1
            scopes.append(f"#{count}")
        elif brace == "}":
            scopes.pop()
        elif loc:
            number = loc.split()
            line = int(number[2]) if number[1] in files else -1
        elif label:
            function.body.append(Instruction(("label",), (label,)))
        elif statement.strip():
            _add(function, statement.strip(), line)
    return function


def _add(function: Function, text: str, line: int) -> None:
    if text.startswith(".reg"):
        _, kind, names = text.split(None, 2)
        for name in split(names):
            ranged = re.match(r"(.*)<(\d+)>$", name)
            each = [f"{ranged[1]}{n}" for n in range(int(ranged[2]))] if ranged else [name]
            function.registers.update(dict.fromkeys(each, kind[1:]))
    elif found := _VARIABLE.match(text):
        made = _variable(found)
        function.variables[made.name] = made
        if made.space == "param":
            function.body.append(Instruction(("declare",), (made.name, str(made.bytes)), "", line))
    elif not text.startswith("."):
        guard = re.match(r"@(!?[\w$%]+)\s+", text)
        text = text[guard.end() :] if guard else text
        op, *rest = text.split(None, 1)
        parts = tuple(op.replace("::", "_").split("."))
        function.body.append(Instruction(parts, split(" ".join(rest)), guard[1] if guard else "", line))


def _expand(made: Program, functions: dict[str, Function], name: str, prefix: str, binding: dict[str, str], depth: int) -> None:
    """Appends the body of a function, its own names behind ``prefix`` and its parameters bound to those of the call."""
    if depth > _DEEPEST:
        raise PtxError("the calls are nested too deeply")
    function = functions[name]
    own = {each: prefix + each for each in (*function.registers, *function.variables)} | binding
    made.registers.update({prefix + each: kind for each, kind in function.registers.items()})
    for each in function.variables.values():
        if each.space in ("local", "shared"):
            unique = prefix + each.name if each.space == "local" else each.name
            own[each.name] = unique
            made.variables[unique] = dataclasses.replace(each, name=unique)
    labels = {each.args[0] for each in function.body if each.op == ("label",)}
    own |= {each: prefix + each for each in labels}
    out = f"{prefix}$out"
    for at in function.body:
        if at.op[0] == "call":
            _expand_call(made, functions, at, f"{prefix}{len(made.code)}/", own, depth)
        elif at.op[0] == "ret" and prefix:
            made.code.append(dataclasses.replace(at, op=("bra",), args=(out,), guard=_renamed(at.guard, own)))
        else:
            made.code.append(
                dataclasses.replace(at, args=tuple(_renamed(arg, own) for arg in at.args), guard=_renamed(at.guard, own))
            )
    made.code.append(Instruction(("label",), (out,)))


def _expand_call(
    made: Program, functions: dict[str, Function], at: Instruction, prefix: str, own: dict[str, str], depth: int
) -> None:
    groups = [split(arg[1:-1]) if arg.startswith("(") else (arg,) for arg in at.args]
    place = next((n for n, group in enumerate(groups) if group and group[0] in functions), None)
    if place is None or at.guard:  # a fault when it is reached, as where an assertion fails
        made.code.append(dataclasses.replace(at, op=("call", *at.args), args=(), guard=_renamed(at.guard, own)))
        return
    callee = functions[groups[place][0]]
    given = groups[place + 1] if len(groups) > place + 1 else ()
    result = groups[0] if place else ()
    binding = {formal: own.get(actual, actual) for formal, actual in zip(callee.params, given, strict=True)}
    binding |= {formal: own.get(actual, actual) for formal, actual in zip(callee.result, result, strict=False)}
    _expand(made, functions, groups[place][0], prefix, binding, depth + 1)


def _renamed(text: str, own: dict[str, str]) -> str:
    return re.sub(r"[\w$%.]+", lambda found: own.get(found[0], found[0]), text)

"""A kernel's launch as one line of text, as command-line flags, and as the header of its file."""

import ast
import json
import re
import shlex

from gemmviz.files.kernel_file import HEADER_VERSION
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.translation import tr

_TIMES = " × "
_ONES = {"1"}
_CALL = re.compile(r"\w+\([^()]*\)")
_ROUNDED_UP = re.compile(r"\(+(\w+) \+ \(?(\w+)\)? - 1\)+ / (\w+)\)*")


def launch_line(kernel: KernelSpec) -> str:
    """What each argument is, the threads of a block and the blocks of the grid, in one sentence without a full stop."""
    pairs = list(zip(kernel.parameter_names or kernel.args, kernel.args, strict=False))
    others = [tr("{name} is {argument}", name=name, argument=argument) for name, argument in pairs if name != argument]
    same = [name for name, argument in pairs if name == argument]
    arguments = ", ".join((*others, *([tr("{same} as named", same=", ".join(same))] if same else ())))
    block, grid = (_product(_trimmed(each)) for each in (kernel.block, kernel.grid))
    parts = [
        arguments or tr("no arguments"),
        tr("{block} threads{values}", block=block, values=_values(kernel)),
        tr("grid {grid}", grid=grid),
    ]
    if kernel.shared_bytes not in ("", "0"):
        parts.append(tr("{bare} bytes of shared memory", bare=_bare(kernel.shared_bytes)))
    if kernel.column_major:
        parts.append(tr("{column_major} stored by columns", column_major=", ".join(sorted(kernel.column_major))))
    return "; ".join(parts)


def launch_flags(kernel: KernelSpec) -> list[str]:
    """The launch as flags of the command line, not quoted."""
    flags = ["--entry", kernel.entry, "--args", ",".join(kernel.args)]
    flags += ["--block", ",".join(_trimmed(kernel.block)), "--grid", ",".join(_trimmed(kernel.grid))]
    if kernel.shared_bytes not in ("", "0"):
        flags += ["--shared", _bare(kernel.shared_bytes)]
    if kernel.column_major:
        flags += ["--column-major", ",".join(sorted(kernel.column_major))]
    return flags


def launch_command(kernel: KernelSpec) -> str:
    """A command that opens the kernel with this launch, quoted for a shell."""
    return shlex.join(["gemmviz", kernel.name if kernel.is_shipped else kernel.file, *launch_flags(kernel)])


def header_text(kernel: KernelSpec) -> str:
    """The launch as a header: ``//`` lines that end with a line feed."""
    plain: dict[str, object] = {
        "gemmviz": HEADER_VERSION,
        "entry": kernel.entry,
        "args": list(kernel.args),
        "block": list(_trimmed(kernel.block)),
        "grid": list(_trimmed(kernel.grid)),
    }
    if kernel.shared_bytes not in ("", "0"):
        plain["shared_bytes"] = _bare(kernel.shared_bytes)
    if kernel.opts_in_to_shared:
        plain["opts_in_to_shared"] = True
    if kernel.column_major:
        plain["column_major"] = sorted(kernel.column_major)
    plain["problem"] = kernel.problem.to_flat()
    if kernel.size_macros:
        plain["size_macros"] = dict(kernel.size_macros)
    lines = [f"{name} = {_toml(value)}" for name, value in plain.items()]
    for parameter in kernel.parameters:
        lines += [f"[parameters.{parameter.name}]", f"default = {parameter.default}"]
    for rule in kernel.requirements:
        lines += ["[[require]]", f"that = {_toml(rule.that)}", f"else = {_toml(rule.otherwise)}"]
    return "".join(f"// {line}\n" for line in lines)


def _toml(value: object) -> str:
    """A value of TOML on one line."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return f"{{ {', '.join(f'{name} = {_toml(each)}' for name, each in value.items())} }}"
    return str(value)


def with_header(kernel: KernelSpec, text: str) -> str:
    """The text of the kernel's file with its launch as a header above it."""
    return f"{header_text(kernel)}\n{text}"


def _trimmed(extents: tuple[str, ...]) -> tuple[str, ...]:
    """The extents along x, y and z without the ones at the end, in plain formulas."""
    count = max((axis for axis, extent in enumerate(extents, 1) if extent not in _ONES), default=1)
    return tuple(map(_bare, extents[:count]))


def _product(extents: tuple[str, ...]) -> str:
    """Extents with times signs between them, in brackets if they are fractions or the like."""
    several = len(extents) > 1
    return _TIMES.join(f"({each})" if several and " " in each and not _CALL.fullmatch(each) else each for each in extents)


def _bare(formula: str) -> str:
    """A formula without what doesn't change its value: brackets, conversions; ``(N + T - 1) / T`` becomes ceil_div(N, T)."""
    try:
        formula = ast.unparse(_Plain().visit(ast.parse(formula, mode="eval")))
    except (SyntaxError, RecursionError):
        return formula
    rounded = _ROUNDED_UP.fullmatch(formula)
    return f"ceil_div({rounded[1]}, {rounded[2]})" if rounded is not None and rounded[2] == rounded[3] else formula


class _Plain(ast.NodeTransformer):
    """Leaves out conversions that C needs and a formula does not: ``int(ceil(x))`` and ``float(N) / 16.0``."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="int"), args=[ast.Call(func=ast.Name(id="ceil" | "floor")) as rounded]):
                return rounded
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.BinOp(left=ast.Call(func=ast.Name(id="float"), args=[number]), right=ast.Constant(value=float())):
                return ast.BinOp(number, node.op, node.right)
            case ast.BinOp(left=ast.Constant(value=float()), right=ast.Call(func=ast.Name(id="float"), args=[number])):
                return ast.BinOp(node.left, node.op, number)
        return node


def _values(kernel: KernelSpec) -> str:
    """The values of the parameters in the block's formulas, in brackets."""
    words = set(re.findall(r"\w+", " ".join(kernel.block)))
    values = [f"{each.name} = {each.default}" for each in kernel.parameters if each.name in words]
    return f" ({', '.join(values)})" if values else ""

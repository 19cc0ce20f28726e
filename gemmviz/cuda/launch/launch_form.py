"""The fields of a form that describes or corrects a launch, each with its candidates."""

import ast
import json
import math
import re
import shlex

from msgspec import Struct, structs

from gemmviz.cuda.launch.draft import Draft
from gemmviz.cuda.launch.formula import renamed
from gemmviz.files.kernel_file import HEADER_VERSION
from gemmviz.model.kernel import KernelSpec, LaunchOrigin
from gemmviz.model.messages import GemmvizError, KernelFault, UsageError, closest, many, marked, tr
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems import MULTIPLY, PROBLEM_KINDS
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Check

# A kernel's launch as one line of text, as command-line flags, and as the header of its file.

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
        tr("{block} threads{values}", block=block, values=_block_parameters(kernel)),
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


def _block_parameters(kernel: KernelSpec) -> str:
    """The values of the parameters in the block's formulas, in brackets."""
    words = set(re.findall(r"\w+", " ".join(kernel.block)))
    values = [f"{each.name} = {each.default}" for each in kernel.parameters if each.name in words]
    return f" ({', '.join(values)})" if values else ""


_NAMED_ARGUMENT = re.compile(r"\s*(\w+)\s*=(?!=)\s*(.+)")
_MOST_AXES = 3


class GivenLaunch(Struct, frozen=True):
    """Parts of a launch; empty ones are read from the file.

    ``args``: formulas for all of the kernel's parameters in order, or ``NAME=FORMULA`` for some of them; ``block`` and
    ``grid``: one to three formulas over M, N, K and the kernel's parameters; ``column_major``: matrices stored by columns;
    ``kind``: of the problem.
    """

    entry: str = ""
    args: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    shared_bytes: str = ""
    column_major: frozenset[str] | None = None
    kind: str = ""

    def __bool__(self) -> bool:
        return self != GivenLaunch()

    @property
    def describes(self) -> bool:
        """Whether any part of the launch is given, besides which kernel it is of."""
        return structs.replace(self, entry="") != GivenLaunch()

    @property
    def is_complete(self) -> bool:
        """Whether all arguments are given, in order."""
        return bool(self.args) and not any("=" in each for each in self.args)

    def arguments(self, names: tuple[str, ...]) -> dict[str, str]:
        """The given formulas by the names of the kernel's parameters. Raises UsageError for too many or unknown ones."""
        pairs = [_NAMED_ARGUMENT.fullmatch(each) for each in self.args]
        if self.args and all(pairs):
            named = {match[1]: match[2].strip() for match in pairs if match is not None}
            unknown = next((name for name in named if name not in names), None)
            if unknown is not None:
                remedy = closest(unknown, names) or tr("its parameters are {names}", names=", ".join(names))
                raise UsageError(tr("the kernel has no parameter {unknown}", unknown=unknown), remedy=remedy)
            return named
        if self.args and len(self.args) != len(names):
            message = tr(
                "the kernel has {count} parameters, {names}; args gives {given}",
                count=len(names),
                names=", ".join(names),
                given=len(self.args),
            )
            raise UsageError(message, remedy=tr("give one for each, or NAME=FORMULA for some"))
        return dict(zip(names, self.args, strict=False))

    def _with_entry(self, kernel: KernelSpec) -> KernelSpec:
        """The kernel with the given template arguments, which replace the tile sizes of the same places everywhere."""
        if "<" not in self.entry:
            return kernel
        given = _split(self.entry.partition("<")[2].rpartition(">")[0])
        fixed = {
            name: value for name, value in zip(kernel.template_arguments, given, strict=False)
            if name != value and name in {each.name for each in kernel.parameters}
        }  # fmt: skip
        return structs.replace(
            kernel,
            entry=self.entry,
            args=tuple(renamed(each, fixed) for each in kernel.args),
            block=tuple(renamed(each, fixed) for each in kernel.block),
            grid=tuple(renamed(each, fixed) for each in kernel.grid),
            shared_bytes=renamed(kernel.shared_bytes, fixed),
            parameters=tuple(each for each in kernel.parameters if each.name not in fixed),
        )

    def applied(self, kernel: KernelSpec) -> KernelSpec:
        """The kernel with the given parts in place of its own."""
        if not self:
            return kernel
        kernel, args = self._with_entry(kernel), kernel.args
        if self.args:
            names = kernel.parameter_names or tuple(
                tr("argument {number}", number=number) for number in range(1, len(kernel.args) + 1)
            )
            given = self.arguments(names)
            args = tuple(given.get(name, old) for name, old in zip(names, kernel.args, strict=True))
        return structs.replace(
            kernel,
            args=args,
            block=self.block or kernel.block,
            grid=self.grid or kernel.grid,
            shared_bytes=self.shared_bytes or kernel.shared_bytes,
            opts_in_to_shared=kernel.opts_in_to_shared or bool(self.shared_bytes),
            column_major=kernel.column_major if self.column_major is None else self.column_major,
            launch_from="given" if self.describes else kernel.launch_from,
        )


def formulas_of(text: str, what: str, most: int = _MOST_AXES) -> tuple[str, ...]:
    """Formulas separated by commas outside brackets. Raises UsageError if there are none or too many, or a bracket is open."""
    if text.count("(") != text.count(")"):
        raise UsageError(
            tr("{what}: {formulas} has a bracket without its counterpart", what=what, formulas=f"{text!r}"),
            remedy=tr("write one ) for each ("),
        )
    formulas = _split(text)
    if not 1 <= len(formulas) <= most or not all(formulas):
        raise UsageError(
            tr("{what}: {formulas} doesn't give 1 to {most} formulas", what=what, formulas=f"{text!r}", most=most),
            remedy=tr("separate them by commas"),
        )
    return formulas


def _split(text: str) -> tuple[str, ...]:
    parts, depth, part = [], 0, ""
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    return (*parts, part.strip())


# What a run at a kernel's launch may be judged by: a launch that is confirmed, or the sentence that says what is uncertain.

GUESSED = marked("{entry} is launched nowhere in the files that were read, and this launch is a guess")
NOT_READ = marked("{part} of the launch in line {line} can't be read ({reason})")
NO_ROLES = marked("no choice of roles for the arguments gives a right result")
TOO_LARGE = marked("the kernel is not right at small sizes, and {sizes}, which the code has, is too large to be tried")
ILLEGAL = marked("the block in the code has more threads than any GPU allows, and this one is smaller")
_ORIGINS: dict[LaunchOrigin, str] = {
    "header": marked("launch from the header"), "read": marked("launch read from the code"),
    "guessed": marked("launch guessed"), "unsure": marked("launch read from the code"),
    "unchecked": marked("launch read from the code"), "given": marked("launch as given"),
}  # fmt: skip


def not_confirmed(kernel: KernelSpec) -> UsageError | None:
    """The sentence that replaces a verdict on C, on ranges and on races, with the flags that correct the launch; None if the
    launch is confirmed: given, or read in full, at sizes that the code uses or that it leaves open.
    """
    if not kernel.unconfirmed:
        return None
    remedy = tr("correct it with Edit … in the window, or by flags: {command}", command=launch_command(kernel))
    return UsageError(
        tr("launch not confirmed: {what}", what=kernel.unconfirmed), file=kernel.file, remedy=remedy, id="unconfirmed"
    )


def launch_origin(kernel: KernelSpec) -> str:
    """Where the launch of a kernel comes from."""
    return tr(_ORIGINS[kernel.launch_from])


def basis(setup: Setup) -> str:
    """What a finding rests on: the sizes of the run, and where the launch comes from."""
    return tr("at {sizes}, {origin}", sizes=setup.problem.text(), origin=launch_origin(setup.kernel))


def compared_at(check: Check, setup: Setup) -> str:
    """The sizes at which a result was compared, and how many of its elements if not all."""
    sizes = setup.problem.text()
    if check.compared == math.prod(setup.problem.shapes[check.array]):
        return sizes
    return tr("{sizes} in {elements}", sizes=sizes, elements=many(check.compared, "element"))


def judged_check(check: Check, kernel: KernelSpec) -> Check:
    """The check of a result, without a verdict if C isn't right and the launch isn't confirmed."""
    doubt = not_confirmed(kernel)
    return check if doubt is None or check.passed else Check(0, 0, 0, 0.0, 0.0, (0,), is_checked=False, why_not=doubt.message)


def judged_fault(fault: KernelFault, setup: Setup) -> KernelFault:
    """The fault of a run: without a verdict if the launch isn't confirmed, else with what it rests on if that was read."""
    doubt = not_confirmed(setup.kernel)
    if doubt is not None:
        message = tr("{doubt}; with this launch the run can't be continued", doubt=doubt.message)
        return KernelFault(message, None, remedy=doubt.remedy, id="unconfirmed")
    with_basis(fault, setup)
    return fault


def with_basis(error: GemmvizError, setup: Setup) -> None:
    """Adds what a finding rests on to its message, unless the file's own header gives the launch."""
    if setup.kernel.launch_from != "header":
        error.message += f" ({basis(setup)})"


def wrong_result(check: Check, setup: Setup) -> GemmvizError:
    """The error for a wrong result of a setup's launch, with what it rests on."""
    error = GemmvizError(str(check), file=setup.kernel.file)
    with_basis(error, setup)
    return error


_MOST_ARGS = 64


class LaunchField(Struct, frozen=True):
    """One field. ``name``: identifies it; ``value``: its text, "" if unknown; ``candidates``: texts to choose from."""

    name: str
    label: str
    value: str
    candidates: tuple[str, ...] = ()


class LaunchForm(Struct, frozen=True):
    """What is known about a launch. ``file``: the kernel's; ``entry``: the kernel; ``entries``: the kernels of the file;
    ``parameters``: one field for each parameter of the kernel.
    """

    file: str
    entry: str
    entries: tuple[str, ...]
    kind: str
    kinds: tuple[ProblemKind, ...]
    parameters: tuple[LaunchField, ...]
    block: tuple[str, str, str]
    grid: tuple[str, str, str]
    shared_bytes: str
    arrays: tuple[str, ...]
    column_major: frozenset[str] = frozenset()

    def given(self, values: dict[str, str], column_major: frozenset[str]) -> GivenLaunch:
        """The launch with these texts in its fields, by name. Raises UsageError for a field that needs a text."""
        args = tuple(formulas_of(values[each.name], each.label, 1)[0] for each in self.parameters)
        block, grid = (_extent_formulas(values, part) for part in ("block", "grid"))
        entry, kind = values.get("entry", self.entry), values.get("kind", self.kind)
        return GivenLaunch(entry, args, block, grid, values.get("shared", "") or "0", column_major, kind)

    @property
    def fields(self) -> tuple[LaunchField, ...]:
        """All fields with a text, in order."""
        axes = zip("xyz", zip(self.block, self.grid, strict=True), strict=True)
        extents = [
            field
            for axis, (block, grid) in axes
            for field in (
                LaunchField(f"block.{axis}", tr("block, {axis}", axis=axis), block),
                LaunchField(f"grid.{axis}", tr("grid, {axis}", axis=axis), grid),
            )
        ]
        return (
            *self.parameters,
            *sorted(extents, key=lambda each: each.name),
            LaunchField("shared", tr("shared memory"), self.shared_bytes),
        )


def form_of(kernel: KernelSpec, entries: tuple[str, ...] = ()) -> LaunchForm:
    """The form of a kernel with its present launch."""
    names = kernel.parameter_names or tuple(tr("argument {number}", number=number) for number in range(1, len(kernel.args) + 1))
    pointers = {array.name for array in kernel.problem.arrays}
    return _launch_form(
        kernel.file, kernel.entry, entries or (kernel.entry,), kernel.problem,
        [(name, value in pointers, value) for name, value in zip(names, kernel.args, strict=True)],
        kernel.block, kernel.grid, kernel.shared_bytes, kernel.column_major,
    )  # fmt: skip


def form_of_draft(draft: Draft, file: str, entries: tuple[str, ...]) -> LaunchForm:
    """The form of a kernel whose launch isn't known: what can be told from names is filled in by ``candidates``."""
    kinds = [kind for kind in PROBLEM_KINDS.values() if len(kind.arrays) == len(draft.pointers)]
    kind = next((each.name for each in kinds), MULTIPLY)
    return _launch_form(
        file, draft.entry, entries, Problem(kind=kind),
        [(each.name, each.kind == "pointer", "") for each in draft.parameters], draft.block, draft.grid, draft.shared_bytes,
    )  # fmt: skip


def _launch_form(
    file: str,
    entry: str,
    entries: tuple[str, ...],
    problem: Problem,
    parameters: list[tuple[str, bool, str]],
    block: tuple[str, ...],
    grid: tuple[str, ...],
    shared_bytes: str,
    column_major: frozenset[str] = frozenset(),
) -> LaunchForm:
    pointers = sum(is_pointer for _, is_pointer, _ in parameters)
    kinds = tuple(kind for kind in PROBLEM_KINDS.values() if len(kind.arrays) == pointers)
    arrays = tuple(array.name for array in problem.arrays)
    sizes = (*problem.sizes, *problem.factors, "1", "0")
    fields = tuple(
        LaunchField(f"arg.{name}", name, value, arrays if is_pointer else sizes) for name, is_pointer, value in parameters
    )
    return LaunchForm(
        file, entry, entries, problem.kind.name, kinds, fields, _three(block), _three(grid), shared_bytes, arrays, column_major
    )


def _three(extents: tuple[str, ...]) -> tuple[str, str, str]:
    x, y, z = (*extents, "1", "1", "1")[:3] if extents else ("", "1", "1")
    return x, y, z


def _extent_formulas(values: dict[str, str], part: str) -> tuple[str, ...]:
    return tuple(formulas_of(values[f"{part}.{axis}"] or "1", f"{part}, {axis}", 1)[0] for axis in "xyz")

"""The fields of a form that describes or corrects a launch, each with its candidates."""

from msgspec import Struct

from gemmviz.launch.draft import Draft
from gemmviz.launch.given_launch import GivenLaunch, formulas_of
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems.catalog import MULTIPLY, PROBLEM_KINDS
from gemmviz.model.translation import tr

_AXES = "xyz"
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
        block, grid = (_extents(values, part) for part in ("block", "grid"))
        entry, kind = values.get("entry", self.entry), values.get("kind", self.kind)
        return GivenLaunch(entry, args, block, grid, values.get("shared", "") or "0", column_major, kind)

    @property
    def fields(self) -> tuple[LaunchField, ...]:
        """All fields with a text, in order."""
        axes = zip(_AXES, zip(self.block, self.grid, strict=True), strict=True)
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
    return _form(
        kernel.file, kernel.entry, entries or (kernel.entry,), kernel.problem,
        [(name, value in pointers, value) for name, value in zip(names, kernel.args, strict=True)],
        kernel.block, kernel.grid, kernel.shared_bytes, kernel.column_major,
    )  # fmt: skip


def form_of_draft(draft: Draft, file: str, entries: tuple[str, ...]) -> LaunchForm:
    """The form of a kernel whose launch isn't known: what can be told from names is filled in by ``candidates``."""
    kinds = [kind for kind in PROBLEM_KINDS.values() if len(kind.arrays) == len(draft.pointers)]
    kind = next((each.name for each in kinds), MULTIPLY)
    return _form(
        file, draft.entry, entries, Problem(kind=kind),
        [(each.name, each.kind == "pointer", "") for each in draft.parameters], draft.block, draft.grid, draft.shared_bytes,
    )  # fmt: skip


def _form(
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


def _extents(values: dict[str, str], part: str) -> tuple[str, ...]:
    return tuple(formulas_of(values[f"{part}.{axis}"] or "1", f"{part}, {axis}", 1)[0] for axis in _AXES)

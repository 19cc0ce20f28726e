"""Parts of a launch that a person gives by flags or in a form; they replace what is read from the file."""

import re

from msgspec import Struct

from gemmviz.launch.words import renamed
from gemmviz.model.errors import UsageError, closest
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.records import replace
from gemmviz.model.translation import tr

_NAMED = re.compile(r"\s*(\w+)\s*=(?!=)\s*(.+)")
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
        return replace(self, entry="") != GivenLaunch()

    def arguments(self, names: tuple[str, ...]) -> dict[str, str]:
        """The given formulas by the names of the kernel's parameters. Raises UsageError for too many or unknown ones."""
        pairs = [_NAMED.fullmatch(each) for each in self.args]
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
        return replace(
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
        return replace(
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

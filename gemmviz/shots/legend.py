"""A launch in the words of its kernel's source: the names of arrays and sizes there, and a legend for readers who have only the
source and a question about it.
"""

from functools import cached_property

from msgspec import Struct

from gemmviz.cuda.launch.legality import device_for
from gemmviz.cuda.nodes import Program
from gemmviz.model.kernel import Launch
from gemmviz.model.labels import LabelStyle
from gemmviz.model.setup import Setup, kernel_title
from gemmviz.model.threads import Triple
from gemmviz.model.translation import listed, tr, trn
from gemmviz.run.cpu.executor import bound
from gemmviz.run.cpu.simt.interpret import Binding


class LaunchWords(Struct, frozen=True, dict=True):
    """The words for a launch; ``labels``: how elements and threads are written. Raises GemmvizError if it can't run."""

    setup: Setup
    labels: LabelStyle

    @cached_property
    def _binding(self) -> Binding:
        return bound(self.setup)

    @property
    def program(self) -> Program:
        return self._binding.program

    @property
    def launch(self) -> Launch:
        return self._binding.launch

    @cached_property
    def _names(self) -> dict[str, str]:
        """The kernel's own names of its arguments, by those of the problem."""
        own = {each.argument: each.name for each in reversed(self.program.parameters)}
        return {name: own[place] for place, name in enumerate(self.setup.kernel.args) if place in own}

    def name(self, array: str) -> str:
        """The name of an argument in the source, by that in the problem."""
        return self._names.get(array, array)

    @property
    def legend(self) -> str:
        """The launch, the sizes of the arrays, and how elements and threads are written."""
        return " ".join(filter(None, (f"{self._launch}.", self._sizes, self._notation, self._pictures)))

    @property
    def _launch(self) -> str:
        setup, launch = self.setup, self.launch
        known = setup.problem.sizes
        sizes = {self.name(name): known[name] for name in setup.kernel.args if name in known}
        sizes |= {macro: known[size] for macro, size in setup.kernel.size_macros}
        values = [f"{name} = {size}" for name, size in sizes.items()] or [setup.problem.text()]
        where = tr("{kernel}, on {device}", kernel=", ".join((kernel_title(setup), *values)), device=device_for(setup).name)
        return tr(
            "{where}: a grid of {grid}, blocks of {block}",
            where=where,
            grid=extents_text(launch.grid),
            block=extents_text(launch.block),
        )

    @property
    def _sizes(self) -> str:
        """The shapes of the arrays in global memory; arrays of one shape together."""
        shapes: dict[tuple[int, ...], list[str]] = {}
        for array, shape in self._binding.shapes.items():
            shapes.setdefault(shape, []).append(self.name(array))
        matrices, others = (
            ", ".join(_sized(names, shape) for shape, names in shapes.items() if (len(shape) == 2) == is_matrix)
            for is_matrix in (True, False)
        )
        return " ".join(
            filter(None, (matrices and tr("{matrices} (rows × columns).", matrices=matrices), others and f"{others}."))
        )

    @property
    def _notation(self) -> str:
        has_matrices = any(len(shape) > 1 for shape in self._binding.shapes.values())
        order = tr("written as [{order}] and ", order=tr(self.labels.order)) if has_matrices else ""
        threads, blocks = (self._axes(extents) for extents in (self.launch.block, self.launch.grid))
        indices = (
            tr("threads and blocks as {threads}", threads=threads)
            if threads == blocks
            else tr("threads as {threads}, blocks as {blocks}", threads=threads, blocks=blocks)
        )
        phases = tr("; phases are counted from 1") if self._has_phases else ""
        return tr(
            "Elements are {order}counted from {first}; {indices}, counted from 0{phases}.",
            order=order,
            first=self.labels.first,
            indices=indices,
            phases=phases,
        )

    @property
    def _has_phases(self) -> bool:
        return any(loop.number == self.program.phase_loop and loop.holds_barrier for loop in self.program.loops)

    def _axes(self, extents: Triple) -> str:
        axes = "xyz" if extents[2] > 1 else "xy"
        return f"({', '.join(axes if self.labels.thread == 'x, y' else axes[::-1])})"

    @property
    def _pictures(self) -> str:
        """The names that pictures use, if they are others."""
        other = {self.name(array): array for array in self._binding.shapes if self.name(array) != array}
        if not other:
            return ""
        return trn(
            "In pictures, {names} is called {others}.", "In pictures, {names} are called {others}.", len(other),
            names=listed(other), others=listed(other.values()),
        )  # fmt: skip


def extents_text(extents: Triple) -> str:
    """Extents along x and y, and along z if there are several: "4 × 4 × 2"."""
    return " × ".join(map(str, extents if extents[2] > 1 else extents[:2]))


def _sized(names: list[str], shape: tuple[int, ...]) -> str:
    """Arrays with their shape: "A and B are 8 × 8", "x is 64 long"."""
    size = " × ".join(map(str, shape))
    if len(shape) > 1:
        return trn("{names} is {size}", "{names} are {size}", len(names), names=listed(names), size=size)
    return trn("{names} is {size} long", "{names} are {size} long", len(names), names=listed(names), size=size)

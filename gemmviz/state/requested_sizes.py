"""What a person wants of sizes and parameters, kept while other kernels are looked at that can't have it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from gemmviz.launch.legality import broken_limit, nearest_setup, setup_for
from gemmviz.model.errors import GemmvizError, SettingError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.setup import Setup

_SIZES = ("M", "N", "K")


@dataclass(frozen=True, slots=True)
class RequestedSizes:
    """Sizes and parameters that were set by hand, by name; all others are the kernel's own."""

    numbers: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, setup: Setup) -> "RequestedSizes":
        """What a setup has otherwise than its kernel."""
        own = {**setup.kernel.problem.sizes, **setup.kernel.defaults}
        return cls({name: value for name, value in setup.sizes_and_parameters.items() if own.get(name) != value})

    def with_numbers(self, **numbers: int) -> "RequestedSizes":
        return RequestedSizes({**self.numbers, **numbers})

    def for_kernel(self, kernel: KernelSpec, before: Setup) -> Setup:
        """What is wanted of a kernel; what is set besides sizes and parameters stays as before."""
        sizes = {name: value for name, value in self.numbers.items() if name in _SIZES}
        parameters = {name: value for name, value in self.numbers.items() if name in kernel.defaults}
        return replace(
            setup_for(kernel, replace(kernel.problem, **sizes), parameters),
            filling=before.filling, device=before.device, blocks=before.blocks, phases=before.phases,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ResolvedSetup:
    """The setup that can run, and a sentence where it is not the one that was wanted."""

    setup: Setup
    instead: str = ""


def granted(wanted: Setup) -> ResolvedSetup:
    """What was wanted, or the nearest that can run; what was wanted too where nothing near can."""
    why = _why_not(wanted)
    if why is None:
        return ResolvedSetup(wanted)
    nearest = nearest_setup(wanted)
    if nearest is None:
        return ResolvedSetup(wanted)
    named = nearest.sizes_and_parameters
    changed = ", ".join(f"{n} = {named[n]}" for n, value in wanted.sizes_and_parameters.items() if named[n] != value)
    instead = f"{wanted.kernel.name} can't have what you set ({why}), so it has {changed}; what you set is kept for others"
    return ResolvedSetup(nearest, instead)


def _why_not(setup: Setup) -> str | None:
    try:
        broken = broken_limit(setup)
    except SettingError as error:
        return error.message
    except GemmvizError:
        return None  # the kernel itself is wrong, and says so when it runs
    return None if broken is None else broken.sentence

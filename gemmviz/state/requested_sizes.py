"""Sizes and parameters that the user requested, kept while kernels are displayed that can't run with them."""

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
    """Sizes and parameters that the user set, by name; others have the kernel's defaults."""

    numbers: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, setup: Setup) -> "RequestedSizes":
        """The values of a setup that differ from its kernel's defaults."""
        own = {**setup.kernel.problem.sizes, **setup.kernel.defaults}
        return cls({name: value for name, value in setup.sizes_and_parameters.items() if own.get(name) != value})

    def with_numbers(self, **numbers: int) -> "RequestedSizes":
        return RequestedSizes({**self.numbers, **numbers})

    def for_kernel(self, kernel: KernelSpec, before: Setup) -> Setup:
        """The requested setup of a kernel; other settings are taken from ``before``."""
        sizes = {name: value for name, value in self.numbers.items() if name in _SIZES}
        parameters = {name: value for name, value in self.numbers.items() if name in kernel.defaults}
        return replace(
            setup_for(kernel, replace(kernel.problem, **sizes), parameters),
            filling=before.filling, device=before.device, blocks=before.blocks, phases=before.phases,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ResolvedSetup:
    """A setup that can run. ``instead``: explanation if it is not the requested one."""

    setup: Setup
    instead: str = ""


def granted(wanted: Setup) -> ResolvedSetup:
    """The requested setup, or the nearest one that can run; the requested one if nothing near can."""
    why = _why_not(wanted)
    if why is None:
        return ResolvedSetup(wanted)
    nearest = nearest_setup(wanted)
    if nearest is None:
        return ResolvedSetup(wanted)
    named = nearest.sizes_and_parameters
    changed = ", ".join(f"{n} = {named[n]}" for n, value in wanted.sizes_and_parameters.items() if named[n] != value)
    instead = f"{wanted.kernel.name} can't run with your settings ({why}): it uses {changed}. Your settings are kept"
    return ResolvedSetup(nearest, instead)


def _why_not(setup: Setup) -> str | None:
    try:
        broken = broken_limit(setup)
    except SettingError as error:
        return error.message
    except GemmvizError:
        return None  # an error in the kernel is reported when it runs
    return None if broken is None else broken.sentence

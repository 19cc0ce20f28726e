"""Sizes and parameters that the user requested, kept while kernels are displayed that can't run with them."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field

from gemmviz.cuda.launch.legality import broken_limit, nearest_setup, setup_for, tied
from gemmviz.model.errors import GemmvizError, SettingError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.translation import tr


class RequestedSizes(Struct, frozen=True):
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
        sizes = {name: value for name, value in self.numbers.items() if name in kernel.problem.sizes}
        parameters = {name: value for name, value in self.numbers.items() if name in kernel.defaults}
        setup = replace(
            setup_for(kernel, kernel.problem.__replace__(**sizes), parameters),
            filling=before.filling, device=before.device, blocks=before.blocks, phases=before.phases,
        )  # fmt: skip
        return tied(setup)


class ResolvedSetup(Struct, frozen=True):
    """A setup that can run. ``explanation``: why it is not the requested one; "" if it is."""

    setup: Setup
    explanation: str = ""


def resolve(requested: Setup) -> ResolvedSetup:
    """The requested setup if it can run, otherwise the nearest one that can; unchanged if there is none."""
    why = _why_not(requested)
    if why is None:
        return ResolvedSetup(requested)
    nearest = nearest_setup(requested)
    if nearest is None:
        return ResolvedSetup(requested)
    named = nearest.sizes_and_parameters
    changed = ", ".join(f"{n} = {named[n]}" for n, value in requested.sizes_and_parameters.items() if named[n] != value)
    explanation = tr(
        "{kernel} can't run with your settings ({why}): it uses {changed}. Your settings are kept",
        kernel=requested.kernel.name,
        why=why,
        changed=changed,
    )
    return ResolvedSetup(nearest, explanation)


def _why_not(setup: Setup) -> str | None:
    try:
        broken = broken_limit(setup)
    except SettingError as error:
        return error.message
    except GemmvizError:
        return None  # an error in the kernel is reported when it runs
    return None if broken is None else broken.sentence

"""Setups become a launch that the device can run, or a sentence that says which limit they break and what would work."""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gemmviz.files.devices import load_device
from gemmviz.files.measurements import recorded_registers
from gemmviz.launch.formula import evaluate
from gemmviz.model.cancelling import checkpoint
from gemmviz.model.device import Device
from gemmviz.model.errors import ErrorId, GemmvizError, SettingError, SourceError, UsageError
from gemmviz.model.kernel import KernelSpec, Launch, place_in
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup

_MOST_NAMED = 20  # choices in a sentence


@dataclass(frozen=True, slots=True)
class BrokenLimit:
    """The id and the sentence of a rule that a setup breaks, and the settings that the rule names."""

    id: ErrorId
    sentence: str
    names: tuple[str, ...] = ()


def setup_for(
    kernel: KernelSpec, problem: Problem | None = None, parameters: Mapping[str, int] | None = None, **others: Any
) -> Setup:
    """A setup of ``kernel``, its own sizes and its parameters' defaults filled in; ``others`` are the setup's other fields.

    Raises SettingError for a parameter that the kernel doesn't have.
    """
    return Setup(kernel, problem or kernel.problem, dict(parameters or {}), **others)


def device_for(setup: Setup) -> Device:
    """The device whose limits hold. Raises SettingError for one that gemmviz doesn't know."""
    try:
        return load_device(setup.device)
    except UsageError as error:
        raise SettingError(error.message, names=("device",), remedy=error.remedy) from None


def names_for(setup: Setup, device: Device) -> dict[str, int]:
    """Everything that a header's formula may name."""
    return {**setup.sizes_and_parameters, **device.limits}


def launch_for(setup: Setup, *, with_nearest: bool = True) -> Launch:
    """Grid and block of a setup. Raises SettingError with the broken limit and, as it may take a while, only where that is
    asked for, the nearest setting that works.
    """
    device = device_for(setup)
    broken = broken_limit(setup)
    if broken is not None:
        nearest = nearest_legal(setup) if with_nearest else None
        raise SettingError(broken.sentence, names=broken.names, nearest=nearest, id=broken.id)
    return _launch(setup, device)


def can_run(setup: Setup) -> bool:
    """Whether a setup has a launch that keeps to all limits; what is wrong with one that hasn't is not told."""
    try:
        return broken_limit(setup) is None
    except GemmvizError:
        return False


def wished_launch(setup: Setup) -> Launch:
    """Grid and block of a setup, whether the device can run them or not."""
    return _launch(setup, device_for(setup))


def _launch(setup: Setup, device: Device) -> Launch:
    names = names_for(setup, device)
    grid, block = (_extents(setup.kernel, formulas, names) for formulas in (setup.kernel.grid, setup.kernel.block))
    return Launch(grid, block, evaluated(setup.kernel, setup.kernel.shared_bytes, names))


def _extents(kernel: KernelSpec, formulas: tuple[str, ...], names: Mapping[str, int]) -> tuple[int, int, int]:
    x, y, z = (evaluated(kernel, formulas[axis], names) if axis < len(formulas) else 1 for axis in range(3))
    return x, y, z


def evaluated(kernel: KernelSpec, formula: str, names: Mapping[str, int]) -> int:
    """The value of one of the header's formulas. Errors name the file and the line it stands in."""
    try:
        return evaluate(formula, names)
    except (SourceError, SettingError) as error:
        error.place = place_in(kernel.text, formula)
        error.in_file(kernel.file)
        raise


def broken_limit(setup: Setup) -> BrokenLimit | None:
    """The first rule that a setup breaks: the header's, then the device's; None if all hold."""
    kernel, device = setup.kernel, device_for(setup)
    names = names_for(setup, device)
    for parameter in kernel.parameters:
        value = setup.parameters[parameter.name]
        if parameter.choices is not None and value not in parameter.choices:
            choices = ", ".join(map(str, parameter.choices[:_MOST_NAMED])) + (
                ", …" if len(parameter.choices) > _MOST_NAMED else ""
            )
            return BrokenLimit("parameter-range", f"{parameter.name} = {value}: choose one of {choices}", (parameter.name,))
        if value < 0 or (value == 0 and parameter.default > 0 and parameter.choices is None):
            return BrokenLimit("parameter-range", f"{parameter.name} = {value}: it must be at least 1", (parameter.name,))
    for rule in kernel.requirements:
        if not evaluated(kernel, rule.that, names):
            return BrokenLimit(_rule_id(rule.that), _sentence(kernel, rule.otherwise, names), _named(setup, rule.that))
    launch = _launch(setup, device)
    return _device_limit(setup, launch, device) or _register_limit(setup, launch, device)


def _rule_id(formula: str) -> ErrorId:
    """The id of the device limit that a header's rule names, else that of a rule."""
    limits: dict[str, ErrorId] = {"max_threads_per_block": "block-threads", "shared_per_block": "shared-memory"}
    return next((id for name, id in limits.items() if name in formula), "requirement")


def _named(setup: Setup, *formulas: str) -> tuple[str, ...]:
    """The sizes and parameters that formulas name; of what names the device, the device too."""
    words = set(re.findall(r"\w+", " ".join(formulas)))
    found = tuple(name for name in setup.sizes_and_parameters if name in words)
    return (*found, "device") if words & set(device_for(setup).limits) else found


def _device_limit(setup: Setup, launch: Launch, device: Device) -> BrokenLimit | None:
    of_block, of_grid = (_named(setup, *formulas) for formulas in (setup.kernel.block, setup.kernel.grid))
    rows: tuple[tuple[ErrorId, str, tuple[str, ...], tuple[int, int, int], tuple[int, int, int]], ...] = (
        ("block-extent", "block", of_block, launch.block, device.max_block),
        ("grid-extent", "grid", of_grid, launch.grid, device.max_grid),
    )
    for id, what, names, extents, limits in rows:
        for axis, extent, limit in zip("xyz", extents, limits, strict=True):
            if not 1 <= extent <= limit:
                sentence = f"the {what} would have {extent} along {axis}; {device.name} allows 1 to {limit}"
                return BrokenLimit(id, sentence, (*names, "device"))
    if launch.threads_per_block > device.max_threads_per_block:
        sentence = f"the block would have {launch.threads_per_block} threads; {device.name} allows at most "
        return BrokenLimit("block-threads", sentence + str(device.max_threads_per_block), (*of_block, "device"))
    if launch.shared_bytes > device.shared_per_block:
        sentence = f"{launch.shared_bytes} bytes of shared memory; {device.name} allows {device.shared_per_block} a block"
        return BrokenLimit("shared-memory", sentence, (*_named(setup, setup.kernel.shared_bytes), "device"))
    return None


def _register_limit(setup: Setup, launch: Launch, device: Device) -> BrokenLimit | None:
    """Registers are the compiler's to choose, so this limit is known where the kernel was compiled for the device before."""
    found = recorded_registers(setup.kernel.text, setup.parameters, device)
    if found is None:
        return None
    needed = device.registers_of_block(launch.threads_per_block, found.per_thread)
    if needed <= device.registers_per_block and found.per_thread <= device.max_registers_per_thread:
        return None
    sentence = (
        f"{launch.threads_per_block} threads of {found.per_thread} registers take {needed}; {device.name} has "
        f"{device.registers_per_block} a block (as compiled by {found.source})"
    )
    return BrokenLimit("registers", sentence, (*_named(setup, *setup.kernel.block), "device"))


def _sentence(kernel: KernelSpec, template: str, names: Mapping[str, int]) -> str:
    def value(found: re.Match[str]) -> str:
        return str(evaluated(kernel, found[1], names))

    return re.sub(r"\{([^{}]+)\}", value, template)


def nearest_legal(setup: Setup) -> dict[str, int]:
    """The fewest, smallest changes that make a setup legal, tried one name at a time; empty if none is found."""
    best: tuple[float, dict[str, int]] | None = None
    for name, candidates in _candidates(setup).items():
        current = setup.sizes_and_parameters[name]
        for value in sorted(candidates, key=lambda c, now=current: abs(c - now)):  # type: ignore[misc]
            if _is_legal(setup, name, value):
                distance = abs(value - current) / max(current, 1)
                if best is None or distance < best[0]:
                    best = distance, {name: value}
                break
    return best[1] if best else {}


def other_choices(setup: Setup) -> Iterator[tuple[str, int, Setup]]:
    """Legal setups that differ in one parameter, the nearest values first: its name, its value, the setup."""
    for parameter in setup.kernel.parameters:
        now = setup.parameters[parameter.name]
        for value in sorted(set(_candidates(setup)[parameter.name]) - {now}, key=lambda c, now=now: abs(c - now)):  # type: ignore[misc]
            if _is_legal(setup, parameter.name, value):
                yield parameter.name, value, setup.changed(**{parameter.name: value})


def legal_choices(kernel: KernelSpec, problem: Problem, **others: Any) -> Iterator[Setup]:
    """Every choice of the kernel's parameters with which it can run this problem. ``others`` are the setup's other fields."""
    choices = [parameter.choices or (parameter.default,) for parameter in kernel.parameters]
    for values in itertools.product(*choices):
        setup = setup_for(kernel, problem, dict(zip(kernel.defaults, values, strict=True)), **others)
        if _why_not(setup) is None:
            yield setup


def _candidates(setup: Setup) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for parameter in setup.kernel.parameters:
        now = setup.parameters[parameter.name]
        found[parameter.name] = list(parameter.choices or range(max(1, min(now, 1100) - 64), min(now, 1100) + 65))
    for name, now in setup.problem.sizes.items():
        found[name] = list(range(max(1, now - 256), now + 257))
    return found


def _is_legal(setup: Setup, name: str, value: int) -> bool:
    checkpoint()
    return can_run(setup.changed(**{name: value}))


def _why_not(setup: Setup) -> str | None:
    try:
        broken = broken_limit(setup)
    except SettingError as error:
        return error.message
    return None if broken is None else broken.sentence


def nearest_setup(setup: Setup) -> Setup | None:
    """The nearest setup that can run: itself, with one number changed, with the sizes that the kernel begins with, or all of
    its own; None where not even those can.
    """
    if _why_not(setup) is None:
        return setup
    own = replace(setup, problem=setup.kernel.problem)
    for each in (own, replace(own, parameters=dict(setup.kernel.defaults))):
        changed = nearest_legal(setup) if each is own else {}
        if changed:
            return setup.changed(**changed)
        if _why_not(each) is None:
            return each
    return None

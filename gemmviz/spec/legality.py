"""Settings become a launch that the device can run, or a sentence that says which limit they break and what would work."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gemmviz.files.measurements import recorded_registers
from gemmviz.model.device import Device
from gemmviz.model.errors import SettingError, SourceError
from gemmviz.model.kernel import KernelSpec, Launch, Settings
from gemmviz.model.problem import Problem
from gemmviz.spec.formula import evaluate
from gemmviz.spec.header import place_of


def settings_for(spec: KernelSpec, problem: Problem | None = None, parameters: Mapping[str, int] | None = None) -> Settings:
    """Settings of ``spec``, defaults filled in. Raises SettingError for a name that it doesn't have."""
    for name in parameters or {}:
        if name not in spec.defaults:
            known = ", ".join(spec.defaults) or "none"
            raise SettingError(f"{spec.name} has no parameter {name}", remedy=f"its parameters: {known}")
    return Settings(problem or spec.problem, {**spec.defaults, **(parameters or {})})


def names_of(settings: Settings, device: Device) -> dict[str, int]:
    """Everything that a header's formula may name."""
    return {**settings.problem.sizes, **settings.parameters, **device.limits}


def launch_for(spec: KernelSpec, settings: Settings, device: Device) -> Launch:
    """Grid and block of ``spec`` under ``settings``.

    Raises SettingError with the broken limit and the nearest setting that works.
    """
    message = broken_limit(spec, settings, device)
    if message is not None:
        raise SettingError(message, nearest=nearest_legal(spec, settings, device))
    return _launch(spec, settings, device)


def _launch(spec: KernelSpec, settings: Settings, device: Device) -> Launch:
    names = names_of(settings, device)
    grid, block = (_extents(spec, formulas, names) for formulas in (spec.grid, spec.block))
    return Launch(grid, block, evaluated(spec, spec.shared_bytes, names))


def _extents(spec: KernelSpec, formulas: tuple[str, ...], names: Mapping[str, int]) -> tuple[int, int, int]:
    x, y, z = (evaluated(spec, formulas[axis], names) if axis < len(formulas) else 1 for axis in range(3))
    return x, y, z


def evaluated(spec: KernelSpec, formula: str, names: Mapping[str, int]) -> int:
    """The value of one of the header's formulas. Errors name the file and the line it stands in."""
    try:
        return evaluate(formula, names)
    except (SourceError, SettingError) as error:
        error.place = place_of(spec.text, formula)
        error.in_file(spec.file)
        raise


def broken_limit(spec: KernelSpec, settings: Settings, device: Device) -> str | None:
    """The sentence of the first rule that ``settings`` break: the header's, then the device's; None if all hold."""
    names = names_of(settings, device)
    for parameter in spec.parameters:
        value = settings.parameters[parameter.name]
        if parameter.choices is not None and value not in parameter.choices:
            return f"{parameter.name} = {value}: choose one of {', '.join(map(str, parameter.choices))}"
        if value < 0 or (value == 0 and parameter.default > 0 and parameter.choices is None):
            return f"{parameter.name} = {value}: it must be at least 1"
    for rule in spec.requirements:
        if not evaluated(spec, rule.that, names):
            return _sentence(spec, rule.otherwise, names)
    launch = _launch(spec, settings, device)
    return _device_limit(launch, device) or _register_limit(spec, settings, launch, device)


def _device_limit(launch: Launch, device: Device) -> str | None:
    for what, extents, limits in (("block", launch.block, device.max_block), ("grid", launch.grid, device.max_grid)):
        for axis, extent, limit in zip("xyz", extents, limits, strict=True):
            if not 1 <= extent <= limit:
                return f"the {what} would have {extent} along {axis}; {device.name} allows 1 to {limit}"
    if launch.threads > device.max_threads_per_block:
        return f"the block would have {launch.threads} threads; {device.name} allows at most {device.max_threads_per_block}"
    if launch.shared_bytes > device.shared_per_block:
        return f"{launch.shared_bytes} bytes of shared memory; {device.name} allows {device.shared_per_block} a block"
    return None


def _register_limit(spec: KernelSpec, settings: Settings, launch: Launch, device: Device) -> str | None:
    """Registers are the compiler's to choose, so this limit is known where the kernel was compiled for the device before."""
    found = recorded_registers(spec.text, settings.parameters, device)
    if found is None:
        return None
    needed = device.registers_of_block(launch.threads, found.per_thread)
    if needed <= device.registers_per_block and found.per_thread <= device.max_registers_per_thread:
        return None
    return (
        f"{launch.threads} threads of {found.per_thread} registers take {needed}; {device.name} has "
        f"{device.registers_per_block} a block (as compiled by {found.source})"
    )


def _sentence(spec: KernelSpec, template: str, names: Mapping[str, int]) -> str:
    def value(found: re.Match[str]) -> str:
        return str(evaluated(spec, found[1], names))

    return re.sub(r"\{([^{}]+)\}", value, template)


def nearest_legal(spec: KernelSpec, settings: Settings, device: Device) -> dict[str, int]:
    """The fewest, smallest changes that make ``settings`` legal, tried one name at a time; empty if none is found."""
    best: tuple[float, dict[str, int]] | None = None
    for name, candidates in _candidates(spec, settings).items():
        current = {**settings.problem.sizes, **settings.parameters}[name]
        for value in sorted(candidates, key=lambda c, now=current: abs(c - now)):  # type: ignore[misc]
            if _is_legal(spec, _changed(settings, name, value), device):
                distance = abs(value - current) / max(current, 1)
                if best is None or distance < best[0]:
                    best = distance, {name: value}
                break
    return best[1] if best else {}


def other_choices(spec: KernelSpec, settings: Settings, device: Device) -> Iterator[tuple[str, int, Settings]]:
    """Legal settings that differ in one parameter, the nearest values first: its name, its value, the settings."""
    for parameter in spec.parameters:
        now = settings.parameters[parameter.name]
        for value in sorted(set(_candidates(spec, settings)[parameter.name]) - {now}, key=lambda c, now=now: abs(c - now)):  # type: ignore[misc]
            changed = _changed(settings, parameter.name, value)
            if _is_legal(spec, changed, device):
                yield parameter.name, value, changed


def _candidates(spec: KernelSpec, settings: Settings) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for parameter in spec.parameters:
        now = settings.parameters[parameter.name]
        found[parameter.name] = list(parameter.choices or range(max(1, min(now, 1100) - 64), min(now, 1100) + 65))
    for name, now in settings.problem.sizes.items():
        found[name] = list(range(max(1, now - 256), now + 257))
    return found


def _changed(settings: Settings, name: str, value: int) -> Settings:
    if name in settings.parameters:
        return replace(settings, parameters={**settings.parameters, name: value})
    return replace(settings, problem=Problem(**{**settings.problem.sizes, name: value}))


def _is_legal(spec: KernelSpec, settings: Settings, device: Device) -> bool:
    try:
        return broken_limit(spec, settings, device) is None
    except SettingError:
        return False

"""Turns a setup into a launch that the device can run, or into the limit that it breaks and the nearest legal setting."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, structs

from gemmviz.cuda.launch.formula import evaluate
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import recorded_registers
from gemmviz.model.device import Device
from gemmviz.model.kernel import KernelSpec, Launch, place_in
from gemmviz.model.messages import ErrorId, GemmvizError, SettingError, SourceError, UsageError, checkpoint, marked, tr
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import Shape
from gemmviz.model.setup import Setup

_MOST_NAMED = 20  # choices in a sentence
_BLOCK_EXTENT = marked("the block would have {extent} along {axis}; {device} allows 1 to {limit}")
_GRID_EXTENT = marked("the grid would have {extent} along {axis}; {device} allows 1 to {limit}")


class BrokenLimit(Struct, frozen=True):
    """The id and the sentence of a rule that a setup breaks, and the settings that the rule names."""

    id: ErrorId
    sentence: str
    names: tuple[str, ...] = ()


def setup_for(
    kernel: KernelSpec, problem: Problem | None = None, parameters: Mapping[str, int] | None = None, **others: Any
) -> Setup:
    """A setup of ``kernel`` at ``problem`` (default: the kernel's own), parameters that aren't given at their defaults.

    ``others`` are the setup's other fields. Raises SettingError for a parameter that the kernel doesn't have.
    """
    return Setup(kernel, problem or kernel.problem, dict(parameters or {}), **others)


def tied(setup: Setup, changed: str = "") -> Setup:
    """The setup with the sizes that a rule wants equal at that of ``changed``: by default, of the only one that isn't the
    kernel's own. Unchanged if there are several.
    """
    ties, own = setup.kernel.tied_sizes, setup.kernel.problem.sizes
    sizes = setup.problem.sizes
    values = {sizes[name] for name in ties if name == changed or (not changed and sizes[name] != own.get(name))}
    if len(values) != 1 or (changed and changed not in ties):
        return setup
    return setup.changed(**dict.fromkeys(ties, values.pop()))


def device_for(setup: Setup) -> Device:
    """The device of a setup, whose limits apply. Raises SettingError for an unknown one."""
    try:
        return load_device(setup.device)
    except UsageError as error:
        raise SettingError(error.message, names=("device",), remedy=error.remedy) from None


def shapes_for(setup: Setup) -> dict[str, Shape]:
    """Shapes of the problem's arrays by name. Raises SettingError for one that no array can have."""
    names = names_for(setup, device_for(setup))
    return setup.problem.shapes_by(lambda formula: evaluated_formula(setup.kernel, formula, names))


def names_for(setup: Setup, device: Device) -> dict[str, int]:
    """Values of everything that a header's formula may name: sizes, parameters and the device's limits."""
    return {**setup.sizes_and_parameters, **device.limits}


def launch_for(setup: Setup, *, with_nearest: bool = True) -> Launch:
    """Grid and block of a setup.

    Raises SettingError with the broken limit and, unless ``with_nearest`` is false, the nearest legal setting; searching
    for that may take a while.
    """
    device = device_for(setup)
    broken = broken_limit(setup)
    if broken is not None:
        nearest = nearest_legal(setup) if with_nearest else None
        raise SettingError(broken.sentence, names=broken.names, nearest=nearest, id=broken.id)
    return _launch(setup, device)


def can_run(setup: Setup) -> bool:
    """Whether a setup has a launch within all limits."""
    try:
        return broken_limit(setup) is None
    except GemmvizError:
        return False


def requested_launch(setup: Setup) -> Launch:
    """Grid and block of a setup, whether or not the device can run them."""
    return _launch(setup, device_for(setup))


def _launch(setup: Setup, device: Device) -> Launch:
    names = names_for(setup, device)
    grid, block = (_extents(setup.kernel, formulas, names) for formulas in (setup.kernel.grid, setup.kernel.block))
    return Launch(grid, block, evaluated_formula(setup.kernel, setup.kernel.shared_bytes, names))


def _extents(kernel: KernelSpec, formulas: tuple[str, ...], names: Mapping[str, int]) -> tuple[int, int, int]:
    x, y, z = (evaluated_formula(kernel, formulas[axis], names) if axis < len(formulas) else 1 for axis in range(3))
    return x, y, z


def evaluated_formula(kernel: KernelSpec, formula: str, names: Mapping[str, int]) -> int:
    """The value of one of the launch's formulas. Errors name its file, and its line if it is in a header."""
    try:
        return evaluate(formula, names)
    except (SourceError, SettingError) as error:
        if kernel.launch_from == "header":
            error.place = place_in(kernel.text, formula)
        error.in_file(kernel.file)
        raise


def broken_limit(setup: Setup) -> BrokenLimit | None:
    """The first rule that a setup breaks, the header's before the device's; None if it keeps to all."""
    kernel, device = setup.kernel, device_for(setup)
    names = names_for(setup, device)
    for parameter in kernel.parameters:
        value = setup.parameters[parameter.name]
        if parameter.choices is not None and value not in parameter.choices:
            choices = ", ".join(map(str, parameter.choices[:_MOST_NAMED])) + (
                ", …" if len(parameter.choices) > _MOST_NAMED else ""
            )
            return BrokenLimit(
                "parameter-range",
                tr("{parameter} = {value}: choose one of {choices}", parameter=parameter.name, value=value, choices=choices),
                (parameter.name,),
            )
        if value < 0 or (value == 0 and parameter.default > 0 and parameter.choices is None):
            return BrokenLimit(
                "parameter-range",
                tr("{parameter} = {value}: it must be at least 1", parameter=parameter.name, value=value),
                (parameter.name,),
            )
    for rule in kernel.requirements:
        if not evaluated_formula(kernel, rule.that, names):
            return BrokenLimit(_rule_id(rule.that), _sentence(kernel, tr(rule.otherwise), names), _used_names(setup, rule.that))
    launch = _launch(setup, device)
    return _device_limit(setup, launch, device) or _register_limit(setup, launch, device)


def _rule_id(formula: str) -> ErrorId:
    """The id of the device limit that a header's rule names, else that of a rule."""
    limits: dict[str, ErrorId] = {"max_threads_per_block": "block-threads", "shared_per_block": "shared-memory"}
    return next((id for name, id in limits.items() if name in formula), "requirement")


def _used_names(setup: Setup, *formulas: str) -> tuple[str, ...]:
    """Names of the sizes and parameters in formulas, and "device" if they use a limit of the device."""
    words = set(re.findall(r"\w+", " ".join(formulas)))
    names = tuple(name for name in setup.sizes_and_parameters if name in words)
    return (*names, "device") if words & set(device_for(setup).limits) else names


def _device_limit(setup: Setup, launch: Launch, device: Device) -> BrokenLimit | None:
    of_block, of_grid = (_used_names(setup, *formulas) for formulas in (setup.kernel.block, setup.kernel.grid))
    rows: tuple[tuple[ErrorId, str, tuple[str, ...], tuple[int, int, int], tuple[int, int, int]], ...] = (
        ("block-extent", tr(_BLOCK_EXTENT), of_block, launch.block, device.max_block),
        ("grid-extent", tr(_GRID_EXTENT), of_grid, launch.grid, device.max_grid),
    )
    for id, text, names, extents, limits in rows:
        for axis, extent, limit in zip("xyz", extents, limits, strict=True):
            if not 1 <= extent <= limit:
                sentence = tr(text, extent=extent, axis=axis, device=device.name, limit=limit)
                return BrokenLimit(id, sentence, (*names, "device"))
    if launch.threads_per_block > device.max_threads_per_block:
        most, threads = device.max_threads_per_block, launch.threads_per_block
        sentence = tr(
            "the block would have {threads} threads; {device} allows at most {most}",
            threads=threads,
            device=device.name,
            most=most,
        )
        return BrokenLimit("block-threads", sentence, (*of_block, "device"))
    if launch.shared_bytes > device.shared_limit(setup.kernel.opts_in_to_shared):
        allowed = shared_limit_text(setup.kernel, device)
        sentence = tr(
            "the block would use {shared_bytes} bytes of shared memory; {allowed}",
            shared_bytes=launch.shared_bytes,
            allowed=allowed,
        )
        return BrokenLimit("shared-memory", sentence, (*_used_names(setup, setup.kernel.shared_bytes), "device"))
    return None


def shared_limit_text(kernel: KernelSpec, device: Device) -> str:
    """How much shared memory a block of the kernel may have, and how it may have more."""
    limit, most = (device.shared_limit(opts_in) for opts_in in (kernel.opts_in_to_shared, True))
    more = (
        ""
        if limit == most
        else tr(", and {most} of dynamic shared memory if the host code calls cudaFuncSetAttribute", most=most)
    )
    return tr("{device} allows at most {limit}{more}", device=device.name, limit=limit, more=more)


def _register_limit(setup: Setup, launch: Launch, device: Device) -> BrokenLimit | None:
    """The broken register limit. None also if the kernel was never compiled for the device: the compiler chooses registers."""
    recorded = recorded_registers(setup, device)
    if recorded is None:
        return None
    needed = device.registers_of_block(launch.threads_per_block, recorded.per_thread)
    if needed <= device.registers_per_block and recorded.per_thread <= device.max_registers_per_thread:
        return None
    sentence = tr(
        "{threads_per_block} threads of {per_thread} registers need {needed}; {device} allows "
        "{registers_per_block} per block (as compiled by {source})",
        threads_per_block=launch.threads_per_block,
        per_thread=recorded.per_thread,
        needed=needed,
        device=device.name,
        registers_per_block=device.registers_per_block,
        source=recorded.source,
    )
    return BrokenLimit("registers", sentence, (*_used_names(setup, *setup.kernel.block), "device"))


def _sentence(kernel: KernelSpec, template: str, names: Mapping[str, int]) -> str:
    def value(match: re.Match[str]) -> str:
        return str(evaluated_formula(kernel, match[1], names))

    return re.sub(r"\{([^{}]+)\}", value, template)


def nearest_legal(setup: Setup) -> dict[str, int]:
    """The relatively smallest change of one size or parameter that makes a setup legal; empty if there is none."""
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
    """Legal setups that differ in one parameter, nearest values first: the parameter's name, its value, the setup."""
    for parameter in setup.kernel.parameters:
        now = setup.parameters[parameter.name]
        for value in sorted(set(_candidates(setup)[parameter.name]) - {now}, key=lambda c, now=now: abs(c - now)):  # type: ignore[misc]
            if _is_legal(setup, parameter.name, value):
                yield parameter.name, value, setup.changed(**{parameter.name: value})


def legal_choices(kernel: KernelSpec, problem: Problem, **others: Any) -> Iterator[Setup]:
    """Setups for every choice of the kernel's parameters that can run this problem, none for a problem of another kind.
    ``others`` are the setup's other fields.
    """
    if problem.kind is not kernel.problem.kind:
        return
    choices = [parameter.choices or (parameter.default,) for parameter in kernel.parameters]
    for values in itertools.product(*choices):
        setup = setup_for(kernel, problem, dict(zip(kernel.defaults, values, strict=True)), **others)
        if _why_not(setup) is None:
            yield setup


def _candidates(setup: Setup) -> dict[str, list[int]]:
    candidates: dict[str, list[int]] = {}
    for parameter in setup.kernel.parameters:
        now = setup.parameters[parameter.name]
        candidates[parameter.name] = list(parameter.choices or range(max(1, min(now, 1100) - 64), min(now, 1100) + 65))
    for name, now in setup.problem.sizes.items():
        candidates[name] = list(range(max(1, now - 256), now + 257))
    return candidates


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
    """The nearest setup that can run, or None.

    Tried in turn: the setup itself, with one number changed, at the kernel's own problem, and with its default parameters too.
    """
    if _why_not(setup) is None:
        return setup
    changes = nearest_legal(setup)
    if changes:
        return setup.changed(**changes)
    default_problem = structs.replace(setup, problem=setup.kernel.problem)
    defaults = structs.replace(default_problem, parameters=dict(setup.kernel.defaults))
    return next((each for each in (default_problem, defaults) if _why_not(each) is None), None)


# Parses lists of problem sizes.

_LONGEST_SIZES = 24  # characters of two sizes


def parse_sizes(text: str) -> tuple[int, ...]:
    """Sizes in ascending order from a text such as "128:8192" (doubling), "100,200,300" or both. Raises UsageError."""
    sizes: set[int] = set()
    for part in text.split(","):
        first, colon, last = part.partition(":")
        if (
            len(part) > _LONGEST_SIZES
            or not first.isdecimal()
            or int(first) < 1
            or (colon and not (last.isdecimal() and int(last) >= int(first)))
        ):
            raise UsageError(f"{text!r} is not a list of sizes", remedy="write 128:8192 (doubling) or 100,200,300")
        size = int(first)
        sizes.add(size)
        while colon and size * 2 <= int(last):
            size *= 2
            sizes.add(size)
    return tuple(sorted(sizes))


def square_problems(sizes: Iterable[int]) -> list[Problem]:
    """Problems with M = N = K for each size."""
    return [Problem(size, size, size) for size in sizes]

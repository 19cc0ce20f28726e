"""Reads the TOML header of a kernel file, and turns settings into a launch that the device can run."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from gemmviz.model.device import Device
from gemmviz.model.errors import Place, SettingError, SourceError
from gemmviz.model.kernel import MATRICES, KernelSpec, Launch, Parameter, Requirement, Settings
from gemmviz.model.problem import Problem
from gemmviz.source.formula import evaluate

HEADER_VERSION = 1
_KEYS = {
    "gemmviz", "title", "description", "entry", "args", "block", "grid", "parameters", "require", "shared_bytes",
    "column_major", "problem",
}  # fmt: skip
_RESERVED = {"M", "N", "K", "A", "B", "C", "warp_size", "max_threads_per_block", "shared_per_block"}
_EXAMPLE = 'begin the file with // gemmviz = 1, // entry = "NAME", // args = [...], // block = [...], // grid = [...]'


def parse_kernel(text: str, file: str) -> KernelSpec:
    """The spec of one kernel file. Raises SourceError, with the line, where the header is missing or wrong."""
    try:
        return _spec(text, file)
    except SourceError as error:
        error.in_file(file)
        raise


def _spec(text: str, file: str) -> KernelSpec:
    facts, prose = _header(text)
    if facts.get("gemmviz") != HEADER_VERSION:
        raise SourceError(
            f"the header says gemmviz = {facts.get('gemmviz')!r}; this version reads {HEADER_VERSION}", _line(text, "gemmviz")
        )
    read = _Reader(text, facts)
    for key in facts:
        if key not in _KEYS:
            raise SourceError(f"the header's key {key!r} means nothing here", _line(text, key), remedy=_known(_KEYS))
    return KernelSpec(
        name=PurePath(file).stem,
        file=file,
        text=text,
        title=read("title", str, PurePath(file).stem),
        description=read("description", str, prose),
        entry=_entry(text, read("entry", str)),
        args=read.names("args"),
        block=read.formulas("block"),
        grid=read.formulas("grid"),
        parameters=tuple(_parameter(text, name, each) for name, each in read("parameters", dict, {}).items()),
        requirements=tuple(_requirement(text, each) for each in read("require", list, [])),
        shared_bytes=str(facts.get("shared_bytes", "0")),
        column_major=_column_major(text, read("column_major", list, [])),
        problem=_problem(text, read("problem", dict, {"M": 8, "N": 8, "K": 8})),
    )


def _header(text: str) -> tuple[dict[str, Any], str]:
    """The header's TOML and the prose that may follow it in the same run of ``//`` lines."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:])
    if not any(re.match(r"\s*gemmviz\s*=", line) for line in lines):
        raise SourceError("the file has no gemmviz header", Place(1, 1, 1, 1), remedy=_EXAMPLE)
    try:
        return tomllib.loads("\n".join(lines)), ""
    except tomllib.TOMLDecodeError as error:
        prose = next((i for i, line in enumerate(lines) if _is_prose(line)), None)
        if prose is None:
            raise _toml_error(error) from None
    try:
        return tomllib.loads("\n".join(lines[:prose])), " ".join(line.strip() for line in lines[prose:])
    except tomllib.TOMLDecodeError as error:
        raise _toml_error(error) from None


def _is_prose(line: str) -> bool:
    return bool(re.match(r"\s*[A-Za-z]\S*\s+[^=\s]", line)) and not re.match(r"\s*[\w.\"-]+\s*=", line)


def _toml_error(error: tomllib.TOMLDecodeError) -> SourceError:
    found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
    line, column = (int(found[1]), int(found[2]) + 2) if found else (1, 1)
    sentence = re.sub(r"\s*\(at .*\)$", "", str(error))
    return SourceError(
        f"the header is no TOML: {sentence}", Place(line, column, line, column + 1), remedy="it is the leading // lines"
    )


class _Reader:
    """Takes values out of the header with the type they must have."""

    def __init__(self, text: str, facts: Mapping[str, Any]) -> None:
        self.text = text
        self.facts = facts

    def __call__(self, key: str, kind: type, default: Any = None) -> Any:
        if key not in self.facts and default is None:
            raise SourceError(f"the header lacks {key!r}", Place(1, 1, 1, 1), remedy=_EXAMPLE)
        value = self.facts.get(key, default)
        if not isinstance(value, kind):
            raise SourceError(f"the header's {key!r} must be a {_TOML_NAMES[kind]}", _line(self.text, key))
        return value

    def names(self, key: str) -> tuple[str, ...]:
        values = self(key, list)
        for each in values:
            if isinstance(each, bool) or not isinstance(each, str | int | float):
                raise SourceError(f"the header's {key!r} may hold strings and numbers", _line(self.text, key))
        return tuple(str(each) for each in values)

    def formulas(self, key: str) -> tuple[str, ...]:
        formulas = self.names(key)
        if not 1 <= len(formulas) <= 3:
            raise SourceError(f"the header's {key!r} must hold one to three formulas (x, y, z)", _line(self.text, key))
        return formulas


_TOML_NAMES: dict[type, str] = {str: "string", list: "list", dict: "table"}


def _parameter(text: str, name: str, facts: Any) -> Parameter:
    place = _line(text, f"parameters.{name}")
    if name in _RESERVED or not name.isidentifier():
        raise SourceError(f"a parameter can't be called {name}", place)
    default = facts.get("default") if isinstance(facts, dict) else None
    if not _is_positive(default) and default != 0:
        raise SourceError(f"the parameter {name} needs a default: a whole number", place)
    choices = facts.get("choices")
    if choices is not None and not (isinstance(choices, list) and choices and all(isinstance(c, int) for c in choices)):
        raise SourceError(f"the choices of {name} must be a list of whole numbers", place)
    if choices is not None and facts["default"] not in choices:
        raise SourceError(f"the default of {name}, {facts['default']}, is not among its choices", place)
    return Parameter(name, facts["default"], tuple(choices) if choices else None, str(facts.get("description", "")))


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _requirement(text: str, facts: Any) -> Requirement:
    if not isinstance(facts, dict) or not {"that", "else"} <= facts.keys():
        raise SourceError("a rule needs 'that' (a formula) and 'else' (a sentence)", _line(text, "[require]"))
    return Requirement(str(facts["that"]), str(facts["else"]))


def _entry(text: str, entry: str) -> str:
    if not re.fullmatch(r"\s*[\w:]+\s*(<[^<>]*>\s*)?", entry):
        raise SourceError(
            f"the entry {entry!r} is no kernel's name", _line(text, "entry"), remedy='write "name" or "name<BM, 8>"'
        )
    return entry.strip()


def _column_major(text: str, names: list[Any]) -> frozenset[str]:
    if any(name not in MATRICES for name in names):
        raise SourceError("column_major may list A, B and C", _line(text, "column_major"))
    return frozenset(names)


def _problem(text: str, facts: dict[str, Any]) -> Problem:
    if set(facts) != {"M", "N", "K"} or not all(_is_positive(size) for size in facts.values()):
        raise SourceError("problem needs M, N and K: whole numbers", _line(text, "problem"))
    return Problem(**facts)


def _line(text: str, key: str) -> Place:
    for number, line in enumerate(text.splitlines(), 1):
        if key in line:
            column = line.index(key) + 1
            return Place(number, column, number, column + len(key))
    return Place(1, 1, 1, 1)


def _known(names: set[str]) -> str:
    return "it may hold " + ", ".join(sorted(names))


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
        error.place = _line(spec.text, formula)
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
    return _device_limit(_launch(spec, settings, device), device)


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
        return Settings(settings.problem, {**settings.parameters, name: value})
    return Settings(Problem(**{**settings.problem.sizes, name: value}), settings.parameters)


def _is_legal(spec: KernelSpec, settings: Settings, device: Device) -> bool:
    try:
        return broken_limit(spec, settings, device) is None
    except SettingError:
        return False

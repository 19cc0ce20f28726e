"""Files with the answers of an engine about one setup: counts, a trace, variables, races and numbers of captions.

They are made for the shipped lessons, whose steps are shown without running anything. A file is found by a hash of all that its
answers depend on, so that none is used for another kernel, size or device.
"""

import dataclasses
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_LZMA, ZipFile

import numpy as np
from msgspec import Struct, field

from gemmviz.files.codec import from_json, from_plain, to_json, to_plain
from gemmviz.files.resources import ROOT, is_file
from gemmviz.files.trace_file import arrays_of, facts_of, trace_of
from gemmviz.model.arrays import AnyArray
from gemmviz.model.device import Device
from gemmviz.model.messages import ErrorId, KernelFault, Place
from gemmviz.model.records import fields
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import SumKey
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.threads import Triple
from gemmviz.model.trace import EarlyExit, RaceCase, Trace, Turn, Watched, WatchedVariable

FOLDER = "assets/lessons/stored"
_VERSION, _KEY_LENGTH, _MOST_KEYS = 1, 24, 512
_DEFAULT_CONTENTS = ("old_outputs", "zeros")  # contents that older answers don't name
_NOT_ASKED = ("name", "file", "title", "description", "is_shipped")  # fields of a kernel that change no answer
StoredNumber = bool | int | float | str
Arrays = dict[str, AnyArray]


class Sums(Struct, frozen=True):
    """Costs of a whole launch, as ``LaunchSink.add_sums`` takes them; of all phases together, as phase -1."""

    arrays: tuple[MemoryArray, ...]
    sums: Mapping[SumKey, tuple[int, ...]]


class Answers(Struct, frozen=True):
    """What is known about a setup. ``shared_bytes``: declared in a block; ``fault``: why the run of ``trace`` ended early;
    ``watched``: variables by block and thread; ``races``: by block; ``numbers``: values of quantities, by a key of the shot and
    the quantity.
    """

    shared_bytes: int | None = None
    sums: Sums | None = None
    trace: Trace | None = None
    fault: KernelFault | None = None
    watched: Mapping[tuple[Triple, Triple], Watched] = field(default_factory=dict)
    races: Mapping[Triple, RaceCase] = field(default_factory=dict)
    numbers: Mapping[str, StoredNumber] = field(default_factory=dict)


class _AnswerManifest(Struct, frozen=True):
    """The part of a file that is JSON; arrays are beside it."""

    version: int
    shared_bytes: int | None = None
    arrays: tuple[MemoryArray, ...] | None = None
    sites: tuple[Site, ...] = ()
    sums: tuple[tuple[int, ...], ...] = ()
    trace: dict[str, Any] | None = None
    stop: EarlyExit | None = None
    fault: dict[str, Any] | None = None
    watched: tuple[dict[str, Any], ...] = ()
    races: tuple[dict[str, Any], ...] = ()
    numbers: dict[str, StoredNumber] = field(default_factory=dict)


class _Fault(Struct, frozen=True):
    """The fields of a KernelFault but its file, which is the kernel's."""

    message: str
    array: int
    elements: tuple[int, ...]
    id: ErrorId
    place: Place | None = None
    block: Triple | None = None
    thread: Triple | None = None
    remedy: str | None = None


_OF_FAULT = tuple(each.name for each in fields(_Fault))


class Asked:
    """A setup on a device as a key: both hold dictionaries, which have no hash."""

    def __init__(self, setup: Setup, device: Device) -> None:
        self.setup, self.device = setup, device
        self._hash = hash((setup.kernel.text, setup.problem, tuple(setup.parameters.items()), setup.device))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Asked) and (self.setup, self.device) == (other.setup, other.device)


def answer_key(setup: Setup, device: Device) -> str:
    """Hash of everything that the answers about a setup depend on: kernel, sizes, parameters, contents, device, traced part."""
    return _key_of(Asked(setup, device))


@lru_cache(maxsize=_MOST_KEYS)
def _key_of(asked: Asked) -> str:
    plain, device = to_plain(asked.setup), asked.device
    plain["kernel"] = {name: value for name, value in plain["kernel"].items() if name not in _NOT_ASKED}
    plain["filling"] = {name: value for name, value in plain["filling"].items() if (name, value) != _DEFAULT_CONTENTS}
    return hashlib.sha256(to_json([_VERSION, plain, to_plain(device)])).hexdigest()[:_KEY_LENGTH]


def answer_path(setup: Setup, device: Device) -> Path:
    """Path of the file with the answers about a setup, which may not exist."""
    return ROOT / FOLDER / f"{answer_key(setup, device)}.npz"


def read_answers(setup: Setup, device: Device) -> Answers | None:
    """The stored answers about a setup; None if there are none."""
    path = answer_path(setup, device)
    if not is_file(path):
        return None
    with np.load(path, allow_pickle=False) as members:
        arrays = {name: members[name] for name in members.files}
    plain = from_json(arrays.pop("answers").tobytes(), _AnswerManifest)
    return Answers(
        plain.shared_bytes,
        _sums_of(plain),
        _trace_of(plain, arrays, setup),
        _fault_of(plain, setup),
        {(_triple_of(each["block"]), _triple_of(each["thread"])): _watched_of(each) for each in plain.watched},
        {_triple_of(each["block"]): _race_of(each, arrays, setup) for each in plain.races},
        plain.numbers,
    )


def write_answers(answers: Answers, path: Path) -> None:
    """Write answers. The same answers give the same bytes."""
    arrays: Arrays = {}
    sites = () if answers.sums is None else tuple(dict.fromkeys(site for site, _, _ in answers.sums.sums))
    plain = _AnswerManifest(
        _VERSION,
        answers.shared_bytes,
        None if answers.sums is None else answers.sums.arrays,
        sites,
        () if answers.sums is None else tuple(_sum_row(sites, *each) for each in answers.sums.sums.items()),
        None if answers.trace is None else _plain_trace(answers.trace, arrays),
        None if answers.trace is None else answers.trace.stop,
        None if answers.fault is None else {name: to_plain(getattr(answers.fault, name)) for name in _OF_FAULT},
        tuple(
            {"block": block, "thread": thread, **to_plain(watched)}
            for (block, thread), watched in sorted(answers.watched.items())
        ),
        tuple(_plain_race(block, case, arrays) for block, case in sorted(answers.races.items())),
        dict(sorted(answers.numbers.items())),
    )
    members: Arrays = {"answers": np.frombuffer(to_json(plain), np.uint8), **arrays}
    with ZipFile(path, "w", ZIP_LZMA) as file:
        for name, array in members.items():
            with file.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _sum_row(sites: tuple[Site, ...], key: SumKey, sums: tuple[int, ...]) -> tuple[int, ...]:
    site, place, phase = key
    return (sites.index(site), place, phase, *sums)


def _sums_of(plain: _AnswerManifest) -> Sums | None:
    if plain.arrays is None:
        return None
    return Sums(plain.arrays, {(plain.sites[site], place, phase): tuple(row) for site, place, phase, *row in plain.sums})


# Traces


def _plain_trace(trace: Trace, arrays: Arrays) -> dict[str, Any]:
    """The facts of a trace but its setup, which the reader knows; its arrays are added to ``arrays``."""
    arrays.update({f"trace.{name}": array for name, array in arrays_of(trace).items()})
    if trace.stored:
        arrays["stored.rows"] = np.array(list(trace.stored), np.int64)
        arrays["stored.values"] = np.array(list(trace.stored.values()), np.float64)
    return {name: value for name, value in facts_of(trace).items() if name != "setup"}


def _trace_of(plain: _AnswerManifest, arrays: Arrays, setup: Setup) -> Trace | None:
    if plain.trace is None:
        return None
    own = {name.removeprefix("trace."): array for name, array in arrays.items() if name.startswith("trace.")}
    for array in own.values():
        array.flags.writeable = False
    trace = dataclasses.replace(trace_of({**plain.trace, "setup": to_plain(setup)}, own), setup=setup, stop=plain.stop)
    if "stored.rows" not in arrays:
        return trace
    return dataclasses.replace(trace, stored=dict(zip(arrays["stored.rows"].tolist(), arrays["stored.values"], strict=True)))


def _fault_of(plain: _AnswerManifest, setup: Setup) -> KernelFault | None:
    if plain.fault is None:
        return None
    facts = from_plain(plain.fault, _Fault)
    fault = KernelFault(facts.message, facts.place, remedy=facts.remedy, id=facts.id)
    fault.block, fault.thread, fault.array, fault.elements = facts.block, facts.thread, facts.array, facts.elements
    fault.in_file(setup.kernel.file)
    return fault


# Variables and races


def _watched_of(plain: dict[str, Any]) -> Watched:
    variables = from_plain(plain["variables"], tuple[WatchedVariable, ...])
    before = {int(step): _tuples_of_lists(row) for step, row in plain.get("before", {}).items()}
    return Watched(variables, _tuples_of_lists(plain["rows"]), before)


def _tuples_of_lists(plain: Any) -> Any:
    """The value of a variable: JSON has no tuples."""
    return tuple(map(_tuples_of_lists, plain)) if isinstance(plain, list) else plain


def _plain_race(block: Triple, case: RaceCase, arrays: Arrays) -> dict[str, Any]:
    name = "race." + "-".join(map(str, block))
    arrays.update({f"{name}.right": case.right, f"{name}.wrong": case.wrong})
    facts = ("kind", "units", "ahead", "lead", "tried", "orders", "turns", "corner", "pair", "cell", "begin", "tiles")
    return {"block": block, **{each: to_plain(getattr(case, each)) for each in facts}}


def _race_of(plain: dict[str, Any], arrays: Arrays, setup: Setup) -> RaceCase:
    facts = {name: value for name, value in plain.items() if name != "block"}
    name = "race." + "-".join(map(str, plain["block"]))
    facts |= {"turns": from_plain(plain["turns"], tuple[Turn, ...]), "corner": tuple(plain["corner"])}
    facts["pair"] = tuple(plain["pair"]) if plain.get("pair") else None
    facts["tiles"] = tuple((name, tuple(shape)) for name, shape in plain.get("tiles", ()))
    return RaceCase(setup, "", **facts, right=arrays[f"{name}.right"], wrong=arrays[f"{name}.wrong"])


def _triple_of(plain: Any) -> Triple:
    x, y, z = plain
    return x, y, z

"""Derives the instrumented twin: the kernel's text, with every access wrapped in a call that records it.

``A[i]`` becomes ``gv_load<3, GV_IN_GLOBAL>(gv_self, A[i])``, a reference to the same element, so that the twin computes what
the kernel computes. Loops and calls are recorded too, so that the events of a thread determine its accesses, the trips in which
it made them and the calls it made them through. Macros are expanded; every line keeps its number.
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Ints
from gemmviz.model.errors import Place
from gemmviz.model.kernel import KernelSpec
from gemmviz.source.nodes import AccessPlace, LoopPlace, Program
from gemmviz.source.program import ENTRY_ARGUMENTS, program_for

_MACHINERY = Path(__file__).with_name("twin.cuh")
_PROBE = Path(__file__).with_name("probe.cuh")
_PARAMETERS = "gv_thread& gv_self, unsigned int gv_call"


@dataclass(frozen=True)
class Twin:
    """The twin's text, and the program whose accesses it records."""

    text: str
    program: Program

    @cached_property
    def depth(self) -> int:
        """Number of loops around the innermost access."""
        return max((len(access.loops) for access in self.program.accesses), default=0)

    @cached_property
    def _accesses(self) -> dict[tuple[int, tuple[Place, ...]], int]:
        """Number of each access by its number in the twin and the calls through which it was reached."""
        return {(site, self.program.accesses[number].calls): number for number, site in enumerate(site_numbers(self.program))}

    def path(self, events: npt.NDArray[np.uint32]) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
        """The accesses of a thread, from its events.

        Returns numbers of the program's accesses, (n,); the trips of the loops around them, (n, depth), padded with -1; and
        whether each was recorded, (n,): barriers are reported even where they aren't recorded.
        """
        calls = [place for _, (_, place) in sorted(self.program.layout.functions.calls.items())]
        accesses, found = self._accesses, []
        recorded: list[bool] = []
        visits: list[int] = []
        inside: tuple[Place, ...] = ()
        tests_first = {number: loop.tests_first for number, loop in enumerate(self.program.loops)}
        for code in events.tolist():
            match code & 7:
                case 0 | 6:
                    recorded.append(code & 7 == 0)
                    found.append((accesses[code >> 3, inside], *visits))
                case 2:
                    visits[-1] += 1
                case 1:
                    visits.append(-1 if tests_first[code >> 3] else 0)
                case 3:
                    visits.pop()
                case 4:
                    inside = (*inside, calls[code >> 3])
                case 5:
                    inside = inside[:-1]
        table = np.full((len(found), 1 + self.depth), -1, np.int32)
        for row, entry in enumerate(found):
            table[row, : len(entry)] = entry
        return table[:, 0], table[:, 1:], np.array(recorded, bool)


def twin_for(spec: KernelSpec, parameters: Mapping[str, int]) -> Twin:
    """The twin of a kernel with its parameters set, without host functions that launch kernels.

    Its argument ``gv_book`` says where to record what. Raises SourceError as reading the kernel does.
    """
    program = program_for(spec, parameters)
    body = _instrumented(without_launchers(program), _insertions(program), program, spec.file)
    return Twin(_with(_MACHINERY, spec, body, "The instrumented twin of"), program)


def probed(spec: KernelSpec, parameters: Mapping[str, int]) -> str:
    """The kernel with a probe that records in ``gv_book`` where and when each block runs."""
    program = program_for(spec, parameters)
    body = _inserted(without_launchers(program), [(program.layout.body_start, (0, 0), " gv_probe gv;")])
    return _with(_PROBE, spec, body, "The probed form of")


def _with(machinery: Path, spec: KernelSpec, body: str, what: str) -> str:
    includes = "".join(f"{line}\n" for line in re.findall(r"^[ \t]*#[ \t]*include.*$", spec.text, re.MULTILINE))
    first = f"// {what} {spec.file}. Derived; edit the kernel instead.\n{includes}"
    return f'{first}{machinery.read_text(encoding="utf-8")}#line 1 "{spec.file}"\n{body}'


def without_launchers(program: Program) -> str:
    """The expanded text of a kernel's file with its launching host functions blanked, since NVRTC can't compile ``<<<``."""
    text = program.source.text
    for start, stop in program.layout.launchers:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:stop]) + text[stop:]
    end = text.find(f"\nauto {ENTRY_ARGUMENTS}")
    return text[: end if end >= 0 else len(text)]


Insertion = tuple[int, tuple[int, int], str]


def _instrumented(text: str, insertions: list[Insertion], program: Program, file: str) -> str:
    """The text with all insertions. Called functions stay as they are for other callers and get an instrumented copy."""
    kept: list[Insertion] = []
    copies: dict[tuple[int, int], list[Insertion]] = {span: [] for *_, span in program.layout.functions.definitions.values()}
    for position, (follows, _, whole) in program.layout.functions.definitions.items():
        kept += _prototypes(text, position, follows, whole)
    for insertion in insertions:
        span = next((span for span in copies if span[0] <= insertion[0] < span[1]), None)
        (kept if span is None else copies[span]).append(insertion)
    for (start, stop), inside in copies.items():
        copy = _inserted(text[start:stop], [(position - start, order, addition) for position, order, addition in inside])
        first, last = (text.count("\n", 0, position) + 1 for position in (start, stop))
        kept.append((stop, (0, 0), f'\n#line {first} "{file}"\n{copy}\n#line {last} "{file}"\n'))
    return _inserted(text, kept)


def _prototypes(text: str, position: int, follows: bool, span: tuple[int, int]) -> list[Insertion]:
    """Insertions of a prototype of the instrumented copy next to each prototype. ``position``: just inside the parentheses."""
    named = re.search(r"(\w+)\s*\($", text[:position])
    assert named is not None
    opening = re.compile(rf"\b{named[1]}\s*\(")
    before = re.sub(r"//[^\n]*|/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found[0]), text[: span[0]], flags=re.DOTALL)
    found: list[Insertion] = []
    for declaration in re.finditer(r"[^;{}#]*;", before):
        at = opening.search(declaration[0])
        if at is not None and "__device__" in declaration[0] and declaration[0].rstrip("; \n").endswith(")"):
            copy = declaration[0][: at.end()] + _PARAMETERS + (", " if follows else "") + declaration[0][at.end() :]
            found.append((declaration.end(), (0, 0), " " + " ".join(copy.split())))
    return found


def _inserted(text: str, insertions: list[Insertion]) -> str:
    pieces, at = [], 0
    for position, _, addition in sorted(insertions, key=lambda each: each[:2]):
        pieces += [text[at:position], addition]
        at = position
    return "".join([*pieces, text[at:]])


def _insertions(program: Program) -> list[Insertion]:
    """Insertions as (position, order at that position, text): closing before opening, inner before outer."""
    layout = program.layout
    found: list[Insertion] = [(layout.body_start, (0, 0), " gv_thread gv_self;")]
    for number, (position, (follows, _)) in enumerate(sorted(layout.functions.calls.items())):
        found.append((position, (0, 0), f"gv_self, {number}u" + (", " if follows else "")))
    for position, (follows, inside, _) in layout.functions.definitions.items():
        found.append((position, (0, 0), _PARAMETERS + (", " if follows else "")))
        found.append((inside, (0, 0), " gv_inside gv_here(gv_self, gv_call);"))
    for number in set(shared_numbers(program)):
        array = program.shared[number]
        found.append((array.end, (0, number), f" gv_declare_shared({number}, &{array.name});"))
    for number in set(site_numbers(program)):
        found += _reported(program.source.text, program.accesses[number], number)
    phases = program.loops[program.phase_loop].start if program.phase_loop >= 0 else -1
    for number in set(firsts(loop.start for loop in program.loops)):
        loop = program.loops[number]
        kind = "gv_phases" if loop.start == phases else "gv_loop"
        found += _counted(f"{kind}<{number}>", loop)
    return found


def site_numbers(program: Program) -> list[int]:
    """The twin's number of each access: that of the first access at the same place of the text."""
    return firsts((access.kind, access.range) for access in program.accesses)


def shared_numbers(program: Program) -> list[int]:
    """The twin's number of each shared array: that of the first array of the same declaration."""
    return firsts((array.end, array.name) for array in program.shared)


def firsts(keys: Iterable[Hashable]) -> list[int]:
    """For each key, the index of the first equal key."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, number) for number, key in enumerate(keys)]


def _reported(text: str, access: AccessPlace, number: int) -> list[Insertion]:
    """Insertions of an access. A store wraps a load of the same place (``C[i] += x`` reads, then writes); its value is read
    back afterwards.
    """
    start, end = access.range
    if access.space is None:
        return [(start, (0, 0), f"(gv_arrive<{number}>(gv_self), "), (end, (0, 0), ")")]
    outside = 0 if access.kind == "store" else 1
    ldg = re.match(r"__ldg\s*(?=\()", text[start:end])
    space = "ANY" if access.calls else str(access.space).upper()
    opening = f"gv_{access.kind}<{number}, GV_IN_{space}>(gv_self, " + ("*" if ldg else "")
    insertions = _around((start, end), outside, opening)
    if access.kind == "store":
        insertions += _around(access.whole, -1, "gv_wrote(gv_self, ")
    if ldg:
        insertions.append((start, (2, 0), "/*"))
        insertions.append((start + ldg.end(), (-2, 0), "*/"))
    return insertions


def _around(span: tuple[int, int], outside: int, opening: str) -> list[Insertion]:
    """Parentheses around a span. At one position the longest span opens first and the shortest closes first; of equal spans,
    the one with the smaller ``outside`` is outside.
    """
    start, end = span
    return [(start, (1, -2 * end + outside), opening), (end, (-1, -2 * start - outside), ")")]


def _counted(kind: str, loop: LoopPlace) -> list[Insertion]:
    start, condition = loop.start, loop.condition
    first = -1 if loop.tests_first else 0
    opening = f"for ({kind} gv_trips(gv_self, {first}); gv_trips.once();) "
    test_start, test_end = condition
    if test_start == test_end:
        return [(start, (0, 0), opening), (test_start, (0, 0), " gv_trips.next(), true")]
    return [(start, (0, 0), opening), (test_start, (0, 0), "gv_trips.next(), ("), (test_end, (-3, 0), ")")]

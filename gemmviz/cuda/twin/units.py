"""The translation units that the device compiles: the real kernel, and its instrumented twin, which computes what the kernel
computes and records every access.

The twin's text is printed from the program's nodes, not the user's text: templates are resolved and calls inlined, so that it
includes nothing of the user's. Loops are recorded too, so that the events of a thread determine its accesses and the trips in
which it made them.
"""

import posixpath
import re
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from math import prod
from pathlib import Path

import numpy as np
from msgspec import Struct

from gemmviz.cuda.nodes import (
    Barrier,
    Copy,
    HostCode,
    LoadMatrix,
    MatrixProduct,
    Mbarrier,
    MoveMatrix,
    Program,
    SharedArray,
    StoreMatrix,
)
from gemmviz.cuda.parser.source_text import includes_of
from gemmviz.cuda.program import program_for
from gemmviz.cuda.twin.statements import Printer, c_type, headers, slot_types, storage
from gemmviz.cuda.types import CType, VectorType
from gemmviz.cuda.walk import nodes_of
from gemmviz.model.arrays import Bools, Ints, Unsigned
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import Place, SourceError

_PROBE = Path(__file__).with_name("probe.cuh")


# The real kernel: the user's text without host functions, and the files that it includes.


class DeviceSource(Struct, frozen=True):
    """A text to compile, and the texts of the project that it includes, by the names in its include directives."""

    text: str
    headers: tuple[tuple[str, str], ...] = ()


def real_source(spec: KernelSpec, program: Program, macros: Mapping[str, str]) -> DeviceSource:
    """The kernel's file with its host functions blanked; every line and column is kept.

    The macros take precedence over the file's own of the same name, and are defined where the file defines those: the
    compiler's own headers are read before, where a macro T breaks templates.
    """
    return _compiled_text(spec, program, _own_text(spec, program), macros, "")


def probed_source(spec: KernelSpec, program: Program, macros: Mapping[str, str]) -> DeviceSource:
    """The same with a probe at the beginning of the kernel that records in ``gv_book`` where and when each block runs.

    Raises SourceError if the kernel's body begins within a macro or in a header.
    """
    lines = _own_text(spec, program).split("\n")
    at = program.opening
    line = lines[at.line - 1]
    if line[at.column - 1 : at.column] != "{":
        raise SourceError(
            f"the body of {program.name} begins in a macro or in a header, where no probe can be inserted", at, file=spec.file,
            remedy="write its opening brace in the file",
        )  # fmt: skip
    lines[at.line - 1] = f"{line[: at.column]} gv_probe gv;{line[at.column :]}"
    return _compiled_text(spec, program, "\n".join(lines), macros, _PROBE.read_text(encoding="utf-8"))


def _compiled_text(spec: KernelSpec, program: Program, own: str, macros: Mapping[str, str], before: str) -> DeviceSource:
    """The file to compile, the kernel's own or the one that includes it, where the kernel's file has the text ``own``."""
    texts = {each.name: _blanked(each.text, _places_within(program.host_code, each.name)) for each in spec.project}
    texts[spec.own_name] = own
    in_place = {name for text in texts.values() for name in _defined_in(text, macros)}
    texts = {name: _redefined(text, macros, in_place) for name, text in texts.items()}
    defined = "".join(f"#define {name} {value}\n" for name, value in macros.items() if name not in in_place)
    text = texts.get(spec.compiled or spec.own_name, own)
    name = (spec.compiled or spec.file).replace("\\", "/").replace('"', "")
    headers = tuple((each, _in_ascii(of)) for each, of in _included(texts).items())
    return DeviceSource(f'{before}{defined}#line 1 "{name}"\n{_in_ascii(text)}', headers)


def _in_ascii(text: str) -> str:
    """The text with universal character names: NVRTC takes those in the names of variables, but no other characters."""
    return re.sub(r"[^\x00-\x7f]", lambda found: f"\\U{ord(found[0]):08x}", text)


def _defined_in(text: str, macros: Mapping[str, str]) -> Iterator[str]:
    """Names of macros that a text defines under no condition but that something isn't defined."""
    around: list[str] = []
    for line in text.split("\n"):
        match line.replace("#", "# ", 1).split():
            case ["#", "define", name, *_] if name in macros and all(each == "ifndef" for each in around):
                yield name
            case ["#", ("if" | "ifdef" | "ifndef") as word, *_]:
                around.append(word)
            case ["#", ("elif" | "else") as word, *_] if around:
                around[-1] = word
            case ["#", "endif", *_] if around:
                around.pop()


def _redefined(text: str, macros: Mapping[str, str], in_place: Container[str]) -> str:
    """The text with other values of these macros where it defines them, if ``in_place``, else with its own definitions
    blanked. All lines stay.
    """
    if not macros:
        return text
    names = "|".join(re.escape(name) for name in macros)
    own = re.compile(rf"^[ \t]*#[ \t]*(define|undef)[ \t]+({names})\b(?:\\\n|[^\n])*", re.MULTILINE)

    def changed(found: re.Match[str]) -> str:
        kept = found[1] == "define" and found[2] in in_place
        return (f"#define {found[2]} {macros[found[2]]}" if kept else "") + "\n" * found[0].count("\n")

    return own.sub(changed, text)


def _included(texts: dict[str, str]) -> dict[str, str]:
    """Texts by the names under which others include them. A name counts from the folder of the file that includes it, or else
    from the project's folder.
    """
    included: dict[str, str] = {}
    for file, text in texts.items():
        for name in (each.name for each in includes_of(text)):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(file), name))
            target = next((each for each in (beside, posixpath.normpath(name)) if each in texts), None)
            if target is not None:
                included.setdefault(name, texts[target])
    return included


def _own_text(spec: KernelSpec, program: Program) -> str:
    return _blanked(spec.text, _places_within(program.host_code, ""))


def _places_within(host_code: Iterable[HostCode], file: str) -> Iterator[Place]:
    return (each.place for each in host_code if each.file == file)


def _blanked(text: str, places: Iterable[Place]) -> str:
    """The text with these places blanked, but for the ends of lines."""
    lines = text.split("\n")
    for place in places:
        for number in range(place.line, min(place.end_line, len(lines)) + 1):
            line = lines[number - 1]
            start = place.column - 1 if number == place.line else 0
            stop = place.end_column - 1 if number == place.end_line else len(line)
            lines[number - 1] = line[:start] + " " * len(line[start:stop]) + line[stop:]
    return "\n".join(lines)


# The twin.

TWIN_ENTRY = "gv_twin"
_PRELUDE, _OF_MATRICES, _OF_BARRIERS = (Path(__file__).with_name(name) for name in ("twin.cuh", "matrix.cuh", "barrier.cuh"))
_POOL = "gv_pool"


class Twin(Struct, frozen=True, dict=True):
    """The twin's text, and the program whose accesses it records."""

    text: str
    program: Program

    @cached_property
    def depth(self) -> int:
        """Number of loops around the innermost access."""
        return max((len(access.loops) for access in self.program.accesses), default=0)

    def path(self, events: Unsigned) -> tuple[Ints, Ints, Bools, Ints]:
        """The accesses of a thread, from its events.

        Returns numbers of the program's accesses, (n,); the trips of the loops around them, (n, depth), padded with -1; whether
        each was recorded, (n,): barriers are reported even where they aren't recorded; and the index of the wait that
        completes each asynchronous copy, (n,), -1 for what is none or isn't completed.
        """
        rows: list[tuple[int, ...]] = []
        recorded: list[bool] = []
        visits: list[int] = []
        batch, under_way = 0, list[tuple[int, int]]()  # batch and row of each copy
        completes: dict[int, int] = {}
        is_async = [access.is_async for access in self.program.accesses]
        tests_first = [loop.tests_first for loop in self.program.loops]
        for code in events.tolist():
            match code & 7:
                case 0 | 4:
                    recorded.append(code & 7 == 0)
                    if is_async[code >> 3]:
                        under_way.append((batch, len(rows)))
                    rows.append((code >> 3, *visits))
                case 2:
                    visits[-1] += 1
                case 1:
                    visits.append(-1 if tests_first[code >> 3] else 0)
                case 3:
                    visits.pop()
                case 5:
                    batch += 1
                case 6:
                    done = [row for of, row in under_way if of < batch - (code >> 3)]
                    completes |= dict.fromkeys(done, len(rows) - 1)
                    under_way = [each for each in under_way if each[1] not in completes]
        table = np.full((len(rows), 1 + self.depth), -1, np.int32)
        for number, row in enumerate(rows):
            table[number, : len(row)] = row
        completed = np.array([completes.get(row, -1) for row in range(len(rows))], np.int32)
        return table[:, 0], table[:, 1:], np.array(recorded, bool), completed


def twin_for(spec: KernelSpec, parameters: Mapping[str, int]) -> Twin:
    """The twin of a kernel with its parameters set. Raises SourceError as reading the kernel does."""
    return printed_twin(program_for(spec, parameters), spec.file)


@lru_cache(maxsize=64)
def printed_twin(program: Program, file: str) -> Twin:
    """The twin of a program, whose entry is ``TWIN_ENTRY``. Its constant ``gv_book`` says where to record what."""
    printer = Printer(program)
    parameters = [f"{c_type(each.type)} {printer.name(each.slot)}" for each in program.parameters]
    includes = [f"#include <{each}>" for each in headers(_types_used(program))]
    has_matrices = any(isinstance(part, LoadMatrix | MatrixProduct | MoveMatrix | StoreMatrix) for part in nodes_of(program))
    has_barriers = any(map(_is_of_barrier, nodes_of(program)))
    preludes = (_PRELUDE, *[_OF_MATRICES] * has_matrices, *[_OF_BARRIERS] * has_barriers)
    lines = [
        f"// The instrumented twin of {file}. Derived; edit the kernel instead.",
        *includes,
        *(prelude.read_text(encoding="utf-8") for prelude in preludes),
        f'extern "C" __global__ void {TWIN_ENTRY}({", ".join(parameters)})',
        "{",
        "    gv_thread gv_self;",
        *(["    gv_states gv_own;"] if has_barriers else []),
        *(f"    {line}" for line in (*_shared_declarations(program, printer), *printer.first())),
        *printer.block(program.body),
        "}",
        "",
    ]
    return Twin("\n".join(lines), program)


def _is_of_barrier(node: object) -> bool:
    """Whether a node needs what the twin has for barriers with numbers, mbarriers and bulk copies."""
    match node:
        case Barrier(number=number):
            return number is not None
        case Copy(target=target):
            return isinstance(target.type, VectorType) and target.type.is_bulk
    return isinstance(node, Mbarrier)


def shared_numbers(program: Program) -> list[int]:
    """The twin's number of each shared array: that of the first array of the same declaration."""
    return _firsts((each.place, each.name, each.element, each.dims) for each in program.shared)


def _firsts(keys: Iterable[Hashable]) -> list[int]:
    """For each key, the index of the first equal key."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, number) for number, key in enumerate(keys)]


def _shared_declarations(program: Program, printer: Printer) -> Iterable[str]:
    """Declarations of the shared arrays, each reported to the host."""
    if any(array.dims is None for array in program.shared):
        yield f"extern __shared__ __align__(128) unsigned char {_POOL}[];"
    for number, same in enumerate(shared_numbers(program)):
        array = program.shared[number]
        name, first = printer.name(array.slot), printer.name(program.shared[same].slot)
        if number == same:
            yield f"{_shared_declaration(array, name)} gv_declare_shared({number}, {name});"
        else:
            yield f"auto* {name} = &{first}[0];"


def _shared_declaration(array: SharedArray, name: str) -> str:
    element, declarator = storage(array.element, prod(array.dims or ()), name)
    return (
        f"{element}* {name} = ({element}*){_POOL};"
        if array.dims is None
        else f"__shared__ __align__(16) {element} {declarator};"
    )


def _types_used(program: Program) -> Iterable[CType]:
    """Types that occur in a program."""
    yield from slot_types(program).values()
    yield from (array.element for array in program.shared)
    yield from (each.type for each in nodes_of(program) if hasattr(each, "type"))

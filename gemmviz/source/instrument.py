"""Derives the instrumented twin: the kernel's own text, with every access wrapped so that it reports itself.

``A[i]`` becomes ``gv_touch<3>(gv, A[i])``, a reference to the same element, so that the twin computes what the kernel
computes. Each loop counts its trips. Macros are expanded and every line keeps its number.
"""

import re
from collections.abc import Mapping

from gemmviz.model.kernel import KernelSpec
from gemmviz.source.nodes import AccessPlace, LoopPlace, Program
from gemmviz.source.program import ENTRY_ARGUMENTS, program_for

_PROLOGUE = """\
// The instrumented twin of {file}: it records every access of every thread. Derived; edit the kernel instead.
{includes}struct gv_record {{ unsigned long long address; int site; int calls; int visits[{depth}]; }};
struct gv_log {{ gv_record* records; unsigned int* used; unsigned int capacity; }};
struct gv_thread {{
    gv_log log;
    unsigned int lane, used = 0;
    int depth = 0, calls = 0, visits[{depth}];
    __device__ explicit gv_thread(gv_log l) : log(l)
    {{
        unsigned int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        unsigned int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        lane = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
    }}
    __device__ void record(int site, const volatile void* address)
    {{
        if (used < log.capacity) {{
            gv_record& r = log.records[(unsigned long long)lane * log.capacity + used];
            r.address = (unsigned long long)address;
            r.site = site;
            r.calls = calls;
            for (int i = 0; i < {depth}; ++i) r.visits[i] = i < depth ? visits[i] : -1;
        }}
        log.used[lane] = ++used;
    }}
}};
struct gv_loop {{
    gv_thread& gv;
    bool fresh = true;
    __device__ gv_loop(gv_thread& g, int first) : gv(g) {{ gv.visits[gv.depth++] = first; }}
    __device__ ~gv_loop() {{ --gv.depth; }}
    __device__ bool once() {{ bool f = fresh; fresh = false; return f; }}
    __device__ void next() {{ ++gv.visits[gv.depth - 1]; }}
}};
struct gv_call {{
    gv_thread& gv;
    int before;
    __device__ gv_call(gv_thread& g, int call) : gv(g), before(g.calls) {{ gv.calls = gv.calls * 64 + call; }}
    __device__ ~gv_call() {{ gv.calls = before; }}
    __device__ operator gv_thread&() const {{ return gv; }}
}};
template <int site, typename T> __device__ __forceinline__ T& gv_touch(gv_thread& gv, T& element)
{{
    gv.record(site, &element);
    return element;
}}
#line 1 "{file}"
"""


def instrument(spec: KernelSpec, parameters: Mapping[str, int]) -> str:
    """The twin's text, host functions that launch left out. The kernel takes one more argument, a ``gv_log``.

    Raises SourceError as reading the kernel does.
    """
    program = program_for(spec, parameters)
    text = program.source.text
    for start, stop in program.layout.launchers:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:stop]) + text[stop:]
    end = text.find(f"\nauto {ENTRY_ARGUMENTS}")
    inserted = _insertions(program)
    pieces, at = [], 0
    for position, _, addition in sorted(inserted, key=lambda each: each[:2]):
        pieces += [text[at:position], addition]
        at = position
    body = "".join([*pieces, text[at : end if end >= 0 else len(text)]])
    includes = "".join(f"{line}\n" for line in re.findall(r"^[ \t]*#[ \t]*include.*$", spec.text, re.MULTILINE))
    depth = max([_depth(program, loop) for loop in program.loops], default=1)
    return _PROLOGUE.format(file=spec.file, includes=includes, depth=depth) + body


def _depth(program: Program, loop: LoopPlace) -> int:
    depth = 1
    while loop.outer >= 0:
        loop, depth = program.loops[loop.outer], depth + 1
    return depth


Insertion = tuple[int, tuple[int, int], str]


def _insertions(program: Program) -> list[Insertion]:
    """(position, order among insertions at one position, text): what closes comes before what opens, inner before outer."""
    found: list[Insertion] = [
        (program.layout.parameters_end, (0, 0), ", gv_log gv_records" if program.parameters else "gv_log gv_records"),
        (program.layout.body_start, (0, 0), " gv_thread gv(gv_records);"),
    ]
    for number, (position, follows, defines) in enumerate(sorted(program.layout.parentheses), 1):
        addition = "gv_thread& gv" if defines else f"gv_call(gv, {number % 63 + 1})"
        found.append((position, (0, 0), addition + (", " if follows else "")))
    seen: set[tuple[str, tuple[int, int]]] = set()
    for number, access in enumerate(program.accesses):
        if access.kind in ("load", "store") and (access.kind, access.range) not in seen:
            seen.add((access.kind, access.range))
            found += _touch(program.source.text, access, number)
    for start, condition, tests_first in {(loop.start, loop.condition, loop.tests_first) for loop in program.loops}:
        found += _counted(start, condition, tests_first)
    return found


def _touch(text: str, access: AccessPlace, number: int) -> list[Insertion]:
    """A store wraps a load of the same place (``C[i] += x`` reads, then writes)."""
    start, end = access.range
    outside = 0 if access.kind == "store" else 1
    ldg = re.match(r"__ldg\s*(?=\()", text[start:end])
    opening = f"gv_touch<{number}>(gv, " + ("*" if ldg else "")
    insertions: list[Insertion] = [(start, (1, -2 * end + outside), opening), (end, (-1, -2 * start - outside), ")")]
    if ldg:
        insertions.append((start, (2, 0), "/*"))
        insertions.append((start + ldg.end(), (-2, 0), "*/"))
    return insertions


def _counted(start: int, condition: tuple[int, int], tests_first: bool) -> list[Insertion]:
    first = -1 if tests_first else 0
    opening = f"for (gv_loop gv_trips(gv, {first}); gv_trips.once();) "
    test_start, test_end = condition
    if test_start == test_end:
        return [(start, (0, 0), opening), (test_start, (0, 0), " gv_trips.next(), true")]
    return [(start, (0, 0), opening), (test_start, (0, 0), "gv_trips.next(), ("), (test_end, (-3, 0), ")")]

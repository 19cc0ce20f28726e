"""Memory is bytes: any type is read from and written to any memory, and the record counts the bytes of each access."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from msgspec import structs

from gemmviz.analysis.counts import LaunchCounter, count_steps
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.cuda.nodes import (
    Assign,
    Base,
    Block,
    Const,
    Convert,
    DeclareArray,
    Deref,
    Evaluate,
    Expr,
    Index,
    Offset,
    Read,
    Reinterpret,
)
from gemmviz.cuda.types import FLOAT, INT, Field, PointerType, Scalar, StructType, VectorType, named_type, unit_bytes
from gemmviz.model.messages import KernelFault, Place
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.executor import bound, inputs, stream_launch, traced_space
from gemmviz.run.cpu.recorder import StepCounter
from gemmviz.run.cpu.simt.interpret import interpret
from gemmviz.run.cpu.simt.memory import NULL, comparison, is_not_null, joined, same_memory
from tests.conftest import kernel_from, outcome_of, sampled, trace_of

AT = Place(1, 1, 1, 1)


def run(body: str, pointer: str = "float*", block: int = 4, before: str = "", program: Any = None) -> tuple[Any, Any]:
    """A and C, flat, of 16 x 16 elements, after a kernel of this body."""
    spec = kernel_from(body, block=f'["{block}"]', pointer=pointer, before=before)
    binding = bound(setup_for(spec, Problem(16, 16, 16)))
    if program is not None:
        binding = structs.replace(binding, program=program(binding.program))
    data = inputs(binding)
    left = interpret(binding, traced_space(binding, None), StepCounter(), data)
    return data["A"], left["C"].data


TYPES = ["float", "double", "half", "char", "unsigned char", "short", "int", "unsigned int", "long long"]


@pytest.mark.parametrize(
    ("read", "of"), sampled(((read, of) for read in TYPES for of in ("float", "double", "half", "char", "int")), 7)
)
def test_any_type_is_read_from_any_memory(of: str, read: str) -> None:
    """From global and shared memory, through a copy in a thread's own array."""
    size = {"half": 2}.get(of) or np.dtype({"float": "f4", "double": "f8", "char": "i1", "int": "i4"}[of]).itemsize
    count = 64 * size
    copied = f"""__shared__ {of} s[64]; {of} own[64];
    for (int i = 0; i < 64; ++i) own[i] = A[i];
    for (int i = 0; i < 64; ++i) s[i] = A[i];
    __syncthreads();
    for (int i = threadIdx.x; i < {count} / (int)sizeof({read}); i += 4) {{
        {read} a = (({read}*)A)[i], b = (({read}*)s)[i], c = (({read}*)own)[i];
        (({read}*)C)[i] = a;
        (({read}*)(C + 64))[i] = b;
        (({read}*)(C + 128))[i] = c;
    }}"""
    a, c = run(copied, f"{of}*")
    raw = a[:64].tobytes()
    for start in (0, 64, 128):
        assert c[start : start + 64].tobytes() == raw


@pytest.mark.parametrize("wide", ["int4", "float4", "float2", "double2", "char4", "short2"])
def test_vectors_are_read_from_any_memory(wide: str) -> None:
    body = f"""__shared__ float s[64];
    for (int i = threadIdx.x; i < 256 / (int)sizeof({wide}); i += 4) (({wide}*)s)[i] = (({wide}*)A)[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 256 / (int)sizeof({wide}); i += 4) (({wide}*)C)[i] = (({wide}*)s)[i];"""
    a, c = run(body)
    assert c[:64].tobytes() == a[:64].tobytes()
    trace = trace_of(kernel_from(body, block='["4"]'), 16, 16, 16)
    for site in trace.sites:
        for operand in site.operands:
            array = trace.arrays[operand.array]
            assert operand.width * array.itemsize == {"int4": 16, "float4": 16, "float2": 8, "double2": 16}.get(wide, 4)


def test_a_pool_of_bytes_is_cut_into_tiles() -> None:
    body = """extern __shared__ char pool[];
    float* a = (float*)pool; float* b = (float*)(pool + 64);
    a[threadIdx.x] = A[threadIdx.x]; b[threadIdx.x] = A[threadIdx.x + 16];
    __syncthreads();
    C[threadIdx.x] = a[threadIdx.x] - b[threadIdx.x];"""
    spec = kernel_from(body, block='["4"]', parameters='// shared_bytes = "128"')
    trace = trace_of(spec, 16, 16, 16)
    pool = trace.arrays[-1]
    assert (pool.element_type, pool.shape) == ("float32", (32,))
    assert {int(each) for step in range(trace.steps) for each in trace.element[step] if trace.sites[trace.site[step]].touches(3)} == {
        0, 1, 2, 3, 16, 17, 18, 19,
    }  # fmt: skip


def test_what_is_read_in_parts_is_recorded_in_parts() -> None:
    body = "int own = ((char*)A)[threadIdx.x * 4 + 1]; C[threadIdx.x] = own; C[8] = A[1];"
    trace = trace_of(kernel_from(body, block='["4"]', pointer="int*"), 4, 4, 4)
    a = trace.arrays[0]
    assert (a.element_type, a.shape) == ("int8", (4, 16))
    byte, word = (site.operands[0] for site in trace.sites if site.touches(0))
    assert (byte.width, byte.element_type, word.width, word.element_type) == (1, "", 4, "int32")
    assert trace.element[0].tolist() == [1, 5, 9, 13]
    assert trace.element[2].tolist() == [4] * 4


@pytest.mark.parametrize(
    ("pointer", "body", "sectors", "asked"),
    [
        ("float*", "int4 v = ((int4*)A)[threadIdx.x]; C[threadIdx.x] = v.x;", 16, 512),
        ("int*", "C[threadIdx.x] = ((char*)A)[threadIdx.x];", 1, 32),
        ("char*", "C[threadIdx.x] = ((int*)A)[threadIdx.x];", 4, 128),
        ("half*", "C[threadIdx.x] = ((float4*)A)[threadIdx.x].y;", 16, 128),  # a component alone, 16 bytes apart
        ("double*", "C[threadIdx.x] = ((int*)A)[threadIdx.x];", 4, 128),
    ],
)
def test_counts_are_of_the_bytes_requested(pointer: str, body: str, sectors: int, asked: int) -> None:
    spec = kernel_from(body, block='["32"]', pointer=pointer)
    trace = trace_of(spec, 16, 16, 16)
    counts = next(counts for key, counts in count_steps(trace, [0]).accesses.items() if key is not None)
    assert (counts.sectors, counts.bytes_asked) == (sectors, asked)


def faults(body: str, pointer: str = "float*", **options: Any) -> KernelFault:
    error = outcome_of(kernel_from(body, pointer=pointer, **options), 4, 4, 4).fault
    assert error is not None
    return error


@pytest.mark.parametrize(
    ("pointer", "body", "id"),
    [
        ("float*", "float4 v = *(float4*)(A + 1); C[0] = v.x;", "misaligned-access"),
        ("char*", "C[0] = *(int*)(A + threadIdx.x);", "misaligned-access"),
        ("char*", "C[0] = *(int*)(A + 16);", "out-of-range"),
        ("half*", "float x = *(float*)(A + 15); C[0] = x;", "misaligned-access"),
        ("float*", "C[0] = ((char*)A)[64];", "out-of-range"),
        ("float*", "__shared__ float s[4]; ((char*)s)[threadIdx.x] = 1; __syncthreads(); C[0] = s[1];", "uninitialised-read"),
        ("float*", "__shared__ float s[4]; ((char*)s)[threadIdx.x] = 1; __syncthreads(); C[0] = s[0];", None),
        ("float*", "__shared__ char s[16]; ((float*)s)[0] = 1; __syncthreads(); C[0] = s[4];", "uninitialised-read"),
    ],
)
def test_faults_count_bytes(pointer: str, body: str, id: str | None) -> None:
    fault = outcome_of(kernel_from(body, pointer=pointer), 4, 4, 4).fault
    assert (None if fault is None else fault.id) == id


POINTERS = {
    "a choice": ("const float* p = threadIdx.x < 2 ? A : B; C[threadIdx.x] = p[threadIdx.x];", "AABB"),
    "a variable": ("const float* p = A; if (threadIdx.x & 1) p = B; C[threadIdx.x] = p[threadIdx.x];", "ABAB"),
    "shared": (
        """__shared__ float s[4], t[4]; s[threadIdx.x] = A[threadIdx.x]; t[threadIdx.x] = B[threadIdx.x]; __syncthreads();
        float* p = threadIdx.x ? t : s; C[threadIdx.x] = p[threadIdx.x];""", "ABBB",
    ),
    "swapped": (
        """__shared__ float s[4], t[4]; float *p = s, *q = t; p[threadIdx.x] = A[threadIdx.x]; q[threadIdx.x] = B[threadIdx.x];
        __syncthreads(); float* r = p; p = q; q = r; C[threadIdx.x] = p[threadIdx.x];""", "BBBB",
    ),
    "stores": (
        """__shared__ float s[4], t[4]; s[threadIdx.x] = A[threadIdx.x]; t[threadIdx.x] = A[threadIdx.x];
        float* p = threadIdx.x < 3 ? t : s; p[threadIdx.x] = B[threadIdx.x]; __syncthreads();
        C[threadIdx.x] = t[threadIdx.x];""", "BBBA",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", POINTERS)
def test_pointers_of_lanes_may_differ(what: str) -> None:
    body, sources = POINTERS[what]
    spec = kernel_from(body)
    binding = bound(setup_for(spec, Problem(4, 4, 4)))
    data = inputs(binding)
    left = interpret(binding, traced_space(binding, None), StepCounter(), data)["C"].data
    assert left[:4].tolist() == [data[name][lane] for lane, name in enumerate(sources)]
    whole = trace_of(spec)
    counter = LaunchCounter(device_for(setup_for(spec)).rules)
    stream_launch(setup_for(spec, Problem(4, 4, 4)), counter)
    assert counter.counts.accesses == count_steps(whole, range(whole.steps)).accesses


def test_null_pointers_of_some_lanes() -> None:
    memory, lanes = object(), np.array([True, False, True])
    pointer = joined(lanes, (memory, 5), (NULL, 0))
    machine: Any = SimpleNamespace(mask=None)
    assert is_not_null(lambda _: pointer)(machine).tolist() == [True, False, True]
    equal = comparison("==", lambda _: pointer, lambda _: (memory, np.array([5, 5, 6])), AT)
    assert equal(machine).tolist() == [True, False, False]
    assert is_not_null(lambda _: (NULL, 0))(machine) is False
    again = joined(~lanes, (memory, 7), pointer)
    assert same_memory(again[0], memory).all()


INNER = StructType("Inner", (Field("c", named_type("char"), 0), Field("x", named_type("float"), 4)), 8, 4)  # type: ignore[arg-type]
OUTER = StructType(
    "Outer",
    (Field("v", VectorType(FLOAT, 2), 0), Field("inner", INNER, 8), Field("n", named_type("short"), 16)),  # type: ignore[arg-type]
    24,
    8,
)
UNION = StructType("Union", (Field("f", FLOAT, 0), Field("bytes", named_type("int"), 0)), 4, 4)  # type: ignore[arg-type]


def member(struct: StructType, slot: int, index: int, offset: int, scalar: Scalar) -> Deref:
    """The node of a scalar at an offset in bytes of an element of a local array of structs."""
    unit = unit_bytes(struct)
    base = Base(PointerType(struct, "local"), slot)
    element = Offset(base.type, base, Const(INT, index), struct.bytes // unit)
    at = Offset(base.type, element, Const(INT, offset // unit), 1)
    return Deref(scalar, Reinterpret(PointerType(scalar, "local"), at, AT), AT)


def assigned(target: Expr, value: Expr) -> Evaluate:
    return Evaluate(Assign(target.type, target, value, None, None, None, False, AT))


def with_struct(spec_body: str, struct: StructType, build: Any) -> Any:
    """C after a kernel whose first statement is replaced by ``build(slot)``."""

    def changed(program: Any) -> Any:
        slot = program.slots
        statements = (DeclareArray(slot, "own", struct, 3, None), *build(slot), *program.body.statements[1:])
        return structs.replace(program, slots=slot + 1, body=Block(statements))

    return run(spec_body, program=changed)[1]


def test_structs_of_a_thread_have_cells_of_several_types() -> None:
    short, char = named_type("short"), named_type("char")
    assert isinstance(short, Scalar)
    assert isinstance(char, Scalar)
    lane = Convert(FLOAT, Index(INT, False, 0))

    def build(slot: int) -> list[Any]:
        return [
            assigned(member(OUTER, slot, 1, 4, FLOAT), lane),
            assigned(member(OUTER, slot, 1, 8, char), Const(char, -3)),
            assigned(member(OUTER, slot, 1, 12, FLOAT), Const(FLOAT, 0.5)),
            assigned(member(OUTER, slot, 1, 16, short), Const(short, 300)),
            assigned(member(OUTER, slot, 0, 4, FLOAT), Const(FLOAT, 99.0)),
        ]

    sums = []
    for offset, scalar in ((4, FLOAT), (8, char), (12, FLOAT), (16, short)):

        def both(slot: int, offset: int = offset, scalar: Scalar = scalar) -> list[Any]:
            value = member(OUTER, slot, 1, offset, scalar)
            read = value if scalar == FLOAT else Convert(FLOAT, value)
            return [*build(slot), store_in_c(read)]

        sums.append(with_struct("C[0] = 1;", OUTER, both)[:4].tolist())
    assert sums == [[0, 1, 2, 3], [-3] * 4, [0.5] * 4, [300] * 4]


def store_in_c(value: Expr) -> Evaluate:
    """The node of ``C[threadIdx.x] = value``, as access 0."""
    c = PointerType(FLOAT, "global")
    at = Offset(c, Read(c, 2, "C", False, AT), Index(INT, False, 0), 1)
    return Evaluate(Assign(FLOAT, Deref(FLOAT, at, AT), value, None, None, 0, False, AT))


def test_members_of_a_union_overlap() -> None:
    whole = named_type("int")
    assert isinstance(whole, Scalar)

    def build(slot: int) -> list[Any]:
        bits = member(UNION, slot, 2, 0, whole)
        return [
            assigned(member(UNION, slot, 2, 0, FLOAT), Convert(FLOAT, Index(INT, False, 0))),
            assigned(bits, Const(INT, 0x40490FDB)),
            store_in_c(member(UNION, slot, 2, 0, FLOAT)),
        ]

    assert with_struct("C[0] = 1;", UNION, build)[:4].tolist() == [float(np.float32(np.pi))] * 4


def test_random_views_agree_with_numpy() -> None:
    """Bytes written and read as random types at random places of a thread's array, against a NumPy buffer."""
    draw = np.random.default_rng(3)
    kinds = {
        "char": "i1",
        "unsigned char": "u1",
        "short": "i2",
        "int": "i4",
        "unsigned int": "u4",
        "long long": "i8",
        "float": "f4",
    }
    for of in ("char", "int", "float", "double"):
        lines, raw = (
            [f"{of} own[{64 // np.dtype({'char': 'i1', 'int': 'i4', 'float': 'f4', 'double': 'f8'}[of]).itemsize}] = {{}};"],
            np.zeros(64, np.uint8),
        )
        for _ in range(40):
            name = str(draw.choice(list(kinds)))
            kind = np.dtype(kinds[name])
            at, value = int(draw.integers(64 // kind.itemsize)), int(draw.integers(-100, 100))
            lines.append(f"(({name}*)own)[{at}] = ({name})((int)threadIdx.x * 0 + {value});")
            stored: npt.NDArray[Any] = np.array(value).astype(kind)
            if name == "float":
                stored = np.array(value, np.float32)
            elif kind.kind == "u":
                stored = np.array(value, np.int64).astype(kind)
            raw.view(kind)[at] = stored
        lines.append("for (int i = 0; i < 64; ++i) ((unsigned char*)C)[i] = ((unsigned char*)own)[i];")
        _, c = run("\n".join(lines))
        assert c.view(np.uint8)[:64].tolist() == raw.tolist(), of

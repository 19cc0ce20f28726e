"""The stand-in headers: they are parsed without an error, results have CUDA's types, sizes and alignments are CUDA's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clang.cindex import Cursor, CursorKind, Index

from gemmviz.cuda.functions import FUNCTIONS, Signature, function_declarations
from gemmviz.cuda.parser import unit
from gemmviz.cuda.parser.source_text import VISIBLE, SourceText
from gemmviz.cuda.parser.unit import ALL_STUBS, LANGUAGE, STUBS, Unit, parse, stub_names
from gemmviz.cuda.types import FLOAT, HALF, LONG
from tests.nvrtc import compile_error, has_cuda_headers

VARIABLES = """int i; unsigned u; size_t z; long l; float f; double d; half h; half2 h2; float4 f4; char4 c4;
nv_bfloat16 b; nv_bfloat162 b2; short s;"""
TYPES = {
    "fmaxf(1.0f, 2)": "float", "pow(f, f)": "float", "pow(f, 2)": "float", "pow(i, i)": "double", "sqrt(i)": "double",
    "sqrt(f)": "float", "sqrt(d)": "double", "std::sqrt(f)": "float", "std::sqrt(i)": "double", "exp(f)": "float",
    "max(i, i)": "int", "max(u, i)": "unsigned int", "max(f, f)": "float", "max(f, d)": "double", "min(z, z)": "unsigned long",
    "std::max(i, 3)": "int", "abs(f)": "float", "abs(i)": "int", "fabs(f)": "float", "fmax(f, d)": "double", "fma(f, f, f)": "float",
    "atomicAdd(&f, 1)": "float", "atomicAdd(&u, 1)": "unsigned int", "atomicAdd(&d, 1.0)": "double", "atomicAdd(&h, h)": "__half",
    "atomicCAS(&u, 0u, 1u)": "unsigned int", "atomicMax(&i, 3)": "int", "__shfl_down_sync(0xffffffff, f, 1)": "float",
    "__shfl_xor_sync(0xffffffff, s, 1)": "int", "__shfl_sync(-1, d, 0)": "double", "__ldg(&f)": "float", "__ldg(&f4)": "float4",
    "h + h": "__half", "h > h": "bool", "h2 * h2": "__half2", "b + b": "__nv_bfloat16", "__hfma2(h2, h2, h2)": "__half2",
    "__hfma(b, b, b)": "__nv_bfloat16", "__half2float(h)": "float", "__dp4a(i, i, i)": "int", "__dp4a(c4, c4, i)": "int",
    "__ballot_sync(-1, i > 0)": "unsigned int", "std::numeric_limits<float>::max()": "float", "ceil(i / 2.0)": "double",
    "cooperative_groups::this_thread_block().thread_rank()": "unsigned int", "log2(i)": "double", "rsqrtf(f)": "float",
    "cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block()).shfl_down(f, 1)": "float",
    "clock()": "long", "clock64()": "long long", "make_float4(1, 2, 3, 4)": "float4", "threadIdx.x": "unsigned int",
    "__popc(u)": "int", "__float_as_int(f)": "int", "__fdividef(f, f)": "float", "std::pow(2, i)": "double",
}  # fmt: skip
LAYOUTS = [
    *(f"{name}{count}" for count in (1, 2, 3, 4) for name in (
        "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double")),
    "dim3", "half", "half2", "nv_bfloat16", "nv_bfloat162", "size_t", "long", "bool", "char",
    "cudaTextureObject_t", "__nv_fp8_e4m3",
]  # fmt: skip


def variables(unit: Unit) -> Iterator[Cursor]:
    return (each for each in unit.tree.cursor.walk_preorder() if each.kind == CursorKind.VAR_DECL and unit.is_shown(each))


def test_the_headers_are_right() -> None:
    unit = Index.create().parse(str(ALL_STUBS), list(LANGUAGE))
    assert [f"{each.location}: {each.spelling}" for each in unit.diagnostics] == []


def test_each_can_be_included() -> None:
    """In one file: each stands behind all stand-in headers anyway."""
    includes = "".join(f"#include <{name}>\n" for name in sorted(stub_names() | VISIBLE))
    unit = parse(SourceText("a.cu", {"a.cu": f"{includes}__global__ void k(float* a) {{ a[threadIdx.x] = 1; }}\n"}))
    assert (unit.errors, unit.missing) == ((), ())


def test_results_have_cudas_types() -> None:
    body = "".join(f"auto value{number} = {expression};\n" for number, expression in enumerate(TYPES))
    unit = parse(SourceText("a.cu", {"a.cu": f"__device__ void f() {{ {VARIABLES}\n{body} }}\n"}))
    assert unit.errors == ()
    found = {each.spelling: each.type.get_canonical().spelling.removeprefix("const ") for each in variables(unit)}
    assert {each: found[f"value{number}"] for number, each in enumerate(TYPES)} == TYPES


def test_a_row_of_the_table_declares_its_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FUNCTIONS, "__nv_example", Signature((FLOAT, LONG), HALF, "same"))
    monkeypatch.setitem(FUNCTIONS, "__nv_other", Signature((FLOAT, LONG), FLOAT, "same"))
    assert function_declarations(of_halves=True).endswith(" half __nv_example(float, long long);")
    assert function_declarations(of_halves=False).endswith(' extern "C" float __nv_other(float, long long);')


def layout_assertions() -> str:
    """A CUDA text that compiles only if sizes and alignments are those of the stand-in headers."""
    text = "".join(f"extern {name} of{number};\n" for number, name in enumerate(LAYOUTS))
    types = {each.spelling: each.type for each in variables(parse(SourceText("a.cu", {"a.cu": text})))}
    lines = ["#include <cuda_fp16.h>", "#include <cuda_bf16.h>", "#include <cuda_fp8.h>"]
    for number, name in enumerate(LAYOUTS):
        size, alignment = types[f"of{number}"].get_size(), types[f"of{number}"].get_align()
        lines.append(f'static_assert(sizeof({name}) == {size} && alignof({name}) == {alignment}, "{name}");')
    return "\n".join(lines)


@pytest.mark.skipif(not has_cuda_headers(), reason="there is no NVRTC with CUDA's headers here")
def test_sizes_and_alignments_are_those_of_nvrtc() -> None:
    assert compile_error(layout_assertions()) == ""
    assert "float3" in compile_error('static_assert(sizeof(float3) == 16, "float3");')


@pytest.mark.gpu
def test_sizes_and_alignments_are_those_of_the_gpus_compiler() -> None:
    cupy = pytest.importorskip("cupy")
    cupy.RawModule(code=layout_assertions(), options=("-std=c++17",)).compile()


def test_the_saved_headers_are_used_and_a_damaged_file_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path))
    unit.stub_arguments.cache_clear()
    try:
        arguments = unit.stub_arguments()
        option, path = arguments[-2:]
        assert option == "-include-pch"
        Path(path).write_bytes(b"CPCH damaged")
        unit.stub_arguments.cache_clear()
        assert unit.stub_arguments() == arguments
        assert Path(path).stat().st_size > 100_000
        Path(path).unlink()  # by another version of gemmviz
        assert parse(SourceText("a.cu", {"a.cu": "__global__ void k(half* a) { a[0] = threadIdx.x; }"})).errors == ()
        assert sorted(each.name for each in (tmp_path / "cache").iterdir()) == [
            Path(path).with_suffix(".json").name,
            Path(path).name,
        ]
    finally:
        unit.stub_arguments.cache_clear()


def test_without_a_place_for_them_the_headers_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path / "file"))
    unit.stub_arguments.cache_clear()
    try:
        assert unit.stub_arguments()[-2:] == ("-include", str(ALL_STUBS))
        assert parse(SourceText("a.cu", {"a.cu": "__global__ void k(half* a) { a[0] = threadIdx.x; }"})).errors == ()
    finally:
        unit.stub_arguments.cache_clear()


def test_texts_of_the_headers_are_for_people() -> None:
    long = [
        f"{path.name}:{number}"
        for path in STUBS.rglob("*")
        if path.is_file()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 150
    ]
    assert long == []
    assert all(path.read_text(encoding="utf-8").startswith("//") for path in STUBS.rglob("*") if path.is_file())

"""Input that nobody meant ends in one line: what is wrong, where, and what to do; soon, and without a traceback."""

import io
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from gemmviz.cli.main import main
from gemmviz.model.messages import GemmvizError
from tests.conftest import sampled

BODY = 'extern "C" __global__ void k(const float* A, const float* B, float* C, int M, int N, int K) { C[0] = A[0]; }\n'
DOUBLING = "#define D0(x) x+x\n" + "".join(f"#define D{i}(x) D{i - 1}(x)+D{i - 1}(x)\n" for i in range(1, 40))
CALLS = "__device__ float f0(float x) { return x; }\n" + "".join(
    f"__device__ float f{i}(float x) {{ return f{i - 1}(x) + f{i - 1}(x); }}\n" for i in range(1, 31)
)


def header(grid: str = '["1"]', more: str = "") -> str:
    facts = {"entry": '"k"', "args": '["A", "B", "C", "M", "N", "K"]', "block": '["4"]', "grid": grid}
    return "// gemmviz = 1\n" + "".join(f"// {name} = {value}\n" for name, value in facts.items()) + more


ENDLESS = "may expand without end"
CASES = {
    "a formula of 600 terms": (header(f'["{"+".join("1" * 490)}"]') + BODY, ":5:13: ", "nested too deeply"),
    "a formula of 1,201 characters": (
        header(f'["{"1+" * 600}1"]') + BODY,
        ":5:13: ",
        "sentence: 1,201; at most 1,000 are read",
    ),
    "deep TOML": (f"// gemmviz = 1\n// x = {'[' * 4000}{']' * 4000}\n{BODY}", ":1:1: ", "nested too deeply"),
    "a line of a megabyte": (header() + f"// {'x' * 1_000_000}\n{BODY}", ":6:10001: ", "10,000 characters in a line"),
    "a file of 3 MB": (header() + "\n" * 3_000_000 + BODY, "odd.cu: ", "at most 2,097,152 are read"),
    "a title of 300 characters": (header(more=f'// title = "{"t" * 300}"\n') + BODY, ":6:13: ", "at most 255 are read"),
    "1,001 choices": (
        header(more=f"// [parameters.T]\n// default = 1\n// choices = [{', '.join(map(str, range(1, 1002)))}]\n") + BODY,
        ":8:4: ",
        "the choices of T: 1,001; at most 1,000 are read",
    ),
    "201 rules": (header(more='// [[require]]\n// that = "1"\n// else = ""\n' * 201) + BODY, ":6:6: ", "at most 200 are read"),
    "a default of 2⁶³ − 1": (
        header(more=f"// [parameters.T]\n// default = {2**63 - 1}\n") + BODY,
        ":7:4: ",
        "<= 2147483647",
    ),
    "pasting that doubles": (
        header()
        + "#define E0(x) x\n"
        + "".join(f"#define E{i}(x) E{i - 1}(x##x)\n" for i in range(1, 41))
        + BODY.replace("A[0]", "E40(a)"),
        ":2:4: ",
        ENDLESS,
    ),
    "pasting that doubles in #if": (
        header()
        + "#define E0(x) x\n"
        + "".join(f"#define E{i}(x) E{i - 1}(x##x)\n" for i in range(1, 41))
        + "#if E40(1)\n#endif\n"
        + BODY,
        ":2:4: ",
        ENDLESS,
    ),
    "a long name that is no type": (
        header() + f"typedef float {'x' * 9000}(\n" * 50 + BODY,
        ":56:1: ",
        "invalid storage class",
    ),
    "templates that are none": (
        header() + ("template <" * 900 + "\n") * 50 + BODY,
        ":2:4: ",
        "the parser crashed on this file",
    ),
    "a comment that doesn't end": (header() + ("/* " * 3000 + "\n") * 50 + BODY, ":6:1: ", "this comment is not closed"),
    "strings that don't end": (header() + ('"' + '\\"' * 4900 + "\n") * 50 + BODY, ":6:1: ", "can't be read"),
    "calls that don't end": (
        header() + "#define D(x) x\n#define E " + "D (" * 3000 + "\n" + "E E E\n" * 100 + BODY,
        ":8:1: ",
        "unterminated function-like macro invocation",
    ),
    "a local array of 10⁸ floats": (
        header() + BODY.replace("C[0]", "float a[100000000]; C[0]"),
        ":6:",
        "take 400,000,000 bytes; at most 524,288 are possible",
    ),
    "a local array of 2⁶⁰ floats": (header() + BODY.replace("C[0]", f"float a{'[2]' * 60}; C[0]"), ":6:", "is too large"),
    "a number of 5,000 hexadecimal digits": (header() + BODY.replace("A[0]", f"0x{'1' * 5000}"), ":6:", "too many digits"),
    "a size of 5,000 digits": (header(more=f"// problem = {{ M = {'9' * 5000} }}\n") + BODY, ":1:1: ", "too long"),
    "an index of 5,000 digits": (header() + BODY.replace("A[0]", f"A[{'9' * 5000}]"), ":6:", "too many digits"),
    "assert of nothing": (header() + BODY.replace("C[0]", "assert(); C[0]"), ":6:", "no assert takes these arguments"),
    "an array of 1e400 elements": (
        header() + BODY.replace("C[0]", "float b[1e400]; C[0]"),
        ":6:",
        "must be a whole number",
    ),
    "an array of 2**90 elements": (
        header() + BODY.replace("C[0]", "__shared__ int s[1 << 30][1 << 30][1 << 30]; C[0]"),
        ":6:",
        "is too large",
    ),
    "a shared array of 4 TB": (
        header() + BODY.replace("C[0]", "__shared__ int s[1 << 20][1 << 20]; C[0]"),
        "",
        "4398046511104 bytes of shared memory",
    ),
    "an index of 2**62": (
        header() + BODY.replace("C[0]", "C[1ll << 62]"),
        ":6:",
        "C[4611686018427387904] is out of range: it has",
    ),
    "an index of 2**64 - 1": (header() + BODY.replace("C[0]", "C[~0ull]"), ":6:", "C[-1] is out of range"),
    "indices beyond 2**63": (
        header() + BODY.replace("C[0]", "__shared__ float s[2][4]; s[(threadIdx.x + 1ll) << 62][0] = 1; C[0]"),
        ":6:",
        "s[more than 2^56] is out of range",
    ),
    "offsets beyond 2**64": (header() + BODY.replace("C[0]", "((float4*)C)[1ll << 62].x = 1; C[0]"), ":6:", "is out of range"),
    "a conversion operator": (
        header() + "operator float() { return 1; }\n" + BODY.replace("A[0]", "float(S())"),
        ":7:",
        "'S' is not declared",
    ),
    "a constant that needs itself": (
        header() + "const int a = b, b = a;\n" + BODY.replace("A[0]", "a"),
        ":7:",
        "a is a host variable",
    ),
    "a template argument too many": (
        header() + "template <int N> __device__ int f() { return N; }\n" + BODY.replace("A[0]", "f<1, 2>()"),
        ":7:",
        "no f takes these arguments",
    ),
    "macros that double": (header() + DOUBLING + BODY.replace("A[0]", "D39(1)"), ":2:4: ", ENDLESS),
    "functions that double": (header() + CALLS + BODY.replace("A[0]", "f30(1.0f)"), ":7:", "more than 4,000 inlined calls"),
}


TEMPLATE = BODY.replace('extern "C"', "namespace n { template <int T>").replace(" k(", " t(").rstrip() + " }\n"
ENTRIES = {
    "a::b<<": "is not the name of a kernel",
    "k::": "is not the name of a kernel",
    "n::t<1": "is not the name of a kernel",
    "operator int": "is not the name of a kernel",
    "S": "the file has no kernel S (kernels here: n::t, k)",
    "variable": "the file has no kernel variable",
    "W": "the file has no kernel W",
    "m::t<1>": "the file has no kernel m::t (did you mean n::t?)",
    "n::t": "the template n::t needs 1 argument (",
    "t<>": "the template n::t needs 1 argument (",
    "t<1, 2>": "the template n::t takes 1 argument, not 2",
    "t<float>": "the template n::t can't take <float> (it takes <int T>)",
    "t<x>": "'x' is not declared",
    "t<1.5>": "can't take <1.5> (it takes <int T>)",
    "t<1e400>": "can't take <1e400> (it takes <int T>)",
    "t<99999999999999999999>": "can't take <99999999999999999999> (it takes <int T>)",
    "t<(1>": "template arguments can't be read",
    "t<1;2>": "is not the name of a kernel",
    "t<1,>": "template arguments can't be read",
    "t<1 2>": "template arguments can't be read",
    "t<#>": "template arguments can't be read",
    "t<//>": "template arguments can't be read",
    "t</*>": "template arguments can't be read",
    "t<k>": "can't take <k> (it takes <int T>)",
    "k<1>": "k is not a template",
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_that_names_no_kernel(entry: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        header().replace('"k"', f'"{entry}"') + "struct S { float x; };\nfloat variable;\nconst int W = 3;\n" + TEMPLATE + BODY
    )
    (tmp_path / "odd.cu").write_text(text, encoding="utf-8")
    assert main(["counts", str(tmp_path / "odd.cu")]) == 1
    said = capsys.readouterr().err
    assert ENTRIES[entry] in said
    place = ":9:" if "needs 1" in said else ":10:" if entry == "k<1>" else ":2:4: "
    assert f"odd.cu{place}" in said


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e400"])
def test_an_int_is_given_a_whole_number(number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (header() + BODY).replace('"K"]', f'"{number}"]')
    (tmp_path / "odd.cu").write_text(text, encoding="utf-8")
    assert main(["counts", str(tmp_path / "odd.cu")]) == 1
    assert f"odd.cu:3:38: the parameter K is int; the header passes {number}" in capsys.readouterr().err


def test_a_file_whose_name_is_no_text_is_read_and_recorded(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xffmine.cu")
    try:
        path.write_text(header(more="// problem = { M = 1, N = 1, K = 1 }\n") + BODY.replace("A[0]", "A[0] * B[0]"))
    except OSError:
        pytest.skip("this system has no such names")
    assert main(["trace", str(path), "-o", str(tmp_path / "t.gvt")]) == 0
    assert main(["export", str(tmp_path / "t.gvt"), "-o", str(tmp_path / "t.svg")]) == 0


def test_an_error_says_no_more_than_one_can_read() -> None:
    assert len(str(GemmvizError("x" * 1_000_000))) < 1100


LAUNCHES = {
    "matrices of 16 GiB": (header(more="// problem = { M = 1, N = 1, K = 2147483647 }\n"), "A, B and C would take 16,383 MiB"),
    "a grid of 2³¹ blocks": (header('["2147483647"]'), "or name no blocks"),
    "a grid of 2⁶³ blocks": (header('["2147483647", "65535", "65535"]'), "or name no blocks"),
    "large arrays of many threads": (header('["100000"]'), "fit at once (trace fewer blocks)"),
}


@pytest.mark.parametrize(
    "case", [pytest.param(each, marks=[pytest.mark.nightly] * each.startswith("pasting")) for each in CASES]
)
def test_odd_kernels_are_refused_in_a_sentence(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, place, words = CASES[case]
    if words == ENDLESS:
        monkeypatch.setattr("gemmviz.cuda.program._MOST_SECONDS", 0.2)  # a test of the reader process waits for the 2 s
    (tmp_path / "odd.cu").write_text(text, encoding="utf-8")
    start = time.monotonic()
    assert main(["trace", str(tmp_path / "odd.cu"), "--on", "cpu", "-o", str(tmp_path / "t.gvt")]) in (1, 2)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert len(said) < 1000
    assert "internal error" not in said
    assert place in said
    assert words in said
    assert time.monotonic() - start < 30  # they would take for ever


def test_a_parameter_without_a_name_is_legal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (header(more="// problem = { M = 1, N = 1, K = 1 }\n") + BODY).replace("int K", "int").replace("A[0]", "A[0] * B[0]")
    (tmp_path / "odd.cu").write_text(text, encoding="utf-8")
    assert main(["trace", str(tmp_path / "odd.cu"), "--on", "cpu", "-o", str(tmp_path / "t.gvt")]) == 0
    text = text.replace("const float* A", "const float*")  # but the body uses it
    (tmp_path / "odd.cu").write_text(text, encoding="utf-8")
    assert main(["trace", str(tmp_path / "odd.cu"), "--on", "cpu", "-o", str(tmp_path / "t.gvt")]) == 1
    assert "'A' is not declared" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_an_output_that_is_full_is_said(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gemmviz", "kernels"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["gemmviz: can't write: No space left on device"]


def test_an_output_that_knows_few_letters_gets_what_it_can_take(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", output)
    assert main(["bench", "--recorded"]) == 0
    assert b"\\u2009" in output.buffer.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("words", [["trace"], ["export", "04_tiled", "--step", "x", "-o", "x.svg"], ["nothing", "--known"]])
def test_wrong_usage_is_one_line_too(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(words)
    except SystemExit as error:
        code = int(str(error.code))
    said = capsys.readouterr().err
    assert code == 2
    assert said.startswith("gemmviz: ")
    assert said.count("\n") == 1


def test_recorded_speeds_are_written_where_one_says(tmp_path: Path) -> None:
    assert main(["bench", "--recorded", "04_tiled", "-o", str(tmp_path / "b.json")]) == 0
    assert '"04_tiled"' in (tmp_path / "b.json").read_text(encoding="utf-8")


def test_settings_of_a_run_are_refused_for_a_chart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "04_tiled", "-m", "64", "--view", "tile_size", "-o", str(tmp_path / "x.svg")]) == 2
    assert "shows measurements, of all kernels and sizes" in capsys.readouterr().err
    assert main(["export", "04_tiled", "--view", "tile_size", "-o", str(tmp_path / "x.svg")]) == 0


ROW = "{1},\n"
ARRAYS = [
    "float a[2][1000000000] = {{1}, {2}};",
    "float a[][1000000000] = {{1}, {2}};",
    f"float a[][100000] = {{{ROW * 3000}}};",
    f"float a[][100] = {{{ROW * 9000}}};",
    "double a[3][100000000][2] = {{}, {}, {}};",
    "float a[1000000000] = {0};",
    "float a[1 << 20][1 << 20] = {};",
    "float4 a[1000000000] = {{1, 2, 3, 4}};",
    "char a[500000] = {0}; char b[500000] = {1};",
    "const bool a[5000000000] = {true};",
    "for (int i = 0; i < 3; ++i) { int a[2][1000000000] = {{i}}; }",
]


@pytest.mark.parametrize("declaration", sampled(ARRAYS, 3), ids=lambda each: each[:40])
def test_an_array_is_measured_before_it_is_filled(declaration: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "odd.cu").write_text(header() + BODY.replace("C[0]", f"{declaration} C[0]"), encoding="utf-8")
    tracemalloc.start()
    try:
        assert main(["counts", str(tmp_path / "odd.cu")]) == 1
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()
    assert "; at most 524,288 are possible" in capsys.readouterr().err


@pytest.mark.parametrize("case", LAUNCHES)
def test_what_has_no_room_is_refused_before_any_is_taken(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, words = LAUNCHES[case]
    text = head + BODY.replace("C[0]", "float a[100000]; a[1] = A[0]; C[0]")
    (tmp_path / "odd.cu").write_text(text, encoding="utf-8")
    tracemalloc.start()
    try:
        whole = ["trace", str(tmp_path / "odd.cu"), "--on", "cpu", "--blocks", "all", "-o", str(tmp_path / "t.gvt")]
        assert main(whole) == 2
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()
    assert words in capsys.readouterr().err


def test_more_blocks_than_can_be_counted_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "odd.cu").write_text(header('["2147483647", "65535", "65535"]') + BODY, encoding="utf-8")
    assert main(["counts", str(tmp_path / "odd.cu")]) == 2
    assert "are too many to be counted here" in capsys.readouterr().err

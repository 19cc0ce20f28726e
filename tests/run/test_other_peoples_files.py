"""Files and projects of other people: how their launches, headers and names on the command line are read."""

from pathlib import Path

import pytest

from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.resources import split_name
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.loader import open_kernel

BODY = """
  int r = blockIdx.y * BM + threadIdx.y, c = blockIdx.x * BN + threadIdx.x;
  if (r < M && c < N) { float s = 0; for (int k = 0; k < K; ++k) s += A[r * K + k] * B[k * N + c]; C[r * N + c] = s; } }
"""
ARGUMENTS = "const float* A, const float* B, float* C, int M, int N, int K"
KERNEL = f"template <int BM, int BN> __global__ void mm({ARGUMENTS}) {{{BODY}"
TYPED = KERNEL.replace("<int BM", "<typename T, int BM").replace("float", "T")
RUN = f"void run(int M, int N, int K, {ARGUMENTS.partition(', int')[0]})"
SHAPE = "<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);"
NAMED = f"const unsigned BM = 16, BN = 16; mm<BM, BN>{SHAPE.replace('15) / 16', 'BM - 1) / BM')}"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("files", "name", "given", "entry"),
    [
        ({"k.cu": f"{KERNEL}{RUN} {{ mm<16, 16> << <dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16) >> >(A, B, C, M, N, K); }}"},
         "k.cu", GivenLaunch(), "mm<16, 16>"),
        ({"k.cuh": KERNEL, "run.cu": f'#include "k.cuh"\n{RUN} {{ {NAMED} }}'}, "k.cuh", GivenLaunch("mm<16, 16>"), "mm<16, 16>"),
        ({"k.cu": f"{KERNEL}{RUN} {{ mm<16, 16>{SHAPE} }}\n__global__ void first(float* x) {{ x[0] = 1; }}"},
         "k.cu:mm", GivenLaunch(), "mm<16, 16>"),
        ({".git/HEAD": "", "src/Makefile": "NVCCFLAGS = -O3 -I../common/inc\n", "common/inc/deep/k.cuh": KERNEL,
          "src/run.cu": f"#include <deep/k.cuh>\n{RUN} {{ mm<16, 16>{SHAPE} }}"}, "src/run.cu", GivenLaunch(), "mm<16, 16>"),
        ({".git/HEAD": "", "CMakeLists.txt": "target_include_directories(x PRIVATE ${CMAKE_SOURCE_DIR}/lib)\n",
          "lib/deep/k.cuh": KERNEL, "app/CMakeLists.txt": "", "app/run.cu": f"#include <deep/k.cuh>\n{RUN} {{ mm<16, 16>{SHAPE} }}"},
         "app/run.cu", GivenLaunch(), "mm<16, 16>"),
        ({"k.cu": f"{TYPED}template <typename T> {RUN.replace('float', 'T')} {{ mm<T, 16, 16>{SHAPE} }}\n"
          "template void run<float>(int, int, int, const float*, const float*, float*);"}, "k.cu", GivenLaunch(),
         "mm<float, 16, 16>"),
        ({"k.cu": f"{TYPED.replace(', int BM, int BN', ', bool ADD = true').replace('BM', '16').replace('BN', '16')}"
          f"{RUN} {{ mm<float, true>{SHAPE} }}"}, "k.cu", GivenLaunch(), "mm<float, 1>"),
    ],
    ids=["spaced", "entry with numbers", "file and kernel", "makefile", "cmake", "explicit instantiation", "bool"],
)  # fmt: skip
def test_opens_with_a_launch_that_was_read(
    files: dict[str, str], name: str, given: GivenLaunch, entry: str, tmp_path: Path
) -> None:
    for each, text in files.items():
        path = tmp_path / "project" / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    kernel = open_kernel(str(tmp_path / "project" / name), given)
    assert (kernel.entry, kernel.launch_from, kernel.unconfirmed) == (entry, "read", "")
    assert trace_kernel(setup_for(kernel)).whole.check.passed


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("k.cu:mm", ("k.cu", "mm")),
        ("a/k.cu:ns::mm<16, 8>", ("a/k.cu", "ns::mm<16, 8>")),
        (r"C:\work\k.cu", (r"C:\work\k.cu", "")),
        (r"C:\work\k.cu:mm", (r"C:\work\k.cu", "mm")),
        ("04_tiled", ("04_tiled", "")),
        ("k.txt:mm", ("k.txt:mm", "")),
    ],
)
def test_a_kernel_is_named_behind_its_file(name: str, expected: tuple[str, str]) -> None:
    assert split_name(name) == expected

"""What compiling the real kernel includes: our own small headers for NVRTC, and the folders with CUDA's."""

from pathlib import Path

import pytest

from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.cuda.program import program_for
from gemmviz.cuda.twin.units import real_source
from gemmviz.run.cuda.toolkit import ALWAYS, HEADERS, include_folders
from gemmviz.run.loader import open_kernel
from tests.conftest import sampled, sure
from tests.corpus.test_habits import HABITS
from tests.nvrtc import nvrtc

OPTIONS = ("--gpu-architecture=sm_90", "--std=c++17", f"--pre-include={ALWAYS}")
needs_nvrtc = pytest.mark.skipif(nvrtc() is None, reason="needs the wheel nvidia-cuda-nvrtc")


@needs_nvrtc
@pytest.mark.parametrize(
    ("header", "statement"),
    sampled([
        ("float.h", "*p = FLT_MAX + DBL_EPSILON;"),
        ("cfloat", "*p = -FLT_MIN;"),
        ("limits.h", "static_assert(INT_MIN < 0 && LLONG_MAX > UINT_MAX && CHAR_BIT == 8);"),
        ("cstdint", "std::uint32_t a = UINT32_MAX; int64_t b = a; uintptr_t c = b; *p = c;"),
        ("cmath", "*p = std::sqrt(*p) + std::fabs(*p) + M_PI; if (std::isnan(*p)) *p = -INFINITY;"),
        ("limits", "constexpr float a = std::numeric_limits<float>::lowest(); *p = a + std::numeric_limits<int>::max();"),
        ("algorithm", "*p = std::max(*p, 0.0f);"),
        ("cassert", "assert(*p > 0);"),
    ]),
)  # fmt: skip
def test_every_header_gives_its_names(header: str, statement: str) -> None:
    text = f"#include <{header}>\n__global__ void kernel(float* p) {{ {statement} }}"
    sure(nvrtc()).compiled(text, OPTIONS, headers=HEADERS)


@needs_nvrtc
@pytest.mark.parametrize(
    ("file", "entry"), sampled([("chinese_comments.cu", "matMulShared"), ("softmax_rows.cu", "softmax_forward")])
)
def test_files_as_they_stand(file: str, entry: str) -> None:
    spec = open_kernel(str(HABITS / file), GivenLaunch(entry=entry))
    source = real_source(spec, program_for(spec, setup_for(spec).definitions), {})
    sure(nvrtc()).compiled(source.text, OPTIONS, headers=HEADERS | dict(source.headers))


def test_the_library_is_cupys_where_the_wheel_has_none(tmp_path: Path) -> None:
    cupy, wheel = tmp_path / "cupy", tmp_path / "nvidia" / "cu13" / "include"
    own = cupy / "_core" / "include" / "cupy" / "_cccl" / "libcudacxx"
    assert include_folders(cupy) == ()
    _touch(wheel / "cuda_fp16.h")
    assert include_folders(cupy) == (wheel,)
    _touch(own / "nv" / "target")
    assert include_folders(cupy) == (wheel, own)
    _touch(tmp_path / "nvidia" / "cuda_cccl" / "include" / "nv" / "target")
    assert include_folders(cupy) == (wheel, tmp_path / "nvidia" / "cuda_cccl" / "include")
    _touch(wheel / "cccl" / "nv" / "target")
    assert include_folders(cupy) == (wheel, wheel / "cccl")


def _touch(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.touch()

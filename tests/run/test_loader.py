from functools import cache
from pathlib import Path

import pytest

from gemmviz.cuda.launch.launch_form import GivenLaunch, header_text, launch_flags, launch_line
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import has_header, parse_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import SourceError, UsageError
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.loader import LaunchUnknown, open_kernel, opened
from gemmviz.run.project import kernel_files, project_of
from tests.conftest import sure

PLAIN = Path(__file__).parent.parent / "data" / "plain"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path / "home"))


@cache
def plain(name: str) -> KernelSpec:
    """The kernel of a plain file."""
    return open_kernel(str(PLAIN / name))


def is_right(kernel: KernelSpec, **sizes: int) -> bool:
    trace = sure(trace_kernel(setup_for(kernel).changed(**sizes)).trace)
    return trace.check.passed and trace.is_whole


@pytest.mark.parametrize(
    ("name", "origin", "args", "sizes", "line"),
    [
        ("student.cu", "read", ("A", "B", "C", "N"), {"M": 32, "N": 32, "K": 32}, "a is A, b is B, c is C, n is N; BLOCK_SIZE × BLOCK_SIZE threads (BLOCK_SIZE = 16); grid (N / BLOCK_SIZE) × (N / BLOCK_SIZE)"),
        ("size_is_a_macro.cu", "read", ("A", "B", "C"), {"M": 64, "N": 64, "K": 64}, "A, B, C as named; TILE × TILE threads (TILE = 32)"),
        ("launched_nowhere.cu", "guessed", ("A", "B", "C", "M", "N", "K"), {"M": 32, "N": 32, "K": 32}, "X is A, W is B, Y is C, rows is M"),
        ("project/src/worklog.cuh", "read", ("M", "N", "K", "1", "A", "B", "0", "C"), {"M": 64, "N": 64, "K": 16}, "grid ceil_div(N, BN) × ceil_div(M, BM)"),
        pytest.param("project/runner.cu", "read", ("M", "N", "K", "1", "A", "B", "0", "C"), {"M": 64, "N": 64, "K": 16}, "BM * BN", marks=pytest.mark.nightly),
    ],
)  # fmt: skip
def test_a_plain_file_opens_with_a_right_result(
    name: str, origin: str, args: tuple[str, ...], sizes: dict[str, int], line: str
) -> None:
    kernel = plain(name)
    assert (kernel.launch_from, kernel.args, kernel.problem.sizes) == (origin, args, sizes)
    assert line in launch_line(kernel)
    assert is_right(kernel)


def test_tile_sizes_of_the_text_are_parameters_that_beat_it() -> None:
    kernel = plain("student.cu")
    assert kernel.defaults == {"BLOCK_SIZE": 16}
    assert is_right(kernel, BLOCK_SIZE=8)
    assert sure(trace_kernel(setup_for(kernel).changed(BLOCK_SIZE=8)).trace).launch.block == (8, 8, 1)


def test_a_size_that_is_a_macro_follows_the_problem() -> None:
    kernel = plain("size_is_a_macro.cu")
    assert kernel.size_macros == (("N", "N"),)
    assert is_right(kernel, M=32, N=32, K=32)


def test_layouts_and_row_lengths_are_found() -> None:
    kernel = plain("two_kernels.cu")
    assert kernel.function == "by_columns"
    assert kernel.column_major == frozenset("ABC")
    assert is_right(kernel, M=20, N=12, K=7)


def test_a_kernel_of_the_file_is_chosen_by_name_and_need_not_multiply() -> None:
    read = opened(str(PLAIN / "two_kernels.cu"), GivenLaunch(entry="transpose"))
    assert read.names == ("fill", "by_columns", "transpose")
    assert read.kernel.problem.kind.name == "transpose"
    assert is_right(read.kernel)
    with pytest.raises(UsageError, match="no kernel trans"):
        open_kernel(str(PLAIN / "two_kernels.cu"), GivenLaunch(entry="trans"))


def test_a_wrong_kernel_opens_and_is_said_to_be_wrong() -> None:
    kernel = plain("wrong.cu")
    assert kernel.launch_from == "unsure"
    assert kernel.args == ("A", "B", "C", "N")
    assert not is_right(kernel)


def test_a_header_says_the_same_as_the_launch_that_was_read() -> None:
    kernel = plain("size_is_a_macro.cu")
    text = header_text(kernel) + kernel.text
    again = parse_kernel(text, kernel.file)
    same = "entry", "args", "block", "grid", "parameters", "problem", "size_macros", "requirements", "column_major"
    assert {name: getattr(again, name) for name in same if name not in ("block", "grid")} == {
        name: getattr(kernel, name) for name in same if name not in ("block", "grid")
    }
    assert is_right(again)


def test_given_parts_take_precedence_over_the_file_and_its_header(tmp_path: Path) -> None:
    given = GivenLaunch(args=("n=N",), block=("8", "8"), grid=("ceil_div(N, 8)", "ceil_div(M, 8)"))
    kernel = open_kernel(str(PLAIN / "wrong.cu"), GivenLaunch(block=given.block, grid=given.grid))
    assert (kernel.block, kernel.launch_from) == (("8", "8"), "given")
    with_header = tmp_path / "h.cu"
    with_header.write_text(header_text(kernel) + kernel.text)
    assert open_kernel(str(with_header), GivenLaunch(grid=("3",))).grid == ("3",)
    with pytest.raises(UsageError, match="no parameter n"):
        open_kernel(str(PLAIN / "wrong.cu"), given)


def test_what_can_not_be_found_is_asked_with_the_flags(tmp_path: Path) -> None:
    odd = tmp_path / "odd.cu"
    odd.write_text("__global__ void odd(float* p, float* q, float* r, int n) { r[0] = p[0] - 3 * q[1]; }")
    with pytest.raises(LaunchUnknown, match=r"launched nowhere .*--entry, --args, --block, --grid and --shared") as caught:
        open_kernel(str(odd))
    form = caught.value.form
    assert [field.label for field in form.parameters] == ["p", "q", "r", "n"]
    assert form.parameters[0].candidates == ("A", "B", "C")


@pytest.mark.parametrize(("text", "words"), [("int main() {}", "has no kernel"), ("", "has no kernel")])
def test_a_file_without_a_kernel_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.cu").write_text(text)
    with pytest.raises(SourceError, match=words):
        open_kernel(str(tmp_path / "a.cu"))


def test_comments_in_another_encoding_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    text = (PLAIN / "student.cu").read_text().replace("square matrices", "矩阵乘法")
    path = tmp_path / "gbk.cu"
    path.write_bytes(text.replace("\n", "\r\n").encode("gb18030"))
    kernel = open_kernel(str(path))
    assert "矩阵乘法" in kernel.text
    assert is_right(kernel)


def test_what_was_found_is_tried_first_the_next_time(tmp_path: Path) -> None:
    kernel = open_kernel(str(PLAIN / "student.cu"))
    remembered = tmp_path / "home" / "cache" / "roles.json"
    assert "multiply" in remembered.read_text()
    remembered.write_text("{")
    assert open_kernel(str(PLAIN / "student.cu")) == kernel


def test_includes_are_read_below_the_project_alone(tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text("int secret;")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "Makefile").write_text("")
    (folder / "in.h").write_text("int inside;")
    (folder / "link.h").symlink_to(tmp_path / "secret.h")
    (folder / "k.cu").write_text('#include "in.h"\n#include "../secret.h"\n#include "link.h"\n#include "/etc/passwd"\n')
    assert set(project_of(folder / "k.cu").texts) == {"k.cu", "in.h"}


_LAUNCH = "void run(float* a, float* b, float* c, int n) { mm<<<dim3(n / 8, n / 8), dim3(8, 8)>>>(a, b, c, n); }"
_BODY = """(float* A, float* B, float* C, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += A[row * n + k] * B[k * n + col];
  if (row < n && col < n) C[row * n + col] = sum;
}
"""


@pytest.mark.parametrize(
    ("head", "origin"),
    [
        ('#include "mm.cu"', "read"),
        ("__global__ void mm(float* A, float* B, float* C, int n);", "read"),
        (f"__global__ void mm{_BODY}", "guessed"),
    ],
)
def test_a_launch_in_another_file_is_of_this_kernel(tmp_path: Path, head: str, origin: str) -> None:
    """A file that defines a kernel of the same name launches its own."""
    (tmp_path / "Makefile").write_text("")
    (tmp_path / "mm.cu").write_text(f"__global__ void mm{_BODY}")
    (tmp_path / "main.cu").write_text(f"{head}\n{_LAUNCH}")
    assert open_kernel(str(tmp_path / "mm.cu")).launch_from == origin


def test_given_parts_choose_among_the_kinds_of_problems() -> None:
    wrong = plain("wrong.cu")
    given = GivenLaunch(wrong.entry, wrong.args, wrong.block, wrong.grid)
    again = open_kernel(wrong.file, given)  # N is no size of a vector addition, which has three arrays too
    assert (again.args, again.problem, again.launch_from) == (wrong.args, wrong.problem, "given")


def test_files_with_kernels_of_a_folder_are_listed() -> None:
    names = [path.relative_to(PLAIN).as_posix() for path in kernel_files(PLAIN)]
    assert names == sorted(names)
    assert {"student.cu", "project/src/worklog.cuh"} <= set(names)
    assert "project/runner.cu" not in names


def test_flags_describe_the_launch_completely() -> None:
    kernel = plain("two_kernels.cu")
    flags = dict(zip(launch_flags(kernel)[::2], launch_flags(kernel)[1::2], strict=True))
    given = GivenLaunch(
        flags["--entry"],
        tuple(flags["--args"].split(",")),
        kernel.block,
        kernel.grid,
        "",
        frozenset(flags["--column-major"].split(",")),
    )
    again = open_kernel(str(PLAIN / "two_kernels.cu"), given)
    assert (again.args, again.block, again.grid, again.column_major) == (
        kernel.args,
        kernel.block,
        kernel.grid,
        kernel.column_major,
    )


def test_headers_are_told_from_comments() -> None:
    assert not has_header((PLAIN / "student.cu").read_text())

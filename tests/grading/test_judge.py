"""What is judged, and what is said, beyond the planted mistakes."""

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.shots.shot import Shot
from gemmviz.teaching.exercises import judged as judged_exercise
from gemmviz.teaching.grading.judge import CheckState, _seed
from gemmviz.teaching.grading.task import HandIn, Task
from gemmviz.teaching.grading.task_file import exercise_task, parse_task
from gemmviz.teaching.lesson import answers_of
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.conftest import ENGINE, sure
from tests.grading.judging import failed, judged_text, task_for
from tests.grading.planted import FAULTS, base_text, changed

_HEAD = 'format = "gemmviz task"\nversion = 1\ntitle = "T"\n'


def _kernel_alone(kernel: str) -> str:
    text = base_text(kernel)
    return text[: text.index("int main")]


def test_a_race_that_larger_tiles_alone_show() -> None:
    text = changed("tiled", (("__syncthreads();", "__syncwarp();"),))
    small = parse_task(f"{_HEAD}[[size]]\nproblem = {{ M = 9, N = 7, K = 10 }}\nparameters = {{ TILE_WIDTH = 4 }}", "t.toml")
    both = parse_task(
        f"{_HEAD}[[size]]\nproblem = {{ M = 9, N = 7, K = 10 }}\nparameters = {{ TILE_WIDTH = 4 }}\n"
        "[[size]]\nproblem = { M = 19, N = 17, K = 20 }\nparameters = { TILE_WIDTH = 8 }",
        "t.toml",
    )
    assert judged_text(text, small).grade.has_passed
    check = failed(judged_text(text, both))["hazards"]
    assert check.size == "M = 19, N = 17, K = 20, TILE_WIDTH = 8"


def test_a_kernel_without_host_code_has_the_launch_of_the_task() -> None:
    task = task_for("flat")
    text = _kernel_alone("flat")
    given = GivenLaunch(block=("256",), grid=("ceil_div(N, 32)", "ceil_div(M, 8)"), args=task.launch.args, kind="multiply")
    assert judged_text(text, structs.replace(task, launch=given)).grade.has_passed
    unknown = judged_text(text.replace("tmp +=", "tmp ="), task)
    assert "no usual launch" in failed(unknown)["host"].output
    assert {each.status for each in unknown.grade.checks if each.id not in ("host", "parses")} == {"unjudged"}


def test_without_a_launch_the_first_fault_is_named() -> None:
    wrong = _kernel_alone("naive").replace("k < K", "k <= K")
    output = failed(judged_text(wrong, task_for("naive")))["host"].output
    assert "no usual launch gives a right result; with block (16, 16), line " in output
    assert "out of range" in output


def test_without_a_launch_a_limit_of_the_interpreter_is_no_mistake() -> None:
    text = (
        "__global__ void matmul(float* A, float* B, float* C, int M, int N, int K) { if (K == 0) goto end; C[0] = 0; end: ; }"
    )
    grade = judged_text(text, task_for("naive")).grade
    assert failed(judged_text(text, task_for("naive"))) == {}
    assert all("a person has to look at it" in each.output for each in grade.checks if each.status == "unjudged")


def test_other_parameters_than_the_task_gives() -> None:
    text = "__global__ void matmul(float* A, float* B, float* C) { C[0] = A[0] * B[0]; }"
    output = failed(judged_text(text, task_for("naive")))["host"].output
    assert output.startswith("matmul has 3 parameters, A, B, C; the task wants 6 (write them in the order A, B, C, M, N, K)")


def test_a_task_launches_with_a_name_that_the_hand_in_lacks() -> None:
    task = parse_task(f"{_HEAD}[kernel]\nblock = ['TILE', 'TILE']\ngrid = ['ceil_div(N, TILE)', 'ceil_div(M, TILE)']", "t.toml")
    output = failed(judged_text(_kernel_alone("naive"), task))["host"].output
    assert output.startswith("the task launches the kernel with TILE, which the file doesn't define (define TILE as")


_TRANSPOSE = """#define TILE 32
#define ROWS 8
__global__ void transpose(float* out, const float* in, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x; y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}"""
_SUM = """__global__ void reduce(const float* in, float* out, int n) {
  __shared__ float s[256]; int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0; __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
  if (t == 0) atomicAdd(out, s[0]);
}
void sum(const float* in, float* out, int n) { cudaMemset(out, 0, 4); reduce<<<(n + 255) / 256, 256>>>(in, out, n); }"""


def _task_of(problem: str) -> Task:
    return parse_task(f"{_HEAD}[kernel]\nproblem = '{problem}'", "t.toml")


_STRUCTS = """template <typename T> struct Matrix { int width, height, stride; T* elements; };
template <typename T, int BS> __global__ void product(const Matrix<T> A, const Matrix<T> B, Matrix<T> C) {
  __shared__ T a[BS][BS], b[BS][BS];
  int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * BS + y, c = blockIdx.x * BS + x; T v = 0;
  for (int m = 0; m < (A.width + BS - 1) / BS; ++m) {
    a[y][x] = r < A.height && m * BS + x < A.width ? A.elements[r * A.stride + m * BS + x] : T(0);
    b[y][x] = m * BS + y < B.height && c < B.width ? B.elements[(m * BS + y) * B.stride + c] : T(0);
    __syncthreads();
    for (int e = 0; e < BS; ++e) v += a[y][e] * b[e][x];
    __syncthreads();
  }
  if (r < C.height && c < C.width) C.elements[r * C.stride + c] = v;
}
void run(float* da, float* db, float* dc, int m, int n, int k) {
  Matrix<float> A{k, m, k, da}, B{n, k, n, db}, C{n, m, n, dc};
  product<float, 16><<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(A, B, C);
}"""


def test_structs_whose_members_a_template_decides() -> None:
    task = _task_of("multiply")
    assert judged_text(_STRUCTS, task).grade.has_passed
    check = failed(judged_text(_STRUCTS.replace("    __syncthreads();\n    for", "    for"), task))["hazards"]
    assert (check.finding, sure(check.gap).line) == ("read-after-write", 7)


def test_a_block_with_fewer_rows_than_its_tile_is_found() -> None:
    grade = judged_text(_TRANSPOSE, _task_of("transpose")).grade
    assert grade.notes[0].startswith("The launch is assumed: block (32, 8)")
    assert grade.has_passed


def test_default_sizes_tell_rows_from_columns() -> None:
    text = """__global__ void transpose(const float* in, float* out, int rows, int cols) {
      int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
      if (r < rows && c < cols) out[c * LD + r] = in[r * cols + c];
    }"""
    assert judged_text(text.replace("LD", "rows"), _task_of("transpose")).grade.has_passed
    assert not judged_text(text.replace("LD", "cols"), _task_of("transpose")).grade.has_passed


def test_default_lengths_need_several_blocks() -> None:
    sum_of_parts = _SUM.replace("atomicAdd(out, s[0])", "out[blockIdx.x] = s[0]").replace("cudaMemset(out, 0, 4); ", "")
    for text in (_SUM, sum_of_parts):
        assert judged_text(text, _task_of("reduction")).grade.has_passed
    race = judged_text(_SUM.replace("atomicAdd(out, s[0])", "out[0] += s[0]"), _task_of("reduction"))
    assert "hazards" in failed(race)
    one = judged_text(_SUM.replace("(n + 255) / 256, 256", "1, 256"), _task_of("reduction"))
    assert failed(one)["result"].finding == "wrong"


def test_a_header_has_the_launch_if_the_task_gives_none() -> None:
    task, text = task_for("naive"), load_kernel("04_tiled").text
    judged = judged_text(text, structs.replace(task, launch=structs.replace(task.launch, entry="")))
    assert [each.output for each in failed(judged).values()] == ["threads per block: 16, required: at least 64"]
    launch = structs.replace(task.launch, entry="", block=("8", "8"), grid=("ceil_div(N, 8)", "ceil_div(M, 8)"))
    assert "guards" in failed(judged_text(text, structs.replace(task, launch=launch)))  # its tiles are 4 wide


def test_a_launch_that_can_not_be_read_accuses_nobody() -> None:
    unread = (("dim3 blocks((N + threads.x - 1) / threads.x, (M + threads.y - 1) / threads.y)", "dim3 blocks = chosen(M, N)"),)
    declared = "dim3 chosen(int, int);\n"
    text = declared + changed("naive", (*unread, ("A[row * K + k]", "A[k * M + row]")))
    checks = judged_text(text, task_for("naive")).grade.checks
    assert [each.id for each in checks if each.status == "passed"] == []
    assert not any(each.status == "failed" for each in checks)
    assert all("launch not confirmed: " in each.output for each in checks)
    assert judged_text(declared + changed("naive", unread), task_for("naive")).grade.has_passed


def test_a_usual_launch_is_assumed_and_said_so() -> None:
    grade = judged_text(_kernel_alone("naive"), task_for("naive")).grade
    assert grade.has_passed
    assert grade.notes[0].startswith("The launch is assumed: block (16, 16)")


def test_arrays_that_are_exchanged_are_wrong() -> None:
    """Of roles that are found by trying, only those are taken that the names allow."""
    text = base_text("naive").replace("A[row * K + k] * B[k * N + col]", "B[row * K + k] * A[k * N + col]")
    task = parse_task(f"{_HEAD}[[size]]\nproblem = {{ M = 8, N = 8, K = 8 }}", "t.toml")
    assert failed(judged_text(text, task))["result"].finding == "wrong"


def test_square_kernels_are_judged_at_square_sizes_unless_the_task_gives_others() -> None:
    text = """__global__ void mm(const float* a, const float* b, float* c, int n) {
      int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n || j >= n) return;
      float s = 0;
      for (int k = 0; k < n; ++k) s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
    void run(float* a, float* b, float* c, int n) { mm<<<dim3((n + 7) / 8, (n + 7) / 8), dim3(8, 8)>>>(a, b, c, n); }"""
    assert judged_text(text, parse_task(_HEAD, "t.toml")).grade.has_passed
    task = parse_task(f"{_HEAD}[[size]]\nproblem = {{ M = 8, N = 4, K = 8 }}", "t.toml")
    assert "one number for" in failed(judged_text(text, task))["result"].output


def test_a_launch_in_another_file_of_the_hand_in() -> None:
    text = base_text("naive")
    kernel, main = text[: text.index("int main")], text[text.index("int main") :]
    declared = "__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K);\n"
    host = f"#include <cstdio>\n#include <cstdlib>\n{declared}{main}"
    assert judged_text(kernel, task_for("naive"), host=host).grade.has_passed
    wrong = host.replace("(N + threads.x - 1) / threads.x", "(N + threads.x - 1) / threads.x - 1")
    assert "host" in failed(judged_text(kernel, task_for("naive"), host=wrong))


def test_what_the_interpreter_cannot_run_is_left_to_a_person() -> None:
    text = base_text("naive").replace("C[row * N + col] = sum;", "again: if (sum < 0) goto again; C[row * N + col] = sum;")
    grade = judged_text(text, task_for("naive")).grade
    assert not failed(judged_text(text, task_for("naive")))
    assert not grade.has_passed
    assert "unsupported" in grade.findings


def test_a_header_that_was_not_handed_in_is_named() -> None:
    text = '#include "/etc/passwd"\n#include "mine.h"\n' + base_text("naive")
    grade = judged_text(text, task_for("naive")).grade
    assert grade.has_passed
    assert grade.notes == ("Headers that were not handed in: /etc/passwd, mine.h.",)
    assert "mine.h" in failed(judged_text(text.replace("int row", "row_t row"), task_for("naive")))["parses"].output


def test_files_beside_the_task_can_be_included(tmp_path: object) -> None:
    task = structs.replace(task_for("naive"), files=(("mine.h", "typedef int row_t;\n"),))
    text = '#include "mine.h"\n' + base_text("naive").replace("int row", "row_t row")
    assert judged_text(text, task).grade.has_passed


@pytest.mark.parametrize(
    ("changes", "line"), [((("row < M && col < N", "row < M"),), 13), ((("C[row * N + col] = sum", "C[0] = sum"),), 15)]
)
def test_the_replay_is_at_the_step_that_failed(changes: tuple[tuple[str, str], ...], line: int) -> None:
    judged = judged_text(changed("naive", changes), task_for("naive"))
    check = next(each for each in judged.grade.checks if each.status == "failed" and each.replay >= 0)
    shot, run = judged.replays[check.replay]
    trace = run.facts.replay.trace
    assert trace.site_of(shot.at.step).place.line == line
    assert check.line == line


@pytest.mark.parametrize(("name", "line"), [("A is read by every thread", 24), ("A by columns into the tile", 15)])
def test_the_replay_of_a_count_is_at_the_access_that_costs_most(name: str, line: int) -> None:
    fault = next(each for each in FAULTS["tiled"] if each.name == name)
    judged = judged_text(changed("tiled", fault.changes), task_for("tiled"))
    shot, run = judged.replays[failed(judged)[fault.check].replay]
    trace = run.facts.replay.trace
    assert trace.site_of(shot.at.step).place.line == line


# Exercises


def _filled(lesson: str, id: str, key: str) -> tuple[Shot, Task, str]:
    found = shipped_lesson(lesson)
    step = found.steps[sure(found.find(id))]
    return step.shot, exercise_task(lesson, id), step.shot.setup.kernel.filled(answers_of(key)).text


_BLANKS, _BARRIERS = ("slides", "writing", "blanks"), ("shared-memory", "exercise-barriers", "barriers")
_RIGHT, _MISTAKES = ("", ""), (("__syncthreads();", "__syncwarp();"), ("__syncthreads();", ""), ("blockIdx.y", "blockIdx.x"))


@pytest.mark.parametrize(
    ("lesson", "id", "key", "changes"),
    [
        (*_BLANKS, (_RIGHT, _MISTAKES[2])),
        (*_BARRIERS, (_RIGHT, _MISTAKES[0])),
        *(pytest.param(*each, _MISTAKES, marks=pytest.mark.nightly) for each in (_BLANKS, _BARRIERS)),
    ],
)
def test_an_exercise_and_a_hand_in_are_judged_alike(
    lesson: str, id: str, key: str, changes: tuple[tuple[str, str], ...]
) -> None:
    shot, task, text = _filled(lesson, id, key)
    exercise = sure(shipped_lesson(lesson).steps[sure(shipped_lesson(lesson).find(id))].exercise)
    for old, new in changes:
        changed_text = text.replace(old, new) if old else text
        own = structs.replace(
            shot,
            setup=structs.replace(shot.setup, kernel=structs.replace(shot.setup.kernel, text=changed_text, is_shipped=False)),
        )
        in_window = judged_exercise(exercise, own, ENGINE)
        assert judged_text(changed_text, task).grade.has_passed == in_window.passed, (old, new)


def test_an_exercise_without_blanks_takes_any_kernel() -> None:
    task = exercise_task("coalescing", "exercise-coalesce")
    assert judged_text(base_text("naive").replace("threads(16, 16)", "threads(32, 8)"), task).grade.has_passed
    by_rows = changed(
        "naive",
        (
            ("blockIdx.y * blockDim.y + threadIdx.y", "blockIdx.x * blockDim.x + threadIdx.x"),
            ("int col = blockIdx.x * blockDim.x + threadIdx.x", "int col = blockIdx.y * blockDim.y + threadIdx.y"),
        ),
    )
    assert "criterion-2" in failed(judged_text(by_rows, task))


def test_blanks_that_are_left_are_named() -> None:
    shot, task, _ = _filled("slides", "writing", "blanks")
    check = failed(judged_text(shot.setup.kernel.text, task))["parses"]
    assert check.output.startswith("8 of the blanks are empty")


def test_inputs_are_the_same_for_a_hand_in_and_differ_between_two() -> None:
    task = task_for("naive")
    one, again, other = (HandIn("a", "A", {"a.cu": text}) for text in ("x", "x", "y"))
    assert _seed(one, task) == _seed(again, task) != _seed(other, task)


def test_what_is_always_judged_passes_only_if_it_is_known_at_all_sizes() -> None:
    check = next(each for each in task_for("naive").checks if each.is_always_judged and each.id not in ("parses", "host"))
    assert CheckState(check, is_met=True).result().status == "passed"
    assert CheckState(check, is_met=True, unjudged="at 9, it is unknown").result().status == "unjudged"
    failing = CheckState(check, is_met=True)
    failing.fail("wrong", "it is wrong")
    assert (failing.result().status, failing.result().score) == ("failed", 0.0)

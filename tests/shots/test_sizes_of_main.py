"""Questions about a whole launch are answered for the sizes that main() passes, while the picture stays small."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.cases import SpeedCase
from gemmviz.model.device import OccupancyCase
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.timing import GridCase
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import CannotAnswer, CountRequest, EngineRequest
from gemmviz.run.loader import open_kernel
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Button, Hit
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.kinds.counted import _click_why
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import value_of
from tests.legible import texts_of

KERNEL = """
#define BLOCK 16
__global__ void matmul(const float *A, const float *B, float *C, int n) {
    int row = blockIdx.x * BLOCK + threadIdx.x, col = blockIdx.y * BLOCK + threadIdx.y;
    if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
        C[row * n + col] = sum;
    }
}
int main(int argc, char **argv) {
    int n = SIZE;
    size_t bytes = n * n * sizeof(float);
    float *A, *B, *C;
    cudaMalloc(&A, bytes); cudaMalloc(&B, bytes); cudaMalloc(&C, bytes);
    matmul<<<dim3((n + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK), dim3(BLOCK, BLOCK)>>>(A, B, C, n);
}
"""


def opened(folder: Path, size: str = "512") -> Setup:
    file = folder / "homework.cu"
    file.write_text(KERNEL.replace("SIZE", size))
    return setup_for(open_kernel(str(file)))


def known(setup: Setup, view: str = "why", engine: Interpreter | None = None) -> Knowledge:
    return Knowledge(Shot(setup, view=view), engine or Interpreter())


def words(value: Any, view: str) -> str:
    scene = view_named(view).still(value, ViewOptions())
    return " ".join(each[1] for each in texts_of(scene)).replace("\u202f", "").replace("\u2009", "")


def test_a_file_is_drawn_small_and_answered_at_its_own_size(tmp_path: Path) -> None:
    setup = opened(tmp_path)
    assert max(setup.problem.sizes.values()) <= 64
    assert setup.as_launched.problem == Problem(512, 512, 512)
    counts = known(structs.replace(setup, problem=Problem(512, 512, 512))).counts
    case = value_of(SpeedCase, known(setup))
    assert case.problem == Problem(512, 512, 512)
    assert next(each.size_bytes for each in case.traffic) == counts.total("global").bytes_asked
    assert "512 × 512 × 512, as main() launches it" in words(case, "why")
    assert "SMs without work" not in words(case, "why")


def test_occupancy_and_schedule_say_whose_sizes_they_are(tmp_path: Path) -> None:
    setup = opened(tmp_path)
    for kind, view in ((OccupancyCase, "occupancy"), (GridCase, "grid")):
        assert "512 × 512 × 512, as main() launches it" in words(value_of(kind, known(setup, view)), view), view
    assert value_of(GridCase, known(setup, "grid")).schedule.blocks == 32 * 32


def test_sizes_that_were_chosen_are_answered(tmp_path: Path) -> None:
    setup = opened(tmp_path).changed(M=96, N=96, K=96)
    assert setup.as_launched is setup
    case = value_of(SpeedCase, known(setup))
    assert case.problem == Problem(96, 96, 96)
    assert "main()" not in words(case, "why")


def test_a_tile_that_was_chosen_is_answered_at_the_size_of_main(tmp_path: Path) -> None:
    setup = opened(tmp_path).changed(BLOCK=8)
    case = value_of(GridCase, known(setup, "grid"))
    assert case.schedule.blocks == 64 * 64


def test_a_size_from_the_command_line_is_unknown(tmp_path: Path) -> None:
    setup = opened(tmp_path, "atoi(argv[1])")
    assert setup.kernel.host_sizes == ()
    assert setup.as_launched is setup


class _Refusing(Interpreter):
    """An interpreter that can't count large launches, or is stopped while it does."""

    def answer(self, request: EngineRequest) -> Any:
        if isinstance(request, CountRequest) and request.setup.problem.sizes["M"] > 64:
            raise CannotAnswer("too large")
        return super().answer(request)


def test_what_cannot_be_counted_is_answered_for_the_picture(tmp_path: Path) -> None:
    setup = opened(tmp_path)
    case = value_of(SpeedCase, known(setup, engine=_Refusing()))
    assert case.problem == setup.problem
    assert "not 512 × 512 × 512 as main() launches it: too large" in case.what
    assert case.causes


def test_counting_ends_after_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.shots.knowledge._MOST_COUNTING_S", 0)
    case = value_of(SpeedCase, known(opened(tmp_path)))
    assert "counting takes longer than 0 s" in case.what
    assert case.causes


def test_a_cure_leaves_the_picture_small() -> None:
    kernel = load_kernel("02_naive")
    setup = setup_for(structs.replace(kernel, host_sizes=(("M", 512), ("N", 512), ("K", 512))))
    case = value_of(SpeedCase, known(setup))
    place = next(number for number, each in enumerate(case.causes) if each.cure is not None)
    scene = view_named("why").still(case, ViewOptions())
    cells = next(each for each in scene.primitives if getattr(each, "meaning", None) == Button("cure", place))
    cured = _click_why(case, Shot(setup, view="why"), Hit(cells, 0, 0))  # type: ignore[arg-type]
    assert cured is not None
    assert cured.setup.problem == setup.problem != case.problem


def test_commands_count_what_main_launches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = opened(tmp_path).kernel.file
    main(["counts", file])
    assert "512 x 512 x 512 as main() launches it, all 1024 blocks" in capsys.readouterr().out
    main(["counts", file, "-n", "32"])
    assert "main()" not in capsys.readouterr().out
    main(["occupancy", file])
    assert "512 x 512 x 512 as main() launches it" in capsys.readouterr().out

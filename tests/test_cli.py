import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pptx
import pytest
from msgspec import structs
from PIL import Image

import gemmviz
from gemmviz.analysis.replay.focus import Focus, Position
from gemmviz.cli.main import _with_command, commands, main
from gemmviz.cli.running import ProgressBar
from gemmviz.cuda.launch.catalog import all_kernel_names, kernel_names, lesson_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.trace_file import read_trace
from gemmviz.model.messages import DeviceError, GemmvizError
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Filling
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.engine import Engine, Recording
from gemmviz.run.protocol import TIMEOUT_S
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.shots.arguments import command_words
from gemmviz.shots.shot import Against, Shot, default_shot, save_view
from gemmviz.teaching.captions import caption_of
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.conftest import DATA, kernel_from, sampled, sure

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.usefixtures("without_fonts")


def test_kernels_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [kernel["name"] for kernel in facts][:4] == ["01_single_block", "02_naive", "03_coalesced", "04_tiled"]
    assert facts[3]["parameters"][0]["choices"] == [2, 4, 8, 16, 32, 64]


def test_trace_info_and_render(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "t.gvt")
    flags = "-m 8 -n 16 -k 12 -D TILE_WIDTH=4 --blocks 1:3,0:2 --values"
    assert main(["trace", "04_tiled", *flags.split(), "-o", path]) == 0
    assert "4 of 8 blocks" in capsys.readouterr().out
    assert main(["info", path, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["trace"]["setup"]["problem"] == {"M": 8, "N": 16, "K": 12}
    assert facts["arrays"]["value"]["shape"] == facts["arrays"]["element"]["shape"]
    for name in ("f.svg", "f.png"):
        assert main(["export", path, "--step", "5", "--block", "2,1", "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 1000
    assert main(["export", path, "--block", "0,0", "-o", str(tmp_path / "f.svg")]) == 2


def test_render_shows_whom_what_and_when(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def frame(*options: str) -> str:
        path = tmp_path / "frame.svg"
        assert main(["export", "04_tiled", "-o", str(path), *options]) == 0
        return path.read_text()

    assert "Thread (1, 1) fetches" in frame("--thread", "5")
    assert "all 4 blocks" in frame("--all")
    assert "warp 0" in frame("--layer", "warp")
    assert "moving-0-3" in frame("--moment", "0.5")
    assert "lane-titles" in frame("--view", "warp")
    assert main(["export", "04_tiled", "-o", str(tmp_path / "f.svg"), "--thread", "99"]) == 2
    assert "thread 99 is not in the trace" in capsys.readouterr().err
    assert main(["export", "04_tiled", "-o", str(tmp_path / "f.svg"), "--moment", "2"]) == 2
    assert "Moment can't be 2 (choose 0 to 1)" in capsys.readouterr().err
    for wrong in (["--warp", "0", "--thread", "1"], ["--device", "toaster"]):
        with pytest.raises(SystemExit):
            main(["export", "04_tiled", "-o", str(tmp_path / "f.svg"), *wrong])


def test_devices_set_the_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["counts", "04_tiled", "-D", "TILE_WIDTH=32"]
    assert main([*command, "--device", "a100"]) == 0
    assert main([*command, "--device", "8800gtx"]) == 2
    assert "holds at most 512" in capsys.readouterr().err


def test_values_are_chosen_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.gvt"
    assert main(["trace", "03_coalesced", "--fill", "ones", "--values", "-o", str(path)]) == 0
    trace = read_trace(path)
    assert trace.setup.filling == Filling("ones")
    assert set(sure(trace.value)[trace.element >= 0].tolist()) == {1.0, 32.0}  # C is K = 32 everywhere
    assert main(["trace", "03_coalesced", "--fill", "index", "--seed", "3", "-o", str(path)]) == 0
    assert read_trace(path).setup.filling == Filling("index", 3)


def test_counts_under_the_hardwares_names(capsys: pytest.CaptureFixture[str]) -> None:
    reference = json.loads((DATA / "h200-counters.json").read_text())["launches"]
    launch = next(
        x for x in reference if x["kernel"] == "tiled" and x["problem"]["M"] == 200 and x["defines"] == {"TILE_WIDTH": 16}
    )
    kernel = str(DATA / "kernels" / "tiled.cu")
    assert main(["counts", kernel, "-m", "200", "-n", "328", "-k", "136", "-D", "TILE_WIDTH=16", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {name: facts["totals"][name] for name in launch["as_written"]} == launch["as_written"]
    assert (
        sum(site["sectors"] for site in facts["sites"] if (site["access"], site["space"]) == ("read", "global"))
        == facts["totals"]["global_load_sectors"]
    )
    assert facts["blocks_counted"] == 21 * 13
    assert facts["loads_per_element"]["A"] == 21  # once for each column of blocks
    assert facts["loads_per_element"]["B"] == 13


def test_instrument_prints_the_twin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["instrument", "02_naive"]) == 0
    assert "gv_load<2, GV_IN_GLOBAL>(gv_self, (*(A_0 + " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nonsense"], 2, "there is no kernel 'nonsense'"),
        (["export", "04_tiled", "-o", "nowhere/x.svg"], 1, "there is no folder nowhere"),
        (["counts", "nonsense"], 2, "there is no kernel 'nonsense'"),
        (["counts", "04_tiled", "-D", "TILE_WIDTH=64"], 2, "nearest that works: TILE_WIDTH = 32"),
        (["counts", "04_tiled", "-D", "TILE_WIDTH"], 2, "write -D NAME=NUMBER"),
        (["counts", "04_tiled", "-m", "0"], 2, "at least 1"),
        (["info", "missing.gvt"], 2, "no such file"),
        (["export", "missing.toml", "-o", "x.svg"], 2, "no such file"),
        (["export", "04_tiled", "--camera", "2", "-o", "x.svg"], 2, "write ZOOM,X,Y"),
        (["counts", "04_tiled", "-D", "TILE=4"], 2, "has no parameter TILE"),
        (["export", "04_tiled", "--step", "999", "-o", "x.svg"], 2, "has 29 steps"),
        (["export", "04_tiled", "--phase", "3", "-o", "x.svg"], 2, "2 phases"),
        (["export", "04_tiled", "-o", "x.doc"], 2, "use .png, .svg, .pdf"),
        (["trace", "04_tiled", "--blocks", "0:9,0:1", "-o", "x.gvt"], 2, "outside the grid"),
        (["trace", "04_tiled", "--blocks", "all", "-o", "/nowhere/x.gvt"], 1, "can't be written"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str],
    code: int,
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("C[0] = A[99];", "mine.cu:10:8: A[99] is out of range"),
        ("C[0] = tmp;", "mine.cu:10:8: 'tmp' is not declared"),
        ("__shared__ float s[4]; s[threadIdx.x] = 1.0f; C[threadIdx.x] = s[0];", "mine.cu:10:"),
        ("C[threadIdx.x] = 7.0f;", "C is wrong"),
        ("for (;;) C[0] = 1.0f;", "still running"),
    ],
)
def test_a_wrong_kernel_gives_one(
    body: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gemmviz.run.cpu.simt.interpret.step_budget", lambda k: 5000)
    Path("mine.cu").write_text(kernel_from(body).text)
    assert main(["trace", "mine.cu", "-m", "4", "-n", "4", "-k", "4", "-o", "x.gvt"]) == 1
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


def test_blocks_left_open_are_as_many_as_are_quick(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "t.gvt")
    command = ["trace", "02_naive", "-m", "64", "-n", "64", "-k", "64", "-D", "BLOCK=8", "-o", path]
    assert main(command) == 0
    assert "64 of 64 blocks" in capsys.readouterr().out
    monkeypatch.setattr("gemmviz.run.choosing.QUICK_BYTES", 4 * 129 * 64 * 5)  # steps, threads, blocks
    assert main(command) == 0
    assert "4 of 64 blocks" in (said := capsys.readouterr().out)
    assert "--blocks all to record all blocks" in said
    assert main([*command, "--blocks", "all"]) == 0
    assert "64 of 64 blocks" in (said := capsys.readouterr().out)
    assert "--blocks" not in said


def test_the_record_may_take_half_of_the_free_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = 4 * 129 * 64 * 64
    command = ["trace", "02_naive", "-m", "64", "-n", "64", "-k", "64", "-D", "BLOCK=8", "--blocks", "all"]
    monkeypatch.setattr("gemmviz.run.engine._LEAST_RECORD", 1)
    for available, code in ((2 * needed, 0), (2 * needed - 2, 2)):
        monkeypatch.setattr("psutil.virtual_memory", lambda available=available: SimpleNamespace(available=available))
        assert main([*command, "-o", str(tmp_path / "t.gvt")]) == code
    error = capsys.readouterr().err
    assert "hold at most 63" in error
    assert "--blocks 0:2,0:2" in error
    setup = setup_for(load_kernel("02_naive"), Problem(64, 64, 64), {"BLOCK": 8})
    with pytest.raises(GemmvizError, match="129 steps of 4,096 threads take 2 MiB; the limit of a trace is 1 MiB here"):
        trace_kernel(setup, None, Recording(limit_bytes=1 << 20))


def test_wrong_arguments_give_two() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["trace"])
    assert caught.value.code == 2


@pytest.mark.nightly
def test_without_a_display_a_lesson_is_rendered(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    command = [sys.executable, "-m", "gemmviz", "slides", "--lecture"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").glob("slides/*.png"))) == len(shipped_lesson("slides").steps)
    assert (tmp_path / "out" / "slides.gif").stat().st_size > 10000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("coalescing", "--width", "1920"), "the size of a picture is --size 1920x1080"),
        (("coalescing", "--tile-width", "32"), "a lesson chooses the tile widths"),
        (("04_tiled", "--tile-width", "32"), "--tile-width is for charts"),
        (("04_tiled", "--view", "rate", "--tile-width", "1920"), "choose 2, 4, 8, 16, 32, 64 or 128"),
    ],
)
def test_a_tile_width_is_no_size_of_a_picture(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.pptx"
    try:
        code = main(["export", *words, "-o", str(path)])
    except SystemExit as error:
        code = int(str(error.code))
    assert code
    assert said in capsys.readouterr().err
    assert not path.exists()


def test_no_lesson_has_a_kernels_name() -> None:
    short = {name.partition("_")[2] for name in kernel_names()}
    assert not set(lesson_names()) & {*all_kernel_names(), *short, *commands()}


@pytest.mark.parametrize("command", ["counts", "trace -o x.gvt", "instrument", "occupancy", "quiz", "bench", "verify"])
def test_a_lesson_is_told_from_an_unknown_kernel(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *rest = command.split()
    assert main([name, "coalescing", *rest]) == 2
    assert "'coalescing' is a lesson, not a kernel (open it with: gemmviz coalescing)" in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("words", "name", "steps"), [("02_naive -m 2 -n 2 -k 2 -D BLOCK=2", "02_naive", 5), ("", "04_tiled", 29)]
)
def test_without_a_display_the_main_job_is_done(words: str, name: str, steps: int, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    command = [sys.executable, "-m", "gemmviz", *words.split()]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "no display" in done.stdout
    assert (tmp_path / "out" / f"{name}.gif").stat().st_size > 10000
    assert len(list((tmp_path / "out").glob(f"{name}/*.png"))) == steps


def test_recorded_speeds_without_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "04_tiled", "--recorded"]) == 0
    said = capsys.readouterr().out
    assert "| 04_tiled (TILE_WIDTH = 32) |" in said
    assert "02_naive" not in said
    assert "recorded on NVIDIA H200, driver" in said
    assert main(["bench", "--recorded", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "gemmviz benchmark"


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="there is CuPy here")
@pytest.mark.parametrize(
    "command",
    sampled(("bench 04_tiled --sizes 64", "schedule 04_tiled", "counts 04_tiled --on gpu", "trace 04_tiled --on gpu -o x.gvt")),
)
def test_what_needs_a_gpu_says_what_is_missing(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main(command.split()) == 1
    said = capsys.readouterr().err
    assert "CuPy is not installed" in said
    assert "pip install" in said
    assert said.count("\n") == 1


def test_verify_without_the_profiler_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("gemmviz.run.worker.tools._NSIGHT_PLACES", ())
    assert main(["verify", "04_tiled"]) == 1
    assert "Nsight Compute is not installed" in capsys.readouterr().err
    assert main(["verify", "nosuch"]) == 2


def test_phases_of_counts_and_steps_of_an_export_begin_at_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["counts", "04_tiled", "--json"]) == 0
    assert [each["phase"] for each in json.loads(capsys.readouterr().out)["phases"] if each["phase"] is not None] == [1, 2]
    assert main(["export", "04_tiled", "--as", "svg", "--steps", "2:4", "-o", str(tmp_path / "steps")]) == 0
    pictures = sorted((tmp_path / "steps").iterdir())
    assert [re.findall(r"step (\d+) of", each.read_text(encoding="utf-8"))[0] for each in pictures] == ["2", "3", "4"]


def test_some_phases(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "p.gvt")
    assert main(["trace", "04_tiled", "-m", "16", "-n", "16", "-k", "16", "--phases", "2-3", "-o", file]) == 0
    assert "phases 2-3" in capsys.readouterr().out
    assert main(["info", file]) == 0
    assert "phases traced: 2-3, counted from 1" in capsys.readouterr().out
    assert main(["export", file, "--phase", "1", "-o", str(tmp_path / "x.svg")]) == 2
    assert "the trace contains phases 2 to 3" in capsys.readouterr().err
    assert main(["export", file, "--phase", "2", "-o", str(tmp_path / "x.svg")]) == 0
    assert "only phases 2 to 3 traced" in (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert main(["trace", "04_tiled", "--phases", "7-9", "-o", file]) == 2
    assert "ends before phase 7" in capsys.readouterr().err
    assert main(["trace", "04_tiled", "--phases", "0:2", "-o", file]) == 2


def test_a_saved_view_is_rendered_as_it_was_seen(tmp_path: Path) -> None:
    shot = default_shot()
    shot = structs.replace(
        shot, setup=shot.setup.changed(M=12), view="memory", focus=Focus((1, 0, 0), 0), at=Position(4), theme="light"
    )
    save_view(shot, tmp_path / "v.toml")
    assert main(["export", str(tmp_path / "v.toml"), "-o", str(tmp_path / "v.svg")]) == 0
    seen = (tmp_path / "v.svg").read_text(encoding="utf-8")
    assert "step 5 of 29" in seen
    assert "block (1, 0), warp 0" in seen
    assert load_theme("light").background in seen
    words = command_words(shot)
    assert main([*words, "-o", str(tmp_path / "w.svg")]) == 0  # what "Copy as command line" gives
    assert (tmp_path / "w.svg").read_text(encoding="utf-8") == seen
    assert main(["export", str(tmp_path / "v.toml"), "--step", "9", "-o", str(tmp_path / "v.svg")]) == 0
    assert "step 9 of 29" in (tmp_path / "v.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("device", ["", "a100"])
def test_the_command_line_of_a_comparison_draws_it(tmp_path: Path, device: str) -> None:
    setup = default_shot().setup
    other = setup.changed(TILE_WIDTH=2)
    other = structs.replace(other, device=device) if device else other
    shot = Shot(setup, Focus(warp=0), "pair", Position(4), theme="dark", against=Against(other, "k"))
    words = command_words(shot)
    assert main([*words, "-o", str(tmp_path / "w.svg")]) == 0
    assert (tmp_path / "w.svg").read_text(encoding="utf-8") == gemmviz.scene(shot).svg
    assert [word for word, before in zip(words[1:], words, strict=False) if before == "--left-device"] == (
        [device] if device else []
    )


def test_the_command_line_of_a_chart_of_one_tile_width_draws_it(tmp_path: Path) -> None:
    shot = structs.replace(default_shot(), view="amdahl", chart=structs.replace(default_shot().chart, width=16))
    assert main([*command_words(shot), "-o", str(tmp_path / "w.svg")]) == 0
    assert (tmp_path / "w.svg").read_text(encoding="utf-8") == gemmviz.scene(shot).svg


def test_render_marks_hazards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "__shared__ float s[4];\ns[threadIdx.x] = 1.0f;\nC[threadIdx.x] = s[3 - threadIdx.x];"
    (tmp_path / "mine.cu").write_text(kernel_from(body).text)
    command = ["export", str(tmp_path / "mine.cu"), "--step", "2", "-o", str(tmp_path / "f.svg")]
    assert main(command) == 1
    assert "read after write" in capsys.readouterr().err
    assert 'id="clash-count"' in (tmp_path / "f.svg").read_text(encoding="utf-8")


def test_a_run_that_ended_early_is_rendered_up_to_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.cu").write_text(kernel_from("float first = B[0]; C[threadIdx.x] = A[threadIdx.x * 30] + first;").text)
    assert main(["export", str(tmp_path / "mine.cu"), "-o", str(tmp_path / "f.svg")]) == 1
    assert "out of range" in capsys.readouterr().err
    assert 'id="stop' in (tmp_path / "f.svg").read_text(encoding="utf-8")


def test_a_benchmark_is_rendered_too(tmp_path: Path) -> None:
    assert main(["export", "04_tiled", "--view", "tile_size", "-o", str(tmp_path / "t.svg")]) == 0
    assert "GFLOP/s by tile size" in (tmp_path / "t.svg").read_text(encoding="utf-8")
    recorded = next((ROOT / "assets" / "measurements").glob("benchmark-*.json"))
    assert main(["export", str(recorded), "--view", "share", "-o", str(tmp_path / "s.svg")]) == 0
    assert "Share of cuBLAS" in (tmp_path / "s.svg").read_text(encoding="utf-8")


def test_every_command_is_a_file_that_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"gui", "kernels", "trace", "counts", "export", "instrument", "info", "bench", "verify", "schedule"} < set(
        commands()
    )
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out
    assert all(command.help.split(":")[0].split("(")[0].strip() in " ".join(listed.split()) for command in commands().values())
    assert "worker" not in listed


PLAIN = Path(__file__).parent / "data" / "plain"


def test_a_plain_file_is_run_and_its_launch_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(PLAIN / "student.cu")
    assert main(["trace", file, "-m", "48", "-o", str(tmp_path / "t.gvt")]) == 0
    assert "C is right: 2304 elements" in capsys.readouterr().out
    assert main(["launch", file]) == 0
    line, command = capsys.readouterr().out.splitlines()
    assert "a is A, b is B, c is C, n is N" in line
    assert main(["launch", *shlex.split(command)[1:]]) == 0
    assert "as given by flags" in capsys.readouterr().out
    assert main(["launch", file, "--header"]) == 0
    assert capsys.readouterr().out.startswith('// gemmviz = 1\n// entry = "matMulShared"\n')


def test_what_can_not_be_found_of_a_launch_is_asked_by_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = tmp_path / "odd.cu"
    odd.write_text("__global__ void odd(float* p, float* r, int n) { r[n] = p[0] - 3; }")
    assert main(["trace", str(odd), "-o", str(tmp_path / "t.gvt")]) == 2
    assert "--entry, --args, --block, --grid and --shared" in capsys.readouterr().err


def test_the_kernels_of_a_folder_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    student = (PLAIN / "student.cu").read_text()
    for name, text in (("anna", student), ("ben", student.replace("int row", "itn row")), ("chen", "int main() {}")):
        (tmp_path / "hand-ins" / name).mkdir(parents=True)
        (tmp_path / "hand-ins" / name / "hw1.cu").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["launch", "hand-ins"]) == 0
    anna, ben = capsys.readouterr().out.splitlines()
    assert anna.startswith("anna/hw1.cu: matMulShared: a is A")
    assert "(read from the code; the result is right at 32 × 32 × 32, and at 1024 × 1024 × 1024 in " in anna
    assert anna.endswith(" elements as main() launches it)")
    assert re.match(r"ben/hw1\.cu:\d+:\d+: 'itn' is not a known type \(did you mean int\?\)", ben)
    assert main(["counts", "hand-ins"]) == 2
    assert "gemmviz launch hand-ins" in capsys.readouterr().err
    assert main(["launch", "hand-ins/chen"]) == 2
    assert "no file of the folder has a kernel" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("--grid", "ceil_div(N,", "a bracket without its counterpart"),
        ("--block", "16,WIDTH", "the formula 'WIDTH' uses 'WIDTH' (it may use BLOCK_SIZE, K, M, N"),
    ],
)
def test_formulas_without_a_value_are_refused(flag: str, value: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", str(PLAIN / "student.cu"), flag, value]) != 0
    error = capsys.readouterr().err
    assert message in error
    assert ":1:1" not in error


def test_the_printed_command_opens_a_shipped_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "04_tiled"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("gemmviz 04_tiled --entry sgemm_tiled ")


def test_a_launch_is_inserted_into_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.cu"
    file.write_text((PLAIN / "student.cu").read_text())
    assert main(["launch", str(file), "--insert"]) == 0
    assert main(["launch", str(file)]) == 0
    assert "from the file's header" in capsys.readouterr().out
    assert main(["launch", str(file), "--insert"]) == 2


def test_the_time_that_is_left_is_that_of_what_is_not_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = ProgressBar("film.mp4")
    now[0] = 30.0
    bar.update(30, 40)
    assert capsys.readouterr().err == "film.mp4: 30 of 40, 10 s left\n"


def test_a_long_count_says_on_a_terminal_that_it_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("gemmviz.cli.running._EVERY_S", 0.0)
    assert main(["counts", "04_tiled"]) == 0
    assert "04_tiled, counting all 4 blocks: at work for 0 s\n" in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert main(["counts", "04_tiled"]) == 0
    assert capsys.readouterr().err == ""


def test_an_unknown_option_is_answered_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    for given, meant in (("--stepss=3", "--steps"), ("--thme", "--theme"), ("--tilewidth", "--tile-width")):
        with pytest.raises(SystemExit):
            main(["export", "04_tiled", given, "-o", "f.png"])
        assert f"did you mean {meant}?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["counts", "04_tiled", "--xyz"])
    assert "see gemmviz --help" in capsys.readouterr().err


def test_steps_of_a_lesson_are_exported_by_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "lecture", "--size", "640x360"]
    for options, titles in ((["--step", "3"], [3]), (["--steps", "2:3,5"], [2, 3, 5])):
        assert main([*words, *options, "--as", "png", "-o", str(tmp_path / options[0])]) == 0
        found = []
        for path in sorted((tmp_path / options[0]).iterdir()):
            with Image.open(path) as image:
                found.append(image.text["Title"])  # type: ignore[attr-defined]
        assert found == [caption_of(shipped_lesson("lecture").steps[place - 1]).title for place in titles]
    assert main([*words, "--step", "9999", "-o", str(tmp_path / "f.png")]) == 2
    assert "counted from 1" in capsys.readouterr().err


def test_hazards_beyond_the_first_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "__shared__ float s[4], t[4]; int i = threadIdx.x, j = 3 - i;\ns[i] = 1.0f;\nt[i] = 2.0f;\nC[i] = s[j] + t[j];"
    (tmp_path / "mine.cu").write_text(kernel_from(body).text)
    assert main(["counts", str(tmp_path / "mine.cu")]) == 1
    assert "; 1 more hazards" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "limit"), [([], TIMEOUT_S), (["--timeout", "120"], 120.0)])
def test_a_launch_may_take_as_long_as_the_option_says(
    options: list[str], limit: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = list[float]()

    def no_engine(on: str, timeout: float = TIMEOUT_S) -> Engine:
        limits.append(timeout)
        raise DeviceError(f"{on} is not there")

    monkeypatch.setattr("gemmviz.cli.running.engine_for", no_engine)
    assert main(["counts", "04_tiled", "--on", "gpu", *options]) != 0
    assert limits == [limit]


def test_occupancy_is_that_of_the_given_registers_and_device(capsys: pytest.CaptureFixture[str]) -> None:
    """65536 registers hold 4 blocks of 256 threads with 64 registers each."""
    assert main(["occupancy", "04_tiled", "-D", "TILE_WIDTH=16", "--registers", "64", "--device", "a100"]) == 0
    said = capsys.readouterr().out
    assert "256 threads, 64 registers per thread, 2,048 bytes of shared memory" in said
    assert "4 blocks per SM of NVIDIA A100 SXM4 80GB, limited by registers" in said
    assert "1024 of 2048: 50.00 %" in said
    assert "32 of 64: 50.00 %" in said


@pytest.mark.parametrize("option", [["--language=de"], ["--language", "de"]])
def test_a_language_stands_before_the_command(option: list[str]) -> None:
    assert _with_command([*option, "kernels"])[0] == [*option, "kernels"]
    assert _with_command([*option, "x.cu"])[0] == [*option, "gui", "x.cu"]


def test_a_faster_film_is_shorter(tmp_path: Path) -> None:
    """By default a film shows a step a second."""
    frames = []
    for speed in ([], ["--speed", "1"], ["--speed", "4"]):
        words = ["04_tiled", "-m", "4", "-n", "4", "-k", "4", "-D", "TILE_WIDTH=2", "--steps", "1:2", "--size", "320x180"]
        assert main(["export", *words, "--fps", "4", *speed, "-o", str(tmp_path / "f.apng")]) == 0
        with Image.open(tmp_path / "f.apng") as image:
            frames.append(getattr(image, "n_frames", 1))
    assert frames[0] == frames[1] > 2 * frames[2]


def test_a_picture_for_a_slide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A template is a theme, a size and what is shown; options beside it come first. A part has the title that is given."""
    words = [
        "export",
        "04_tiled",
        "-m",
        "4",
        "-n",
        "4",
        "-k",
        "4",
        "-D",
        "TILE_WIDTH=2",
        "--step",
        "5",
        "--title",
        "One row each",
    ]
    for options, size, background in (
        (["--template", "print"], (2400, 1800), "#FFFFFF"),
        (["--template", "slide-light", "--size", "640x360"], (640, 360), "#FFFFFF"),
        (["--template", "slide-dark", "--theme", "print", "--only", "matrices"], (1920, 1080), "#FFFFFF"),
        (["--template", "slide-dark"], (1920, 1080), "#12161C"),
    ):
        assert main([*words, *options, "-o", str(tmp_path / "f.png")]) == 0
        with Image.open(tmp_path / "f.png") as image:
            assert image.size == size
            corner = image.convert("RGB").getpixel((3, 3))
            assert isinstance(corner, tuple)
            assert "#{:02X}{:02X}{:02X}".format(*corner) == background
            assert image.text["Title"] == "One row each"  # type: ignore[attr-defined]
    assert main([*words, "--only", "roofline", "-o", str(tmp_path / "f.png")]) == 2
    assert "no part 'roofline' (choose stage, matrices, request, banks, sum)" in capsys.readouterr().err
    assert main(["export", "coalescing", "--title", "Mine", "-o", str(tmp_path / "f.pptx")]) == 2
    assert "a lesson has its own titles" in capsys.readouterr().err


@pytest.mark.nightly
def test_ten_slides_and_ten_pictures_of_chosen_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The manual's two commands are carried out, with smaller pictures: each step once, in order, with a title."""
    monkeypatch.chdir(tmp_path)
    manual = (Path(__file__).parents[1] / "docs" / "export.md").read_text(encoding="utf-8")
    commands = re.findall(r"^gemmviz (export 04_tiled --steps 3,8,14:21 .*?) +#", manual, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert main([*shlex.split(command), "--size", "640x360"]) == 0
    titles = [slide.shapes.title.text for slide in pptx.Presentation("talk.pptx").slides]
    assert [int(re.findall(r"step (\d+)", title)[0]) for title in titles] == [3, 8, *range(14, 22)]
    assert [path.name for path in sorted(Path("frames").iterdir())] == [f"{number:03}.png" for number in range(1, 11)]


@pytest.mark.parametrize(
    ("steps", "message"), [("3,x", "single steps, such as"), ("3,99", "there are 29"), ("3,", "write FIRST")]
)
def test_steps_that_do_not_exist_are_named(
    steps: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "04_tiled", "--steps", steps, "-o", str(tmp_path / "f.pptx")]) == 2
    assert message in capsys.readouterr().err

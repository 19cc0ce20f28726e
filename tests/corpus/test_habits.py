"""Files in the habits of public repositories: every kernel of the manifest has a launch that is read in full."""

import shutil
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from gemmviz.launch.formula import evaluate
from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.launch.host_code.outline import unit_outline
from gemmviz.loading.loader import open_kernel
from gemmviz.model.outline import FileOutline
from gemmviz.parser.source_text import SourceText
from gemmviz.parser.unit import parse

HABITS = Path(__file__).parents[1] / "data" / "kernels" / "habits"
NOT_YET = {
    "bias_null.cu", "cooperative_launch.cu", "dynamic_shared.cu", "lambda_launch.cu", "managed_memory.cu", "one_block.cu",
    "struct_matrix.cu", "struct_params.cu",
}  # fmt: skip
SOURCES = {".cu", ".cuh", ".h", ".hip"}


@dataclass(frozen=True)
class Expected:
    """An entry of the manifest."""

    file: str
    name: str
    roles: tuple[str, ...]
    problem: str


def expected_kernels() -> list[Expected]:
    entries = tomllib.loads((HABITS / "manifest.toml").read_text(encoding="utf-8"))["kernel"]
    return [Expected(each["file"], each["name"], tuple(each["roles"]), each["problem"]) for each in entries]


def text_of(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("gbk")


@cache
def outline(file: str) -> FileOutline:
    """The outline of a file, or of a folder's main.cu together with the file itself."""
    path = HABITS / file
    near = [each for each in path.parent.iterdir() if each.suffix in SOURCES] if path.parent != HABITS else [path]
    names = {each.name: text_of(each) for each in near}
    own = unit_outline(parse(SourceText(path.name, names)))
    if "main.cu" not in names or path.name == "main.cu":
        return own
    other = unit_outline(parse(SourceText("main.cu", names)))
    return FileOutline(own.kernels, (*own.launches, *other.launches))


def test_every_file_is_expected() -> None:
    listed = {each.file.split("/")[0] for each in expected_kernels()}
    assert listed == {each.name for each in HABITS.iterdir() if each.name != "manifest.toml"}
    assert len(listed) >= 60


@pytest.mark.parametrize("kernel", expected_kernels(), ids=lambda each: f"{each.file}-{each.name}")
def test_launch_is_read(kernel: Expected) -> None:
    found = outline(kernel.file)
    declared = next(each for each in found.kernels if each.name == kernel.name)
    assert len(declared.parameters) == len(kernel.roles)
    launch, *_ = found.launches_of(kernel.name)
    assert launch.unread == ()
    assert launch.is_read
    assert len(launch.arguments) == len(kernel.roles)
    names = {each.name: 64 for each in launch.names} | {name: int(value) for name, value in launch.values.items()}
    threads = [evaluate(each, names) for each in launch.block]
    assert 0 < threads[0] * threads[1] * threads[2] <= 1024
    assert all(evaluate(each, names) > 0 for each in launch.grid)


def multiplications() -> list[object]:
    """Kernels that multiply; those that don't open yet are expected to fail."""
    marks = {True: [pytest.mark.xfail(strict=True)], False: []}
    kernels = [each for each in expected_kernels() if each.problem == "multiply"]
    return [pytest.param(each, id=f"{each.file}-{each.name}", marks=marks[each.file in NOT_YET]) for each in kernels]


@pytest.mark.parametrize("kernel", multiplications())
def test_opens_without_header(kernel: Expected, tmp_path: Path) -> None:
    """Opening raises an error unless C is right with the roles of the arguments."""
    source = HABITS / kernel.file
    if source.parent == HABITS:
        path = Path(shutil.copy(source, tmp_path))
    else:
        path = Path(shutil.copytree(source.parent, tmp_path / source.parent.name)) / source.name
    spec = open_kernel(str(path), GivenLaunch(entry=kernel.name))
    assert spec.function == kernel.name
    assert len(spec.args) == len(kernel.roles)
    assert {"A", "B", "C"} <= set(spec.args)

"""Files in the habits of public repositories: every kernel of the manifest has a launch that is read in full."""

import shutil
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from gemmviz.cuda.launch.formula import evaluate
from gemmviz.cuda.launch.host_code.launches import unit_outline
from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.parser.unit import parse
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.outline import FileOutline
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.loader import open_kernel
from tests.conftest import sampled

HABITS = Path(__file__).parents[1] / "data" / "kernels" / "habits"
NOT_YET: set[str] = set()  # files that don't open yet, each with what must be done first
SOURCES = {".cu", ".cuh", ".h", ".hip"}


@dataclass(frozen=True)
class Expected:
    """An entry of the manifest."""

    file: str
    name: str
    roles: tuple[str, ...]
    problem: str
    size: tuple[int, ...]


def expected_kernels() -> list[Expected]:
    entries = tomllib.loads((HABITS / "manifest.toml").read_text(encoding="utf-8"))["kernel"]
    return [
        Expected(each["file"], each["name"], tuple(each["roles"]), each["problem"], tuple(each.get("size", ())))
        for each in entries
    ]


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


@pytest.mark.parametrize(
    "kernel",
    sampled(sorted(expected_kernels(), key=lambda each: each.name), every=3),
    ids=lambda each: f"{each.file}-{each.name}",
)
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


ARGUMENTS = {"alpha": "1", "factor": "alpha", "beta": "0", "null": "nullptr", "a": "A", "b": "B", "c": "C"}
ANYTHING = {"tile", "pitch", "chunk", "op"}  # numbers of the host code
KINDS = {"matrix-vector": "matrix_vector", "vector add": "vector_add", "convolution": "convolution_1d", "stencil": "none"}


def all_kernels() -> list[object]:
    """All kernels, of which every eighth is opened in the fast tests; those that don't open yet are expected to fail."""
    marks = {True: [pytest.mark.xfail(strict=True)], False: []}
    return [
        pytest.param(
            each, id=f"{each.file}-{each.name}", marks=[*marks[each.file in NOT_YET], *[pytest.mark.nightly] * (number % 8 > 0)]
        )
        for number, each in enumerate(expected_kernels())
    ]


@pytest.mark.parametrize("kernel", all_kernels())
def test_opens_without_header(kernel: Expected, tmp_path: Path) -> None:
    """C is right at the sizes of the first picture and at the manifest's, with the roles of the manifest."""
    source = HABITS / kernel.file
    if source.parent == HABITS:
        path = Path(shutil.copy(source, tmp_path))
    else:
        path = Path(shutil.copytree(source.parent, tmp_path / source.parent.name)) / source.name
    spec = open_kernel(str(path), GivenLaunch(entry=kernel.name))
    assert spec.function == kernel.name
    assert spec.problem.kind.name == KINDS.get(kernel.problem, kernel.problem)
    if not spec.problem.kind.is_checked:
        return
    assert spec.launch_from == "read"
    assert_right(setup_for(spec))
    if spec.problem.is_multiply:
        assert_right(setup_for(spec).changed(**dict(zip("MNK", kernel.size, strict=True))))
    assert_roles(spec, kernel.roles)


def assert_roles(spec: KernelSpec, roles: tuple[str, ...]) -> None:
    """The arguments are those of the manifest; of structs, the arrays are."""
    if len(spec.args) < len(roles) or any(name.count(".") for name in spec.parameter_names):
        arrays = {array.name for array in spec.problem.arrays}
        assert [each for each in spec.args if each in arrays] == sorted(arrays)
        return
    for argument, role in zip(spec.args, roles, strict=False):
        if role not in ANYTHING:
            assert argument == ARGUMENTS.get(role, role)


def assert_right(setup: Setup) -> None:
    trace = trace_kernel(setup).trace
    assert trace is not None
    assert trace.is_whole
    assert trace.check.compared > 0
    assert trace.check.passed

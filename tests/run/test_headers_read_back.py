"""The header that is printed for an opened file is read back as the same launch: over the corpus of public habits."""

from pathlib import Path

import pytest

from gemmviz.cuda.launch.launch_form import with_header
from gemmviz.cuda.launch.legality import launch_for, setup_for
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError
from gemmviz.run.loader import open_kernel
from tests.corpus.public_habits.corpus import Entry, entries

_EVERY = 162  # of the files, one is opened in the fast tests
_FIELDS = ("entry", "args", "column_major", "opts_in_to_shared", "problem", "requirements", "parameters", "size_macros")


def opened(entry: Entry, folder: Path) -> KernelSpec | None:
    """The kernel of an entry, whose files are written into a folder; None if it is refused."""
    for name, text in entry.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / ".git").mkdir(exist_ok=True)
    try:
        return open_kernel(str(folder / entry.main))
    except GemmvizError:
        return None


def differences(entry: Entry, folder: Path) -> list[str]:
    """Names of what differs after the header was put on top of the kernel's file."""
    read = opened(entry, folder)
    if read is None:
        return []
    path = Path(read.file)
    path.write_text(with_header(read, read.text), encoding="utf-8")
    again = open_kernel(str(path))
    assert again.launch_from == "header"
    found = [name for name in _FIELDS if getattr(again, name) != getattr(read, name)]
    return found + (["launch"] if launch_for(setup_for(again)) != launch_for(setup_for(read)) else [])


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path / "home"))


def all_differences(chosen: list[Entry], folder: Path) -> dict[str, list[str]]:
    found = {each.name: differences(each, folder / each.name) for each in chosen}
    return {name: names for name, names in found.items() if names}


def test_a_sample_is_read_back(tmp_path: Path) -> None:
    assert all_differences(entries()[::_EVERY], tmp_path) == {}


@pytest.mark.nightly
def test_every_opening_is_read_back(tmp_path: Path) -> None:
    assert all_differences(entries(), tmp_path) == {}


def test_template_arguments_may_be_templates(tmp_path: Path) -> None:
    text = (
        "template <int M, int N> struct Tile { static constexpr int rows = M; };\n"
        "template <typename T> __global__ void copy(const float* in, float* out, int n)\n"
        "{ int i = blockIdx.x * T::rows + threadIdx.x; if (i < n) out[i] = in[i]; }\n"
        "void run(const float* a, float* b, int n) { copy<Tile<16, 2>><<<(n + 15) / 16, 16>>>(a, b, n); }\n"
    )
    entry = Entry("copy", "copy.cu", {"copy.cu": text}, False)
    assert all_differences([entry], tmp_path) == {}

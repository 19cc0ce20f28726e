"""Files of a project: what an include finds, and what is never read."""

import os
from pathlib import Path

import pytest

from gemmviz.launch.project_files import Project, gather_project, launching_files, project_folder
from gemmviz.model.kernel import MOST_TEXT


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def gathered(root: Path, name: str, folder: Path | None = None) -> Project:
    return gather_project(root / name, (root / name).read_text(encoding="utf-8"), folder)


def names(project: Project) -> list[str]:
    return sorted(file.name for file in project.files)


def test_includes_of_includes_are_found_beside_above_and_by_their_ending(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "README.md": "",
            "src/kernels/a.cu": '#include "b.cuh"\n#include "../deep.h"\n#include <util/c.h>\n#include "d.h"\n#include <vector>\n',
            "src/kernels/b.cuh": '#include "e.cuh"\n',
            "src/kernels/e.cuh": "",
            "src/deep.h": "",
            "include/util/c.h": '#include "a.h"\n',
            "include/util/a.h": "",
            "common/d.h": "",
            "other.cu": "",
            "src/vector": "",
        },
    )
    project = gathered(root, "src/kernels/a.cu")
    assert project.own_name == "src/kernels/a.cu"
    found = ["common/d.h", "include/util/a.h", "include/util/c.h", "src/deep.h", "src/kernels/b.cuh", "src/kernels/e.cuh"]
    assert names(project) == found


def test_two_files_with_the_same_ending_are_ambiguous(tmp_path: Path) -> None:
    root = tree(tmp_path, {"README.md": "", "a/k.cu": '#include "x.h"\n', "b/x.h": "", "c/x.h": ""})
    assert names(gathered(root, "a/k.cu")) == []


def test_a_header_is_compiled_with_the_file_that_includes_it(tmp_path: Path) -> None:
    root = tree(tmp_path, {"k.cuh": "", "main.cu": '#include "t.h"\n#include "k.cuh"\n', "t.h": "", "z.cu": ""})
    project = gathered(root, "k.cuh")
    assert (project.compiled, names(project)) == ("main.cu", ["main.cu", "t.h"])


def test_files_that_launch_a_kernel(tmp_path: Path) -> None:
    root = tree(tmp_path, {"k.cu": "mm<<<", "main.cu": "mm<<<1, 1>>>();", "notes.cu": "mm", "other.cu": "f<<<1, 1>>>();"})
    assert [file.name for file in launching_files(root / "k.cu", ["mm"])] == ["main.cu"]


@pytest.mark.skipif(os.name == "nt", reason="links and FIFOs of POSIX")
def test_nothing_outside_the_folder_is_read(tmp_path: Path) -> None:
    tree(tmp_path, {"secret.h": "secret"})
    root = tree(tmp_path / "project", {"k.cu": "\n".join(f'#include "{name}"' for name in ("link.h", "pipe.h", "../secret.h"))})
    with (root / "k.cu").open("a", encoding="utf-8") as file:
        file.write(f'\n#include "{tmp_path}/secret.h"\n#include "/dev/zero"\n#include "zero.h"\n#include "folder.h"\n')
    (root / "link.h").symlink_to(tmp_path / "secret.h")
    (root / "zero.h").symlink_to("/dev/zero")
    (root / "folder.h").mkdir()
    os.mkfifo(root / "pipe.h")
    assert gathered(root, "k.cu", root).files == ()


def test_a_folder_of_links_to_itself_ends(tmp_path: Path) -> None:
    root = tree(tmp_path, {"README.md": "", "k.cu": '#include "x.h"\n', "sub/x.h": '#include "k.cu"\n#include "x.h"\n'})
    if os.name != "nt":
        (root / "sub" / "loop").symlink_to(root)
    assert names(gathered(root, "k.cu")) == ["sub/x.h"]


def test_what_is_read_counts_against_the_limit(tmp_path: Path) -> None:
    half = "x" * (MOST_TEXT // 2)
    root = tree(tmp_path, {"k.cu": "".join(f'#include "{n}.h"\n' for n in "abc"), "a.h": half, "b.h": half, "c.h": "c"})
    assert names(gathered(root, "k.cu")) == ["a.h", "c.h"]


def test_the_folder_of_a_project(tmp_path: Path) -> None:
    root = tree(tmp_path, {"repo/README.md": "", "repo/src/Makefile": "", "repo/src/gpu/k.cu": "", "alone/k.cu": ""})
    assert project_folder(root / "repo/src/gpu/k.cu") == root / "repo"
    (root / "repo/src/.git").mkdir()
    assert project_folder(root / "repo/src/gpu/k.cu") == root / "repo/src"
    assert project_folder(root / "alone/k.cu") == root / "alone"

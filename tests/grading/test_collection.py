"""Folders, files and archives in the layouts of courses, and names and contents that are made to escape."""

import io
import os
import zipfile
from pathlib import Path

import pytest

from gemmviz.model.messages import UsageError
from gemmviz.teaching.grading.collection import collected, unique_id

_KERNEL = "__global__ void f(float* C) { C[0] = 1; }\n"


def _write(path: Path, content: str | bytes = _KERNEL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _archive(files: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def test_a_file_for_each_student(tmp_path: Path) -> None:
    for name in ("ben.cu", "Ada.cu", "notes.txt"):
        _write(tmp_path / name)
    others: list[str] = []
    hand_ins = collected([tmp_path], on_other=others.append)
    assert [(each.id, each.main("")) for each in hand_ins] == [("Ada", "Ada.cu"), ("ben", "ben.cu")]
    assert others == ["notes.txt"]


def test_a_folder_for_each_student(tmp_path: Path) -> None:
    _write(tmp_path / "ada" / "src" / "mm.cu")
    _write(tmp_path / "ada" / "src" / "mm.cuh", "#define T 1\n")
    _write(tmp_path / "ben" / "mm.cu")
    _write(tmp_path / "eve" / "essay.pdf", b"%PDF")
    ada, ben, eve = collected([tmp_path])
    assert (ada.name, ada.main(""), sorted(ada.texts)) == ("ada", "src/mm.cu", ["src/mm.cu", "src/mm.cuh"])
    assert ben.main("") == "mm.cu"
    assert eve.problem == "no file of CUDA C++ was handed in, but essay.pdf"


def test_one_folder_is_one_hand_in_if_asked(tmp_path: Path) -> None:
    _write(tmp_path / "submission" / "kernel.cu")
    _write(tmp_path / "submission" / "lib" / "other.cu")
    (only,) = collected([tmp_path / "submission"], as_one=True)
    assert (only.name, sorted(only.texts)) == ("submission", ["kernel.cu", "lib/other.cu"])


@pytest.mark.parametrize("is_packed", [False, True])
def test_moodle(tmp_path: Path, is_packed: bool) -> None:
    files = {
        "Ada Lovelace_12345_assignsubmission_file_/mm.cu": _KERNEL,
        "Émile du Châtelet_77_assignsubmission_file_/work/mm.cu": _KERNEL,
        "Ada Lovelace_99_assignsubmission_file_/mm.cu": _KERNEL,
        "Ben_5_assignsubmission_file_mm.cu": _KERNEL,
    }
    if is_packed:
        path = _write(tmp_path / "course.zip", _archive({**files, "__MACOSX/x.cu": _KERNEL}))
    else:
        path = tmp_path
        for name, text in files.items():
            _write(tmp_path / name, text)
    assert [(each.name, each.number) for each in collected([path])] == [
        ("Ada Lovelace", "12345"), ("Ada Lovelace", "99"), ("Ben", "5"), ("Émile du Châtelet", "77"),
    ]  # fmt: skip


def test_an_archive_of_one_folder_with_students(tmp_path: Path) -> None:
    path = _write(tmp_path / "all.zip", _archive({"course/ada/mm.cu": _KERNEL, "course/ben/mm.cu": _KERNEL}))
    assert [each.name for each in collected([path])] == ["ada", "ben"]


def test_an_archive_that_a_student_handed_in(tmp_path: Path) -> None:
    _write(tmp_path / "ada" / "my work.zip", _archive({"a/mm.cu": _KERNEL, "a/h.cuh": "int x;"}))
    _write(tmp_path / "ben" / "broken.zip", b"PK no archive")
    ada, ben = collected([tmp_path])
    assert sorted(ada.texts) == ["a/h.cuh", "a/mm.cu"]
    assert ben.problem == "broken.zip is not a .zip archive that can be read"


def test_links_and_special_files_are_not_opened(tmp_path: Path) -> None:
    secret = _write(tmp_path / "secret.cu", _KERNEL + "// secret")
    folder = tmp_path / "in" / "ada"
    folder.mkdir(parents=True)
    (folder / "mm.cu").symlink_to(secret)
    (folder / "all").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.cu")
    (only,) = collected([tmp_path / "in"])
    assert only.texts == {}
    assert "mm.cu is a link, or not a regular file; it isn't opened" in only.problem


def test_archives_that_lead_out(tmp_path: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("../../escape.cu", _KERNEL)
        archive.writestr("/etc/escape.cu", _KERNEL)
        archive.writestr("..\\windows.cu", _KERNEL)
        link = zipfile.ZipInfo("link.cu")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    _write(tmp_path / "in" / "ada" / "x.zip", content.getvalue())
    (only,) = collected([tmp_path / "in"])
    assert only.texts == {}
    assert only.problem.count("leads out of the archive") == 4
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["ada", "in", "x.zip"]


def test_an_archive_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("mm.cu", "w") as file:
        for _ in range(64):
            file.write(b" " * (1 << 20))
    _write(tmp_path / "ada" / "x.zip", content.getvalue())
    (only,) = collected([tmp_path])
    assert "has more than" in only.problem


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"\x7fELF\0\0\0", "isn't text"),
        (b"int main() {}", "the file has no kernel"),
        (b"x" * (3 << 20), "has more than"),
    ],
)
def test_files_that_are_no_kernels(tmp_path: Path, content: bytes, said: str) -> None:
    _write(tmp_path / "ada.cu", content)
    (only,) = collected([tmp_path])
    assert said in only.problem


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str) -> None:
    _write(tmp_path / "ada.cu", ("// groß\r\n" + _KERNEL).encode(encoding))
    (only,) = collected([tmp_path])
    assert only.texts["ada.cu"] == "// groß\n" + _KERNEL


def test_names_are_safe(tmp_path: Path) -> None:
    for name in (
        "=cmd|' /C calc'!A0.cu",
        "<img src=x onerror=alert(1)>.cu",
        "a\nb.cu",
        "\u202ecu.exe.cu",
        "..cu.cu",
        "CON.cu",
        "a b.cu",
        "a-b.cu",
    ):
        _write(tmp_path / name)
    hand_ins = collected([tmp_path])
    assert len({each.id.casefold() for each in hand_ins}) == len(hand_ins) == 8
    for each in hand_ins:
        assert not set(each.id) & set('/\\<>:"|?*\n\u202e '), each.id
        assert not each.id.startswith((".", "-"))
        assert each.id != "CON"
        assert each.name.isprintable()


def test_what_is_no_hand_in(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        collected([tmp_path / "missing"])
    with pytest.raises(UsageError, match="there are no hand-ins"):
        collected([tmp_path])


def test_students_whose_names_differ_in_case_have_folders_of_their_own() -> None:
    taken: set[str] = set()
    assert [unique_id(name, taken) for name in ("Ada", "ada", "ADA")] == ["Ada", "ada-2", "ADA-3"]

"""Texts of C++ files in the encodings that people use."""

from pathlib import Path

import pytest

from gemmviz.files.codec import FormatError
from gemmviz.files.kernel_file import decoded, read_program_text

CHINESE = "// 矩阵乘法：每个线程计算一个元素\r\nint a; // 线程\r\n"
FRENCH = "// élève: mémoire partagée\nint a;\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gbk", "gb18030"])
def test_chinese_comments(encoding: str) -> None:
    assert decoded(CHINESE.encode(encoding)) == CHINESE.replace("\r\n", "\n")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_accents(encoding: str) -> None:
    assert decoded(FRENCH.encode(encoding)) == FRENCH


def test_line_ends() -> None:
    assert decoded(b"a\r\nb\rc\n") == "a\nb\nc\n"


def test_any_bytes_are_a_text() -> None:
    assert decoded(bytes(range(1, 256)))
    assert decoded(b"\xff\xfe\x00") != ""


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_bytes(b"\x7fELF\0\0")
    with pytest.raises(FormatError, match="the file isn't text"):
        read_program_text(tmp_path / "a.cu", 100)

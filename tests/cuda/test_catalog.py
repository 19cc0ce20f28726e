"""Kernels by name."""

import pytest

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.model.messages import UsageError, spaced


@pytest.mark.parametrize("name", ["none", "x" * 5000, "a\0b", ""])
def test_an_unknown_name_is_an_error_with_a_remedy(name: str) -> None:
    with pytest.raises(UsageError, match=r"there is no kernel|is a folder"):
        load_kernel(name)


def test_counts_of_any_size_are_written_in_groups() -> None:
    assert spaced(10**400).count("\u202f") == 133

"""The launch as text: plain formulas with the same values."""

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.formula import formula_value
from gemmviz.cuda.launch.launch_form import launch_flags

CASES = [
    ("int(ceil((float(N) / 16.0)))", "ceil(N / 16.0)"),
    ("int(ceil(((1.0 * float(N)) / T)))", "ceil(1.0 * N / T)"),
    ("((N + T) - 1) / T", "ceil_div(N, T)"),
    ("((N + 15) / 16)", "(N + 15) / 16"),
    ("N / 16 + 1", "N / 16 + 1"),
    ("float(N) / T", "float(N) / T"),
]


@pytest.mark.parametrize(("formula", "plain"), CASES)
def test_formulas_are_plain_and_keep_their_values(formula: str, plain: str) -> None:
    kernel = structs.replace(load_kernel("02_naive"), grid=(formula,))
    assert launch_flags(kernel)[-1] == plain
    for n in (1, 15, 16, 17, 40):
        assert formula_value(plain, {"N": n, "T": 8}) == formula_value(formula, {"N": n, "T": 8})

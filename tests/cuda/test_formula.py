import pytest

from gemmviz.cuda.launch.formula import evaluate
from gemmviz.model.messages import SettingError, SourceError

NAMES = {"M": 10, "T": 4}


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("ceil_div(M, T)", 3),
        ("M / T", 2),
        ("-M / T", -2),
        ("M % T == 2 and T >= 4", 1),
        ("-M + (1 << T)", 6),
        ("M if T > 9 else T", 4),
        ("max(M, T) * 2", 20),
        ("(1 << 62) >> 62", 1),
    ],
)
def test_arithmetic(formula: str, value: int) -> None:
    assert evaluate(formula, NAMES) == value


@pytest.mark.parametrize("formula", ["1 << 64", "M >> 64", "1 << -1"])
def test_shifts_are_those_of_a_number_of_64_bits(formula: str) -> None:
    with pytest.raises(SettingError):
        evaluate(formula, NAMES)


@pytest.mark.parametrize(
    "formula", ["__import__('os')", "M.real", "[1]", "M(", "X", "'a' * 9", "lambda: 1", "(" * 500 + "1" + ")" * 500]
)
def test_anything_else_is_refused(formula: str) -> None:
    with pytest.raises(SourceError):
        evaluate(formula, NAMES)


@pytest.mark.parametrize("formula", ["M / 0", "1 << 100", "9999999999 * 9999999999"])
def test_numbers_that_go_wrong(formula: str) -> None:
    with pytest.raises(SettingError):
        evaluate(formula, NAMES)

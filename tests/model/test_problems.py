"""Kinds of problems: the right contents of outputs against plain NumPy, values as text and in files, and what is refused."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmviz.files.codec import FormatError, from_json, from_plain, to_json, to_plain
from gemmviz.model.element_types import element_type
from gemmviz.model.kernel import place_in
from gemmviz.model.messages import Place, SettingError
from gemmviz.model.problem import Problem
from gemmviz.model.problems import PROBLEM_KINDS
from gemmviz.model.setup import Filling
from gemmviz.model.trace import Check
from gemmviz.run.data import Contents, check_result, matrices

Arrays = dict[str, Any]


def _softmax(arrays: Arrays, sizes: dict[str, int]) -> Any:
    powers = np.exp(arrays["in"])
    return powers / powers.sum(axis=1, keepdims=True)


def _stencil(arrays: Arrays, sizes: dict[str, int]) -> Any:
    return np.convolve(arrays["in"], np.ones(2 * sizes["radius"] + 1))[sizes["radius"] : sizes["radius"] + sizes["n"]]


def _convolution(arrays: Arrays, sizes: dict[str, int]) -> Any:
    r, (rows, columns) = sizes["radius"], arrays["in"].shape
    padded, out = np.pad(arrays["in"], r), np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            out[i, j] = (arrays["filter"] * padded[i : i + 2 * r + 1, j : j + 2 * r + 1]).sum()
    return out


def _convolution_1d(arrays: Arrays, sizes: dict[str, int]) -> Any:
    r = sizes["radius"]
    return np.convolve(arrays["in"], arrays["filter"][::-1])[r : r + sizes["n"]]


PLAIN: dict[str, Any] = {
    "multiply": lambda arrays, sizes: arrays["A"] @ arrays["B"],
    "transpose": lambda arrays, sizes: arrays["in"].T,
    "vector_add": lambda arrays, sizes: arrays["A"] + arrays["B"],
    "reduction": lambda arrays, sizes: arrays["in"].sum(keepdims=True),
    "scan": lambda arrays, sizes: np.cumsum(arrays["in"]),
    "exclusive_scan": lambda arrays, sizes: np.concatenate([[0.0], np.cumsum(arrays["in"])[:-1]]),
    "histogram": lambda arrays, sizes: np.bincount(arrays["in"].astype(int), minlength=sizes["bins"]),
    "stencil": _stencil,
    "convolution": _convolution,
    "convolution_1d": _convolution_1d,
    "softmax": _softmax,
    "matrix_vector": lambda arrays, sizes: arrays["A"] @ arrays["x"],
    "matrix_add": lambda arrays, sizes: arrays["A"] + arrays["B"],
    "dot_product": lambda arrays, sizes: np.array([arrays["A"] @ arrays["B"]]),
    "axpy": lambda arrays, sizes: arrays["x"] + arrays["y"],
    "scale": lambda arrays, sizes: arrays["in"],
    "scale_in_place": lambda arrays, sizes: arrays["x"],
    "relu": lambda arrays, sizes: np.where(arrays["in"] > 0, arrays["in"], 0.0),
    "transpose_in_place": lambda arrays, sizes: arrays["A"].T,
    "row_sums": lambda arrays, sizes: np.einsum("ij->i", arrays["in"]),
    "column_sums": lambda arrays, sizes: np.einsum("ij->j", arrays["in"]),
    "maximum": lambda arrays, sizes: np.sort(arrays["in"])[-1:],
    "minimum": lambda arrays, sizes: np.sort(arrays["in"])[:1],
}
FUNCTIONS: dict[str, Any] = {
    "relu": lambda x: np.where(x > 0, x, 0.0),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))),
    "sigmoid": lambda x: 0.5 * (1 + np.tanh(x / 2)),
    "tanh": lambda x: (np.exp(2 * x) - 1) / (np.exp(2 * x) + 1),
    "silu": lambda x: x * 0.5 * (1 + np.tanh(x / 2)),
}
for name, function in {"": lambda x: x, **FUNCTIONS}.items():
    PLAIN[f"linear_{name}".rstrip("_")] = (
        lambda arrays, sizes, function=function: function(arrays["A"] @ arrays["B"] + arrays["bias"][None, :])
    )  # fmt: skip
    if name:
        PLAIN[f"multiply_{name}"] = lambda arrays, sizes, function=function: function(arrays["A"] @ arrays["B"])
NOT_OF_INTEGERS = ("softmax", "gelu", "sigmoid", "tanh", "silu")


def contents_of(problem: Problem, seed: int, element: str = "float32", right: bool = True) -> Contents:
    """The arrays after a run that was right, or with one output element far off."""
    shapes = problem.shapes
    types = dict.fromkeys(shapes, element_type(element))
    data = matrices(problem, shapes, types, Filling("random", seed))
    before = {name: data[name].copy() for name in problem.output_names if problem.holds_before(name)}
    shaped = {name: np.asarray(data[name], np.float64).reshape(shape) for name, shape in shapes.items()}
    (output,) = problem.output_names
    result = np.asarray(PLAIN[problem.kind.name](shaped, problem.sizes), np.float64)
    if problem.factors:
        result = problem.factors.get("alpha", 1.0) * result + problem.factors.get("beta", 0.0) * shaped[output]
    stored = np.array(result, types[output].stored).ravel()
    if not right:
        stored[len(stored) // 2] += 3
    return Contents(problem, shapes, types, {**data, output: stored}, before=before)


def checked(contents: Contents) -> Check:
    (output,) = contents.problem.output_names
    return check_result(contents, {output: np.arange(contents.data[output].size)}, True)


def test_every_checked_kind_is_tried() -> None:
    assert set(PLAIN) == {name for name, kind in PROBLEM_KINDS.items() if kind.is_checked}


@pytest.mark.parametrize("name", PLAIN)
@given(data=st.data())
@settings(max_examples=4, deadline=None)
def test_what_numpy_computes_is_right_and_what_is_far_from_it_is_not(name: str, data: st.DataObject) -> None:
    sizes: Any = {
        size.name: data.draw(st.integers(1, 17), label=size.name) for size in PROBLEM_KINDS[name].sizes if not size.is_optional
    }
    problem, seed = Problem(kind=name, **sizes), data.draw(st.integers(0, 99), label="seed")
    for element in ("float32",) if name.endswith(NOT_OF_INTEGERS) else ("float32", "int32"):
        good, bad = checked(contents_of(problem, seed, element)), checked(contents_of(problem, seed, element, right=False))
        assert good.passed, str(good)
        assert (bad.passed, bad.wrong) == (False, 1)
        assert bad.wrong_elements == (contents_of(problem, seed).data[problem.output_names[0]].size // 2,)
        assert f"{problem.output_names[0]} is wrong: 1 of" in str(bad)


def test_alpha_and_beta_scale_the_product_and_what_c_held() -> None:
    problem = Problem(7, 5, 6, alpha=2.5, beta=-0.5)
    assert checked(contents_of(problem, 3)).passed
    without = Contents(Problem(7, 5, 6), problem.shapes, contents_of(problem, 3).types, contents_of(problem, 3).data)
    assert not checked(without).passed


def test_each_matrix_of_a_batch_is_multiplied_by_its_own() -> None:
    problem = Problem(4, 5, 6, batch=3)
    assert problem.shapes == {"A": (3, 4, 6), "B": (3, 6, 5), "C": (3, 4, 5)}
    assert checked(contents_of(problem, 1)).passed
    check = checked(contents_of(problem, 1, right=False))
    assert (check.wrong, check.worst_at) == (1, (1, 2, 0))
    assert problem.flops == 3 * 2 * 4 * 5 * 6


@pytest.mark.parametrize("parts", [1, 4, 7])
def test_parts_of_a_sum_may_be_of_any_elements_if_they_add_up(parts: int) -> None:
    problem = Problem(kind="reduction", n=50, arrays={"out": ("parts",)})
    shapes = problem.shapes_by(lambda formula: parts)
    types = dict.fromkeys(shapes, element_type("float32"))
    data = matrices(problem, shapes, types, Filling())
    stretch, strided = -(-50 // parts), [data["in"][at::parts].sum() for at in range(parts)]
    for sums in ([data["in"][at * stretch : (at + 1) * stretch].sum() for at in range(parts)], strided):
        assert checked(Contents(problem, shapes, types, {**data, "out": np.array(sums, np.float32)})).passed
    strided[0] += 1
    assert not checked(Contents(problem, shapes, types, {**data, "out": np.array(strided, np.float32)})).passed


def test_nothing_is_checked_of_an_unknown_problem_and_that_is_said() -> None:
    problem = Problem(kind="none", n=4, arrays={"x": ("n",)}, outputs=("x",))
    contents = Contents(problem, {"x": (4,)}, {"x": element_type("float32")}, {"x": np.zeros(4, np.float32)})
    check = check_result(contents, {"x": np.arange(4)}, True)
    assert not check.is_checked
    assert str(check) == "nothing is checked: the problem doesn't say what is right"


PROBLEMS = [
    Problem(8, 9, 10),
    Problem(8, 8, 8, batch=2, alpha=0.5),
    Problem(kind="transpose", rows=64, columns=48),
    Problem(kind="reduction", n=9, arrays={"out": ("ceil_div(n, BLOCK)",)}),
    Problem(kind="none", n=4, m=2, arrays={"x": ("n", "m"), "y": ("n",)}, outputs=("y",)),
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_a_problem_comes_back_from_json_and_from_another_process(problem: Problem) -> None:
    assert from_json(to_json(problem), Problem) == problem
    assert from_plain(to_plain(problem), Problem) == problem
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert len({problem, from_plain(to_plain(problem), Problem)}) == 1


def test_a_multiplication_is_written_as_before_there_were_kinds() -> None:
    assert to_plain(Problem(8, 9, 10)) == {"M": 8, "N": 9, "K": 10}
    assert from_plain({"M": 8, "N": 9, "K": 10}, Problem) == Problem(8, 9, 10)
    assert (str(Problem(8, 9, 10)), Problem(8, 9, 10).text()) == ("8 x 9 x 10", "8 × 9 × 10")
    assert str(Problem(kind="transpose", rows=2, columns=3)) == "rows = 2, columns = 3"


@pytest.mark.parametrize(
    ("flat", "words"),
    [
        ({"kind": "transposed"}, "did you mean transpose?"),
        ({"rows": 3}, "a problem of kind multiply has no size 'rows'"),
        ({"kind": "transpose", "row": 3}, "did you mean rows?"),
        ({"M": 2.5}, "M: expected a whole number, not 2.5"),
        ({"M": True}, "M: expected a whole number"),
        ({"M": 0}, "M = 0: it must be at least 1"),
        ({"M": 2**40}, "M = 1099511627776: it must be at most"),
        ({"M": 2**20, "K": 2**20}, "A would have 1048576 x 1048576 elements: more than a 32-bit index can name"),
        ({"kind": "transpose", "arrays": {"x": "rows"}}, "has no array x"),
        ({"kind": "none", "outputs": ["y"]}, "has no array y"),
        ({"kind": "none", "arrays": {"x": [1, 1, 1, 1, 1]}}, "of 1 to 4 dimensions"),
        ({"kind": "none", "seed": 3}, "can't be named seed"),
        ({"kind": 3}, "the kind of a problem is a string"),
        ([8, 8, 8], "a problem is a table"),
    ],
)
def test_what_is_no_problem_is_refused(flat: Any, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        from_plain(flat, Problem)
    assert words in str(caught.value)


def test_a_problem_can_not_be_changed_and_copies_are_checked() -> None:
    problem = Problem(kind="transpose", rows=3, columns=4)
    with pytest.raises(AttributeError):
        problem.rows = 5  # type: ignore[misc]
    with pytest.raises(AttributeError):
        _ = problem.M
    assert problem.__replace__(rows=5).shapes == {"in": (5, 4), "out": (4, 5)}
    for wrong in ({"rows": 0}, {"M": 3}):
        with pytest.raises(SettingError):
            problem.__replace__(**wrong)
    assert problem.at_side(8).sizes == {"rows": 8, "columns": 8}
    assert Problem(kind="stencil", n=5, radius=2).at_side(8).sizes == {"n": 64, "radius": 2}


def test_each_array_has_a_colour_of_its_own() -> None:
    for kind in PROBLEM_KINDS.values():
        hues = Problem(kind=kind.name).hues
        assert len(set(hues.values())) == len(hues)
    assert Problem(8, 8, 8).hues == {"A": "A", "B": "B", "C": "C"}


@pytest.mark.parametrize(("share", "passes"), [(0.9, True), (2.0, False)])
def test_an_error_of_more_than_all_roundings_is_wrong(share: float, passes: bool) -> None:
    """A sum of K products, each a multiple of 2^-4, may err by K + 1 half units of its last place times the sum of their sizes."""
    problem, ones = Problem(2, 2, 16), np.ones(32, np.float32)
    types = dict.fromkeys("ABC", element_type("float32"))
    allowed = (16 + 1) * 2.0**-24 * 16
    data = {"A": ones, "B": ones, "C": np.full(4, 16 + share * allowed, np.float32)}
    assert checked(Contents(problem, problem.shapes, types, data)).passed is passes


def test_the_nearest_size_to_one_out_of_range_is_the_bound_beside_it() -> None:
    for size, nearest in ((0, 1), (-5, 1), (1 << 40, 2**31 - 1)):
        with pytest.raises(SettingError) as caught:
            Problem(size, 4, 4)
        assert caught.value.nearest == {"M": nearest}


def test_a_place_in_a_text_is_counted_from_1() -> None:
    assert place_in("a = 1\n  b = 2", "b") == Place(2, 3, 2, 4)

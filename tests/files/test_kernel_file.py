import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import launch_for, setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.kernel import Parameter
from gemmviz.model.messages import SettingError, SourceError, UsageError
from gemmviz.model.problem import Problem
from tests.conftest import sure

GOOD = (
    '// gemmviz = 1\n// entry = "k"\n// args = ["A"]\n// block = ["T"]\n// grid = ["1"]\n// [parameters.T]\n// default = 4\n\n'
)


def test_defaults_and_prose() -> None:
    spec = parse_kernel(GOOD.replace("4\n\n", "4\n// Each thread does one thing.\n// And then another.\n\n") + "code", "k.cu")
    assert spec.defaults == {"T": 4}
    assert spec.description == "Each thread does one thing. And then another."


def test_a_kernel_without_a_title_has_the_name_of_its_file() -> None:
    assert parse_kernel(GOOD + "code", "my_kernel.cu").title == "my_kernel"
    assert parse_kernel(GOOD.replace("// args", '// title = "Tiled"\n// args') + "code", "my_kernel.cu").title == "Tiled"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("int main() {}", 1, "no gemmviz header"),
        (GOOD.replace("gemmviz = 1", "gemmviz = 7"), 1, "this version reads 1"),
        (GOOD.replace('entry = "k"', 'entry = "k'), 2, "not TOML"),
        (GOOD.replace('entry = "k"', "entry = 3"), 2, "header: entry: Expected a string, got a whole number"),
        (GOOD.replace('// args = ["A"]\n', ""), 1, r"the field 'args' is missing \(begin the file with // gemmviz = 1"),
        (GOOD.replace('block = ["T"]', "block = []"), 4, r"block: .*\(write one to three formulas: x, y, z\)"),
        (GOOD.replace("default = 4", 'default = "x"'), 7, "parameters, T, default: Expected a whole number, got a string"),
        (GOOD.replace("default = 4", "default = 4\n// choices = [2]"), 7, "not among its choices"),
        (GOOD.replace('"k"', '"k<8"'), 2, "not the name of a kernel"),
        (GOOD.replace("[parameters.T]", "[parameters.K]"), 6, "can't be named K"),
        (GOOD.replace('["1"]', "[true]"), 5, "grid 1: Expected .* got true or false"),
        (GOOD.replace("// grid", "// column_major = [[1]]\n// grid"), 5, r"column_major 1: .*\(choose A, B, C\)"),
        (GOOD.replace("// grid", "// colour = 3\n// grid"), 5, "the field 'colour' is unknown"),
        (GOOD.replace("entry =", "enrty ="), 2, "'enrty' is unknown .did you mean entry"),
        (GOOD.replace("// [par", '// [[require]]\n// that = "1"\n// [par'), 6, "require 1: the field 'else' is missing"),
        (GOOD.replace("default = 4", "default = -4"), 7, "default: Expected a whole number >= 0"),
        (GOOD.replace("// [par", "// problem = { M = 0 }\n// [par"), 6, "problem: M = 0: it must be at least 1"),
    ],
)
def test_mistakes_are_placed(text: str, line: int, words: str) -> None:
    with pytest.raises(SourceError, match=words) as caught:
        parse_kernel(text, "k.cu")
    assert sure(caught.value.place).line == line
    assert str(caught.value).startswith("k.cu:")


@pytest.mark.parametrize(
    ("kernel", "size", "parameters", "words", "nearest"),
    [
        ("04_tiled", (64, 64, 64), {"TILE_WIDTH": 64}, "needs 4096 threads", {"TILE_WIDTH": 32}),
        ("04_tiled", (64, 64, 64), {"TILE_WIDTH": 30}, "choose one of", {"TILE_WIDTH": 32}),
        ("01_single_block", (40, 32, 8), {}, "1280 elements", {"M": 32}),
        ("05_tiled_unguarded", (17, 16, 16), {"TILE_WIDTH": 16}, "multiples of TILE_WIDTH = 16", {"M": 16}),
    ],
)
def test_illegal_settings_name_the_limit_and_the_nearest(
    kernel: str, size: tuple[int, int, int], parameters: dict[str, int], words: str, nearest: dict[str, int]
) -> None:
    spec = load_kernel(kernel)
    with pytest.raises(SettingError, match=words) as caught:
        launch_for(setup_for(spec, Problem(*size), parameters))
    assert caught.value.nearest == nearest
    for name, value in nearest.items():  # what is offered works
        sizes = {n: v for n, v in nearest.items() if n in "MNK"}
        good = {**parameters, **({name: value} if name in parameters else {})}
        assert launch_for(setup_for(spec, Problem(*size).__replace__(**sizes), good)).threads_per_block > 0


def test_device_limits_hold_without_a_rule() -> None:
    spec = parse_kernel(GOOD.replace("[parameters.T]", "# any\n// [parameters.T]"), "k.cu")
    with pytest.raises(SettingError, match="2000 along x; NVIDIA H200 allows 1 to 1024") as caught:
        launch_for(setup_for(spec, Problem(1, 1, 1), {"T": 2000}))
    assert caught.value.id == "block-extent"


@pytest.mark.parametrize("parameter", [Parameter("T", 10**30), Parameter("T", 4, (4, 10**30))])
def test_parameters_are_numbers_of_32_bits_wherever_a_kernel_comes_from(parameter: Parameter) -> None:
    with pytest.raises(SourceError, match="T has values beyond 32 bits"):
        structs.replace(load_kernel("04_tiled"), parameters=(parameter,))


def test_sizes_below_one_and_beyond_32_bits() -> None:
    with pytest.raises(SettingError, match="at least 1"):
        Problem(0, 1, 1)
    with pytest.raises(SettingError, match="32-bit"):
        Problem(1 << 16, 1 << 16, 1)


def test_kernels_by_name() -> None:
    assert kernel_names() == sorted(kernel_names())
    assert load_kernel("tiled").name == "04_tiled"
    with pytest.raises(UsageError, match="did you mean 04_tiled"):
        load_kernel("04_tild")
    with pytest.raises(UsageError, match="did you mean coalescing"):  # lessons are opened by name, too
        load_kernel("coalescings")
    with pytest.raises(SettingError, match="no parameter WIDTH"):
        setup_for(load_kernel("04_tiled"), None, {"WIDTH": 3})


def test_a_formula_that_goes_wrong_is_placed() -> None:
    spec = parse_kernel(GOOD.replace('["1"]', '["Q / 2"]'), "k.cu")
    with pytest.raises(SourceError, match=r"k.cu:5:\d+: .*uses 'Q'"):
        launch_for(setup_for(spec))


def test_too_much_shared_memory_is_a_setting_that_cannot_run() -> None:
    from tests.conftest import kernel_from, trace_of

    with pytest.raises(
        SettingError, match="400000 bytes of shared memory in a block; NVIDIA H200 allows at most 49152, and"
    ) as caught:
        trace_of(kernel_from("__shared__ float s[100000]; s[0] = 1.0f;"))
    assert caught.value.id == "shared-memory"


ABOVE = (
    "\ufeff#pragma once\n\n// Copyright (c) somebody\n// All rights reserved = yes\n/* Second\n   notice\n */\n/* third */\n"
)


@pytest.mark.parametrize(
    "above", ["// Copyright\n", "#pragma once\n", "/* a */\n", "/*\n * a\n */\n\n", ABOVE.removeprefix("\ufeff")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_header_may_stand_below_comments_and_pragma_once(above: str, end: str) -> None:
    text = (above + GOOD).replace("\n", end)
    assert parse_kernel(text, "k.cu").entry == "k"
    with pytest.raises(SourceError) as caught:
        parse_kernel(text.replace('entry = "k"', "entry = 3"), "k.cu")
    assert sure(caught.value.place).line == above.count("\n") + 2


@pytest.mark.parametrize("above", ["int x;\n", "#include <a.h>\n", "/* open\n", "/* one */ int x;\n/*\n"])
def test_a_header_stands_above_all_code(above: str) -> None:
    with pytest.raises(SourceError, match="no gemmviz header"):
        parse_kernel(above + GOOD, "k.cu")


@pytest.mark.parametrize(("right", "wrong"), [('entry = "k"', "entry = 3"), ("default = 4", 'default = "x"')])
@pytest.mark.parametrize("above", ["", "// Copyright\n"])
def test_a_mistake_is_placed_behind_the_slashes(right: str, wrong: str, above: str) -> None:
    text = above + GOOD.replace(right, wrong)
    with pytest.raises(SourceError) as caught:
        parse_kernel(text, "k.cu")
    place = sure(caught.value.place)
    assert text.splitlines()[place.line - 1][place.column - 1 :] == wrong


def test_a_mistake_without_a_place_is_at_the_beginning_of_the_header() -> None:
    with pytest.raises(SourceError, match="a number in it is too long") as caught:
        parse_kernel("// Copyright\n" + GOOD.replace("default = 4", f"default = {'4' * 5000}"), "k.cu")
    assert sure(caught.value.place).line == 2

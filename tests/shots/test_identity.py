"""Values with arrays are compared by identity: a comparison of arrays has no truth."""

import typing
from typing import Any

from msgspec import Struct, structs

from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.cases import LoopsCase
from gemmviz.model.records import fields, is_record_type
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named, views
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.knowledge import Context, Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view, value_of
from tests.conftest import kernel_from


def has_equality(kind: Any) -> bool:
    """Whether values of a type of records are compared field by field."""
    return bool(kind.__struct_config__.eq if issubclass(kind, Struct) else kind.__dataclass_params__.eq)


def _arrays_in(kind: Any, found: set[str], seen: set[Any]) -> None:
    """Adds the fields of arrays that a comparison of two values of this type would compare."""
    for inner in typing.get_args(kind):
        _arrays_in(inner, found, seen)
    if not is_record_type(kind) or kind in seen or not has_equality(kind):
        return
    seen.add(kind)
    types = typing.get_type_hints(kind)
    for each in fields(kind):
        if "ndarray" in str(types[each.name]):
            found.add(f"{kind.__name__}.{each.name}")
        _arrays_in(types[each.name], found, seen)


def test_no_comparison_of_subjects_compares_arrays() -> None:
    found, seen = set[str](), set[Any]()
    for kind in (Context, *(subject_of_view(name).kind for name in views())):
        _arrays_in(kind, found, seen)
    assert found == set()


def test_loops_of_a_kernel_whose_other_blocks_go_on_longer() -> None:
    body = """
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 2 + 2 * blockIdx.x; ++k) sum += A[k % K] * B[k % K * N];
    if (i < M * N) C[i] = sum;
    """
    setup = setup_for(kernel_from(body, grid='["4"]'))
    shot = Shot(setup, view="loops")
    first, second = (value_of(LoopsCase, Knowledge(shot, Interpreter())) for _ in range(2))
    assert first.main.counters == ()  # which of the steps are the watched thread's is unknown
    view_named("loops").scene(first, ViewOptions(moment=1.0))
    assert first != second
    assert first == structs.replace(first)

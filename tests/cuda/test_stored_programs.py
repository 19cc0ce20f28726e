"""The stored programs of the shipped kernels are those that the reader makes of their texts."""

import pickle

import pytest
from recording.stored import programs_of_kernels

from gemmviz.cuda import program
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.cuda.program import program_for, reader, stored_programs


@pytest.mark.nightly
def test_they_are_what_the_reader_makes() -> None:
    stored = {name: repr(pickle.loads(pickled)) for name, pickled in stored_programs().items()}
    assert stored == {name: repr(each) for name, each in programs_of_kernels().items()}, "run make record WHAT=programs"


def test_a_shipped_kernel_needs_no_reader_and_a_changed_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    real = reader()

    class Watched:
        def run(self, name: str, *arguments: object) -> object:
            asked.append(name)
            return real.run(name, *arguments)

    monkeypatch.setattr(program, "reader", Watched)
    program._program.cache_clear()
    setup = setup_for(load_kernel("04_tiled"))
    shipped = program_for(setup.kernel, {"TILE_WIDTH": 4})
    assert asked == []
    assert repr(program_for(setup.kernel, {"TILE_WIDTH": 5})) != repr(shipped)
    assert asked == ["program"]

import dataclasses
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cli.main import main
from gemmviz.files import trace_file
from gemmviz.files.trace_file import read_trace, write_trace
from gemmviz.model.messages import GemmvizError, TraceFileError, UsageError
from gemmviz.model.records import fields
from gemmviz.model.trace import BOUNDS, Trace
from gemmviz.run.cpu import recorder
from tests.conftest import kernel_from, trace_of


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_of("04_tiled", 7, 6, 5, TILE_WIDTH=2, values=True)


@pytest.fixture
def saved(trace: Trace, tmp_path: Path) -> Path:
    path = tmp_path / "trace.gvt"
    write_trace(trace, path)
    return path


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The file with its members (name to bytes) changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def write_unchecked(trace: Trace, path: Path) -> None:
    """Writes a trace that ``write_trace`` refuses, and leaves nothing when it does."""
    with pytest.raises(TraceFileError):
        write_trace(trace, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace_file, "check_trace", lambda trace, file: None)
        write_trace(trace, path)


def manifest_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, Any] = json.loads(archive.read("manifest.json"))
        return found


def changed_manifest(path: Path, **facts: Any) -> Path:
    """The file with other facts; "trace" has those of the trace changed that it names."""
    whole = manifest_of(path)
    whole |= {**facts, "trace": {**whole["trace"], **facts.get("trace", {})}}
    return rewritten(path, lambda members: members.update({"manifest.json": json.dumps(whole).encode()}))


def test_round_trip_is_exact(trace: Trace, saved: Path) -> None:
    back = read_trace(saved)
    for field in fields(Trace):
        a, b = getattr(trace, field.name), getattr(back, field.name)
        assert np.array_equal(a, b) and a.dtype == b.dtype if isinstance(a, np.ndarray) else a == b, field.name


def test_cut_off_anywhere(saved: Path) -> None:
    data = saved.read_bytes()
    for length in range(0, len(data), 97):
        saved.write_bytes(data[:length])
        with pytest.raises(TraceFileError):
            read_trace(saved)


def test_one_flipped_bit_never_goes_unnoticed(trace: Trace, saved: Path) -> None:
    """A flip is refused, or hits bytes that mean nothing (zip padding, time stamps): then the trace is the same."""
    data = saved.read_bytes()
    refused = 0
    for position in range(0, len(data), 211):
        flipped = bytearray(data)
        flipped[position] ^= 0x10
        saved.write_bytes(flipped)
        try:
            back = read_trace(saved)
        except TraceFileError:
            refused += 1
        else:
            assert (back.element == trace.element).all()
            assert back.setup.kernel.text == trace.setup.kernel.text
    assert refused > len(data) / 211 * 0.9


def test_newer_version_is_refused_by_name(saved: Path) -> None:
    with pytest.raises(TraceFileError, match="has version 99; this gemmviz reads 5"):
        read_trace(changed_manifest(saved, version=99))


@pytest.mark.parametrize(
    "facts",
    [
        {"format": "holiday pictures"},
        {"version": "1"},
        {"trace": {"sites": []}},
        {"trace": {"arrays": 3}},
        {"trace": {"rules": {"warp_size": 0}}},
        {"trace": {"rules": {"warp_size": 1 << 40}}},
        {"trace": {"rules": {"sector_bytes": 0}}},
        {"trace": {"notes": 3}},
        {"trace": {"loops": [{"outer": 9, "place": None}]}},
        {"trace": {"blocks": {"x": [0, 9], "y": [0, 1], "z": [0, 1]}}},
        {"trace": {"setup": {}}},
    ],
)
def test_foreign_and_nonsense_manifests(saved: Path, facts: dict[str, Any]) -> None:
    with pytest.raises(TraceFileError):
        read_trace(changed_manifest(saved, **facts))


def test_recorder_writer_and_reader_have_the_same_bounds(trace: Trace, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = structs.replace(BOUNDS, steps=3)
    for module in (recorder, trace_file):
        monkeypatch.setattr(module, "BOUNDS", few)
    with pytest.raises(GemmvizError, match="more than 3 steps"):
        trace_of("04_tiled", 7, 6, 5, TILE_WIDTH=2)
    with pytest.raises(TraceFileError, match="the limit is 3"):
        read_trace(saved)
    saved.unlink()
    with pytest.raises(TraceFileError, match="the limit is 3"):
        write_trace(trace, saved)
    assert not saved.exists()


def test_source_must_be_the_traced_one(saved: Path) -> None:
    setup = manifest_of(saved)["trace"]["setup"]
    setup["kernel"]["text"] += "// changed"
    with pytest.raises(TraceFileError, match="source text is not that of the traced kernel"):
        read_trace(changed_manifest(saved, trace={"setup": setup}))


def test_pickles_are_not_read(saved: Path, tmp_path: Path) -> None:
    import io

    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(TraceFileError):
        read_trace(rewritten(saved, lambda members: members.update({"site.npy": buffer.getvalue()})))


@pytest.mark.parametrize("name", ["../../etc/evil.npy", "/abs.npy", "readme.txt"])
def test_members_that_do_not_belong(saved: Path, name: str) -> None:
    with pytest.raises(TraceFileError, match="don't belong"):
        read_trace(rewritten(saved, lambda members: members.update({name: b"x"})))


def test_absurd_shapes_are_refused_before_memory_is_spent(saved: Path) -> None:
    import tracemalloc

    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["manifest.json"])
        manifest["arrays"]["element"]["shape"] = [10**6, 10**6]
        members["manifest.json"] = json.dumps(manifest).encode()
        members["element.npy"] = (
            np.lib.format.magic(1, 0)
            + b"v\x00{'descr': '<i4', 'fortran_order': False, 'shape': (1000000, 1000000), }".ljust(120)
            + b"\n"
        )

    rewritten(saved, change)
    tracemalloc.start()
    with pytest.raises(TraceFileError):
        read_trace(saved)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_a_zip_bomb_is_refused(saved: Path) -> None:
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", "{}")
        archive.writestr("element.npy", bytes(50 << 20))
    with pytest.raises(TraceFileError, match="more bytes than it has"):
        read_trace(saved)


@pytest.mark.parametrize("number", [10**6, (1 << 31) - 1])
def test_elements_outside_their_array_are_refused(trace: Trace, tmp_path: Path, number: int) -> None:
    element = trace.element.copy()
    element[0, 0] = number
    write_unchecked(dataclasses.replace(trace, element=element), tmp_path / "bad.gvt")
    with pytest.raises(TraceFileError, match="elements"):
        read_trace(tmp_path / "bad.gvt")


def test_trips_of_loops_cost_nothing_where_no_step_is(trace: Trace, tmp_path: Path) -> None:
    """One trip number of a file may be any: what is drawn goes by the steps that there are."""
    visits = trace.visits.copy()
    visits[visits >= 0] += 2_000_000_000
    write_trace(dataclasses.replace(trace, visits=visits), tmp_path / "odd.gvt")
    replay = Replay.of(read_trace(tmp_path / "odd.gvt"))
    assert replay.phases > 2_000_000_000
    assert 0 < len(Reader(replay).at(0).areas("A")) <= trace.steps
    visits[:] = (1 << 31) - 1
    write_unchecked(dataclasses.replace(trace, visits=visits), tmp_path / "odd.gvt")
    with pytest.raises(TraceFileError, match="too many trips"):
        read_trace(tmp_path / "odd.gvt")


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_trace(tmp_path / "none.gvt")


@pytest.mark.parametrize(
    ("index", "facts"),
    [
        (0, {"shape": [1 << 20, 1 << 20]}),
        (0, {"shape": [7, 4]}),
        (0, {"name": "Q"}),
        (3, {"shape": [1 << 40]}),
        (3, {"shape": [-2, -2]}),
        (3, {"shape": ["2", 2]}),
        (3, {"element_type": "object"}),
        (3, {"space": "moon"}),
    ],
)
def test_arrays_that_no_kernel_has(saved: Path, index: int, facts: dict[str, Any]) -> None:
    arrays = manifest_of(saved)["trace"]["arrays"]
    arrays[index] |= facts
    with pytest.raises(TraceFileError):
        read_trace(changed_manifest(saved, trace={"arrays": arrays}))


@pytest.mark.parametrize(
    "facts",
    [
        {"kind": "moon"},
        {"kind": "store"},
        {"kind": "barrier"},
        {"kind": "copy"},
        {"place": None},
        {"is_async": True},
        {"operands": []},
        {"operands": [{"array": 0, "access": "read"}] * 9},
        {"operands": [{"array": 0, "access": "read", "layout": {"offsets": [0] * ((1 << 16) + 1)}}]},
        {"operands": [{"array": -1, "access": "read"}]},
        {"operands": [{"array": 0, "access": "moon"}]},
        {"operands": [{"array": 0, "access": "read", "element_type": "moon"}]},
        {"operands": [{"array": 0, "access": "read", "layout": {"offsets": []}}]},
        {"operands": [{"array": 0, "access": "read", "layout": {"offsets": [-1]}}]},
        {"operands": [{"array": 0, "access": "read", "layout": {"offsets": [0, 1, 2], "lanes": 2}}]},
        {"operands": [{"array": 0, "access": "read", "layout": {"offsets": [0], "lanes": 0}}]},
        {"operands": [{"array": 0, "access": "read", "layout": {"offsets": [0] * 64, "lanes": 64}}]},
        {"place": {"line": 999, "column": 1, "end_line": 999, "end_column": 2}},
    ],
)
def test_sites_that_no_kernel_has(saved: Path, facts: dict[str, Any]) -> None:
    sites = manifest_of(saved)["trace"]["sites"]
    load = next(site for site in sites if site["kind"] == "load")
    load |= facts
    with pytest.raises(TraceFileError):
        read_trace(changed_manifest(saved, trace={"sites": sites}))


@pytest.mark.parametrize(
    ("name", "value"), [("origin_step", 10**6), ("origin", 10**6), ("origin_array", 5), ("origin_step", 0)]
)
def test_origins_that_are_none(trace: Trace, tmp_path: Path, name: str, value: int) -> None:
    changed = getattr(trace, name).copy()
    changed[0] = value
    write_unchecked(dataclasses.replace(trace, **{name: changed}), tmp_path / "bad.gvt")
    with pytest.raises(TraceFileError):
        read_trace(tmp_path / "bad.gvt")


def test_a_result_that_is_no_number_survives(tmp_path: Path) -> None:
    from tests.conftest import kernel_from

    trace = trace_of(kernel_from("C[threadIdx.x] = sqrtf(-1.0f);"))
    assert not trace.check.passed
    write_trace(trace, tmp_path / "nan.gvt")
    assert read_trace(tmp_path / "nan.gvt").check == trace.check


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"version":', b'"version":5,"version":'),  # given twice
        (b'"by":"', b'"by":"\\ud800'),  # half a character
        (b'"seed":0', b'"seed":NaN'),
        (b'"seed":0', b'"seed":' + b"9" * 5000),
    ],
)
def test_a_manifest_is_json_by_the_book(
    before: bytes, after: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, odd = tmp_path / "whole.gvt", tmp_path / "odd.gvt"
    write_trace(trace_of("04_tiled", 4, 4, 4, TILE_WIDTH=2), whole)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(odd, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            assert name != "manifest.json" or before in data
            target.writestr(name, data.replace(before, after, 1) if name == "manifest.json" else data)
    with pytest.raises(TraceFileError, match="its manifest is damaged"):
        read_trace(odd)
    assert main(["info", "--json", str(odd)]) == 1
    assert "damaged" in json.loads(capsys.readouterr().out)["error"]


def test_an_origin_just_beyond_its_array(trace: Trace, tmp_path: Path) -> None:
    origin = trace.origin.copy()
    place = tuple(np.argwhere(trace.origin_array >= 0)[0].tolist())
    origin[place] = [array.size for array in trace.arrays if array.space == "global"][int(trace.origin_array[place])]
    write_unchecked(dataclasses.replace(trace, origin=origin), tmp_path / "bad.gvt")
    with pytest.raises(TraceFileError, match="elements that its arrays don't have"):
        read_trace(tmp_path / "bad.gvt")


def test_a_copy_completes_at_a_later_wait(tmp_path: Path) -> None:
    copy = "__pipeline_memcpy_async(&s[threadIdx.x], &A[threadIdx.x], 4); __pipeline_commit(); __pipeline_wait_prior(0);\n"
    body = f"__shared__ float s[4];\n{copy}{copy}C[threadIdx.x] = s[threadIdx.x];"
    trace = trace_of(kernel_from(body, before="#include <cuda_pipeline.h>"))
    copies = [step for step in range(trace.steps) if trace.site_of(step).is_async]
    assert trace.completes[copies[0]] < copies[1]
    completes = trace.completes.copy()
    completes[copies[1]] = completes[copies[0]]
    write_unchecked(dataclasses.replace(trace, completes=completes), tmp_path / "bad.gvt")
    with pytest.raises(TraceFileError, match="completes a step where nothing waits for it"):
        read_trace(tmp_path / "bad.gvt")

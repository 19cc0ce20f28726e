"""Random programs, of which the interpreter and a compiler must make the same."""

import json
from pathlib import Path

from hypothesis import strategies as st

from tests.fuzz.campaign import Campaign
from tests.run.program_writer import Writer, kernel_text
from tests.run.random_programs import GXX, differences

_BATCH = 20  # programs that are compiled together


def _programs() -> st.SearchStrategy[bytes]:
    return st.integers(0, 2**40).map(lambda each: json.dumps([each, each + _BATCH]).encode())


def _compare(path: Path) -> None:
    """Compares what each program leaves in C, bit for bit."""
    first, stop = json.loads(path.read_bytes())
    found = differences(range(first, stop))
    assert not found, f"seed {found[0][0]}: {found[0][1]}\n{kernel_text(*Writer(found[0][0]).program())}"


CAMPAIGNS = {
    "programs": Campaign(".json", _programs, _compare, missing=lambda: "" if GXX else "g++", starts=("g++",)),
}

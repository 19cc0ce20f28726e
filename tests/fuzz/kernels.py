"""Kernels and their headers, spoiled."""

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import device_for, launch_for, setup_for
from gemmviz.run.choosing import run
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from tests.fuzz.campaign import Campaign
from tests.fuzz.drawing import INTERPRETER, draw_launch, draw_run, random_of
from tests.fuzz.mutators import HEADER, NUMBERS, ODD, EachPlace, EachWord, spoiled_text, toml_bytes

_SHOWN = 0.3  # share of the kernels that are looked at in full
_FORMULAS = (
    "N // 0", "2**70", "1 << 40", "2147483647", "-1", "N % 0", "ceil_div(N, 0)", "M + Z", "N if M else K", "__import__('os')",
    "(" * 300, "9" * 400, "min(M)", "TILE_WIDTH", "true", "C", "A", ["-1"], ["2147483647"], ["N", "M", "K", "1"], ["nan"],
)  # fmt: skip


def _sources() -> st.SearchStrategy[bytes]:
    return spoiled_text(kernels()).map(encoded)


def _headers() -> st.SearchStrategy[bytes]:
    return spoiled_text(kernels(), (*HEADER, *NUMBERS)).map(encoded)


def _each_source() -> Sequence[bytes]:
    text = load_kernel("04_tiled").text
    return EachWord(text, text.index("extern"))


def _each_header() -> Sequence[bytes]:
    text = load_kernel("04_tiled").text
    facts = tomllib.loads("\n".join(line.removeprefix("// ") for line in text.splitlines() if line.startswith("//")))
    body = text[text.index("extern") :]

    def packed(facts: Any) -> bytes:
        header = toml_bytes(facts).decode("utf-8", "surrogatepass")
        return encoded("".join(f"// {line}\n" for line in header.splitlines()) + "\n" + body)

    return EachPlace(facts, packed, (*ODD, *_FORMULAS))


@cache
def kernels() -> list[str]:
    """Texts of right kernels: our own, and some that people wrote."""
    theirs = Path(__file__).parent.parent / "data" / "kernels"
    return [load_kernel(name).text for name in kernel_names()] + [path.read_text() for path in sorted(theirs.glob("*.cu"))]


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def run_kernel(path: Path) -> None:
    """Runs a kernel; of some it draws pictures, and works out all that the window would."""
    setup = setup_for(load_kernel(str(path)))
    launch_for(setup)
    outcome = run(setup, (0, 0, 0), INTERPRETER)
    random = random_of(path)
    if outcome.trace is not None and random.random() < _SHOWN:
        replay = Replay.of(outcome.trace)
        draw_run(replay, random)
        known = Knowledge(Shot(setup), INTERPRETER, outcome, with_values=False)
        known.watch_result, known.replay  # noqa: B018
        INTERPRETER.count(setup, LaunchCounter(device_for(setup).rules))
        draw_launch(setup, random)


CAMPAIGNS = {
    "sources": Campaign(".cu", _sources, run_kernel, _each_source),
    "headers": Campaign(".cu", _headers, run_kernel, _each_header),
}

"""What starting costs, without a clock: the modules of gemmviz that are imported before there is an answer."""

import subprocess
import sys

import pytest

_LOADED = "import sys; print(*sorted(name for name in sys.modules if name.startswith('gemmviz')))"
_VERSION = f"""
import sys
sys.argv = ["gemmviz", "--version"]
from gemmviz.__main__ import main
try:
    main()
except SystemExit:
    {_LOADED}
"""
_TRACE = f"""
import gemmviz
gemmviz.trace("04_tiled", M=8, N=8, K=8)
{_LOADED}
"""
MOST = {"version": 30, "trace": 140}


def _modules(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize(("name", "code"), [("version", _VERSION), ("trace", _TRACE)])
def test_few_modules_are_imported(name: str, code: str) -> None:
    found = _modules(code)
    assert len(found) <= MOST[name], found
    assert "gemmviz.source.reader_process" not in found


def test_the_window_and_what_draws_are_not_imported_for_a_trace() -> None:
    assert not [name for name in _modules(_TRACE) if name.startswith(("gemmviz.gui", "gemmviz.scenes", "gemmviz.render"))]

"""New processes that measure: the program's own commands, and the scripts in ``probes``, for this tree or for another one."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROBES = Path(__file__).parent / "probes"


def environment(tree: Path) -> dict[str, str]:
    """The variables for a process that imports gemmviz from ``tree``, with compiled modules as an installation has them."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**own, "PYTHONPATH": str(tree), "QT_QPA_PLATFORM": "offscreen"}


def probe(name: str, *words: str, tree: Path = ROOT) -> dict[str, float]:
    """The figures that one of the scripts prints. Raises CalledProcessError where it can't run."""
    command = [sys.executable, str(PROBES / f"{name}.py"), *words]
    done = subprocess.run(command, cwd=tree, env=environment(tree), capture_output=True, text=True, check=True, timeout=120)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def command_seconds(*words: str, tree: Path = ROOT) -> float:
    """Seconds that a command of the program takes as a whole process. Raises CalledProcessError where it fails."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "gemmviz", *words]
    subprocess.run(command, cwd=tree, env=environment(tree), capture_output=True, check=True, timeout=120)
    return time.perf_counter() - start


def processor_seconds(*words: str, tree: Path = ROOT) -> float:
    """Seconds of processor time that Python takes for some arguments, its child processes included. Raises CalledProcessError
    where it fails.
    """
    before = os.times()
    subprocess.run([sys.executable, *words], cwd=tree, env=environment(tree), capture_output=True, check=True, timeout=120)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system

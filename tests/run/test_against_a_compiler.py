"""Random kernels with nested, divergent control flow do for every thread what g++ makes that thread do."""

import ctypes
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gemmviz.files.kernel_file import parse_kernel
from gemmviz.run.executor import Recording, trace_kernel
from gemmviz.spec.legality import setup_for
from tests.conftest import sure

GXX = shutil.which("g++")
THREADS, BLOCKS, KERNELS = 6, 2, 200


class Writer:
    """Writes one random program: integers only, so that any difference shows."""

    def __init__(self, seed: int, reads_a: bool = False) -> None:
        self.random = random.Random(seed)
        self.reads_a = reads_a
        self.names = 0
        self.values = self.random.randint(0, 2)  # functions that give a value
        self.changers = self.random.randint(0, 2)  # functions that change a reference
        self.mutable: list[str] = []
        self.calls = True

    def expression(self, known: list[str], depth: int = 2) -> str:
        pick = self.random.random()
        if depth == 0 or pick < 0.35:
            return self.random.choice([*known, "t", "b", str(self.random.randint(0, 5))])
        a, b = self.expression(known, depth - 1), self.expression(known, depth - 1)
        if pick < 0.65:
            return f"({a} {self.random.choice('+-*&^|')} {b})"
        if pick < 0.75:
            return f"({self.condition(known, depth - 1)} ? {a} : {b})"
        if pick < 0.85 and self.calls and self.values:
            return f"value{self.random.randrange(self.values)}({a}, {b})"
        if pick < 0.93:
            return f"A[({a}) & 31]" if self.reads_a and self.calls else f"list[({a}) & 3]"
        return f"({a} % {self.random.randint(2, 5)})"

    def condition(self, known: list[str], depth: int = 2) -> str:
        pick = self.random.random()
        if depth and pick < 0.25:
            return f"({self.condition(known, depth - 1)} {self.random.choice(['&&', '||'])} {self.condition(known, depth - 1)})"
        if depth and pick < 0.35 and self.mutable:
            return f"(t > 2 && {self.random.choice(self.mutable)}++ > 1)"
        return f"((({self.expression(known, 1)}) & {self.random.choice([1, 1, 2, 3])}) {self.random.choice(['==', '!='])} 0)"

    def block(self, known: list[str], depth: int, loop: bool, leave: str, count: int) -> str:
        known, before = list(known), list(self.mutable)
        text = " ".join(self.statement(known, depth, loop, leave) for _ in range(count))
        self.mutable = before
        return text

    def statement(self, known: list[str], depth: int, loop: bool, leave: str) -> str:
        pick, some = self.random.random(), self.random
        if pick < 0.12:
            self.names += 1
            name, value = f"v{self.names}", self.expression(known)
            known.append(name)
            self.mutable.append(name)
            return f"int {name} = {value};"
        if pick < 0.4 or depth == 0:
            target = some.choice([*self.mutable, f"list[({self.expression(known, 1)}) & 3]"])
            return f"{target} {some.choice(['=', '+=', '-=', '^='])} {self.expression(known)};"
        if pick < 0.62:
            inside = self.block(known, depth - 1, loop, leave, some.randint(1, 3))
            if loop and some.random() < 0.35:
                inside += some.choice([" break;", " continue;"])
            elif some.random() < 0.15:
                inside += " " + leave.replace("VALUE", self.expression(known, 1))
            other = f" else {{ {self.block(known, depth - 1, loop, leave, 2)} }}" if some.random() < 0.4 else ""
            return f"if ({self.condition(known)}) {{ {inside} }}{other}"
        if pick < 0.85:
            return self.loop(known, depth, leave)
        if pick < 0.92 and loop:
            return f"if ({self.condition(known)}) {some.choice(['break;', 'continue;'])}"
        if self.calls and self.changers and self.mutable:
            return f"change{some.randrange(self.changers)}({self.expression(known, 1)}, {some.choice(self.mutable)});"
        return f"{{ {self.block(known, depth - 1, loop, leave, 2)} }}"

    def loop(self, known: list[str], depth: int, leave: str) -> str:
        self.names += 1
        name, trips = f"i{self.names}", self.random.randint(1, 4)
        bound = self.random.choice([str(trips), f"({self.expression(known, 1)} & 3)"])
        body = self.block([*known, name], depth - 1, True, leave, self.random.randint(1, 3))
        return self.random.choice(
            [
                f"for (int {name} = 0; {name} < {bound}; ++{name}) {{ {body} }}",
                f"{{ int {name} = {trips}; while ({name}-- > 0) {{ {body} }} }}",
                f"{{ int {name} = {trips}; do {{ {body} }} while (--{name} > 0 && {self.condition(known, 1)}); }}",
            ]
        )

    def program(self) -> tuple[str, str]:
        """Device functions, and the kernel's body."""
        functions = []
        self.calls = False
        for kind, count in (("int value", self.values), ("void change", self.changers)):
            for number in range(count):
                self.mutable = ["acc"]
                gives = kind.startswith("int")
                leave = "return VALUE;" if gives else "return;"
                head = f"{kind}{number}(int t, int {'b' if gives else '&acc'})"
                start = "int list[4] = {1, 2, 3, 4}; " + ("int acc = 1;" if gives else "int b = 1;")
                body = self.block(["acc"], 2, False, leave, 3)
                functions.append(f"__device__ {head} {{ {start} {body} {'return acc;' if gives else 'acc += 1;'} }}")
        self.calls, self.mutable = True, ["x", "y"]
        out = f"C[(b * {THREADS} + t) * 2] = x; C[(b * {THREADS} + t) * 2 + 1] = y + list[0] + 3 * list[1] + 5 * list[2] + 7 * list[3];"
        start = "int t = threadIdx.x, b = blockIdx.x, x = t, y = 2; int list[4] = {1, 2, 3, 4};"
        body = self.block(["x", "y"], 3, False, f"{{ {out} return; }}", self.random.randint(3, 6))
        return "\n".join(functions), f"{start} {body} {out}"


def compiled(programs: list[tuple[str, str]], folder: Path) -> ctypes.CDLL:
    text = "static struct { int x; } threadIdx, blockIdx;\n#define __device__ static\n"
    for number, (functions, body) in enumerate(programs):
        text += f"namespace n{number} {{ {functions}\nvoid kernel(int* C) {{ {body} }} }}\n"
        text += (
            f'extern "C" void run{number}(int* C) {{ for (int b = 0; b < {BLOCKS}; b++) for (int t = 0; t < {THREADS}; t++) '
        )
        text += f"{{ blockIdx.x = b; threadIdx.x = t; n{number}::kernel(C); }} }}\n"
    (folder / "all.cpp").write_text(text)
    library = folder / "all.so"
    subprocess.run(
        [str(GXX), "-O0", "-fwrapv", "-w", "-shared", "-fPIC", "-o", str(library), str(folder / "all.cpp")], check=True
    )
    return ctypes.CDLL(str(library))


def kernel_text(functions: str, body: str) -> str:
    header = (
        f'// gemmviz = 1\n// entry = "kernel"\n// args = ["A", "B", "C"]\n// block = ["{THREADS}"]\n// grid = ["{BLOCKS}"]\n'
    )
    return f"{header}\n{functions}\n__global__ void kernel(const int* A, const int* B, int* C) {{ {body} }}\n"


def interpreted(functions: str, body: str) -> list[float]:
    spec = parse_kernel(kernel_text(functions, body), "random.cu")
    trace = trace_kernel(setup_for(spec), None, Recording(values=True)).whole
    result = np.zeros(2 * THREADS * BLOCKS)
    for step in range(trace.steps):
        active = trace.element[step] >= 0
        result[trace.element[step][active]] = sure(trace.value)[step][active]
    return result.tolist()


@pytest.mark.slow
@pytest.mark.skipif(GXX is None, reason="needs g++")
def test_random_kernels(tmp_path: Path) -> None:
    programs = [Writer(seed).program() for seed in range(KERNELS)]
    library = compiled(programs, tmp_path)
    for number, (functions, body) in enumerate(programs):
        expected = (ctypes.c_int * (2 * THREADS * BLOCKS))()
        getattr(library, f"run{number}")(expected)
        wanted = np.array(expected[:]).astype(np.float32).tolist()
        assert interpreted(functions, body) == wanted, f"kernel {number}:\n{functions}\n{body}"

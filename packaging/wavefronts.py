"""Records the wavefronts of single shared-memory accesses on this machine's GPU: make wavefronts.

Measures the accesses of ``patterns`` and again every access recorded before. Needs CuPy and Nsight Compute.
"""

import csv
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from gemmviz.run.worker.profiler import find_profiler, profiler_version

RECORD = Path(__file__).resolve().parent.parent / "tests" / "data" / "h200-shared-wavefronts.json"
PROFILED = "memory_l1_wavefronts_shared"
TAKEN = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"
IDEAL = "memory_l1_wavefronts_shared_ideal"
WHAT = (
    "one warp, one shared-memory instruction; words = index of the first 4-byte word that lane 0..31 touches; active = mask of "
    f"active lanes; threads = of the block, 32 where it isn't said; wavefronts = {TAKEN.format(op='{ld,st}')}; "
    f"profiled = {PROFILED}; ideal = {IDEAL}"
)
SHARED_BYTES = 48 * 1024
Access = dict[str, Any]


def kernel_text(op: str, bits: int) -> str:
    """CUDA text of a kernel with one access that no compiler merges, moves or removes."""
    width = bits // 32
    names = ", ".join(f"%{i}" for i in range(width))
    kind = {32: "f32", 64: "v2.f32", 128: "v4.f32"}[bits]
    braces = names if width == 1 else f"{{{names}}}"
    if op == "ld":
        values = ", ".join(f'"=f"(v[{i}])' for i in range(width))
        access = f'asm volatile("ld.shared.{kind} {braces}, [%{width}];" : {values} : "r"(address));'
    else:
        values = ", ".join(f'"f"(v[{i}])' for i in range(width))
        access = f'asm volatile("st.shared.{kind} [%{width}], {braces};" :: {values}, "r"(address));'
    return f"""
extern "C" __global__ void {op}{bits}(const int *words, unsigned active, float *out) {{
    extern __shared__ float4 tile[];
    unsigned address = (unsigned)__cvta_generic_to_shared(tile) + 4 * words[threadIdx.x];
    float v[4] = {{1, 2, 3, 4}};
    if (active >> threadIdx.x & 1) {{
        {access}
        out[threadIdx.x] = v[0] + v[1] + v[2] + v[3];
    }}
}}
"""


def patterns() -> Iterator[Access]:
    """Wide accesses of whole and partial warps, with equal and unequal neighbouring lanes."""
    chance = random.Random(9)
    for op, bits in (("ld", 128), ("ld", 64), ("st", 128), ("st", 64)):
        wide = bits // 32
        regular = {
            f"lane % {count} × {step}": [lane % count * step for lane in range(32)]
            for count in (2, 4, 8, 16) for step in (wide, 2 * wide, 4 * wide, 32)
        } | {
            f"lane / {count} × {step}": [lane // count * step for lane in range(32)]
            for count in (2, 4, 8) for step in (wide, 2 * wide, 4 * wide, 32)
        }  # fmt: skip
        for name, words in regular.items():
            for active, threads in ((0xFFFFFFFF, 32), (0xFFFF, 32), (0xFFFF, 16), (0xFF, 8)):
                if op == "ld" or (threads == 16 and "%" in name):
                    yield {"op": op, "bits": bits, "pattern": name, "active": active, "words": words, "threads": threads}
        for number in range(60 if op == "ld" else 10):
            few = [wide * chance.randrange(16) for _ in range(chance.choice((2, 3, 4)))]
            words = [chance.choice(few) for _ in range(32)]
            active = (0xFFFF, 0xFFFF0000, 0x00FF00FF, 0xF0F0F0F0, 0x0F0F, 0xFFFFFF, 0xFFFFFFFF)[number % 7]
            yield {"op": op, "bits": bits, "pattern": f"few words #{number}", "active": active, "words": words, "threads": 32}
        for quarters in range(1, 16):
            active = sum(0xFF << 8 * quarter for quarter in range(4) if quarters >> quarter & 1)
            for name in (f"lane % 4 × {wide}", f"lane % 8 × {wide}", f"lane / 2 × {wide}") if op == "ld" else ():
                yield {"op": op, "bits": bits, "pattern": name, "active": active, "words": regular[name], "threads": 32}
        for number in range(60 if op == "ld" else 0):
            few = [wide * chance.randrange(8) for _ in range(chance.choice((2, 3)))]
            words = [chance.choice(few) for _ in range(32)]
            active = chance.getrandbits(32) & (0xFFFFFFFF, 0xFFFFFF, 0xFFFF, 0x00FFFFFF, 0xFF00FFFF)[number % 5]
            yield {"op": op, "bits": bits, "pattern": f"some lanes #{number}", "active": active, "words": words, "threads": 32}


def accesses() -> list[Access]:
    before: list[Access] = json.loads(RECORD.read_text(encoding="utf-8"))["accesses"]
    return list({key_of(access): access for access in (*patterns(), *before)}.values())


def key_of(access: Access) -> tuple[Any, ...]:
    return access["op"], access["bits"], access["active"], access.get("threads", 32), tuple(access["words"])


def launch(listed: Path) -> None:
    """Launches one kernel per access, for the profiler to count."""
    import cupy

    out, kernels = cupy.zeros(32, cupy.float32), {}
    for access in json.loads(listed.read_text(encoding="utf-8")):
        name = f"{access['op']}{access['bits']}"
        if name not in kernels:
            kernels[name] = cupy.RawKernel(kernel_text(access["op"], access["bits"]), name)
        words = cupy.asarray(access["words"], cupy.int32)
        active = cupy.uint32(access["active"])
        kernels[name]((1,), (access.get("threads", 32),), (words, active, out), shared_mem=SHARED_BYTES)
    cupy.cuda.Device().synchronize()


def main() -> None:
    if len(sys.argv) == 2:
        return launch(Path(sys.argv[1]))
    profiler, requested = find_profiler(), accesses()
    with tempfile.TemporaryDirectory() as folder:
        listed, log = Path(folder) / "accesses.json", Path(folder) / "counters.csv"
        listed.write_text(json.dumps(requested), encoding="utf-8")
        metrics = ",".join([TAKEN.format(op="ld"), TAKEN.format(op="st"), PROFILED, IDEAL])
        command = [str(profiler), "--clock-control", "none", "--csv", "--page", "raw", "--log-file", str(log)]
        command += ["--kernel-name", r"regex:^(ld|st)\d+$", "--metrics", metrics, sys.executable, __file__, str(listed)]
        subprocess.run(command, check=True)
        lines = [line for line in log.read_text(encoding="utf-8").splitlines() if line and not line.startswith("==")]
    rows = list(csv.DictReader(lines))[1:]  # without the row of units
    assert len(rows) == len(requested), f"{len(rows)} of {len(requested)} launches were profiled"
    for access, row in zip(requested, rows, strict=True):
        access["wavefronts"] = int(row[TAKEN.format(op=access["op"])].replace(",", ""))
        access["profiled"] = int(row[PROFILED].replace(",", ""))
        access["ideal"] = int(row[IDEAL].replace(",", ""))
    head = {"what": WHAT, "device": device(), "tool": f"{profiler_version(profiler)}, clock control off, {date.today()}"}
    each = ",\n  ".join(map(json.dumps, requested))
    text = json.dumps(head, indent=1)[:-2] + f',\n "accesses": [\n  {each}\n ]\n}}\n'
    RECORD.write_text(text, encoding="utf-8")


def device() -> str:
    query = ["nvidia-smi", "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"]
    name, capability, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split(", ")
    return f"{name}, compute capability {capability}, driver {driver.strip()}"


if __name__ == "__main__":
    main()

"""Records access times on a machine with a GPU: cycles of one register operation and of loads from each memory.

    python packaging/access_times.py

One thread follows a chain of pointers, each load's address being the value of the load before, so that nothing overlaps. Chains
of different lengths stay in a cache or exceed it. Written to assets/measurements/access-times-*.json and strides-*.json. Needs
CuPy.
"""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from gemmviz.files.checksums import write_recording
from gemmviz.run.cuda.discovery import open_gpu

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "measurements"
REPEATS, LOADS, WARM = 15, 4096, 2
LINE = 128
_SOURCE = r"""
typedef unsigned int word;
// Follow the chain for `loads` steps; cycles[i] are those of repetition i. The first repetitions warm the caches.
#define CHASE(NAME, LOAD)                                                                       \
extern "C" __global__ void NAME(const word* chain, int loads, int repeats, long long* cycles, word* last) \
{                                                                                               \
    word at = 0;                                                                                \
    for (int i = 0; i < repeats; ++i) {                                                         \
        long long began = clock64();                                                            \
        _Pragma("unroll 16")                                                                    \
        for (int step = 0; step < loads; ++step) { LOAD; }                                      \
        cycles[i] = clock64() - began + (at == 0xffffffffu);                                    \
    }                                                                                           \
    *last = at;                                                                                 \
}
CHASE(chase_l1, asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at) : "l"(chain + at)))
CHASE(chase_l2, asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(chain + at)))

extern "C" __global__ void chase_shared(int loads, int repeats, long long* cycles, word* last)
{
    __shared__ word chain[1024];
    for (int i = 0; i < 1024; ++i)
        chain[i] = 4 * ((i + 33) % 1024);
    word base = (word)__cvta_generic_to_shared(chain), at = 0;
    for (int i = 0; i < repeats; ++i) {
        long long began = clock64();
        #pragma unroll 16
        for (int step = 0; step < loads; ++step)
            asm volatile("ld.shared.u32 %0, [%1];" : "=r"(at) : "r"(base + at));
        cycles[i] = clock64() - began + (at == 0xffffffffu);
    }
    *last = at;
}

__constant__ word table[1024];
extern "C" __global__ void chase_constant(int loads, int repeats, long long* cycles, word* last)
{
    word at = 0;
    for (int i = 0; i < repeats; ++i) {
        long long began = clock64();
        #pragma unroll 16
        for (int step = 0; step < loads; ++step)
            at = table[at];
        cycles[i] = clock64() - began + (at == 0xffffffffu);
    }
    *last = at;
}

extern "C" __global__ void multiply_add(int loads, int repeats, long long* cycles, float* last, float a, float b)
{
    float x = a;
    for (int i = 0; i < repeats; ++i) {
        long long began = clock64();
        #pragma unroll 16
        for (int step = 0; step < loads; ++step)
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
        cycles[i] = clock64() - began + (x == 1e30f);
    }
    *last = x;
}
"""


def ring(places: Any) -> Any:
    """A chain through ``places`` (indices of words) in a random order, as an array that holds each place's successor."""
    order = np.random.default_rng(0).permutation(places)
    chain = np.zeros(int(places.max()) + 1, np.uint32)
    chain[order] = np.roll(order, -1)
    return cupy.asarray(chain)


def every(bytes_: int, count: int) -> Any:
    """Indices of ``count`` words that are ``bytes_`` apart."""
    return np.arange(count, dtype=np.int64) * (bytes_ // 4)


class Lab:
    """Runs chains on the GPU and returns the cycles of one access: median and quartiles over the repetitions."""

    def __init__(self) -> None:
        self.module = cupy.RawModule(code=_SOURCE, options=("--std=c++17",))
        self.last = cupy.zeros(1, np.uint32)

    def cycles(
        self, name: str, *, first: tuple[Any, ...] = (), rest: tuple[Any, ...] = (), loads: int = LOADS, warm: int = WARM
    ) -> dict[str, Any]:
        taken = cupy.zeros(warm + REPEATS, np.int64)
        kernel = self.module.get_function(name)
        kernel((1,), (1,), (*first, np.int32(loads), np.int32(warm + REPEATS), taken, self.last, *rest))
        each = np.sort(taken.get()[warm:]) / loads
        quarter = len(each) // 4
        return {
            "cycles": round(float(np.median(each)), 2), "low": round(float(each[quarter]), 2),
            "high": round(float(each[-1 - quarter]), 2), "loads": loads, "repeats": REPEATS,
        }  # fmt: skip


def access_times(lab: Lab) -> list[dict[str, Any]]:
    """Rows of the table: memory, how it was measured, and cycles of one access."""
    numbers = (np.float32(0.999), np.float32(0.001))
    small, middle = ring(every(LINE, 256)), ring(every(LINE, 128 * 1024))
    large = ring(every(LINE, 32 * 1024 * 1024))
    near = lab.cycles("chase_l2", first=(middle,), loads=131072)
    far = lab.cycles("chase_l2", first=(large,), loads=65536, warm=0)
    return [
        row("register", "a multiply-add that needs the result of the one before", lab.cycles("multiply_add", rest=numbers)),
        row("shared", "a load from shared memory", lab.cycles("chase_shared")),
        row("constant", "a load from constant memory, 1 KiB, in its cache", constant(lab, 256)),
        row("L1", "a load from global memory, 32 KiB, in the cache of the SM", lab.cycles("chase_l1", first=(small,))),
        row("L2", "a load from global memory, 16 MiB, in the cache of the GPU", near),
        row("DRAM", "a load from global memory, 4 GiB, in no cache", far),
    ]  # fmt: skip


def constant(lab: Lab, words: int) -> dict[str, Any]:
    """Cycles of a load from the first ``words`` words of constant memory."""
    table = np.zeros(1024, np.uint32)
    table[:words] = (np.arange(words) + 17) % words
    cupy.ndarray(1024, np.uint32, lab.module.get_global("table")).set(table)
    return lab.cycles("chase_constant")


def row(memory: str, what: str, cycles: dict[str, Any]) -> dict[str, Any]:
    return {"memory": memory, "what": what, **cycles}


def strides(lab: Lab) -> list[dict[str, Any]]:
    """Cycles of a load in a chain of ``elements`` addresses that are ``stride`` bytes apart, by the L1 cache and by L2."""
    rows = []
    for stride in (128, 4096, 16384, 16384 + 128, 65536, 65536 + 128):
        for elements in (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
            chain = ring(every(stride, elements))
            for cache, name in (("L1", "chase_l1"), ("L2", "chase_l2")):
                rows.append({"stride": stride, "elements": elements, "cache": cache, **lab.cycles(name, first=(chain,))})
    return rows


def main() -> int:
    gpu = open_gpu()
    facts = {
        "device": gpu.name, "driver": gpu.driver, "compiler": gpu.compiler, "date": str(date.today()),
        "clock_khz": cupy.cuda.Device().attributes["ClockRate"],
        "method": "one thread; each load's address is the value of the load before; cycles of the SM's clock (clock64)",
    }  # fmt: skip
    name, lab = re.sub(r"\W+", "-", gpu.name.lower()), Lab()
    for stem, rows in (("access-times", access_times(lab)), ("strides", strides(lab))):
        lines = ",\n".join(json.dumps(row) for row in rows)
        text = json.dumps(facts, indent=1)[:-2] + f',\n "rows": [\n{lines}\n ]\n}}\n'
        write_recording(FOLDER / f"{stem}-{name}.json", text)
        print(text, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

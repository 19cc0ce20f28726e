"""Authors who write folders, choose between kernels, or launch in rarer ways."""

from tests.corpus.public_habits.authors import _LOWER, _MACRO, _WORDY, author
from tests.corpus.public_habits.case import Case, indented

_WRONG = "fabs((double)({g}) - (double)({w})) > 1e-3 * (1 + fabs((double)({w})))"


def _free_sizes(c: Case) -> list[str]:
    return [each for each in c.values if c.size(each) not in c.piece.macro.split()]


def _signature(c: Case) -> tuple[str, str]:
    """Parameters of a host function that gets all sizes, device pointers and factors, and what main passes."""
    sizes = [f"int {c.size(each)}" for each in _free_sizes(c)]
    factors = [each for each in c.scalars("{type} {name}").split("\n") if each]
    parts = (*c.all("{t} *{d}", joint="|").split("|"), *sizes, *factors)
    return ", ".join(parts), ", ".join(each.split()[-1].lstrip("*") for each in parts)


@author(host="h_{}", device="d_{}", sizes=_LOWER, ceil="cdiv({x}, {t})")
def cmake_folder(c: Case) -> str:
    signature, passed = _signature(c)
    return f"""//// file CMakeLists.txt
cmake_minimum_required(VERSION 3.18)
project({c.name} LANGUAGES CXX CUDA)
add_executable({c.name} src/main.cu)
target_include_directories({c.name} PRIVATE ${{CMAKE_CURRENT_SOURCE_DIR}}/include)
//// file include/kernel.cuh
#pragma once
#include "utils.h"
{c.includes("cuda_runtime.h")}
{c.kernel}
inline void launch_{c.name}({signature}) {{
    dim3 block({c.block});
    dim3 grid({c.grid});
    {c.called}<<<{c.config("grid", "block")}>>>({c.args});
}}
//// file include/utils.h
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                     \\
    do {{                                                                     \\
        cudaError_t status = (call);                                         \\
        if (status != cudaSuccess) {{                                         \\
            std::fprintf(stderr, "%s:%d %s\\n", __FILE__, __LINE__, cudaGetErrorString(status)); \\
            std::exit(EXIT_FAILURE);                                         \\
        }}                                                                    \\
    }} while (0)

inline int cdiv(int a, int b) {{ return (a + b - 1) / b; }}

template <typename T>
void fill_random(T *p, size_t count) {{
    for (size_t i = 0; i < count; ++i) p[i] = std::rand() % 10;
}}
//// file src/main.cu
#include "kernel.cuh"
#include <math.h>

int main() {{
{indented(c.declared("const int {name} = {value};"))}
{indented(c.scalars("const {type} {name} = {value};"))}
{indented(c.all("{t} *{h} = ({t} *)calloc({n}, sizeof({t})), *{d};"))}
{indented(c.all("fill_random({h}, {n});", "in"))}
{indented(c.all("for (int i = 0; i < {n}; i++) {h}[i] = i % 5;", "inout"))}
{indented(c.all("CUDA_CHECK(cudaMalloc(&{d}, {n} * sizeof({t})));"))}
{indented(c.all("CUDA_CHECK(cudaMemcpy({d}, {h}, {n} * sizeof({t}), cudaMemcpyHostToDevice));", "in inout zero"))}
    launch_{c.name}({passed});
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
{indented(c.all("CUDA_CHECK(cudaMemcpy({h}, {d}, {n} * sizeof({t}), cudaMemcpyDeviceToHost));", "out inout zero"))}
    int bad = 0;
{indented(c.check(f"bad += {_WRONG};"))}
    std::printf("%d bad\\n", bad);
    return bad != 0;
}}
"""


@author(host="{}", device="d{}", ceil="CEIL_DIV({x}, {t})")
def kernel_switch(c: Case) -> str:
    signature, passed = _signature(c)
    return f"""{c.includes("stdio.h", "stdlib.h", "math.h", "cuda_runtime.h")}
{_MACRO}
{c.kernel}
__global__ void empty_kernel() {{}}

void run_kernel(int kernel_num, {signature}) {{
    switch (kernel_num) {{
    case 0: {{
        empty_kernel<<<1, 32>>>();
        break;
    }}
    case 1: {{
        dim3 gridDim({c.grid});
        dim3 blockDim({c.block});
        {c.called}<<<{c.config("gridDim", "blockDim")}>>>({c.args});
        break;
    }}
    default:
        printf("Unknown kernel number %d\\n", kernel_num);
        exit(1);
    }}
}}

int main(int argc, char **argv) {{
    int kernel_num = 1;
    if (argc > 1) kernel_num = atoi(argv[1]);
{indented(c.declared("int {name} = {value};"))}
{indented(c.scalars())}
{indented(c.all("{t} *{h} = NULL, *{d} = NULL;"))}
{indented(c.all("{h} = ({t} *)calloc({n}, sizeof({t}));"))}
{indented(c.all("cudaMalloc((void **)&{d}, sizeof({t}) * {n});"))}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = (i * 3) % 7;"))}
{indented(c.all("cudaMemcpy({d}, {h}, sizeof({t}) * {n}, cudaMemcpyHostToDevice);", "in inout zero"))}
    run_kernel(kernel_num, {passed});
    cudaDeviceSynchronize();
{indented(c.all("cudaMemcpy({h}, {d}, sizeof({t}) * {n}, cudaMemcpyDeviceToHost);", "out inout zero"))}
{indented(c.check(f"if ({_WRONG}) return 1;"))}
    return 0;
}}
"""


@author(host="{}h", device="{}d", lower=True, sizes=_WORDY, ceil="({x} + {t} - 1) / {t}")
def launch_api(c: Case) -> str:
    listed = ", ".join(f"&a{at}" for at, _ in enumerate(c.split(c.piece.args)))
    values = "\n".join(f"auto a{at} = {each};" for at, each in enumerate(c.split(c.piece.args)))
    simple = "&" not in c.args and "<" not in c.called and "(" not in c.args
    plain = all(
        each.strip() in {c.device(b.name) for b in c.problem.buffers} | {c.size(s) for s in c.values}
        for each in c.split(c.piece.args)
    )
    launch = (
        f"void *kernelArgs[] = {{{', '.join('&' + each for each in c.split(c.piece.args))}}};\n"
        f"cudaLaunchKernel((const void *){c.called}, dim3({c.grid}), dim3({c.block}), kernelArgs, {c.shared or 0}, 0);"
        if simple and plain and c.piece.author not in ("modern", "blas")
        else f"{c.called}<<<{c.config(f'dim3({c.grid})', f'dim3({c.block})')}>>>({c.args});"
    )
    del listed, values
    return f"""{c.includes("stdio.h", "stdlib.h", "math.h", "cuda_runtime.h")}
{c.kernel}
int main(void)
{{
{indented(c.declared("int {name} = {value};"))}
{indented(c.scalars())}
{indented(c.all("{t} *{h} = ({t}*)calloc({n}, sizeof({t})); {t} *{d};"))}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = (i + 2) % 9;"))}
{indented(c.all("cudaMalloc(&{d}, {n} * sizeof({t}));"))}
{indented(c.all("cudaMemcpy({d}, {h}, {n} * sizeof({t}), cudaMemcpyHostToDevice);", "in inout zero"))}
{indented(launch)}
    cudaDeviceSynchronize();
{indented(c.all("cudaMemcpy({h}, {d}, {n} * sizeof({t}), cudaMemcpyDeviceToHost);", "out inout zero"))}
{indented(c.check(f"if ({_WRONG}) return 1;"))}
    return 0;
}}
"""


@author(host="h_{}", device="d_{}", ceil="({x} + {t} - 1) / {t}")
def typedef_real(c: Case) -> str:
    kernel = c.kernel
    plain = "template" not in kernel and "4" not in "".join(part for part in kernel.split("float")[1:])[:0]
    real = plain and c.type == "float" and "float4" not in kernel and "float_" not in kernel and "_float" not in kernel
    word = "real" if real else c.type
    if real:
        kernel = kernel.replace("float", "real")
    body = f"""
int main(void) {{
  int status = 0;
{indented(c.declared("const int {name} = {value};"), 2)}
{indented(c.scalars("const {type} {name} = {value};"), 2)}
  size_t {c.all("n{b} = {n}", joint=", ")};
{indented(c.all("WORD *{h} = (WORD *)calloc(n{b}, sizeof(WORD)), *{d};"), 2)}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = (WORD)(i % 4 + i % 3);"), 2)}
{indented(c.all("cudaMalloc((void **)&{d}, n{b} * sizeof(WORD));"), 2)}
{indented(c.all("cudaMemcpy({d}, {h}, n{b} * sizeof(WORD), cudaMemcpyHostToDevice);", "in inout zero"), 2)}
  const dim3 dimBlock = {{{c.block}}};
  const dim3 dimGrid = {{{", ".join(f"(unsigned)({each})" for each in c.split(c.piece.grid))}}};
  {c.called}<<<{c.config("dimGrid", "dimBlock")}>>>({c.args});
  cudaDeviceSynchronize();
{indented(c.all("cudaMemcpy({h}, {d}, n{b} * sizeof(WORD), cudaMemcpyDeviceToHost);", "out inout zero"), 2)}
{indented(c.check(f"if ({_WRONG}) status = 1;"), 2)}
  return status;
}}
""".replace("WORD", word)
    cast = body.replace(f"({c.type} (*)", f"({word} (*)") if real else body
    head = "#ifdef USE_DOUBLE\ntypedef double real;\n#else\ntypedef float real;\n#endif\n\n" if real else ""
    return c.includes("stdio.h", "stdlib.h", "math.h", "cuda_runtime.h") + "\n" + head + kernel + cast


@author(host="h{}", device="d{}", ceil="({x} - 1) / {t} + 1")
def makefile_folder(c: Case) -> str:
    signature, passed = _signature(c)
    return f"""//// file Makefile
NVCC = nvcc
NVCCFLAGS = -O3 -Icommon

all: main

main: main.cpp kernel.cu
	$(NVCC) $(NVCCFLAGS) main.cpp kernel.cu -o main
//// file common/check.h
#ifndef CHECK_H
#define CHECK_H
#include <stdio.h>
#include <stdlib.h>
#define CHECK_CUDA(x) if ((x) != cudaSuccess) {{ printf("cuda error %s:%d\\n", __FILE__, __LINE__); exit(1); }}
#endif
//// file kernel.cu
#include "check.h"
#include "kernel.h"
{c.includes("cuda_runtime.h")}
{c.kernel}
void launchKernel({signature})
{{
    dim3 threads({c.block});
    dim3 blocks({c.grid});
    {c.called}<<<{c.config("blocks", "threads")}>>>({c.args});
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());
}}
//// file kernel.h
#ifndef KERNEL_H
#define KERNEL_H
void launchKernel({signature});
#endif
//// file main.cpp
#include <cuda_runtime.h>
#include <math.h>
#include "check.h"
#include "kernel.h"
{"".join(f"#define {macro} {c.values[name]}" + chr(10) for name, macro in zip(c.problem.sizes, c.piece.macro.split(), strict=False))}
int main()
{{
{indented(c.declared("const int {name} = {value};"))}
{indented(c.scalars("const {type} {name} = {value};"))}
{indented(c.all("{t} *{h} = new {t}[{n}]();" + chr(10) + "{t} *{d};"))}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = rand() % 5;"))}
{indented(c.all("CHECK_CUDA(cudaMalloc((void**)&{d}, {n} * sizeof({t})));"))}
{indented(c.all("CHECK_CUDA(cudaMemcpy({d}, {h}, {n} * sizeof({t}), cudaMemcpyHostToDevice));", "in inout zero"))}
    launchKernel({passed});
{indented(c.all("CHECK_CUDA(cudaMemcpy({h}, {d}, {n} * sizeof({t}), cudaMemcpyDeviceToHost));", "out inout zero"))}
{indented(c.check(f"if ({_WRONG}) return 1;"))}
    puts("done");
    return 0;
}}
"""

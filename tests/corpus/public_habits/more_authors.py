"""More authors: newer C++, other ways to launch, and hosts in several functions."""

from tests.corpus.public_habits.authors import _LOWER, _WORDY, _with_get, author
from tests.corpus.public_habits.case import Case, indented

_WRONG = "std::abs((double)({g}) - (double)({w})) > 1e-3 * (1 + std::abs((double)({w})))"


@author(host="h_{}", device="d_{}", ceil="({x} + {t} - 1) / {t}")
def thrust_user(c: Case) -> str:
    raw = _with_get(c, "thrust::raw_pointer_cast({}.data())")
    return f"""#include <thrust/host_vector.h>
#include <thrust/device_vector.h>
{c.includes("iostream", "cstdlib", "cmath")}
{c.kernel}
int main() {{
{indented(c.declared("const int {name} = {value};"))}
{indented(c.scalars("const {type} {name} = {value};"))}
{indented(c.all("thrust::host_vector<{t}> {h}({n});"))}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = rand() % 4;"))}
{indented(c.all("thrust::device_vector<{t}> {d} = {h};", "in inout"))}
{indented(c.all("thrust::device_vector<{t}> {d}({n}, 0);", "out zero"))}

    dim3 block({c.block});
    dim3 grid({c.grid});
    {c.called}<<<{c.config("grid", "block")}>>>({raw});
    cudaDeviceSynchronize();
{indented(c.all("{h} = {d};", "out inout zero"))}
    bool ok = true;
{indented(c.check(f"ok = ok && !({_WRONG});"))}
    std::cout << (ok ? "PASS" : "FAIL") << std::endl;
    return ok ? 0 : 1;
}}
"""


@author(host="h_{}", device="d_{}", sizes=_LOWER, ceil="({x} + {t} - 1) / {t}")
def streams_and_pinned(c: Case) -> str:
    return f"""{c.includes("cstdio", "cstdlib", "cmath", "cuda_runtime.h")}
#define gpuErrchk(ans) {{ gpuAssert((ans), __FILE__, __LINE__); }}
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort=true)
{{
   if (code != cudaSuccess)
   {{
      fprintf(stderr,"GPUassert: %s %s %d\\n", cudaGetErrorString(code), file, line);
      if (abort) exit(code);
   }}
}}

{c.kernel}
int main()
{{
{indented(c.declared("const size_t {name} = {value};"))}
{indented(c.scalars("const {type} {name} = {value};"))}
{indented(c.all("{t} *{h}, *{d};"))}
{indented(c.all("gpuErrchk(cudaMallocHost((void**)&{h}, ({n}) * sizeof({t})));"))}
{indented(c.all("gpuErrchk(cudaMalloc((void**)&{d}, ({n}) * sizeof({t})));"))}
{indented(c.fills("for (size_t i = 0; i < {n}; ++i) {h}[i] = rand() % 3;").replace("int i", "size_t i"))}

    cudaStream_t stream;
    gpuErrchk(cudaStreamCreate(&stream));
{indented(c.all("gpuErrchk(cudaMemcpyAsync({d}, {h}, ({n}) * sizeof({t}), cudaMemcpyHostToDevice, stream));", "in inout"))}
{indented(c.all("gpuErrchk(cudaMemsetAsync({d}, 0, ({n}) * sizeof({t}), stream));", "zero"))}
    dim3 threads = dim3({c.block});
    dim3 blocks = dim3({c.grid});
    {c.called}<<<{c.config("blocks", "threads", "stream")}>>>({c.args});
    gpuErrchk(cudaPeekAtLastError());
{indented(c.all("gpuErrchk(cudaMemcpyAsync({h}, {d}, ({n}) * sizeof({t}), cudaMemcpyDeviceToHost, stream));", "out inout zero"))}
    gpuErrchk(cudaStreamSynchronize(stream));

    int failures = 0;
{indented(c.check(f"if ({_WRONG}) ++failures;").replace("int i =", "long i =").replace("int j =", "long j =").replace("int k =", "long k ="))}
    printf("failures = %d\\n", failures);
    cudaStreamDestroy(stream);
{indented(c.all("cudaFreeHost({h}); cudaFree({d});"))}
    return failures > 0;
}}
"""


@author(host="{}", device="{}_dev", ceil="DIVUP({x}, {t})")
def macro_launcher(c: Case) -> str:
    return f"""{c.includes("cstdio", "cstdlib", "cmath", "cuda_runtime.h")}
#define DIVUP(a, b) (((a) + (b) - 1) / (b))
#define LAUNCH(kernel, grid, block, shm, ...) kernel<<<grid, block, shm>>>(__VA_ARGS__)
#define NEW_HOST(type, name, count) type *name = (type *)calloc(count, sizeof(type))
#define NEW_DEV(type, name, count) type *name; cudaMalloc((void **)&name, (count) * sizeof(type))

{c.kernel}
int main(int argc, char **argv) {{
  const int {", ".join(f"{c.size(each)} = {value}" for each, value in c.values.items() if c.size(each) not in c.piece.macro.split()) or "unused = 0"};
{indented(c.scalars("const {type} {name} = {value};"), 2)}
{indented(c.all("NEW_HOST({t}, {h}, {n});"), 2)}
{indented(c.all("NEW_DEV({t}, {d}, {n});"), 2)}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = (i ^ 5) % 9;"), 2)}
{indented(c.all("cudaMemcpy({d}, {h}, ({n}) * sizeof({t}), cudaMemcpyHostToDevice);", "in inout zero"), 2)}
  dim3 g({c.grid}), b({c.block});
  LAUNCH(({c.called}), g, b, {c.shared or 0}, {c.args});
{indented(c.all("cudaMemcpy({h}, {d}, ({n}) * sizeof({t}), cudaMemcpyDeviceToHost);", "out inout zero"), 2)}
  int nerr = 0;
{indented(c.check(f"if ({_WRONG}) nerr++;"), 2)}
  if (nerr) fprintf(stderr, "%d errors\\n", nerr);
  return nerr != 0;
}}
"""


@author(
    host="hst{}",
    device="p.{}",
    sizes={each: f"p.{each}" for each in ("M", "N", "K", "n", "m", "R", "batch")},
    ceil="({x} + {t} - 1) / {t}",
)
def params_struct(c: Case) -> str:
    fields = "\n".join(f"    int {each};" for each in c.values if c.size(each).startswith("p."))
    sets = "\n".join(f"p.{each} = {value};" for each, value in c.values.items() if c.size(each).startswith("p."))
    return f"""{c.includes("cstdio", "cstdlib", "cmath", "cuda_runtime.h")}
{c.kernel}
struct Problem {{
{fields}
{indented(c.all("{t} *{b};"))}
}};

static void allocate(Problem &p) {{
{indented(c.all("cudaMalloc(&{d}, sizeof({t}) * ({n}));"))}
}}

static void run(const Problem &p) {{
{indented(c.scalars("const {type} {name} = {value};"))}
    dim3 block({c.block}), grid({c.grid});
    {c.called}<<<{c.config("grid", "block")}>>>({c.args});
    cudaDeviceSynchronize();
}}

int main() {{
    Problem p;
{indented(sets)}
{indented(c.scalars("const {type} {name} = {value};"))}
    allocate(p);
{indented(c.all("{t} *{h} = new {t}[{n}]();"))}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = (i * i) % 7;"))}
{indented(c.all("cudaMemcpy({d}, {h}, sizeof({t}) * ({n}), cudaMemcpyHostToDevice);", "in inout zero"))}
    run(p);
{indented(c.all("cudaMemcpy({h}, {d}, sizeof({t}) * ({n}), cudaMemcpyDeviceToHost);", "out inout zero"))}
{indented(c.check(f"if ({_WRONG}) return 1;"))}
    puts("good");
    return 0;
}}
"""


@author(host="{}_host", device="{}_dev", sizes=_WORDY, ceil="static_cast<int>(std::ceil(static_cast<float>({x}) / ({t})))")
def extern_c(c: Case) -> str:
    signature = ", ".join(
        (
            *c.all("{t}* {d}", joint="|").split("|"),
            *(f"int {c.size(each)}" for each in c.values if c.size(each) not in c.piece.macro.split()),
        )
    ) + c.scalars(", {type} {name}").replace("\n", "")
    passed = ", ".join(part.split()[-1] for part in signature.split(", "))
    return f"""{c.includes("cmath", "cstdio", "cstdlib", "cuda_runtime.h")}
{c.kernel}
extern "C" {{

void {c.name}_forward({signature})
{{
    {c.called}<<<{c.config(f"dim3({c.grid})", f"dim3({c.block})")}>>>({c.args});
    cudaDeviceSynchronize();
}}

}}

#ifndef LIBRARY_ONLY
int main()
{{
{indented(c.declared("int {name} = {value};"))}
{indented(c.scalars())}
{indented(c.all("{t}* {h} = ({t}*)calloc({n}, sizeof({t}));"))}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = rand() % 6;"))}
{indented(c.all("{t}* {d} = nullptr; cudaMalloc(&{d}, {n} * sizeof({t}));"))}
{indented(c.all("cudaMemcpy({d}, {h}, {n} * sizeof({t}), cudaMemcpyHostToDevice);", "in inout zero"))}
    {c.name}_forward({passed});
{indented(c.all("cudaMemcpy({h}, {d}, {n} * sizeof({t}), cudaMemcpyDeviceToHost);", "out inout zero"))}
    int bad = 0;
{indented(c.check(f"bad |= {_WRONG};"))}
    printf("%s\\n", bad ? "FAIL" : "OK");
    return bad;
}}
#endif
"""


@author(host="h{}", device="d{}", ceil="ceil_div({x}, {t})")
def benchmarker(c: Case) -> str:
    once = any(each.role in ("inout", "zero") for each in c.problem.buffers)
    repeat = "" if once else "  for (int i = 0; i < repeats; ++i) run();\n"
    return f"""{c.includes("cmath", "chrono", "functional", "iostream", "vector", "cuda_runtime.h")}
using namespace std;

inline int ceil_div(int a, int b) {{ return a / b + (a % b ? 1 : 0); }}

{c.kernel}
float time_ms(function<void()> f) {{
  cudaEvent_t beg, end;
  cudaEventCreate(&beg);
  cudaEventCreate(&end);
  cudaEventRecord(beg);
  f();
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float ms;
  cudaEventElapsedTime(&ms, beg, end);
  return ms;
}}

int main() {{
{indented(c.declared("const int {name} = {value};"), 2)}
{indented(c.scalars("const {type} {name} = {value};"), 2)}
  const int repeats = 3;
{indented(c.all("vector<{t}> {h}({n});"), 2)}
{indented(c.fills("for (int i = 0; i < {n}; ++i) {h}[i] = i % 3 + i % 2;"), 2)}
{indented(c.all("{t} *{d}; cudaMalloc(&{d}, {h}.size() * sizeof({t}));"), 2)}
{indented(c.all("cudaMemcpy({d}, {h}.data(), {h}.size() * sizeof({t}), cudaMemcpyHostToDevice);", "in inout zero"), 2)}
  const dim3 grid{{{_unsigned(c.grid)}}}, block{{{_unsigned(c.block)}}};
  auto run = [&]() {{ {c.called}<<<{c.config("grid", "block")}>>>({c.args}); }};
  float ms = time_ms(run);
{repeat}  cudaDeviceSynchronize();
  cout << "{c.name}: " << ms << " ms" << endl;
{indented(c.all("cudaMemcpy({h}.data(), {d}, {h}.size() * sizeof({t}), cudaMemcpyDeviceToHost);", "out inout zero"), 2)}
{indented(c.check(f"if ({_WRONG}) return 1;"), 2)}
}}
"""


def _unsigned(extents: str) -> str:
    return ", ".join(f"unsigned({each})" for each in _split(extents))


def _split(text: str) -> list[str]:
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()]


@author(
    host="h_{}_",
    device="d_{}_",
    lower=True,
    sizes={"M": "m_", "N": "n_", "K": "k_", "n": "len_", "m": "taps_", "R": "r_", "batch": "batch_"},
    ceil="({x} + {t} - 1) / {t}",
)
def class_author(c: Case) -> str:
    own = [each for each in c.values if c.size(each).endswith("_")]
    parameters = ", ".join(f"int {c.size(each)[:-1]}" for each in own)
    initial = ", ".join(f"{c.size(each)}({c.size(each)[:-1]})" for each in own)
    return f"""{c.includes("cmath", "cstdio", "cstdlib", "vector", "cuda_runtime.h")}
{c.kernel}
class Runner {{
public:
    {"explicit " if len(own) == 1 else ""}Runner({parameters}){" : " + initial if initial else ""}
    {{
{indented(c.all("{h}.resize({n});"), 8)}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = i * 5 % 8;"), 8)}
{indented(c.all("cudaMalloc((void**)&{d}, {n} * sizeof({t}));"), 8)}
{indented(c.all("cudaMemcpy({d}, {h}.data(), {n} * sizeof({t}), cudaMemcpyHostToDevice);", "in inout zero"), 8)}
    }}
    ~Runner()
    {{
{indented(c.all("cudaFree({d});"), 8)}
    }}
    void run()
    {{
        dim3 dimBlock({c.block});
        dim3 dimGrid({c.grid});
        {c.called}<<<{c.config("dimGrid", "dimBlock")}>>>({c.args});
        cudaDeviceSynchronize();
{indented(c.all("cudaMemcpy({h}.data(), {d}, {n} * sizeof({t}), cudaMemcpyDeviceToHost);", "out inout zero"), 8)}
    }}
    bool isRight() const
    {{
{indented(c.check(f"if ({_WRONG}) return false;"), 8)}
        return true;
    }}

private:
{indented(chr(10).join(f"int {c.size(each)};" for each in own))}
{indented(c.scalars("{type} {name} = {value};"))}
{indented(c.all("std::vector<{t}> {h};"))}
{indented(c.all("{t}* {d} = nullptr;"))}
}};

int main()
{{
    Runner runner{"(" + ", ".join(str(c.values[each]) for each in own) + ")" if own else ""};
    runner.run();
    const bool right = runner.isRight();
    std::printf("%s\\n", right ? "right" : "wrong");
    return right ? 0 : 1;
}}
"""


@author(host="{}", device="{}_d", lower=True, sizes=_LOWER, ceil="ceil_div({x}, {t})")
def unique_ptrs(c: Case) -> str:
    return f"""{c.includes("cmath", "cstdio", "memory", "numeric", "vector", "cuda_runtime.h")}
namespace gpu {{
struct Free {{
  void operator()(void* p) const {{ cudaFree(p); }}
}};
template <typename T>
using unique = std::unique_ptr<T[], Free>;
template <typename T>
unique<T> make(size_t count) {{
  T* p = nullptr;
  if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) throw std::bad_alloc();
  return unique<T>(p);
}}
template <typename T>
void upload(const unique<T>& to, const std::vector<T>& from) {{
  cudaMemcpy(to.get(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
}}
template <typename T>
void download(std::vector<T>& to, const unique<T>& from) {{
  cudaMemcpy(to.data(), from.get(), to.size() * sizeof(T), cudaMemcpyDeviceToHost);
}}
}}  // namespace gpu

template <typename A, typename B>
auto ceil_div(A a, B b) {{
  return (a + b - 1) / b;
}}

{c.kernel}
int main() {{
{indented(c.declared("constexpr auto {name} = {value};"), 2)}
{indented(c.scalars("constexpr {type} {name} = {value};"), 2)}
{indented(c.all("std::vector<{t}> {h}({n});"), 2)}
{indented(c.fills("for (auto i = 0; i < {n}; ++i) {h}[i] = i % 6;"), 2)}
{indented(c.all("auto {d} = gpu::make<{t}>({n});"), 2)}
{indented(c.all("gpu::upload({d}, {h});"), 2)}
  {c.called}<<<{c.config(f"dim3({c.grid})", f"dim3({c.block})")}>>>({_with_get(c)});
  if (const auto status = cudaDeviceSynchronize(); status != cudaSuccess) {{
    std::fprintf(stderr, "%s\\n", cudaGetErrorName(status));
    return 1;
  }}
{indented(c.all("gpu::download({h}, {d});", "out inout zero"), 2)}
  auto wrong = 0;
{indented(c.check(f"wrong += {_WRONG};"), 2)}
  std::printf("%d wrong\\n", wrong);
  return wrong != 0;
}}
"""


@author(host="{}", device="dev_{}", lower=True, sizes=_WORDY, ceil="(unsigned int)({x} + {t} - 1) / {t}")
def goto_error(c: Case) -> str:
    own = [each for each in c.values if c.size(each) not in c.piece.macro.split()]
    signature = ", ".join((*c.all("{t} *{h}", joint="|").split("|"), *(f"unsigned int {c.size(each)}" for each in own)))
    passed = ", ".join((*c.all("{h}", joint="|").split("|"), *(c.size(each) for each in own)))
    return f"""#include "cuda_runtime.h"
{c.includes("stdio.h", "stdlib.h", "math.h")}
{c.kernel}
{c.scalars("static const {type} {name} = {value};")}
cudaError_t {c.name}WithCuda({signature})
{{
{indented(c.all("{t} *{d} = 0;"))}
    dim3 block({c.block});
    dim3 grid({c.grid});
    cudaError_t cudaStatus;

    cudaStatus = cudaSetDevice(0);
    if (cudaStatus != cudaSuccess) goto Error;
{indented(c.all("cudaStatus = cudaMalloc((void**)&{d}, {n} * sizeof({t}));" + chr(10) + "if (cudaStatus != cudaSuccess) goto Error;"))}
{indented(c.all("cudaStatus = cudaMemcpy({d}, {h}, {n} * sizeof({t}), cudaMemcpyHostToDevice);" + chr(10) + "if (cudaStatus != cudaSuccess) goto Error;", "in inout zero"))}

    {c.called}<<<{c.config("grid", "block")}>>>({c.args});

    cudaStatus = cudaGetLastError();
    if (cudaStatus != cudaSuccess) {{
        fprintf(stderr, "launch failed: %s\\n", cudaGetErrorString(cudaStatus));
        goto Error;
    }}
    cudaStatus = cudaDeviceSynchronize();
    if (cudaStatus != cudaSuccess) goto Error;
{indented(c.all("cudaStatus = cudaMemcpy({h}, {d}, {n} * sizeof({t}), cudaMemcpyDeviceToHost);", "out inout zero"))}

Error:
{indented(c.all("cudaFree({d});"))}
    return cudaStatus;
}}

int main()
{{
{indented(c.declared("const int {name} = {value};"))}
{indented(c.all("{t} *{h} = ({t} *)calloc({n}, sizeof({t}));"))}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = (i + 1) % 10;"))}
    if ({c.name}WithCuda({passed}) != cudaSuccess) return 1;
{indented(c.check("if (fabs((double)({g}) - (double)({w})) > 1e-3 * (1 + fabs((double)({w})))) return 2;"))}
    return 0;
}}
"""


@author(
    host="h_{}",
    device="g_{}",
    ceil="({x} / {t} + !!({x} % {t}))",
    sizes={"M": "g_rows", "N": "g_cols", "K": "g_inner", "n": "g_len", "m": "g_taps", "R": "g_radius", "batch": "g_batch"},
)
def global_state(c: Case) -> str:
    own = [each for each in c.values if c.size(each).startswith("g_")]
    return f"""{c.includes("stdio.h", "stdlib.h", "math.h", "cuda_runtime.h")}
{c.kernel}
{c.declared("int {name};")}
{c.scalars()}
{c.all("{t} *{h}, *{d};")}
dim3 g_grid, g_block;

void init(void)
{{
{indented(chr(10).join(f"{c.size(each)} = {c.values[each]};" for each in own))}
{indented(c.all("{h} = ({t} *)calloc({n}, sizeof({t}));"))}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = (i % 2) + (i % 5);"))}
{indented(c.all("cudaMalloc((void **)&{d}, ({n}) * sizeof({t}));"))}
{indented(c.all("cudaMemcpy({d}, {h}, ({n}) * sizeof({t}), cudaMemcpyHostToDevice);", "in inout zero"))}
    g_block = dim3({c.block});
    g_grid = dim3({c.grid});
}}

void compute(void)
{{
    {c.called}<<<{c.config("g_grid", "g_block")}>>>({c.args});
    cudaDeviceSynchronize();
{indented(c.all("cudaMemcpy({h}, {d}, ({n}) * sizeof({t}), cudaMemcpyDeviceToHost);", "out inout zero"))}
}}

int verify(void)
{{
{indented(c.check("if (fabs((double)({g}) - (double)({w})) > 1e-3 * (1 + fabs((double)({w})))) return 0;"))}
    return 1;
}}

int main(void)
{{
    init();
    compute();
    int ok = verify();
    printf("%s\\n", ok ? "ok" : "not ok");
    return !ok;
}}
"""

"""Authors of the corpus: each writes the host of a kernel with habits of its own."""

import re
from collections.abc import Callable

from tests.corpus.public_habits.case import Case, Names, indented

Author = Callable[[Case], str]
AUTHORS: dict[str, tuple[Author, Names]] = {}
_LOWER = {"M": "m", "N": "n", "K": "k", "n": "size"}
_WORDY = {
    "M": "numRows",
    "N": "numCols",
    "K": "inner",
    "n": "numElements",
    "m": "maskWidth",
    "batch": "batchSize",
    "R": "radius",
}
_MACRO = "#define CEIL_DIV(x, y) (((x) + (y) - 1) / (y))\n"


def author(**names: object) -> Callable[[Author], Author]:
    """Adds an author with these names."""

    def add(write: Author) -> Author:
        AUTHORS[write.__name__] = (write, Names(**names))  # type: ignore[arg-type]
        return write

    return add


@author()
def course_student(c: Case) -> str:
    return f"""{c.includes("stdio.h", "stdlib.h", "math.h", "cuda_runtime.h")}
#define CHECK(call)                                                            \\
{{                                                                              \\
    const cudaError_t error = call;                                            \\
    if (error != cudaSuccess)                                                  \\
    {{                                                                          \\
        printf("Error: %s:%d, ", __FILE__, __LINE__);                          \\
        printf("code: %d, reason: %s\\n", error, cudaGetErrorString(error));    \\
        exit(1);                                                               \\
    }}                                                                          \\
}}

{c.kernel}
int main(int argc, char **argv)
{{
{indented(c.declared("int {name} = {value};"))}
{indented(c.scalars())}
    // allocate host memory
{indented(c.all("{t} *{h} = ({t} *)malloc({n} * sizeof({t}));"))}
    srand(2024);
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = rand() % 10;"))}

    // allocate device memory
{indented(c.all("{t} *{d};"))}
{indented(c.all("CHECK(cudaMalloc((void **)&{d}, {n} * sizeof({t})));"))}
{indented(c.all("CHECK(cudaMemcpy({d}, {h}, {n} * sizeof({t}), cudaMemcpyHostToDevice));", "in inout"))}
{indented(c.all("CHECK(cudaMemset({d}, 0, {n} * sizeof({t})));", "zero"))}

    dim3 block({c.block});
    dim3 grid({c.grid});
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    {c.called}<<<{c.config("grid", "block")}>>>({c.args});
    cudaEventRecord(stop);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    printf("GPU time: %f ms\\n", ms);

{indented(c.all("CHECK(cudaMemcpy({h}, {d}, {n} * sizeof({t}), cudaMemcpyDeviceToHost));", "out inout zero"))}
    int errors = 0;
{indented(c.check("if (fabs((double)({g}) - (double)({w})) > 1e-3 * (1 + fabs((double)({w})))) errors++;"))}
    printf(errors ? "FAILED: %d errors\\n" : "PASSED (%d errors)\\n", errors);
{indented(c.all("cudaFree({d});"))}
{indented(c.all("free({h});"))}
    return errors != 0;
}}
"""


@author(host="{}_h", device="{}_d", ceil="(int)ceil({x} / (float)({t}))")
def textbook(c: Case) -> str:
    pointers = c.all("{t}* {h}", joint=", ")
    sizes = ", ".join(f"int {c.size(each)}" for each in c.values if c.size(each) not in c.piece.macro.split())
    signature = ", ".join(filter(None, (pointers, sizes)))
    passed = ", ".join(filter(None, (c.all("{h}", joint=", "), sizes.replace("int ", ""))))
    return f"""{c.includes("stdio.h", "stdlib.h", "math.h", "cuda.h")}
{c.kernel}
void computeOnDevice({signature})
{{
{indented(c.scalars())}
{indented(c.all("int size_{b} = {n} * sizeof({t});"))}
    {c.type} {c.all("*{d}", joint=", ")};

    // Part 1: allocate device memory and copy the inputs
{indented(c.all("cudaMalloc((void **) &{d}, size_{b});"))}
{indented(c.all("cudaMemcpy({d}, {h}, size_{b}, cudaMemcpyHostToDevice);", "in inout"))}
{indented(c.all("cudaMemset({d}, 0, size_{b});", "zero"))}

    // Part 2: the execution configuration
    dim3 dimGrid({c.grid});
    dim3 dimBlock({c.block});
    {c.called}<<<{c.config("dimGrid", "dimBlock")}>>>({c.args});

    // Part 3: copy back and clean up
{indented(c.all("cudaMemcpy({h}, {d}, size_{b}, cudaMemcpyDeviceToHost);", "out inout zero"))}
{indented(c.all("cudaFree({d});"))}
}}

int main()
{{
{indented(c.declared("int {name} = {value};"))}
{indented(c.scalars())}
{indented(c.all("{t}* {h} = ({t}*) malloc({n} * sizeof({t}));"))}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = ({t})(rand() % 8);"))}
    computeOnDevice({passed});
    int ok = 1;
{indented(c.check("if (fabs((double)({g}) - ({w})) > 0.001 * (fabs((double)({w})) + 1)) ok = 0;"))}
    printf("%s\\n", ok ? "correct" : "wrong");
    return !ok;
}}
"""


@author(host="{}", device="d{}", ceil="CEIL_DIV({x}, {t})")
def ladder_blogger(c: Case) -> str:
    signature = ", ".join(
        (
            *(f"int {c.size(each)}" for each in c.values if c.size(each) not in c.piece.macro.split()),
            *c.all("{t} *{d}", joint="|").split("|"),
        )
    )
    if c.scalars():
        signature += c.scalars(", {type} {name}").replace("\n", "")
    passed = ", ".join(part.split()[-1].lstrip("*") for part in signature.split(", "))
    return f"""{c.includes("cstdio", "cstdlib", "cmath", "cassert", "cuda_runtime.h")}
{_MACRO}#define cudaCheck(err) (cudaCheck(err, __FILE__, __LINE__))

void (cudaCheck)(cudaError_t error, const char *file, int line) {{
  if (error != cudaSuccess) {{
    printf("[CUDA ERROR] at file %s:%d:\\n%s\\n", file, line, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }}
}}

{c.kernel}
void run_{c.name}({signature}) {{
  dim3 gridDim({c.grid});
  dim3 blockDim({c.block});
  {c.called}
      <<<{c.config("gridDim", "blockDim")}>>>({c.args});
}}

int main() {{
{indented(c.declared("const int {name} = {value};"), 2)}
{indented(c.scalars("const {type} {name} = {value};"), 2)}
{indented(c.all("{t} *{h} = nullptr, *{d} = nullptr;"), 2)}
{indented(c.all("{h} = ({t} *)malloc(sizeof({t}) * {n});"), 2)}
{indented(c.fills("for (int i = 0; i < {n}; i++) {{ {h}[i] = ({t})(rand() % 5) + (rand() % 2); }}".replace("{{", "{").replace("}}", "}")), 2)}
{indented(c.all("cudaCheck(cudaMalloc((void **)&{d}, sizeof({t}) * {n}));"), 2)}
{indented(c.all("cudaCheck(cudaMemcpy({d}, {h}, sizeof({t}) * {n}, cudaMemcpyHostToDevice));", "in inout"), 2)}
{indented(c.all("cudaCheck(cudaMemset({d}, 0, sizeof({t}) * {n}));", "zero"), 2)}
  run_{c.name}({passed});
  cudaCheck(cudaDeviceSynchronize());
  cudaCheck(cudaGetLastError());
{indented(c.all("cudaMemcpy({h}, {d}, sizeof({t}) * {n}, cudaMemcpyDeviceToHost);", "out inout zero"), 2)}
{indented(c.check("if (std::abs((double)({g}) - (double)({w})) > 1e-2 * (1 + std::abs((double)({w})))) return 1;"), 2)}
{indented(c.all("free({h});"), 2)}
{indented(c.all("cudaFree({d});"), 2)}
  return 0;
}}
"""


@author(
    host="{}",
    device="dev_{}",
    lower=True,
    sizes={"M": "ROWS", "N": "COLS", "K": "INNER", "n": "SIZE", "batch": "BATCH", "m": "MASK", "R": "RADIUS"},
    ceil="({x} + {less}) / {t}",
    literals=True,
)
def homework(c: Case) -> str:
    return f"""{c.includes("stdio.h", "stdlib.h", "math.h")}
{c.declared("#define {name} {value}")}

{c.kernel}
{c.all("{t} {h}[{n}];")}

int main(void)
{{
    {c.type} {c.all("*{d}", joint=", ")};
    int bad = 0;

{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = i % 7 - 2;").replace("% 7 - 2", "% 7") if c.type == "unsigned int" else c.fills("for (int i = 0; i < {n}; i++) {h}[i] = i * 13 % 7 - 2;"))}

{indented(c.all("cudaMalloc((void**)&{d}, {n} * sizeof({t}));"))}
{indented(c.all("cudaMemcpy({d}, {h}, {n} * sizeof({t}), cudaMemcpyHostToDevice);", "in inout zero"))}

    {c.called}<<<dim3({c.grid}), dim3({c.block}){", " + c.shared if c.shared else ""}>>>({c.args});

{indented(c.all("cudaMemcpy({h}, {d}, {n} * sizeof({t}), cudaMemcpyDeviceToHost);", "out inout zero"))}
{indented(c.check("if (fabs((double)({g}) - (double)({w})) > 0.001 * (1 + fabs((double)({w})))) bad = 1;"))}
    printf("%d\\n", bad);
{indented(c.all("cudaFree({d});"))}
    return bad;
}}
"""


@author(host="host_{}", device="device_{}", lower=True, sizes=_WORDY, ceil="div_up({x}, {t})")
def raii_cpp(c: Case) -> str:
    return f"""{c.includes("algorithm", "cmath", "iostream", "random", "stdexcept", "string", "vector", "cuda_runtime.h")}
namespace {{

void check(cudaError_t status, const std::string& what) {{
  if (status != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(status));
}}

template <typename T>
class DeviceBuffer {{
 public:
  explicit DeviceBuffer(std::size_t count) : count_(count) {{ check(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc"); }}
  explicit DeviceBuffer(const std::vector<T>& host) : DeviceBuffer(host.size()) {{
    check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copy to device");
  }}
  ~DeviceBuffer() {{ cudaFree(data_); }}
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  T* get() const {{ return data_; }}
  void copy_to(std::vector<T>& host) const {{
    check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy to host");
  }}

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
}};

constexpr int div_up(int a, int b) {{ return (a + b - 1) / b; }}

}}  // namespace

{c.kernel}
int main() {{
  try {{
{indented(c.declared("constexpr int {name} = {value};"), 4)}
{indented(c.scalars("constexpr {type} {name} = {value};"), 4)}
    std::mt19937 generator(42);
    std::uniform_int_distribution<int> distribution(0, 9);
{indented(c.all("std::vector<{t}> {h}({n});"), 4)}
{indented(c.all("std::generate({h}.begin(), {h}.end(), [&] { return static_cast<{t}>(distribution(generator)); });", "in"), 4)}
{indented(c.all("for (std::size_t i = 0; i < {h}.size(); ++i) {h}[i] = i % 5;", "inout"), 4)}
{indented(c.all("DeviceBuffer<{t}> {d}({h});"), 4)}

    const dim3 threads({c.block});
    const dim3 blocks({c.grid});
    {c.called}<<<{c.config("blocks", "threads")}>>>({_with_get(c)});
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
{indented(c.all("{d}.copy_to({h});", "out inout zero"), 4)}

{indented(c.check("if (std::fabs(double({g}) - double({w})) > 1e-3 * (1.0 + std::fabs(double({w})))) throw std::runtime_error(" + '"mismatch"' + ");"), 4)}
    std::cout << "ok" << std::endl;
  }} catch (const std::exception& e) {{
    std::cerr << e.what() << std::endl;
    return EXIT_FAILURE;
  }}
  return EXIT_SUCCESS;
}}
"""


def _with_get(c: Case, form: str = "{}.get()") -> str:
    text = c.args
    for each in sorted((buffer.name for buffer in c.problem.buffers), key=len, reverse=True):
        text = _word(c.device(each)).sub(form.format(c.device(each)), text)
    return text


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{name}\b")


@author(
    host="h_{}",
    device="d_{}",
    sizes={"M": "HA", "N": "WB", "K": "WA", "n": "NUM", "m": "MASK", "R": "RADIUS"},
    literals=True,
    ceil="(int)({x} % {t} == 0 ? {x} / {t} : {x} / {t} + 1)",
)
def old_toolkit(c: Case) -> str:
    return f"""// includes, system
{c.includes("stdlib.h", "stdio.h", "string.h", "math.h")}
#define CUDA_SAFE_CALL( call) {{                                              \\
    cudaError err = call;                                                    \\
    if( cudaSuccess != err) {{                                                \\
        fprintf(stderr, "Cuda error in file '%s' in line %i : %s.\\n",        \\
                __FILE__, __LINE__, cudaGetErrorString( err) );              \\
        exit(EXIT_FAILURE);                                                  \\
    }} }}

{c.declared("#define {name} {value}")}

{c.kernel}
////////////////////////////////////////////////////////////////////////////////
// Program main
////////////////////////////////////////////////////////////////////////////////
int runTest( int argc, char** argv);

int
main( int argc, char** argv)
{{
    return runTest( argc, argv);
}}

int
runTest( int argc, char** argv)
{{
{indented(c.all("unsigned int mem_size_{b} = sizeof({t}) * ({n});"))}
{indented(c.all("{t}* {h} = ({t}*) malloc( mem_size_{b});"))}
    // initalize the memory
{indented(c.fills("for( unsigned int i = 0; i < {n}; ++i) {h}[i] = ({t}) (rand() & 7);"))}

{indented(c.all("{t}* {d};" + chr(10) + "CUDA_SAFE_CALL( cudaMalloc( (void**) &{d}, mem_size_{b}));"))}
{indented(c.all("CUDA_SAFE_CALL( cudaMemcpy( {d}, {h}, mem_size_{b}, cudaMemcpyHostToDevice) );", "in inout"))}
{indented(c.all("CUDA_SAFE_CALL( cudaMemset( {d}, 0, mem_size_{b}) );", "zero"))}

    // setup execution parameters
    dim3  grid( {c.grid});
    dim3  threads( {c.block});

    // execute the kernel
    {c.called}<<< {c.config("grid", "threads")} >>>( {c.args});
    CUDA_SAFE_CALL( cudaDeviceSynchronize() );

{indented(c.all("CUDA_SAFE_CALL( cudaMemcpy( {h}, {d}, mem_size_{b}, cudaMemcpyDeviceToHost) );", "out inout zero"))}
    unsigned int res = 1;
{indented(c.check("if( fabs( (double) ({g}) - (double) ({w})) > 1e-3 * (1 + fabs( (double) ({w})))) res = 0;"))}
    printf( "Test %s \\n", (1 == res) ? "PASSED" : "FAILED");
    return res != 1;
}}
"""


@author(host="{}", device="{}", lower=True, sizes=_LOWER, ceil="({x} + {t} - 1) / {t}")
def managed_memory(c: Case) -> str:
    flat = "," not in c.grid and "," not in c.block
    launch = (
        f"int blockSize = {c.block};\n  int numBlocks = {c.grid};\n  {c.called}<<<{c.config('numBlocks', 'blockSize')}>>>({c.args});"
        if flat
        else f"dim3 blockSize({c.block});\n  dim3 numBlocks({c.grid});\n  {c.called}<<<{c.config('numBlocks', 'blockSize')}>>>({c.args});"
    )
    return f"""{c.includes("iostream", "math.h")}
{c.kernel}
int main(void)
{{
{indented(c.declared("int {name} = {value};"), 2)}
{indented(c.scalars(), 2)}
  {c.type} {c.all("*{h}", joint=", ")};

  // Allocate Unified Memory -- accessible from CPU or GPU
{indented(c.all("cudaMallocManaged(&{h}, {n} * sizeof({t}));"), 2)}
{indented(c.fills("for (int i = 0; i < {n}; i++) {h}[i] = i % 11;"), 2)}
{indented(c.all("for (int i = 0; i < {n}; i++) {h}[i] = 0;", "zero"), 2)}

  {launch}

  // Wait for GPU to finish before accessing on host
  cudaDeviceSynchronize();

  double maxError = 0.0;
{indented(c.check("maxError = fmax(maxError, fabs((double)({g}) - (double)({w})) / (1 + fabs((double)({w}))));"), 2)}
  std::cout << "Max error: " << maxError << std::endl;
{indented(c.all("cudaFree({h});"), 2)}
  return maxError > 1e-3;
}}
"""


@author(host="h{}", device="d{}", ceil="({x} - 1) / {t} + 1")
def argv_sizes(c: Case) -> str:
    free = [each for each in c.values if c.size(each) not in c.piece.macro.split()]
    read = "\n".join(
        f"int {c.size(each)} = argc > {at} ? atoi(argv[{at}]) : {c.values[each]};" for at, each in enumerate(free, 1)
    )
    usage = " ".join(f"[{c.size(each)}]" for each in free)
    return f"""{c.includes("cstdio", "cstdlib", "cmath", "ctime", "cuda_runtime.h")}
{c.kernel}
static void die(const char *msg, cudaError_t e) {{
    fprintf(stderr, "%s: %s\\n", msg, cudaGetErrorString(e));
    exit(2);
}}

// usage: ./{c.name} {usage}
int main(int argc, char *argv[]) {{
{indented(read)}
{indented(c.scalars())}
{indented(c.all("size_t bytes{b} = (size_t){n} * sizeof({t});"))}
{indented(c.all("{t} *{h} = ({t} *)malloc(bytes{b}), *{d};"))}
{indented(c.fills("for (int i = 0; i < {n}; ++i) {h}[i] = ({t})(i % 17 % 6);"))}
    cudaError_t err;
{indented(c.all("if ((err = cudaMalloc(&{d}, bytes{b})) != cudaSuccess) die(" + '"malloc {b}"' + ", err);"))}
{indented(c.all("cudaMemcpy({d}, {h}, bytes{b}, cudaMemcpyHostToDevice);", "in inout"))}
{indented(c.all("cudaMemset({d}, 0, bytes{b});", "zero"))}
    const dim3 tpb({c.block});
    const dim3 bpg({c.grid});
    clock_t t0 = clock();
    {c.called}<<<{c.config("bpg", "tpb")}>>>({c.args});
    err = cudaDeviceSynchronize();
    if (err != cudaSuccess) die("kernel", err);
    printf("%.3f s\\n", (double)(clock() - t0) / CLOCKS_PER_SEC);
{indented(c.all("cudaMemcpy({h}, {d}, bytes{b}, cudaMemcpyDeviceToHost);", "out inout zero"))}
    long wrong = 0;
{indented(c.check("wrong += std::fabs((double)({g}) - (double)({w})) > 1e-3 * (1 + std::fabs((double)({w})));"))}
    printf("%ld wrong\\n", wrong);
{indented(c.all("cudaFree({d}); free({h});"))}
    return wrong > 0;
}}
"""


@author(host="{}", device="{}_gpu", ceil="({x} + {t} - 1) / {t}")
def formatter_victim(c: Case) -> str:
    return f"""#include "cuda_runtime.h"
#include "device_launch_parameters.h"
{c.includes("stdio.h", "stdlib.h", "math.h")}
{c.declared("const int {name} = {value};")}
{c.scalars("const {type} {name} = {value};")}

{c.kernel}
int main()
{{
	cudaError_t cudaStatus = cudaSetDevice(0);
	if (cudaStatus != cudaSuccess) {{
		fprintf(stderr, "cudaSetDevice failed!  Do you have a CUDA-capable GPU installed?");
		return 1;
	}}
{indented(c.all("{t}* {h} = new {t}[{n}];"))}
{indented(c.fills("for (int i = 0; i < {n}; i++) { {h}[i] = (i * 7 + 3) % 10; }"))}
{indented(c.all("{t}* {d} = 0;"))}
{indented(c.all("cudaStatus = cudaMalloc((void**)&{d}, {n} * sizeof({t}));"))}
{indented(c.all("cudaStatus = cudaMemcpy({d}, {h}, {n} * sizeof({t}), cudaMemcpyHostToDevice);", "in inout"))}
{indented(c.all("cudaStatus = cudaMemset({d}, 0, {n} * sizeof({t}));", "zero"))}
	dim3 threadsPerBlock({c.block});
	dim3 blocksPerGrid({c.grid});
	{c.called} << <{c.config("blocksPerGrid", "threadsPerBlock")} >> > ({c.args});
	cudaStatus = cudaDeviceSynchronize();
	if (cudaStatus != cudaSuccess) {{
		fprintf(stderr, "cudaDeviceSynchronize returned error code %d!\\n", cudaStatus);
		return 1;
	}}
{indented(c.all("cudaStatus = cudaMemcpy({h}, {d}, {n} * sizeof({t}), cudaMemcpyDeviceToHost);", "out inout zero"))}
	bool success = true;
{indented(c.check("if (fabs((double)({g}) - (double)({w})) > 0.001 * (1 + fabs((double)({w})))) success = false;"))}
	printf("%s\\n", success ? "Success" : "Failure");
{indented(c.all("cudaFree({d});" + chr(10) + "delete[] {h};"))}
	return success ? 0 : 1;
}}
"""


@author(
    host="h_{}", device="d_{}", lower=True, sizes={"M": "rows", "N": "cols", "K": "depth", "n": "count"}, ceil="cdiv({x}, {t})"
)
def template_launcher(c: Case) -> str:
    signature = ", ".join(
        (
            *c.all("T *{d}", joint="|").split("|"),
            *(f"int {c.size(each)}" for each in c.values if c.size(each) not in c.piece.macro.split()),
        )
    ) + c.scalars(", {type} {name}").replace("\n", "")
    passed = ", ".join(part.split()[-1].lstrip("*") for part in signature.split(", "))
    return f"""{c.includes("cstdio", "cstdlib", "cmath", "cuda_runtime.h")}
template <typename I>
constexpr I cdiv(I a, I b) {{
    return (a + b - 1) / b;
}}

#define CUDA_CHECK(x) do {{ cudaError_t e_ = (x); if (e_ != cudaSuccess) {{ std::fprintf(stderr, "%s\\n", cudaGetErrorString(e_)); std::exit(1); }} }} while (0)

{c.kernel}
template <typename T>
void launch({signature}, cudaStream_t stream = 0) {{
    dim3 block({c.block});
    dim3 grid({c.grid.replace("16U", "16").replace("1U", "1")});
    {c.called}<<<{c.config("grid", "block", "stream")}>>>({c.args});
    CUDA_CHECK(cudaGetLastError());
}}

int main() {{
{indented(c.declared("int {name} = {value};"))}
{indented(c.scalars())}
{indented(c.all("{t} *{h} = ({t} *)std::malloc(sizeof({t}) * {n}), *{d};"))}
{indented(c.fills("for (int i = 0; i < {n}; ++i) {h}[i] = std::rand() % 10;"))}
{indented(c.all("CUDA_CHECK(cudaMalloc(&{d}, sizeof({t}) * {n}));"))}
{indented(c.all("CUDA_CHECK(cudaMemcpy({d}, {h}, sizeof({t}) * {n}, cudaMemcpyHostToDevice));", "in inout"))}
{indented(c.all("CUDA_CHECK(cudaMemset({d}, 0, sizeof({t}) * {n}));", "zero"))}
    launch<{c.type}>({passed});
    CUDA_CHECK(cudaDeviceSynchronize());
{indented(c.all("CUDA_CHECK(cudaMemcpy({h}, {d}, sizeof({t}) * {n}, cudaMemcpyDeviceToHost));", "out inout zero"))}
    int mismatches = 0;
{indented(c.check("mismatches += std::fabs((double)({g}) - (double)({w})) > 1e-3 * (1.0 + std::fabs((double)({w})));"))}
    std::printf("mismatches: %d\\n", mismatches);
{indented(c.all("CUDA_CHECK(cudaFree({d}));"))}
    return mismatches;
}}
"""

"""Mistakes that students make, planted in five right kernels, with what must be said about each."""

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "hand_ins"
KERNELS = ("naive", "flat", "tiled", "padded", "register")
Change = tuple[str, str]
BARRIER = "__syncthreads();"


@dataclass(frozen=True)
class Fault:
    """A mistake: changes of the base text, each of which must apply; the check that fails, the finding and a part of what is
    said. ``others``: checks that fail too.
    """

    name: str
    changes: tuple[Change, ...]
    check: str
    finding: str
    said: str = ""
    others: tuple[str, ...] = ()


def base_text(kernel: str) -> str:
    return (FOLDER / kernel / "base.cu").read_text(encoding="utf-8")


def changed(kernel: str, changes: tuple[Change, ...]) -> str:
    """The base text with some changes; each must apply. ``old`` may begin with ``N:``: the Nth place alone, from 1."""
    text = base_text(kernel)
    for old, new in changes:
        number, _, rest = old.partition(":")
        if number.isdecimal():
            parts = text.split(rest)
            assert len(parts) > int(number), (kernel, old)
            text = rest.join(parts[: int(number)]) + new + rest.join(parts[int(number) :])
        else:
            assert old in text, (kernel, old)
            text = text.replace(old, new)
    assert text != base_text(kernel)
    return text


OUT, WRONG, UNWRITTEN = "out-of-range", "wrong", "unwritten"
RAW, WAR = "read-after-write", "write-after-read"

FAULTS: dict[str, tuple[Fault, ...]] = {
    "naive": (
        Fault("no guard", (("if (row < M && col < N) {", "{"),), "guards", OUT, "is out of range"),
        Fault("guard of rows alone", (("row < M && col < N", "row < M"),), "guards", OUT),
        Fault("guard with <=", (("col < N)", "col <= N)"),), "guards", OUT),
        Fault("guard with or", (("row < M && col", "row < M || col"),), "guards", OUT),
        Fault("rows and columns exchanged in the guard", (("row < M && col < N", "row < N && col < M"),), "guards", OUT),
        Fault("a loop one too long", (("k < K;", "k <= K;"),), "guards", OUT),
        Fault("a loop one too short", (("k < K;", "k < K - 1;"),), "result", WRONG, "elements are wrong"),
        Fault("B by columns", (("B[k * N + col]", "B[col * K + k]"),), "result", WRONG, others=("criterion-1",)),
        Fault("stride of A is M", (("A[row * K + k]", "A[row * M + k]"),), "guards", OUT, others=("result",)),
        Fault("no sum", (("sum += A", "sum = A"),), "result", WRONG),
        Fault("integer sum", (("float sum = 0.0f", "int sum = 0"),), "result", WRONG),
        Fault(
            "x counts rows",
            (
                ("blockIdx.y * blockDim.y + threadIdx.y", "blockIdx.x * blockDim.x + threadIdx.x"),
                ("int col = blockIdx.x * blockDim.x + threadIdx.x", "int col = blockIdx.y * blockDim.y + threadIdx.y"),
                ("(N + threads.x - 1) / threads.x, (M + threads.y - 1) / threads.y",
                 "(M + threads.x - 1) / threads.x, (N + threads.y - 1) / threads.y"),
            ),
            "criterion-2", "not-met", "Threads of a warp share rows of A",
        ),
        Fault("never launched", (("matmul<<<blocks, threads>>>(d_A, d_B, d_C, M, N, K);", ""),), "host", "not-launched", "is launched nowhere"),
        Fault("a grid cut short", (("(N + threads.x - 1) / threads.x", "N / threads.x"),), "result", UNWRITTEN, "never written", others=("host",)),
        Fault("adds to C, which is never set", (("C[row * N + col] = sum", "C[row * N + col] += sum"),), "result", "unset", "never set to 0"),
        Fault("too many threads", (("threads(16, 16)", "threads(64, 64)"),), "host", "block-threads", "1024"),
    ),
    "flat": (
        Fault("no guard of rows", (("x >= N || y >= M", "x >= N"),), "guards", OUT),
        Fault("guard with and", (("x >= N || y >= M", "x >= N && y >= M"),), "guards", OUT),
        Fault("guard one too far", (("x >= N ||", "x > N ||"),), "guards", OUT),
        Fault("an endless loop", (("    ++i;\n", ""),), "result", "step-budget", "ever end"),
        Fault("a loop that runs away", (("while (i < K)", "while (i >= 0)"),), "guards", OUT),
        Fault("not started at zero", (("int i = 0;", "int i = 1;"),), "result", WRONG),
        Fault("overwrites", (("tmp += A", "tmp = A"),), "result", WRONG),
        Fault("division for the column", (("threadIdx.x % BLOCKSIZE", "threadIdx.x / BLOCKSIZE"), ("BLOCKSIZE / 4 + threadIdx.x / BLOCKSIZE", "BLOCKSIZE / 4 + threadIdx.x % BLOCKSIZE"), ), "result", UNWRITTEN, others=("criterion-2", "criterion-3")),
        Fault(
            "columns of a warp",
            (("BLOCKSIZE + threadIdx.x % BLOCKSIZE", "BLOCKSIZE + threadIdx.x / (BLOCKSIZE / 4)"),
             ("BLOCKSIZE / 4 + threadIdx.x / BLOCKSIZE", "BLOCKSIZE / 4 + threadIdx.x % (BLOCKSIZE / 4)")),
            "criterion-2", "not-met", "Stores are coalesced", others=("criterion-3",),
        ),
        Fault("half of the threads", (("BLOCKSIZE * BLOCKSIZE / 4>>>", "BLOCKSIZE * BLOCKSIZE / 8>>>"),), "result", UNWRITTEN),
        Fault("grid of rows and columns exchanged", (("dim3 grid((N + BLOCKSIZE - 1) / BLOCKSIZE, (M + BLOCKSIZE / 4 - 1) / (BLOCKSIZE / 4))", "dim3 grid((M + BLOCKSIZE / 4 - 1) / (BLOCKSIZE / 4), (N + BLOCKSIZE - 1) / BLOCKSIZE)"),), "result", UNWRITTEN),
        Fault("a semicolon is missing", (("float tmp = 0.0;", "float tmp = 0.0"),), "parses", "source", "a ; is missing"),
    ),
    "tiled": (
        Fault("no barrier behind the loads", ((f"1:{BARRIER}", ""),), "hazards", RAW, "A barrier is missing between lines 22 and 23"),
        Fault("no barrier behind the products", ((f"2:{BARRIER}", ""),), "hazards", WAR, "M = 37"),
        Fault("no barriers", ((BARRIER, ""),), "hazards", RAW),
        Fault("barriers of a warp", ((BARRIER, "__syncwarp();"),), "hazards", RAW),
        Fault("a fence for a barrier", ((f"1:{BARRIER}", "__threadfence_block();"),), "hazards", RAW),
        Fault("a barrier in a branch", ((f"1:{BARRIER}", "if (Row < numARows) __syncthreads();"),), "hazards", "divergent-barrier"),
        Fault("return before a barrier", (("  float Pvalue = 0;", "  if (Row >= numARows || Col >= numBColumns) return;\n  float Pvalue = 0;"),), "guards", "uninitialised-read"),
        Fault("a tile too few", (("(numAColumns - 1) / TILE_WIDTH + 1; ++m", "numAColumns / TILE_WIDTH; ++m"),), "result", WRONG),
        Fault("no zeros beside A", (("    else\n      ds_A[ty][tx] = 0;\n", ""),), "guards", "uninitialised-read"),
        Fault("no guard of A", (("if (Row < numARows && m * TILE_WIDTH + tx < numAColumns)", "if (Row < numARows)"), ("    else\n      ds_A[ty][tx] = 0;\n", "")), "guards", OUT),
        Fault("no guard of C", (("if (Row < numARows && Col < numBColumns)\n", ""),), "guards", OUT),
        Fault("tiles exchanged", (("ds_A[ty][k] * ds_B[k][tx]", "ds_A[k][ty] * ds_B[tx][k]"),), "result", WRONG, others=("criterion-3",)),
        Fault("A by columns into the tile", (("ds_A[ty][tx] = A", "ds_A[tx][ty] = A"), ("ds_A[ty][tx] = 0", "ds_A[tx][ty] = 0"), ("ds_A[ty][k]", "ds_A[k][ty]")), "criterion-3", "not-met", "no bank conflicts"),
        Fault("A is read by every thread", (("Pvalue += ds_A[ty][k]", "Pvalue += (Row < numARows && m * TILE_WIDTH + k < numAColumns ? A[Row * numAColumns + m * TILE_WIDTH + k] : 0)"),), "criterion-4", "not-met", "Load each element of A"),
        Fault("copied in the wrong direction", (("cudaMemcpyDeviceToHost", "cudaMemcpyHostToDevice"),), "host", "host-copy", "cudaMemcpyDeviceToHost"),
        Fault("never copied back", (("  cudaMemcpy(hostC, deviceC, numARows * numBColumns * sizeof(float), cudaMemcpyDeviceToHost);\n", ""),), "host", "host-copy", "never copied back"),
        Fault("a division of integers for the grid", (("(numBColumns - 1) / TILE_WIDTH + 1", "ceil(numBColumns / TILE_WIDTH)"),), "result", UNWRITTEN, others=("host",)),
    ),
    "padded": (
        Fault("no padding", (("a[TS][TS + 1]", "a[TS][TS]"),), "criterion-1", "not-met", "No bank conflicts"),
        Fault("padding by two", (("a[TS][TS + 1]", "a[TS][TS + 2]"),), "criterion-1", "not-met"),
        Fault("first barrier is missing", ((f"1:{BARRIER}", ""),), "hazards", RAW),
        Fault("second barrier is missing", ((f"2:{BARRIER}", ""),), "hazards", WAR),
        Fault("a barrier in the loop of rows", ((f"1:{BARRIER}", "if (threadIdx.y < 4) __syncthreads();"),), "hazards", "divergent-barrier"),
        Fault("guard of K is missing", (("row0 + r < M && k0 + threadIdx.x < K", "row0 + r < M"),), "guards", OUT),
        Fault("guard of C is missing", (("if (row < M && col < N)", "if (row < M)"),), "guards", OUT, others=("hazards",)),
        Fault("copies half of the rows", (("for (unsigned r = threadIdx.y; r < TS; r += ROWS)", "for (unsigned r = threadIdx.y; r < TS; r += 2 * ROWS)"),), "guards", "uninitialised-read"),
        Fault("stores the first row four times", (("row0 + threadIdx.y + i * ROWS;\n    if", "row0 + threadIdx.y;\n    if"),), "result", WRONG),
        Fault("loads A by columns", (("a[threadIdx.x][r] = row0 + r < M && k0 + threadIdx.x < K ? A[(row0 + r) * K + k0 + threadIdx.x] : 0.f", "a[r][threadIdx.x] = row0 + threadIdx.x < M && k0 + r < K ? A[(row0 + threadIdx.x) * K + k0 + r] : 0.f"),), "criterion-2", "not-met", "Loads of A"),
        Fault("a block of too few rows", (("block(TS, ROWS)", "block(TS, ROWS / 2)"),), "guards", "uninitialised-read"),
        Fault("a name misspelt", (("acc[i] += a", "acc[j] += a"),), "parses", "unknown-name", "'j' is not declared"),
    ),
    "register": (
        Fault("first barrier is missing", ((f"1:{BARRIER}", ""),), "hazards", RAW),
        Fault("second barrier is missing", ((f"2:{BARRIER}", ""),), "hazards", WAR),
        Fault("no guard of rows", (("if (row < M && col < N) C", "if (col < N) C"),), "guards", OUT),
        Fault("no guard of loads", (("(rowB < K && colB < N) ? B[rowB * N + colB] : 0.0f", "B[rowB * N + colB]"),), "guards", OUT),
        Fault("guard of another size", (("(rowA < M && colA < K)", "(rowA < M && colA < M)"),), "guards", OUT),
        Fault("results of a neighbour", (("As[(threadRow * TM + resIdx)", "As[(threadRow + resIdx)"),), "result", WRONG),
        Fault("a tile beyond its end", (("As[(threadRow * TM + resIdx) * BK", "As[(threadRow * TM + resIdx + 1) * BK"),), "guards", OUT),
        Fault("B isn't kept", (("* tmpB", "* Bs[dotIdx * BN + threadCol]"),), "criterion-1", "not-met", "Keep the element of B in a register"),
        Fault("a grid of one block too few", (("#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))", "#define CEIL_DIV(M, N) ((M) / (N) + ((M) % (N) > (N) / 2))"),), "result", UNWRITTEN, others=("host",)),
        Fault("too few threads", (("dim3 blockDim((BM * BN) / TM)", "dim3 blockDim((BM * BN) / (2 * TM))"),), "guards", "uninitialised-read", others=("criterion-3",)),
        Fault("the loop never moves on", (("bkIdx += BK)", "bkIdx += K - K)"),), "result", "step-budget"),
        Fault("sums aren't zero", (("float threadResults[TM] = {0.0};", "float threadResults[TM];"),), "guards", "uninitialised-read"),
        Fault("a return before the barrier", (("  float threadResults", "  if (cCol * BN + threadCol >= N) return;\n  float threadResults"),), "guards", "uninitialised-read"),
    ),
}  # fmt: skip

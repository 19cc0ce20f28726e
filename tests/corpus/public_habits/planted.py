"""Faults planted in kernels of the corpus: ``python -m tests.corpus.public_habits.planted`` runs each of them on the host."""

import argparse
import dataclasses
import fnmatch
import re
import tempfile
from collections import Counter
from pathlib import Path

from tests.corpus.public_habits.corpus import Entry, entries
from tests.corpus.public_habits.verify import outcome

# Kinds, and below each kind its changes: "pieces: old => new". ``old`` occurs once, "#2" names the second occurrence, or "#all"
# are meant. "M%16" and "N!=K" say at which sizes the change is a fault: M is no multiple of 16, N isn't K. "*2" takes the files
# of two authors, and the authors of a piece take turns; "piece-author" and the names of whole files choose one.

# Threads that run one after another can give a right result in spite of these.
RACES = """
no barrier before the products
    sgemm_smem gemm_nt_smem TiledBounds rect_tile policy_mm two_by_two struct_matrix_shared bfloat_gemm #1: __syncthreads(); =>
    sharedABMultiply shared_row: __syncthreads(); =>
no barrier after the products
    gpu_square_tiles TiledMulWidth MatrixMulCUDA sgemm_2d_tiles register_tiled skinny_tile #2: __syncthreads(); =>
    more_work_per_thread float4_tile persistent_tiles bgemm_strided_tile gemm_v02_tiles #2: __syncthreads(); =>
    async_copy big_shared double_buffered #2: __syncthreads(); =>
no barrier in a reduction or a count
    row_sum_block dot_cache max_int reduce3 softmax_block #2: __syncthreads(); =>
    CoarsenedSumReductionKernel: __syncthreads(); =>
    softmax_block #3: __syncthreads(); =>
    histo_private_kernel #1: __syncthreads(); =>
    histo_private_kernel #2: __syncthreads(); =>
no barrier between load and transposed store
    transposeCoalesced transpose_tile16 *2: __syncthreads(); =>
no barrier in a scan
    scan_block #1: __syncthreads(); =>
    scan_block other_scan_thrust_style #2: __syncthreads(); =>
barrier in the wrong place
    prefetch_registers: b[threadIdx.y][threadIdx.x] = rb; __syncthreads(); => __syncthreads(); b[threadIdx.y][threadIdx.x] = rb;
    shared_row: row[j] = A[i * n + j]; __syncthreads(); => __syncthreads(); row[j] = A[i * n + j];
    row_sum_block: red[threadIdx.x] = v; __syncthreads(); => __syncthreads(); red[threadIdx.x] = v;
barrier for some threads
    TiledBounds M%32 #1: __syncthreads(); => if(row < j && col < l) __syncthreads();
    gemm_tn_tile M%16 #1: __syncthreads(); => if (m + ty < M) __syncthreads();
    max_int: __syncthreads(); } => if (threadIdx.x < step) __syncthreads(); }
no atomic operation
    splitk_atomic *2: atomicAdd(&C[row * N + col], partial) => C[row * N + col] += partial
    splitk_gridz *2: atomicAdd(C + row * N + col, s) => C[row * N + col] += s
    atomic_sum-global_state atomic_sum-typedef_real: atomicAdd(total, x[i]) => *total += x[i]
    histogram_atomic *2: atomicAdd(&bins[values[i] & 63u], 1u) => bins[values[i] & 63u]++
    histo_private_kernel: atomicAdd(&(histo_s[data[i] % NUM_BINS]), 1) => histo_s[data[i] % NUM_BINS] += 1
    histo_private_kernel: atomicAdd(&(histo[bin]), binValue) => histo[bin] += binValue
    dot_cache: if (cacheIndex == 0) atomicAdd(c, cache[0]) => if (cacheIndex == 0) c[0] += cache[0]
    sum_warp_shuffle: atomicAdd(out, v) => *out += v
    max_int: atomicMax(result, s[0]) => *result = max(*result, s[0])
neighbour read from the new field
    heat_step: u[IDX(i - 1, j)] => u_new[IDX(i - 1, j)]
"""

WRONG = """
guard too wide
    matmul_naive N%16 *2: row < M && col < N => row <= M && col <= N
    sgemm_naive N%32: x < M && y < N => x <= M && y <= N
    vecAddKernel n%256: id < n => id <= n
    linear_id_mm M%16: tid < rowsA * colsB => tid <= rowsA * colsB
guard too narrow
    gpu_matrix_mult: row < m => row < m - 1
    saxpy-argv_sizes: i < n => i < n - 1
    add_matrices: j < cols => j < cols - 1
    transpose_tile16: x < w && y < h) block => x < w - 1 && y < h) block
    copy_vec4: i < count => i < count - 1
no guard
    sgemm_coalesce N%32 *2: if (cRow < M && cCol < N) { => {
    gemv_warp M%4: if (row < M) { => {
    functor_apply n%256: if (i < n) =>
    histogram_atomic n%256: if (i < n) =>
    scale_inplace n%64: if (idx < n) =>
one direction not guarded
    kahan_mm N%16: row < M && col < N => row < M
    register_tiled N%64: if (row < rows && col < cols) => if (row < rows)
    rect_macros N%8: if (j >= COLS_B) return; =>
and and or exchanged
    scaled_gelu_mm N%32: row < M && col < N => row < M || col < N
    bgemm_strided_tile M%8: if (row < M && col < N) => if (row < M || col < N)
    gemm_nt_naive N%16: m >= M || n >= N => m >= M && n >= N
    bgemm N%16: row >= M || col >= N => row >= M && col >= N
    mat_mult_square N%32: r >= n || q >= n => r >= n && q >= n
limits of rows and columns exchanged
    view_mm M!=N: row >= c.rows || col >= c.cols => row >= c.cols || col >= c.rows
    forward_nt M!=N: bt < BT && oc < OC => bt < OC && oc < BT
x for y
    MatrixMulKernel: blockIdx.y*blockDim.y+threadIdx.y => blockIdx.y*blockDim.y+threadIdx.x
    gemm_v01 linear_bias: blockIdx.y * blockDim.y + threadIdx.y => blockIdx.y * blockDim.y + threadIdx.x
    dynamic_tiles: blockIdx.y * tile + ty => blockIdx.x * tile + ty
    double_buffered: blockIdx.y * 16 + ty => blockIdx.x * 16 + ty
    sgemm_1d_tiles: cRow = blockIdx.y => cRow = blockIdx.x
rows and columns of a tile exchanged
    gpu_square_tiles: tile_b[threadIdx.y][threadIdx.x] = d_b => tile_b[threadIdx.x][threadIdx.y] = d_b
    array_param_mm: a[threadIdx.y][k] => a[k][threadIdx.y]
    policy_mm: sB[k][threadIdx.x] => sB[threadIdx.x][k]
    outer_product_stripes: as[k][i] => as[i][k]
transposed store
    matmul_naive: C[row * N + col] => C[col * M + row]
    prefetch_registers: C[r * n + c] => C[c * n + r]
    thread_rows_stride: C[i * n + j] => C[j * n + i]
    gemm_col_tile: C(row, col) = tmp => C(col, row) = tmp
input read by the wrong index
    mat_mult_square-raii_cpp: b[k * n + q] => b[q * n + k]
    shared_row-kernel_switch: B[k * n + j] => B[j * n + k]
    simpleMultiply: b[i*N+col] => b[col*TILE_DIM+i]
    one_block_mm-course_student: db[k*N+j] => db[j*N+k]
    block_per_element-cmake_folder: a[row * N + k] => a[k * N + row]
    row_block_col_thread: A[i * n + k] => A[k * n + i]
transpose of an input forgotten
    gemm_tt_simple: At[k * M + m] => At[m * K + k]
    int8_gemm: B[n * K + k] => B[k * N + n]
    two_launches: Bt[j * K + k] => Bt[k * N + j]
    gemm_col_major: B[IDX2C(l, j, k)] => B[IDX2C(j, l, n)]
stride K for N
    matmul_naive-thrust_user matmul_naive-textbook N!=K: B[i * N + col] => B[i * K + col]
    linear_relu N!=K: weight[i * OC + oc] => weight[i * C + oc]
    warp_per_element N!=K: B[k * N + col] => B[k * K + col]
    half_gemm: B[k * N + col] => B[k * K + col]
stride N for K
    splitk_atomic-streams_and_pinned N!=K: A[row * K + k] => A[row * N + k]
    grid_stride_mm N!=K: (idx / n) * k => (idx / n) * n
    sgemm_2d_tiles N!=K: A += blockIdx.y * BM * K => A += blockIdx.y * BM * N
    softmax_rows M!=N: inp + i * C => inp + i * N
    explicit_instances: b[col * k + i] => b[col * n + i]
stride of the result
    kahan_mm N!=K: C[row * N + col] => C[row * K + col]
    view_mm M!=N: ptr[r * cols + c] => ptr[r * rows + c]
    matrixTransposeNaive M!=N: out[x * rows + y] => out[x * cols + y]
loop ends one early
    gemm_nt_naive: k < K; => k < K - 1;
    mul_const_n: k < N; => k < N - 1;
    row_sums: i < cols => i < cols - 1
    sgemm_smem: dotIdx < BS => dotIdx < BS - 1
    bgemm_strided_tile: i < T; => i < T - 1;
loop ends one late
    linear_bias: k < in_features => k <= in_features
    one_row_per_thread: k < inner => k <= inner
    TiledMulWidth: ph < Width/TILE_WIDTH => ph <= Width/TILE_WIDTH
    TiledBounds: i < TILE_DIM => i <= TILE_DIM
loop starts at 1
    matmul_naive: int i = 0; => int i = 1;
    column_sums: size_t i = 0 => size_t i = 1
    device_symbols #1: int k = 0; => int k = 1;
set for added
    sgemm_naive: tmp += A => tmp = A
    unrolled_k: s1 += => s1 =
    float4_tile: accum[i][j] += => accum[i][j] =
wrong start of a sum
    gpu_square_tiles: int tmp = 0; => int tmp;
    mm_kernel_t: T acc_sum{0}; => T acc_sum;
    one_col_per_thread: C[r * nCols + c] = 0.0f; =>
    CoarseMul: Pvalue[c] = 0.0f; => ;
    sgemm_warptile: acc[TM][TN] = {}; => acc[TM][TN];
    histo_private_kernel: histo_s[bin] = 0u; => ;
    one_row_per_thread: float pvalue = 0; => float pvalue = col;
    gemm_tn_tile: float acc = 0.0f; => float acc = 1.0f;
    dot_cache-benchmarker: float temp = 0; => float temp = 1;
number of the tile not used
    TiledMulWidth: d_M[Row*Width + ph*TILE_WIDTH + tx] => d_M[Row*Width + tx]
    dynamic_tiles: B[(t * tile + ty) * N + col] => B[ty * N + col]
    gemm_nt_smem: A[row * K + k0 + threadIdx.x] => A[row * K + threadIdx.x]
step of a pointer
    sgemm_smem: A += BS; => A += BS * K;
    sgemm_1d_tiles: B += BK * N; => B += BK;
    sgemm_2d_tiles: A += BK; =>
    gemm_col_tile M!=K: A += M << 4 => A += K << 4
    outer_product_stripes: bp += wB; =>
start of a tile
    gemm_v02_tiles: blockIdx.x * BLOCK_TILE_SIZE_X + c => blockIdx.y * BLOCK_TILE_SIZE_X + c
    size_loop: blockIdx.y * BN => blockIdx.y * BM
floor for ceil in the number of tiles
    gpu_square_tiles N%16: (n + BLOCK_SIZE - 1) / BLOCK_SIZE => n / BLOCK_SIZE
    TiledBounds K%32: (k - 1)/TILE_DIM + 1 => k/TILE_DIM
    gemm_v02_tiles K%16: (k + BLOCK_TILE_SIZE_K - 1) / BLOCK_TILE_SIZE_K => k / BLOCK_TILE_SIZE_K
    rect_tile K%32: k0 < K; k0 += 32 => k0 + 32 <= K; k0 += 32
one tile too few
    CoarseMul: ph < width/TILE_WIDTH => ph < width/TILE_WIDTH - 1
    more_work_per_thread: K/TS; => K/TS - 1;
    CoarsenedSumReductionKernel-class_author: tile < COARSE_FACTOR*2 => tile < COARSE_FACTOR*2 - 1
    struct_matrix_shared: A.width / BLOCK_SIZE) => A.width / BLOCK_SIZE) - 1
offset in a tile
    two_by_two: a1 = sa[(y + 16) * 16 + k] => a1 = sa[(y + 8) * 16 + k]
    sgemm_1d_tiles-argv_sizes: As[(threadRow * TM + resIdx) * BK => As[(threadRow + resIdx) * BK
    swizzled_blocks: sa[r + i * 8][kk] => sa[r + i][kk]
    register_tiled: lhs_tile[k][threadIdx.y + i * Shape::kThreadsY] => lhs_tile[k][threadIdx.y * 2 + i]
    sgemm_warptile: As[warpRow * WM + laneRow * TM + i] => As[warpRow * TM + laneRow * TM + i]
    five_kernels: ty = threadIdx.x / BN * TM => ty = threadIdx.x / BN
    big_shared: sb[k * TILE_N + tx + j * 16] => sb[k * TILE_N + tx * 4 + j]
part of a tile not loaded
    splitk_gridz: bs[ty + 16][tx] = B[(k0 + ty + 16) * N + col]; =>
    two_by_two: sb[y * 32 + x + 16] = b[(t + y) * N + col + x + 16]; =>
    rect_tile: i < 32; i += 8 => i < 24; i += 8
    other_const_conv: i < TILE + MASK_WIDTH - 1; i => i < TILE; i
term of the formula forgotten
    sgemm_coalesce: alpha * tmp + beta * C[cRow * N + cCol] => alpha * tmp
    sgemm_1d_tiles: alpha * threadResults[resIdx] => threadResults[resIdx]
    forward_nt: val = bias[oc] => val = 0.0f
    linear_relu: (bias != NULL) ? bias[oc] : 0.0f => 0.0f
    softmax_block: expf(x[i] - m) / sum => expf(x[i]) / sum
wrong operator
    sharedABMultiply: aTile[threadIdx.y][i]* bTile => aTile[threadIdx.y][i]+ bTile
    gemm_v01: alpha * sum + beta => alpha * sum - beta
    vectorAddSample: A[i] + B[i] => A[i] - B[i]
    gemv_naive: A[r * cols + c] * x[c] => A[r * cols + c] + x[c]
    functor_apply: v > 0.f ? v : 0.f => v < 0.f ? v : 0.f
wrong constant
    scaled_gelu_mm: 0.5f * x => 0.25f * x
    heat_step: 0.1f => 0.2f
    saxpy: a*x[i] => (a + 1)*x[i]
    other_heat_loop: 4 * t_old[c] => 3 * t_old[c]
division of integers cuts
    splitk_atomic K%4 *2: (K + SPLIT_K - 1) / SPLIT_K => K / SPLIT_K
    scaled_gelu_mm: 0.5f * x => 1 / 2 * x
    stencil_1d: 0.25f * in[i - 1] => 1 / 4 * in[i - 1]
rest forgotten
    unrolled_k K%4: for (; k < K; k++) s0 += A[i * K + k] * B[k * N + j]; =>
    swizzled_blocks M%64: min(num_m - group * GROUP_M, GROUP_M) => GROUP_M
reduction one step too short
    row_sum_block: w >= 1 => w > 1
    reduce3: s > 0 => s > 1
    warp_per_element: offset > 0 => offset > 1
    gemv_warp: if (WarpSize >= 2) sum += __shfl_down_sync(0xffffffff, sum, 1); =>
    softmax_block: s > 0; s >>= 1) { if (t < s) buf[t] += => s > 1; s >>= 1) { if (t < s) buf[t] +=
    scan_block: stride < blockDim.x => stride < blockDim.x / 2
reduction starts at the half
    reduce3-makefile_folder: s = blockDim.x / 2 => s = blockDim.x / 4
    sum_warp_shuffle: d = 16 => d = 8
    gemv_vec4: o = 16 => o = 8
wrong offset of a shuffle
    gemv_warp: sum, 16) => sum, 15)
    warp_per_element *2: val, offset) => val, offset + 1)
wrong mask or shift
    sum_warp_shuffle: partial[threadIdx.x >> 5] = v => partial[threadIdx.x >> 6] = v
    gemm_col_tile: tx & 15, col = tx >> 4 => tx & 7, col = tx >> 4
result stored by a part
    one_block_mm: dc[i*N+j] = sum => if (j < N - 1) dc[i*N+j] = sum
    row_sum_block: if (!threadIdx.x) => if (!threadIdx.x && blockIdx.x)
wrong one of two buffers
    double_buffered *2: write ^= 1; =>
    prefetch_registers: A[r * n + (t + 1) * T => A[r * n + t * T
    prefetch_registers: t + 1 < n / T => t + 1 <= n / T
    double_buffered: B[(k0 + ty) * N + col] => B[(k0 - 16 + ty) * N + col]
offset of the batch
    bgemm: B + b * K * N => B
    bgemm: C[b * M * N + row => C[row
    bgemm_strided_tile M!=N: A += blockIdx.z * strideA => A += blockIdx.z * strideB
step through the grid
    dot_cache: tid += blockDim.x * gridDim.x => tid += blockDim.x
    axpby: i += blockDim.x * gridDim.x => i += blockDim.x
    grid_stride_mm: idx += gridDim.x * blockDim.x => idx += 2 * gridDim.x * blockDim.x
    gemv_warp: i += 32 => i += 64
accumulators exchanged
    sgemm_vec4: threadResults[m * TN + n] += => threadResults[n * TN + m] +=
    two_by_two: c01 += a0 * b1 => c01 += a1 * b0
component of a vector
    sgemm_vec4: innerRowA] = tmp.z => innerRowA] = tmp.y
    four_columns: a.y * b1.y => a.y * b1.x
    gemv_vec4: u.z * v.z => u.z * v.y
one array read twice
    mat_mult_square-raii_cpp: b[k * n + q] => a[k * n + q]
    vecAddKernel-ladder_blogger: a[id] + b[id] => a[id] + a[id]
    axpby: beta * y[i] => beta * x[i]
wrong neighbour
    stencil_1d: in[i + 1] => in[i]
    heat_step: IDX(i, j - 1) => IDX(i - 1, j - 1)
    conv1d_mask: start = tid - r => start = tid - r + 1
    convolution_2D_basic: outCol - r + fCol => outCol - r - 1 + fCol
edge not guarded
    conv1d_mask: (start + j >= 0) && =>
    convolution_2D_basic: inRow < height && =>
    stencil_1d: i > 0 && i < n - 1 => i < n - 1
window one too short
    convolution_2D_basic: fRow < 2*r+1 => fRow < 2*r
shared array too small
    row_sum_block: red[128] => red[127]
    softmax_block: buf[128] => buf[64]
    two_by_two: sa[32 * 16] => sa[32 * 16 - 1]
    transposeCoalesced: tile[TILE_DIM][TILE_DIM + 1] => tile[TILE_DIM - 1][TILE_DIM + 1]
    skinny_tile: rows[4][128] => rows[3][128]
partial tile not filled up
    policy_mm K%16 #all: : T(0); => : T(1);
    register_tiled K%8 #all: && k0 + k < depth =>
    skinny_tile K%128: min(128u, K - base) => 128u
    sum_warp_shuffle n%256: i < n ? in[i] : 0.f => in[i]
    max_int n%256: gid < n ? data[gid] : data[0] => data[gid]
result of a block in the wrong place
    reduce3 n>512: g_odata[blockIdx.x] => g_odata[0]
    row_sum_block: out[blockIdx.x] => out[blockIdx.x + 1]
return before a barrier
    policy_mm K%16 N%16: T acc = T(0); => if (r >= M || c >= N) return; T acc = T(0);
    gpu_square_tiles N%16: int tmp = 0; => if (row >= n || col >= n) return; int tmp = 0;
    skinny_tile-typedef_real N%128: float acc0 => if (col >= N) return; float acc0
bytes and elements confused
    pitched: (const char*)A + y * pitchA => A + y * pitchA
"""


def faults() -> list[tuple[Entry, Entry]]:
    """All planted faults, in the order of the tables, each behind the entry without it."""
    right: dict[str, list[Entry]] = {}
    for entry in entries():
        right.setdefault(entry.case.piece.name if entry.case else entry.name, []).append(entry)
    taken: Counter[str] = Counter()
    found: dict[str, tuple[Entry, Entry]] = {}
    kind = ""
    for line in (RACES + WRONG).splitlines():
        if not line.startswith(" "):
            kind = line
            continue
        head, change = line.split(": ", 1)
        for piece, author in re.findall(r"(?<!\S)([A-Za-z]\w+)-?(\w*)(?!\S)", head):
            turn = taken[piece] % len(right[piece])
            turns = [each for each in (*right[piece][turn:], *right[piece][:turn]) if each.name.endswith(author)]
            fitting = [each for each in turns if _matters(head, each)][: 2 if "*2" in head else 1]
            assert fitting, line
            taken[piece] += 1
            for entry in fitting:
                name = f"{entry.name}-{kind.replace(' ', '_')}"
                while name in found:
                    name += "+"
                found[name] = entry, _planted(entry, head, change, name)
    return list(found.values())


def _matters(head: str, entry: Entry) -> bool:
    """Whether the sizes are as the conditions say."""
    values = entry.case.values if entry.case else {}
    for left, operator, right in re.findall(r"(\w+)(%|!=|>)(\w+)", head):
        value, other = values[left], values.get(right) or int(right)
        if not {"%": value % other != 0, "!=": value != other, ">": value > other}[operator]:
            return False
    return True


def _planted(entry: Entry, head: str, change: str, name: str) -> Entry:
    piece = entry.case.piece.text if entry.case else entry.files[entry.main]
    faulty = _changed(piece, head, change)
    changes = {piece: faulty, piece.replace("float", "real"): faulty.replace("float", "real")}  # one author has another word

    def put(files: dict[str, str]) -> dict[str, str]:
        made = {path: next((text.replace(a, b) for a, b in changes.items() if a in text), text) for path, text in files.items()}
        assert not files or made != files, name
        return made

    return dataclasses.replace(entry, name=name, files=put(entry.files), small=put(entry.small))


def _changed(text: str, head: str, change: str) -> str:
    """The text with one change; white space in it may differ."""
    old, new = change.split(" =>")
    found = list(re.finditer(r"\s+".join(map(re.escape, old.split())), text))
    place = re.search(r"#(\d)", head)
    assert place or "#all" in head or len(found) == 1, f"{len(found)} times: {change}"
    for match in reversed([found[int(place[1]) - 1]] if place else found):
        text = text[: match.start()] + new.strip() + text[match.end() :]
    return text


# Memory starts with large numbers: a NaN would pass the comparisons of main. verify knows no cudaLaunchKernel.
_FILLED = """#define cudaMalloc(p, n) (cudaMalloc(p, n), memset((void *)*(p), 0x7b, n), 0)
#define cudaMallocManaged(p, n) (cudaMalloc(p, n))
"""
_ARGUMENTS = re.compile(
    r"void \*kernelArgs\[\] = \{(.*)\};\s*cudaLaunchKernel\(\(const void \*\)(\w+), (.*), kernelArgs, (.*), 0\);"
)


def main() -> int:
    """Lists faults that are none: programs that don't compile, or that give the right result and have no race."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="*", metavar="GLOB")
    args = parser.parse_args()
    chosen = [each for _, each in faults() if fnmatch.fnmatch(each.name, args.only)]
    races = tuple(line.replace(" ", "_") for line in RACES.splitlines() if line and line[0] != " ")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        header = Path(folder) / "filled.h"
        header.write_text(_FILLED)
        for each in chosen:
            files = {path: _ARGUMENTS.sub(_launch, text) for path, text in (each.small or each.files).items()}
            said = outcome(files, each.main, ("-ftrivial-auto-var-init=pattern", "-include", str(header)))
            if said.startswith("compile") or (said == "ok" and not each.name.rstrip("+").endswith(races)):
                bad += 1
                print(f"{each.name}: {said}", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} are faults")
    return bad != 0


def _launch(match: re.Match[str]) -> str:
    return f"{match[2]}<<<{match[3]}, {match[4]}>>>({match[1].replace('&', '')});"


if __name__ == "__main__":
    raise SystemExit(main())

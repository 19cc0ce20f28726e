// gemmviz = 1
// title = "Float matrices on tensor cores, in TF32"
// description = """
// A warp computes 16 x 8 elements of C by mma.sync from float elements, of which the instruction uses the first 10 bits of the fraction.
// ROUND = 1: each element is rounded to that first; ROUND = 0: the other bits are cut off.
// """
// entry = "tf32"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["32"]
// grid  = ["N / 8", "M / 16"]
// [parameters.ROUND]
// default = 1
// choices = [0, 1]
// description = "1: elements are rounded to TF32, 0: they are cut off"
// [problem]
// M = 16
// N = 8
// K = 64
// [[require]]
// that = "M % 16 == 0 and N % 8 == 0 and K % 8 == 0"
// else = "M, N and K ({M}, {N}, {K}) must be multiples of 16, 8 and 8"

__device__ unsigned as_tf32(float x)
{
#if ROUND
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return rounded;
#else
    return __float_as_uint(x);   // the instruction ignores the last 13 bits
#endif
}

extern "C" __global__ void tf32(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int group = threadIdx.x / 4, place = threadIdx.x % 4;
    const int row = blockIdx.y * 16 + group, col = blockIdx.x * 8;

    float sum[4] = {};
    for (int k = 0; k < K; k += 8) {
        const unsigned a0 = as_tf32(A[row * K + k + place]), a1 = as_tf32(A[(row + 8) * K + k + place]);
        const unsigned a2 = as_tf32(A[row * K + k + place + 4]), a3 = as_tf32(A[(row + 8) * K + k + place + 4]);
        const unsigned b0 = as_tf32(B[(k + place) * N + col + group]), b1 = as_tf32(B[(k + place + 4) * N + col + group]);
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                     "{%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }

    float* c = &C[row * N + col + place * 2];
    c[0] = sum[0], c[1] = sum[1];
    c[8 * N] = sum[2], c[8 * N + 1] = sum[3];
}

// gemmviz = 1
// title = "Vector addition: one element for each thread"
// description = """
// The plainest kernel: each thread adds one pair of elements. Neighbouring threads take neighbouring elements, so that a warp reads
// one line of A and one of B. Each element is read once, so there is nothing to keep: memory bandwidth alone decides the speed. With
// STRIDE above 1, neighbouring threads take elements STRIDE apart: the same work, with more sectors.
// """
// entry = "vector_add"
// args  = ["A", "B", "C", "n"]
// block = ["BLOCK"]
// grid  = ["ceil_div(n, BLOCK * STRIDE) * STRIDE"]
// problem = { kind = "vector_add", n = 250 }
// [parameters.BLOCK]
// default = 64
// choices = [32, 64, 128, 256, 512, 1024]
// description = "threads of a block"
// [parameters.STRIDE]
// default = 1
// choices = [1, 2, 4, 8]
// description = "distance of the elements of neighbouring threads"

extern "C" __global__ void vector_add(const float* A, const float* B, float* C, int n)
{
    const int thread = blockIdx.x * BLOCK + threadIdx.x;
    const int stretch = gridDim.x * BLOCK / STRIDE;   // threads for each remainder of the index
    const int i = thread % stretch * STRIDE + thread / stretch;

    if (i < n)
        C[i] = A[i] + B[i];
}

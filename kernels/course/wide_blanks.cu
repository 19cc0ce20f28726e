// gemmviz = 1
// title = "Four elements in one access, with blanks to fill in"
// description = """
// Vector addition as a worksheet: a thread adds four neighbouring elements, which it reads and writes in one access each. The last
// thread adds what is left, one by one.
// """
// entry = "vector_add_worksheet"
// args  = ["A", "B", "C", "n"]
// block = ["BLOCK"]
// grid  = ["ceil_div(n, 4 * BLOCK)"]
// problem = { kind = "vector_add", n = 250 }
// [parameters.BLOCK]
// default = 32
// choices = [32, 64, 128, 256]
// description = "threads of a block"

extern "C" __global__ void vector_add_worksheet(const float* A, const float* B, float* C, int n)
{
    // The first of this thread's four elements
    const int i = /*?*/;

    // All four exist
    if (/*?*/) {
        const float4 a = *reinterpret_cast<const float4*>(&A[i]);
        const float4 b = /*?*/;
        *reinterpret_cast<float4*>(&C[i]) = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, /*?*/);
    } else {
        for (int j = i; j < n; ++j)
            C[j] = A[j] + B[j];
    }
}

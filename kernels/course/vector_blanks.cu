// gemmviz = 1
// title = "Vector addition, with blanks to fill in"
// description = """
// Vector addition as a worksheet: which element a thread adds, and which threads have none.
// """
// entry = "vector_worksheet"
// args  = ["A", "B", "C", "n"]
// block = ["BLOCK"]
// grid  = ["ceil_div(n, BLOCK)"]
// problem = { kind = "vector_add", n = 250 }
// [parameters.BLOCK]
// default = 64
// choices = [32, 64, 128, 256]
// description = "threads of a block"

extern "C" __global__ void vector_worksheet(
    const float* A, const float* B, float* C, int n)
{
    // Neighbouring threads have neighbouring elements
    const int i = /*?*/;

    // The last block may have more threads than there are elements left
    if (/*?*/)
        C[i] = A[i] + B[i];
}

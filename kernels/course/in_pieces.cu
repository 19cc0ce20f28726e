// gemmviz = 1
// title = "Pieces of rows, one after the other"
// description = """
// The rows of A and C are divided into PIECES equal pieces, each of which a host can copy and multiply by itself. Here the pieces are the
// layers of one grid: piece blockIdx.z begins at its own rows of A and C, and reads all of B.
// """
// entry = "in_pieces"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["BLOCK", "BLOCK"]
// grid  = ["(N + BLOCK - 1) / BLOCK", "(M / PIECES + BLOCK - 1) / BLOCK", "PIECES"]
// [parameters.BLOCK]
// default = 4
// choices = [2, 4, 8, 16, 32]
// description = "rows and columns of a block"
// [parameters.PIECES]
// default = 2
// choices = [1, 2, 4, 8]
// description = "pieces of equally many rows"
// [problem]
// M = 16
// N = 8
// K = 8
// [[require]]
// that = "BLOCK * BLOCK <= max_threads_per_block"
// else = "a block {BLOCK} wide needs {BLOCK * BLOCK} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "M % PIECES == 0"
// else = "M = {M} must be a multiple of PIECES = {PIECES}"

extern "C" __global__ void in_pieces(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int rows = M / PIECES, piece = blockIdx.z;
    // where the rows of this piece begin
    const float* Ap = A + piece * rows * K;
    float* Cp = C + piece * rows * N;

    const int row = blockIdx.y * BLOCK + threadIdx.y;   // within the piece
    const int col = blockIdx.x * BLOCK + threadIdx.x;
    if (row < rows && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k)
            sum += Ap[row * K + k] * B[k * N + col];
        Cp[row * N + col] = sum;
    }
}

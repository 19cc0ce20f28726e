// gemmviz = 1
// title = "Stencil: a tile with a halo on both sides"
// description = """
// Each element of out is the sum of 2 radius + 1 neighbours of in. A block loads its elements into shared memory once, with radius more
// on each side: the halo, which belongs to its neighbours. Every element is then read from the tile 2 radius + 1 times, and from global
// memory once, but for the halos.
// """
// entry = "stencil_halo"
// args  = ["in", "out", "n", "radius"]
// block = ["BLOCK"]
// grid  = ["ceil_div(n, BLOCK)"]
// shared_bytes = "4 * (BLOCK + 2 * radius)"
// problem = { kind = "stencil", n = 250, radius = 3 }
// [parameters.BLOCK]
// default = 64
// choices = [32, 64, 128, 256, 512, 1024]
// description = "threads of a block, and elements of its part of out"
// [[require]]
// that = "radius <= BLOCK"
// else = "the first {radius} threads of a block load the halos; it has {BLOCK}"

extern "C" __global__ void stencil_halo(const float* in, float* out, int n, int radius)
{
    extern __shared__ float tile[];   // BLOCK + 2 radius elements

    const int x = threadIdx.x;
    const int i = blockIdx.x * BLOCK + x;   // the element of out that this thread computes

    tile[x + radius] = i < n ? in[i] : 0.0f;
    if (x < radius) {   // the first threads load both halos
        const int left = i - radius;
        const int right = i + BLOCK;
        tile[x] = left >= 0 ? in[left] : 0.0f;
        tile[x + radius + BLOCK] = right < n ? in[right] : 0.0f;
    }
    __syncthreads();   // no thread reads a neighbour before it is loaded

    float sum = 0.0f;
    for (int offset = 0; offset <= 2 * radius; ++offset)
        sum += tile[x + offset];

    if (i < n)
        out[i] = sum;
}

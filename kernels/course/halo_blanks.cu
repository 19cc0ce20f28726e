// gemmviz = 1
// title = "Stencil, with blanks to fill in"
// description = """
// The stencil with a halo as a worksheet: which threads load the halos, what they load at the ends of the array, and where to wait.
// """
// entry = "halo_worksheet"
// args  = ["in", "out", "n", "radius"]
// block = ["BLOCK"]
// grid  = ["ceil_div(n, BLOCK)"]
// shared_bytes = "4 * (BLOCK + 2 * radius)"
// problem = { kind = "stencil", n = 250, radius = 3 }
// [parameters.BLOCK]
// default = 64
// choices = [32, 64, 128, 256]
// description = "threads of a block, and elements of its part of out"
// [[require]]
// that = "radius <= BLOCK"
// else = "the first {radius} threads of a block load the halos; it has {BLOCK}"

extern "C" __global__ void halo_worksheet(
    const float* in, float* out, int n, int radius)
{
    // The left halo, BLOCK elements, and the right halo
    extern __shared__ float tile[];

    const int x = threadIdx.x;
    const int i = blockIdx.x * BLOCK + x;
    tile[radius + x] = i < n ? in[i] : 0.0f;

    // The first threads load the halos: zeros beyond the array
    if (/*?*/) {
        tile[x] = /*?*/ ? in[i - radius] : 0.0f;
        tile[radius + BLOCK + x] = /*?*/ ? in[i + BLOCK] : 0.0f;
    }
    /*?*/

    // An element, and as many neighbours as the radius on either side
    float sum = 0.0f;
    for (int offset = 0; /*?*/; ++offset)
        sum += tile[x + offset];

    if (i < n)
        out[i] = sum;
}

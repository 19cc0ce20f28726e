#include <cstdint>

// Activations are unsigned, weights signed; weights are stored by output channel.
template <typename Act, typename Wgt>
__global__ void quantised_linear(const Act* act, const Wgt* wgt, int32_t* out, int tokens, int channels, int depth) {
  const int lane = threadIdx.x & 31, quad = lane >> 2, part = (lane & 3) * 4;
  const int t0 = blockIdx.y * 16, c0 = (blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)) * 8;
  int32_t d[4] = {};
  for (int k = 0; k < depth; k += 32) {
    auto word = [&](auto* base, int row, int col) { return *reinterpret_cast<const uint32_t*>(base + row * depth + col); };
    const uint32_t a0 = word(act, t0 + quad, k + part), a1 = word(act, t0 + quad + 8, k + part);
    const uint32_t a2 = word(act, t0 + quad, k + 16 + part), a3 = word(act, t0 + quad + 8, k + 16 + part);
    const uint32_t b0 = word(wgt, c0 + quad, k + part), b1 = word(wgt, c0 + quad, k + 16 + part);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  for (int e = 0; e < 4; ++e) out[(t0 + quad + (e >> 1) * 8) * channels + c0 + (lane & 3) * 2 + (e & 1)] = d[e];
}

void linear(const uint8_t* act, const int8_t* wgt, int32_t* out, int tokens, int channels, int depth) {
  quantised_linear<uint8_t, int8_t><<<dim3(channels / 16, tokens / 16), 64>>>(act, wgt, out, tokens, channels, depth);
}

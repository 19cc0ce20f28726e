// What a probed kernel is made of: every warp notes when its block began and ended (the earliest and the latest count), and where.

struct gv_probe_book {
    unsigned long long* start;      // [blocks], nanoseconds of %globaltimer
    unsigned long long* stop;       // [blocks]
    unsigned int* sm;               // [blocks]
};
extern "C" { __constant__ gv_probe_book gv_book; }

struct gv_probe {
    static __device__ __forceinline__ unsigned long long now()
    {
        unsigned long long time;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
        return time;
    }
    static __device__ __forceinline__ unsigned int block() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
    static __device__ __forceinline__ bool speaks()
    {
        return ((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31) == 0;
    }
    __device__ __forceinline__ gv_probe()
    {
        if (speaks()) {
            unsigned int sm;
            asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
            gv_book.sm[block()] = sm;
            atomicMin(&gv_book.start[block()], now());
        }
    }
    __device__ __forceinline__ ~gv_probe()
    {
        if (speaks()) atomicMax(&gv_book.stop[block()], now());
    }
};

// What a twin with matrix instructions has besides twin.cuh.

template <unsigned int site> __device__ __forceinline__ void gv_multiply(gv_thread& gv)
{
    if (gv.on) {
#ifdef GV_VALUES
        gv.value(gv.used, 0.0f);
#endif
        gv.record(site, 0);
    }
}
template <unsigned int site> __device__ __forceinline__ unsigned int gv_move_matrix(gv_thread& gv, unsigned int held)
{
    gv_multiply<site>(gv);
    unsigned int v;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(v) : "r"(held));
    return v;
}
// The registers of matrices of 8 rows of 16 bytes: where each lane's own ones lie, by the rows that all lanes name.
template <int count> struct gv_registers { unsigned int at[count]; };
template <unsigned int site, int count>
__device__ __forceinline__ gv_registers<count> gv_matrices(gv_thread& gv, const void* row)
{
    unsigned int address = (unsigned int)__cvta_generic_to_shared(row), lane = gv.number & 31;
    gv_registers<count> own;
    for (int matrix = 0; matrix < count; ++matrix)
        own.at[matrix] = __shfl_sync(0xffffffffu, address, 8 * matrix + lane / 4) + lane % 4 * 4;
    if (gv.on) {
        for (int matrix = 0; matrix < count; ++matrix) gv.put(GV_SHARED | own.at[matrix]);
        gv.note(site << 3 | GV_ACCESS);
    }
    return own;
}
template <int count, typename E> // E: the type of the array's elements
__device__ __forceinline__ void gv_matrix_values(gv_thread& gv, const gv_registers<count>& own)
{
#ifdef GV_VALUES
    for (int matrix = 0; matrix < count && gv.on; ++matrix)
        gv.value(gv.used - count + matrix, *(const E*)__cvta_shared_to_generic(own.at[matrix]));
#endif
}
#define GV_MATRICES(count, T, suffix, names, outputs, inputs) \
    template <unsigned int site, typename E, bool turned> \
    __device__ __forceinline__ T gv_load_matrix##count(gv_thread& gv, const void* row) \
    { \
        gv_registers<count> own = gv_matrices<site, count>(gv, row); \
        gv_matrix_values<count, E>(gv, own); \
        unsigned int from = (unsigned int)__cvta_generic_to_shared(row); \
        T v; \
        if (turned) asm volatile("ldmatrix.sync.aligned.m8n8." suffix ".trans.shared.b16 {" names "}, [%" #count "];" : outputs : "r"(from)); \
        else asm volatile("ldmatrix.sync.aligned.m8n8." suffix ".shared.b16 {" names "}, [%" #count "];" : outputs : "r"(from)); \
        return v; \
    } \
    template <unsigned int site, typename E, bool turned> \
    __device__ __forceinline__ void gv_store_matrix##count(gv_thread& gv, const void* row, T v) \
    { \
        gv_registers<count> own = gv_matrices<site, count>(gv, row); \
        unsigned int to = (unsigned int)__cvta_generic_to_shared(row); \
        if (turned) asm volatile("stmatrix.sync.aligned.m8n8." suffix ".trans.shared.b16 [%" #count "], {" names "};" :: inputs, "r"(to) : "memory"); \
        else asm volatile("stmatrix.sync.aligned.m8n8." suffix ".shared.b16 [%" #count "], {" names "};" :: inputs, "r"(to) : "memory"); \
        gv_matrix_values<count, E>(gv, own); \
    }
#define GV_COMMA ,
GV_MATRICES(1, unsigned int, "x1", "%0", "=r"(v), "r"(v))
GV_MATRICES(2, uint2, "x2", "%0, %1", "=r"(v.x) GV_COMMA "=r"(v.y), "r"(v.x) GV_COMMA "r"(v.y))
GV_MATRICES(4, uint4, "x4", "%0, %1, %2, %3", "=r"(v.x) GV_COMMA "=r"(v.y) GV_COMMA "=r"(v.z) GV_COMMA "=r"(v.w),
            "r"(v.x) GV_COMMA "r"(v.y) GV_COMMA "r"(v.z) GV_COMMA "r"(v.w))

// Barriers with numbers, mbarriers, and bulk copies. Copies are done at once here, as copies that complete early may be; so an
// arrival of copies is an arrival of the thread.

__device__ __forceinline__ void gv_barrier(bool waits, unsigned int number, unsigned int count)
{
#ifdef __CUDA_ARCH__
    if (waits) asm volatile("barrier.sync %0, %1;" :: "r"(number), "r"(count) : "memory");
    else asm volatile("barrier.arrive %0, %1;" :: "r"(number), "r"(count) : "memory");
#endif
}

struct gv_states { // of the phases in which the thread arrived last, by mbarrier
    const void* at[32] = {};
    unsigned long long state[32];
    __device__ __forceinline__ unsigned long long& of(const void* word)
    {
        unsigned int slot = 0;
        while (slot < 31 && at[slot] && at[slot] != word) ++slot;
        at[slot] = word;
        return state[slot];
    }
};

template <unsigned int site> __device__ __forceinline__ unsigned int gv_mbarrier(gv_thread& gv, const void* word)
{
    if (gv.on) {
#ifdef GV_VALUES
        gv.value(gv.used, 0.0f);
#endif
        gv.record(site, gv_word<GV_IN_SHARED>(word));
    } else {
        gv.note(site << 3 | GV_PASSED);
    }
    return (unsigned int)__cvta_generic_to_shared(word);
}
template <unsigned int site> __device__ __forceinline__ void gv_mbarrier_init(gv_thread& gv, gv_states&, const void* word, unsigned int count)
{
    unsigned int at = gv_mbarrier<site>(gv, word);
#ifdef __CUDA_ARCH__
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at), "r"(count) : "memory");
#endif
}
__device__ __forceinline__ void gv_arrive_once(unsigned int at, unsigned long long& state)
{
#ifdef __CUDA_ARCH__
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
#endif
}
template <unsigned int site>
__device__ __forceinline__ void gv_mbarrier_arrive(gv_thread& gv, gv_states& own, const void* word, unsigned int count, unsigned int bytes)
{
    unsigned int at = gv_mbarrier<site>(gv, word);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (bytes) asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(at), "r"(bytes) : "memory");
#endif
    for (unsigned int each = 0; each < count; ++each) gv_arrive_once(at, own.of(word));
}
template <unsigned int site> __device__ __forceinline__ void gv_mbarrier_drop(gv_thread& gv, gv_states& own, const void* word)
{
    unsigned int at = gv_mbarrier<site>(gv, word);
#ifdef __CUDA_ARCH__
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(own.of(word)) : "r"(at) : "memory");
#endif
}
template <unsigned int site>
__device__ __forceinline__ void gv_mbarrier_copies(gv_thread& gv, gv_states& own, const void* word, bool is_counted)
{
    unsigned int at = gv_mbarrier<site>(gv, word);
    if (!is_counted) gv_arrive_once(at, own.of(word));
}
template <unsigned int site>
__device__ __forceinline__ void gv_mbarrier_wait(gv_thread& gv, gv_states&, const void* word, unsigned int parity)
{
    unsigned int at = gv_mbarrier<site>(gv, word);
#ifdef __CUDA_ARCH__
    unsigned int done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at), "r"(parity) : "memory");
    }
#endif
}
template <unsigned int site> __device__ __forceinline__ void gv_mbarrier_wait(gv_thread& gv, gv_states& own, const void* word)
{
    unsigned int at = gv_mbarrier<site>(gv, word);
#ifdef __CUDA_ARCH__
    unsigned int done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at), "l"(own.of(word)) : "memory");
    }
#endif
}

template <unsigned int bytes> struct alignas(16) gv_bytes { uint4 part[bytes / 16]; };
template <unsigned int site, gv_space from, gv_space into, unsigned int bytes, typename E>
__device__ __forceinline__ void gv_bulk_copy(gv_thread& gv, gv_bytes<bytes>* target, const gv_bytes<bytes>* source, const void* word)
{
    if (gv.on) {
#ifdef GV_VALUES
        gv.value(gv.used, *(const E*)source);
        gv.value(gv.used + 1, *(const E*)source);
#endif
        gv.put(gv_word<from>(source));
        gv.record(site, gv_word<into>(target));
    }
    for (unsigned int at = 0; at < bytes / 16; ++at) target->part[at] = source->part[at];
    if (!word) return;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __threadfence_block();
    unsigned int at = (unsigned int)__cvta_generic_to_shared(word);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(at), "r"(bytes) : "memory");
#endif
}

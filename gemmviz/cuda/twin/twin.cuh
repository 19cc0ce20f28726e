// What an instrumented twin is made of. Every thread writes down, in its own order, the word of each access: where it went, in
// units of the record; and hashes its path: which accesses and loops it went through. Threads with equal hashes went the
// same way; one of them, the reporter, writes that way down as events.
//
// Macros from outside: GV_VALUES records what was read and written; GV_PHASES records only some trips of the phase loop.

struct gv_record_book {
    unsigned int* words;            // [capacity][threads]
    float* values;                  // [capacity][threads] with GV_VALUES
    unsigned int* events;           // [reporters][event_capacity]
    const int* reporter;            // [threads]: the row of events that a thread writes, -1 for none
    unsigned int* used;             // [threads]: accesses, those beyond the capacity too
    unsigned int* reported;         // [threads]: events of a reporter, those beyond the capacity too
    unsigned long long* path;       // [threads]: hash of the events
    unsigned int* shared_at;        // where each shared array begins
    unsigned long long arena;       // address and bytes of the memory that holds the matrices
    unsigned long long arena_bytes;
    unsigned int capacity, event_capacity, threads, shift;
    unsigned int first[3], grid[3]; // the first recorded block, and the extents of the whole grid
    int phase_start, phase_stop;
};
extern "C" { __constant__ gv_record_book gv_book; }

enum gv_event : unsigned int { GV_ACCESS, GV_LOOP, GV_TRIP, GV_LOOP_END, GV_PASSED, GV_COMMIT, GV_PENDING };
#define GV_SHARED 0x80000000u       // a word in shared memory: its byte in the block's window
#define GV_NOTHING 0xffffffffu      // the word of a copy's source where nothing is read
#define GV_OUTSIDE 0x7fffffffu      // a word outside the memory that holds the matrices

__device__ __forceinline__ unsigned int gv_block_index(int axis)
{
    return (axis == 0 ? blockIdx.x : axis == 1 ? blockIdx.y : blockIdx.z) + gv_book.first[axis];
}
__device__ __forceinline__ unsigned int gv_grid_extent(int axis) { return gv_book.grid[axis]; }
template <typename T> __device__ __forceinline__ T gv_exchanged(T& variable, T value)
{
    T old = variable;
    variable = value;
    return old;
}

template <typename T> __device__ __forceinline__ auto gv_number(const T& value) -> decltype(float(value)) { return float(value); }
template <typename T> __device__ __forceinline__ auto gv_number(const T& value) -> decltype(float(value.x)) { return float(value.x); }

struct gv_thread {
    unsigned int number, used = 0, reported = 0, a = 0x811c9dc5u, b = 0x9747b28cu;
    int reporter;
    bool on = true;
    unsigned int* next;
    unsigned int stored_in = 0;
    const volatile void* stored_at = nullptr;

    __device__ __forceinline__ gv_thread()
    {
        unsigned int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        unsigned int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        number = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
        reporter = gv_book.reporter[number];
        next = gv_book.words + number;
    }
    __device__ __forceinline__ ~gv_thread()
    {
        gv_book.used[number] = used;
        gv_book.reported[number] = reported;
        gv_book.path[number] = (unsigned long long)a << 32 | b;
    }
    __device__ __forceinline__ void note(unsigned int code)
    {
        a = (__funnelshift_l(a, a, 5) ^ code) * 0x01000193u;
        b = (__funnelshift_l(b, b, 13) + code) * 0x85ebca6bu;
        if (reporter >= 0) {
            if (reported < gv_book.event_capacity)
                gv_book.events[(unsigned long long)reporter * gv_book.event_capacity + reported] = code;
            ++reported;
        }
    }
    __device__ __forceinline__ void record(unsigned int site, unsigned int word)
    {
        put(word);
        note(site << 3 | GV_ACCESS);
    }
    __device__ __forceinline__ void put(unsigned int word)
    {
        if (used < gv_book.capacity) {
            *next = word;
            next += gv_book.threads;
        }
        ++used;
    }
    template <typename T> __device__ __forceinline__ void value(unsigned int slot, const T& element)
    {
        if (slot < gv_book.capacity) gv_book.values[(unsigned long long)slot * gv_book.threads + number] = gv_number(element);
    }
};

enum gv_space { GV_IN_GLOBAL, GV_IN_SHARED, GV_IN_ANY }; // any: the pointer may point into either, or to the thread's own

template <gv_space space> __device__ __forceinline__ bool gv_is_shared(const volatile void* address)
{
    return space == GV_IN_SHARED || (space == GV_IN_ANY && __isShared((const void*)address));
}
template <gv_space space> __device__ __forceinline__ bool gv_is_own(const volatile void* address)
{
    return space == GV_IN_ANY && !__isShared((const void*)address) && !__isGlobal((const void*)address);
}
template <gv_space space> __device__ __forceinline__ unsigned int gv_word(const volatile void* address)
{
    if (gv_is_shared<space>(address)) return GV_SHARED | (unsigned int)__cvta_generic_to_shared((const void*)address);
    unsigned long long offset = (unsigned long long)address - gv_book.arena;
    return offset < gv_book.arena_bytes ? (unsigned int)(offset >> gv_book.shift) : GV_OUTSIDE;
}
template <unsigned int site, gv_space space, typename T> __device__ __forceinline__ T& gv_load(gv_thread& gv, T& element)
{
    if (gv.on && !gv_is_own<space>(&element)) {
#ifdef GV_VALUES
        gv.value(gv.used, element);
#endif
        gv.record(site, gv_word<space>(&element));
    }
    return element;
}
template <unsigned int site, gv_space space, typename T> __device__ __forceinline__ T& gv_store(gv_thread& gv, T& element)
{
    gv.stored_at = nullptr;
    if (gv.on && !gv_is_own<space>(&element)) {
        gv.stored_in = gv.used;
        gv.stored_at = &element;
        gv.record(site, gv_word<space>(&element));
    }
    return element;
}
template <typename T> struct gv_plain { using type = T; };
template <typename T> struct gv_plain<T&> { using type = T; };
template <typename T> __device__ __forceinline__ T&& gv_wrote(gv_thread& gv, T&& result)
{
#ifdef GV_VALUES
    if (gv.on && gv.stored_at) gv.value(gv.stored_in, *(const typename gv_plain<T>::type*)gv.stored_at);
#endif
    return static_cast<T&&>(result);
}
template <unsigned int site> __device__ __forceinline__ void gv_arrive(gv_thread& gv, unsigned int number = 0)
{
    if (gv.on) {
#ifdef GV_VALUES
        gv.value(gv.used, 0.0f);
#endif
        gv.record(site, number);
    } else {
        gv.note(site << 3 | GV_PASSED); // a barrier that is not recorded still parts what is before it from what is after
    }
}
template <unsigned int site> __device__ __forceinline__ bool gv_part(gv_thread& gv, bool way)
{
    if (gv.on) {
#ifdef GV_VALUES
        gv.value(gv.used, 0.0f);
#endif
        gv.record(site, way);
    }
    return way;
}
template <unsigned int site, gv_space space, typename T> __device__ __forceinline__ T& gv_atomic(gv_thread& gv, T& element)
{
    return gv_load<site, space>(gv, element);
}
template <unsigned int site, gv_space from, gv_space into, typename T, typename E> // E: the type of the arrays' elements
__device__ __forceinline__ void gv_copy(gv_thread& gv, T* target, const T* source, unsigned int taken)
{
    T value = {};
    if (taken >= sizeof(T)) value = *source;
    else for (unsigned int at = 0; at < taken; ++at) ((unsigned char*)&value)[at] = ((const unsigned char*)source)[at];
    if (gv.on) {
#ifdef GV_VALUES
        gv.value(gv.used, *(const E*)&value);
        gv.value(gv.used + 1, *(const E*)&value);
#endif
        gv.put(taken ? gv_word<from>(source) : GV_NOTHING);
        gv.record(site, gv_word<into>(target));
    }
    *target = value;
}
__device__ __forceinline__ void gv_commit(gv_thread& gv) { gv.note(GV_COMMIT); }
template <unsigned int site> __device__ __forceinline__ void gv_wait(gv_thread& gv, unsigned int pending)
{
    gv_arrive<site>(gv);
    gv.note(pending << 3 | GV_PENDING);
}
__device__ __forceinline__ void gv_declare_shared(unsigned int array, const volatile void* address)
{
    gv_book.shared_at[array] = gv_word<GV_IN_SHARED>(address);
}

template <unsigned int loop> struct gv_loop {
    gv_thread& gv;
    __device__ __forceinline__ gv_loop(gv_thread& g, int) : gv(g) { gv.note(loop << 3 | GV_LOOP); }
    __device__ __forceinline__ ~gv_loop() { gv.note(loop << 3 | GV_LOOP_END); }
    __device__ __forceinline__ void next() { gv.note(loop << 3 | GV_TRIP); }
};
#ifdef GV_PHASES
template <unsigned int loop> struct gv_phases {
    gv_thread& gv;
    int trip;
    __device__ __forceinline__ gv_phases(gv_thread& g, int first) : gv(g), trip(first)
    {
        gv.note(loop << 3 | GV_LOOP);
        turn();
    }
    __device__ __forceinline__ ~gv_phases()
    {
        gv.on = true;
        gv.note(loop << 3 | GV_LOOP_END);
    }
    __device__ __forceinline__ void next()
    {
        gv.note(loop << 3 | GV_TRIP);
        ++trip;
        turn();
    }
    __device__ __forceinline__ void turn() { gv.on = trip >= gv_book.phase_start && trip < gv_book.phase_stop; }
};
#else
template <unsigned int loop> using gv_phases = gv_loop<loop>;
#endif

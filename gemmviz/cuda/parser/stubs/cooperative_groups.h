// Cooperative groups in terms of the functions of warps and blocks: the block, tiles of a warp, coalesced threads, the grid,
// with their collectives.
#pragma once
#include <cuda_pipeline.h>

void __gemmviz_grid_sync();

namespace cooperative_groups {
namespace details {
inline unsigned int thread() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
inline unsigned int threads() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned int lane() { return thread() % 32u; }
inline unsigned int mask(unsigned int size) {
  return size == 32u ? 0xffffffffu : ((1u << size) - 1u) << (thread() % 32u / size * size);
}
}  // namespace details

class thread_block {
 public:
  static void sync() { __syncthreads(); }
  static unsigned int size() { return details::threads(); }
  static unsigned int num_threads() { return details::threads(); }
  static unsigned int thread_rank() { return details::thread(); }
  static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  class arrival_token {};
  arrival_token barrier_arrive() const { return arrival_token(); }
  void barrier_wait(arrival_token&&) const { __syncthreads(); }
};

class thread_group {  // threads == 0: the block
  unsigned int threads;

 public:
  thread_group(unsigned int n) { threads = n; }
  thread_group(const thread_block&) { threads = 0u; }
  unsigned int size() const { return threads ? threads : details::threads(); }
  unsigned int num_threads() const { return size(); }
  unsigned int thread_rank() const { return threads ? details::thread() % threads : details::thread(); }
  bool is_valid() const { return true; }
  void sync() const {
    if (threads) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
};

class grid_group {
 public:
  static bool is_valid() { return true; }
  static void sync() { __gemmviz_grid_sync(); }
  static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z); }
  static unsigned long long size() { return num_blocks() * details::threads(); }
  static unsigned long long num_threads() { return num_blocks() * details::threads(); }
  static unsigned long long thread_rank() { return block_rank() * details::threads() + details::thread(); }
  static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};

class cluster_group {
 public:
  static void sync();
  static void barrier_arrive();
  static void barrier_wait();
  static unsigned int num_blocks();
  static unsigned int block_rank();
  static dim3 dim_blocks();
  static dim3 block_index();
  template <class T> static T* map_shared_rank(T*, int);
};

class coalesced_group {
  unsigned int mask;

  unsigned int lane_of(unsigned int rank) const {
    unsigned int lanes = mask;
    for (unsigned int below = 0u; below < rank; ++below) lanes &= lanes - 1u;
    return __ffs(lanes) - 1;
  }

 public:
  coalesced_group(unsigned int lanes) { mask = lanes; }
  unsigned int size() const { return __popc(mask); }
  unsigned int num_threads() const { return __popc(mask); }
  unsigned int thread_rank() const { return __popc(mask & ((1u << details::lane()) - 1u)); }
  unsigned int meta_group_rank() const { return 0u; }
  unsigned int meta_group_size() const { return 1u; }
  void sync() const { __syncwarp(); }
  template <class T> T shfl(T value, unsigned int rank) const { return __shfl_sync(mask, value, lane_of(rank % size()), 32); }
  template <class T> T shfl_down(T value, unsigned int by) const {
    unsigned int rank = thread_rank() + by;
    return __shfl_sync(mask, value, rank < size() ? lane_of(rank) : details::lane(), 32);
  }
  template <class T> T shfl_up(T value, unsigned int by) const {
    unsigned int rank = thread_rank();
    return __shfl_sync(mask, value, rank >= by ? lane_of(rank - by) : details::lane(), 32);
  }
  int any(int predicate) const { return __any_sync(mask, predicate); }
  int all(int predicate) const { return __all_sync(mask, predicate); }
  unsigned int ballot(int predicate) const {
    unsigned int lanes = __ballot_sync(mask, predicate), packed = 0u;
    for (unsigned int rank = 0u; rank < size(); ++rank) packed |= ((lanes >> lane_of(rank)) & 1u) << rank;
    return packed;
  }
};

template <unsigned int threads, class Parent = void> class thread_block_tile {
 public:
  thread_block_tile() = default;
  template <class Other> thread_block_tile(const thread_block_tile<threads, Other>&) {}
  static constexpr unsigned int size() { return threads; }
  static constexpr unsigned int num_threads() { return threads; }
  static unsigned int thread_rank() { return details::thread() % threads; }
  static unsigned int meta_group_rank() { return details::thread() / threads; }
  static unsigned int meta_group_size() { return (details::threads() + threads - 1u) / threads; }
  operator thread_group() const { return thread_group(threads); }
  static void sync() { __syncwarp(); }
  template <class T> T shfl(T value, unsigned int rank) const { return __shfl_sync(details::mask(threads), value, rank, threads); }
  template <class T> T shfl_up(T value, unsigned int by) const {
    return __shfl_up_sync(details::mask(threads), value, by, threads);
  }
  template <class T> T shfl_down(T value, unsigned int by) const {
    return __shfl_down_sync(details::mask(threads), value, by, threads);
  }
  template <class T> T shfl_xor(T value, unsigned int by) const {
    return __shfl_xor_sync(details::mask(threads), value, by, threads);
  }
  int any(int predicate) const { return __any_sync(details::mask(threads), predicate); }
  int all(int predicate) const { return __all_sync(details::mask(threads), predicate); }
  unsigned int ballot(int predicate) const {
    return __ballot_sync(details::mask(threads), predicate) >> (details::lane() / threads * threads);
  }
  template <class T> unsigned int match_any(T value) const {
    return __match_any_sync(details::mask(threads), value) >> (details::lane() / threads * threads);
  }
};
template <unsigned int threads> struct block_tile_memory { char memory[threads]; };

inline thread_block this_thread_block() { return thread_block(); }
template <unsigned int threads> thread_block this_thread_block(block_tile_memory<threads>&) { return thread_block(); }
inline grid_group this_grid() { return grid_group(); }
cluster_group this_cluster();
inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
template <unsigned int threads, class G> thread_block_tile<threads, G> tiled_partition(const G&) {
  return thread_block_tile<threads, G>();
}
inline thread_group tiled_partition(const thread_group&, unsigned int threads) { return thread_group(threads); }
template <class G> coalesced_group binary_partition(const G& group, bool chosen) {
  unsigned int active = __activemask(), yes = __ballot_sync(active, chosen);
  return coalesced_group(chosen ? yes : active & ~yes);
}
template <class G> coalesced_group labeled_partition(const G&, int label) {
  return coalesced_group(__match_any_sync(__activemask(), label));
}
template <class G> void sync(const G& group) { group.sync(); }
template <class G> unsigned int thread_rank(const G& group) { return group.thread_rank(); }
template <class G> unsigned int group_size(const G& group) { return group.size(); }

template <class G, class T, class S, class N> void memcpy_async(const G& group, T* target, const S* source, N bytes) {
  __gemmviz_copy_async(group.thread_rank(), group.size(), (char*)target, (const char*)source, (size_t)bytes);
  __pipeline_commit();
}
template <class G, class T, class S, class L, class M>
void memcpy_async(const G& group, T* target, const L& room, const S* source, const M& elements) {
  __gemmviz_copy_async(group.thread_rank(), group.size(), (char*)target, (const char*)source, (size_t)elements * sizeof(S));
  __pipeline_commit();
}
template <class G> void wait(const G& group) {
  __pipeline_wait_prior(0);
  group.sync();
}
template <unsigned int stages, class G> void wait_prior(const G& group) {
  __pipeline_wait_prior(stages);
  group.sync();
}
template <unsigned int threads, class P, class T, class F>
T reduce(const thread_block_tile<threads, P>& group, const T& value, F&& op) {
  T result = value;
  for (unsigned int by = threads / 2u; by > 0u; by /= 2u) result = op(result, group.shfl_xor(result, by));
  return result;
}
template <class T, class F> T reduce(const coalesced_group& group, const T& value, F&& op) {
  T result = group.shfl(value, 0u);
  for (unsigned int rank = 1u; rank < group.size(); ++rank) result = op(result, group.shfl(value, rank));
  return result;
}
template <unsigned int threads, class P, class T, class F>
T inclusive_scan(const thread_block_tile<threads, P>& group, const T& value, F&& op) {
  T result = value;
  for (unsigned int by = 1u; by < threads; by *= 2u) {
    T below = group.shfl_up(result, by);
    if (group.thread_rank() >= by) result = op(below, result);
  }
  return result;
}
template <unsigned int threads, class P, class T, class F>
T exclusive_scan(const thread_block_tile<threads, P>& group, const T& value, F&& op) {
  T below = group.shfl_up(inclusive_scan(group, value, op), 1u);
  return group.thread_rank() == 0u ? T() : below;
}
template <class T = void> struct plus { constexpr T operator()(const T& a, const T& b) const { return a + b; } };
template <class T = void> struct less { constexpr T operator()(const T& a, const T& b) const { return b < a ? b : a; } };
template <class T = void> struct greater { constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; } };
template <class T = void> struct bit_and { constexpr T operator()(const T& a, const T& b) const { return a & b; } };
template <class T = void> struct bit_or { constexpr T operator()(const T& a, const T& b) const { return a | b; } };
template <class T = void> struct bit_xor { constexpr T operator()(const T& a, const T& b) const { return a ^ b; } };
template <class G, class T> T inclusive_scan(const G& group, const T& value) { return inclusive_scan(group, value, plus<T>()); }
template <class G, class T> T exclusive_scan(const G& group, const T& value) { return exclusive_scan(group, value, plus<T>()); }
namespace experimental { using namespace cooperative_groups; }
}  // namespace cooperative_groups

// Cooperative groups: the block, tiles of a warp, coalesced threads, clusters and the grid, with their collectives.
#pragma once

namespace cooperative_groups {
struct __block_parent;
class thread_group {
 public:
  unsigned int size() const;
  unsigned int num_threads() const;
  unsigned int thread_rank() const;
  void sync() const;
  bool is_valid() const;
};
class thread_block : public thread_group {
 public:
  static void sync();
  static unsigned int size();
  static unsigned int num_threads();
  static unsigned int thread_rank();
  static dim3 group_index();
  static dim3 thread_index();
  static dim3 group_dim();
  static dim3 dim_threads();
  class arrival_token {};
  arrival_token barrier_arrive() const;
  void barrier_wait(arrival_token&&) const;
};
class grid_group : public thread_group {
 public:
  static bool is_valid();
  static void sync();
  static unsigned long long size();
  static unsigned long long num_threads();
  static unsigned long long thread_rank();
  static unsigned long long num_blocks();
  static unsigned long long block_rank();
  static dim3 group_dim();
  static dim3 dim_blocks();
  static dim3 block_index();
};
class cluster_group : public thread_group {
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
class __warp_group : public thread_group {
 public:
  unsigned int meta_group_rank() const;
  unsigned int meta_group_size() const;
  template <class T> T shfl(T, unsigned int) const;
  template <class T> T shfl_up(T, unsigned int) const;
  template <class T> T shfl_down(T, unsigned int) const;
  template <class T> T shfl_xor(T, unsigned int) const;
  int any(int) const;
  int all(int) const;
  unsigned int ballot(int) const;
  template <class T> unsigned int match_any(T) const;
  template <class T> unsigned int match_all(T, int&) const;
};
class coalesced_group : public __warp_group {};
template <unsigned int threads, class Parent = void> class thread_block_tile : public __warp_group {
 public:
  thread_block_tile() = default;
  template <class Other> thread_block_tile(const thread_block_tile<threads, Other>&);
  static constexpr unsigned int size() { return threads; }
  static constexpr unsigned int num_threads() { return threads; }
};
template <unsigned int threads> struct block_tile_memory { char memory[threads]; };

thread_block this_thread_block();
template <unsigned int threads> thread_block this_thread_block(block_tile_memory<threads>&);
grid_group this_grid();
cluster_group this_cluster();
coalesced_group coalesced_threads();
template <unsigned int threads, class G> thread_block_tile<threads, G> tiled_partition(const G&);
thread_group tiled_partition(const thread_group&, unsigned int);
template <class G> coalesced_group binary_partition(const G&, bool);
template <class G> coalesced_group labeled_partition(const G&, int);
template <class G> void sync(const G&);
template <class G> unsigned int thread_rank(const G&);
template <class G> unsigned int group_size(const G&);

template <class G, class T, class S, class N> void memcpy_async(const G&, T*, const S*, N);
template <class G, class T, class S, class L, class M> void memcpy_async(const G&, T*, const L&, const S*, const M&);
template <class G> void wait(const G&);
template <unsigned int stages, class G> void wait_prior(const G&);
template <class G, class T, class F> T reduce(const G&, const T&, F&&);
template <class G, class T> void reduce_update_async(const G&, T&, const T&);
template <class G, class T, class F> T inclusive_scan(const G&, const T&, F&&);
template <class G, class T, class F> T exclusive_scan(const G&, const T&, F&&);
template <class G, class T> T inclusive_scan(const G&, const T&);
template <class G, class T> T exclusive_scan(const G&, const T&);
template <class T = void> struct plus : std::plus<T> {};
template <class T = void> struct less { constexpr T operator()(const T& a, const T& b) const { return b < a ? b : a; } };
template <class T = void> struct greater { constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; } };
template <class T = void> struct bit_and { constexpr T operator()(const T& a, const T& b) const { return a & b; } };
template <class T = void> struct bit_or { constexpr T operator()(const T& a, const T& b) const { return a | b; } };
template <class T = void> struct bit_xor { constexpr T operator()(const T& a, const T& b) const { return a ^ b; } };
namespace experimental { using namespace cooperative_groups; }
}  // namespace cooperative_groups

// Functions that exchange values among the lanes of a warp.
#pragma once

#define __GEMMVIZ_SHUFFLES(T)                                                   \
  T __shfl_sync(unsigned int mask, T value, int lane, int width = 32);          \
  T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32);   \
  T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32); \
  T __shfl_xor_sync(unsigned int mask, T value, int lane_mask, int width = 32); \
  T __shfl(T value, int lane, int width = 32);                                  \
  T __shfl_up(T value, unsigned int delta, int width = 32);                     \
  T __shfl_down(T value, unsigned int delta, int width = 32);                   \
  T __shfl_xor(T value, int lane_mask, int width = 32);                         \
  unsigned int __match_any_sync(unsigned int mask, T value);                    \
  unsigned int __match_all_sync(unsigned int mask, T value, int* predicate);
__GEMMVIZ_SHUFFLES(int)
__GEMMVIZ_SHUFFLES(unsigned int)
__GEMMVIZ_SHUFFLES(long)
__GEMMVIZ_SHUFFLES(unsigned long)
__GEMMVIZ_SHUFFLES(long long)
__GEMMVIZ_SHUFFLES(unsigned long long)
__GEMMVIZ_SHUFFLES(float)
__GEMMVIZ_SHUFFLES(double)
__GEMMVIZ_SHUFFLES(__half)
__GEMMVIZ_SHUFFLES(__half2)
__GEMMVIZ_SHUFFLES(__nv_bfloat16)
__GEMMVIZ_SHUFFLES(__nv_bfloat162)

extern "C" {
unsigned int __activemask();
unsigned int __ballot_sync(unsigned int mask, int predicate);
int __all_sync(unsigned int mask, int predicate);
int __any_sync(unsigned int mask, int predicate);
int __uni_sync(unsigned int mask, int predicate);
unsigned int __ballot(int predicate);
int __all(int predicate);
int __any(int predicate);
unsigned int __lane_id();
unsigned int __reduce_and_sync(unsigned int mask, unsigned int value);
unsigned int __reduce_or_sync(unsigned int mask, unsigned int value);
unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value);
}
int __reduce_add_sync(unsigned int mask, int value);
int __reduce_min_sync(unsigned int mask, int value);
int __reduce_max_sync(unsigned int mask, int value);
unsigned int __reduce_add_sync(unsigned int mask, unsigned int value);
unsigned int __reduce_min_sync(unsigned int mask, unsigned int value);
unsigned int __reduce_max_sync(unsigned int mask, unsigned int value);

// Asynchronous copies with the C interface.
#pragma once

void __pipeline_memcpy_async(void* target, const void* source, size_t bytes, size_t zero_filled = 0);
void __pipeline_commit();
void __pipeline_wait_prior(size_t groups);

// Copies bytes that the threads of a group share, as wide as the addresses allow.
template <int width> void __gemmviz_copy_chunks(size_t rank, size_t threads, char* target, const char* source, size_t bytes) {
  for (size_t at = rank * width; at < bytes; at += threads * width) {
    __pipeline_memcpy_async(target + at, source + at, width, 0);
  }
}
inline void __gemmviz_copy_async(size_t rank, size_t threads, char* target, const char* source, size_t bytes) {
  size_t all = (size_t)target | (size_t)source | bytes;
  if (all % 16 == 0) {
    __gemmviz_copy_chunks<16>(rank, threads, target, source, bytes);
  } else if (all % 8 == 0) {
    __gemmviz_copy_chunks<8>(rank, threads, target, source, bytes);
  } else {
    __gemmviz_copy_chunks<4>(rank, threads, target, source, bytes);
  }
}

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;
void __mbarrier_init(__mbarrier_t*, unsigned int);
void __mbarrier_inval(__mbarrier_t*);
__mbarrier_token_t __mbarrier_arrive(__mbarrier_t*);
__mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t*);
bool __mbarrier_test_wait(__mbarrier_t*, __mbarrier_token_t);
bool __mbarrier_test_wait_parity(__mbarrier_t*, bool);
void __pipeline_arrive_on(__mbarrier_t*);
void __gemmviz_arrive(__mbarrier_t*, unsigned int count, unsigned int bytes);
void __gemmviz_bulk_copy(void* target, const void* source, size_t bytes, __mbarrier_t*);
void __gemmviz_bulk_copy(void* target, const void* source, size_t bytes);

namespace nvcuda { namespace experimental {
class pipeline {
  int batches = 0;

 public:
  size_t commit() {
    __pipeline_commit();
    batches += 1;
    return batches - 1;
  }
  void wait(size_t batch) { __pipeline_wait_prior(batches - 1 - batch); }
  template <unsigned int groups> void wait_prior() { __pipeline_wait_prior(groups); }
  void arrive_on(__mbarrier_t& barrier) { __pipeline_arrive_on(&barrier); }
};
template <class T> void memcpy_async(T&, const T&, pipeline&);
} }

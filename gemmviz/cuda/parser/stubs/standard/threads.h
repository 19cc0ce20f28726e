// Threads, locks, atomics and files of the host.
#pragma once

namespace std {
enum memory_order { memory_order_relaxed, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
template <class T> class atomic {
 public:
  atomic();
  atomic(T);
  T load(memory_order = memory_order_seq_cst) const;
  void store(T, memory_order = memory_order_seq_cst);
  T fetch_add(T, memory_order = memory_order_seq_cst);
  operator T() const;
  T operator=(T);
  T operator++();
  T operator++(int);
};
class mutex {
 public:
  void lock();
  void unlock();
};
template <class M> class lock_guard { public: explicit lock_guard(M&); };
template <class M> class unique_lock { public: explicit unique_lock(M&); };
class thread {
 public:
  template <class... A> explicit thread(A&&...);
  void join();
  void detach();
  static unsigned int hardware_concurrency();
};
namespace this_thread {
template <class D> void sleep_for(D);
}
namespace filesystem {
using path = std::string;
template <class P> bool exists(P);
}
}  // namespace std

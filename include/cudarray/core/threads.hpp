// How many threads the CPU backend may use.
// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include <cstdlib>

#include "error.hpp"
#include "integer.hpp"

namespace cudarray::inline v0 {
namespace detail {

/// What was set; 0: nothing yet.
CUDARRAY_PUBLIC inline int thread_setting = 0;

/// OMP_NUM_THREADS, which all of the field reads, else the processors this process may run on.
CUDARRAY_COLD inline int default_threads() {
  if (const char* s = ::std::getenv("OMP_NUM_THREADS"))
    if (const int n = ::std::atoi(s); n > 0) return n;
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
  return 1;
}

}  // namespace detail

/// The most threads an operation on the CPU uses, the calling one among them: what was set, else the variable
/// OMP_NUM_THREADS, else the processors this process may run on. Results do not depend on it, bit for bit, but for
/// products of matrices where a BLAS computes them: it may add up a smaller piece in another order.
inline int num_threads() {
  int n = __atomic_load_n(&detail::thread_setting, __ATOMIC_RELAXED);
  if (n == 0) __atomic_store_n(&detail::thread_setting, n = detail::default_threads(), __ATOMIC_RELAXED);
  return n;
}

/// From now on operations on the CPU use up to n threads, small ones the calling one alone. Throws value_error for n
/// below 1 or above 1024.
inline void set_num_threads(detail::any_integer n) {
  if (n < 1 || n > 1024) detail::fail<value_error>("set_num_threads: ", n, " threads; 1 to 1024 are possible");
  __atomic_store_n(&detail::thread_setting, int(n), __ATOMIC_RELAXED);
}

}  // namespace cudarray::inline v0

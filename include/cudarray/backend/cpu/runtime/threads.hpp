// Threads for large loops: one pool for the process, made of what POSIX has.
// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>
#include <signal.h>

#include <exception>

#include "../../../core/build.hpp"
#include "../../../core/dtype.hpp"
#include "../../../core/threads.hpp"

namespace cudarray::inline v0::backend::host {

/// Work in numbered parts, which threads take one by one.
struct job {
  void (*run)(const void* body, int64 part);
  const void* body;
  int64 parts;
  int64 next = 0;
  int failed = 0;
  ::std::exception_ptr error = nullptr;  ///< the first
};

/// The workers and the job at hand.
struct pool {
  pthread_mutex_t use = PTHREAD_MUTEX_INITIALIZER;    ///< held by the thread whose job is at hand
  pthread_mutex_t sleep = PTHREAD_MUTEX_INITIALIZER;  ///< for `wake`
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
  int workers = 0, sleeping = 0;
  int64 jobs = 0;  ///< so far
  job* at_hand = nullptr;
  int seats = 0;  ///< how many workers may still join
  int busy = 0;   ///< how many may be looking at the job
};
CUDARRAY_PUBLIC inline pool the_pool;

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

inline namespace CUDARRAY_BUILD {

inline void take_parts(job& j) {
  try {
    for (int64 part; (part = __atomic_fetch_add(&j.next, int64(1), __ATOMIC_RELAXED)) < j.parts;) j.run(j.body, part);
  } catch (...) {
    if (__atomic_exchange_n(&j.failed, 1, __ATOMIC_RELAXED) == 0) j.error = ::std::current_exception();
    __atomic_store_n(&j.next, j.parts, __ATOMIC_RELAXED);
  }
}

/// A worker looks for work for 500 pauses, some 10 us, before it sleeps: operations come one after another.
inline void* work(void*) {
  pool& p = the_pool;
  for (int64 seen = 0;;) {
    for (int i = 0; i < 500 && __atomic_load_n(&p.jobs, __ATOMIC_ACQUIRE) == seen; ++i) pause();
    if (__atomic_load_n(&p.jobs, __ATOMIC_ACQUIRE) == seen) {
      pthread_mutex_lock(&p.sleep);
      __atomic_add_fetch(&p.sleeping, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(&p.jobs, __ATOMIC_SEQ_CST) == seen) pthread_cond_wait(&p.wake, &p.sleep);
      __atomic_sub_fetch(&p.sleeping, 1, __ATOMIC_SEQ_CST);
      pthread_mutex_unlock(&p.sleep);
    }
    seen = __atomic_load_n(&p.jobs, __ATOMIC_ACQUIRE);
    // `busy` first: who ends the job hides it, then waits for those who may have seen it
    __atomic_add_fetch(&p.busy, 1, __ATOMIC_SEQ_CST);
    if (__atomic_fetch_sub(&p.seats, 1, __ATOMIC_SEQ_CST) > 0)
      if (job* j = __atomic_load_n(&p.at_hand, __ATOMIC_SEQ_CST)) take_parts(*j);
    __atomic_sub_fetch(&p.busy, 1, __ATOMIC_SEQ_CST);
  }
}

/// Brings the pool to so many workers, or as many as the system gives. Signals are for the program's own threads.
CUDARRAY_COLD inline void hire(pool& p, int workers) {
  if (p.workers == 0) pthread_atfork(nullptr, nullptr, [] { the_pool = pool{}; });  // a child has none of them
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (pthread_t t; p.workers < workers && pthread_create(&t, nullptr, work, nullptr) == 0; ++p.workers)
    pthread_detach(t);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Runs all parts. The calling thread takes its share; where the pool is in use, or this is a part itself, it does all.
CUDARRAY_NO_INLINE inline void run_parts(int64 parts, void (*run)(const void*, int64), const void* body) {
  pool& p = the_pool;
  job j{run, body, parts};
  const int threads = j.parts < num_threads() ? int(j.parts) : num_threads();
  if (threads < 2 || pthread_mutex_trylock(&p.use) != 0) {
    take_parts(j);
  } else {
    if (p.workers < threads - 1) hire(p, threads - 1);
    __atomic_store_n(&p.seats, threads - 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&p.at_hand, &j, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&p.jobs, int64(1), __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&p.sleeping, __ATOMIC_SEQ_CST) > 0) {
      pthread_mutex_lock(&p.sleep);
      pthread_cond_broadcast(&p.wake);
      pthread_mutex_unlock(&p.sleep);
    }
    take_parts(j);
    __atomic_store_n(&p.at_hand, static_cast<job*>(nullptr), __ATOMIC_SEQ_CST);
    for (int i = 0; __atomic_load_n(&p.busy, __ATOMIC_SEQ_CST) > 0; ++i)
      if (i < 10000) pause();
      else sched_yield();
    pthread_mutex_unlock(&p.use);
  }
  if (j.failed) ::std::rethrow_exception(j.error);
}

/// `body(part)` for every part in [0, parts), on the threads. What a part throws is thrown here, once.
template <class F>
void parallel(int64 parts, const F& body) {
  if (parts == 1) return body(int64(0));
  const auto run = [](const void* f, int64 part) { (*static_cast<const F*>(f))(part); };
  run_parts(parts, run, &body);
}

/// How many parts pay for work of so many steps, of about a nanosecond each: more than there are threads, so that one
/// that is held up leaves its share to the others.
inline int64 parts_for(int64 steps) {
  constexpr int64 least = 16384;
  if (steps < 2 * least) return 1;
  const int64 most = 4 * int64(num_threads()), parts = steps / least;
  return most == 4 ? 1 : parts < most ? parts : most;
}

}  // namespace CUDARRAY_BUILD
}  // namespace cudarray::inline v0::backend::host

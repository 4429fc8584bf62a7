// Generators of random numbers: positions in streams of them, and the one that each thread has.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "error.hpp"
#include "philox.hpp"

namespace cudarray::inline v0::random {

/// A position in a stream of random numbers: a value, copied freely; a copy repeats what the original will give.
///
/// A call for n numbers takes the next ceil(n / 4) blocks of four words, or ceil(n / 2) for numbers of 64 bits
/// (float64, integers, permutation). Samplers by rejection (gamma, poisson and the like) take n blocks, and as many as
/// they need of streams that differ in their top 16 bits only. Some distributions draw twice (laplace, wald).
class generator {
 public:
  explicit generator(uint64 seed, uint64 stream = 0) : source_(seed, stream) {}
  uint64 seed() const { return source_.seed; }
  uint64 stream() const { return source_.stream; }
  /// The next block.
  uint64 offset() const { return source_.block; }
  void skip(uint64 blocks) { source_.block += blocks; }
  friend bool operator==(const generator& a, const generator& b) {
    return a.seed() == b.seed() && a.stream() == b.stream() && a.offset() == b.offset();
  }
  /// Hands out the blocks for n numbers, `per_block` to a block.
  detail::random_source take(int64 n, int per_block) {
    const detail::random_source s = source_;
    source_.block += (uint64(n) + uint64(per_block) - 1) / uint64(per_block);
    return s;
  }

 private:
  detail::random_source source_;
};

namespace detail_random {
/// What a thread draws while a function runs: to draw the same when it runs again. Logs are nested as functions are.
class draw_log {
  draw_log* const outer_;
  ::std::vector<detail::random_source>& drawn_;
  const bool again_;
  ::std::size_t next_ = 0;

 public:
  /// That of this thread.
  static draw_log*& current() {
    static thread_local draw_log* log = nullptr;
    return log;
  }
  draw_log(::std::vector<detail::random_source>& drawn, bool again)
      : outer_(::std::exchange(current(), this)), drawn_(drawn), again_(again) {}
  draw_log(const draw_log&) = delete;
  draw_log& operator=(const draw_log&) = delete;
  ~draw_log() { current() = outer_; }

  /// `draw()`, or what was drawn in its place before. Throws value_error where nothing was.
  template <class F>
  static detail::random_source pass(draw_log* log, const F& draw) {
    if (log == nullptr) return draw();
    if (log->again_) {
      if (log->next_ == log->drawn_.size())
        detail::fail<value_error>("random: the function draws other numbers when it runs again");
      return log->drawn_[log->next_++];
    }
    log->drawn_.push_back(pass(log->outer_, draw));
    return log->drawn_.back();
  }
};

/// The process's seed; its epoch counts the calls of `seed`.
struct process_seed {
  uint64 value = 0, epoch = 0, threads = 0;
};
CUDARRAY_PUBLIC inline process_seed process;
struct thread_state {
  uint64 epoch = ~uint64(0), thread = 0;
  generator g{0};
};
CUDARRAY_PUBLIC inline thread_state& this_thread() {
  static thread_local thread_state s{~uint64(0), __atomic_fetch_add(&process.threads, uint64(1), __ATOMIC_RELAXED),
                                     generator(0)};
  return s;
}
}  // namespace detail_random

inline namespace CUDARRAY_BUILD {
/// This thread's generator: stream k for the k-th thread that asks, restarted by `seed`.
inline generator& thread_generator() {
  auto& s = detail_random::this_thread();
  const uint64 epoch = __atomic_load_n(&detail_random::process.epoch, __ATOMIC_ACQUIRE);
  if (s.epoch != epoch) {
    s.g = generator(__atomic_load_n(&detail_random::process.value, __ATOMIC_RELAXED), s.thread);
    s.epoch = epoch;
  }
  return s.g;
}
}  // namespace CUDARRAY_BUILD

/// Restarts every thread's generator with this seed. Without it the seed is 0.
inline void seed(uint64 value) {
  __atomic_store_n(&detail_random::process.value, value, __ATOMIC_RELAXED);
  __atomic_fetch_add(&detail_random::process.epoch, uint64(1), __ATOMIC_RELEASE);
}

}  // namespace cudarray::inline v0::random

// What a graph under capture keeps: the memory its work allocates, and the arrays from before that it uses.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "../../../core/philox.hpp"
#include "../../../memory/account.hpp"
#include "../../../memory/storage.hpp"
#include "streams.hpp"

namespace cudarray::inline v0::backend::gpu {

struct block;
inline void order(const stream_use& earlier, const stream_state& later);
inline void order_or_wait(const stream_use& earlier, const stream_state& later) noexcept;

/// Memory of a graph: pieces of segments, given out again as soon as they are released while the graph is captured. It
/// lives as long as the graph or an array in it.
class graph_pool {
 public:
  /// For what is captured on a stream, which stays the graph's as long as memory of it is there.
  graph_pool(const stream_ref& captured, detail::memory_account& account) : captured_(captured), account_(account) {}
  graph_pool(const graph_pool&) = delete;
  graph_pool& operator=(const graph_pool&) = delete;

  /// Memory aligned to 512 bytes: the smallest free piece that is large enough. Throws out_of_memory.
  void* take(::std::size_t bytes) {
    const ::std::size_t size = rounded(bytes, unit);
    const spin_guard guard(lock_);
    int best = find(size);
    if (best < 0) {
      constexpr ::std::size_t least = ::std::size_t(2) << 20;
      grow(rounded(size, least));
      best = find(size);
    }
    pieces_[best].free = false;
    if (const ::std::size_t rest = pieces_[best].size - size; rest > 0) {
      pieces_[best].size = size;
      pieces_.insert(pieces_.begin() + best + 1, {pieces_[best].at + size, rest, pieces_[best].segment, true});
    }
    return pieces_[best].at;
  }
  /// Memory that nothing else in the graph uses: what is written there before a launch is there during all of it.
  void* take_alone(::std::size_t bytes) {
    const spin_guard guard(lock_);
    grow(rounded(bytes, unit));
    pieces_.back().free = false;
    return pieces_.back().at;
  }
  void give(void* p) {
    const spin_guard guard(lock_);
    for (::std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].at != p) continue;
      pieces_[i].free = true;
      join(i);
      if (i > 0) join(i - 1);
      return;
    }
  }

  /// The blocks that lie in it.
  void add(block* b) {
    const spin_guard guard(lock_);
    blocks_.push_back(b);
  }
  void remove(block* b) {
    const spin_guard guard(lock_);
    for (block*& known : blocks_)
      if (known == b) {
        known = blocks_.back();
        blocks_.pop_back();
        return;
      }
  }
  template <class F>
  void each_block(const F& f) {
    const spin_guard guard(lock_);
    for (block* b : blocks_) f(b);
  }
  /// A stream that its memory was allocated on, that the graph was launched on, or that used a block which is gone.
  void used_on(const stream_use& s) {
    const spin_guard guard(lock_);
    add_user(s);
  }
  /// A launch on `now` waits for all users, and whoever waits for it waits for them.
  void launch_on(const stream_ref& now) {
    const spin_guard guard(lock_);
    for (const stream_use& s : users_) order(s, *now);
    users_.assign(1, stream_use(now.get()));
  }
  /// Waits for them; never for the device, where another thread may be capturing.
  void wait() noexcept {
    const spin_guard guard(lock_);
    for (const stream_use& s : users_)
      if (!s.done()) (void)cudaStreamSynchronize(s.stream->handle);
  }

  void keep() { __atomic_fetch_add(&references_, int64(1), __ATOMIC_RELAXED); }
  void drop() noexcept {
    if (__atomic_fetch_sub(&references_, int64(1), __ATOMIC_ACQ_REL) == 1) delete this;
  }

 private:
  struct piece {
    char* at;
    ::std::size_t size;
    int segment;
    bool free;
  };
  ~graph_pool() {
    if (segments_.empty()) return;
    if (const device_guard device(captured_->ordinal, ::std::nothrow); device) {
      const stream_state& last = *first_stream(captured_->ordinal);
      for (const stream_use& s : users_) order_or_wait(s, last);
      for (const segment& s : segments_) (void)cudaFreeAsync(s.at, last.handle);
    }
    (void)cudaGetLastError();
    for (const segment& s : segments_) detail::credit(account_, s.size);
  }

  int find(::std::size_t size) const {
    int best = -1;
    for (int i = 0; i < int(pieces_.size()); ++i)
      if (pieces_[i].free && pieces_[i].size >= size && (best < 0 || pieces_[i].size < pieces_[best].size)) best = i;
    return best;
  }
  void join(::std::size_t i) {
    if (i + 1 < pieces_.size() && pieces_[i].free && pieces_[i + 1].free &&
        pieces_[i].segment == pieces_[i + 1].segment) {
      pieces_[i].size += pieces_[i + 1].size;
      pieces_.erase(pieces_.begin() + int64(i) + 1);
    }
  }
  void add_user(const stream_use& s) {
    for (stream_use& known : users_)
      if (known.stream == s.stream) {
        known = s;
        return;
      }
    users_.push_back(s);
  }
  static ::std::size_t rounded(::std::size_t n, ::std::size_t unit) { return (n + unit - 1) / unit * unit; }
  /// One more segment, of the device's pool, on the stream that threads start with: that one is not captured.
  void grow(::std::size_t n) {
    const stream_ref& stream = first_stream(captured_->ordinal);
    void* p = nullptr;
    detail::charge(account_, n, "cuda");
    try {
      check(allocate_on(*stream, &p, n), detail::cat("allocating ", n, " bytes for a graph").c_str());
    } catch (...) {
      detail::credit(account_, n);
      throw;
    }
    add_user(stream_use(stream.get()));
    const int number = int(segments_.size());
    segments_.push_back({static_cast<char*>(p), n});
    pieces_.push_back({static_cast<char*>(p), n, number, true});
  }

  static constexpr ::std::size_t unit = 512;
  struct segment {
    char* at;
    ::std::size_t size;
  };
  stream_ref captured_;
  detail::memory_account& account_;
  ::std::vector<segment> segments_;
  ::std::vector<piece> pieces_;  // by segment and address
  ::std::vector<block*> blocks_;
  ::std::vector<stream_use> users_;
  int64 references_ = 1;
  char lock_ = 0;
};

/// How many captures there are at present, in all threads.
CUDARRAY_PUBLIC inline int64& captures_under_way() {
  static int64 count;
  return count;
}

/// One capture. It pins the storage it uses, so that this is there at every launch, and does not count as a name of it.
struct capture {
  struct use {
    detail::storage* store;
    bool written;
  };
  graph_pool* pool;
  ::std::vector<use> uses;       ///< of what existed before
  detail::random_source random;  ///< its base, in the pool, says where a launch's random numbers begin
  uint64 random_blocks = 0;      ///< how many it takes
  bool reports = false;          ///< a kernel of it may record a fault
  void* blas_workspace = nullptr;
  ::std::vector<::std::shared_ptr<const void>> kept;  ///< what its kernels need

  explicit capture(graph_pool* p) : pool(p) {}
  capture(const capture&) = delete;
  capture& operator=(const capture&) = delete;
  ~capture() {
    for (const use& u : uses) {
      __atomic_fetch_sub(&u.store->pins, int64(1), __ATOMIC_RELAXED);
      const detail::storage_ref last(u.store);  // drops the reference
    }
    pool->drop();
  }
  void note(detail::storage* s, bool write) {
    for (use& u : uses)
      if (u.store == s) {
        u.written = u.written || write;
        return;
      }
    uses.push_back({s, write});
    __atomic_fetch_add(&s->references, int64(1), __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->pins, int64(1), __ATOMIC_RELAXED);
  }
};

/// Throws for what would wait for the device, or tie the graph to memory of the host's, while a stream is captured.
inline void refuse_captured(const stream_ref& stream, const char* what) {
  if (stream->captured != nullptr) detail::fail<cuda_error>("graph: ", what, " cannot be captured");
}

}  // namespace cudarray::inline v0::backend::gpu

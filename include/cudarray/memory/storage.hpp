// Shared, reference-counted storage with a write counter; it knows how to release itself, not which device it is of.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include "../core/counting.hpp"
#include "../core/dtype.hpp"
#include "../core/layout.hpp"
#include "../core/lock.hpp"

namespace cudarray::inline v0::detail {

/// The latest writes to parts of a block: which of its writes they were, and where.
struct partial_writes {
  static constexpr int most = 8;
  uint64 number[most] = {};
  layout where[most];
  uint32 lock = 0;
};

/// A block of device or host memory. `release` frees block and header, so that any file can destroy a handle.
struct storage {
  void* data = nullptr;
  ::std::size_t bytes = 0;
  void (*release)(storage*) noexcept = nullptr;
  int ordinal = 0;
  bool read_only = false;
  bool borrowed = false;  ///< memory of the caller's: a name bound to it is not a reason to write there
  int64 references = 1;
  int64 pins = 0;                   ///< those of them that are no names of arrays: captured graphs
  uint64 writes = 0;                ///< counts completed writes; a leaf compares it with what it saw when it was built
  partial_writes* parts = nullptr;  ///< from the first of them on
  storage() = default;
  storage(const storage&) = delete;
  ~storage() { delete parts; }
};

inline uint64 write_count(const storage& s) { return __atomic_load_n(&s.writes, __ATOMIC_RELAXED); }
/// Counts a write to any of its elements.
inline void count_write(storage& s) { add_shared(s.writes, uint64(1)); }

/// Who fills memory with the next bytes of a file, say.
struct byte_source {
  void* of;
  void (*fill)(void* of, void* to, ::std::size_t bytes);
};
/// A shared handle.
class storage_ref {
 public:
  storage_ref() = default;
  /// Takes over the reference that `s` was made with.
  explicit storage_ref(storage* s) : s_(s) {}
  storage_ref(const storage_ref& o) : s_(o.s_) {
    if (s_) add_shared(s_->references, int64(1));
  }
  storage_ref(storage_ref&& o) noexcept : s_(::std::exchange(o.s_, nullptr)) {}
  storage_ref& operator=(storage_ref o) noexcept {
    ::std::swap(s_, o.s_);
    return *this;
  }
  ~storage_ref() {
    if (s_ && (is_last() || add_shared<__ATOMIC_ACQ_REL>(s_->references, int64(-1)) == 0)) s_->release(s_);
  }
  storage* get() const { return s_; }
  storage* operator->() const { return s_; }
  storage& operator*() const {
    if (s_ == nullptr) __builtin_unreachable();  // g++ 12 warns of it otherwise
    return *s_;
  }
  /// Without pins.
  int64 references() const {
    if (s_ == nullptr) return 0;
    for (;;) {  // both counts of one moment
      const int64 pins = __atomic_load_n(&s_->pins, __ATOMIC_ACQUIRE),
                  all = __atomic_load_n(&s_->references, __ATOMIC_ACQUIRE);
      if (__atomic_load_n(&s_->pins, __ATOMIC_ACQUIRE) == pins) return all - pins;
    }
  }

 private:
  /// True where this is the only reference: no other thread can make one, and none has to be taken off.
  bool is_last() const { return __atomic_load_n(&s_->references, __ATOMIC_ACQUIRE) == 1; }
  storage* s_ = nullptr;
};

/// Memory of the caller's, released by calling `deleter(pointer)` once no array uses it.
template <class T, class Deleter>
storage_ref borrow(T* pointer, int64 elements, int ordinal, Deleter deleter) {
  struct borrowed_storage : storage {
    Deleter deleter;
    explicit borrowed_storage(Deleter&& d) : deleter(::std::move(d)) {}
  };
  using plain = ::std::remove_const_t<T>;
  auto* s = new borrowed_storage(::std::move(deleter));
  s->data = const_cast<plain*>(pointer);
  s->bytes = ::std::size_t(elements) * sizeof(T);
  s->ordinal = ordinal;
  s->borrowed = true;
  s->read_only = ::std::is_const_v<T>;
  s->release = [](storage* p) noexcept {
    auto* b = static_cast<borrowed_storage*>(p);
    b->deleter(static_cast<T*>(b->data));
    delete b;
  };
  return storage_ref(s);
}

}  // namespace cudarray::inline v0::detail

// What expressions know of the tape of derivatives: nodes that are shared.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "../core/counting.hpp"
#include "../core/dtype.hpp"

namespace cudarray::inline v0::detail {

/// What led to a variable, on the way back to what that was computed from.
struct tape_node {
  int64 references = 1;
  uint64 number;  ///< rises: a node is younger than all that it reads
  tape_node* next_released = nullptr;
  bool queued = false;  ///< in the backward pass that is under way
  bool wanted = true;   ///< whether a gradient is
  tape_node() : number(add_shared(last_number(), uint64(1))) {}
  tape_node(const tape_node&) = delete;
  tape_node& operator=(const tape_node&) = delete;
  virtual ~tape_node() = default;
  /// What every later node's number is above.
  static uint64 newest() { return add_shared(last_number(), uint64(0)); }

 private:
  static uint64& last_number() {
    static uint64 n = 1;
    return n;
  }
};

/// Deletes a node, and those that it was the last to hold, one after the other: chains of them are long.
inline void delete_node(tape_node* n) {
  static thread_local tape_node* first = nullptr;
  static thread_local bool deleting = false;
  n->next_released = ::std::exchange(first, n);
  if (deleting) return;
  deleting = true;
  while (first != nullptr) delete ::std::exchange(first, first->next_released);
  deleting = false;
}

/// A shared handle.
class tape_ref {
 public:
  tape_ref() = default;
  /// Takes over the reference that `n` was made with.
  explicit tape_ref(tape_node* n) : n_(n) {}
  tape_ref(const tape_ref& o) : n_(o.n_) {
    if (n_ != nullptr) add_shared(n_->references, int64(1));
  }
  tape_ref(tape_ref&& o) noexcept : n_(::std::exchange(o.n_, nullptr)) {}
  tape_ref& operator=(tape_ref o) noexcept {
    ::std::swap(n_, o.n_);
    return *this;
  }
  ~tape_ref() {
    if (n_ != nullptr && add_shared<__ATOMIC_ACQ_REL>(n_->references, int64(-1)) == 0) delete_node(n_);
  }
  tape_node* get() const { return n_; }
  tape_node* operator->() const { return n_; }

 private:
  tape_node* n_ = nullptr;
};

}  // namespace cudarray::inline v0::detail

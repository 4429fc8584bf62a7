// The tape: nodes that hold gradients while they are collected, and the backward pass over them.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "../ops/operators.hpp"

namespace cudarray::inline v0 {
namespace detail {

/// A node that the backward pass visits.
struct backward_node : tape_node {
  const shape dims;     ///< of the variable, and of its gradient
  bool filled = false;  ///< whether it has a gradient; the memory stays for the next
  bool freed = false;   ///< what the backward pass reads is gone
  bool is_one = false;  ///< whether its gradient is known to be 1: that of the root is
  uint64 seen = 0;      ///< the last backward pass that came here

  explicit backward_node(const shape& s) : dims(s) {}
  /// A variable that was not computed: its gradient is kept.
  virtual bool is_leaf() const { return true; }
  /// How many nodes gradients go to, and the k-th of them; without a node where there is none.
  virtual int count() const { return 0; }
  virtual const tape_ref* target(int) const { return nullptr; }
  /// Throws stale_error where something that was kept for the backward pass has been written since.
  virtual void check() const {}
  /// Hands gradients on.
  virtual void go_back() {}
  /// Frees the gradient.
  virtual void clear_gradient() {}
  /// Frees what was kept.
  virtual void free() { freed = true; }
};

/// Whether expressions of variables are recorded by this thread.
inline bool& recording() {
  static thread_local bool on = true;
  return on;
}

/// Variables with this number or a smaller one are constants to what this thread records: inside of value_and_grad
/// those that are none of its arguments.
inline uint64& constants_to() {
  static thread_local uint64 number = 0;
  return number;
}
/// Whether what is recorded now leads to a gradient of a variable.
inline bool is_wanted(const tape_ref& n) { return n.get() != nullptr && n->wanted && n->number > constants_to(); }

inline tape_ref if_wanted(const tape_ref& n) { return is_wanted(n) ? n : tape_ref(); }
/// Whether what was recorded hands a gradient on to a node.
inline bool is_due(const tape_ref& n) { return n.get() != nullptr && n->wanted; }

/// A gradient has a derivative where the variable has no place for it.
[[noreturn]] inline void fail_without_tangent() {
  fail<value_error>(
      "jvp: a gradient that is taken in the function has a derivative, and is of a variable without tangent: give "
      "ca::jvp one for it, of zeros");
}

/// Nodes that are to be gone back from, the youngest first.
class backward_queue {
 public:
  ~backward_queue() {
    for (const tape_ref& n : heap_) node(n).queued = false, node(n).clear_gradient();
  }
  void push(const tape_ref& n) {
    if (node(n).queued || node(n).is_leaf()) return;
    n->queued = true;
    heap_.push_back(n);
    ::std::push_heap(heap_.begin(), heap_.end(), older);
  }
  bool empty() const { return heap_.empty(); }
  tape_ref pop() {
    ::std::pop_heap(heap_.begin(), heap_.end(), older);
    tape_ref n = ::std::move(heap_.back());
    heap_.pop_back();
    n->queued = false;
    return n;
  }
  static backward_node& node(const tape_ref& n) { return static_cast<backward_node&>(*n.get()); }

 private:
  static bool older(const tape_ref& a, const tape_ref& b) { return a->number < b->number; }
  ::std::vector<tape_ref> heap_;
};

/// Throws, before any gradient has changed, where the backward pass from a node cannot be made, or where it goes
/// through a node that was computed before `since`.
inline void check_backward(backward_node* root, uint64 since = 0) {
  static uint64 passes = 0;
  const uint64 pass = add_shared(passes, uint64(1));
  ::std::vector<backward_node*> open{root};
  while (!open.empty()) {
    backward_node* const n = open.back();
    open.pop_back();
    if (n->is_leaf() || n->seen == pass) continue;
    n->seen = pass;
    if (n->number <= since)
      fail<value_error>("checkpoint: the function uses a computed variable that is no argument of it");
    if (n->freed)
      fail<value_error>(
          "backward: the graph was freed by an earlier backward pass: call that one with {.retain_graph = true}");
    n->check();
    for (int k = 0; k < n->count(); ++k)
      if (const tape_ref& to = *n->target(k); is_due(to)) open.push_back(static_cast<backward_node*>(to.get()));
  }
}

/// Goes back from a node that has its gradient, through those recorded after `since`. A node is younger than all it
/// reads, so it comes after all its users.
inline void run_backward(const tape_ref& root, bool retain, uint64 since = 0) {
  backward_queue queue;
  queue.push(root);
  while (!queue.empty()) {
    const tape_ref held = queue.pop();
    backward_node& n = backward_queue::node(held);
    struct at_end {
      backward_node& n;
      ~at_end() { n.clear_gradient(); }
    } clear{n};
    n.go_back();
    for (int k = 0; k < n.count(); ++k)
      if (const tape_ref& to = *n.target(k); is_due(to) && to->number > since) queue.push(to);
    if (!retain) n.free();
  }
}

/// A node whose variable has dtype T: holds its gradient, not its value.
template <class T, class D>
struct gradient_node : backward_node {
  ndarray<T, D> gradient;

  using backward_node::backward_node;
};

}  // namespace detail
namespace detail::inline CUDARRAY_BUILD {

/// A node of a variable that was computed.
template <class T, class D>
struct inner_node : gradient_node<T, D> {
  using gradient_node<T, D>::gradient_node;
  bool is_leaf() const final { return false; }
  void clear_gradient() final {
    this->gradient = {};
    this->filled = this->is_one = false;
  }
};

/// Whether an array is all of memory of ours that nobody else holds: it may be written, and kept.
template <class T, class D>
bool is_sole(const ndarray<T, D>& a) {
  const storage_ref& s = a.storage();
  return s.references() == 1 && !s->borrowed && s->bytes == ::std::size_t(a.size()) * sizeof(T) &&
         is_dense(a.where()) && !a.where().read_only;
}
/// A copy in the array's own order.
template <class T, class D>
ndarray<T, D> copy_in_order(const ndarray<T, D>& a) {
  return ndarray<T, D>(evaluate(a.node()));
}
/// Whether `add_gradient` only takes the array.
template <class T, class D>
bool takes_gradient(const gradient_node<T, D>& n, const ndarray<T, D>& g) {
  return !n.filled && (!n.is_leaf() || (n.gradient.size() == 0 && is_sole(g)));
}
/// Adds a gradient, which somebody else may hold as well, or not: then its memory may be kept.
template <class T, class D>
void add_gradient(gradient_node<T, D>& n, const ndarray<T, D>& g) {
  const bool leaf = n.is_leaf();
  if (n.filled && is_sole(n.gradient)) {
    n.gradient += g;
  } else if (n.filled) {
    n.gradient = n.gradient + g;
  } else if (leaf && n.gradient.shape() == g.shape() && n.gradient.size() > 0 && is_sole(n.gradient)) {
    n.gradient(ellipsis) = g;  // captured graphs know the address
  } else {
    n.gradient = leaf && !is_sole(g) ? copy_in_order(g) : g;
  }
  n.filled = true;
}

}  // namespace detail::inline CUDARRAY_BUILD
}  // namespace cudarray::inline v0

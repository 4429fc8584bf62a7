// What nodes of the tape keep of users' functions: arrays that must not be written before the backward pass.
// SPDX-License-Identifier: MIT
#pragma once

#include "tree.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Arrays as they were when a node was recorded.
class kept_arrays {
  ::std::vector<kept_array> of_;

 public:
  /// Those in a tree, an array or anything else.
  template <class X>
  void add(const X& x) {
    if constexpr (is_variable<X>) {
      add(x.value());
    } else if constexpr (array_expression<X>) {
      const auto n = x.node();
      if constexpr (requires { n.store; }) of_.emplace_back().keep(n);
    } else {
      constexpr tree_kind kind = kind_of_tree<X>();
      if constexpr (kind == tree_kind::range)
        for (const auto& part : x) this->add(part);
      else if constexpr (kind == tree_kind::members || kind == tree_kind::tuple || kind == tree_kind::aggregate)
        ::std::apply([this](const auto&... part) { (this->add(part), ...); }, tie_parts(x));
    }
  }
  /// Throws stale_error where one of them has been written since.
  void check() const {
    for (const kept_array& a : of_) a.check();
  }
  void clear() { of_.clear(); }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD

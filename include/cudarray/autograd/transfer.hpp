// Variables on another device.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/transfer.hpp"
#include "variable.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The value is a copy on device To of a variable on device From.
template <class T, class From, class To>
struct transfer_node final : computed_node<T, To> {
  tape_ref to;
  From device;

  transfer_node(const shape& s, const tape_ref& from, From where)
      : computed_node<T, To>(s, {nullptr, 0, &to, 1}), to(if_wanted(from)), device(where) {}
  void go_back() override {
    if (is_due(to))
      add_gradient(static_cast<gradient_node<T, From>&>(*to.get()),
                   ndarray<T, From>(cudarray::to<From>(this->gradient, device)));
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// A copy on another device, which gradients come back from.
template <device_tag To, variable_expression X>
auto to(const X& x, To device = {}) {
  using T = value_type_t<X>;
  using From = device_type_t<X>;
  const variable<T, From> v(x);
  const detail::tape_ref from = v.node().tape;
  const ndarray<T, To> copy = to<To>(v.value(), device);
  const bool wanted = detail::recording() && detail::is_wanted(from);
  return variable<T, To>(copy,
                         wanted ? detail::tape_ref(new detail::transfer_node<T, From, To>(v.shape(), from, v.device()))
                                : detail::tape_ref());
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

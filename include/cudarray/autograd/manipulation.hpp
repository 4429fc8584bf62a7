// The derivatives of functions that change shape and the order of axes.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "../ops/joining.hpp"
#include "../ops/pad.hpp"
#include "../ops/splitting.hpp"
#include "rule.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The same elements in the same order.
struct reshape_rule {
  template <int, class A, class X>
  auto gradient(const A& g, const X& x) const {
    return reshape(g, x.shape());
  }
  static constexpr bool reads(int, int) { return false; }
};
/// Axis i was axis `from[i]`.
struct permute_rule {
  axes from;
  template <int, class A, class X>
  auto gradient(const A& g, const X&) const {
    int64 back[max_rank] = {};
    for (int i = 0; i < from.size(); ++i) back[from[i]] = i;
    return transpose(g, axes(back, from.size()));
  }
  static constexpr bool reads(int, int) { return false; }
};
/// Repeated.
struct broadcast_rule {
  template <int, class A, class X>
  auto gradient(const A& g, const X& x) const {
    return sum_to(g.node(), x.shape());
  }
  static constexpr bool reads(int, int) { return false; }
};

/// Reversed along axes.
struct flip_rule {
  axes over;
  template <int, class A, class X>
  auto gradient(const A& g, const X&) const {
    return flip(g, over);
  }
  static constexpr bool reads(int, int) { return false; }
};

/// With a border of one value.
struct pad_rule {
  pad_widths widths;
  template <int, class A, class X>
  auto gradient(const A& g, const X&) const {
    return inside_of_pad(g, widths);
  }
  static constexpr bool reads(int, int) { return false; }
};
template <variable_expression X>
auto pad_by_value(const pad_widths& w, const X& x, double value) {
  return apply_rule(
      pad_rule{w}, [&](const auto& a) { return pad_by_value(w, a, value); }, x);
}

/// Variables joined along an axis: each has its part of the gradient.
template <class T, class D>
struct concatenate_node final : inner_node<T, D> {
  ::std::vector<tape_ref> to;
  ::std::vector<int64> extents;  ///< of the parts along the axis
  int axis;

  concatenate_node(const shape& s, int along) : inner_node<T, D>(s), axis(along) {}
  int count() const override { return int(to.size()); }
  const tape_ref* target(int k) const override { return &to[::std::size_t(k)]; }
  void go_back() override {
    int64 first = 0;
    for (::std::size_t k = 0; k < to.size(); first += extents[k++]) {
      if (!is_due(to[k])) continue;
      layout part = this->gradient.where();
      part.offset += first * part.stride[axis];
      part.dims[axis] = extents[k];
      add_gradient(static_cast<gradient_node<T, D>&>(*to[k].get()), view(this->gradient, part));
    }
  }
  void free() override {
    this->freed = true;
    to.clear();
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

template <variable_expression X>
auto reshape(const X& x, const shape& s) {
  return detail::apply_rule(
      detail::reshape_rule{}, [&](const auto& a) { return reshape(a, s); }, x);
}
template <variable_expression X>
auto expand_dims(const X& x, detail::any_integer axis) {
  return detail::apply_rule(
      detail::reshape_rule{}, [&](const auto& a) { return expand_dims(a, axis); }, x);
}
template <variable_expression X>
auto squeeze(const X& x, const axes& which = axes::all()) {
  return detail::apply_rule(
      detail::reshape_rule{}, [&](const auto& a) { return squeeze(a, which); }, x);
}
template <variable_expression X>
auto transpose(const X& x, const axes& order = axes::all()) {
  const int n = detail::dims_of(x).ndim();
  int64 from[max_rank] = {};
  for (int i = 0; i < n; ++i) from[i] = n - 1 - i;
  if (!order.is_all() && order.size() == n)
    for (int i = 0; i < n; ++i) from[i] = detail::normal_axis("transpose", order[i], n);
  return detail::apply_rule(
      detail::permute_rule{axes(from, n)}, [&](const auto& a) { return transpose(a, order); }, x);
}
template <variable_expression X>
auto swapaxes(const X& x, detail::any_integer first, detail::any_integer second) {
  const int n = detail::dims_of(x).ndim();
  int64 from[max_rank] = {};
  for (int i = 0; i < n; ++i) from[i] = i;
  ::std::swap(from[detail::normal_axis("swapaxes", first, n)], from[detail::normal_axis("swapaxes", second, n)]);
  return detail::apply_rule(
      detail::permute_rule{axes(from, n)}, [&](const auto& a) { return swapaxes(a, first, second); }, x);
}
template <variable_expression X>
auto broadcast_to(const X& x, const shape& s) {
  return detail::apply_rule(
      detail::broadcast_rule{}, [&](const auto& a) { return broadcast_to(a, s); }, x);
}

template <variable_expression X>
auto flip(const X& x, const axes& over = axes::all()) {
  return detail::apply_rule(
      detail::flip_rule{over}, [&](const auto& a) { return flip(a, over); }, x);
}
/// The variable itself, if it is C-contiguous, else a copy.
template <variable_expression X>
auto ascontiguousarray(const X& x) {
  const auto v = eval(x);
  return v.value().is_contiguous() ? v : copy(v);
}
/// Variables, the parts between split points along an axis.
template <variable_expression X>
auto split(const X& x, ::std::span<const int64> points, detail::any_integer axis = 0) {
  const auto v = eval(x);
  const int at = detail::normal_axis("split", axis, v.ndim());
  ::std::vector<::std::remove_const_t<decltype(v)>> parts;
  index_item items[max_rank] = {_, _, _, _, _, _, _, _};
  int64 from = 0;
  for (::std::size_t i = 0; i <= points.size(); ++i) {
    items[at] = i < points.size() ? slice(from, points[i]) : slice(from, none);
    parts.push_back(detail::slice_of(v, items, v.ndim()));
    if (i < points.size()) from = points[i];
  }
  return parts;
}

/// A variable where one at least is.
template <detail::array_list L, class Build = this_build>
requires(detail::list_traits<L>::has_variable) auto concatenate(const L& list, detail::any_integer axis = 0) {
  using T = typename detail::list_traits<L>::value_type;
  using D = typename detail::list_traits<L>::device_type;
  ::std::vector<ndarray<T, D>> arrays;
  ::std::vector<detail::tape_ref> tapes;
  bool wanted = false;
  detail::for_each_in(list, [&]<class X>(const X& x) {
    const auto part = [&] {
      if constexpr (::std::is_same_v<value_type_t<X>, T>) return detail::as_rule_operand(x);
      else return detail::as_rule_operand(astype<T>(x));
    }();
    arrays.push_back(part.array), tapes.push_back(detail::if_wanted(part.tape));
    wanted = wanted || detail::is_wanted(part.tape);
  });
  const ndarray<T, D> value = detail::joined(arrays, axis);
  if (!wanted || !detail::recording()) return variable<T, D>(value, detail::tape_ref());
  const int at = detail::normal_axis("concatenate", axis, value.ndim());
  auto* const node = new detail::concatenate_node<T, D>(value.shape(), at);
  detail::tape_ref tape(node);
  for (const auto& a : arrays) node->extents.push_back(a.shape(at));
  node->to = ::std::move(tapes);
  return variable<T, D>(value, ::std::move(tape));
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

// The derivatives of what picks elements: slices and indices.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/advanced_index.hpp"
#include "../ops/scatter.hpp"
#include "../ops/segment_reductions.hpp"
#include "rule.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Elements picked by an index along an axis: what was picked more than once has the sum of the gradients.
struct take_rule {
  int axis;
  template <int K, class A, class X, class Ix>
  A gradient(const A& g, const X& x, const Ix& index) const {
    const A to = zeros<value_type_t<A>>(x.shape(), g.device());
    scatter_add(to, index, g, axis);
    return to;
  }
  static constexpr bool reads(int k, int operand) { return k == 0 && operand == 1; }
};
/// One of each line for each index.
struct take_along_axis_rule {
  int axis;
  template <int K, class A, class X, class Ix>
  A gradient(const A& g, const X& x, const Ix& index) const {
    using D = device_type_t<A>;
    const shape& dims = x.shape();
    const A flat = zeros<value_type_t<A>>(shape{dims.elements()}, g.device());
    if (g.size() == 0) return reshape(flat, dims);
    // the place of each element of g
    ndarray<int64, D> place = zeros<int64, D>(shape{}, g.device());
    int64 step = 1;
    for (int d = dims.ndim() - 1; d >= 0; step *= dims[d--]) {
      if (d == axis) {
        const ndarray<int64, D> i(astype<int64>(index));
        place = place + where(i < 0, i + dims[d], i) * step;
      } else if (dims[d] > 1) {
        shape along;
        for (int k = 0; k < dims.ndim(); ++k) along.push_back(k == d ? dims[d] : 1);
        place = place + reshape(integer_range<int64>(0, dims[d], 1, g.device()), along) * step;
      }
    }
    scatter_add(flat, ravel(broadcast_to(place, g.shape())), ravel(g));
    return reshape(flat, dims);
  }
  static constexpr bool reads(int k, int operand) { return k == 0 && operand == 1; }
};

/// Each row has the gradient of its segment's sum.
struct segment_sum_rule {
  template <int K, class A, class X, class Ix>
  A gradient(const A& g, const X&, const Ix& segments) const {
    return take(g, segments);
  }
  static constexpr bool reads(int k, int operand) { return k == 0 && operand == 1; }
};

/// A view of some elements: the gradient of the others is 0.
struct slice_rule {
  ::std::vector<index_item> items;
  template <int, class A, class X>
  A gradient(const A& g, const X& x) const {
    const A whole = zeros<value_type_t<A>>(x.shape(), g.device());
    view(whole, index_layout(whole.where(), items.data(), int(items.size())))(ellipsis) = g;
    return whole;
  }
  static constexpr bool reads(int, int) { return false; }
};
template <class T, class D>
variable<T, D> slice_of(const variable<T, D>& x, const index_item* items, int count) {
  return apply_rule(
      slice_rule{{items, items + count}},
      [&]<class A>(const A& a) { return view(a, index_layout(a.where(), items, count)); }, x);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Eager of variables: the elements that `index` picks along an axis.
template <variable_expression X, array_expression Ix>
auto take(const X& x, const Ix& index, detail::any_integer axis = 0) {
  const int at = detail::normal_axis("take", axis, detail::dims_of(x).ndim());
  using D = device_type_t<X>;
  const ndarray<int64, D> picks(detail::index_node("take", index));
  return detail::apply_rule(
      detail::take_rule{at}, [&]<class A, class I>(const A& a, const I& i) { return A(take(a, i, at)); }, x, picks);
}
template <variable_expression X, array_expression Ix>
auto take_along_axis(const X& x, const Ix& index, detail::any_integer axis = -1) {
  const int at = detail::normal_axis("take_along_axis", axis, detail::dims_of(x).ndim());
  using D = device_type_t<X>;
  const ndarray<int64, D> picks(detail::index_node("take_along_axis", index));
  return detail::apply_rule(
      detail::take_along_axis_rule{at},
      [&]<class A, class I>(const A& a, const I& i) { return A(take_along_axis(a, i, at)); }, x, picks);
}
template <variable_expression X, array_expression Ix>
auto segment_sum(const X& x, const Ix& segments, detail::any_integer count = -1) {
  const auto s = detail::row_segments_of("segment_sum", x, segments, count);
  return detail::apply_rule(
      detail::segment_sum_rule{},
      [&]<class A, class I>(const A& a, const I& i) { return A(segment_sum(a, i, s.count)); }, x, s.of);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Elements that an index with arrays in it picks: the gradient goes back by the places that they have in C order.
template <class D>
struct advanced_index_rule {
  ::std::vector<advanced_item<D>> items;
  template <int K, class A, class X>
  A gradient(const A& g, const X& x) const {
    const ndarray<int64, D> places = reshape(integer_range<int64>(0, x.size(), 1, g.device()), x.shape());
    const auto [from, axis, place] = pick_elements(places.where(), items);
    const ndarray<int64, D> picked(make_gather(view(places, from).node(), place.node(), axis));
    const A flat = zeros<value_type_t<A>>(shape{x.size()}, g.device());
    scatter_add(flat, ravel(picked), ravel(g));
    return reshape(flat, x.shape());
  }
  static constexpr bool reads(int, int) { return false; }
};
template <class T, class D, class... Ix>
variable<T, D> picked_of(const variable<T, D>& x, const Ix&... index) {
  using item = advanced_item<D>;
  const ::std::vector<item> items = without_masks(x.shape(), ::std::vector<item>{item(index)...});
  if (items.size() == 1 && items[0].is_index && x.ndim() > 0 && !items[0].is_newaxis())
    return apply_rule(
        take_rule{0},
        []<class A, class P>(const A& a, const P& i) { return A(make_gather(a.node(), i.node(), 0, "index")); }, x,
        items[0].index);
  return apply_rule(
      advanced_index_rule<D>{items},
      [&]<class A>(const A& a) {
        const auto [from, axis, place] = pick_elements(a.where(), items);
        return A(make_gather(view(a, from).node(), place.node(), axis, "index"));
      },
      x);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD

// The derivatives of reductions that are no sums: extremes, products and variances.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/manipulation.hpp"
#include "../ops/reductions.hpp"
#include "rule.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The axes of an operand that a reduction went over, a bit each, and results as they are with extents of 1 there.
struct reduced_axes {
  unsigned over;
  axes list(int ndim) const {
    int64 a[max_rank] = {};
    int n = 0;
    for (int d = 0; d < ndim; ++d)
      if (over >> d & 1u) a[n++] = d;
    return axes(a, n);
  }
  template <class A>
  A kept(const A& result, const shape& from) const {
    return reshape(result, reduced_shape("backward", from, over, true, true));
  }
  int64 count(const shape& from) const {
    int64 n = 1;
    for (int d = 0; d < from.ndim(); ++d)
      if (over >> d & 1u) n *= from[d];
    return n;
  }
};

/// Of the largest or the smallest element: those that are equal to it share the gradient.
struct extreme_rule : reduced_axes {
  static constexpr bool reads_value = true;
  template <int, class A>
  auto gradient(const A& g, const A& r, const A& x) const {
    using C = compute_t<value_type_t<A>>;  // float16 does not hold every count
    const auto hits = x == kept(r, x.shape());
    const ndarray<C, device_type_t<A>> shared =
        astype<C>(kept(g, x.shape())) / sum(astype<C>(hits), list(x.ndim()), keepdims);
    return eval(where(hits, shared, 0));
  }
  static constexpr bool reads(int, int) { return true; }
};
/// Of the product: g times that of the other elements, also where one of them is 0.
struct product_rule : reduced_axes {
  template <int, class A>
  A gradient(const A& g, const A& x) const {
    using T = value_type_t<A>;
    const axes all = list(x.ndim());
    if constexpr (is_dual<T>) return of_dual(g, x);
    const A zeros = sum(astype<T>(x == 0), all, keepdims), others = prod(where(x == 0, 1, x), all, keepdims);
    return kept(g, x.shape()) * where(zeros == 0, others / x, where((zeros == 1) & (x == 0), others, 0));
  }
  static constexpr bool reads(int, int) { return true; }

 private:
  /// A 0 has a derivative: the product of the others is that of what is not 0 by the other 0, if there is one.
  template <class A>
  A of_dual(const A& g, const A& x) const {
    const axes all = list(x.ndim());
    const A product = prod(x, all, keepdims), others = prod(where(x == 0, 1, x), all, keepdims),
            sum_of_zeros = sum(where(x == 0, x, 0), all, keepdims);
    const ndarray<int64, device_type_t<A>> zeros = sum(x == 0, all, keepdims);
    const A of_zero = others * where(zeros == 1, 1, where(zeros == 2, sum_of_zeros - x, 0));
    return kept(g, x.shape()) * where(x == 0, of_zero, product / x);
  }
};
/// Of the mean squared distance from the mean.
struct variance_rule : reduced_axes {
  template <int, class A>
  A gradient(const A& g, const A& x) const {
    using T = value_type_t<A>;
    const auto off = [&](const auto& wide) { return wide - mean(wide, list(x.ndim()), keepdims); };
    const double by = 2 / double(count(x.shape()));
    if constexpr (is_half<T>) return astype<T>(astype<float>(kept(g, x.shape())) * by * off(astype<float>(x)));
    else return A(kept(g, x.shape()) * by * off(x));
  }
  static constexpr bool reads(int, int) { return true; }
};

template <class Op>
struct reduction_rule {
  using type = void;
};
template <>
struct reduction_rule<op::max_op> {
  using type = extreme_rule;
};
template <>
struct reduction_rule<op::min_op> {
  using type = extreme_rule;
};
template <>
struct reduction_rule<op::prod_op> {
  using type = product_rule;
};
template <>
struct reduction_rule<op::var_op> {
  using type = variance_rule;
};

template <class Op, class K, class F>
auto record_by_rule(const reduce<Op, K>& n, const F& value) {
  using rule = typename reduction_rule<Op>::type;
  constexpr bool has_derivative = !::std::is_void_v<rule>;
  static_assert(has_derivative, "cudarray: this reduction has no derivative: use ca::stop_gradient(x)");
  return apply_rule(
      rule{{n.over}},
      [&]<class A>(const A& x) {
        using L = leaf<value_type_t<A>, device_type_t<A>>;
        return A(value(reduce<Op, L>(
            n.over, [&] { return n.extents; }, [&]() -> L { return x.node(); })));
      },
      n.kid);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Mean and variance as two functions of a variable.
template <variable_expression X, reduction_option... O>
auto mean_var(const X& x, axes over, const O&... o) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  using V = variable<T, D>;
  const V v(x);
  return mean_and_var<T, D, V>{V(mean(v, over, o...)), V(var(v, over, o...))};
}
template <variable_expression X, reduction_option... O>
auto mean_var(const X& x, const O&... o) {
  return mean_var(x, axes::all(), o...);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

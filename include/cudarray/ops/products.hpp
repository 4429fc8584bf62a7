// Products of vectors, tensors and chains of matrices.
// SPDX-License-Identifier: MIT
#pragma once

#include <ranges>
#include <tuple>
#include <type_traits>
#include <vector>

#include "complex.hpp"
#include "creation.hpp"
#include "indexing.hpp"
#include "joining.hpp"
#include "linalg.hpp"
#include "manipulation.hpp"
#include "math.hpp"
#include "operators.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// What arrays and variables become so that they stand in one list: of dtype T, a variable where one is.
template <class T, class X>
using evaluated_as = ::std::remove_cvref_t<decltype(eval(astype<T>(::std::declval<const X&>())))>;
template <class T, class X, class... More>
auto listed_type() {
  if constexpr (has_variable<X> || !(has_variable<More> || ...)) return ::std::type_identity<evaluated_as<T, X>>{};
  else return listed_type<T, More...>();
}
template <class T, class... X>
using listed = decltype(listed_type<T, X...>());
template <class A, class X>
A listed_as(const X& x) {
  using T = value_type_t<A>;
  const auto a = [&] {
    if constexpr (::std::is_same_v<value_type_t<X>, T>) return eval(x);
    else return eval(astype<T>(x));
  }();
  if constexpr (::std::is_same_v<::std::remove_const_t<decltype(a)>, A>) return a;
  else return A(a, tape_ref());  // a constant beside variables
}

/// The order of axes with those that are summed over at the end or the beginning, and the extents of both kinds.
struct contracted_axes {
  int64 order[max_rank];
  int rank = 0;
  shape kept, summed;

  contracted_axes(const shape& s, const int64* over, int count, bool at_end) : rank(s.ndim()) {
    bool is[max_rank] = {};
    for (int i = 0; i < count; ++i) {
      if (is[over[i]]) fail<value_error>("tensordot: axis ", over[i], " twice");
      is[over[i]] = true;
      summed.push_back(s[int(over[i])]);
    }
    int to = at_end ? 0 : count;
    for (int d = 0; d < rank; ++d)
      if (!is[d]) order[to++] = d, kept.push_back(s[d]);
    for (int i = 0; i < count; ++i) order[(at_end ? rank - count : 0) + i] = over[i];
  }
};
/// The matrix of an array whose last or first axes are summed over.
template <class X>
auto matrix_of(const X& x, const contracted_axes& c, bool at_end) {
  const int64 kept = c.kept.elements(), summed = c.summed.elements();
  return reshape(transpose(x, axes(c.order, c.rank)), at_end ? shape{kept, summed} : shape{summed, kept});
}
template <class X, class Y>
auto contract_axes(const X& x, const Y& y, const int64* over_x, const int64* over_y, int count) {
  const contracted_axes a(dims_of(x), over_x, count, true), b(dims_of(y), over_y, count, false);
  if (a.summed != b.summed)
    fail<shape_error>("tensordot: shapes ", dims_of(x), " and ", dims_of(y), " over axes of ", a.summed, " and ",
                      b.summed);
  shape s = a.kept;
  if (a.kept.ndim() + b.kept.ndim() > max_rank)
    fail<shape_error>("tensordot: a result of ", a.kept.ndim() + b.kept.ndim(), " axes");
  for (const int64 n : b.kept) s.push_back(n);
  return eval(reshape(matmul(matrix_of(x, a, true), matrix_of(y, b, false)), s));
}

/// The cheapest order of a chain of products (Cormen et al., Introduction to Algorithms, 15.2): `cut[i * n + j]` says
/// where the product of matrices i to j is cut.
struct product_order {
  ::std::size_t n;
  ::std::vector<::std::size_t> cut;

  explicit product_order(const ::std::vector<int64>& extents) : n(extents.size() - 1), cut(n * n) {
    ::std::vector<double> cost(n * n);
    for (::std::size_t length = 1; length < n; ++length)
      for (::std::size_t i = 0; i + length < n; ++i) {
        const ::std::size_t j = i + length;
        cost[i * n + j] = __builtin_huge_val();
        for (::std::size_t k = i; k < j; ++k) {
          const double c = cost[i * n + k] + cost[(k + 1) * n + j] +
                           double(extents[i]) * double(extents[k + 1]) * double(extents[j + 1]);
          if (c < cost[i * n + j]) cost[i * n + j] = c, cut[i * n + j] = k;
        }
      }
  }
  template <class A>
  A product(const ::std::vector<A>& of, ::std::size_t i, ::std::size_t j) const {
    if (i == j) return of[i];
    const ::std::size_t k = cut[i * n + j];
    return matmul(product(of, i, k), product(of, k + 1, j));
  }
};
template <class L>
auto listed_in(const L& list) {
  using T = typename list_traits<L>::value_type;
  using X = ::std::ranges::range_value_t<const L&>;
  ::std::vector<typename listed<T, X>::type> r;
  for (const auto& x : list) r.push_back(listed_as<typename listed<T, X>::type>(x));
  return r;
}
template <class... X>
auto listed_in(const ::std::tuple<X...>& list) {
  using A = typename listed<result_type_t<value_type_t<X>...>, X...>::type;
  return ::std::apply([](const auto&... x) { return ::std::vector<A>{listed_as<A>(x)...}; }, list);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// All products of an element of x and one of y: (m,), (n,) -> (m, n), of other operands all elements. Lazy.
template <array_expression X, array_expression Y>
auto outer(const X& x, const Y& y) {
  return expand_dims(ravel(x), 1) * expand_dims(ravel(y), 0);
}
/// The sum of products along an axis of each, of complex numbers those of the conjugates of x; the other axes
/// broadcast. In their common dtype. Lazy. Throws shape_error.
///     ca::vecdot(x, y)  // (b, n), (b, n) -> (b,)
template <array_expression X, array_expression Y>
auto vecdot(const X& x, const Y& y, detail::any_integer axis = -1) {
  const shape &s = detail::dims_of(x), &t = detail::dims_of(y);
  const int a = detail::normal_axis("vecdot", axis, s.ndim()), b = detail::normal_axis("vecdot", axis, t.ndim());
  if (s[a] != t[b]) detail::fail<shape_error>("vecdot: shapes ", s, " and ", t, " along axis ", axis.value);
  using T = result_type_t<value_type_t<X>, value_type_t<Y>>;
  return astype<T>(sum(detail::conjugates(moveaxis(x, a, -1)) * moveaxis(y, b, -1), -1));
}
/// The sum of the products of all elements, of complex numbers those of the conjugates of x, as rows of one axis.
/// Eager. Throws shape_error.
template <array_expression X, array_expression Y>
auto vdot(const X& x, const Y& y) {
  return eval(matmul(ravel(detail::conjugates(x)), ravel(y)));
}
/// Sums of products over axes of x and as many of y, in pairs; the other axes of x, then those of y remain. Eager, one
/// matrix product. Throws shape_error, value_error, index_error.
///     ca::tensordot(x, y, {1, 2}, {0, 1})
template <array_expression X, array_expression Y>
auto tensordot(const X& x, const Y& y, const axes& over_x, const axes& over_y) {
  constexpr const char* function = "tensordot";
  const shape &s = detail::dims_of(x), &t = detail::dims_of(y);
  if (over_x.is_all() || over_y.is_all() || over_x.size() != over_y.size())
    detail::fail<value_error>(function, ": as many axes of one operand as of the other are wanted");
  int64 a[max_rank] = {}, b[max_rank] = {};
  for (int i = 0; i < over_x.size(); ++i) {
    a[i] = detail::normal_axis(function, over_x[i], s.ndim());
    b[i] = detail::normal_axis(function, over_y[i], t.ndim());
  }
  return detail::contract_axes(x, y, a, b, over_x.size());
}
/// Over the last axes of x and the first of y, so many.
template <array_expression X, array_expression Y>
auto tensordot(const X& x, const Y& y, detail::any_integer count = 2) {
  const shape &s = detail::dims_of(x), &t = detail::dims_of(y);
  if (count < 0 || count > s.ndim() || count > t.ndim())
    detail::fail<value_error>("tensordot: ", count.value, " axes of shapes ", s, " and ", t);
  int64 a[max_rank] = {}, b[max_rank] = {};
  for (int i = 0; i < int(count); ++i) a[i] = s.ndim() - int(count) + i, b[i] = i;
  return detail::contract_axes(x, y, a, b, int(count));
}
/// Kronecker's product: y in the place of each element of x, times it. Operands of at most 4 axes. Lazy. Throws
/// shape_error.
///     ca::kron(x, y)  // (a, b), (c, d) -> (a c, b d)
template <array_expression X, array_expression Y>
auto kron(const X& x, const Y& y) {
  const shape &s = detail::dims_of(x), &t = detail::dims_of(y);
  const int n = s.ndim() > t.ndim() ? s.ndim() : t.ndim();
  if (2 * n > max_rank) detail::fail<shape_error>("kron: shapes ", s, " and ", t, ": at most ", max_rank / 2, " axes");
  shape a, b, all;
  for (int d = 0; d < n; ++d) {
    const int i = d - (n - s.ndim()), j = d - (n - t.ndim());
    const int64 m = i < 0 ? 1 : s[i], k = j < 0 ? 1 : t[j];
    a.push_back(m), a.push_back(1), b.push_back(1), b.push_back(k);
    all.push_back(m * k);
  }
  return reshape(reshape(x, a) * reshape(y, b), all);
}
/// The cross products of vectors of 3 elements along an axis; the other axes broadcast. Eager. Throws shape_error.
template <array_expression X, array_expression Y>
auto cross(const X& x, const Y& y, detail::any_integer axis = -1) {
  const shape &s = detail::dims_of(x), &t = detail::dims_of(y);
  const int a = detail::normal_axis("cross", axis, s.ndim()), b = detail::normal_axis("cross", axis, t.ndim());
  if (s[a] != 3 || t[b] != 3)
    detail::fail<shape_error>("cross: shapes ", s, " and ", t, ": vectors of 3 elements along axis ", axis.value);
  const auto p = eval(moveaxis(x, a, -1));
  const auto q = eval(moveaxis(y, b, -1));
  const auto next = array<int64>({1, 2, 0}, p.device()), last = array<int64>({2, 0, 1}, p.device());
  const auto r = eval(take(p, next, -1) * take(q, last, -1) - take(p, last, -1) * take(q, next, -1));
  return eval(moveaxis(r, -1, axis < 0 ? r.ndim() + int(axis) : int(axis)));
}
/// The product of a chain of matrices, in the order that takes the fewest operations; the first and the last may be
/// vectors. Lists as concatenate takes them. Eager. Throws shape_error, value_error.
///     ca::multi_dot(std::tuple(a, b, c))
template <detail::array_list L>
auto multi_dot(const L& matrices) {
  const auto list = detail::listed_in(matrices);
  if (list.size() < 2) detail::fail<value_error>("multi_dot: ", list.size(), " matrices: 2 at least are wanted");
  ::std::vector<int64> extents;
  for (::std::size_t i = 0; i < list.size(); ++i) {
    const shape& s = detail::dims_of(list[i]);
    const bool end = i == 0 || i + 1 == list.size();
    if (s.ndim() != 2 && !(end && s.ndim() == 1))
      detail::fail<shape_error>("multi_dot: matrix ", i, " of shape ", s, ", not of 2 axes");
    extents.push_back(s.ndim() == 1 && i == 0 ? 1 : s[0]);
    if (i + 1 == list.size()) extents.push_back(s.ndim() == 1 ? 1 : s[1]);
  }
  return detail::product_order(extents).product(list, 0, list.size() - 1);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

// Diagonals and triangles of matrices.
// SPDX-License-Identifier: MIT
#pragma once

#include "creation.hpp"
#include "indexing.hpp"
#include "manipulation.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The k-th diagonal of the matrices over two axes: above the main one, or (k < 0) below.
struct diagonal_of {
  int64 k;
  int first, second;

  diagonal_of(const char* function, const shape& s, int64 offset, int64 axis1, int64 axis2)
      : k(offset), first(0), second(1) {
    if (s.ndim() < 2) fail<shape_error>(function, ": an array of shape ", s, ", not of two axes at least");
    first = normal_axis(function, axis1, s.ndim());
    second = normal_axis(function, axis2, s.ndim());
    k = k < -s[first] ? -s[first] : k > s[second] ? s[second] : k;
    if (first == second) fail<value_error>(function, ": axis ", axis1, " twice");
  }
  /// Its elements are the last axis.
  layout in(const layout& l) const {
    layout r;
    r.offset = l.offset;
    r.read_only = l.read_only;
    for (int d = 0; d < l.ndim(); ++d) {
      if (d == first || d == second) continue;
      r.stride[r.ndim()] = l.stride[d];
      r.dims.push_back(l.dims[d]);
    }
    const int64 rows = l.dims[first] + (k < 0 ? k : 0), columns = l.dims[second] - (k > 0 ? k : 0);
    const int64 n = rows < columns ? rows : columns;
    if (n > 0) r.offset += k > 0 ? k * l.stride[second] : -k * l.stride[first];
    r.stride[r.ndim()] = l.stride[first] + l.stride[second];
    r.dims.push_back(n > 0 ? n : 0);
    return r;
  }
};
template <class T, class D>
ndarray<T, D> take_diagonal(const diagonal_of& d, const ndarray<T, D>& a) {
  return view(a, d.in(a.where()));
}
/// Zeros of a shape with this diagonal.
template <class T, class D>
ndarray<T, D> put_diagonal(const diagonal_of& d, const ndarray<T, D>& elements, const shape& s) {
  const ndarray<T, D> r = filled<T>("diag", s, 0, elements.device());
  view(r, d.in(r.where()))(ellipsis) = elements;
  return r;
}
/// Of arrays; of variables these are in autograd/diagonals.hpp.
template <class X>
requires(!has_variable<X>) auto apply_diagonal(const diagonal_of& d, const X& x) {
  return take_diagonal(d, as_array(x));
}
template <class X>
requires(!has_variable<X>) auto apply_diag(const diagonal_of& d, const X& x, const shape& s) {
  return put_diagonal(d, as_array(x), s);
}

inline int64 one_less(int64 k) { return k > INT64_MIN ? k - 1 : k; }
/// Whether an element of matrices is on or below the k-th diagonal: lazy.
template <class Device>
auto below_diagonal(int64 rows, int64 columns, int64 k, Device device) {
  const int64 from = k < -rows ? -rows : k > columns ? columns : k;
  return expand_dims(integer_range<int64>(from, rows + from, 1, device), 1) >=
         integer_range<int64>(0, columns, 1, device);
}
/// The same of the matrices of an array, one row of one axis for all. Throws shape_error.
template <class X>
auto below_diagonal_of(const char* function, const X& x, int64 k) {
  const shape& s = dims_of(x);
  if (s.ndim() < 1) fail<shape_error>(function, ": an array of no axes");
  const int64 columns = s[s.ndim() - 1];
  return below_diagonal(s.ndim() > 1 ? s[s.ndim() - 2] : columns, columns, k, device_of(x));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The k-th diagonals of the matrices over two axes, as the last axis: above the main one, or (k < 0) below. A view.
/// Throws shape_error, index_error, value_error.
///     ca::diagonal(x)(ca::_) = 1;
template <array_expression X>
auto diagonal(const X& x, detail::any_integer k = 0, detail::any_integer axis1 = 0, detail::any_integer axis2 = 1) {
  return apply_diagonal(detail::diagonal_of("diagonal", detail::dims_of(x), k, axis1, axis2), x);
}
/// The sum of such a diagonal. Lazy.
template <array_expression X>
auto trace(const X& x, detail::any_integer k = 0, detail::any_integer axis1 = 0, detail::any_integer axis2 = 1) {
  return sum(apply_diagonal(detail::diagonal_of("trace", detail::dims_of(x), k, axis1, axis2), x), -1);
}
/// Of one axis a matrix with these elements on its k-th diagonal, and zeros; of a matrix its k-th diagonal, a view.
/// Throws shape_error.
template <array_expression X>
auto diag(const X& x, detail::any_integer k = 0) {
  const shape& s = detail::dims_of(x);
  if (s.ndim() != 1 && s.ndim() != 2) detail::fail<shape_error>("diag: an array of shape ", s, ", not of 1 or 2 axes");
  if (s.ndim() == 2) return eval(diagonal(x, k));
  int64 n = 0;
  if (k == INT64_MIN || __builtin_add_overflow(s[0], k < 0 ? -k.value : k.value, &n)) n = INT64_MAX;
  const shape square = detail::check_extents("diag", shape{n, n});
  return eval(apply_diag(detail::diagonal_of("diag", square, k, 0, 1), x, square));
}
/// A matrix with all elements on its k-th diagonal.
template <array_expression X>
auto diagflat(const X& x, detail::any_integer k = 0) {
  return diag(ravel(x), k);
}
/// Writes into the main diagonal of an array of two axes or more, of one extent if there are more than two: a value, or
/// one for each element. Throws shape_error, value_error.
template <class T, class Device, class V>
requires(array_expression<V> || scalar_value<V>) void fill_diagonal(const ndarray<T, Device>& a, const V& value) {
  layout l = a.where(), r;
  if (a.ndim() < 2) detail::fail<shape_error>("fill_diagonal: an array of shape ", a.shape(), ", not of two axes");
  int64 n = l.dims[0], step = 0;
  for (int d = 0; d < l.ndim(); ++d) {
    if (l.ndim() > 2 && l.dims[d] != n)
      detail::fail<shape_error>("fill_diagonal: an array of shape ", a.shape(), ", whose extents differ");
    n = l.dims[d] < n ? l.dims[d] : n;
    step += l.stride[d];
  }
  r.offset = l.offset;
  r.read_only = l.read_only;
  r.stride[0] = step;
  r.dims.push_back(n);
  detail::view(a, r)(ellipsis) = value;
}

/// The matrices of x with zeros above the k-th diagonal, or below. One axis stands for as many equal rows. Lazy. Throw
/// shape_error.
template <array_expression X>
auto tril(const X& x, detail::any_integer k = 0) {
  return where(detail::below_diagonal_of("tril", x, k), x, detail::primal_t<value_type_t<X>>{});
}
template <array_expression X>
auto triu(const X& x, detail::any_integer k = 0) {
  return where(detail::below_diagonal_of("triu", x, detail::one_less(k)), detail::primal_t<value_type_t<X>>{}, x);
}
/// Ones on and below the k-th diagonal, zeros elsewhere. Eager.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> tri(detail::any_integer rows, detail::any_integer columns = -1, detail::any_integer k = 0,
                             Device device = {}) {
  detail::check_extents("tri", shape{rows, columns == -1 ? rows : columns});
  return eval(astype<T>(detail::below_diagonal(rows, columns == -1 ? int64(rows) : int64(columns), k, device)));
}
/// Where these are, of matrices of n rows and `columns` (-1: n) columns: an array for each axis. Wait for the device.
template <device_tag Device = default_device>
auto tril_indices(detail::any_integer n, detail::any_integer k = 0, detail::any_integer columns = -1,
                  Device device = {}) {
  return nonzero(tri<bool>(n, columns, k, device));
}
template <device_tag Device = default_device>
auto triu_indices(detail::any_integer n, detail::any_integer k = 0, detail::any_integer columns = -1,
                  Device device = {}) {
  return nonzero(!tri<bool>(n, columns, detail::one_less(k), device));
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

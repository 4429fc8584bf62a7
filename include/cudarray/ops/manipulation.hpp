// Changing shape and order of axes: views where possible.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <tuple>

#include "transfer.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The array's memory in another layout; read-only if the array is.
template <class T, class Device>
ndarray<T, Device> view(const ndarray<T, Device>& a, const layout& l) {
  auto n = a.node();
  n.where = l;
  n.where.read_only |= a.where().read_only;
  return ndarray<T, Device>(::std::move(n));
}

/// Operands of functions that work on arrays: an array as it is, an expression evaluated.
template <array_expression X>
ndarray<value_type_t<X>, device_type_t<X>> as_array(const X& x) {
  return ndarray<value_type_t<X>, device_type_t<X>>(x);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The extents of an array that is known to have N axes, for structured bindings. Throws shape_error for another
/// number.
///     const auto [rows, columns] = ca::extents<2>(x);
template <int N, array_expression X>
::std::array<int64, ::std::size_t(N)> extents(const X& x) {
  const shape& s = detail::dims_of(x);
  if (s.ndim() != N) detail::fail<shape_error>("extents: an array of shape ", s, ", not of ", N, " axes");
  ::std::array<int64, ::std::size_t(N)> r;
  for (int d = 0; d < N; ++d) r[::std::size_t(d)] = s[d];
  return r;
}

/// The same elements in another shape, C order; one extent may be -1. A view where strides can say it, else a copy.
/// Throws shape_error.
template <array_expression X>
ndarray<value_type_t<X>, device_type_t<X>> reshape(const X& x, const shape& s) {
  auto a = detail::as_array(x);
  const shape to = detail::resolve_reshape(a.shape(), s);
  layout l;
  if (!detail::reshape_layout(a.where(), to, l)) {
    a = copy<decltype(a)>(a);
    l = detail::c_layout(to);
  }
  return detail::view(a, l);
}
/// All elements along one axis: a view where possible.
template <array_expression X>
auto ravel(const X& x) {
  return reshape<X>(x, shape{-1});
}

/// The axes in another order, absent: reversed. A view. Throws index_error, value_error.
template <array_expression X>
ndarray<value_type_t<X>, device_type_t<X>> transpose(const X& x, const axes& order = axes::all()) {
  const auto a = detail::as_array(x);
  if (order.is_all()) return a.t();
  if (order.size() != a.ndim())
    detail::fail<value_error>("transpose: ", order.size(), " axes given for an array of ", a.ndim());
  order.mask("transpose", a.ndim());
  int perm[max_rank] = {};
  for (int i = 0; i < a.ndim(); ++i) perm[i] = detail::normal_axis("transpose", order[i], a.ndim());
  return detail::view(a, detail::permute_layout(a.where(), perm));
}
/// The same, by its name in the array API standard, with all axes named.
template <array_expression X>
auto permute_dims(const X& x, const axes& order) {
  return transpose(x, order);
}
/// Two axes exchanged: a view.
template <array_expression X>
auto swapaxes(const X& x, detail::any_integer first, detail::any_integer second) {
  const auto a = detail::as_array(x);
  int perm[max_rank] = {};
  for (int i = 0; i < a.ndim(); ++i) perm[i] = i;
  ::std::swap(perm[detail::normal_axis("swapaxes", first, a.ndim())],
              perm[detail::normal_axis("swapaxes", second, a.ndim())]);
  return detail::view(a, detail::permute_layout(a.where(), perm));
}
/// A new axis of extent 1 at `axis` of the result: a view.
template <array_expression X>
auto expand_dims(const X& x, detail::any_integer axis) {
  const auto a = detail::as_array(x);
  const int at = detail::normal_axis("expand_dims", axis, a.ndim() + 1);
  layout l;
  l.offset = a.where().offset;
  for (int d = 0; d <= a.ndim(); ++d) {
    l.dims.push_back(d == at ? 1 : a.shape()[d < at ? d : d - 1]);
    l.stride[d] = d == at ? 0 : a.where().stride[d < at ? d : d - 1];
  }
  return detail::view(a, l);
}
/// The named axes of extent 1 left out, absent: all of them. A view. Throws shape_error.
template <array_expression X>
auto squeeze(const X& x, const axes& which = axes::all()) {
  const auto a = detail::as_array(x);
  const unsigned mask = which.mask("squeeze", a.ndim());
  layout l;
  l.offset = a.where().offset;
  for (int d = 0; d < a.ndim(); ++d) {
    const bool named = mask >> d & 1u, one = a.shape()[d] == 1;
    if (named && one) continue;
    if (named && !which.is_all()) detail::fail<shape_error>("squeeze: axis ", d, " of shape ", a.shape(), " is not 1");
    l.stride[l.ndim()] = a.where().stride[d];
    l.dims.push_back(a.shape()[d]);
  }
  return detail::view(a, l);
}
/// Repeated to a shape without copying: a read-only view. Throws shape_error.
template <array_expression X>
auto broadcast_to(const X& x, const shape& s) {
  const auto a = detail::as_array(x);
  return detail::view(a, detail::broadcast_layout("broadcast_to", a.where(), s));
}
/// The order of elements reversed along axes, absent: all. A view.
template <array_expression X>
auto flip(const X& x, const axes& over = axes::all()) {
  const auto a = detail::as_array(x);
  const unsigned mask = over.mask("flip", a.ndim());
  layout l = a.where();
  for (int d = 0; d < a.ndim(); ++d)
    if ((mask >> d & 1u) && l.dims[d] > 0) {
      l.offset += (l.dims[d] - 1) * l.stride[d];
      l.stride[d] = -l.stride[d];
    }
  return detail::view(a, l);
}
/// The rows in reverse order (axis 0), or the columns (axis 1): views. Throw shape_error.
template <array_expression X>
auto flipud(const X& x) {
  if (detail::dims_of(x).ndim() < 1) detail::fail<shape_error>("flipud: an array of no axes");
  return flip(x, 0);
}
template <array_expression X>
auto fliplr(const X& x) {
  if (detail::dims_of(x).ndim() < 2)
    detail::fail<shape_error>("fliplr: an array of shape ", detail::dims_of(x), ", not of two axes at least");
  return flip(x, 1);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail {

/// The order of axes where those of `from` have gone to the places `to`. Throws value_error, index_error.
inline axes moved_axes(const axes& from, const axes& to, int ndim) {
  if (from.is_all() || to.is_all() || from.size() != to.size())
    fail<value_error>("moveaxis: ", from.size(), " axes to ", to.size(), " places");
  const unsigned taken = from.mask("moveaxis", ndim);
  to.mask("moveaxis", ndim);
  int64 order[max_rank];
  for (int64& o : order) o = -1;
  for (int i = 0; i < to.size(); ++i)
    order[normal_axis("moveaxis", to[i], ndim)] = normal_axis("moveaxis", from[i], ndim);
  int next = 0;
  for (int d = 0; d < ndim; ++d) {
    if (order[d] >= 0) continue;
    while (taken >> next & 1u) ++next;
    order[d] = next++;
  }
  return axes(order, ndim);
}
/// A shape of n axes at least, as NumPy adds them: in front; to two axes the third behind them.
inline shape shape_of_at_least(int n, const shape& s) {
  if (s.ndim() >= n) return s;
  if (s.ndim() == 2) return {s[0], s[1], 1};
  const int64 length = s.elements();
  return n == 1 ? shape{length} : n == 2 ? shape{1, length} : shape{1, length, 1};
}

}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The axes named first go to the places named second, the others keep their order: a view. Throws index_error,
/// value_error.
///     ca::moveaxis(images, 1, -1)  // (n, c, h, w) -> (n, h, w, c)
template <array_expression X>
auto moveaxis(const X& x, const axes& from, const axes& to) {
  return transpose(x, detail::moved_axes(from, to, detail::dims_of(x).ndim()));
}
/// The last two axes exchanged: a view. Throws shape_error.
template <array_expression X>
auto matrix_transpose(const X& x) {
  if (detail::dims_of(x).ndim() < 2)
    detail::fail<shape_error>("matrix_transpose: an array of shape ", detail::dims_of(x), ", not of two axes at least");
  return swapaxes(x, -1, -2);
}
/// Turned by 90 degrees k times, from the first of two axes towards the second: a view. Throws value_error.
template <array_expression X>
auto rot90(const X& x, detail::any_integer k = 1, const axes& plane = {0, 1}) {
  const int ndim = detail::dims_of(x).ndim();
  if (plane.is_all() || plane.size() != 2) detail::fail<value_error>("rot90: ", plane.size(), " axes, not two");
  plane.mask("rot90", ndim);
  const int64 first = plane[0], second = plane[1], turns = (k % 4 + 4) % 4;
  const axes both = turns == 0 ? axes{} : turns == 1 ? axes{second} : turns == 2 ? axes{first, second} : axes{first};
  const auto flipped = eval(flip(x, both));
  return turns % 2 == 0 ? flipped : eval(swapaxes(flipped, first, second));
}
/// With axes of extent 1 so that there are one, two or three at least: a view.
template <array_expression X>
auto atleast_1d(const X& x) {
  return reshape(x, detail::shape_of_at_least(1, detail::dims_of(x)));
}
template <array_expression X>
auto atleast_2d(const X& x) {
  return reshape(x, detail::shape_of_at_least(2, detail::dims_of(x)));
}
template <array_expression X>
auto atleast_3d(const X& x) {
  return reshape(x, detail::shape_of_at_least(3, detail::dims_of(x)));
}

/// The shape that these broadcast to. Throws shape_error.
template <class... S>
requires(::std::is_convertible_v<const S&, shape>&&...) shape broadcast_shapes(const shape& first, const S&... others) {
  shape r = first;
  ((r = detail::broadcast_shapes("broadcast_shapes", r, others)), ...);
  return r;
}
/// The arrays, each broadcast to the shape of all: read-only views, as a tuple. Throws shape_error.
///     auto [a, b] = ca::broadcast_arrays(x, y);
template <array_expression... X>
auto broadcast_arrays(const X&... x) {
  shape s;
  ((s = detail::broadcast_shapes("broadcast_arrays", s, detail::dims_of(x))), ...);
  return ::std::tuple(broadcast_to(x, s)...);
}
/// Which of its axes an array runs along in `meshgrid`: `xy` changes the first two, as in plots; `ij` does not.
enum class indexing { xy, ij };
/// Coordinates along one axis each as arrays over all of them: read-only views, as a tuple. Throws shape_error for an
/// array of more than one axis.
///     auto [x, y] = ca::meshgrid(ca::linspace(0, 1, 3), ca::linspace(0, 1, 2));  // each (2, 3)
template <array_expression... X>
auto meshgrid(indexing order, const X&... x) {
  constexpr int n = int(sizeof...(X));
  static_assert(n <= max_rank, "cudarray: meshgrid of more arrays than an array has axes");
  const int64 extents[] = {detail::dims_of(x).elements()..., 0};
  const int ndims[] = {detail::dims_of(x).ndim()..., 0};
  for (int i = 0; i < n; ++i)
    if (ndims[i] > 1) detail::fail<shape_error>("meshgrid: array ", i, " has ", ndims[i], " axes");
  const auto axis_of = [order](int i) { return order == indexing::xy && n > 1 && i < 2 ? 1 - i : i; };
  shape full;
  for (int i = 0; i < n; ++i) full.push_back(extents[axis_of(i)]);
  int i = 0;
  const auto along = [&](const auto& a) {
    shape s;
    for (int d = 0; d < n; ++d) s.push_back(d == axis_of(i) ? extents[i] : 1);
    ++i;
    return broadcast_to(reshape(a, s), full);
  };
  return ::std::tuple<decltype(along(x))...>{along(x)...};
}
template <array_expression... X>
auto meshgrid(const X&... x) {
  return meshgrid(indexing::xy, x...);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

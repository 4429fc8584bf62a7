// Products of matrices and vectors: eager, through BLAS where there is one.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/precision.hpp"
#include "../eval/product.hpp"
#include "manipulation.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// No batch goes backwards, which cuBLAS does not take of all dtypes.
inline bool goes_forward(const layout& l) {
  bool forward = true;
  for (int d = 0; d < l.ndim() - 2; ++d) forward = forward && (l.stride[d] >= 0 || l.dims[d] <= 1);
  return forward;
}

/// Matrices that a BLAS can read where they lie: one of the last two steps is 1, the other long enough.
inline bool blas_readable(const layout& l) {
  const int r = l.ndim() - 2, c = l.ndim() - 1;
  const auto fits = [&](int unit, int other) {
    return (l.stride[unit] == 1 || l.dims[unit] <= 1) &&
           (l.stride[other] >= (l.dims[unit] > 1 ? l.dims[unit] : 1) || l.dims[other] <= 1);
  };
  return (fits(c, r) || fits(r, c)) && goes_forward(l);
}

/// Row and column steps as BLAS wants them: exactly one is 1, the other at least the extent it steps over.
inline void blas_steps(const layout& l, int64& row, int64& column) {
  const int r = l.ndim() - 2, c = l.ndim() - 1;
  const int64 rows = l.dims[r] > 1 ? l.dims[r] : 1, columns = l.dims[c] > 1 ? l.dims[c] : 1;
  row = l.stride[r], column = l.stride[c];
  const bool row_major = (column == 1 || columns == 1) && (row >= columns || rows == 1);
  if (row_major) {
    column = 1;
    if (rows == 1) row = columns;
  } else {
    row = 1;
    if (columns == 1) column = rows;
  }
}

/// Where a BLAS can write a product: contiguous rows, one below the other.
inline bool blas_writable(const layout& l) {
  const int r = l.ndim() - 2, c = l.ndim() - 1;
  return (l.stride[c] == 1 || l.dims[c] <= 1) && (l.stride[r] >= l.dims[c] || l.dims[r] <= 1) && goes_forward(l);
}

/// A batch of matrices by one matrix, the rows of which follow each other at one distance: one product of more rows.
inline void join_rows(product& p) {
  constexpr int64 most = (int64(1) << 31) - 1;  // of a BLAS
  if (p.batch == 1 || p.step[2] != 0 || p.column[1] != 1 || p.m * p.batch > most) return;
  int64 row[2];
  for (int i = 0; i < 2; ++i) {
    row[i] = p.m > 1 ? p.row[i] : p.step[i];
    const int64 columns = i == 0 ? p.n : p.k;  // a BLAS takes no rows that overlap, nor one over and over
    if (p.step[i] != p.m * row[i] || row[i] < columns || row[i] > most) return;
  }
  p.row[0] = row[0], p.row[1] = row[1];
  p.m *= p.batch;
  p.batch = 1;
}

/// c = a @ b where the shapes fit and c has elements. For floats c must be writable by a BLAS, and apart from a and b.
template <class T, class Device>
void multiply_into(ndarray<T, Device> c, ndarray<T, Device> a, ndarray<T, Device> b, epilogue* then = nullptr) {
  if constexpr (is_floating<T> || is_complex<T>) {
    if (a.shape(-1) == 0) {  // nothing is added up
      c(ellipsis) = T(0);
      return;
    }
    if (!blas_readable(a.where())) a = copy<ndarray<T, Device>>(a);
    if (!blas_readable(b.where())) b = copy<ndarray<T, Device>>(b);
    const int64 m = c.shape(-2), n = c.shape(-1), k = a.shape(-1);
    product p{m, n, k, 1, {c.storage().get(), a.node().store.get(), b.node().store.get()}, {}, {}, {1}, {}};
    p.row[0] = m > 1 ? c.stride(-2) : n;
    blas_steps(a.where(), p.row[1], p.column[1]);
    blas_steps(b.where(), p.row[2], p.column[2]);
    int64 extent[max_rank] = {}, stride[3][max_rank] = {};
    const layout* const where[3] = {&c.where(), &a.where(), &b.where()};
    const int batch = c.ndim() - 2;
    for (int i = 0; i < 3; ++i) p.offset[i] = where[i]->offset;
    for (int d = 0; d < batch; ++d) {
      extent[d] = c.shape()[d];
      for (int i = 0; i < 3; ++i) {
        const int own = d - (batch - (where[i]->ndim() - 2));
        stride[i][d] = own < 0 || where[i]->dims[own] == 1 ? 0 : where[i]->stride[own];
      }
    }
    int axes_left = simplify_axes(extent, stride, 3, 0, batch, true);
    if (axes_left > 0) {
      p.batch = extent[--axes_left];
      for (int i = 0; i < 3; ++i) p.step[i] = stride[i][axes_left];
    }
    join_rows(p);
    if (then != nullptr && axes_left == 0 && p.batch == 1) then->done = multiply_with_epilogue<T>(a.device(), p, *then);
    int64 index[max_rank] = {};
    for (bool more = then == nullptr || !then->done; more;) {
      multiply_matrices<T>(a.device(), p);
      more = false;
      for (int d = axes_left - 1; d >= 0 && !more; --d) {
        more = ++index[d] < extent[d];
        for (int i = 0; i < 3; ++i) p.offset[i] += stride[i][d] - (more ? 0 : extent[d] * stride[i][d]);
        if (!more) index[d] = 0;
      }
    }
    count_write(*c.storage());
  } else {
    // integers: no BLAS has them; one fused kernel of products and sums
    const auto rows = expand_dims(a, -2), columns = expand_dims(swapaxes(b, -1, -2), -3);
    if constexpr (::std::is_same_v<T, bool>) c(ellipsis) = any(rows & columns, -1);
    else c(ellipsis) = sum(rows * columns, -1);
  }
}

/// The product as a new array, or in `out`: by way of a new one where out cannot be written while a and b are read.
template <class T, class Device>
ndarray<T, Device> multiply(const char* function, ndarray<T, Device> a, ndarray<T, Device> b,
                            const ndarray<T, Device>* out = nullptr, epilogue* then = nullptr) {
  if (a.ndim() == 0 || b.ndim() == 0)
    fail<shape_error>(function, ": shapes ", a.shape(), " and ", b.shape(), ": a 0-d operand (write a * b)");
  const bool vector_a = a.ndim() == 1, vector_b = b.ndim() == 1;
  const shape given_a = a.shape(), given_b = b.shape();
  if (vector_a) a = expand_dims(a, 0);
  if (vector_b) b = expand_dims(b, 1);
  const int64 m = a.shape(-2), k = a.shape(-1), n = b.shape(-1);
  if (b.shape(-2) != k)
    fail<shape_error>(function, ": shapes ", given_a, " and ", given_b, " do not fit: ", k, " columns, ", b.shape(-2),
                      " rows");
  shape batch_a(a.shape().begin(), a.ndim() - 2), batch_b(b.shape().begin(), b.ndim() - 2);
  shape full = broadcast_shapes(function, batch_a, batch_b), result = full;
  full.push_back(m);
  full.push_back(n);
  if (!vector_a) result.push_back(m);
  if (!vector_b) result.push_back(n);
  const Device device = common_device(function, a, b);
  ndarray<T, Device> c;
  bool in_place = false;
  if (out != nullptr) {
    if (out->shape() != result)
      fail<shape_error>(function, ": the result has shape ", result, ", out has ", out->shape());
    (void)common_device(function, *out, a, b);
    check_writable(*out->node().store, out->where());
    c = *out;
    if (vector_b) c = expand_dims(c, -1);
    if (vector_a) c = expand_dims(c, -2);
    // integers are assigned, which sees to overlaps
    const auto apart = [&](const auto& x) { return !overlaps(c.storage().get(), c.where(), x.node(), false); };
    constexpr bool assigned = !is_floating<T> && !is_complex<T>;
    in_place = assigned || (blas_writable(c.where()) && apart(a) && apart(b));
  }
  if (!in_place) c = ndarray<T, Device>(new_leaf<T>(device, full));
  if (full.elements() > 0) multiply_into(c, a, b, then);
  if (vector_a) c = squeeze(c, -2);
  if (vector_b) c = squeeze(c, -1);
  if (out != nullptr && !in_place) {
    const auto to = out->node();
    assign<T, Device>(to.store, to.where, c.node());
  }
  return c;
}

template <class X, class Y>
using product_type = result_type_t<value_type_t<X>, value_type_t<Y>>;

template <class X, class Y>
auto checked_multiply(const char* function, const X& x, const Y& y) {
  constexpr bool one_device = on_one_device<X, Y>();
  static_assert(one_device,
                "cudarray: the operands are on two devices: move one with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
  if constexpr (!one_device) {
    return poison{};
  } else {
    using T = product_type<X, Y>;
    using A = ndarray<T, device_type_t<X>>;
    return static_cast<const A>(multiply(function, A(x), A(y)));
  }
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The matrix product, NumPy's `@`: (m, k) by (k, n); 1-d operands are rows or columns and lose that axis again;
/// leading axes are batches and broadcast. Eager; operands are evaluated, transposed views are read where they lie.
/// float32 products are IEEE float32. Throws shape_error.
///     ca::matmul(x, w.t())
template <array_expression X, array_expression Y>
auto matmul(const X& x, const Y& y) {
  return detail::checked_multiply("matmul", x, y);
}
/// With `ca::out(c)` last, into c, which has the product's shape and dtype; by way of a temporary where c overlaps an
/// operand or its rows are not contiguous.
template <array_expression X, array_expression Y, class T, class D>
const ndarray<T, D> matmul(const X& x, const Y& y, const out_argument<T, D>& o) {
  constexpr bool one_device = detail::on_one_device<X, Y, ndarray<T, D>>();
  static_assert(one_device,
                "cudarray: the operands are on two devices: move one with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
  if constexpr (one_device) {
    constexpr bool fits = ::std::is_same_v<detail::product_type<X, Y>, T>;
    static_assert(fits, "cudarray: out is not of the product's dtype: convert an operand with ca::astype<T>(x)");
    if constexpr (fits) detail::multiply("matmul", ndarray<T, D>(x), ndarray<T, D>(y), &o.array);
  }
  return o.array;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {
/// For 3-d operands NumPy's dot and inner are other functions than matmul.
template <class X, class Y>
void check_two_axes(const char* function, const X& x, const Y& y) {
  const shape a = as_operand<float>(function, x).dims(), b = as_operand<float>(function, y).dims();
  if (a.ndim() > 2 || b.ndim() > 2)
    fail<shape_error>(function, ": shapes ", a, " and ", b, ": at most 2 axes each; ca::matmul takes batches");
}
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// NumPy's dot for 1-d and 2-d operands, where it is matmul. Eager. Throws shape_error.
template <array_expression X, array_expression Y>
auto dot(const X& x, const Y& y) {
  detail::check_two_axes("dot", x, y);
  return detail::checked_multiply("dot", x, y);
}
/// The sum of products along the last axis of both: x @ y.t() for matrices. Eager. Throws shape_error.
template <array_expression X, array_expression Y>
auto inner(const X& x, const Y& y) {
  detail::check_two_axes("inner", x, y);
  return detail::checked_multiply("inner", x, detail::as_array(y).t());
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

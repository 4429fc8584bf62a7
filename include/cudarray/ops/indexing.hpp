// Selecting by index arrays and masks: take, nonzero, and the selection that `a(mask)` and `a(index)` return.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "../eval/scatter.hpp"
#include "../eval/segments.hpp"
#include "manipulation.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// An index operand as int64, evaluated unless it is a node already of that type.
template <class Ix>
auto index_node(const char* function, const Ix& i) {
  constexpr bool integers = is_integer<value_type_t<Ix>>;
  static_assert(integers, "cudarray: the indices to take must be of an integer dtype");
  return cast_node<int64>(as_operand<int64>(function, i));
}

/// Throws index_error for the first index, in C order, that is out of range.
template <class Device>
CUDARRAY_COLD void fail_index(const char* function, const ndarray<int64, Device>& index, int64 limit, int axis) {
  const ndarray<int64, Device> dense = index.copy();
  const leaf<int64, cpu> all = host_block(dense);
  const int64* k = static_cast<const int64*>(all.store->data);
  while (index_fits(*k, limit)) ++k;
  fail<index_error>(function, ": index ", *k, " is out of bounds for axis ", axis, " with size ", limit);
}

/// On devices whose work is done when a call returns, a wrong index is found before anything is written.
template <class D>
void check_indices(const char* function, const leaf<int64, D>& index, int64 limit, int axis) {
  if constexpr (D::synchronous) {
    if (index.dims().elements() == 0) return;
    const int64 low = make_reduce<op::min_op>(function, index, axes::all(), false).item();
    const int64 high = make_reduce<op::max_op>(function, index, axes::all(), false).item();
    if (low < -limit || high >= limit) fail_index(function, ndarray<int64, D>(index), limit, axis);
  }
}

inline shape selected_shape(const shape& from, int axis, const shape& index) {
  shape s;
  for (int d = 0; d < axis; ++d) s.push_back(from[d]);
  for (int64 n : index) s.push_back(n);
  for (int d = axis + 1; d < from.ndim(); ++d) s.push_back(from[d]);
  return s;
}

template <class T, class D, class Ix>
gather<T, D, Ix> make_gather(const leaf<T, D>& source, const Ix& index, int axis, const char* function = "take") {
  return {{}, source, index, axis, selected_shape(source.where.dims, axis, index.dims()), function};
}

/// Along an axis, by an index that has the source's number of axes. Throws shape_error.
template <class T, class D, class Ix>
gather<T, D, Ix> make_gather_along(const char* function, const leaf<T, D>& source, const Ix& index, int axis) {
  const shape &from = source.where.dims, &at = index.dims();
  if (at.ndim() != from.ndim())
    fail<shape_error>(function, ": indices of shape ", at, " for an array of shape ", from,
                      ": they must have as many axes (ca::expand_dims adds one)");
  shape around = from, picked = at;
  around[axis] = picked[axis] = 1;
  shape dims = broadcast_shapes(function, around, picked);
  dims[axis] = at[axis];
  return {{}, source, index, axis, dims, function, true};
}

/// Where an expression is not 0: contiguous; a mask that is so already is handed back.
template <class X>
ndarray<bool, device_type_t<X>> mask_array(const char* function, const X& x) {
  using M = ndarray<bool, device_type_t<X>>;
  if constexpr (::std::is_same_v<X, M>) {
    if (x.storage().get()) return ascontiguousarray<bool, device_type_t<X>>(x);
  }
  return M(materialise(cast_node<bool>(as_operand<bool>(function, x))));
}

/// A contiguous array as one segment.
template <class T, class Device>
segments one_segment(const ndarray<T, Device>& a) {
  return {a.storage().get(), a.where().offset, 1, a.size(), 1};
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The elements of `a` that `index` picks along an axis; the axis is replaced by the axes of the index. Lazy. Negative
/// indices count from the end. Throws index_error: on CUDA at the next synchronising call, the element reads as 0.
///     ca::take(table, labels, 0)  // (rows, n), (b,) -> (b, n)
template <array_expression X, array_expression Ix>
auto take(const X& x, const Ix& index, detail::any_integer axis = 0) {
  const auto a = detail::as_array(x);
  const int at = detail::normal_axis("take", axis, a.ndim());
  return detail::make_gather(a.node(), detail::index_node("take", index), at);
}

/// One element of each line along an axis for each index: of each row x(i) of (rows, n), with indices (rows, k), the
/// elements x(i, index(i, j)) -> (rows, k). The other axes broadcast. Lazy. Negative indices count from the end. Throws
/// shape_error where the numbers of axes differ; index_error: on CUDA at the next synchronising call, the element reads
/// as 0.
///     ca::take_along_axis(x, ca::expand_dims(labels, -1), -1)  // (rows, n), (rows,) -> (rows, 1)
template <array_expression X, array_expression Ix>
auto take_along_axis(const X& x, const Ix& index, detail::any_integer axis = -1) {
  constexpr const char* function = "take_along_axis";
  const auto a = detail::as_array(x);
  const int at = detail::normal_axis(function, axis, a.ndim());
  return detail::make_gather_along(function, a.node(), detail::index_node(function, index), at);
}

/// The positions, in C order, of the elements that are not 0. Eager; waits for the device.
template <array_expression X>
const ndarray<int64, device_type_t<X>> flatnonzero(const X& x) {
  using D = device_type_t<X>;
  const ndarray<bool, D> mask = detail::mask_array("flatnonzero", x);
  int64 count = 0;
  auto store = flat_nonzero(mask.device(), detail::one_segment(mask), count);
  return ndarray<int64, D>(detail::leaf<int64, D>(::std::move(store), shape(count)));
}

/// One array of indices per axis, of the elements that are not 0. Eager; waits for the device.
template <array_expression X>
::std::vector<ndarray<int64, device_type_t<X>>> nonzero(const X& x) {
  const auto flat = flatnonzero<X>(x);
  const shape s = detail::as_operand<bool>("nonzero", x).dims();
  ::std::vector<ndarray<int64, device_type_t<X>>> r;
  int64 below = s.elements();
  for (int64 n : s) {
    const int64 extent = n > 0 ? n : 1;
    below /= extent;
    r.emplace_back(floor_divide(flat, below) % extent);
  }
  return r;
}

/// What `a(mask)` or `a(index)` stands for. It reads as an expression and can be assigned; it cannot be stored.
///     a(a > 6) = 0.0f;
///     ca::ndarray<float> b = a(ca::array<int>({2, 0}));  // rows 2 and 0
template <class T, class Device>
class selection {
 public:
  using value_type = T;
  using device_type = Device;

  /// Throws index_error where a mask's shape is not that of the leading axes.
  template <array_expression Ix>
  selection(const ndarray<T, Device>& a, const Ix& i) : array_(a) {
    using V = value_type_t<Ix>;
    constexpr bool index_dtype = detail::is_integer<V> || ::std::is_same_v<V, bool>;
    static_assert(index_dtype, "cudarray: an index array must be of an integer dtype, or bool for a mask");
    if constexpr (::std::is_same_v<V, bool>) {
      mask_ = i;
      masked_ = true;
      const cudarray::shape& m = mask_.shape();
      bool fits = m.ndim() <= a.ndim();
      for (int d = 0; fits && d < m.ndim(); ++d) fits = m[d] == a.shape()[d];
      if (!fits) detail::fail<index_error>("index: a mask of shape ", m, " for an array of shape ", a.shape());
    } else if constexpr (detail::is_integer<V>) {
      if (a.ndim() == 0) detail::fail<index_error>("index: an index array for an array of 0 axes");
      index_ = astype<int64>(i);
    }
  }
  selection(const selection&) = delete;
  /// `a(i) = a(j)`: reads, then writes.
  void operator=(const selection& v) && { write(picks(), v); }

  template <class V>
  requires(array_expression<V> || scalar_value<V>) void operator=(const V& v) && {
    if constexpr (scalar_value<V>) {
      if (masked_) return choose(detail::fit_scalar<T>("assignment", v));
    }
    write(picks(), v);
  }
#define CUDARRAY_SELECTION_UPDATE(sign, name)                                                                       \
  template <class V>                                                                                                \
  void operator sign##=(const V& v)&& {                                                                             \
    if constexpr (scalar_value<V>) {                                                                                \
      if (masked_) return choose(detail::elementwise(#sign "=", op::name##_op{}, array_, v));                       \
    }                                                                                                               \
    const picked p = picks();                                                                                       \
    if (masked_) return write(p, detail::elementwise(#sign "=", op::name##_op{}, node(), v));                       \
    write(p, detail::elementwise(#sign "=", op::name##_op{}, detail::make_gather(p.from, p.index, 0, "index"), v)); \
  }
  CUDARRAY_SELECTION_UPDATE(+, add)
  CUDARRAY_SELECTION_UPDATE(-, subtract)
  CUDARRAY_SELECTION_UPDATE(*, multiply)
  CUDARRAY_SELECTION_UPDATE(/, divide)
#undef CUDARRAY_SELECTION_UPDATE

  /// The selected elements, gathered into a new array.
  detail::leaf<T, Device> node() const {
    if (masked_ && mask_.ndim() == array_.ndim() && array_.storage().get()) {
      const ndarray<T, Device> from = detail::plain_elements(array_);
      const ndarray<bool, Device> mask = detail::mask_array("index", mask_);
      (void)detail::common_device("index", from, mask);
      int64 count = 0;
      auto store = select_flagged<T>(array_.device(), detail::one_segment(from), detail::one_segment(mask), count);
      const uint64 stamp = detail::write_count(*store);
      return {::std::move(store), cudarray::shape(count), stamp};
    }
    const auto [from, index] = picks();
    return detail::materialise(detail::make_gather(from, index, 0));
  }
  cudarray::shape shape() const {
    const auto [from, index] = picks();
    return detail::selected_shape(from.where.dims, 0, index.where.dims);
  }

 private:
  struct picked {
    detail::leaf<T, Device> from;
    detail::leaf<int64, Device> index;
  };
  /// The array with the masked axes made one, and the positions along it; an index array as it is.
  picked picks() const {
    if (!masked_) return {array_.node(), index_.node()};
    cudarray::shape s{mask_.size()};
    for (int d = mask_.ndim(); d < array_.ndim(); ++d) s.push_back(array_.shape()[d]);
    return {reshape<ndarray<T, Device>>(array_, s).node(), flatnonzero<ndarray<bool, Device>>(mask_).node()};
  }
  /// The array where the mask does not hold, a broadcast value where it does: no positions are needed.
  template <class V>
  void choose(const V& v) {
    layout l = mask_.where();
    while (l.ndim() < array_.ndim()) {
      l.stride[l.ndim()] = 0;
      l.dims.push_back(1);
    }
    const auto unchanged = array_.node();
    const auto value = [&] {
      if constexpr (detail::is_scalar_node<V>) return v;
      else return detail::cast_node<T>(v);
    }();
    detail::assign<T, Device>(
        array_.storage(), array_.where(),
        detail::elementwise("where", op::where_op{}, detail::view(mask_, l).node(), value, unchanged));
  }
  template <class V>
  void write(const picked& p, const V& v) {
    constexpr bool gradient = detail::loses_no_gradient<V>;
    static_assert(gradient,
                  "cudarray: a function of variables would lose its gradient here: write ca::variable y = x, or use "
                  "ca::stop_gradient(x)");
    const auto& given = detail::as_operand<T>("assignment", v);
    const auto& from = p.from;
    const auto& index = p.index;
    detail::check_writable(*array_.storage(), array_.where());
    const cudarray::shape selected = detail::selected_shape(from.where.dims, 0, index.where.dims);
    if (detail::broadcast_shapes("assignment", selected, given.dims()) != selected)
      detail::fail<shape_error>("assignment: shape ", given.dims(), " does not broadcast to ", selected);
    detail::check_indices<Device>("index", index, from.where.dims[0], 0);
    const auto put = [&](const auto& value) {
      detail::scatter<T, Device>(from.store, from.where, 0, index, value, selected);
    };
    using N = ::std::remove_cvref_t<decltype(given)>;
    if constexpr (detail::is_scalar_node<N>) {
      put(given);
    } else {
      // an array in C order, which has nothing of what is written, is read as it stands; all else is evaluated first
      bool in_place = false;
      if constexpr (::std::is_same_v<N, detail::leaf<detail::node_value_t<N>, Device>>) {
        in_place = given.where.dims == selected && detail::is_c_contiguous(given.where) &&
                   !detail::overlaps(from.store.get(), from.where, given, false);
        if (in_place) put(given);
      }
      if (!in_place) put(detail::materialise(given));
    }
    // a masked view that could not be flattened was a copy: bring it back
    if (from.store.get() != array_.storage().get())
      detail::assign<T, Device>(array_.storage(), array_.where(),
                                reshape<ndarray<T, Device>>(
                                    ndarray<T, Device>(detail::leaf<T, Device>(from.store, from.where)), array_.shape())
                                    .node());
  }

  ndarray<T, Device> array_;
  ndarray<bool, Device> mask_;
  ndarray<int64, Device> index_;
  bool masked_ = false;
};

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

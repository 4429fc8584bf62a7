// NumPy's advanced indexing: what integers, slices, masks and index arrays side by side pick.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "creation.hpp"
#include "indexing.hpp"

namespace cudarray::inline v0::op::inline CUDARRAY_BUILD {

/// A place so far, and what an index along one more axis adds to it: its steps. An index out of range is recorded, and
/// no place.
struct add_steps_op {
  static constexpr bool lanes = false, may_fault = true;
  template <class X, class Y>
  using types = rule::uniform<int64, int64, true>;
  int64 limit, step, first;  ///< an index i, of 0 to limit - 1, is at first + i * step
  int axis;
  detail::fault_site fault;
  add_steps_op reporting_to(const detail::fault_sink& faults) const {
    return {limit, step, first, axis, {faults, "index", axis}};
  }
  template <class L>
  CUDARRAY_HD L operator()(L place, L i) const {
    if (!detail::resolve_index(i, limit, fault, 0)) return INT64_MIN / 2;
    return place + first + i * step;
  }
};

}  // namespace cudarray::inline v0::op::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// One item of an index that has arrays in it: what basic indexing has, integers, or a mask.
template <class Device>
struct advanced_item {
  index_item basic = _;
  ndarray<int64, Device> index;
  ndarray<bool, Device> mask;
  bool is_index = false, is_mask = false;

  template <class Ix>
  explicit advanced_item(const Ix& i) {
    if constexpr (!array_expression<Ix>) {
      basic = index_item(i);
    } else if constexpr (is_integer<value_type_t<Ix>>) {
      index = astype<int64>(i);
      is_index = true;
    } else if constexpr (::std::is_same_v<value_type_t<Ix>, bool>) {
      mask = i;
      is_mask = true;
    }
  }
  advanced_item(const index_item& axis, const ndarray<int64, Device>& i) : basic(axis), index(i), is_index(true) {}
  bool is_integer_or_slice() const {
    return !is_mask && (basic.is == index_item::what::integer || basic.is == index_item::what::slice_);
  }
  bool is_newaxis() const { return !is_mask && basic.is == index_item::what::newaxis_; }
  bool is_ellipsis() const { return !is_mask && basic.is == index_item::what::ellipsis_; }
};

/// Throws index_error where a mask's shape is not that of the axes of an array from one on; as NumPy has it, an axis of
/// extent 0 fits any.
inline void check_mask(const shape& mask, const shape& of, int axis) {
  bool fits = axis + mask.ndim() <= of.ndim();
  for (int d = 0; fits && d < mask.ndim(); ++d) fits = mask[d] == of[axis + d] || mask[d] == 0;
  if (fits) return;
  if (axis == 0) fail<index_error>("index: a mask of shape ", mask, " for an array of shape ", of);
  fail<index_error>("index: a mask of shape ", mask, " for an array of shape ", of, ", from axis ", axis, " on");
}

/// An index without masks: each is the indices of what is true in it, one array for each of its axes, and of a mask
/// without axes along a new axis. Reading a mask waits for the device. Throws index_error where one does not fit.
template <class Device>
::std::vector<advanced_item<Device>> without_masks(const shape& of, const ::std::vector<advanced_item<Device>>& items) {
  int rest = of.ndim(), axis = 0;  // the axes that an ellipsis stands for
  for (const auto& i : items) rest -= i.is_mask ? i.mask.ndim() : i.is_integer_or_slice();
  ::std::vector<advanced_item<Device>> r;
  for (const auto& i : items) {
    if (!i.is_mask) {
      r.push_back(i);
      axis += i.is_ellipsis() && rest > 0 ? rest : i.is_integer_or_slice();
      continue;
    }
    check_mask(i.mask.shape(), of, axis);
    if (i.mask.ndim() == 0) r.emplace_back(newaxis, flatnonzero(i.mask));
    else
      for (const auto& along : nonzero(i.mask)) r.emplace_back(_, along);
    axis += i.mask.ndim();
  }
  return r;
}

/// The elements that an index picks: of the axis `axis` of a layout those at `place`, whose axes stand in its stead.
template <class Device>
struct picked_elements {
  layout from;
  int axis;
  ndarray<int64, Device> place;
};

/// Where the arrays of an index stand.
template <class Device>
struct indexed_axes {
  struct one {
    const ndarray<int64, Device>* index;
    int axis;  ///< of the array
    int64 extent, stride;
  };
  ::std::vector<one> arrays;
  layout rest;     ///< what basic indexing leaves of the other axes
  int result = 0;  ///< where among these the axes of the arrays go

  /// NumPy has them where the first of the arrays was, or, where a slice, `_` or newaxis stands between two, first of
  /// all; integers count among them.
  indexed_axes(const layout& l, const ::std::vector<advanced_item<Device>>& items) {
    using what = index_item::what;
    ::std::vector<index_item> basic;
    layout others = l;  // of extent 1 where an array stands, and 0 is its index
    int skipped = l.ndim(), runs = 0, kept = 0, axis = 0;
    for (const auto& i : items) skipped -= i.is_integer_or_slice();
    bool in_run = false;
    for (const auto& i : items) {
      const bool counts = i.is_index || i.basic.is == what::integer;
      if (counts && !in_run && runs++ == 0) result = kept;
      in_run = counts;
      if (!i.is_index) {
        basic.push_back(i.basic);
        const int many = !i.is_ellipsis() ? i.basic.is != what::newaxis_ : skipped > 0 ? skipped : 0;
        kept += i.basic.is == what::newaxis_ ? 1 : i.basic.is == what::integer ? 0 : many;
        axis += many;
      } else if (i.is_newaxis()) {
        arrays.push_back({&i.index, axis, 1, 0});
      } else {
        if (axis < l.ndim()) arrays.push_back({&i.index, axis, l.dims[axis], l.stride[axis]}), others.dims[axis] = 1;
        basic.push_back(0);
        ++axis;
      }
    }
    rest = index_layout(skipped < 0 ? l : others, basic.data(), int(basic.size()));  // where it throws, of l
    if (runs > 1) result = 0;
  }
};

/// The axes that arrays index as one, from `offset` on: its extent and stride, and the places along it.
template <class Device>
struct joined_axis {
  int64 extent = 1, stride = 1, offset;
  ndarray<int64, Device> place;

  explicit joined_axis(const indexed_axes<Device>& index) : offset(index.rest.offset) {
    const bool alone = index.arrays.size() == 1;
    if (alone) stride = index.arrays[0].stride;
    place = full<int64>(shape{}, 0, index.arrays[0].index->device());
    for (const auto& a : index.arrays) {
      const int64 last = a.extent > 0 ? a.extent - 1 : 0, step = alone ? 1 : a.stride;
      const int64 first = step < 0 ? -step * last : 0;  // places are counted from the lowest address on
      offset -= first;
      extent += step < 0 ? first : step * last;
      place = elementwise("index", op::add_steps_op{a.extent, step, first, a.axis, {}}, place, *a.index);
    }
  }
};

/// What an index without masks picks. Throws index_error, shape_error; for an index out of range on CUDA at the next
/// synchronising call.
template <class Device>
picked_elements<Device> pick_elements(const layout& l, const ::std::vector<advanced_item<Device>>& items) {
  const indexed_axes<Device> index(l, items);
  const joined_axis<Device> joined(index);
  picked_elements<Device> r{{}, index.result, joined.place};
  r.from.offset = joined.offset;
  r.from.read_only = l.read_only;
  const auto keep = [&](int64 extent, int64 stride) {
    r.from.dims.push_back(extent);
    r.from.stride[r.from.ndim() - 1] = stride;
  };
  for (int d = 0; d <= index.rest.ndim(); ++d) {
    if (d == index.result) keep(joined.extent, joined.stride);
    if (d < index.rest.ndim()) keep(index.rest.dims[d], index.rest.stride[d]);
  }
  return r;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD

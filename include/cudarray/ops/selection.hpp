// What an index with masks or index arrays stands for: it reads by gathering and can be assigned.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/scatter.hpp"
#include "advanced_index.hpp"

namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// What `a(mask)`, `a(index)` or a mixed index like `a(mask, 0)`, `a(i, j)`, `a(_, index)` stands for, with NumPy's
/// rules of where the axes of the index go. It reads as an expression and can be assigned; it cannot be stored. Of
/// elements that are picked twice one of the values is kept.
///     a(a > 6) = 0.0f;
///     ca::ndarray<float> b = a(ca::array<int>({2, 0}));  // rows 2 and 0
///     ca::ndarray<float> c = a(rows, columns);           // one element for each pair
template <class T, class Device>
class selection : public lazy<selection<T, Device>> {
 public:
  using value_type = T;
  using device_type = Device;

  /// Throws index_error where a mask's shape is not that of its axes, where there are more indices than axes, and, of a
  /// mixed index on devices that are synchronous, for an index out of range.
  template <class... Ix>
  explicit selection(const ndarray<T, Device>& a, const Ix&... i) : array_(a) {
    constexpr bool index_dtypes = ((!array_expression<Ix> || is_index_dtype<Ix>)&&...);
    static_assert(index_dtypes, "cudarray: an index array must be of an integer dtype, or bool for a mask");
    constexpr bool here = (detail::on_device<Ix, Device> && ...);
    static_assert(here,
                  "cudarray: the array is on another device: copy it with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
    if constexpr (index_dtypes && here)
      pick(::std::vector<detail::advanced_item<Device>>{detail::advanced_item<Device>(i)...});
  }
  /// An index whose items are known when the program runs.
  selection(const ndarray<T, Device>& a, const ::std::vector<detail::advanced_item<Device>>& items) : array_(a) {
    pick(items);
  }
  selection(const selection&) = delete;
  /// Lists of arrays may have some: `ca::concatenate(std::tuple(a, a(mask)))`.
  selection(selection&&) = default;
  /// `a(i) = a(j)`: reads, then writes.
  void operator=(const selection& v) && { write(picks(), v); }

  template <class V>
  requires(array_expression<V> || scalar_value<V>) void operator=(const V& v) && {
    constexpr bool whole = detail::holds_scalar<T, V>;
    static_assert(whole, "cudarray: a complex number for a real dtype: write its real part");
    if constexpr (whole) {
      if constexpr (scalar_value<V>) {
        if (masked_) return choose(detail::fit_scalar<T>("assignment", v));
      }
      write(picks(), v);
    }
  }
#define CUDARRAY_SELECTION_UPDATE(sign, name)                                                                         \
  template <class V>                                                                                                  \
  void operator sign##=(const V& v)&& {                                                                               \
    if constexpr (scalar_value<V>) {                                                                                  \
      if (masked_) return choose(detail::elementwise(#sign "=", op::name##_op{}, array_, v));                         \
    }                                                                                                                 \
    const picked p = picks();                                                                                         \
    if (masked_) return write(p, detail::elementwise(#sign "=", op::name##_op{}, node(), v));                         \
    write(p,                                                                                                          \
          detail::elementwise(#sign "=", op::name##_op{}, detail::make_gather(p.from, p.place, p.axis, "index"), v)); \
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
    const picked p = picks();
    return detail::materialise(detail::make_gather(p.from, p.place, p.axis, "index"));
  }
  cudarray::shape dims() const {
    const picked p = picks();
    return detail::selected_shape(p.from.where.dims, p.axis, p.place.where.dims);
  }

 private:
  template <class Ix>
  static constexpr bool is_index_dtype = [] {
    if constexpr (array_expression<Ix>)
      return detail::is_integer<value_type_t<Ix>> || ::std::is_same_v<value_type_t<Ix>, bool>;
    else return true;
  }();
  struct picked {
    detail::leaf<T, Device> from;
    detail::leaf<int64, Device> place;
    int axis;
    bool checked;  ///< the places are known to be in range
  };

  /// A mask alone, if it is not empty, and integers alone along axis 0 are kept as they are: there are shorter ways for
  /// them.
  void pick(const ::std::vector<detail::advanced_item<Device>>& items) {
    const auto& first = items[0];
    if (items.size() == 1 && first.is_mask && first.mask.size() > 0) {
      detail::check_mask(first.mask.shape(), array_.shape(), 0);
      mask_ = first.mask;
      masked_ = true;
    } else if (items.size() == 1 && first.is_index && array_.ndim() > 0) {
      picked_ = {array_.where(), 0, first.index};
    } else {
      picked_ = detail::pick_elements(array_.where(), detail::without_masks(array_.shape(), items));
      checked_ = true;
    }
  }
  picked picks() const {
    const auto of = [&](const detail::picked_elements<Device>& p, bool checked) {
      auto from = array_.node();
      from.where = p.from;
      return picked{::std::move(from), p.place.node(), p.axis, checked};
    };
    if (!masked_) return of(picked_, checked_);
    // the masked axes as one, where strides can say it
    cudarray::shape s{mask_.size()};
    for (int d = mask_.ndim(); d < array_.ndim(); ++d) s.push_back(array_.shape()[d]);
    detail::picked_elements<Device> p{{}, 0, {}};
    if (detail::reshape_layout(array_.where(), s, p.from)) {
      p.place = flatnonzero(mask_);
      return of(p, true);
    }
    const ::std::vector<detail::advanced_item<Device>> mask{detail::advanced_item<Device>(mask_)};
    return of(detail::pick_elements(array_.where(), detail::without_masks(array_.shape(), mask)), true);
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
    detail::check_writable(*p.from.store, array_.where());
    const cudarray::shape selected = detail::selected_shape(p.from.where.dims, p.axis, p.place.where.dims);
    using N = ::std::remove_cvref_t<decltype(given)>;
    if constexpr (detail::is_scalar_node<N>) {
      put(p, given, selected);
    } else {
      const cudarray::shape fitted = detail::without_leading_axes(given.dims(), selected.ndim());
      if (fitted != selected && detail::broadcast_shapes("assignment", selected, fitted) != selected)
        detail::fail<shape_error>("assignment: shape ", given.dims(), " does not broadcast to ", selected);
      // an array in C order, which has nothing of what is written, is read as it stands; all else is evaluated first
      if constexpr (::std::is_same_v<N, detail::leaf<detail::node_value_t<N>, Device>>) {
        if (given.where.dims == selected && detail::is_c_contiguous(given.where) &&
            !detail::overlaps(p.from.store.get(), p.from.where, given, false))
          return put(p, given, selected);
      }
      detail::leaf<detail::node_value_t<N>, Device> value = detail::materialise(given);
      if (value.where.ndim() > fitted.ndim()) value.where = detail::c_layout(fitted);
      put(p, value, selected);
    }
  }
  template <class N>
  void put(const picked& p, const N& value, const cudarray::shape& selected) {
    if (!p.checked) detail::check_indices<Device>("index", p.place, p.from.where.dims[p.axis], p.axis);
    detail::scatter<T, Device>(p.from.store, p.from.where, p.axis, p.place, value, selected);
  }

  ndarray<T, Device> array_;
  ndarray<bool, Device> mask_;
  detail::picked_elements<Device> picked_;
  bool masked_ = false, checked_ = false;
};

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

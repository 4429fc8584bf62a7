// Views in and out of mdspan, the standard's or another library's.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "creation.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class M>
concept mdspan_like = requires(const M& m) {
  m.data_handle();
  m.extent(0);
  m.stride(0);
  M::rank();
  typename M::extents_type;
  typename M::mapping_type;
  // its elements are numbers in memory, no more
  requires ::std::is_same_v<typename M::reference, typename M::element_type&>;
  requires ::std::is_same_v<typename M::data_handle_type, typename M::element_type*>;
};

/// Whether an index of that type is the number.
template <class Index>
constexpr bool holds_index(int64 v) {
  return v >= 0 && static_cast<int64>(static_cast<Index>(v)) == v && static_cast<Index>(v) >= Index(0);
}

/// Throws shape_error where the extents differ from those that the type has.
template <class Extents>
Extents extents_for(const shape& s) {
  constexpr int rank = int(Extents::rank());
  if (s.ndim() != rank)
    fail<shape_error>("to_mdspan: an array of shape ", s, " for an mdspan of ", rank, rank == 1 ? " axis" : " axes");
  ::std::array<typename Extents::index_type, ::std::size_t(rank)> of{};
  for (int d = 0; d < rank; ++d) {
    const auto fixed = Extents::static_extent(::std::size_t(d));
    if (fixed != static_cast<decltype(fixed)>(-1) && int64(fixed) != s[d])
      fail<shape_error>("to_mdspan: an array of shape ", s, ", whose axis ", d, " the mdspan fixes as ", int64(fixed));
    if (!holds_index<typename Extents::index_type>(s[d]))
      fail<shape_error>("to_mdspan: the mdspan's index holds no extent ", s[d]);
    of[::std::size_t(d)] = static_cast<typename Extents::index_type>(s[d]);
  }
  return Extents(of);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// An array's elements as an mdspan of type M, std::mdspan or another of its members, with layout_stride, or one that
/// the array has (layout_right: C order). It is a view: keep the array. Throws shape_error; value_error for another
/// layout for strides that are negative, and for a read-only array
/// where M's elements are not const.
///     auto m = ca::to_mdspan<std::mdspan<float, std::dextents<int, 2>, std::layout_stride>>(x);
template <class M, class T, class Device>
M to_mdspan(const ndarray<T, Device>& x) {
  constexpr bool is = detail::mdspan_like<M>;
  static_assert(is, "cudarray: to_mdspan<M>(x) makes an M as std::mdspan is one");
  constexpr bool same = ::std::is_same_v<::std::remove_const_t<typename M::element_type>, T>;
  static_assert(same, "cudarray: the mdspan's elements have another dtype");
  const auto leaf = x.node();
  if constexpr (!::std::is_const_v<typename M::element_type>)
    if (leaf.store->read_only || leaf.where.read_only)
      detail::fail<value_error>("to_mdspan: the array is read-only: ask for const elements");
  using extents = typename M::extents_type;
  using mapping = typename M::mapping_type;
  using strides = ::std::array<typename extents::index_type, ::std::size_t(extents::rank())>;
  const auto e = detail::extents_for<extents>(x.shape());
  if constexpr (::std::is_constructible_v<mapping, extents, strides>) {
    strides of{};
    for (int d = 0; d < x.ndim(); ++d) {
      if (!detail::holds_index<typename extents::index_type>(leaf.where.stride[d]))
        detail::fail<value_error>("to_mdspan: the stride ", leaf.where.stride[d], " of axis ", d,
                                  " is negative, or the mdspan's index does not hold it");
      of[::std::size_t(d)] = static_cast<typename extents::index_type>(leaf.where.stride[d]);
    }
    return M(x.data(), mapping(e, of));
  } else {
    const mapping m(e);
    if constexpr (extents::rank() > 0)
      for (int d = 0; d < x.ndim(); ++d)
        if (x.shape()[d] > 1 && x.size() > 0 && int64(m.stride(::std::size_t(d))) != leaf.where.stride[d])
          detail::fail<value_error>("to_mdspan: an array of shape ", x.shape(),
                                    " does not lie as the mdspan's layout: axis ", d, " has stride ",
                                    leaf.where.stride[d]);
    return M(x.data(), m);
  }
}
/// An mdspan's elements as an array, which is a view: the caller keeps them alive. Const elements make it read-only.
/// They are the host's, but for a device that is named. Throws as from_pointer does.
///     const auto x = ca::from_mdspan(m);
template <device_tag Device = cpu, detail::mdspan_like M>
const ndarray<::std::remove_const_t<typename M::element_type>, Device> from_mdspan(const M& m, Device device = {}) {
  shape s, strides;
  if constexpr (M::rank() > 0)
    for (::std::size_t d = 0; d < M::rank(); ++d) {
      s.push_back(int64(m.extent(d)));
      strides.push_back(int64(m.stride(d)));
    }
  return from_pointer<typename M::element_type, Device>(m.data_handle(), s, strides, device);
}
/// A span's elements as an array of one axis, which is a view: the caller keeps them alive. Const elements make it
/// read-only. They are the host's, but for a device that is named.
///     std::vector<float> v(6);
///     ca::ndarray<float, ca::cpu> x = ca::from_span(std::span(v));
template <device_tag Device = cpu, class T, ::std::size_t N>
const ndarray<::std::remove_const_t<T>, Device> from_span(::std::span<T, N> s, Device device = {}) {
  return from_pointer<T, Device>(s.data(), shape(int64(s.size())), device);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

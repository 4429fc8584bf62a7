// Eight truth values in a byte, and back.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "manipulation.hpp"
#include "operators.hpp"
#include "pad.hpp"
#include "reductions.hpp"
#include "selection.hpp"
#include "splitting.hpp"

namespace cudarray::inline v0 {

/// The order of bits in a byte: the first is 128, or the first is 1.
enum class bit_order { big, little };

struct packing_options {
  ::std::optional<detail::any_integer> axis = {};  ///< absent: all elements in C order, one axis
  bit_order order = bit_order::big;
};
struct unpacking_options {
  ::std::optional<detail::any_integer> axis = {};
  bit_order order = bit_order::big;
  ::std::optional<detail::any_integer> count =
      {};  ///< so many bits along the axis, 0 behind the last; negative: all but so many
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// What the bits of a byte count, along an axis of so many.
template <class D>
ndarray<uint8, D> places_of_bits(bit_order order, D device) {
  const auto bit = integer_range<int64>(0, 8, 1, device);
  return astype<uint8>(order == bit_order::big ? eval(7 - bit) : bit);
}
/// x with the axis last, or as one axis.
template <class X>
auto bits_last(const char* function, const X& x, const ::std::optional<any_integer>& axis) {
  const auto a = plain_values(x);
  return axis ? eval(moveaxis(a, normal_axis(function, axis->value, a.ndim()), -1)) : eval(ravel(a));
}
template <class A>
auto bits_back(const A& a, const ::std::optional<any_integer>& axis) {
  return axis ? copy(moveaxis(a, -1, axis->value)) : a;
}
/// So many elements of the last axis, zeros behind those that are there.
template <class A>
auto with_length(const A& a, int64 n) {
  const int64 has = a.shape(-1);
  if (n <= has) return eval(split(a, {n}, -1)[0]);
  shape more = a.shape();
  more[more.ndim() - 1] = n - has;
  return eval(concatenate(::std::tuple(a, zeros<value_type_t<A>>(more, a.device())), -1));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Whether elements are not 0, eight to a byte: (.., n, ..) -> (.., (n + 7) / 8, ..), uint8, the last filled with 0.
/// Of integers and bool. Eager. Throws index_error for an axis that is not there.
///     ca::packbits(mask)
///     ca::packbits(masks, {.axis = 1, .order = ca::bit_order::little})
template <array_expression X>
auto packbits(const X& x, const packing_options& o = {}) {
  constexpr bool whole = kind_of<value_type_t<X>> < kind::floating;
  static_assert(whole, "cudarray: packbits: of integers and bool: write x != 0");
  const auto a = detail::bits_last("packbits", x, o.axis);
  shape s = a.shape();
  int64& length = s[s.ndim() - 1];
  const int64 lines = length > 0 ? s.elements() / length : 0, bytes = length / 8 + (length % 8 > 0);
  const auto bits = detail::with_length(eval(astype<uint8>(a != 0)), 8 * bytes);
  length = bytes;
  const auto parts = reshape(bits, {lines * bytes, 8}) << detail::places_of_bits(o.order, a.device());
  return detail::bits_back(eval(reshape(astype<uint8>(sum(parts, -1)), s)), o.axis);
}
/// The bits of bytes as 0 and 1: (.., n, ..) -> (.., 8 n, ..), uint8. Eager. Throws index_error, and value_error where
/// `count` leaves out more than there are.
///     ca::unpackbits(bytes, {.count = 100})
template <array_expression X>
auto unpackbits(const X& x, const unpacking_options& o = {}) {
  constexpr bool bytes = ::std::is_same_v<value_type_t<X>, uint8>;
  static_assert(bytes, "cudarray: unpackbits: of uint8");
  const auto a = detail::bits_last("unpackbits", x, o.axis);
  shape s = a.shape();
  int64& length = s[s.ndim() - 1];
  const int64 all = length * 8, count = o.count ? o.count->value : all, n = count < 0 ? all + count : count;
  if (n < 0) detail::fail<value_error>("unpackbits: a count of ", count, " for ", all, " bits");
  length = all;
  const auto bits = (reshape(a, {a.size(), 1}) >> detail::places_of_bits(o.order, a.device())) & uint8(1);
  return detail::bits_back(detail::with_length(eval(reshape(eval(bits), s)), n), o.axis);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

// What an expression is, and what the operands of an operation may be.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "../core/build.hpp"
#include "../core/device.hpp"
#include "../core/dtype.hpp"
#include "report.hpp"

namespace cudarray::inline v0 {
template <class T, class Device = default_device>
class ndarray;
}
namespace cudarray::inline v0::inline CUDARRAY_BUILD {
template <class T, class Device>
class selection;
}
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Specialised beside every expression type's declaration, so that no concept is asked about an incomplete type.
template <class X>
struct expression_traits {
  static constexpr bool is = false;
};
template <class T, class D>
struct traits_of {
  static constexpr bool is = true;
  using value_type = T;
  using device_type = D;
};
template <class T, class D>
struct expression_traits<ndarray<T, D>> : traits_of<T, D> {};
template <class T, class D>
struct expression_traits<selection<T, D>> : traits_of<T, D> {};

}  // namespace
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// An ndarray, a selection, or a node of a lazy expression.
template <class X>
concept array_expression = detail::expression_traits<::std::remove_cvref_t<X>>::is;

/// The dtype of an expression's elements.
template <array_expression X>
using value_type_t = typename detail::expression_traits<::std::remove_cvref_t<X>>::value_type;
/// The device an expression is computed on.
template <array_expression X>
using device_type_t = typename detail::expression_traits<::std::remove_cvref_t<X>>::device_type;

}
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class X>
inline constexpr bool is_selection = false;
template <class T, class D>
inline constexpr bool is_selection<selection<T, D>> = true;

/// What an index may be made of, and what makes it one that is not basic.
template <class... Ix>
concept known_indices = ((basic_index<Ix> || array_expression<Ix>)&&...);
template <class... Ix>
concept advanced_indices = known_indices<Ix...> &&(array_expression<Ix> || ...);

template <class X>
inline constexpr bool is_poison = ::std::is_same_v<::std::remove_cvref_t<X>, poison>;

}  // namespace

// What failed compile-time checks return, and those checks that several functions share.
// SPDX-License-Identifier: MIT
#pragma once

/// The caps on the length of error messages leave room for two levels of templates: the function a user calls, and the
/// one that holds the static_assert. So the sentences stand where they apply, not in one more function.
namespace cudarray::inline v0::detail {

/// What a failed compile-time check returns: further uses of it stay silent, so that one mistake gives one error.
struct poison {
  template <class T>
  constexpr operator T() const;
};

template <bool Array>
constexpr void report_scalar_assignment() {
  static_assert(Array,
                "cudarray: name = scalar would rebind the name: write c(ca::_) = 0 or c.fill(0) to set the elements");
}

template <bool Numbers>
constexpr poison report_logical_operator() {
  static_assert(Numbers,
                "cudarray: && and || cannot work element by element: write & and | (with parentheses), or "
                "ca::logical_and");
  return {};
}

}  // namespace cudarray::inline v0::detail

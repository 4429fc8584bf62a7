// What failed compile-time checks return, and those checks that several functions share.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/build.hpp"
#include "../core/slice.hpp"

/// The caps on the length of error messages leave room for two levels of templates: the function a user calls, and the
/// one that holds the static_assert. So the sentences stand where they apply, not in one more function.
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class X>
struct expression_traits;  // in concepts.hpp

/// True for the parameters that poison does not become: of functions where it is ambiguous, and of what reports.
template <class T>
inline constexpr bool refuses_poison = false;

/// What a failed compile-time check returns: further uses of it stay silent, so that one mistake gives one error.
struct poison {
  template <class T>
  requires(!refuses_poison<T>) constexpr operator T() const { __builtin_unreachable(); }
  constexpr poison item() const { return {}; }
  template <class... Ix>
  constexpr poison operator()(const Ix&...) const {
    return {};
  }
  poison() = default;
  poison(const poison&) = default;
  poison& operator=(const poison&) = default;
  template <class Stream>
  friend Stream& operator<<(Stream& stream, poison) {
    return stream;
  }
#define CUDARRAY_POISON(sign)                               \
  template <class Y>                                        \
  friend constexpr poison operator sign(poison, const Y&) { \
    return {};                                              \
  }                                                         \
  template <class X>                                        \
  requires(!::std::is_same_v<X, poison>) friend constexpr poison operator sign(const X&, poison) { return {}; }
  CUDARRAY_POISON(+)
  CUDARRAY_POISON(-)
  CUDARRAY_POISON(*)
  CUDARRAY_POISON(/)
#undef CUDARRAY_POISON
#define CUDARRAY_POISON(sign)                             \
  template <class V>                                      \
  constexpr const poison& operator sign(const V&) const { \
    return *this;                                         \
  }
  CUDARRAY_POISON(=)
  CUDARRAY_POISON(+=)
  CUDARRAY_POISON(-=)
  CUDARRAY_POISON(*=)
  CUDARRAY_POISON(/=)
#undef CUDARRAY_POISON
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

template <bool Axes>
constexpr void report_axes() {
  static_assert(Axes,
                "cudarray: a reduction takes axes, integers: ca::sum(x, {0, 1}); element by element it is "
                "ca::maximum(x, y), ca::minimum(x, y)");
}
template <bool Option>
constexpr void report_option() {
  static_assert(Option, "cudarray: a reduction's options follow its axes: ca::sum(x, {0, 1}, ca::keepdims)");
}

template <bool Reported>
constexpr poison report_index() {
  static_assert(Reported,
                "cudarray: an index is integers, ca::slice, ca::_, ca::newaxis, ca::ellipsis, arrays of integers or "
                "masks");
  return {};
}

/// Stands, in functions that only report, where others take an array: a worse match than any of them. Of the library's
/// own numbers there are functions elsewhere.
struct wrong_operand {
  template <class X>
  requires(!(is_dtype<X> && __is_class(X))) constexpr wrong_operand(const X&) {
    constexpr bool array = expression_traits<X>::is;
    static_assert(
        array,
        "cudarray: no argument here is an array: ca::array(v) makes one of a container; for numbers use std's "
        "function");
  }
  constexpr wrong_operand(const poison&) {}
};
template <>
inline constexpr bool refuses_poison<wrong_operand> = true;
/// And where they take anything.
struct any_operand {
  template <class X>
  constexpr any_operand(const X&) {}
};
template <>
inline constexpr bool refuses_poison<index_item> = true;
template <>
inline constexpr bool refuses_poison<any_operand> = true;

/// True for arrays and for what is computed from reductions alone: what may be meant as a number.
template <class X>
inline constexpr bool may_be_number = false;

}  // namespace
namespace cudarray::inline v0::detail {

/// What arrays and nodes derive from: their use as a number or as a truth value is reported. Only those that may be
/// meant as one are converted to numbers, so that functions of arrays and of numbers may have one name.
template <class X>
struct no_number {
  explicit operator bool() const {
    constexpr bool truth = !::std::is_same_v<X, X>;
    static_assert(truth,
                  "cudarray: arrays have no truth value: write x.item() of one element, or ca::any(x).item(), "
                  "ca::all(x).item(); for std::max ca::maximum");
    return truth;
  }
  operator double() const requires(may_be_number<X>) {
    constexpr bool number = !may_be_number<X>;
    static_assert(number,
                  "cudarray: an array is no number: write x.item() for its one element; for std::exp(x) and the like "
                  "ca::exp(x)");
    return number;
  }
};

}  // namespace cudarray::inline v0::detail

// Functions of your own: for each index, as a function of arrays, as a reduction. (`map` is in math.hpp.)
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/each_index.hpp"
#include "manipulation.hpp"
#include "math.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0 {

/// An index in a function of your own: `at[0]` is that along the first axis.
struct multi_index {
  int64 of[max_rank] = {};
  CUDARRAY_HD constexpr int64 operator[](int axis) const { return of[axis]; }
};

/// The elements of an array in a function of your own, on its device: unchecked. T is const where the function only
/// reads them.
///     a(i, j) = b(j, i);
template <class T>
struct array_access {
  T* p;
  int64 stride[max_rank];
  template <class... Ix>
  CUDARRAY_HD T& operator()(Ix... i) const {
    int64 at = 0;
    int axis = 0;
    ((at += int64(i) * stride[axis++]), ...);
    return p[at];
  }
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// `f(index, access...)` for the i-th index in C order.
template <class F, class... A>
struct index_body {
  F f;
  int64 extent[max_rank];
  int ndim;
  slots<A...> arrays;
  CUDARRAY_EXEC_CHECK_OFF
  CUDARRAY_HD void operator()(int64 i) const {
    multi_index at;
    for (int d = ndim - 1; d > 0; --d) {
      const int64 above = i / extent[d];
      at.of[d] = i - above * extent[d];
      i = above;
    }
    at.of[0] = i;
    call(at, ::std::make_integer_sequence<int, int(sizeof...(A))>{});
  }

 private:
  CUDARRAY_EXEC_CHECK_OFF
  template <int... K>
  CUDARRAY_HD void call(const multi_index& at, ::std::integer_sequence<int, K...>) const {
    f(at, get<K>(arrays)...);
  }
};

/// An array that a function of one's own reads, or writes as well.
template <class T, class Device, bool Written>
struct used_array {
  using device_type = Device;
  static constexpr bool written = Written;
  ndarray<T, Device> array;
  leaf<T, Device> memory = array.node();

  array_access<::std::conditional_t<Written, T, const T>> access() const {
    array_access<::std::conditional_t<Written, T, const T>> r{array.data(), {}};
    for (int d = 0; d < array.ndim(); ++d) r.stride[d] = array.where().stride[d];
    return r;
  }
  void written_now() const {
    if constexpr (Written) count_write(*memory.store, memory.where, sizeof(T));
  }
};
template <class T, class Device>
used_array<T, Device, true> used(const out_argument<T, Device>& o) {
  return {o.array};
}
template <array_expression X>
used_array<value_type_t<X>, device_type_t<X>, false> used(const X& x) {
  return {as_array(x)};
}

template <class F, class First, class... More>
void each_index(const shape& s, const F& f, const First& first, const More&... more) {
  using D = typename First::device_type;
  constexpr const char* function = "for_each_index";
  const D device = common_device(function, first.array, more.array...);
  if constexpr (First::written) check_writable(*first.memory.store, first.memory.where);
  ((More::written ? check_writable(*more.memory.store, more.memory.where) : void()), ...);
  const int64 n = check_extents(function, s).elements();
  index_body<F, decltype(first.access()), decltype(more.access())...> body{
      f, {}, s.ndim(), {{first.access()}, {more.access()}...}};
  for (int d = 0; d < s.ndim(); ++d) body.extent[d] = s[d];
  const used_memory memory[] = {{first.memory.store.get(), First::written},
                                {more.memory.store.get(), More::written}...};
  run_each_index(device, n, body, memory, 1 + int(sizeof...(More)));
  first.written_now();
  (more.written_now(), ...);
}

template <class A>
struct device_of_argument {
  using type = typename A::device_type;
};
template <class T, class Device>
struct device_of_argument<out_argument<T, Device>> {
  using type = Device;
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Calls `f(at, a...)` for each index of a shape, in any order and several at a time: one body for both devices. Of the
/// arrays f has `array_access`es: for `ca::out(a)` one that writes, for others, which may be expressions, one that
/// reads. What it writes is as if by an assignment: expressions of it go stale. For CUDA arrays f is marked as for
/// `map`. Eager. Throws value_error for an array that is read-only, device_error for arrays on two devices.
///     ca::for_each_index({3, 2}, [] CUDARRAY_HD(const ca::multi_index& at, ca::array_access<float> a,
///                                               ca::array_access<const float> b) {
///       a(at[0], at[1]) = b(at[1], at[0]);
///     }, ca::out(a), b);
template <class F, class First, class... More>
void for_each_index(const shape& s, const F& f, const First& first, const More&... more) {
  constexpr bool marked = detail::is_callable_on<typename detail::device_of_argument<First>::type, F>();
  static_assert(
      marked,
      "cudarray: nvcc compiles this lambda for the host only: write [] CUDARRAY_HD(float e) { ... }, and give "
      "nvcc --extended-lambda");
  if constexpr (marked) detail::each_index(s, f, detail::used(first), detail::used(more)...);
}

/// A function of numbers as one of arrays, as NumPy's vectorize: `ca::vectorize(f)(x, y)` is `ca::map(f, x, y)`.
///     const auto huber = ca::vectorize([] CUDARRAY_HD(float e) { return e < 1 ? e * e / 2 : e - 0.5f; });
template <class F>
auto vectorize(const F& f) {
  return [f](const auto&... x) { return map(f, x...); };
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::op::inline CUDARRAY_BUILD {

/// By a user's functor F, which combines two numbers; lanes one by one.
template <class F>
struct user_reduction_op : reduction<false, true> {
  static constexpr bool costly = true;
  template <class V>
  using types = accumulate_in<V, detail::compute_t<V>, detail::compute_t<V>>;
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return A(F::identity);
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD static constexpr L combine(const L& a, const L& b) {
    if constexpr (requires { a.v[0]; }) {
      L r = a;
      for (int k = 0; k < int(sizeof(a.v) / sizeof(a.v[0])); ++k) r.v[k] = F{}(a.v[k], b.v[k]);
      return r;
    } else {
      return F{}(a, b);
    }
  }
};

}  // namespace cudarray::inline v0::op::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// A reduction of your own over axes, absent: all; with `ca::keepdims` they stay as extents of 1. F is an empty functor
/// that combines two numbers, in any order and grouping, with a static member `identity`, which changes nothing; for
/// CUDA arrays its operator() is marked CUDARRAY_HD. The dtype is x's. Lazy. Throws index_error, value_error.
///     struct xor_of {
///       static constexpr int identity = 0;
///       CUDARRAY_HD int operator()(int a, int b) const { return a ^ b; }
///     };
///     ca::reduce(xor_of{}, n, 0)
template <class F, array_expression X, reduction_option... O>
auto reduce(const F&, const X& x, const axes& over, const O&... o) {
  constexpr bool fits = ::std::is_empty_v<F> && ::std::is_default_constructible_v<F> && requires { F::identity; };
  static_assert(
      fits,
      "cudarray: a reduction of your own is an empty functor with a static member `identity`: what it depends "
      "on are template arguments");
  if constexpr (fits)
    return detail::make_reduce<op::user_reduction_op<F>>("reduce", detail::known_operand(x), over,
                                                         detail::options(o...).keep);
  else return detail::poison{};
}
template <class F, array_expression X, reduction_option... O>
auto reduce(const F& f, const X& x, const O&... o) {
  return reduce(f, x, axes::all(), o...);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

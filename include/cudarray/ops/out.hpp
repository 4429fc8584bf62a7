// ca::out: where a function writes its result, NumPy's `out=`.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/assign_several.hpp"
#include "../ndarray.hpp"

namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// `ca::out(array) = value`, for ca::assign_together.
template <class T, class Device, class N>
struct assignment {
  ndarray<T, Device> array;
  N value;
};

template <class T, class Device>
struct out_argument {
  ndarray<T, Device> array;

  /// For ca::assign_together: by itself it writes nothing.
  template <class X>
  requires(array_expression<X> || scalar_value<X>) [[nodiscard]] auto operator=(const X& value) const {
    constexpr bool here = detail::on_device<X, Device>;
    static_assert(here,
                  "cudarray: the array is on another device: copy it with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
    constexpr bool gradient = detail::loses_no_gradient<X>;
    static_assert(gradient,
                  "cudarray: a function of variables would lose its gradient here: write ca::variable y = x, or use "
                  "ca::stop_gradient(x)");
    using N = ::std::remove_cvref_t<decltype(detail::as_operand<T>("assign_together", value))>;
    return assignment<T, Device, N>{array, detail::as_operand<T>("assign_together", value)};
  }
};

/// As the last argument: writes the result into `array` (which is returned) instead of making a new one.
///     ca::exp(x, ca::out(y));
template <class T, class Device>
out_argument<T, Device> out(const ndarray<T, Device>& array) {
  return {array};
}

/// Writes several arrays as if all values were computed before the first is written; where arrays share elements, the
/// last value is theirs. One kernel writes arrays of one shape, or results of the same rows (docs/fusion.md). Values
/// broadcast and convert as they do in an assignment. Throws shape_error, value_error, stale_error and device_error
/// before anything is written, and index_error as `take` does.
///     ca::assign_together(ca::out(m) = b1 * m + (1 - b1) * g, ca::out(p) = p - rate * (b1 * m + (1 - b1) * g));
template <class T, class Device, class N, class... More, class... Values>
void assign_together(const assignment<T, Device, N>& first, const assignment<More, Device, Values>&... more) {
  const detail::storage_ref none = detail::no_storage();
  const auto written = [&none]<class U>(const ndarray<U, Device>& a) {
    return detail::destination<U>{a.storage().get() ? a.storage() : none, a.where()};
  };
  using values = detail::slots<N, Values...>;
  detail::assign_several<Device>(detail::map<detail::together_op, N, Values...>(
                                     {}, [&] { return first.array.shape(); },
                                     [&] {
                                       return values{{first.value}, {more.value}...};
                                     }),
                                 written(first.array), written(more.array)...);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {
/// Writes an expression into an `out` argument. Throws shape_error if the shapes are not the same.
template <class T, class Device, class E>
const ndarray<T, Device> write_out(const char* function, const out_argument<T, Device>& o, const E& e) {
  if constexpr (!is_poison<E>) {
    constexpr bool here = on_device<E, Device>, gradient = loses_no_gradient<E>;
    static_assert(here,
                  "cudarray: the array is on another device: copy it with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
    static_assert(gradient,
                  "cudarray: a function of variables would lose its gradient here: write ca::variable y = x, or use "
                  "ca::stop_gradient(x)");
    if constexpr (here && gradient) {
      const auto& n = as_operand<T>(function, e);
      if (n.dims() != o.array.shape())
        fail<shape_error>(function, ": the result has shape ", n.dims(), ", out has ", o.array.shape());
      const storage_ref &store = o.array.storage(), none = store.get() ? storage_ref() : no_storage();
      assign<T, Device>(store.get() ? store : none, o.array.where(), n);
    }
  }
  return o.array;
}
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD

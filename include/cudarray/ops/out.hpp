// ca::out: where a function writes its result, NumPy's `out=`.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ndarray.hpp"

namespace cudarray::inline v0::inline CUDARRAY_BUILD {

template <class T, class Device>
struct out_argument {
  ndarray<T, Device> array;
};

/// As the last argument: writes the result into `array` (which is returned) instead of making a new one.
///     ca::exp(x, ca::out(y));
template <class T, class Device>
out_argument<T, Device> out(const ndarray<T, Device>& array) {
  return {array};
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {
/// Writes an expression into an `out` argument. Throws shape_error if the shapes are not the same.
template <class T, class Device, class E>
const ndarray<T, Device> write_out(const char* function, const out_argument<T, Device>& o, const E& e) {
  if constexpr (!is_poison<E>) {
    constexpr bool here = on_device<E, Device>;
    static_assert(here,
                  "cudarray: the array is on another device: copy it with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
    if constexpr (here) {
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

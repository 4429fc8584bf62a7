// Arrays whose dtype a file says: a variant of all dtypes.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <variant>

#include "npy.hpp"

namespace cudarray::inline v0 {

/// An array of any dtype: `std::visit([](const auto& a) { .. }, v)`.
template <class D = default_device>
using array_variant = ::std::variant<ndarray<bool, D>, ndarray<int8, D>, ndarray<int16, D>, ndarray<int32, D>,
                                     ndarray<int64, D>, ndarray<uint8, D>, ndarray<uint16, D>, ndarray<uint32, D>,
                                     ndarray<uint64, D>, ndarray<float16, D>, ndarray<bfloat16, D>, ndarray<float, D>,
                                     ndarray<double, D>, ndarray<complex64, D>, ndarray<complex128, D>>;

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// `make(T())` as an array_variant, T being the dtype of that name, which is one of ours.
template <class D, class Make>
array_variant<D> of_dtype(const ::std::string_view name, const Make& make) {
  array_variant<D> r;
  const auto try_one = [&]<class T>(T zero) {
    if (name != dtype_name<T>) return false;
    r = make(zero);
    return true;
  };
  (void)(try_one(bool()) || try_one(int8()) || try_one(int16()) || try_one(int32()) || try_one(int64()) ||
         try_one(uint8()) || try_one(uint16()) || try_one(uint32()) || try_one(uint64()) || try_one(float16()) ||
         try_one(bfloat16()) || try_one(float()) || try_one(double()) || try_one(complex64()) || try_one(complex128()));
  return r;
}
template <class Device, class Host, class Reader>
array_variant<Device> read_any_npy(Reader& f, Device device) {
  const npy_header h = read_npy_header(f, {}, "");
  const npy_contents c = read_contents<Host>(f, h);
  return of_dtype<Device>(name_of(c.type), [&]<class T>(T) -> ndarray<T, Device> {
    return placed_on(array_of_contents<T, Host>(c), device);
  });
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Reads a .npy file of whatever dtype. Throws io_error for a missing, truncated or malformed file, dtype_error for
/// records, objects and other dtypes that are not ours.
///     std::visit([](const auto& a) { std::cout << a; }, ca::load_any("x.npy"));
template <device_tag Device = default_device, class Host = cpu>
array_variant<Device> load_any(const ::std::string& path, Device device = {}) {
  detail::file f(path, "rbe");
  return detail::read_any_npy<Device, Host>(f, device);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

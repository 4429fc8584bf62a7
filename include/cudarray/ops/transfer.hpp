// Values and copies: eval, copy, copies between devices, single elements, waiting for a device.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/bytes.hpp"
#include "out.hpp"

namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The value of an expression as an array; an ndarray is handed back as it is, sharing its elements.
template <array_expression X>
const ndarray<value_type_t<X>, device_type_t<X>> eval(const X& x) {
  return ndarray<value_type_t<X>, device_type_t<X>>(x);
}

/// A new C-contiguous array with the elements of an array or expression. Eager.
template <array_expression X>
const ndarray<value_type_t<X>, device_type_t<X>> copy(const X& x) {
  return ndarray<value_type_t<X>, device_type_t<X>>(detail::materialise(detail::as_operand<float>("copy", x)));
}
/// CUDArray's and NumPy's name: a C-contiguous array, the operand itself if it is one already.
template <array_expression X>
const ndarray<value_type_t<X>, device_type_t<X>> ascontiguousarray(const X& x) {
  const auto a = eval<X>(x);
  return a.is_contiguous() ? a : a.copy();
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The device of an expression. Throws device_error where its operands are on two.
template <class X>
device_type_t<X> device_of(const X& x) {
  return {check_leaves(as_operand<value_type_t<X>>("", x))};
}
[[noreturn]] CUDARRAY_COLD inline void fail_devices(const char* function, int a, int b) {
  fail<device_error>(function, ": operands on devices ", a, " and ", b, ": move one with ca::to");
}

/// The device of the arrays a function is given; empty ones go with any. Throws device_error where they are on two.
template <class T, class Device, class... A>
Device common_device(const char* function, const ndarray<T, Device>& first, const A&... others) {
  Device device = first.device();
  bool empty = first.size() == 0;
  [[maybe_unused]] const auto join = [&](const auto& a) {
    if (a.device() == device || a.size() == 0) return;
    if (!empty) fail_devices(function, device.ordinal, a.device().ordinal);
    device = a.device();
    empty = false;
  };
  (join(others), ...);
  return device;
}

/// The array itself where its memory is what it says: contiguous, and of bool none that is borrowed, whose bytes may be
/// any. Else a copy that is.
template <class T, class Device>
const ndarray<T, Device> plain_elements(const ndarray<T, Device>& a) {
  const bool any_bytes = ::std::is_same_v<T, bool> && a.storage().get() && a.storage()->borrowed;
  return a.is_contiguous() && !any_bytes ? a : a.copy();
}

/// The smallest block of storage that holds an array, copied to the host, and where the array lies in it. It needs no
/// kernel, so any file can do it.
template <class T, class Device, class Host = cpu>  // Host keeps the call below dependent, so that it is looked up late
CUDARRAY_COLD leaf<T, Host> host_block(const ndarray<T, Device>& a) {
  layout l = a.where();
  const extent e = span_of(l);
  const int64 n = e.last - e.first + 1;
  leaf<T, Host> r(allocate(Host{}, ::std::size_t(n) * sizeof(T)), l);
  r.where.offset = n > 0 ? l.offset - e.first : 0;
  if (n > 0)
    copy_to_host(a.device(), r.store->data, *a.storage(), ::std::size_t(e.first) * sizeof(T),
                 ::std::size_t(n) * sizeof(T));
  if constexpr (::std::is_same_v<T, bool>) normalise_bool(r.store->data, ::std::size_t(n));
  return r;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// A copy of an array or expression on another device: the only way across. Always a new C-contiguous array. It waits
/// where the host takes part.
///     auto g = ca::to<ca::cuda>(a);
template <device_tag To, array_expression X>
const ndarray<value_type_t<X>, To> to(const X& x, To device = {}) {
  using T = value_type_t<X>;
  using From = device_type_t<X>;
  const ndarray<T, From> a(x);
  if constexpr (::std::is_same_v<From, To>) {
    if (a.device() == device) return copy<ndarray<T, From>>(a);
  }
  ndarray<T, cpu> host;
  if constexpr (::std::is_same_v<From, cpu>) host = detail::plain_elements(a);
  else {
    host = ndarray<T, cpu>(detail::host_block(a));
    if (!host.is_contiguous()) host = host.copy();
  }
  if constexpr (::std::is_same_v<To, cpu>) {
    return host;
  } else {
    auto r = detail::new_leaf<T>(device, host.shape());
    if (host.size() > 0) copy_from_host(device, *r.store, 0, host.data(), ::std::size_t(host.nbytes()));
    return ndarray<T, To>(::std::move(r));
  }
}

/// Copies the elements of `source` into `target`, across devices too; shapes must be equal, dtypes within a kind.
/// Throws shape_error.
template <class T, class Device, array_expression X>
void copyto(const ndarray<T, Device>& target, const X& source) {
  const auto& n = detail::as_operand<T>("copyto", source);
  if (n.dims() != target.shape())
    detail::fail<shape_error>("copyto: the source has shape ", n.dims(), ", the target ", target.shape());
  static_assert(detail::same_kind<value_type_t<X>, T>,
                "cudarray: this conversion of dtypes loses information: write ca::astype<T>(x)");
  ndarray<T, Device> view = target;
  if constexpr (::std::is_same_v<device_type_t<X>, Device>) {
    if (detail::check_leaves(n) == target.device().ordinal) {
      view(ellipsis) = source;
      return;
    }
  }
  view(ellipsis) = to<Device>(source, target.device());
}

/// The one value of an array or expression of one element; waits for the device. Throws value_error.
template <array_expression X>
value_type_t<X> item(const X& x) {
  return detail::array_of(x).item();
}

/// Waits until a device has done what this thread gave it, and throws what went wrong there.
template <device_tag Device>
void synchronize(Device device) {
  synchronize_device(device);
}
template <class Device = default_device>
void synchronize() {
  synchronize(Device{});
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

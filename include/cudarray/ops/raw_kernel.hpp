// Kernels from CUDA source that is compiled at run time.
// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>

#include "../eval/raw_kernel.hpp"
#include "manipulation.hpp"
#include "out.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// An array whose address a kernel is given, and whether it writes there.
template <class T, class Device, bool Written>
struct kernel_array {
  static constexpr bool is_array = true;
  using device_type = Device;
  ndarray<T, Device> array;
  leaf<T, Device> memory;
  T* value;
  used_memory used() const { return {memory.store.get(), Written}; }
  void written_now() const {
    if constexpr (Written) count_write(*memory.store, memory.where, sizeof(T));
  }
};
/// Anything else, handed over as it is.
template <class V>
struct kernel_value {
  static constexpr bool is_array = false;
  V value;
};
template <class X>
inline constexpr bool is_kernel_array = array_expression<X>;
template <class T, class Device>
inline constexpr bool is_kernel_array<out_argument<T, Device>> = true;
template <class X>
struct device_of_kernel_array {};
template <class T, class Device>
struct device_of_kernel_array<out_argument<T, Device>> {
  using type = Device;
};
template <array_expression X>
struct device_of_kernel_array<X> {
  using type = device_type_t<X>;
};
template <class X>
constexpr bool is_on_cuda() {
  if constexpr (is_kernel_array<X>) return ::std::is_same_v<typename device_of_kernel_array<X>::type, backend::cuda>;
  else return true;
}
template <class T, class Device>
auto kernel_argument(const ::std::string& name, const out_argument<T, Device>& o) {
  const leaf<T, Device> memory = o.array.node();
  check_writable(*memory.store, memory.where);
  if (!is_c_contiguous(memory.where))
    fail<value_error>("raw_kernel ", name, ": an array of shape ", o.array.shape(),
                      " that is written does not lie in C order");
  return kernel_array<T, Device, true>{o.array, memory, o.array.data()};
}
template <class X>
auto kernel_argument(const ::std::string&, const X& x) {
  if constexpr (array_expression<X>) {
    static_assert(loses_no_gradient<X>, "cudarray: a kernel of your own has no derivative: write ca::stop_gradient(x)");
    using T = value_type_t<X>;
    using D = device_type_t<X>;
    const ndarray<T, D> a = plain_elements(ndarray<T, D>(x));
    return kernel_array<T, D, false>{a, a.node(), const_cast<T*>(a.data())};
  } else {
    static_assert(::std::is_trivially_copyable_v<X> && !::std::is_array_v<X>,
                  "cudarray: an argument of a kernel is an array, ca::out(a), or trivially copyable");
    if constexpr (!::std::is_array_v<X>) return kernel_value<X>{x};
  }
}
/// The device of the first array.
template <class A, class... Rest>
auto device_among(const A& a, const Rest&... rest) {
  if constexpr (A::is_array) return a.array.device();
  else return device_among(rest...);
}

template <class... A>
void launch_raw_kernel(const kernel_source& s, const kernel_launch& l, const A&... a) {
  const auto device = device_among(a...);
  const auto check = [&](const auto& one) {
    if constexpr (::std::remove_cvref_t<decltype(one)>::is_array)
      if (one.array.device() != device)
        fail<device_error>("raw_kernel ", s.name, ": arrays on devices ", device.ordinal, " and ",
                           one.array.device().ordinal);
  };
  (check(a), ...);
  void* const values[] = {const_cast<void*>(static_cast<const void*>(&a.value))...};
  const ::std::size_t bytes[] = {sizeof(a.value)...};
  ::std::vector<used_memory> used;
  const auto use = [&](const auto& one) {
    if constexpr (::std::remove_cvref_t<decltype(one)>::is_array) used.push_back(one.used());
  };
  (use(a), ...);
  run_raw_kernel(device, s, l, kernel_arguments{values, bytes, int(sizeof...(A))}, used.data(), int(used.size()));
  const auto written = [](const auto& one) {
    if constexpr (::std::remove_cvref_t<decltype(one)>::is_array) one.written_now();
  };
  (written(a), ...);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// A kernel from CUDA source, by its name in it (`scale`, or of a template `scale<float>`), compiled by NVRTC when it
/// is first launched on a kind of device, once in a process. CuPy's RawKernel.
///     const ca::raw_kernel scale(source, "scale<float>");
///     scale({.grid = (n + 255) / 256, .block = 256}, ca::out(y), x, 2.f, n);
class raw_kernel {
 public:
  /// Options are NVRTC's: `--use_fast_math`, `-DN=4`, `-I/usr/local/cuda/include`.
  raw_kernel(::std::string source, ::std::string name, ::std::vector<::std::string> options = {})
      : source_(::std::move(source), ::std::move(name), ::std::move(options)) {}
  /// Launches it on the current stream of the arrays' device. What it writes is given as `ca::out(a)`, in C order;
  /// other arrays and expressions are read, and get into C order before; both are pointers to the kernel. Numbers and
  /// other trivially copyable values are handed over as they are: their sizes must be the parameters'. Throws
  /// cuda_error with the compiler's log, value_error for arguments, blocks or threads that do not fit, device_error.
  template <class... A>
  void operator()(const kernel_launch& launch, const A&... a) const {
    constexpr bool arrays = (false || ... || detail::is_kernel_array<A>);
    static_assert(arrays, "cudarray: one argument of a kernel at least is an array: it says on which device");
    constexpr bool on_cuda = (true && ... && detail::is_on_cuda<A>());
    static_assert(on_cuda, "cudarray: the arrays of a kernel are on CUDA: move others with ca::to<ca::cuda>(x)");
    if constexpr (arrays && on_cuda)
      detail::launch_raw_kernel(source_, launch, detail::kernel_argument(source_.name, a)...);
  }

 private:
  detail::kernel_source source_;
};

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

// Making arrays: from shapes, lists, host memory, and ranges.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "math.hpp"

namespace cudarray::inline v0 {
namespace detail {

template <class T, class Device>
leaf<T, Device> new_array(const char* function, const shape& s, Device device) {
  check_extents(function, s);
  return {allocate(device, ::std::size_t(s.elements()) * sizeof(T)), s};
}

/// A generated expression evaluated into a new array.
template <class Build, class Device, class G>
const ndarray<typename G::value_type, Device> from_generator(const char* function, const shape& s, const G& g,
                                                             Device device) {
  check_extents(function, s);
  return ndarray<typename G::value_type, Device>(materialise<Build>(generate<G, Device>{{}, g, s, device.ordinal}));
}

template <class T>
struct constant_value {
  using value_type = T;
  T v;
  CUDARRAY_HD T operator()(int64) const { return v; }
};

/// start + i * step, as NumPy computes it; the last element may be given exactly.
template <class T, class C>
struct arithmetic_sequence {
  using value_type = T;
  C start, step, last;
  int64 last_index;
  CUDARRAY_HD T operator()(int64 i) const {
    return i == last_index ? lane_cast<T>(last) : lane_cast<T>(C(start + C(i) * step));
  }
};

}  // namespace detail

/// An array of uninitialised elements. Eager. Throws shape_error, out_of_memory.
template <dtype T = float, device_tag Device = default_device>
CUDARRAY_PER_BUILD const ndarray<T, Device> empty(const shape& s, Device device = {}) {
  return ndarray<T, Device>(detail::new_array<T>("empty", s, device));
}
namespace detail {
template <class Build, class T, class Device, class S>
const ndarray<T, Device> filled(const char* function, const shape& s, S value, Device device) {
  return from_generator<Build>(function, s, constant_value<T>{fit_scalar<T>(function, value).value}, device);
}
}  // namespace detail

/// An array of one value. Eager.
///     ca::full<int>({2, 2}, 7)  // [[7 7] [7 7]]
template <dtype T = float, device_tag Device = default_device, scalar_value S, class Build = this_build>
const ndarray<T, Device> full(const shape& s, S value, Device device = {}) {
  return detail::filled<Build, T>("full", s, value, device);
}
/// An array of zeros. Eager.
template <dtype T = float, device_tag Device = default_device, class Build = this_build>
const ndarray<T, Device> zeros(const shape& s, Device device = {}) {
  return detail::filled<Build, T>("zeros", s, 0, device);
}
/// An array of ones. Eager.
template <dtype T = float, device_tag Device = default_device, class Build = this_build>
const ndarray<T, Device> ones(const shape& s, Device device = {}) {
  return detail::filled<Build, T>("ones", s, 1, device);
}

/// Arrays of the shape, dtype and device of another; `zeros_like<int>(x)` changes the dtype. Eager.
template <class T = void, class U, class Device>
CUDARRAY_PER_BUILD auto empty_like(const ndarray<U, Device>& a) {
  return empty<::std::conditional_t<::std::is_void_v<T>, U, T>>(a.shape(), a.device());
}
template <class T = void, class U, class Device, scalar_value S, class Build = this_build>
auto full_like(const ndarray<U, Device>& a, S value) {
  return detail::filled<Build, ::std::conditional_t<::std::is_void_v<T>, U, T>>("full_like", a.shape(), value,
                                                                                a.device());
}
template <class T = void, class U, class Device, class Build = this_build>
auto zeros_like(const ndarray<U, Device>& a) {
  return full_like<T, U, Device, int, Build>(a, 0);
}
template <class T = void, class U, class Device, class Build = this_build>
auto ones_like(const ndarray<U, Device>& a) {
  return full_like<T, U, Device, int, Build>(a, 1);
}

/// start, start + step, ... up to but without stop; int64 for integer arguments, as NumPy. Eager. Throws value_error
/// for a step of 0.
template <class T = void, device_tag Device = default_device, scalar_value S, class Build = this_build>
auto arange(S start, ::std::type_identity_t<S> stop, ::std::type_identity_t<S> step = 1, Device device = {}) {
  using natural = ::std::conditional_t<::std::is_integral_v<S>, int64, float>;
  using V = ::std::conditional_t<::std::is_void_v<T>, natural, T>;
  using C = ::std::conditional_t<::std::is_integral_v<S>, int64, double>;
  if (step == S(0)) throw value_error("arange: the step is 0");
  int64 n = 0;
  if constexpr (::std::is_integral_v<S>) {
    const int64 span = int64(stop) - int64(start), by = int64(step);
    n = (span > 0) == (by > 0) && span != 0 ? (span + by - (by > 0 ? 1 : -1)) / by : 0;
  } else {
    const double count = math::ceil((double(stop) - double(start)) / double(step));
    if (!(count < 9e15))
      throw value_error(detail::cat("arange: ", double(start), " to ", double(stop), " by ", double(step)));
    n = count > 0 ? int64(count) : 0;
  }
  return detail::from_generator<Build>("arange", n, detail::arithmetic_sequence<V, C>{C(start), C(step), C(0), -1},
                                       device);
}
template <class T = void, device_tag Device = default_device, scalar_value S, class Build = this_build>
auto arange(S stop) {
  return arange<T, Device, S, Build>(S(0), stop);
}

/// n values from start to stop, both included. Eager. Throws value_error for a negative n.
///     ca::linspace(0, 1, 5)  // [0. 0.25 0.5 0.75 1.]
template <dtype T = float, device_tag Device = default_device, class Build = this_build>
const ndarray<T, Device> linspace(double start, double stop, int64 n = 50, Device device = {}) {
  if (n < 0) throw value_error(detail::cat("linspace: ", n, " values"));
  const double step = n > 1 ? (stop - start) / double(n - 1) : 0.;
  return detail::from_generator<Build>(
      "linspace", n, detail::arithmetic_sequence<T, double>{start, step, stop, n > 1 ? n - 1 : -1}, device);
}

/// Ones on the k-th diagonal, zeros elsewhere. Eager.
template <dtype T = float, device_tag Device = default_device, class Build = this_build>
const ndarray<T, Device> eye(int64 rows, int64 columns = -1, int64 k = 0, Device device = {}) {
  if (columns == -1) columns = rows;
  const ndarray<T, Device> r = detail::filled<Build, T>("eye", {rows, columns}, 0, device);
  if (k >= columns || k <= -rows) return r;
  const int64 row = k < 0 ? -k : 0, column = k > 0 ? k : 0;  // where the diagonal begins
  detail::leaf<T, Device> ones = r.node();
  ones.where = {{rows - row < columns - column ? rows - row : columns - column}, {columns + 1}, row * columns + column};
  ndarray<T, Device>(ones).template fill<int, Build>(1);
  return r;
}

namespace detail {

/// A nested brace list: numbers, or lists of equal shape.
template <class T>
struct nested_list {
  ::std::vector<T> flat;
  shape dims;
  CUDARRAY_PER_BUILD nested_list() : dims{0} {}  // {}
  CUDARRAY_PER_BUILD nested_list(T v) : flat{v} {}
  template <scalar_value S, class Build = this_build>
  requires(!::std::is_same_v<S, T>) nested_list(S v) : flat{fit_scalar<T>("array", v).value} {}
  CUDARRAY_PER_BUILD CUDARRAY_COLD nested_list(::std::initializer_list<nested_list> items) {
    dims = shape{int64(items.size())};
    const nested_list* first = items.begin();
    if (first == items.end()) return;
    for (int64 d : first->dims) dims.push_back(d);
    for (const nested_list& i : items) {
      if (i.dims != first->dims)
        throw shape_error(cat("array: a list of parts with different shapes, ", first->dims, " and ", i.dims));
      flat.insert(flat.end(), i.flat.begin(), i.flat.end());
    }
  }
};

template <class T, class Device>
CUDARRAY_PER_BUILD CUDARRAY_COLD ndarray<T, Device> upload(const T* data, const shape& s, Device device) {
  auto r = new_array<T>("array", s, device);
  copy_from_host(device, *r.store, 0, data, ::std::size_t(s.elements()) * sizeof(T));
  return ndarray<T, Device>(::std::move(r));
}

}  // namespace detail

/// An array from nested lists. `{}` has shape (0,), `{{}}` shape (1, 0). Eager. Throws shape_error for ragged lists.
///     ca::array<float>({{1, 2, 3}, {4, 5, 6}})  // shape (2, 3)
template <dtype T = float, device_tag Device = default_device>
CUDARRAY_PER_BUILD CUDARRAY_COLD const ndarray<T, Device> array(::std::initializer_list<detail::nested_list<T>> items,
                                                                Device device = {}) {
  const detail::nested_list<T> list(items);
  if constexpr (::std::is_same_v<T, bool>) {
    const ::std::vector<uint8> bytes(list.flat.begin(), list.flat.end());
    return detail::upload(reinterpret_cast<const bool*>(bytes.data()), list.dims, device);
  } else {
    return detail::upload(list.flat.data(), list.dims, device);
  }
}
/// An array from host elements in C order, copied: a span or vector, and a shape (absent: one axis). Eager. Throws
/// shape_error where the counts differ.
template <class T, device_tag Device = default_device>
CUDARRAY_PER_BUILD const ndarray<normal_dtype_t<::std::remove_const_t<T>>, Device> array(::std::span<T> elements,
                                                                                         const shape& s,
                                                                                         Device device = {}) {
  using V = normal_dtype_t<::std::remove_const_t<T>>;
  if (detail::check_extents("array", s).elements() != int64(elements.size()))
    throw shape_error(detail::cat("array: ", elements.size(), " elements for shape ", s));
  return detail::upload(reinterpret_cast<const V*>(elements.data()), s, device);
}
template <class T, device_tag Device = default_device>
requires(dtype<normal_dtype_t<T>> && !::std::is_same_v<T, bool>)
    CUDARRAY_PER_BUILD const ndarray<normal_dtype_t<T>, Device> array(const ::std::vector<T>& elements, const shape& s,
                                                                      Device device = {}) {
  if (detail::check_extents("array", s).elements() != int64(elements.size()))
    throw shape_error(detail::cat("array: ", elements.size(), " elements for shape ", s));
  return detail::upload(reinterpret_cast<const normal_dtype_t<T>*>(elements.data()), s, device);
}
template <class T, device_tag Device = default_device>
requires(dtype<normal_dtype_t<T>> && !::std::is_same_v<T, bool>)
    CUDARRAY_PER_BUILD const ndarray<normal_dtype_t<T>, Device> array(const ::std::vector<T>& elements,
                                                                      Device device = {}) {
  return array<T, Device>(elements, shape(elements.size()), device);
}

namespace detail {
template <class T, class Device>
void check_alignment(const T* p) {
  constexpr ::std::size_t bytes = Device::host_accessible ? alignof(T) : sizeof(T);  // kernels load elements at once
  if (const auto address = reinterpret_cast<::std::uintptr_t>(p); address % bytes != 0)
    throw value_error(cat("from_pointer: ", dtype_name<::std::remove_const_t<T>>,
                          " needs an address that is a multiple of ", bytes, ", this one is ", address % bytes,
                          " off"));
}
}  // namespace detail

/// A view of memory that is not the library's: `pointer` is in the device's memory, strides are in elements (absent: C
/// order). Without a deleter the caller keeps it alive; with one, `deleter(pointer)` is called when no array uses it
/// any more. A pointer to const makes a read-only array. Throws value_error for an address that is not a multiple of
/// the type's alignment, on CUDA of its size.
template <class T, device_tag Device = default_device, class Deleter>
requires ::std::invocable<Deleter&, T*>
const ndarray<::std::remove_const_t<T>, Device> from_pointer(T* pointer, const shape& s, Deleter deleter,
                                                             Device device = {}) {
  detail::check_extents("from_pointer", s);
  detail::check_alignment<T, Device>(pointer);
  return ndarray<::std::remove_const_t<T>, Device>(detail::leaf<::std::remove_const_t<T>, Device>(
      detail::borrow(pointer, s.elements(), device.ordinal, ::std::move(deleter)), s));
}
template <class T, device_tag Device = default_device>
const ndarray<::std::remove_const_t<T>, Device> from_pointer(T* pointer, const shape& s, Device device = {}) {
  return from_pointer(
      pointer, s, [](T*) {}, device);
}
template <class T, device_tag Device = default_device, class Deleter>
requires ::std::invocable<Deleter&, T*>
const ndarray<::std::remove_const_t<T>, Device> from_pointer(T* pointer, const shape& s, const shape& strides,
                                                             Deleter deleter, Device device = {}) {
  if (strides.ndim() != detail::check_extents("from_pointer", s).ndim())
    throw shape_error(detail::cat("from_pointer: ", strides.ndim(), " strides for shape ", s));
  detail::check_alignment<T, Device>(pointer);
  layout l{s, {}, 0};
  for (int i = 0; i < s.ndim(); ++i) l.stride[i] = strides[i];
  const detail::extent e = detail::span_of(l);
  return ndarray<::std::remove_const_t<T>, Device>(detail::leaf<::std::remove_const_t<T>, Device>(
      detail::borrow(pointer, e.last + 1, device.ordinal, ::std::move(deleter)), l));
}
template <class T, device_tag Device = default_device>
const ndarray<::std::remove_const_t<T>, Device> from_pointer(T* pointer, const shape& s, const shape& strides,
                                                             Device device = {}) {
  return from_pointer(
      pointer, s, strides, [](T*) {}, device);
}

}  // namespace cudarray::inline v0

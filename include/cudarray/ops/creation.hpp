// Making arrays: from shapes, lists, host memory, and ranges.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../memory/bytes.hpp"
#include "math.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class T, class Device>
leaf<T, Device> new_array(const char* function, const shape& s, Device device) {
  check_extents(function, s);
  return new_leaf<T>(device, s);
}

/// A generated expression evaluated into a new array.
template <class Device, class G>
const ndarray<typename G::value_type, Device> from_generator(const char* function, const shape& s, const G& g,
                                                             Device device) {
  check_extents(function, s);
  return ndarray<typename G::value_type, Device>(materialise(generate<G, Device>{{}, g, s, device.ordinal}));
}

template <class T>
struct constant_value {
  using value_type = T;
  T v;
  CUDARRAY_HD T operator()(int64) const { return v; }
};

/// start + i * step, as NumPy computes it, the same on every device: no product and sum are one fused operation.
/// Integers by wrapping. The last element may be given exactly.
template <class T, class C>
struct arithmetic_sequence {
  using value_type = T;
  C start, step, last;
  int64 last_index;
  CUDARRAY_HD T operator()(int64 i) const {
    constexpr bool fuses = ::std::is_same_v<C, double> && (this_build::fma || CUDARRAY_DEVICE_CODE);
    if (i == last_index) return lane_cast<T>(last);
    if constexpr (fuses) return lane_cast<T>(start + math::fma(double(i), step, 0.));
    else return lane_cast<T>(math::add(start, math::multiply(C(i), step)));
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// An array of uninitialised elements. Eager. Throws shape_error, out_of_memory.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> empty(const shape& s, Device device = {}) {
  return ndarray<T, Device>(detail::new_array<T>("empty", s, device));
}
}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {
template <class T, class Device, class S>
const ndarray<T, Device> filled(const char* function, const shape& s, S value, Device device) {
  return from_generator(function, s, constant_value<T>{fit_scalar<T>(function, value).value}, device);
}
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// An array of one value. Eager.
///     ca::full<int>({2, 2}, 7)  // [[7 7] [7 7]]
template <dtype T = float, device_tag Device = default_device, scalar_value S>
const ndarray<T, Device> full(const shape& s, S value, Device device = {}) {
  return detail::filled<T>("full", s, value, device);
}
/// An array of zeros. Eager.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> zeros(const shape& s, Device device = {}) {
  return detail::filled<T>("zeros", s, 0, device);
}
/// An array of ones. Eager.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> ones(const shape& s, Device device = {}) {
  return detail::filled<T>("ones", s, 1, device);
}

/// Arrays of the shape, dtype and device of another, or of an expression; `zeros_like<int>(x)` changes the dtype.
/// Eager.
template <class T = void, array_expression X>
auto empty_like(const X& x) {
  return empty<::std::conditional_t<::std::is_void_v<T>, value_type_t<X>, T>>(detail::dims_of(x), detail::device_of(x));
}
template <class T = void, array_expression X, scalar_value S>
auto full_like(const X& x, S value) {
  return detail::filled<::std::conditional_t<::std::is_void_v<T>, value_type_t<X>, T>>("full_like", detail::dims_of(x),
                                                                                       value, detail::device_of(x));
}
template <class T = void, array_expression X>
auto zeros_like(const X& x) {
  return full_like<T, X, int>(x, 0);
}
template <class T = void, array_expression X>
auto ones_like(const X& x) {
  return full_like<T, X, int>(x, 1);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Numbers of all 64-bit types, their differences and multiples.
__extension__ typedef __int128 int128;

/// How many there are of start, start + step, ... before stop; at most 2^62, which no shape may have.
inline int64 range_size(int128 start, int128 stop, int128 step) {
  const int128 span = step > 0 ? stop - start : start - stop, by = step > 0 ? step : -step;
  const int128 n = span > 0 ? (span + by - 1) / by : 0, most = int128(1) << 62;
  return int64(n < most ? n : most);
}
/// As NumPy counts: 1 where a step is so long that the quotient is 0.
inline double range_size(double start, double stop, double step) {
  const double n = (stop - start) / step;
  return n == 0 && start != stop && (stop > start) == (step > 0) ? 1 : math::ceil(n);
}

/// A 64-bit number as text.
struct whole_number {
  int128 v;
  friend void append(text& t, const whole_number& n) { append(t, n.v < 0 ? piece(int64(n.v)) : piece(uint64(n.v))); }
};

template <class T, class Device>
const ndarray<T, Device> integer_range(int128 start, int128 stop, int128 step, Device device) {
  using V = ::std::conditional_t<(kind_of<T> <= kind::signed_), T, int64>;
  if (step == 0) fail<value_error>("arange: the step is 0");
  const int64 n = range_size(start, stop, step);
  const auto fits = [](int128 v) {
    return v >= ::std::numeric_limits<V>::lowest() && v <= int128(::std::numeric_limits<V>::max());
  };
  if (const int128 last = start + (n - 1) * step; n > 0 && !(fits(start) && fits(last)))
    fail<value_error>("arange: ", whole_number{start}, " to ", whole_number{last}, " do not fit ", dtype_name<V>);
  return from_generator("arange", n, arithmetic_sequence<T, int64>{int64(uint64(start)), int64(uint64(step)), 0, -1},
                        device);
}
template <class T, class Device>
const ndarray<T, Device> real_range(double start, double stop, double step, Device device) {
  if (step == 0) fail<value_error>("arange: the step is 0");
  const double n = range_size(start, stop, step);
  if (!(n < 9e15)) fail<value_error>("arange: ", start, " to ", stop, " by ", step);
  // NumPy's step is the difference of the first two; alone, the start is given: 0 infinite steps would be NaN
  return from_generator("arange", n > 0 ? int64(n) : 0,
                        arithmetic_sequence<T, double>{start, start + step - start, start, n == 1 ? 0 : -1}, device);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// start, start + step, ... up to but without stop: int64 where all three are integers, as NumPy has it, else float32.
/// Eager. Throws value_error for a step of 0, and for integers that do not fit the dtype.
///     ca::arange(0, 10, 2.5)     // [0.  2.5 5.  7.5]
///     ca::arange<ca::uint8>(3)   // [0 1 2]
template <class T = void, device_tag Device = default_device, scalar_value S, scalar_value E, scalar_value P = int>
auto arange(S start, E stop, P step = 1, Device device = {}) {
  constexpr bool real =
      (kind_of<result_type_t<normal_dtype_t<S>, normal_dtype_t<E>, normal_dtype_t<P>>> <= kind::floating);
  static_assert(real, "cudarray: arange of complex numbers: they have no order");
  constexpr bool integers = ::std::is_integral_v<S> && ::std::is_integral_v<E> && ::std::is_integral_v<P>;
  using natural = ::std::conditional_t<integers, int64, float>;
  using V = ::std::conditional_t<::std::is_void_v<T>, natural, T>;
  if constexpr (!real) return ndarray<V, Device>();
  else if constexpr (integers) return detail::integer_range<V>(start, stop, step, device);
  else return detail::real_range<V>(double(start), double(stop), double(step), device);
}
template <class T = void, device_tag Device = default_device, scalar_value S>
auto arange(S stop) {
  return arange<T, Device, int, S, int>(0, stop);
}

/// n values from start to stop, both included. Eager. Throws value_error for a negative n.
///     ca::linspace(0, 1, 5)  // [0. 0.25 0.5 0.75 1.]
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> linspace(double start, double stop, detail::any_integer n = 50, Device device = {}) {
  if (n < 0) detail::fail<value_error>("linspace: ", n, " values");
  const double step = n > 1 ? (stop - start) / double(n - 1) : 0.;
  return detail::from_generator("linspace", n.value,
                                detail::arithmetic_sequence<T, double>{start, step, stop, n > 1 ? n - 1 : -1}, device);
}

/// Ones on the k-th diagonal, zeros elsewhere. Eager.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> eye(detail::any_integer rows, detail::any_integer columns = -1, detail::any_integer k = 0,
                             Device device = {}) {
  if (columns == -1) columns = rows;
  const ndarray<T, Device> r = detail::filled<T>("eye", {rows, columns}, 0, device);
  if (k >= columns || k <= -rows) return r;
  const int64 row = k < 0 ? -k : 0, column = k > 0 ? int64(k) : 0;  // where the diagonal begins
  detail::leaf<T, Device> ones = r.node();
  ones.where = {{rows - row < columns - column ? rows - row : columns - column}, {columns + 1}, row * columns + column};
  ndarray<T, Device>(ones).template fill<int>(1);
  return r;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A nested brace list: a number, or lists of equal shape. It lasts as long as the expression it is written in.
template <class T>
struct nested_list {
  T value{};
  ::std::initializer_list<nested_list> items;
  bool is_list = true;

  nested_list() = default;  // {}
  nested_list(T v) : value(v), is_list(false) {}
  template <scalar_value S>
  requires(!::std::is_same_v<S, T>) nested_list(S v) : value(fit_scalar<T>("array", v).value), is_list(false) {}
  nested_list(::std::initializer_list<nested_list> list) : items(list) {}

  CUDARRAY_COLD shape dims() const {
    shape s;
    if (!is_list) return s;
    s.push_back(int64(items.size()));
    if (items.size() == 0) return s;
    const shape first = items.begin()->dims();
    for (int64 d : first) s.push_back(d);
    for (const nested_list* i = items.begin() + 1; i != items.end(); ++i)
      if (const shape other = i->dims(); other != first)
        fail<shape_error>("array: a list of parts with different shapes, ", first, " and ", other);
    return s;
  }
  /// Writes the numbers in order; returns where the next one goes.
  CUDARRAY_COLD T* write(T* to) const {
    if (!is_list) *to++ = value;
    for (const nested_list& i : items) to = i.write(to);
    return to;
  }
};

/// Elements on the host, on their way to a device.
template <class T>
struct host_buffer {
  T* p;
  explicit host_buffer(int64 n) : p(static_cast<T*>(::operator new(::std::size_t(n) * sizeof(T)))) {}
  host_buffer(const host_buffer&) = delete;
  ~host_buffer() { ::operator delete(p); }
};

template <class T, class Device>
CUDARRAY_COLD ndarray<T, Device> upload(const T* data, const shape& s, Device device) {
  auto r = new_array<T>("array", s, device);
  const int64 n = s.elements();
  if constexpr (::std::is_same_v<T, bool>) {
    const host_buffer<T> bools(n);
    if (n > 0) ::std::memcpy(static_cast<void*>(bools.p), data, ::std::size_t(n));
    normalise_bool(bools.p, ::std::size_t(n));
    copy_from_host(device, *r.store, 0, bools.p, ::std::size_t(n));
  } else {
    copy_from_host(device, *r.store, 0, data, ::std::size_t(n) * sizeof(T));
  }
  return ndarray<T, Device>(::std::move(r));
}

/// The dtype of what a container holds.
template <class C>
using element_t =
    normal_dtype_t<::std::remove_const_t<::std::remove_reference_t<::std::ranges::range_reference_t<const C&>>>>;
/// Containers of elements side by side, of type T where that is not void.
template <class C, class T>
concept has_elements =
    !array_expression<C> && ::std::ranges::contiguous_range<const C&> && dtype<element_t<C>> &&
    (::std::is_void_v<T> || ::std::is_same_v<element_t<C>, normal_dtype_t<::std::remove_const_t<T>>>);
/// Elements that do not lie side by side: of a list, a set, a view, a vector of bool.
template <class C>
using loose_element_t = normal_dtype_t<::std::ranges::range_value_t<C>>;
template <class C, class T>
concept has_loose_elements =
    !array_expression<C> && ::std::ranges::input_range<C> && !::std::ranges::contiguous_range<C> &&
    dtype<loose_element_t<C>> &&
    (::std::is_void_v<T> || ::std::is_same_v<loose_element_t<C>, normal_dtype_t<::std::remove_const_t<T>>>);

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// An array from nested lists. `{}` has shape (0,), `{{}}` shape (1, 0). Eager. Throws shape_error for ragged lists.
///     ca::array<float>({{1, 2, 3}, {4, 5, 6}})  // shape (2, 3)
template <dtype T = float, device_tag Device = default_device>
CUDARRAY_COLD const ndarray<T, Device> array(
    ::std::initializer_list<detail::nested_list<::std::type_identity_t<T>>> items, Device device = {}) {
  const detail::nested_list<T> list(items);
  const shape dims = list.dims();
  if constexpr (Device::host_accessible) {
    auto r = detail::new_array<T>("array", dims, device);
    list.write(static_cast<T*>(r.store->data));
    return ndarray<T, Device>(::std::move(r));
  } else {
    const detail::host_buffer<T> host(dims.elements());
    list.write(host.p);
    return detail::upload(static_cast<const T*>(host.p), dims, device);
  }
}
/// An array from host elements in C order, copied: of a vector, a span, a C array, any contiguous range; and a shape
/// (absent: one axis). Eager. Throws shape_error where the counts differ.
template <class T = void, device_tag Device = default_device, class C>
requires detail::has_elements<C, T>
const ndarray<detail::element_t<C>, Device> array(const C& elements, const shape& s, Device device = {}) {
  const int64 n = int64(::std::ranges::size(elements));
  if (detail::check_extents("array", s).elements() != n)
    detail::fail<shape_error>("array: ", n, " elements for shape ", s);
  return detail::upload(reinterpret_cast<const detail::element_t<C>*>(::std::ranges::data(elements)), s, device);
}
template <class T = void, device_tag Device = default_device, class C>
requires detail::has_elements<C, T>
const ndarray<detail::element_t<C>, Device> array(const C& elements, Device device = {}) {
  return array<T, Device, C>(elements, shape(::std::ranges::size(elements)), device);
}
/// The same of any other range: a list, a set, a view, a vector of bool.
///     ca::array(std::views::iota(1, 4))  // 1, 2, 3
template <class T = void, device_tag Device = default_device, class C>
requires detail::has_loose_elements<C&, T>
auto array(C&& elements, Device device = {}) {
  using E = detail::loose_element_t<C&>;
  struct element {
    E value;
  };
  ::std::vector<element> list;  // of bool, too, elements side by side
  for (const auto& e : elements) list.push_back({E(e)});
  return detail::upload(list.empty() ? nullptr : &list.data()->value, shape(int64(list.size())), device);
}

/// An array itself, an expression evaluated; of a range of elements an array of them.
template <array_expression X>
auto asarray(const X& x) {
  return eval(x);
}
template <class T = void, device_tag Device = default_device, class C>
requires detail::has_elements<C, T>
auto asarray(const C& elements, Device device = {}) { return array<T, Device>(elements, device); }
template <class T = void, device_tag Device = default_device, class C>
requires detail::has_loose_elements<C&, T>
auto asarray(C&& elements, Device device = {}) { return array<T, Device>(elements, device); }
/// The elements whose bytes, in this machine's order, begin at `offset` of memory on the host, copied; absent: all that
/// are whole. Throws value_error where there are not so many.
///     ca::frombuffer<float>(std::as_bytes(std::span(v)))
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> frombuffer(::std::span<const ::std::byte> bytes, detail::any_integer count = -1,
                                    detail::any_integer offset = 0, Device device = {}) {
  const int64 left = int64(bytes.size()) - offset, size = int64(sizeof(T));
  if (offset < 0 || left < 0)
    detail::fail<value_error>("frombuffer: offset ", offset, " in a buffer of ", bytes.size(), " bytes");
  if (count < 0 && left % size != 0)
    detail::fail<value_error>("frombuffer: ", left, " bytes are no whole number of elements of ", dtype_name<T>);
  if (count > left / size)
    detail::fail<value_error>("frombuffer: ", count, " elements of ", dtype_name<T>, " in ", left, " bytes");
  const int64 n = count < 0 ? left / size : int64(count);
  const detail::host_buffer<T> aligned(n);
  if (n > 0) ::std::memcpy(static_cast<void*>(aligned.p), bytes.data() + int64(offset), ::std::size_t(n * size));
  return detail::upload(static_cast<const T*>(aligned.p), shape(n), device);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {
/// Throws value_error for an address that no array of this shape can have, and shape_error for strides that reach
/// beyond 2^59 bytes.
template <class T, class Device>
void check_borrowed(const T* p, const layout& l) {
  constexpr ::std::size_t bytes = Device::host_accessible ? alignof(T) : sizeof(T);  // kernels load elements at once
  if (const auto address = reinterpret_cast<::std::uintptr_t>(p); address % bytes != 0)
    fail<value_error>("from_pointer: ", dtype_name<::std::remove_const_t<T>>,
                      " needs an address that is a multiple of ", bytes, ", this one is ", address % bytes, " off");
  if (p == nullptr && l.elements() > 0) fail<value_error>("from_pointer: a null pointer for shape ", l.dims);
  for (int i = 0; i < l.ndim(); ++i) {
    int64 reach = 0;
    if (l.dims[i] > 1 && (__builtin_mul_overflow(l.dims[i] - 1, l.stride[i], &reach) || reach >= int64(1) << 55 ||
                          reach <= -(int64(1) << 55)))
      fail<shape_error>("from_pointer: the stride ", l.stride[i], " of axis ", i, " of shape ", l.dims,
                        " is too large");
  }
}
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// A view of memory that is not the library's: `pointer` is in the device's memory, strides are in elements (absent: C
/// order). Without a deleter the caller keeps it alive; with one, `deleter(pointer)` is called when no array uses it
/// any more. A pointer to const makes a read-only array. As bool, every byte but 0 is true. Throws value_error for an
/// address that is not a multiple of the type's alignment, on CUDA of its size.
template <class T, device_tag Device = default_device, class Deleter>
requires ::std::invocable<Deleter&, T*>
const ndarray<::std::remove_const_t<T>, Device> from_pointer(T* pointer, const shape& s, Deleter deleter,
                                                             Device device = {}) {
  detail::check_borrowed<T, Device>(pointer, detail::c_layout(detail::check_extents("from_pointer", s)));
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
    detail::fail<shape_error>("from_pointer: ", strides.ndim(), " strides for shape ", s);
  layout l{s, {}, 0};
  for (int i = 0; i < s.ndim(); ++i) l.stride[i] = strides[i];
  detail::check_borrowed<T, Device>(pointer, l);
  l.read_only = detail::repeats_elements(l);
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

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

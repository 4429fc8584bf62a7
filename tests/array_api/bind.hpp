// What the Python module of the array API tests has of each dtype: a class, and the functions that are defined for it.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <cudarray/cudarray.hpp>
#include <span>

namespace nb = nanobind;
namespace ca = cudarray;

namespace array_api {

template <class T>
using array = ca::ndarray<T, ca::cpu>;
using numbers = std::vector<ca::int64>;

inline ca::shape shape_of(const numbers& v) { return {v.data(), int(v.size())}; }
inline ca::axes axes_of(const numbers& v) { return {v.data(), int(v.size())}; }
inline numbers numbers_of(const ca::shape& s) { return {s.begin(), s.end()}; }

/// The value of an expression, as nanobind takes it.
template <class X>
auto give(const X& x) {
  return array<ca::value_type_t<X>>(x);
}
template <class T, class D>
array<T> give(const ca::ndarray<T, D>& x) {
  return x;
}

/// One item of an index as Python hands it over: an integer, None, "...", a triple of a slice, an array.
inline ca::detail::advanced_item<ca::cpu> item_of(nb::handle h) {
  using item = ca::detail::advanced_item<ca::cpu>;
  const auto bound = [](nb::handle b) {
    return b.is_none() ? ca::slice_bound() : ca::slice_bound(nb::cast<ca::int64>(b));
  };
  if (h.is_none()) return item(ca::newaxis);
  if (nb::isinstance<nb::str>(h)) return item(ca::ellipsis);
  if (nb::isinstance<nb::tuple>(h)) return item(ca::slice(bound(h[0]), bound(h[1]), bound(h[2])));
  if (nb::isinstance<array<bool>>(h)) return item(nb::cast<array<bool>>(h));
  if (nb::isinstance<array<ca::int64>>(h)) return item(nb::cast<array<ca::int64>>(h));
  return item(nb::cast<ca::int64>(h));
}

/// An index as Python hands it over, and whether there are arrays in it.
struct python_index {
  std::vector<ca::detail::advanced_item<ca::cpu>> items;
  std::vector<ca::index_item> basic;
  bool has_arrays = false;
  explicit python_index(const nb::list& index) {
    for (nb::handle h : index) {
      items.push_back(item_of(h));
      basic.push_back(items.back().basic);
      has_arrays = has_arrays || items.back().is_index || items.back().is_mask;
    }
  }
  template <class T>
  array<T> view_of(const array<T>& x) const {
    return ca::detail::view(x, ca::detail::index_layout(x.where(), basic.data(), int(basic.size())));
  }
};
template <class T>
array<T> get_item(const array<T>& x, const nb::list& index) {
  const python_index i(index);
  if (i.has_arrays) return array<T>(ca::selection<T, ca::cpu>(x, i.items));
  return i.view_of(x);
}
template <class T>
void set_item(const array<T>& x, const nb::list& index, const array<T>& v) {
  const python_index i(index);
  if (i.has_arrays) ca::selection<T, ca::cpu>(x, i.items) = v;
  else i.view_of(x)(ca::ellipsis) = v;
}

template <class T>
nb::bytes bytes_of(const array<T>& x) {
  const array<T> dense = ca::ascontiguousarray(x);
  return nb::bytes(reinterpret_cast<const char*>(dense.data()), std::size_t(dense.nbytes()));
}
template <class T>
array<T> from_bytes(const nb::bytes& b, const numbers& s) {
  const std::span<const char> chars(b.c_str(), b.size());
  return ca::reshape(ca::frombuffer<T, ca::cpu>(std::as_bytes(chars)), shape_of(s));
}

template <class T, class Op, class F>
void unary(nb::module_& m, const char* name, F) {
  if constexpr (Op::template types<T>::ok) m.def(name, [](const array<T>& x) { return give(F{}(x)); });
}
template <class T, class Op, class F>
void binary(nb::module_& m, const char* name, F) {
  if constexpr (Op::template types<T, T>::ok)
    m.def(name, [](const array<T>& x, const array<T>& y) { return give(F{}(x, y)); });
}
template <class T, class F>
void reduction(nb::module_& m, const char* name, F) {
  m.def(name, [](const array<T>& x, const numbers& over, bool keep) {
    return keep ? give(F{}(x, axes_of(over), ca::keepdims)) : give(F{}(x, axes_of(over)));
  });
}
#define UNARY(name) unary<T, ca::op::name##_op>(m, #name, [](const auto& x) { return ca::name(x); })
#define BINARY(name) binary<T, ca::op::name##_op>(m, #name, [](const auto& x, const auto& y) { return ca::name(x, y); })
#define REDUCTION(name) \
  reduction<T>(m, #name, [](const auto& x, const ca::axes& over, auto... o) { return ca::name(x, over, o...); })

template <class T>
constexpr bool is_floating = ca::detail::is_floating<T>;
template <class T>
constexpr bool is_complex = ca::detail::is_complex<T>;
template <class T>
constexpr bool is_numeric = ca::kind_of<T> != ca::kind::boolean;
template <class T>
constexpr bool is_real = is_numeric<T> && !is_complex<T>;

template <class T>
void bind_class(nb::module_& m) {
  nb::class_<array<T>>(m, (std::string("array_") + ca::dtype_name<T>).c_str())
      .def_prop_ro("shape", [](const array<T>& x) { return numbers_of(x.shape()); })
      .def_prop_ro("dtype", [](const array<T>&) { return std::string(ca::dtype_name<T>); });
  m.def((std::string("from_bytes_") + ca::dtype_name<T>).c_str(), &from_bytes<T>);
  m.def("to_bytes", &bytes_of<T>);
  m.def("get_item", &get_item<T>);
  m.def("set_item", &set_item<T>);
  m.def("copy", [](const array<T>& x) { return give(ca::copy(x)); });
  m.def("to_string", [](const array<T>& x) { return ca::to_string(x); });
}

template <class T, class U>
void bind_astype(nb::module_& m) {
  m.def((std::string("astype_") + ca::dtype_name<U>).c_str(), [](const array<T>& x) { return give(ca::astype<U>(x)); });
}

template <class T>
void bind_elementwise(nb::module_& m) {
  if constexpr (is_numeric<T>) {
    UNARY(absolute);
    UNARY(negative);
    UNARY(positive);
    UNARY(square);
    m.def("sign", [](const array<T>& x) { return give(ca::sign(x)); });
    m.def("round", [](const array<T>& x) { return give(ca::round(x)); });
    m.def("isfinite", [](const array<T>& x) { return give(ca::isfinite(x)); });
    m.def("isinf", [](const array<T>& x) { return give(ca::isinf(x)); });
    m.def("isnan", [](const array<T>& x) { return give(ca::isnan(x)); });
    BINARY(add);
    BINARY(subtract);
    BINARY(multiply);
    m.def("pow", [](const array<T>& x, const array<T>& y) { return give(ca::pow(x, y)); });
  }
  if constexpr (is_real<T>) {
    UNARY(ceil);
    UNARY(floor);
    UNARY(trunc);
    BINARY(floor_divide);
    BINARY(remainder);
    BINARY(maximum);
    BINARY(minimum);
    BINARY(less);
    BINARY(less_equal);
    BINARY(greater);
    BINARY(greater_equal);
  }
  if constexpr (is_floating<T> || is_complex<T>) {
    UNARY(exp);
    UNARY(expm1);
    UNARY(log);
    UNARY(log1p);
    UNARY(log2);
    UNARY(log10);
    UNARY(sqrt);
    UNARY(sin);
    UNARY(cos);
    UNARY(tan);
    UNARY(sinh);
    UNARY(cosh);
    UNARY(tanh);
    UNARY(arcsin);
    UNARY(arccos);
    UNARY(arctan);
    UNARY(arcsinh);
    UNARY(arccosh);
    UNARY(arctanh);
    UNARY(reciprocal);
    BINARY(divide);
  }
  if constexpr (is_floating<T>) {
    UNARY(signbit);
    BINARY(arctan2);
    BINARY(copysign);
    BINARY(hypot);
    BINARY(logaddexp);
    BINARY(nextafter);
  }
  if constexpr (is_complex<T>) {
    m.def("real", [](const array<T>& x) { return give(ca::real(x)); });
    m.def("imag", [](const array<T>& x) { return give(ca::imag(x)); });
    m.def("conj", [](const array<T>& x) { return give(ca::conj(x)); });
  } else if constexpr (is_numeric<T>) {
    m.def("real", [](const array<T>& x) { return give(ca::real(x)); });
    m.def("conj", [](const array<T>& x) { return give(ca::conj(x)); });
  }
  UNARY(invert);
  BINARY(bitwise_and);
  BINARY(bitwise_or);
  BINARY(bitwise_xor);
  if constexpr (ca::detail::is_integer<T>) {
    BINARY(left_shift);
    BINARY(right_shift);
  }
  if constexpr (std::is_same_v<T, bool>) {
    UNARY(logical_not);
    BINARY(logical_and);
    BINARY(logical_or);
    BINARY(logical_xor);
  }
  BINARY(equal);
  BINARY(not_equal);
  m.def("where", [](const array<bool>& c, const array<T>& x, const array<T>& y) { return give(ca::where(c, x, y)); });
}

template <class T>
void bind_reductions(nb::module_& m) {
  REDUCTION(any);
  REDUCTION(all);
  REDUCTION(count_nonzero);
  if constexpr (is_numeric<T>) {
    REDUCTION(sum);
    REDUCTION(prod);
    m.def("cumulative_sum",
          [](const array<T>& x, ca::int64 axis, bool initial) { return give(ca::cumulative_sum(x, axis, initial)); });
    m.def("cumulative_prod",
          [](const array<T>& x, ca::int64 axis, bool initial) { return give(ca::cumulative_prod(x, axis, initial)); });
    m.def("diff", [](const array<T>& x, ca::int64 n, ca::int64 axis) { return give(ca::diff(x, n, axis)); });
  }
  if constexpr (is_floating<T> || is_complex<T>) {
    REDUCTION(mean);
  }
  if constexpr (is_real<T>) {
    REDUCTION(max);
    REDUCTION(min);
    REDUCTION(argmax);
    REDUCTION(argmin);
    m.def("sort", [](const array<T>& x, ca::int64 axis) { return give(ca::sort(x, axis)); });
    m.def("argsort", [](const array<T>& x, ca::int64 axis) { return give(ca::argsort(x, axis)); });
    m.def("top_k", [](const array<T>& x, ca::int64 k, ca::int64 axis, bool largest) {
      const auto r = ca::top_k(x, k, {.axis = axis, .largest = largest});
      return std::pair(r.values, r.indices);
    });
    m.def("searchsorted", [](const array<T>& x, const array<T>& v, bool right) {
      return give(ca::searchsorted(x, v, right ? ca::side::right : ca::side::left));
    });
  }
  if constexpr (is_floating<T>) {
    m.def("var", [](const array<T>& x, const numbers& over, ca::int64 ddof, bool keep) {
      return keep ? give(ca::var(x, axes_of(over), ca::ddof{ddof}, ca::keepdims))
                  : give(ca::var(x, axes_of(over), ca::ddof{ddof}));
    });
    m.def("std", [](const array<T>& x, const numbers& over, ca::int64 ddof, bool keep) {
      return keep ? give(ca::std(x, axes_of(over), ca::ddof{ddof}, ca::keepdims))
                  : give(ca::std(x, axes_of(over), ca::ddof{ddof}));
    });
  }
}

template <class T>
void bind_manipulation(nb::module_& m) {
  m.def("reshape", [](const array<T>& x, const numbers& s) { return give(ca::reshape(x, shape_of(s))); });
  m.def("permute_dims", [](const array<T>& x, const numbers& a) { return give(ca::permute_dims(x, axes_of(a))); });
  m.def("moveaxis", [](const array<T>& x, const numbers& from, const numbers& to) {
    return give(ca::moveaxis(x, axes_of(from), axes_of(to)));
  });
  m.def("matrix_transpose", [](const array<T>& x) { return give(ca::matrix_transpose(x)); });
  m.def("expand_dims", [](const array<T>& x, ca::int64 axis) { return give(ca::expand_dims(x, axis)); });
  m.def("squeeze", [](const array<T>& x, const numbers& a) { return give(ca::squeeze(x, axes_of(a))); });
  m.def("broadcast_to", [](const array<T>& x, const numbers& s) { return give(ca::broadcast_to(x, shape_of(s))); });
  m.def("flip", [](const array<T>& x, const numbers& a) { return give(ca::flip(x, axes_of(a))); });
  m.def("roll", [](const array<T>& x, ca::int64 n) { return give(ca::roll(x, n)); });
  m.def("roll", [](const array<T>& x, ca::int64 n, ca::int64 axis) { return give(ca::roll(x, n, axis)); });
  m.def("tile", [](const array<T>& x, const numbers& n) { return give(ca::tile(x, shape_of(n))); });
  m.def("repeat", [](const array<T>& x, ca::int64 n, ca::int64 axis) { return give(ca::repeat(x, n, axis)); });
  m.def("repeat",
        [](const array<T>& x, const array<ca::int64>& n, ca::int64 axis) { return give(ca::repeat(x, n, axis)); });
  m.def("concat", [](const std::vector<array<T>>& x, ca::int64 axis) { return give(ca::concat(x, axis)); });
  m.def("stack", [](const std::vector<array<T>>& x, ca::int64 axis) { return give(ca::stack(x, axis)); });
  m.def("unstack", [](const array<T>& x, ca::int64 axis) { return ca::unstack(x, axis); });
  m.def("tril", [](const array<T>& x, ca::int64 k) { return give(ca::tril(x, k)); });
  m.def("triu", [](const array<T>& x, ca::int64 k) { return give(ca::triu(x, k)); });
  m.def("diagonal", [](const array<T>& x, ca::int64 k) { return give(ca::diagonal(x, k, -2, -1)); });
  m.def("take",
        [](const array<T>& x, const array<ca::int64>& i, ca::int64 axis) { return give(ca::take(x, i, axis)); });
  m.def("take_along_axis", [](const array<T>& x, const array<ca::int64>& i, ca::int64 axis) {
    return give(ca::take_along_axis(x, i, axis));
  });
  m.def("nonzero", [](const array<T>& x) { return ca::nonzero(x); });
  m.def((std::string("full_") + ca::dtype_name<T>).c_str(),
        [](const numbers& s, const array<T>& v) { return give(ca::copy(ca::broadcast_to(v, shape_of(s)))); });
  if constexpr (is_numeric<T>) {
    m.def("matmul", [](const array<T>& x, const array<T>& y) { return give(ca::matmul(x, y)); });
    m.def("vecdot", [](const array<T>& x, const array<T>& y, ca::int64 axis) { return give(ca::vecdot(x, y, axis)); });
    m.def("tensordot", [](const array<T>& x, const array<T>& y, const numbers& a, const numbers& b) {
      return give(ca::tensordot(x, y, axes_of(a), axes_of(b)));
    });
  }
  m.def("unique_all", [](const array<T>& x) {
    const auto u = ca::unique_all(x);
    return std::tuple(give(u.values), give(u.indices), give(u.inverse_indices), give(u.counts));
  });
  m.def("isin", [](const array<T>& x, const array<T>& y) { return give(ca::isin(x, y)); });
}

template <class T>
void bind(nb::module_& m) {
  bind_class<T>(m);
  bind_elementwise<T>(m);
  bind_reductions<T>(m);
  bind_manipulation<T>(m);
  [&]<class... U>(std::tuple<U...>*) {
    (bind_astype<T, U>(m), ...);
  }(static_cast<std::tuple<bool, ca::int8, ca::int16, ca::int32, ca::int64, ca::uint8, ca::uint16, ca::uint32,
                           ca::uint64, float, double, ca::complex64, ca::complex128>*>(nullptr));
}

}  // namespace array_api

// The exception types, and building their texts.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "annotations.hpp"
#include "build.hpp"

namespace cudarray::inline v0 {

/// Base of everything the library throws.
class CUDARRAY_PUBLIC error : public ::std::runtime_error {
 public:
  using ::std::runtime_error::runtime_error;
};

/// Shapes that do not fit each other or the operation.
class CUDARRAY_PUBLIC shape_error : public error {
 public:
  using error::error;
};

/// An index or an axis out of range.
class CUDARRAY_PUBLIC index_error : public error {
 public:
  using error::error;
};

/// An argument whose value is not allowed: a scalar that does not fit its dtype, a read-only array, a negative count.
class CUDARRAY_PUBLIC value_error : public error {
 public:
  using error::error;
};

/// A dtype known only at run time that is not the one asked for.
class CUDARRAY_PUBLIC dtype_error : public error {
 public:
  using error::error;
};

/// An expression evaluated after one of its arrays was written.
class CUDARRAY_PUBLIC stale_error : public error {
 public:
  using error::error;
};

/// A device that is not there, or two devices in one operation.
class CUDARRAY_PUBLIC device_error : public error {
 public:
  using error::error;
};

/// A failed call of the CUDA runtime or of one of its libraries.
class CUDARRAY_PUBLIC cuda_error : public error {
 public:
  using error::error;
};

/// Memory that could not be had; the request is in the text.
class CUDARRAY_PUBLIC out_of_memory : public error {
 public:
  using error::error;
};

/// A file that could not be read or written, or is not what it should be.
class CUDARRAY_PUBLIC io_error : public error {
 public:
  using error::error;
};

namespace detail {

CUDARRAY_PER_BUILD inline void append(::std::string& s, const char* v) { s += v; }
CUDARRAY_PER_BUILD inline void append(::std::string& s, const ::std::string& v) { s += v; }
CUDARRAY_PER_BUILD inline void append(::std::string& s, char v) { s += v; }
/// One function formats every number, as printf does.
template <class N>
CUDARRAY_COLD CUDARRAY_PER_BUILD void append_as(::std::string& s, const char* format, N v) {
  char text[48];
  ::std::snprintf(text, sizeof text, format, v);
  s += text;
}
template <class I>
requires(::std::is_integral_v<I>) CUDARRAY_PER_BUILD void append(::std::string& s, I v) {
  if constexpr (::std::is_signed_v<I>) append_as<long long>(s, "%lld", v);
  else append_as<unsigned long long>(s, "%llu", v);
}
CUDARRAY_PER_BUILD inline void append(::std::string& s, double v) { append_as<double>(s, "%.15g", v); }

/// Joins values into a text; types of the library add an overload of `append` beside themselves.
template <class... A>
CUDARRAY_COLD CUDARRAY_PER_BUILD ::std::string cat(const A&... a) {
  ::std::string s;
  (append(s, a), ...);
  return s;
}

}  // namespace detail
}  // namespace cudarray::inline v0

// The exception types, and throwing them.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

#include "text.hpp"

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

namespace detail::inline CUDARRAY_BUILD {

/// Throws an exception with a text of values, one after another.
template <class E>
[[noreturn]] CUDARRAY_COLD void fail_with(const piece* pieces, int n) {
  text t;
  append(t, pieces, n);
  t.add("", 1);
  throw E(t.data());
}
template <class E, class... A>
[[noreturn]] CUDARRAY_FORCE_INLINE void fail(const A&... a) {
  const piece pieces[] = {piece(a)...};
  fail_with<E>(pieces, int(sizeof...(A)));
}

}  // namespace detail
}  // namespace cudarray::inline v0

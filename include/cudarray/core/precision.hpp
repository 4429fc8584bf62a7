// How exactly float32 products and convolutions are computed.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "annotations.hpp"

namespace cudarray::inline v0 {

/// `ieee`: in float32. `tf32`: on CUDA the operands, and the parts of complex64, are rounded to 10 bits of mantissa,
/// for the tensor cores: up to 8 times as fast, with relative errors of 1e-3 an operand; elsewhere as `ieee`.
enum class precision { ieee, tf32 };

namespace detail {
CUDARRAY_PUBLIC inline precision& thread_precision() {
  static thread_local precision p = precision::ieee;
  return p;
}
}  // namespace detail

/// The precision of this thread's float32 products and convolutions, for the scope; it is ieee outside.
///     { ca::precision_scope fast(ca::precision::tf32); y = ca::matmul(x, w); }
class precision_scope {
 public:
  explicit precision_scope(precision p) : before_(::std::exchange(detail::thread_precision(), p)) {}
  ~precision_scope() { detail::thread_precision() = before_; }
  precision_scope(const precision_scope&) = delete;
  precision_scope& operator=(const precision_scope&) = delete;

 private:
  precision before_;
};

}  // namespace cudarray::inline v0

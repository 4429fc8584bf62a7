// The backend entry for products of matrices.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/entries.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// `c[b] = a[b] @ b[b]`: operands 0, 1, 2 are c (m, n), a (m, k), b (k, n), each with its place, and the steps from row
/// to row, column to column and matrix to matrix, in elements. c's rows are contiguous; of a's and b's row and column
/// steps one is 1. All extents are 1 or more, no step is negative.
struct product {
  int64 m, n, k, batch;
  storage* store[3];
  int64 offset[3], row[3], column[3], step[3];
  template <class T>
  T* at(int i) const {
    return static_cast<T*>(store[i]->data) + offset[i];
  }
};

/// What may follow a product: `c = c + bias`, one element for each column, and then max(c, 0) if `relu`. `done` says
/// that the backend did it.
struct epilogue {
  storage* bias;
  int64 offset;
  bool relu;
  bool done;
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {
/// A product of float16, bfloat16, float32, float64 or complex matrices.
template <class T, class Device>
void multiply_matrices(Device, const detail::product&) {
  CUDARRAY_NO_BACKEND(Device);
}
/// A product of one matrix by one, with an epilogue: done and true, or nothing done and false. Optional.
template <class T, class Device>
bool multiply_with_epilogue(Device, const detail::product&, const detail::epilogue&) {
  return false;
}
}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

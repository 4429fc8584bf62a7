// Tests of two devices: whether there are two.
// SPDX-License-Identifier: MIT
#pragma once

#include "test.hpp"

namespace test {

/// False, with a word, on a machine with one GPU.
inline bool has_two_devices() {
  int n = 0;
  if (cudaGetDeviceCount(&n) == cudaSuccess && n >= 2) return true;
  WARN("skipped: it needs two CUDA devices, and there is " << n);
  return false;
}

}  // namespace test

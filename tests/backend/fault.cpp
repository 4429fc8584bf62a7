// A sticky CUDA fault: the error is thrown as cuda_error, and the program ends without std::terminate.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <cstdio>
#include <cudarray/cudarray.hpp>

namespace ca = cudarray;

int main() {
  const ca::ndarray<float> good = ca::ones({16});
  const ca::ndarray<float> bad = ca::from_pointer(reinterpret_cast<float*>(std::uintptr_t(64)), {16});
  try {
    const ca::ndarray<float> sum = good + bad;
    ca::synchronize();
  } catch (const ca::cuda_error& e) {
    std::printf("cuda_error: %s\n", e.what());
    return 0;  // arrays are released after this, on a dead context
  }
  std::printf("nothing was thrown\n");
  return 1;
}

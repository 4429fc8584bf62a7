// Arrays passed between files built with different flags, and a seed shared with a library.
// SPDX-License-Identifier: MIT
#include <cstdio>

#include "work.hpp"

namespace {

int failures = 0;
void check(bool ok, const char* what) {
  if (ok) return;
  std::printf("odr: %s\n", what);
  ++failures;
}
bool close(const host_array& a, const host_array& b) {
  return a.shape() == b.shape() && ca::max(ca::abs(a - b)).item() < 1e-6f;
}

}  // namespace

int main() {
  const host_array a = ca::reshape(ca::arange<float, ca::cpu>(300), {20, 15}) * 0.01f;
  const host_array plain = work_plain(a), native = work_native(a);
  check(close(plain, native), "the plain file and the native one disagree");
  check(close(work_plain(native), work_native(plain)), "arrays of one file differ in the other");
#if defined(WITH_NVCC)
  check(close(work_nvcc(plain), work_native(plain)), "nvcc's file disagrees");
#endif
  ca::random::seed(5);
  const host_array all = ca::random::uniform<float, ca::cpu>(8);
  ca::random::seed(5);
  const host_array first = ca::random::uniform<float, ca::cpu>(4), second = library_numbers(4);
  check(close(ca::concatenate({first, second}), all), "the library has a random state of its own");
  std::printf("odr: %d failed\n", failures);
  return failures != 0;
}

// One of several files with the same templates: see arithmetic.hpp.
// SPDX-License-Identifier: MIT
#include "arithmetic.hpp"

arithmetic_results arithmetic_precise(const host<float>& special, const host<float>& large, const host<float>& small) {
  return compute(special, large, small);
}

// The order of images in memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "test.hpp"

namespace test {

/// Whether the channels of images are innermost in memory, and the order is not C order as well.
template <class T, class D>
bool is_channels_last(const ca::ndarray<T, D>& x) {
  return !x.is_contiguous() && ca::nnet::channels_last(x).data() == x.data();
}

}  // namespace test

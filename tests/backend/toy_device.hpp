// The tag of the toy device; included before everything else where it is the default device.
// SPDX-License-Identifier: MIT
#pragma once

namespace cudarray::inline v0::backend {

struct toy {
  static constexpr const char* name = "toy";
  static constexpr bool synchronous = true;
  static constexpr bool host_accessible = false;
  static constexpr bool whole_attention = true;
  int ordinal = 0;
  friend constexpr bool operator==(toy, toy) = default;
};

}  // namespace cudarray::inline v0::backend

// Device tags.
// SPDX-License-Identifier: MIT
#pragma once

namespace cudarray::inline v0 {
namespace backend {

/// The CPU. Its functions run at once, in the calling thread and, where they are large, in others with it.
struct cpu {
  static constexpr const char* name = "cpu";
  static constexpr bool synchronous = true;      ///< work is finished, and its errors are known, when a call returns
  static constexpr bool host_accessible = true;  ///< the host may read and write its memory
  static constexpr bool row_programs = true;     ///< the backend has run_row_program
  static constexpr bool fused_gradients = true;  ///< the backend has run_gradients
  static constexpr int scans_across = 16;        ///< neighbouring segments; with fewer the axis is moved to the end
  int ordinal = 0;
  friend constexpr bool operator==(cpu, cpu) = default;
};

/// A CUDA device; `ordinal` counts as cudaGetDevice does. `cuda{}` is device 0.
struct cuda {
  static constexpr const char* name = "cuda";
  static constexpr bool synchronous = false;
  static constexpr bool host_accessible = false;
  static constexpr bool one_pass = true;      ///< reading once is worth more arithmetic
  static constexpr bool row_programs = true;  ///< the backend has run_row_program
  static constexpr bool fused_gradients = true;
  static constexpr bool whole_attention = true;  ///< the backend may have attend_natively
  int ordinal = 0;
  friend constexpr bool operator==(cuda, cuda) = default;
};

template <class Device>
inline constexpr bool one_pass = requires {
  requires Device::one_pass;
};
template <class Device>
inline constexpr bool row_programs = requires {
  requires Device::row_programs;
};
template <class Device>
inline constexpr bool fused_gradients = requires {
  requires Device::fused_gradients;
};
template <class Device>
inline constexpr bool whole_attention = requires {
  requires Device::whole_attention;
};

}  // namespace backend

using backend::cpu;
using backend::cuda;

/// The device of arrays that do not name one: set once per target by CMake (`cudarray::cuda` makes it `cuda`).
#if defined(CUDARRAY_DEFAULT_DEVICE)
using default_device = backend::CUDARRAY_DEFAULT_DEVICE;
#else
using default_device = backend::cpu;
#endif

template <class T>
concept device_tag = requires {
  {T::name};
  {T::synchronous};
  {T::host_accessible};
};

}  // namespace cudarray::inline v0

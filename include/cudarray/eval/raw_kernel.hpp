// The backend entry for kernels that are compiled from source at run time.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "../core/integer.hpp"
#include "each_index.hpp"

namespace cudarray::inline v0 {

/// How many blocks or threads there are along three axes.
struct launch_extent {
  int64 x = 1, y = 1, z = 1;
  constexpr launch_extent() = default;
  template <class N>
  requires ::std::is_convertible_v<N, detail::any_integer>
  constexpr launch_extent(N n) : x(detail::any_integer(n)) {}
  constexpr launch_extent(detail::any_integer x_, detail::any_integer y_, detail::any_integer z_ = 1)
      : x(x_), y(y_), z(z_) {}
};
/// The blocks of a launch, the threads of each, and the bytes of its dynamic shared memory.
///     {.grid = {8, 8}, .block = 256}
struct kernel_launch {
  launch_extent grid = {}, block = {};
  int64 shared_bytes = 0;
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail {

struct kernel_source {
  ::std::string code, name;
  ::std::vector<::std::string> options;
  ::std::string key;  ///< all of these, one after another, the length of each in front

  kernel_source(::std::string code_, ::std::string name_, ::std::vector<::std::string> options_)
      : code(::std::move(code_)), name(::std::move(name_)), options(::std::move(options_)) {
    const auto add = [this](const ::std::string& part) { key += cat(part.size(), ':', part); };
    add(name);
    add(code);
    for (const auto& o : options) add(o);
  }
};
/// Where the arguments are, and how many bytes each has.
struct kernel_arguments {
  void* const* values;
  const ::std::size_t* bytes;
  int count;
};

}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// Compiles the source, unless this process has, and launches its kernel, which uses `count` blocks of memory. Throws
/// cuda_error with the compiler's log, value_error for arguments or an extent that do not fit.
template <class Device>
void run_raw_kernel(Device, const detail::kernel_source&, const kernel_launch&, const detail::kernel_arguments&,
                    const detail::used_memory*, int) {
  CUDARRAY_NO_BACKEND(Device);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

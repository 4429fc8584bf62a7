// A text as a template argument: f<"text">().
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace cudarray::inline v0::detail {

template <::std::size_t N>
struct fixed_text {
  char text[N] = {};
  constexpr fixed_text(const char (&from)[N]) {
    for (::std::size_t i = 0; i < N; ++i) text[i] = from[i];
  }
  constexpr ::std::string_view view() const { return {text, N - 1}; }
};

}  // namespace cudarray::inline v0::detail

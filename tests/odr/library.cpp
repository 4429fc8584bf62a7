// A shared library with hidden visibility that uses the process's random state.
// SPDX-License-Identifier: MIT
#include "work.hpp"

host_array library_numbers(int n) { return ca::random::uniform<float, ca::cpu>(n); }

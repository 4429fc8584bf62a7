// Forward declarations for headers that only name arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include "expr/concepts.hpp"

// Pictures: PNG files as arrays of bytes. Needs libpng: the target cudarray::png.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/memory.hpp"
#include "io/png.hpp"

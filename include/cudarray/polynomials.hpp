// Polynomials by their coefficients.
// SPDX-License-Identifier: MIT
#pragma once

#include "statistics.hpp"

#include "ops/polynomials.hpp"

// Counters of what the library did.
// SPDX-License-Identifier: MIT
#pragma once

#include "memory/stats.hpp"

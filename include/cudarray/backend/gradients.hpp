// Gradients on each device that has an entry for them.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/gradients.hpp"

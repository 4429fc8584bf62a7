// The number of threads that operations on the CPU use.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/threads.hpp"

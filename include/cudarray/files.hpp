// Files beyond .npy: .npz, safetensors, tables of text, memory-mapped files; arrays of whatever dtype a file says.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/memory.hpp"
#include "io/any.hpp"
#include "io/memmap.hpp"
#include "io/npz.hpp"
#include "io/safetensors.hpp"
#include "io/text.hpp"

// Everything: the umbrella header.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

// these next: compile-time errors come from them, and list the includes on the way
#include "ops/out.hpp"
#include "ops/scatter.hpp"

#include "creation.hpp"
#include "graph.hpp"
#include "indexing.hpp"
#include "io.hpp"
#include "linalg.hpp"
#include "manipulation.hpp"
#include "math.hpp"
#include "memory.hpp"
#include "nnet.hpp"
#include "products.hpp"
#include "random.hpp"
#include "reductions.hpp"
#include "scatter.hpp"
#include "searching.hpp"
#include "sorting.hpp"
#include "statistics.hpp"
#include "stats.hpp"
#include "stream.hpp"
#include "threads.hpp"
#include "your_functions.hpp"

// these last: errors of what they include would list them on the way
#include "distributions.hpp"
#include "exchange.hpp"
#include "files.hpp"
#include "polynomials.hpp"

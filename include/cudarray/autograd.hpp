// Derivatives: variables, whose gradients backward() computes.
// SPDX-License-Identifier: MIT
#pragma once

// these first: compile-time errors come from them, and list the includes on the way
#include "autograd/variable.hpp"

#include "autograd/tree.hpp"

#include "autograd/transform.hpp"

#include "autograd/checkpoint.hpp"
#include "autograd/custom_vjp.hpp"
#include "autograd/diagonals.hpp"
#include "autograd/indexing.hpp"
#include "autograd/jvp.hpp"
#include "autograd/linalg.hpp"
#include "autograd/manipulation.hpp"
#include "autograd/nnet.hpp"
#include "autograd/reductions.hpp"
#include "autograd/row_statement.hpp"
#include "autograd/sorting.hpp"
#include "autograd/transfer.hpp"
#include "backend/gradients.hpp"
#include "backend/scatter.hpp"
#include "nnet.hpp"

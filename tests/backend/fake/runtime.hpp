// A CUDA runtime without a GPU, to test the library's use of one: several devices, streams whose order is followed,
// memory whose uses are checked against that order, calls that fail when told to. Kernels run on the host, at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <set>
#include <string>
#include <vector>

namespace fake {

/// What exists at present, and how often what was called.
struct counts {
  long allocations = 0, bytes = 0;  ///< of device memory
  long streams = 0, events = 0, blas_handles = 0, dnn_handles = 0, dnn_descriptors = 0;
  long device_waits = 0, stream_waits = 0, orders = 0, kernels = 0, trims = 0, plans_made = 0;
};
counts now();

/// Uses of memory that were not ordered behind what they depend on, waits that would have ended a capture, frees of
/// what is not there: in words. Forgets them.
std::vector<std::string> violations();

/// Devices that calls of this thread have made a context of, if it was not there. Forgets them.
std::set<int> contexts_made();

/// A kernel or copy on a stream, which uses memory.
struct use {
  const void* data;
  bool write;
};
void work(cudaStream_t stream, const std::vector<use>& uses);
/// The work a stream was given is not done, says cudaStreamQuery.
void keep_busy(cudaStream_t stream, bool busy);
/// The `nth` next call of a function fails (1: the very next), and with `lasting` every one from then on; 0: none does.
void fail(const std::string& function, int nth, cudaError_t error = cudaErrorMemoryAllocation, bool lasting = false);
/// At most so many bytes of device memory can be allocated; what is freed counts until the pool is trimmed. 0: no
/// limit.
void limit_memory(long bytes);
/// cuDNN has a plan for convolutions, or none.
void dnn_supports(bool yes);

}  // namespace fake

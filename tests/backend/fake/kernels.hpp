// Entries of the CUDA backend that need nvcc, by loops on the host: what the toy device does, on CUDA's memory and
// streams. SPDX-License-Identifier: MIT
#pragma once

#include <cudarray/backend/cuda/runtime/memory.hpp>
#include <cudarray/eval/pooling.hpp>

#include "backend/toy.hpp"
#include "runtime.hpp"

namespace cudarray::inline v0::backend {

/// What the launch of a kernel does before the kernel runs: operand 0 is written, and of several results the last ones.
inline void fake_launch(cuda device, detail::storage* const* operands, int count, int results = 1) {
  const gpu::device_guard guard(device.ordinal);
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  std::vector<fake::use> uses;
  for (int k = 0; k < count; ++k) {
    const bool written = k == 0 || k > count - results;
    gpu::use_on(operands[k], stream, written);
    if (operands[k] != nullptr) uses.push_back({operands[k]->data, written});
  }
  fake::work(stream->handle, uses);
}
inline void fake_read(cuda device, detail::storage* s) {
  detail::storage* const operands[] = {nullptr, s};
  fake_launch(device, operands, 2);
}
/// The toy device's memory as the CUDA device's.
inline detail::storage_ref fake_result(cuda device, const detail::storage_ref& from) {
  detail::storage_ref to = allocate(device, from->bytes);
  fake_launch(device, std::vector<detail::storage*>{to.get()}.data(), 1);
  if (from->bytes) std::memcpy(to->data, from->data, from->bytes);
  return to;
}

template <class Target, class Tree, int Operands>
void run_elementwise(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s) {
  fake_launch(device, s.store, Operands, detail::results_of<Target>);
  if constexpr (!requires { target.also; }) run_elementwise(toy{}, target, tree, s);
}
/// Pools compute nothing: their results are not looked at.
template <class T>
void max_pool(cuda device, const detail::pooling& g) {
  fake_launch(device, g.store, 2);
}
template <class T>
void max_pool_gradient(cuda device, const detail::pooling& g) {
  fake_launch(device, g.store, 3);
}
template <class Target, class Tree, class Op, int Operands>
void run_reduce(cuda device, const Target& target, const Tree& tree, const Op& op,
                const detail::iteration_space<Operands>& s) {
  fake_launch(device, s.store, Operands);
  run_reduce(toy{}, target, tree, op, s);
}
inline detail::storage_ref flat_nonzero(cuda device, const detail::segments& mask, int64& count) {
  fake_read(device, mask.store);
  return fake_result(device, flat_nonzero(toy{}, mask, count));
}
template <class T>
detail::storage_ref select_flagged(cuda device, const detail::segments& from, const detail::segments& mask,
                                   int64& count) {
  fake_read(device, from.store);
  fake_read(device, mask.store);
  return fake_result(device, select_flagged<T>(toy{}, from, mask, count));
}
template <class T>
detail::storage_ref argsort_segments(cuda device, const detail::segments& s) {
  fake_read(device, s.store);
  return fake_result(device, argsort_segments<T>(toy{}, s));
}
template <class T>
detail::storage_ref sort_segments(cuda device, const detail::segments& s) {
  fake_read(device, s.store);
  return fake_result(device, sort_segments<T>(toy{}, s));
}
template <class T>
detail::top_elements topk_segments(cuda device, const detail::segments& s, int64 k, bool largest) {
  fake_read(device, s.store);
  const detail::top_elements r = topk_segments<T>(toy{}, s, k, largest);
  return {fake_result(device, r.values), fake_result(device, r.positions)};
}
template <class Op, class T>
detail::storage_ref scan_segments(cuda device, const detail::segments& s) {
  fake_read(device, s.store);
  return fake_result(device, scan_segments<Op, T>(toy{}, s));
}
template <class Op, class T>
void combine_at_indices(cuda device, const detail::segments& to, const detail::segments& index,
                        const detail::segments& values, const detail::index_check& check) {
  detail::storage* const operands[] = {to.store, index.store, values.store};
  fake_launch(device, operands, 3);
  for (int64 i = 0; i < index.n; ++i) {
    int64 k = index.at<int64>()[i];
    if (!detail::resolve_index(k, check.limit, check.fault, i)) return;
  }
  combine_at_indices<Op, T>(toy{}, to, index, values, check);
}

}  // namespace cudarray::inline v0::backend

// A third device, written from docs/backend.md alone: everything element by element, nothing of backend/cpu.
// SPDX-License-Identifier: MIT
#pragma once

#include "toy_device.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cudarray/eval/entries.hpp>
#include <cudarray/eval/product.hpp>
#include <cudarray/memory/stats.hpp>

namespace cudarray::inline v0::backend {

inline detail::storage_ref allocate(toy device, std::size_t bytes) {
  void* const data = bytes < SIZE_MAX - 64 ? std::aligned_alloc(64, (bytes / 64 + 1) * 64) : nullptr;
  if (data == nullptr) throw out_of_memory(detail::cat("toy: ", bytes, " bytes could not be allocated"));
  auto* s = new detail::storage;
  s->data = data;
  s->bytes = bytes;
  s->ordinal = device.ordinal;
  s->release = [](detail::storage* p) noexcept {
    std::free(p->data);
    delete p;
  };
  detail::count(detail::counters.allocations);
  return detail::storage_ref(s);
}
inline void copy_to_host(toy, void* host, detail::storage& s, std::size_t offset, std::size_t bytes) {
  if (bytes) std::memcpy(host, static_cast<const char*>(s.data) + offset, bytes);
}
inline void copy_from_host(toy, detail::storage& s, std::size_t offset, const void* host, std::size_t bytes) {
  if (bytes) std::memcpy(static_cast<char*>(s.data) + offset, host, bytes);
}
inline void synchronize_device(toy) {}

/// One place of the space: an offset for every operand.
template <int Operands>
struct toy_access {
  int64 offset[Operands] = {};
  template <int I, class T>
  T* at(T* p) const {
    return p + offset[I];
  }
  template <int I, class T>
  T load(const T* p) const {
    return p[offset[I]];
  }
  template <class T>
  T splat(T v) const {
    return v;
  }
  template <int I, class G>
  auto generate(const G& g) const {
    return g(offset[I]);
  }
  template <class Op, class... V>
  auto apply(const Op& op, V... v) const {
    return op(v...);
  }
};

/// Calls `body(access, position)` for every place of the axes [begin, end), in C order.
template <int Operands, class F>
void toy_walk(const detail::iteration_space<Operands>& s, int begin, int end, toy_access<Operands> from,
              const F& body) {
  for (int64 i = 0, n = s.size(begin, end); i < n; ++i) {
    toy_access<Operands> a = from;
    int64 rest = i;
    for (int d = end - 1; d >= begin; --d) {
      for (int k = 0; k < Operands; ++k) a.offset[k] += rest % s.extent[d] * s.stride[k][d];
      rest /= s.extent[d];
    }
    body(a, i);
  }
}

template <class Build, class Target, class Tree, int Operands>
void run_elementwise(toy, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s) {
  detail::count(detail::counters.kernels);
  toy_walk(s, 0, s.ndim, {}, [&](const auto& a, int64) { target(a, tree(a)); });
}

template <class Build, class Target, class Tree, class Op, int Operands>
void run_reduce(toy, const Target& target, const Tree& tree, const Op&, const detail::iteration_space<Operands>& s) {
  using types = typename Op::template types<typename Tree::value_type>;
  using total = typename types::total;
  detail::count(detail::counters.kernels);
  toy_walk(s, 0, s.kept, {}, [&](const auto& result, int64) {
    total sum = Op::template identity<total>();
    toy_walk(s, s.kept, s.ndim, result, [&](const auto& a, int64 position) {
      sum = Op::combine(sum, total(Op::template lift<typename types::block>(tree(a), position)));
    });
    target(result, Op::template finish<typename types::result>(sum, s.size(s.kept, s.ndim)));
  });
}

template <class Build>
detail::storage_ref flat_nonzero(toy device, detail::storage& mask, int64 n, int64& count) {
  const bool* m = static_cast<const bool*>(mask.data);
  detail::count(detail::counters.kernels);
  count = std::count(m, m + n, true);
  detail::storage_ref r = allocate(device, std::size_t(count) * sizeof(int64));
  int64* to = static_cast<int64*>(r->data);
  for (int64 i = 0; i < n; ++i)
    if (m[i]) *to++ = i;
  return r;
}

template <class Build, class T>
detail::storage_ref stable_argsort(toy device, detail::storage& keys, int64 n) {
  detail::storage_ref r = allocate(device, std::size_t(n) * sizeof(int64));
  int64* order = static_cast<int64*>(r->data);
  detail::count(detail::counters.kernels);
  const T* k = static_cast<const T*>(keys.data);
  for (int64 i = 0; i < n; ++i) order[i] = i;
  std::stable_sort(order, order + n, [k](int64 a, int64 b) { return k[a] == k[a] && (k[b] != k[b] || k[a] < k[b]); });
  return r;
}

template <class Build, class T>
void multiply_matrices(toy, const detail::product& g) {
  using C = detail::compute_t<T>;
  detail::count(detail::counters.kernels);
  for (int64 b = 0; b < g.batch; ++b)
    for (int64 i = 0; i < g.m; ++i)
      for (int64 j = 0; j < g.n; ++j) {
        C sum{};
        for (int64 p = 0; p < g.k; ++p)
          sum = sum + C(g.at<T>(1)[b * g.step[1] + i * g.row[1] + p * g.column[1]]) *
                          C(g.at<T>(2)[b * g.step[2] + p * g.row[2] + j * g.column[2]]);
        g.at<T>(0)[b * g.step[0] + i * g.row[0] + j] = detail::convert_scalar<T>(sum);
      }
}

}  // namespace cudarray::inline v0::backend

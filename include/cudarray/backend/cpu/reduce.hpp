// Reductions on the CPU: packs along the reduced axis, packs across the results, or element by element.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../memory/stats.hpp"
#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend {
namespace host {

/// One result after another; `N` lanes run along the last reduced axis, 1 for single elements. Partial results of
/// `block` elements a lane are combined in the wider total type, so that errors do not grow with the length.
template <class Build, int N, class Target, class Tree, class Op, int Operands>
void reduce_along(const Target& target, const Tree& tree, const Op&, const detail::iteration_space<Operands>& s) {
  using types = typename Op::template types<typename Tree::value_type>;
  using block = typename types::block;
  using total = typename types::total;
  constexpr int64 block_length = 64;
  const int inner = s.ndim - 1;
  const bool flat = inner < s.kept;  // nothing is reduced: every result is one element
  const int64 n = flat ? 1 : s.extent[inner], count = s.size(s.kept, s.ndim);
  int64 step[Operands] = {};
  for (int k = 0; k < Operands && !flat; ++k) step[k] = s.stride[k][inner];
  odometer<Operands, Build> result;
  do {
    total sum = Op::template identity<total>();
    odometer<Operands, Build> at;
    for (int k = 0; k < Operands; ++k) at.offset[k] = result.offset[k];
    int64 position = 0;
    do {
      int64 i = 0;
      if constexpr (N > 1) {
        while (i + N <= n) {
          auto a = simd::splat<block, N, Build>(Op::template identity<block>()), b = a;
          const int64 stop = n - N < i + block_length * N ? n - N + 1 : i + block_length * N;
          for (; i + N < stop; i += 2 * N) {
            a = Op::combine(a, lane_cast<block>(tree(pack_access<N, Operands, Build>{at.offset, step, i})));
            b = Op::combine(b, lane_cast<block>(tree(pack_access<N, Operands, Build>{at.offset, step, i + N})));
          }
          for (; i < stop; i += N)
            a = Op::combine(a, lane_cast<block>(tree(pack_access<N, Operands, Build>{at.offset, step, i})));
          a = Op::combine(a, b);
          for (int k = 0; k < N; ++k) sum = Op::combine(sum, total(simd::lane(a, k)));
        }
      }
      while (i < n) {
        block part = Op::template identity<block>();
        for (const int64 stop = n < i + block_length ? n : i + block_length; i < stop; ++i)
          part = Op::combine(
              part, Op::template lift<block>(tree(element_access<Operands, Build>{at.offset, step, i}), position + i));
        sum = Op::combine(sum, total(part));
      }
      position += n;
    } while (at.next(s, s.kept, inner));
    target(element_access<Operands, Build>{result.offset, step, 0},
           Op::template finish<typename types::result>(sum, count));
  } while (result.next(s, 0, s.kept));
}

/// Lanes run across the results along the last kept axis, whose steps are 0 or 1.
template <class Build, int N, class Target, class Tree, class Op, int Operands>
void reduce_across(const Target& target, const Tree& tree, const Op&, const detail::iteration_space<Operands>& s) {
  using types = typename Op::template types<typename Tree::value_type>;
  using block = typename types::block;
  using total = typename types::total;
  constexpr int wide = 4;  // packs at a time
  constexpr int64 block_length = 64;
  const int across = s.kept - 1;
  const int64 n = s.extent[across], count = s.size(s.kept, s.ndim);
  int64 step[Operands];
  for (int k = 0; k < Operands; ++k) step[k] = s.stride[k][across];
  odometer<Operands, Build> result;
  do {
    for (int64 i = 0; i < n;) {
      const int lanes = n - i >= N ? N : 1;
      const int packs = lanes == N ? int((n - i) / N < wide ? (n - i) / N : wide) : 1;
      total sum[wide * N];
      for (int k = 0; k < packs * lanes; ++k) sum[k] = Op::template identity<total>();
      odometer<Operands, Build> at;
      for (int k = 0; k < Operands; ++k) at.offset[k] = result.offset[k];
      bool more = true;
      if (lanes == N) {
        while (more) {
          simd::pack<block, N, Build> part[wide];
          for (int w = 0; w < wide; ++w) part[w] = simd::splat<block, N, Build>(Op::template identity<block>());
          for (int64 j = 0; j < block_length && more; ++j) {
            if (packs == wide)
              for (int w = 0; w < wide; ++w)
                part[w] = Op::combine(
                    part[w], lane_cast<block>(tree(pack_access<N, Operands, Build>{at.offset, step, i + w * N})));
            else
              for (int w = 0; w < packs; ++w)
                part[w] = Op::combine(
                    part[w], lane_cast<block>(tree(pack_access<N, Operands, Build>{at.offset, step, i + w * N})));
            more = at.next(s, s.kept, s.ndim);
          }
          for (int w = 0; w < packs; ++w)
            for (int k = 0; k < N; ++k) sum[w * N + k] = Op::combine(sum[w * N + k], total(simd::lane(part[w], k)));
        }
      } else {
        while (more) {
          block part = Op::template identity<block>();
          for (int64 j = 0; j < block_length && more; ++j) {
            part = Op::combine(part,
                               Op::template lift<block>(tree(element_access<Operands, Build>{at.offset, step, i}), 0));
            more = at.next(s, s.kept, s.ndim);
          }
          sum[0] = Op::combine(sum[0], total(part));
        }
      }
      for (int k = 0; k < packs * lanes; ++k)
        target(element_access<Operands, Build>{result.offset, step, i + k},
               Op::template finish<typename types::result>(sum[k], count));
      i += packs * lanes;
    }
  } while (result.next(s, 0, across));
}

}  // namespace host

template <class Build, class Target, class Tree, class Op, int Operands>
void run_reduce(cpu, const Target& target, const Tree& tree, const Op& op, const detail::iteration_space<Operands>& s) {
  detail::count(detail::counters.kernels);
  if (s.size(s.kept, s.ndim) == 0) {  // empty: the results are what the identity finishes to
    using types = typename Op::template types<typename Tree::value_type>;
    const int64 step[Operands] = {};
    host::odometer<Operands, Build> result;
    do {
      target(host::element_access<Operands, Build>{result.offset, step, 0},
             Op::template finish<typename types::result>(Op::template identity<typename types::total>(), 0));
    } while (result.next(s, 0, s.kept));
    return;
  }
  using block = typename Op::template types<typename Tree::value_type>::block;
  if constexpr (Tree::packable && !Op::indexed && ::std::is_arithmetic_v<block>) {
    constexpr int N = host::lanes_for<Build, (int(sizeof(block)) > Tree::widest ? int(sizeof(block)) : Tree::widest)>;
    const int inner = s.ndim - 1, across = s.kept - 1;
    if (inner >= s.kept && host::unit_steps(s, inner, 1)) return host::reduce_along<Build, N>(target, tree, op, s);
    if (across >= 0 && inner >= s.kept && host::unit_steps(s, across, 1))
      return host::reduce_across<Build, N>(target, tree, op, s);
  }
  host::reduce_along<Build, 1>(target, tree, op, s);
}

}  // namespace cudarray::inline v0::backend

#pragma GCC diagnostic pop

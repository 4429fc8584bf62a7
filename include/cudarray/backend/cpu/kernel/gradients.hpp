// Gradients on the CPU: a row of packs writes or sums up all of them.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/gradients.hpp"
#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// Lanes of a pack, at most.
inline constexpr int most_lanes = 16;

/// An operand as a row sees it: where its elements are, and whether they are read or written.
struct gradient_operand {
  char* p = nullptr;  ///< null: it is in no memory
  int bytes = 0;
  bool read = false, written = false;
};

struct gradient_sums;
/// Gradients as the walk sees them. A sum is added up in float64; along a row, which it moves along, in `line_bytes`.
struct gradient_kernel {
  const void *target, *body;
  /// `packs` packs of a row, of the last of which `valid` lanes count. `sums`, null for gradients that are written: one
  /// float64, or where the line of the row begins.
  void (*row)(const void* body, void* const* sums, const int64* offset, const int64* step, int64 packs, int valid);
  int operands, gradients, lanes;
  gradient_operand* of;
  const int* operand_of;  ///< of each gradient
  const int* line_bytes;  ///< 4 or 8
  void (*finish)(const void* target, int gradient, int64 at, double sum);
  /// Takes the elements [from, to) in C order: those of whole rows where that says so.
  void (*walk)(const gradient_kernel&, const walk_space&, gradient_sums&, int64 from, int64 to);
  bool whole_rows;
};

template <class Target, class Tree>
struct gradient_body {
  Target target;
  Tree tree;
};

/// What receives the gradients at a pack.
template <int N, class Target>
struct gradient_sink;
template <int N, int First, class... T>
struct gradient_sink<N, detail::gradients_to<First, T...>> {
  using target = detail::gradients_to<First, T...>;
  using totals = detail::slots<simd::pack<detail::compute_t<T>, N>...>;
  const target& to;
  void* const* sums;
  const int64 *offset, *step;
  totals along{{simd::splat<detail::compute_t<T>, N>(0)}...};  ///< of those that stand still along the row

  template <int J, class V>
  CUDARRAY_FORCE_INLINE void put(int64 i, const V& v) {
    constexpr int at = target::operand(J);
    auto* const p = detail::get<J>(to.p);
    using U = ::std::remove_cvref_t<decltype(*p)>;
    using C = detail::compute_t<U>;
    if (p == nullptr) return;
    if (sums[J] == nullptr) {
      U* const q = p + offset[at] + i;
      if (to.adds >> J & 1u) simd::store_lanes(q, lane_cast<U>(lane_cast<C>(simd::load_lanes<U, N>(q)) + v));
      else simd::store_lanes(q, lane_cast<U>(v));
    } else if (step[at] == 0) {
      detail::get<J>(along) = detail::get<J>(along) + v;
    } else {
      C* const q = static_cast<C*>(sums[J]) + i;
      simd::store_lanes(q, simd::load_lanes<C, N>(q) + v);
    }
  }
  /// Adds what stands still along the row to its sum.
  template <int J>
  CUDARRAY_FORCE_INLINE void close(int valid) {
    constexpr int at = target::operand(J);
    if (sums[J] == nullptr || step[at] != 0) return;
    auto& total = detail::get<J>(along);
    double sum = 0;
    for (int k = 0; k < valid; ++k) sum += double(simd::lane(total, k));
    *static_cast<double*>(sums[J]) += sum;
    total = simd::splat<::std::remove_cvref_t<decltype(simd::lane(total, 0))>, N>(0);
  }
};

/// Gradients at a pack: of one variable the first has all, so that half types are rounded once.
template <int N, class Target>
struct joined_packs;
template <int N, int First, class... T>
struct joined_packs<N, detail::gradients_to<First, T...>> {
  detail::slots<simd::pack<detail::compute_t<T>, N>...> of;
  /// Adds gradient J to the one that it is part of.
  template <int J, int... I>
  CUDARRAY_FORCE_INLINE void join(int part_of, ::std::integer_sequence<int, I...>) {
    [[maybe_unused]] const auto add = [&]<int K>() {
      auto& whole = detail::get<K>(of);
      const auto& part = detail::get<J>(of);
      if constexpr (::std::is_same_v<decltype(whole), decltype(detail::get<J>(of))>)
        if (part_of == K) whole = whole + part;
    };
    (add.template operator()<I>(), ...);
  }
};
/// For each gradient the first one that goes to the same place.
inline void find_first_of_same(int* first, const void* const* p, int count) {
  for (int j = 0; j < count; ++j) {
    first[j] = 0;
    while (p[first[j]] != p[j]) ++first[j];
  }
}

template <int N, class Target, class Tree, int Operands, int... J>
CUDARRAY_NO_INLINE void gradient_row(const void* given, void* const* all_sums, const int64* offsets, const int64* steps,
                                     int64 packs, int valid) {
  // copies, which stores cannot change
  const Target target = static_cast<const gradient_body<Target, Tree>*>(given)->target;
  const Tree tree = static_cast<const gradient_body<Target, Tree>*>(given)->tree;
  int64 offset[::std::size_t(Operands)], step[::std::size_t(Operands)];
  for (int k = 0; k < Operands; ++k) offset[k] = offsets[k], step[k] = steps[k];
  void* const sums[] = {all_sums[J]...};
  gradient_sink<N, Target> out{target, sums, offset, step};
  const void* const pointers[] = {detail::get<J>(target.p)...};
  int first[sizeof...(J)];
  find_first_of_same(first, pointers, int(sizeof...(J)));
  constexpr int64 block = 64;  // packs whose sums are in the narrower type
  for (int64 begin = 0; begin < packs; begin += block) {
    const int64 end = packs - begin < block ? packs : begin + block;
    for (int64 i = begin * N; i < end * N; i += N) {
      const auto v = tree.computed(pack_access<N>{offset, step, i});
      joined_packs<N, Target> packs_of{{{detail::gradient_at<J>(v)}...}};
      (packs_of.template join<J>(first[J], ::std::make_integer_sequence<int, J>{}), ...);
      const auto put = [&]<int K>() {
        if (first[K] == K) out.template put<K>(i, detail::get<K>(packs_of.of));
      };
      (put.template operator()<J>(), ...);
    }
    (out.template close<J>(packs == 1 ? valid : N), ...);
  }
}
template <int N, class Target, class Tree, int Operands, int... J>
constexpr auto gradient_row_of(::std::integer_sequence<int, J...>) {
  return gradient_row<N, Target, Tree, Operands, J...>;
}

/// Writes one element of a gradient that was summed up.
template <class Target, int... J>
void finish_gradient(const void* to, int gradient, int64 at, double sum, ::std::integer_sequence<int, J...>) {
  const Target& target = *static_cast<const Target*>(to);
  const auto write = [&]<int K>() {
    if (K != gradient) return;
    auto* const p = detail::get<K>(target.p) + at;
    using U = ::std::remove_cvref_t<decltype(*p)>;
    *p = detail::lane_cast<U>((target.adds >> K & 1u ? double(*p) : 0) + sum);
  };
  (write.template operator()<J>(), ...);
}

/// A row in which operands lie otherwise than packs read them, or its end: some elements of each pass through a buffer.
struct staged_row {
  alignas(64) char buffer[::std::size_t(most_operands + detail::most_leaves)][most_lanes * 8];

  /// Takes n elements of a row. Sums that have no line are float64 in the steps of the gradient.
  void take(const gradient_kernel& g, void* const* sums, float* const* line, const int64* offset, const int64* step,
            int n) {
    int64 at[most_operands], along[most_operands];
    void* part[detail::most_leaves];
    for (int k = 0; k < g.operands; ++k) {
      const gradient_operand& o = g.of[k];
      at[k] = offset[k], along[k] = step[k];
      if (o.p == nullptr || step[k] == 0) continue;
      char* const to = buffer[owner(g, k)];
      at[k] = (to - o.p) / o.bytes, along[k] = 1;
      if (o.read) copy(to, o.bytes, o.p + offset[k] * o.bytes, step[k] * o.bytes, n, g.lanes, o.bytes);
    }
    for (int j = 0; j < g.gradients; ++j) {
      part[j] = sums[j];
      if (sums[j] == nullptr || step[g.operand_of[j]] == 0) continue;
      along[g.operand_of[j]] = 1;
      part[j] = ::std::memset(buffer[g.operands + j], 0, sizeof(buffer[0]));
    }
    g.row(g.body, part, at, along, 1, n);
    for (int k = 0; k < g.operands; ++k) {
      const gradient_operand& o = g.of[k];
      if (o.p != nullptr && o.written && step[k] != 0)
        copy(o.p + offset[k] * o.bytes, step[k] * o.bytes, buffer[owner(g, k)], o.bytes, n, n, o.bytes);
    }
    for (int j = 0; j < g.gradients; ++j) {
      const int64 by = step[g.operand_of[j]];
      const char* const from = buffer[g.operands + j];
      if (sums[j] == nullptr || by == 0) continue;
      if (line[j] != nullptr) add<float>(static_cast<float*>(sums[j]), 1, from, n);
      else if (g.line_bytes[j] == 4) add<float>(static_cast<double*>(sums[j]), by, from, n);
      else add<double>(static_cast<double*>(sums[j]), by, from, n);
    }
  }

 private:
  template <class C, class T>
  static void add(T* to, int64 by, const char* from, int n) {
    for (int l = 0; l < n; ++l) to[l * by] += T(reinterpret_cast<const C*>(from)[l]);
  }
  /// Gradients of one variable that is there more than once share a buffer.
  static int owner(const gradient_kernel& g, int k) {
    if (!g.of[k].written) return k;
    for (int j = 0; j < g.gradients; ++j)
      if (g.of[g.operand_of[j]].p == g.of[k].p) return g.operand_of[j];
    return k;
  }
  /// n elements; behind them the last one again, up to `padded`.
  static void copy(char* to, int64 to_step, const char* from, int64 from_step, int n, int padded, int bytes) {
    for (int l = 0; l < padded; ++l)
      ::std::memcpy(to + l * to_step, from + (l < n ? l : n - 1) * from_step, ::std::size_t(bytes));
  }
};

/// The sums of a part. What moves along rows in float32 has a line: some rows that have one place are added up there.
struct gradient_sums {
  static constexpr int most_rows = int(tuning::block);  // as in reductions
  const gradient_kernel& g;
  const int64 n;  ///< elements of a row
  double* of[detail::most_leaves] = {};
  float* line[detail::most_leaves] = {};
  int64 place[detail::most_leaves] = {};
  int rows[detail::most_leaves] = {};

  gradient_sums(const gradient_kernel& kernel, int64 width) : g(kernel), n(width) {}
  /// Goes to a row: where sums are.
  void enter(const int64* offset, void** sums) {
    for (int j = 0; j < g.gradients; ++j) {
      const int64 at = offset[g.operand_of[j]];
      if (line[j] == nullptr) {
        sums[j] = of[j] == nullptr ? nullptr : of[j] + at;
        continue;
      }
      if (at != place[j] || rows[j] == most_rows) close(j);
      place[j] = at;
      ++rows[j];
      sums[j] = line[j];
    }
  }
  void close(int j) {
    if (rows[j] == 0) return;
    add_line<double>(of[j] + place[j], line[j], n);
    ::std::memset(line[j], 0, ::std::size_t(n) * sizeof(float));
    rows[j] = 0;
  }
};

/// Takes rows of a space: packs as far as they go, and the rest by staged ones.
class gradient_row_walker {
  const gradient_kernel& g_;
  gradient_sums& own_;
  int64 step_[most_operands];
  bool packs_ = true;
  staged_row staged_;

 public:
  gradient_row_walker(const gradient_kernel& g, const walk_space& s, gradient_sums& own) : g_(g), own_(own) {
    s.steps(step_, s.ndim - 1);
    for (int k = 0; k < g.operands; ++k) packs_ = packs_ && (g.of[k].p == nullptr || step_[k] == 1 || step_[k] == 0);
    for (int j = 0; j < g.gradients; ++j) {  // what moves does so by ones; one element is no sum
      const int64 by = step_[g.operand_of[j]];
      packs_ = packs_ && (by == 1 || (by == 0 && own.of[j] != nullptr) ||
                          (own.of[j] == nullptr && g.of[g.operand_of[j]].p == nullptr));
    }
  }
  gradient_row_walker(const gradient_row_walker&) = delete;
  ~gradient_row_walker() {
    for (int j = 0; j < g_.gradients; ++j)
      if (own_.line[j] != nullptr) own_.close(j);
  }
  /// Elements [i, stop) of a row that begins at `at`.
  void take(const place_in& at, int64 i, int64 stop) {
    int64 offset[most_operands];
    void* sums[detail::most_leaves];
    for (int k = 0; k < g_.operands; ++k) offset[k] = at.offset[k];
    own_.enter(offset, sums);
    const auto move = [&](int64 by) {
      move_on(offset, step_, by, g_.operands);
      for (int j = 0; j < g_.gradients; ++j)
        if (sums[j] != nullptr && step_[g_.operand_of[j]] != 0)
          sums[j] = static_cast<char*>(sums[j]) + by * (own_.line[j] != nullptr ? 4 : 8 * step_[g_.operand_of[j]]);
    };
    move(i);
    if (const int64 whole = packs_ ? (stop - i) / g_.lanes : 0; whole > 0) {
      g_.row(g_.body, sums, offset, step_, whole, g_.lanes);
      move(whole * g_.lanes);
      i += whole * g_.lanes;
    }
    for (int n; i < stop; i += n) {
      n = int(stop - i < g_.lanes ? stop - i : g_.lanes);
      staged_.take(g_, sums, own_.line, offset, step_, n);
      move(n);
    }
  }
};

/// The rows of a part: all of [from, to) in C order.
inline void walk_gradient_rows(const gradient_kernel& g, const walk_space& s, gradient_sums& own, int64 from,
                               int64 to) {
  gradient_row_walker walker(g, s, own);
  walk_rows(s, place_in(s), 0, s.ndim - 1, from, to,
            [&](const place_in& at, int64 i, int64 stop) { walker.take(at, i, stop); });
}

/// Runs gradients over a space with at least one element. Parts are cut by the shape alone, and added in order.
CUDARRAY_NO_INLINE inline void walk_gradients(const gradient_kernel& g, const walk_space& s) {
  const int inner = s.ndim - 1;
  const int64 total = s.size(0, s.ndim), n = inner < 0 ? 1 : s.extent[inner];
  int64 length[detail::most_leaves] = {}, sums = 0;  // of what is summed up, in the layout of the gradient
  for (int j = 0; j < g.gradients; ++j) {
    const int k = g.operand_of[j];
    bool repeats = false;
    int64 last = 0;
    for (int d = 0; d < s.ndim; ++d) {
      repeats = repeats || s.stride[k][d] == 0;
      last += s.stride[k][d] * (s.extent[d] - 1);
    }
    if (repeats && g.of[k].p != nullptr) sums += length[j] = last + 1, g.of[k] = {};
  }
  int64 lines = 0;  // elements of float32
  for (int j = 0; j < g.gradients; ++j)
    if (length[j] > 0 && inner >= 0 && s.stride[g.operand_of[j]][inner] == 1 && g.line_bytes[j] == 4) lines += n;
  constexpr int64 least = 1 << 16;  // elements of a part
  int64 parts = sums == 0 ? parts_for(total) : total / (least + 8 * sums);
  parts = parts < 1 ? 1 : parts > 64 ? 64 : parts;
  const scratch memory(parts * (sums * int64(sizeof(double)) + lines * int64(sizeof(float))));
  auto* const all = reinterpret_cast<double*>(memory.p);
  auto* const all_lines = reinterpret_cast<float*>(all + parts * sums);
  const auto edge = [&](int64 p) {  // within long rows at multiples of 64
    const int64 at = total / parts * p + total % parts * p / parts, i = at % n;
    return p == parts ? total : at - (n >= 4096 && !g.whole_rows ? i % 64 : i);
  };
  parallel(parts, [&](int64 part) {
    gradient_sums own(g, n);
    double* next = all + part * sums;
    float* line = all_lines + part * lines;
    for (int64 i = 0; i < sums; ++i) next[i] = 0;
    for (int64 i = 0; i < lines; ++i) line[i] = 0;
    for (int j = 0; j < g.gradients; ++j) {
      if (length[j] == 0) continue;
      own.of[j] = next, next += length[j];
      if (inner >= 0 && s.stride[g.operand_of[j]][inner] == 1 && g.line_bytes[j] == 4) own.line[j] = line, line += n;
    }
    g.walk(g, s, own, edge(part), edge(part + 1));
  });
  int64 first = 0;
  for (int j = 0; j < g.gradients; first += length[j++])
    for (int64 i = 0; i < length[j]; ++i) {
      double sum = 0;
      for (int64 part = 0; part < parts; ++part) sum += all[part * sums + first + i];
      g.finish(g.target, j, i, sum);
    }
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop

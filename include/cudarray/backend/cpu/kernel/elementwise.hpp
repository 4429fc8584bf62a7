// Loops of elementwise plans: rows of packs, tiles where operands lie otherwise, single elements for the rest.
// SPDX-License-Identifier: MIT
#pragma once

#include "../plan/map.hpp"
#include "map_row.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// A map as the walks see it.
struct map_kernels {
  const void* plan;
  /// Elements [i, n) of a row.
  void (*row)(const void* plan, const int64* offset, const int64* step, int64 i, int64 n, row_form form);
  fetcher gathers;
  /// Takes rows of n elements, `down` apart, where all the plan does is to pick them as wholes; else false.
  bool (*take)(const void* plan, const int64* offset, const int64* step, const int64* down, int64 rows, int64 n);
  map_facts facts;
};

template <class Target, class Tree>
inline constexpr bool is_copy = false;
template <class T>
inline constexpr bool is_copy<detail::store_to<T>, detail::load<1, T>> = true;

template <class Target, class Tree>
inline constexpr bool is_take = false;
template <class T, class Index>
inline constexpr bool is_take<detail::store_to<T>, detail::gathered<1, T, Index>> = true;

/// memcpy; without a call where bytes are a few packs, which more than doubles the rate of short rows.
CUDARRAY_FORCE_INLINE void copy_bytes(uint8* to, const uint8* from, int64 n) {
  constexpr int N = lanes_for<1>;
  if (n < N || n > 16 * N) {
    ::std::memcpy(to, from, ::std::size_t(n));
    return;
  }
  for (int64 i = 0; i + N <= n; i += N) simd::store_lanes(to + i, simd::load_lanes<uint8, N>(from + i));
  if (n % N != 0) simd::store_lanes(to + n - N, simd::load_lanes<uint8, N>(from + n - N));
}

template <class Target, class Tree, int Operands>
bool take_rows(const void* plan, const int64* offset, const int64* step, const int64* down, int64 rows, int64 n) {
  const Tree tree = static_cast<const map_body<Target, Tree>*>(plan)->tree;
  if (step[1] != 1 || !stands_still(tree.index, step)) return false;
  using value = typename Tree::value_type;
  constexpr int64 most = 32, line = 64 / int64(sizeof(value));
  const int64 ahead = n <= 4 * line ? most : n <= 8 * line ? most / 2 : most / 4;  // rows: 128 lines, or a few more
  const value* from[most];
  int64 at[::std::size_t(Operands)];
  for (int k = 0; k < Operands; ++k) at[k] = offset[k];
  value* const first = static_cast<const map_body<Target, Tree>*>(plan)->target.p + offset[0];
  for (int64 r = 0; r < rows + ahead; ++r) {
    const value*& row = from[r & (ahead - 1)];
    if (r >= ahead) {
      value* const to = first + (r - ahead) * down[0];
      if (row != nullptr)
        copy_bytes(reinterpret_cast<uint8*>(to), reinterpret_cast<const uint8*>(row), n * int64(sizeof(value)));
      else
        for (int64 j = 0; j < n; ++j) to[j] = value{};
    }
    if (r >= rows) continue;
    const element_access a{at, step, 0};
    int64 k = int64(tree.index(a));
    row = nullptr;
    using index = ::std::remove_cvref_t<decltype(tree.index)>;
    if (detail::resolve_index(k, tree.limit, tree.fault, detail::position_of<index>(a))) {
      row = tree.p + at[1] + k * tree.stride;
      for (int64 j = 0; j < n + line - 1; j += line) prefetch(row + (j < n ? j : n - 1));
    }
    for (int j = 0; j < Operands; ++j) at[j] += down[j];
  }
  return true;
}

/// The tiles [first, last).
inline void map_tiles(const map_kernels& map, const tile_plan& t, row_form form, int64 first, int64 last) {
  const walk_space& s = t.s;
  const int inner = s.ndim - 1, outer = inner - 1;
  const memory_operand& target = map.facts.of[0];
  tile_copies copies(map.facts.of, t.staged, s.operands, t.rows * t.columns);
  int64 step[most_operands], along[most_operands], down[most_operands], next[most_operands];
  s.steps(along, inner);
  s.steps(down, outer);
  for (int k = 0; k < s.operands; ++k) step[k] = t.staged[k] ? 1 : along[k];
  const int64 across = t.across(), tiles_down = t.down();
  for (int64 tile = first; tile < last; ++tile) {
    const int64 i = tile / across % tiles_down * t.rows, j = tile % across * t.columns;
    const int64 rows = s.extent[outer] - i < t.rows ? s.extent[outer] - i : t.rows;
    const int64 columns = s.extent[inner] - j < t.columns ? s.extent[inner] - j : t.columns;
    place_in at(s);
    at.seek(s, 0, outer, tile / across / tiles_down);
    at.advance(s, outer, i);
    at.advance(s, inner, j);
    char* const to = static_cast<char*>(const_cast<void*>(target.p)) + at.offset[0] * target.bytes;
    if (map.facts.copies && along[0] == 1 && !form.streamed) {
      map.facts.of[1].copy(to, down[0], static_cast<const char*>(map.facts.of[1].p) + at.offset[1] * target.bytes, rows,
                           columns, down[1], along[1]);
      continue;
    }
    if (map.take != nullptr && along[0] == 1 && !form.streamed &&
        map.take(map.plan, at.offset, along, down, rows, columns))
      continue;
    copies.fetch(at.offset, rows, columns, down, along);
    for (int k = 0; k < s.operands; ++k) next[k] = t.staged[k] ? columns : down[k];
    if (t.staged[0]) at.offset[0] = copies.index[0];
    const char* const from = static_cast<const char*>(target.p) + at.offset[0] * target.bytes;
    if (t.folded) {
      map.row(map.plan, at.offset, step, 0, rows * columns, form);
    } else {
      for (int64 r = 0; r < rows; ++r) {
        map.gathers.before(r, rows, at.offset, step, next, s.operands, columns);
        copies.ask_ahead(rows - r, at.offset, next, form.streamed ? 1 : 0, step, columns);
        map.row(map.plan, at.offset, step, 0, columns, form);
        move_on(at.offset, next, 1, s.operands);
      }
    }
    if (t.staged[0]) target.copy(to, columns, from, rows, columns, down[0], along[0]);
  }
}

/// Runs a map over a space with at least one element.
CUDARRAY_NO_INLINE inline void walk_map(const map_kernels& map, const walk_space& s) {
  const int inner = s.ndim - 1;
  const int64 n = inner < 0 ? 1 : s.extent[inner], total = s.size(0, s.ndim);
  const map_facts& facts = map.facts;
  const map_form plan = plan_map(s, facts);
  if (plan == map_form::tiles) {
    const tile_plan tiles(s, facts);
    const int64 count = tiles.count(), wanted = parts_for(total / 2), parts = wanted < count ? wanted : count;
    parallel(parts, [&](int64 part) {
      map_tiles(map, tiles, {facts.packable, tiles.streamed, facts.apart}, count * part / parts,
                count * (part + 1) / parts);
      if (tiles.streamed) simd::finish_stream();
    });
    return;
  }
  const bool rows = plan == map_form::rows;
  const row_form form{rows, streams_rows(s, facts), facts.apart};
  const int64 parts = facts.ordered ? 1 : parts_for(rows ? total / 4 : total);
  const auto edge = [&](int64 p) {  // within long rows at multiples of 64
    const int64 at = total / parts * p + total % parts * p / parts, i = at % n;
    return p == parts ? total : at - (n >= 4096 ? i % 64 : i);
  };
  int64 step[most_operands];
  s.steps(step, inner);
  if (inner < 0) step[0] = 1;
  parallel(parts, [&](int64 part) {
    walk_rows(s, place_in(s), 0, inner, edge(part), edge(part + 1),
              [&](const place_in& at, int64 i, int64 stop) { map.row(map.plan, at.offset, step, i, stop, form); });
    if (form.streamed) simd::finish_stream();
  });
}

/// Writes rows to where an index says, which stands still along them. Each thread writes to its share of the places, so
/// rows that go to one place are written in order.
template <class Target, class Tree, int Operands>
void put_rows(const Target& target, const Tree& tree, const walk_space& s, const int64* step, bool apart) {
  using value = typename Target::value_type;
  using row_target = detail::store_to<value>;
  constexpr int64 ahead = fetcher::ahead, line = 64 / int64(sizeof(value)), most_fetched = 16 * line;
  struct pending {
    value* to;
    int64 offset[::std::size_t(Operands)];
  };
  const int inner = s.ndim - 1;
  const int64 n = s.extent[inner], rows = s.size(0, inner),
              pitch = (target.stride < 0 ? -target.stride : target.stride) * int64(sizeof(value)),
              fetched = step[0] != 1       ? 1
                        : n < most_fetched ? n
                                           : most_fetched;
  memory_operand of[::std::size_t(Operands)];
  list_operands(tree, of);
  bool packs = pack_map<row_target, Tree> && step[0] == 1;
  for (int k = 1; k < Operands; ++k) packs = packs && packs_can_read(of[k], step[k]);
  const row_form form{packs, packs && apart && n >= 1024 && exceeds_cache(rows * n * int64(sizeof(value))), apart};
  const int64 parts = parts_for(rows * n / 4) == 1 ? 1 : num_threads();
  parallel(parts, [&](int64 part) {
    pending next[ahead];
    place_in at(s);
    at.seek(s, 0, inner, 0);
    for (int64 r = 0; r < rows + ahead; ++r) {
      pending& p = next[r % ahead];
      if (r >= ahead && p.to != nullptr) {
        const row_target there{p.to};
        const map_body<row_target, Tree> row{there, tree};
        map_row<row_target, Tree, Operands>(&row, p.offset, step, 0, n, form);
      }
      if (r >= rows) continue;
      p.to = nullptr;
      const element_access a{at.offset, step, 0};
      int64 k = int64(target.index(a));
      using index = ::std::remove_cvref_t<decltype(target.index)>;
      if (detail::resolve_index(k, target.limit, target.fault, detail::position_of<index>(a)) &&
          writer_of(k, pitch, parts) == part) {
        p.to = target.p + k * target.stride;
        for (int i = 0; i < Operands; ++i) p.offset[i] = at.offset[i];
        for (int64 j = 0; j < fetched + line - 1; j += line)
          prefetch(p.to + at.offset[0] + (j < fetched ? j : fetched - 1));
      }
      at.next(s, 0, inner);
    }
    if (form.streamed) simd::finish_stream();
  });
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop

// Plans of scans: how blocks share an array (outer, n, inner) that is scanned along n.
// SPDX-License-Identifier: MIT
#pragma once

#include "threads.hpp"
#include "tuning.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// How blocks share (outer, n, inner). A tile has `rows` of n, `wide` of inner and `many` of outer; all of inner, or
/// one of outer. Threads of a block stand along inner first (`inner_threads`), then in pieces along n, then along
/// outer: powers of two. A thread has `each` consecutive elements: a piece of one segment, or `several` whole ones.
struct scan_plan {
  int64 outer, n, inner;
  divider strips{};    ///< tiles beside each other along inner
  divider chains{};    ///< these and those along outer: what follows along n
  uint32 depth = 1;    ///< tiles along n: more than one only where a block has one piece of each segment
  bool alone = false;  ///< each block takes all tiles along n
  int rows = 0, wide = 0, many = 1, several = 1, each = 0;
  int inner_threads_log2 = 0, pieces_log2 = 0;
  int levels = 0;  ///< digits of tile numbers along n, of base 256 / inner_threads
  enum { short_rows, short_columns, long_rows, long_columns } form = short_rows;
  int64 blocks = 1;

  const char* name() const {
    switch (form) {
      case short_rows:
        return "rows";
      case short_columns:
        return "columns";
      case long_rows:
        return alone ? "rows in tiles, a block each" : "rows in tiles, chained";
      case long_columns:
        break;
    }
    return alone ? "columns in tiles, a block each" : "columns in tiles, chained";
  }
  /// Segments are longer than a tile.
  bool in_tiles() const { return form == long_rows || form == long_columns; }
};

/// What a plan must know of the kernels: elements of a thread, those of rows in tiles, threads along inner at most,
/// where segments have several tiles, bytes of a result, and blocks of the kernels for tiles that run at a time.
struct scan_facts {
  int items, row_items, most_inner_threads, result_bytes;
  int64 resident;
};

/// The threads of a block along inner and in pieces along n.
struct scan_threads {
  int inner_threads = 1, pieces = 1;
  scan_threads(int64 n, int64 inner, const scan_facts& f) {
    const int wanted = n >= tuning::long_segment                      ? tuning::few_inner_threads
                       : inner * f.result_bytes % tuning::sector != 0 ? tuning::many_inner_threads
                                                                      : int(tuning::line) / tuning::element_bytes,
              most = wanted < f.most_inner_threads ? wanted : f.most_inner_threads;
    while (inner_threads < inner && inner_threads < most) inner_threads *= 2;
    while (pieces * inner_threads < block_threads && pieces * f.items < n) pieces *= 2;
    while (pieces * inner_threads < block_threads && inner_threads < inner) inner_threads *= 2;
  }
};

inline scan_plan plan_scan(int64 outer, int64 n, int64 inner, const scan_facts& f) {
  const scan_threads t(n, inner, f);
  const bool row = inner == 1, whole = n <= t.pieces * f.items;
  const int long_items = row ? f.row_items : f.items;
  const int64 strips = ceil_div(inner, t.inner_threads);
  scan_plan p{outer, n, inner};
  p.form = whole ? row ? p.short_rows : p.short_columns : row ? p.long_rows : p.long_columns;
  p.rows = whole ? int(n) : t.pieces * long_items;
  p.wide = strips == 1 ? int(inner) : int(ceil_div(ceil_div(inner, strips), 8) * 8);
  if (strips == 1 && whole) {
    if (t.pieces == 1) p.several = f.items / int(n);
    p.many = block_threads / (t.pieces * t.inner_threads) * p.several;
  }
  p.each = t.pieces == 1  ? p.several * p.rows
           : whole && row ? int(ceil_div(ceil_div(p.rows, t.pieces), 4) * 4)
           : whole        ? f.items
                          : long_items;
  p.strips = divider(ceil_div(inner, p.wide));
  p.chains = divider(p.strips.divisor * ceil_div(outer, p.many));
  // tiles of rows begin where what is written is aligned
  const int64 lead = row && !whole && outer > 1 && n * f.result_bytes % 16 != 0 ? 16 / f.result_bytes - 1 : 0;
  p.depth = uint32(ceil_div(n + lead, p.rows));
  while (1 << p.inner_threads_log2 < t.inner_threads) ++p.inner_threads_log2;
  while (1 << p.pieces_log2 < t.pieces) ++p.pieces_log2;
  p.blocks = p.chains.divisor * p.depth;
  if (whole) return p;
  const int64 chains = p.chains.divisor, rounds = ceil_div(chains, f.resident) * f.resident;
  p.alone = p.depth == 1 || chains * 10 >= rounds * tuning::alone_tenths;
  if (p.blocks > f.resident) p.blocks = f.resident;
  while (!p.alone && int64(p.depth - 1) >> (8 - p.inner_threads_log2) * p.levels != 0) ++p.levels;
  return p;
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD

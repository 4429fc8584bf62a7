// How reductions go through a space on the CPU, as planned.
// SPDX-License-Identifier: MIT
#pragma once

#include "../plan/reduce.hpp"
#include "loop.hpp"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// A reduction as the walks see it: the functions of reduction_kernels.
struct reduce_kernels {
  const void* self;
  void (*clear)(void*, int64);
  void (*merge)(void*, const void*, int64);
  void (*store)(const void*, const int64*, const int64*, const void*, int64, int64);
  void (*along)(const void*, const int64*, const int64*, int64, int64, int64, bool, void*);
  void (*across)(const void*, const int64*, const int64*, const int64*, int64, int64, int64, bool, void*);
  int64 (*beside)(const void*, const int64*, const int64*, const int64*, int64, int64, int64, void*);
  fetcher gathers;
  int total_size;  ///< bytes of a total
  reduce_facts facts;
};

/// Goes through the chunks of a plan, one after the other, with memory for the totals of one and for a tile.
struct chunk_walk {
  const reduce_kernels& r;
  const reduce_plan& c;
  int64 row_length;                                  ///< elements of a row of what is reduced
  int64 down[most_operands], packed[most_operands];  ///< steps along it, and of what kernels read: a tile or that
  tile_copies copies;
  alignas(16) char single[64];
  scratch space;
  char* const own;  ///< the totals

  chunk_walk(const reduce_kernels& kernels, const reduce_plan& plan)
      : r(kernels),
        c(plan),
        row_length(c.reduces() && c.places > 0 ? c.s.extent[c.inner] : 1),
        copies(r.facts.of, c.staged, c.tiled ? c.s.operands : 0, c.width * c.depth),
        space(c.columns(c.width) > 1 ? c.columns(c.width) * r.total_size : 0),
        own(space.p != nullptr ? space.p : single) {
    c.s.steps(down, c.reduces() ? c.inner : -1);
    for (int k = 0; k < c.s.operands; ++k) packed[k] = c.staged[k] ? 1 : c.form == c.across ? c.steps[k] : down[k];
  }
  void walk(int64 unit, char* partial);

 private:
  void take_rows(place_in& at, int64 position, int64 length, int64 width, int64 readable);
  void take_columns(place_in& at, int64 position, int64 length, int64 width);
  void take_elements(const place_in& at, int64 position, int64 rows, int64 columns);
  void finish(int64 width);
  /// The sums of so many parts of `wide` totals each, in the first part: by halves.
  void combine(char* sums, int64 parts, int64 wide) const {
    for (int64 half; parts > 1; parts = half) {
      half = (parts + 1) / 2;
      r.merge(sums, sums + half * wide * r.total_size, (parts - half) * wide);
    }
  }
};

/// A piece of `length` elements of the row of each of `width` results.
inline void chunk_walk::take_rows(place_in& at, int64 position, int64 length, int64 width, int64 readable) {
  const int operands = c.s.operands;
  if (c.tiled) copies.fetch(at.offset, width, length, c.steps, down);
  int64 next[most_operands];  // from row to row
  for (int k = 0; k < operands; ++k) next[k] = c.staged[k] ? length : c.steps[k];
  int64 w = 0;
  if (c.beside && length == row_length) {
    w = r.beside(r.self, at.offset, packed, next, width, readable, length, own);
    move_on(at.offset, next, w, operands);
  }
  for (; w < width; ++w) {
    r.gathers.before(w, width, at.offset, packed, next, operands, length);
    if (c.tiled) copies.ask_ahead(width - w, at.offset, next, 1, packed, length);
    r.along(r.self, at.offset, packed, 0, length, position, true, own + w * r.total_size);
    move_on(at.offset, next, 1, operands);
  }
}

/// `length` rows of results, `width` places each: several beside each other are one row of the kernel.
inline void chunk_walk::take_columns(place_in& at, int64 position, int64 length, int64 width) {
  const int operands = c.s.operands;
  if (c.tiled) {
    const place_in ahead = at;
    copies.fetch(at.offset, length, width, down, c.steps);
    for (int k = 1; k < operands; ++k)  // the next tile comes while this one is added up
      for (int64 w = 0; w < width && c.staged[k]; ++w)
        prefetch(static_cast<const char*>(r.facts.of[k].p) +
                 (ahead.offset[k] + (width + w) * c.steps[k]) * r.facts.of[k].bytes);
  }
  const int64 beside = c.fold.rows, columns = c.columns(width), row = columns / beside;
  const int64 rows = r.facts.packable && columns < r.facts.lanes ? 0 : length / beside;
  int64 next[most_operands];
  for (int k = 0; k < operands; ++k) next[k] = c.staged[k] ? width : beside * down[k];
  const int64 together = r.gathers ? 1 : rows;
  for (int64 done = 0; done < rows; done += together) {
    r.gathers.before(done, rows, at.offset, packed, next, operands, columns);
    r.across(r.self, at.offset, packed, next, together, columns, position + done, c.streams, own);
    move_on(at.offset, next, together, operands);
  }
  const int64 left = length - rows * beside;
  if (rows > 0 && r.facts.packable && left * row >= r.facts.lanes)
    r.across(r.self, at.offset, packed, next, 1, left * row, position + rows * beside, c.streams, own);
  else take_elements(at, position + rows * beside, left, row);
}

/// Rows of results that are no whole pack, element by element. Those of a tile lie as many columns apart.
inline void chunk_walk::take_elements(const place_in& at, int64 position, int64 rows, int64 columns) {
  const int operands = c.s.operands;
  int64 element[most_operands], still[most_operands];
  c.s.steps(still, -1);
  for (int64 i = 0; i < rows; ++i) {
    for (int k = 0; k < operands; ++k) element[k] = at.offset[k] + i * (c.staged[k] ? columns : down[k]);
    for (int64 e = 0; e < columns; ++e) {
      r.along(r.self, element, still, 0, 1, position + i, false, own + e * r.total_size);
      move_on(element, packed, 1, operands);
    }
  }
}

/// Combines the partial totals of each result.
inline void chunk_walk::finish(int64 width) {
  combine(own, c.fold.rows, c.columns(width) / c.fold.rows);
  const int64 place = c.fold.each * r.total_size;
  for (int64 w = 0; w < width && c.fold.folds > 1; ++w) {
    char* const sums = own + w * c.fold.folds * place;
    combine(sums, c.fold.folds, c.fold.each);
    if (w > 0) ::std::memcpy(own + w * place, sums, ::std::size_t(place));
  }
  for (int64 w = 1; w < width && c.joined; ++w) r.merge(own, own + w * r.total_size, 1);
}

/// A chunk, counted task by task. Its totals go to `partial`, or, where that is null and tasks are whole, the results
/// to the target.
inline void chunk_walk::walk(int64 unit, char* partial) {
  const walk_space& s = c.s;
  const int64 task = unit / c.chunks, chunk = unit % c.chunks, begin = c.begin(chunk), end = c.begin(chunk + 1);
  place_in base(s);
  const int64 width = c.enter(base, task), readable = c.side >= 0 ? s.extent[c.side] - task % c.segments * c.width : 1,
              most = c.form == c.along || c.tiled ? c.depth : tuning::block * c.fold.rows;
  r.clear(own, c.columns(width));
  int64 position = begin - begin % row_length;  // of the row
  walk_rows(s, base, s.kept, c.inner, begin, end, [&](const place_in& row, int64 i, int64 stop) {
    if (c.form != c.across && c.width == 1 && !c.tiled) {
      r.along(r.self, row.offset, down, i, stop, position, c.form == c.along, own);
    } else {
      for (int64 length; i < stop; i += length) {
        length = stop - i < most ? stop - i : most;
        place_in at = row;
        if (c.reduces()) at.advance(s, c.inner, i);
        if (c.form == c.along) take_rows(at, position + i, length, width, readable);
        else take_columns(at, position + i, length, width);
      }
    }
    position += row_length;
  });
  finish(width);
  const int64 left = c.left(width);
  if (partial != nullptr)
    ::std::memcpy(partial + unit * c.left(c.width) * r.total_size, own, ::std::size_t(left * r.total_size));
  else r.store(r.self, base.offset, c.steps, own, left, c.count);
}

/// The chunks [first, last).
inline void reduce_chunks(const reduce_kernels& r, const reduce_plan& c, char* partial, int64 first, int64 last) {
  chunk_walk walk(r, c);
  for (int64 unit = first; unit < last; ++unit) walk.walk(unit, partial);
}

/// Runs a reduction over a space with at least one result.
CUDARRAY_NO_INLINE inline void walk_reduction(const reduce_kernels& r, const walk_space& space) {
  const reduce_plan c(space, r.facts);
  const walk_space& s = c.s;
  const int64 units = c.tasks * c.chunks, work = s.size(0, s.kept) * c.places;
  const int64 wanted = parts_for(c.form == c.by_element ? work : work / 4), parts = wanted < units ? wanted : units;
  const int64 shares = c.sharing() * c.chunks, size = c.left(c.width) * r.total_size;
  const scratch space_for_partial(shares > 1 ? units * size : 0);
  char* const partial = space_for_partial.p;
  parallel(parts, [&](int64 part) { reduce_chunks(r, c, partial, units * part / parts, units * (part + 1) / parts); });
  if (partial == nullptr) return;
  for (int64 unit = 0; unit < units; unit += shares) {
    place_in at(s);
    const int64 width = c.enter(at, unit / c.chunks), left = c.left(width);
    char* const sum = partial + unit * size;
    for (int64 share = 1; share < shares; ++share) r.merge(sum, sum + share * size, left);
    r.store(r.self, at.offset, c.steps, sum, left, c.count);
  }
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

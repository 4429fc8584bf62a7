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

/// The chunks [first, last), counted task by task. Their totals go to `partial`, or, where tasks are whole, the results
/// to the target.
inline void reduce_chunks(const reduce_kernels& r, const reduce_plan& c, char* partial, int64 first, int64 last) {
  const walk_space& s = c.s;
  const int side = c.side, inner = c.inner;
  const int64 n = c.reduces() && c.places > 0 ? s.extent[inner] : 1;
  const int64* const step = c.steps;
  int64 down[most_operands], packed[most_operands], next[most_operands], none[most_operands];
  s.steps(down, c.reduces() ? inner : -1);
  s.steps(none, -1);
  for (int k = 0; k < s.operands; ++k) packed[k] = c.staged[k] ? 1 : c.form == c.across ? step[k] : down[k];
  tile_copies copies(r.facts.of, c.staged, c.tiled ? s.operands : 0, c.width * c.depth);
  alignas(16) char single[64];
  const int64 totals = c.columns(c.width);
  const scratch space(totals > 1 ? totals * r.total_size : 0);
  char* const own = space.p != nullptr ? space.p : single;

  for (int64 unit = first; unit < last; ++unit) {
    const int64 task = unit / c.chunks, chunk = unit % c.chunks, begin = c.begin(chunk), end = c.begin(chunk + 1);
    place_in base(s);
    const int64 width = c.enter(base, task), columns = c.columns(width), row_columns = columns / c.pitch,
                readable = side >= 0 ? s.extent[side] - task % c.segments * c.width : 1;
    r.clear(own, columns);
    int64 position = begin - begin % n;  // of the row
    walk_rows(s, base, s.kept, inner, begin, end, [&](const place_in& row, int64 i, int64 stop) {
      if (c.form != c.across && c.width == 1 && !c.tiled) {
        r.along(r.self, row.offset, down, i, stop, position, c.form == c.along, own);
      } else {
        const int64 most = c.form == c.along || c.tiled ? c.depth : tuning::block * c.pitch;
        for (int64 length; i < stop; i += length) {
          length = stop - i < most ? stop - i : most;
          place_in at = row;
          if (c.reduces()) at.advance(s, inner, i);
          if (c.form == c.along) {  // a row of the tile for each result
            if (c.tiled) copies.fetch(at.offset, width, length, step, down);
            for (int k = 0; k < s.operands; ++k) next[k] = c.staged[k] ? length : step[k];
            int64 w = 0;
            if (c.beside && length == n) {
              w = r.beside(r.self, at.offset, packed, next, width, readable, length, own);
              move_on(at.offset, next, w, s.operands);
            }
            for (; w < width; ++w) {
              r.gathers.before(w, width, at.offset, packed, next, s.operands, length);
              if (c.tiled) copies.ask_ahead(width - w, at.offset, next, 1, packed, length);
              r.along(r.self, at.offset, packed, 0, length, position + i, true, own + w * r.total_size);
              move_on(at.offset, next, 1, s.operands);
            }
          } else {
            if (c.tiled) {
              const place_in ahead = at;
              copies.fetch(at.offset, length, width, down, step);
              for (int k = 1; k < s.operands; ++k)  // the next tile comes while this one is added up
                for (int64 w = 0; w < width && c.staged[k]; ++w)
                  prefetch(static_cast<const char*>(r.facts.of[k].p) +
                           (ahead.offset[k] + (width + w) * step[k]) * r.facts.of[k].bytes);
            }
            const int64 rows = r.facts.packable && columns < r.facts.lanes ? 0 : length / c.pitch;
            for (int k = 0; k < s.operands; ++k) next[k] = c.staged[k] ? width : c.pitch * down[k];
            const int64 together = r.gathers ? 1 : rows;
            for (int64 row_at = 0; row_at < rows; row_at += together) {
              r.gathers.before(row_at, rows, at.offset, packed, next, s.operands, columns);
              r.across(r.self, at.offset, packed, next, together, columns, position + i + row_at, c.streams, own);
              move_on(at.offset, next, together, s.operands);
            }
            int64 done = rows * c.pitch;
            if (const int64 rest = (length - done) * row_columns;
                rows > 0 && r.facts.packable && rest >= r.facts.lanes) {
              r.across(r.self, at.offset, packed, next, 1, rest, position + i + done, c.streams, own);
              done = length;
            }
            for (const int64 begun = rows * c.pitch; done < length; ++done) {  // what is no whole pack
              for (int k = 0; k < s.operands; ++k)
                next[k] = at.offset[k] + (done - begun) * (c.staged[k] ? width : down[k]);
              for (int64 e = 0; e < row_columns; ++e) {
                r.along(r.self, next, none, 0, 1, position + i + done, false, own + e * r.total_size);
                move_on(next, packed, 1, s.operands);
              }
            }
          }
        }
      }
      position += n;
    });
    const auto combine = [&r](char* sums, int64 parts, int64 wide) {
      for (int64 half; parts > 1; parts = half) {
        half = (parts + 1) / 2;
        r.merge(sums, sums + half * wide * r.total_size, (parts - half) * wide);
      }
    };
    combine(own, c.pitch, row_columns);
    for (int64 w = 0, of_place = c.each * r.total_size; w < width && c.fold > 1; ++w) {
      char* const sums = own + w * c.fold * of_place;
      combine(sums, c.fold, c.each);
      if (w > 0) ::std::memcpy(own + w * of_place, sums, ::std::size_t(of_place));
    }
    for (int64 w = 1; w < width && c.joined; ++w) r.merge(own, own + w * r.total_size, 1);
    const int64 left = c.left(width);
    if (partial != nullptr)
      ::std::memcpy(partial + unit * c.left(c.width) * r.total_size, own, ::std::size_t(left * r.total_size));
    else r.store(r.self, base.offset, step, own, left, c.count);
  }
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

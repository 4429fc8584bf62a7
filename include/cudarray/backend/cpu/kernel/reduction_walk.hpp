// How reductions go through a space on the CPU: rows, columns or tiles, in tasks and chunks.
// SPDX-License-Identifier: MIT
#pragma once

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
  int64 (*beside)(const void*, const int64*, const int64*, const int64*, int64, int64, int64, void*);  ///< or null
  fetcher gathers;
  bool packable, indexed;
  int lanes;       ///< of a pack
  int total_size;  ///< bytes of a total
  const memory_operand* of;
};

/// How a reduction is cut up: tasks are groups of results; each may be cut into chunks of the reduced places, whose
/// totals are combined in order. It follows from the shape alone, never from the number of threads.
struct reduction_cut {
  static constexpr int64 most_packs = 16, widest = 1024, tile = 4096, turned_tile = 16384;
  static constexpr int64 block = 64;  ///< rows that `across` takes at most at a time
  walk_space s;
  enum { by_element, along, across } form = by_element;
  bool staged[most_operands];  ///< operands that are copied to tiles
  bool tiled = false;          ///< there are any
  bool beside = false;         ///< short rows are combined side by side
  bool joined = false;         ///< the last kept axis is a reduced one: what it holds is combined at the end
  bool streams = false;        ///< elements come from beyond the caches, and are read as they lie
  int64 width = 1;             ///< places of a task along the last kept axis
  int64 depth = 1;             ///< reduced places of a tile, along the last axis
  int64 each = 1, fold = 1;    ///< results of such a place, side by side, and elements of a run that go to each
  int64 pitch = 1;             ///< rows that are combined side by side
  int64 segments = 1;          ///< tasks along the last kept axis
  int64 tasks = 1, chunks = 1;
  int64 count;                 ///< elements of each result
  int64 places;                ///< of the reduced axes
  int side, inner;             ///< the last kept axis, -1: none; the last reduced axis; side: none
  int64 steps[most_operands];  ///< from result to result, of a place or of places

  bool reduces() const { return inner > side; }
  /// Rows of at least so many elements are combined one by one; finding the place of an extreme takes longer for each.
  static int64 short_row(const reduce_kernels& r) { return r.indexed ? 256 : 128; }
  /// Tasks that share a result, and the totals that a task of so many places along the last kept axis leaves.
  int64 sharing() const { return joined ? segments : 1; }
  int64 left(int64 wide) const { return joined ? 1 : wide * each; }
  /// Totals of such a task while rows are added up.
  int64 columns(int64 wide) const { return wide * each * fold * pitch; }
  int64 begin(int64 chunk) const {
    const int64 at = places / chunks * chunk + places % chunks * chunk / chunks,
                unit = form == across ? block * pitch : 1024;
    return chunk == chunks ? places : at - at % unit;
  }
  /// Goes to the first result of a task; returns how many it has.
  int64 enter(place_in& at, int64 task) const {
    at.seek(s, 0, side, task / segments);
    if (side < 0) return 1;
    const int64 j = task % segments * width, left = s.extent[side] - j;
    at.advance(s, side, j);
    return left < width ? left : width;
  }

  reduction_cut(const walk_space& space, const reduce_kernels& r) : s(space) {
    side = s.kept - 1;
    inner = s.ndim - 1;
    count = places = s.size(s.kept, s.ndim);
    const int64 results = s.size(0, s.kept), n = reduces() ? s.extent[inner] : 1;
    for (int k = 0; k < s.operands; ++k) staged[k] = false;
    const auto unit = [&](int axis) {
      bool all = true;
      for (int k = 1; k < s.operands; ++k) all = all && packs_can_read(r.of[k], s.stride[k][axis]);
      return all;
    };
    if (r.packable && places > 0) {
      int flat = side;  // a kept axis along which all operands lie side by side
      while (flat >= 0 && !unit(flat)) --flat;
      const bool row = reduces() && unit(inner);
      beside = row && r.beside != nullptr && !r.gathers && n <= most_packs * r.lanes && 2 * n >= r.lanes && side >= 0 &&
               s.extent[side] >= 4 * r.lanes;
      for (int k = 1; k < s.operands && n < r.lanes; ++k)  // elements of the next row are read as well
        beside = beside && s.stride[k][side] == n * s.stride[k][inner];
      if (row && lie_in_runs(r, n, true)) beside = false;
      else if (beside) lie_beside(n, r.lanes);
      else if (row && (n >= short_row(r) || results < 16)) lie_along(n);
      else if (flat >= 0 && flat == side && lie_in_runs(r, n, false)) {
      } else if (flat >= 0 && (!r.indexed || s.extent[flat] >= r.lanes)) lie_across(flat, r);
      else copy_tiles(r, n);
    } else if (reduces() && places > 0) {
      if (side >= 0 && !r.indexed && side_is_nearer()) {
        form = across;
        width = s.extent[side] < widest ? s.extent[side] : widest;
      } else if (nearer_axis(r, 0, inner - 1) >= 0) {
        copy_tiles(r, n);
      }
    }
    if (fold == 1) s.steps(steps, side);
    segments = side >= 0 ? (s.extent[side] + width - 1) / width : 1;
    tasks = side >= 0 ? s.size(0, side) * segments : 1;
    const int64 work = results * count;
    for (int k = 1; k < s.operands; ++k)  // sums of single bytes are wide: short rows of them share their loads still
      streams = streams || (exceeds_cache(work * r.of[k].bytes) && (r.of[k].bytes > 1 || columns(width) >= 512));
    if (work >= 131072 && tasks < 32) {
      const int64 wanted = (32 + tasks - 1) / tasks, most = work / 32768;
      chunks = wanted < most ? wanted : most;
      if (chunks > places) chunks = places;
    }
  }

 private:
  void lie_along(int64 n) {
    form = along;
    if (side < 0 || s.ndim != s.kept + 1) return;
    const int64 e = s.extent[side];  // several results to a task, where there are many
    width = e < 64 ? 1 : e < 32 * block ? e / 32 : block;
    depth = n;
  }
  /// Tasks of whole packs of results, four or more.
  void lie_beside(int64 n, int64 lanes) {
    form = along;
    const int64 e = s.extent[side], part = (e / 32 + lanes - 1) / lanes * lanes, least = 4 * lanes,
                most = least > block ? least : block;
    width = part < least ? least : part < most ? part : most;
    depth = n;
  }
  /// Whether the places of an axis follow those of another.
  CUDARRAY_NO_INLINE bool follows(int axis, int other, int64 places_there) const {
    bool yes = true;
    for (int k = 1; k < s.operands; ++k) yes = yes && s.stride[k][axis] == places_there * s.stride[k][other];
    return yes;
  }
  /// So many rows side by side that each has `e` elements, where they are short, that packs are full.
  static int64 rows_beside(int64 e, int64 rows) {
    const int64 most = 256 / e < 1 ? 1 : 256 / e, parts = (rows + most - 1) / most;
    return (rows + parts - 1) / parts;
  }
  void lie_across(int axis, const reduce_kernels& r) {
    s.swap_axes(axis, side);
    const int64 e = s.extent[side];
    if (!r.indexed && reduces() && e < 8 * r.lanes && follows(inner, side, e)) pitch = rows_beside(e, s.extent[inner]);
    width = e < widest ? e : widest;
    if (width * pitch >= r.lanes) form = across;
    else width = pitch = 1;
  }
  /// Runs of what is reduced along the last axis (`row`), or of that and of a few results that it follows, as rows of
  /// as many results as they have elements: several runs where one follows the other. False where there are none, or
  /// packs would be cut.
  CUDARRAY_COLD bool lie_in_runs(const reduce_kernels& r, int64 n, bool row) {
    const int64 e = row ? 1 : s.extent[side], run = e * n;
    if (r.indexed || s.ndim - s.kept < 2 || run > widest) return false;
    if (row ? n >= short_row(r) || places < 8 * n : !follows(inner, side, e)) return false;
    const int next = row ? side : side - 1, element = row ? inner : side;
    const bool more = next >= 0 && follows(next, element, run) && (row || s.stride[0][next] == e * s.stride[0][side]);
    int64 wide = 1;
    if (more) {
      const int64 runs = s.extent[next], most = widest / run;
      wide = runs < most ? runs : most;
      while (wide > 1 && runs % wide != 0 && runs % wide * run < r.lanes) --wide;
    }
    const bool rows_follow = wide * run < 8 * r.lanes && follows(inner - 1, element, wide * run);
    const int64 rows = rows_follow ? rows_beside(wide * run, s.extent[inner - 1]) : 1;
    if (rows * wide * run < r.lanes) return false;
    form = across;
    width = wide, each = e, fold = n, pitch = rows;
    s.steps(steps, element);
    if (row && side >= 0) steps[0] = s.stride[0][side];
    if (!row) {
      s.drop_axis(side);
      --s.kept;
    }
    s.drop_axis(s.ndim - 1);
    side = s.kept - 1, inner = s.ndim - 1;
    places = s.size(s.kept, s.ndim);
    return true;
  }
  /// The axis of [first, last] along which an operand that packs cannot read along the last one has the least step
  /// below that one's; or -1.
  CUDARRAY_NO_INLINE int nearer_axis(const reduce_kernels& r, int first, int last) const {
    int best = -1;
    int64 least = 0;
    for (int k = 1; k < s.operands; ++k) {
      const int64 step = distance(k, inner);
      for (int d = last; d >= first && !packs_can_read(r.of[k], s.stride[k][inner]); --d) {
        const int64 there = distance(k, d);
        if (there == 0 || there >= step || (best >= 0 && there >= least)) continue;
        best = d;
        least = there;
      }
    }
    return best;
  }
  int64 distance(int k, int axis) const { return s.stride[k][axis] < 0 ? -s.stride[k][axis] : s.stride[k][axis]; }
  /// No operand has longer steps along the last kept axis than along the last reduced one.
  CUDARRAY_NO_INLINE bool side_is_nearer() const {
    bool nearer = true;
    for (int k = 1; k < s.operands; ++k) nearer = nearer && distance(k, side) <= distance(k, inner);
    return nearer;
  }
  /// Results lie side by side in a tile where rows are short or farther apart, else one behind the other.
  void copy_tiles(const reduce_kernels& r, int64 n) {
    int turned = reduces() ? nearer_axis(r, 0, side) : -1;
    if (turned < 0 && reduces() && !r.indexed) turned = nearer_axis(r, side + 1, inner - 1);
    joined = turned > side;
    if (joined) side = s.kept++;
    if (const int lies = turned < 0 ? side : turned; !joined && lies >= 0 && s.extent[lies] < r.lanes && n <= 16)
      for (int d = 0; d <= side; ++d)  // few places of each: packs are of results along a longer axis
        if (s.extent[d] >= r.lanes && (turned < 0 || s.extent[d] > s.extent[turned])) turned = d;
    if (turned >= 0) s.swap_axes(turned, side);
    places = s.size(s.kept, s.ndim);
    const bool all_nearer = turned >= 0 && side_is_nearer();
    const int64 e = side >= 0 ? s.extent[side] : 1;
    if ((r.packable || !r.indexed) && e >= r.lanes && (n < short_row(r) || all_nearer)) {
      form = across;
      // of a row of memory as much as can be, of many rows elsewhere
      const int64 wide = e < widest ? e : widest,
                  most = all_nearer && turned_tile / wide < block ? turned_tile / wide : block;
      depth = n < most ? n : most;
      width = all_nearer ? wide : e < tile / depth ? e : tile / depth;
    } else if (reduces()) {
      form = along;
      width = turned < 0 ? 1 : e < block ? e : block;
      depth = (turned < 0 ? tile : turned_tile) / width;
    }
    tiled = form != by_element;
    const int axis = form == across ? side : inner;
    for (int k = 1; tiled && k < s.operands; ++k) staged[k] = r.of[k].p && !packs_can_read(r.of[k], s.stride[k][axis]);
  }
};

/// The chunks [first, last), counted task by task. Their totals go to `partial`, or, where tasks are whole, the results
/// to the target.
inline void reduce_chunks(const reduce_kernels& r, const reduction_cut& c, char* partial, int64 first, int64 last) {
  const walk_space& s = c.s;
  const int side = c.side, inner = c.inner;
  const int64 n = c.reduces() && c.places > 0 ? s.extent[inner] : 1;
  const int64* const step = c.steps;
  int64 down[most_operands], packed[most_operands], next[most_operands], none[most_operands];
  s.steps(down, c.reduces() ? inner : -1);
  s.steps(none, -1);
  for (int k = 0; k < s.operands; ++k) packed[k] = c.staged[k] ? 1 : c.form == c.across ? step[k] : down[k];
  tile_copies copies(r.of, c.staged, c.tiled ? s.operands : 0, c.width * c.depth);
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
        const int64 most = c.form == c.along || c.tiled ? c.depth : c.block * c.pitch;
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
                  prefetch(static_cast<const char*>(r.of[k].p) +
                           (ahead.offset[k] + (width + w) * step[k]) * r.of[k].bytes);
            }
            const int64 rows = r.packable && columns < r.lanes ? 0 : length / c.pitch;
            for (int k = 0; k < s.operands; ++k) next[k] = c.staged[k] ? width : c.pitch * down[k];
            const int64 together = r.gathers ? 1 : rows;
            for (int64 row_at = 0; row_at < rows; row_at += together) {
              r.gathers.before(row_at, rows, at.offset, packed, next, s.operands, columns);
              r.across(r.self, at.offset, packed, next, together, columns, position + i + row_at, c.streams, own);
              move_on(at.offset, next, together, s.operands);
            }
            int64 done = rows * c.pitch;
            if (const int64 rest = (length - done) * row_columns; rows > 0 && r.packable && rest >= r.lanes) {
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
  const reduction_cut c(space, r);
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

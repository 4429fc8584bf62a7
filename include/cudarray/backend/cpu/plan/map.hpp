// Plans of maps on the CPU: rows, or tiles of the last two axes.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "space.hpp"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// What a plan must know of a map and of what it reads and writes.
struct map_facts {
  const memory_operand* of;
  bool packable;  ///< there is a form of packs
  bool gathers;   ///< an index picks elements
  bool copies;    ///< it is a copy of operand 1, bit by bit
  bool ordered;   ///< elements are written one after another, in order: several may go to one place
  bool apart;     ///< the target is not read, so that some elements may be written twice
  bool several;   ///< results go to several arrays: they are not copied from tiles
};

/// How a map goes through its space: element by element in rows, by packs in rows, or by tiles of the last two axes.
enum class map_form { elements, rows, tiles };
inline const char* name_of(map_form f) {
  return f == map_form::tiles ? "tiles" : f == map_form::rows ? "rows" : "elements";
}

inline bool starts_line(const memory_operand& m) {
  return reinterpret_cast<::std::uintptr_t>(m.p) % ::std::size_t(tuning::line) == 0;
}

/// Tiles of the last two axes. Operands that packs cannot read there are copied to where they can.
struct tile_plan {
  walk_space s;
  int64 rows, columns;         ///< of a tile
  bool folded;                 ///< the rows of a tile follow each other without gaps: they are one
  bool staged[most_operands];  ///< copied
  bool streamed;               ///< results go past the caches

  int64 down() const { return (s.extent[s.ndim - 2] + rows - 1) / rows; }
  int64 across() const { return (s.extent[s.ndim - 1] + columns - 1) / columns; }
  int64 count() const { return s.size(0, s.ndim - 2) * down() * across(); }

  /// Chooses the tiles of a space that has an axis.
  tile_plan(const walk_space& space, const map_facts& map) : s(space) {
    const int64 short_row = tuning::short_row / map.of[0].bytes;
    if (s.ndim == 1) {  // a second axis, of extent 1
      s.ndim = 2;
      s.extent[1] = 1;
      for (int k = 0; k < s.operands; ++k) s.stride[k][1] = 0;
      s.swap_axes(0, 1);
    }
    const int inner = s.ndim - 1, outer = inner - 1;
    const int64 n = s.extent[inner];
    int64 transposed = 0, wide = 0;  // rows of a tile, where an operand's fastest axis is another one, and columns
    for (int k = 1; k < s.operands && n >= short_row; ++k)
      for (int d = outer; d >= 0 && transposed == 0; --d)
        if (!packs_can_read(map.of[k], s.stride[k][inner]) && s.stride[k][d] == 1) {
          transposed = tuning::transposed_bytes / map.of[k].bytes;
          s.swap_axes(d, outer);
          if (transposed > s.extent[outer]) transposed = s.extent[outer];
          const int bytes = map.of[k].bytes;
          wide = bytes < 4 ? ::std::min(tuning::transposed_tile / transposed, tuning::transposed_columns / bytes)
                           : tuning::wide_columns * bytes;
        }
    folded = n < short_row && s.stride[0][inner] == 1 && (s.stride[0][outer] == n || n <= tuning::narrow_columns);
    for (int k = 1; k < s.operands; ++k)  // what is not in memory cannot be copied
      folded = folded && (map.of[k].p || s.stride[k][outer] == n * s.stride[k][inner]);
    columns = folded ? n : transposed ? wide : tuning::tile_columns;
    if (columns > n) columns = n;
    rows = transposed ? transposed : tuning::tile / columns;
    if (rows > s.extent[outer]) rows = s.extent[outer];
    for (int k = 0; k < s.operands; ++k) {
      const int64 step = s.stride[k][inner];
      staged[k] = map.of[k].p && ((step != 1 && (step != 0 || k == 0)) || (folded && s.stride[k][outer] != n * step));
    }
    // lines that two tiles share would be written twice
    const int64 pitch = s.stride[0][outer], line = tuning::line / map.of[0].bytes;
    streamed = map.packable && map.apart && !staged[0] && columns >= tuning::streamed_lines * line &&
               columns % line == 0 && pitch % line == 0 && starts_line(map.of[0]) &&
               exceeds_cache(s.size(0, s.ndim) * map.of[0].bytes);
  }
};

/// Whether an operand lies along another axis than the last one, so that a walk in order would come to each line of
/// memory many times.
inline bool is_transposed(const map_facts& map, const walk_space& s) {
  const int inner = s.ndim - 1;
  for (int k = 1; k < s.operands && !map.ordered; ++k)
    for (int d = 0; d < inner; ++d)
      if (!packs_can_read(map.of[k], s.stride[k][inner]) && s.stride[k][d] == 1) return true;
  return false;
}

inline map_form plan_map(const walk_space& s, const map_facts& map) {
  const int inner = s.ndim - 1;
  const int64 n = inner < 0 ? 1 : s.extent[inner], short_row = tuning::short_row / map.of[0].bytes;
  bool unit = map.packable && (inner < 0 || s.stride[0][inner] == 1);
  for (int k = 1; k < s.operands; ++k) unit = unit && packs_can_read(map.of[k], inner < 0 ? 0 : s.stride[k][inner]);
  // of copies longer rows, too: the bytes of a row are copied without a call
  const bool by_bytes = map.copies && !exceeds_cache(s.size(0, s.ndim) * map.of[0].bytes);
  const bool rows = unit && (n >= (by_bytes ? tuning::short_copied * short_row : short_row) || inner <= 0);
  if (!map.several && (map.packable || map.copies || is_transposed(map, s)) && (!rows || map.gathers) && inner >= 0)
    return map_form::tiles;
  return rows ? map_form::rows : map_form::elements;
}

/// Whether the results of rows, long ones or short ones of whole lines, go past the caches.
inline bool streams_rows(const walk_space& s, const map_facts& map) {
  const int inner = s.ndim - 1;
  const memory_operand& target = map.of[0];
  const int64 n = inner < 0 ? 1 : s.extent[inner];
  bool lines = n * target.bytes % tuning::line == 0 && starts_line(target);
  for (int d = 0; d < inner; ++d) lines = lines && s.stride[0][d] * target.bytes % tuning::line == 0;
  return map.apart && !map.several && (n >= tuning::streamed_row || lines) &&
         exceeds_cache(s.size(0, s.ndim) * target.bytes);
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

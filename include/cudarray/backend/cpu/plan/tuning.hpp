// The numbers that the CPU's plans were tuned by, on Zen 4 and Zen 5 (bench/history.csv has the measurements).
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../core/dtype.hpp"

namespace cudarray::inline v0::backend::host::tuning::inline CUDARRAY_BUILD {

// What the system says of the last cache is not asked for: virtual machines report that of a whole server.
inline constexpr int64 cache = 16 << 20;  ///< bytes: more come from memory, and results go past the caches
inline constexpr int64 line = 64;         ///< bytes

// Maps.
inline constexpr int64 short_row = 256;   ///< bytes: shorter rows go by tiles, without a call for each
inline constexpr int64 short_copied = 8;  ///< times that, of copies in the caches: joins of 100 columns 12.3 -> 5.4 us
inline constexpr int64 streamed_row = 1024;  ///< elements: shorter rows go past the caches by whole lines only
inline constexpr int64 streamed_lines = 8;   ///< lines in a row of a tile whose results go past the caches

// Tiles of maps.
inline constexpr int64 tile = 4096;                ///< elements
inline constexpr int64 tile_columns = 1024;        ///< elements of a row, at most
inline constexpr int64 narrow_columns = 8;         ///< rows of at most so many are one row, though the target has gaps
inline constexpr int64 transposed_bytes = 256;     ///< of an operand along another axis: four lines of it at a time,
inline constexpr int64 transposed_tile = 65536;    ///< in tiles of so many elements of one and two bytes,
inline constexpr int64 transposed_columns = 1024;  ///< with so many bytes in a row,
inline constexpr int64 wide_columns = 64;          ///< and rows of so many elements a byte of wider ones

// Reductions: what is combined with what.
inline constexpr int64 row = 128;              ///< elements: rows of so many are combined one by one,
inline constexpr int64 row_of_extremes = 256;  ///< and where the place of an extreme is looked for, which takes longer
inline constexpr int64 few_results = 16;       ///< fewer results are combined along rows, however short
inline constexpr int64 packs_beside = 16;      ///< packs of a row, at most, where rows are combined side by side
inline constexpr int64 results_beside = 4;     ///< packs of results there, at least
inline constexpr int64 full_packs = 8;         ///< packs of columns: where there are fewer, rows lie side by side,
inline constexpr int64 rows_beside = 256;      ///< elements of those rows together
inline constexpr int64 least_runs = 8;         ///< runs as long as a run, for runs to be taken as columns
inline constexpr int64 few_in_tiles = 16;      ///< reduced elements: packs take results along a longer axis then

// Reductions: tasks, chunks and tiles.
inline constexpr int64 columns = 1024;                   ///< of a task
inline constexpr int64 block = 64;                       ///< rows that are added up at a time, results of a task
inline constexpr int64 tasks = 32;                       ///< wanted
inline constexpr int64 reduced_tile = 4096;              ///< elements
inline constexpr int64 transposed_reduced_tile = 16384;  ///< where an operand lies along another axis
inline constexpr int64 chunked = 131072;   ///< elements: of more, and few tasks, tasks are cut into chunks
inline constexpr int64 chunk = 32768;      ///< elements, at least
inline constexpr int64 chunk_unit = 1024;  ///< chunks of rows begin at multiples of it
inline constexpr int64 wide_bytes = 512;   ///< columns of single bytes that are read as they lie, beyond the caches

// Row programs: of a row.
inline constexpr int64 least_program_row = 64, most_program_row = 1 << 18;  ///< elements

}  // namespace cudarray::inline v0::backend::host::tuning::inline CUDARRAY_BUILD

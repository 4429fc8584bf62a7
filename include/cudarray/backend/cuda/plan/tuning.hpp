// The numbers that plans were tuned by, on an H100 and an H200. Times are of 256 MB, in ms (bench/history.csv has all).
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../core/dtype.hpp"

namespace cudarray::inline v0::backend::gpu::tuning::inline CUDARRAY_BUILD {

// What the hardware is: bytes of a line of memory and of a sector, threads that a multiprocessor keeps busy.
inline constexpr int64 line = 128, sector = 32, busy_threads = 2048;

// Maps.
inline constexpr int64 idle_part = 4;  ///< blocks on a long row: a fourth of their threads may be idle
inline constexpr int64 unaligned_accesses =
    8;  ///< of rows off alignment; in shorter ones half of the threads have half an access
inline constexpr int64 short_axis =
    64;  ///< lanes divide the longest axis where the last has fewer elements: warps fill

// Tiles.
inline constexpr int64 cached_matrix = 1200;         ///< elements that stay in the cache until used: no tiles below
inline constexpr int64 cached_narrow_matrix = 2400;  ///< of elements of 1 and 2 bytes
inline constexpr int64 cell_matrix = 3600;  ///< over E^2, by cells: (N, 8, 8) float16 0.145 by lanes, 0.230 by cells
inline constexpr int64 same_banks_matrix = 256;  ///< where all rows begin in one bank tiles pay from here on
inline constexpr int64 strip = 24;               ///< a strip as narrow as this stays in the cache by itself,
inline constexpr int64 strip_matrix = 16384;     ///< and so does one of a matrix of fewer elements
inline constexpr int64 narrow_strip = 4;         ///< as strip, of elements of 1 and 2 bytes
inline constexpr int narrow_strip_log2 = 22;     ///< but of 2 bytes only while the strip has fewer elements

// Which axis of a reduction lanes go along.
inline constexpr int64 close_steps = 16;  ///< elements; steps up to this share lines: max of a[:, ::2] 0.180 -> 0.075
inline constexpr int64 thread_row = 13;   ///< elements of a row that a thread adds up alone: rows of 9 0.142 -> 0.081;
inline constexpr int64 thread_row_aligned = 8;     ///< of whole accesses fewer; rows of 31 alone 0.091 -> 0.44
inline constexpr int64 thread_row_results = 1024;  ///< but not where there are fewer results

// How the threads of a result share its runs.
inline constexpr int64 short_run = 8;          ///< elements; a step goes from run to run: (1M, 50 of 64) 0.111 -> 0.086
inline constexpr int64 full_quarters = 3;      ///< or where three quarters of the threads on a run have work
inline constexpr int aligned_run_threads = 4;  ///< threads on a run, at least, so that they read a sector;
inline constexpr int strided_run_threads = 16;  ///< where a lane is an element by itself

// Blocks that take one group of results each, 8 to 15 steps a thread: (524288, 128) 0.0687 -> 0.0657.
inline constexpr int64 once_least = 32, once_least_narrow = 6;  ///< accesses of a row; narrow: of more than 4 lanes
inline constexpr int64 once_most = 256;                         ///< of totals that are not light: max lost 1 to 7 %
inline constexpr int64 once_steps = 16;

// Groups of results a block is wide, by how many there are: the last block of a result adds up what all others left.
inline constexpr int64 few_groups = 512, some_groups = 8192;
inline constexpr int few_wide = 8, some_wide = 16,
                     many_wide = 32;  ///< (1M, 64) 0.071 -> 0.067, (524288, 128) 0.0759 -> 0.0668
inline constexpr int strided_wide = 128;

// Folded columns and runs.
inline constexpr int64 fold_groups =
    16;  ///< of lanes in a row, at most: argmax of 63 columns 0.51 -> 0.40 of the bandwidth
inline constexpr int64 fold_steps = 32;     ///< rows of each thread, at least
inline constexpr int64 run_bytes = 512;     ///< of a run that is folded along, at most
inline constexpr int64 run_groups = 64;     ///< of lanes in runs side by side, at most
inline constexpr int64 run_count = 64;      ///< runs to a result, at least
inline constexpr int64 run_lanes = 8;       ///< runs of 1, 2, 4 or 8 whole accesses are folded; others lost up to 20 %
inline constexpr int64 run_columns = 16;    ///< accesses of results side by side, at most
inline constexpr int64 block_end = 32;      ///< what a block does at its end, in rows of a thread
inline constexpr int64 steps_of_part = 16;  ///< of each thread, at least, where blocks share a result

// Short rows that fill memory.
inline constexpr int64 rows_of_block = 8, aligned_rows_of_block = 12;  ///< at least: other kernels are faster below
inline constexpr int64 least_rows_of_block = 8;                        ///< where there are few rows

// Gradients.
inline constexpr int64 gradient_blocks = 16;   ///< for a multiprocessor, where blocks share sums
inline constexpr int64 gradient_steps = 8;     ///< places of a thread along a row, at most
inline constexpr int64 gradient_places = 256;  ///< that a thread adds up in the narrower type, at most
inline constexpr int64 parts_of_sum = 8;       ///< of what blocks share, for a thread: more where sums are few
inline constexpr int sums_side_by_side = 4;    ///< that threads add up, at least: what memory hands out at once

// Row programs.
inline constexpr int row_vectors = 8;  ///< of a row's vectors, so many to a thread, or half: 16 are up to 10 % slower
inline constexpr int bytes_of_row_thread =
    227;  ///< of a row in shared memory, at most, so that 1000 threads are under way
inline constexpr int bytes_of_part =
    110 << 10;  ///< of a row in a block of a cluster: two have room. 56 kB: cross-entropy 1.92 of the floor for 1.66
inline constexpr int long_row = 1 << 15;  ///< elements; fewer such rows than multiprocessors go by several kernels

// Scans: threads along inner. Accesses of a line of float32; wider ones where lines share sectors,
// narrow ones where segments have very many tiles, which ask each other for much.
inline constexpr int element_bytes = 4, few_inner_threads = 16, many_inner_threads = 64;
inline constexpr int64 long_segment = 1 << 17;  ///< elements
inline constexpr int64 alone_tenths = 9;        ///< a block takes all tiles of a segment where so many of 10 blocks do

// Operands of a reduction that are copied first: sum(a + b.T) 0.368 -> 0.265.
inline constexpr int64 copied = int64(1) << 21;  ///< elements; fewer stay in the cache until all of a line is used
inline constexpr int copied_bytes = 4;           ///< of an element, at most: of 8 bytes 0.19 as it is, 0.26 copied

}  // namespace cudarray::inline v0::backend::gpu::tuning::inline CUDARRAY_BUILD

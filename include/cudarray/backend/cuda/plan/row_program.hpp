// Plans of row programs: how threads are spread on rows, and what of these is held in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "operands.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

inline constexpr int row_block = 512;  ///< threads of a block, at most
inline constexpr int row_cluster = 8;  ///< blocks of a cluster, at most

/// How the elements of an operand lie along a row.
enum class row_operand {
  still,    ///< one element
  vectors,  ///< side by side, off alignment by as much as those of the others
  single    ///< side by side
};

/// How threads are spread on rows, and where operands lie. The first and the last ones are the results.
template <int Operands>
struct row_program_plan {
  int64 rows = 1, blocks = 1;
  int width = 1;       ///< elements of a row
  int parts = 1;       ///< blocks on a row: a cluster, each of which has a part of it
  int part_width = 1;  ///< elements of a part, at most
  int row_threads = 1,
      threads = 1;  ///< on a row or part, a power of two up to a warp or all threads of a block; and of those
  int lead = 0;     ///< elements that the first row's vectors are off alignment,
  int lead_step[max_rank] = {};   ///< and so many more from row to row along a kept axis
  bool has_room = true;           ///< for sums over rows
  int sum_bytes = 0;              ///< of these
  int row_bytes = 0;              ///< shared memory for a row or part; 0: operands are read where they lie
  int place[Operands] = {};       ///< where an operand's row begins there; -1: it is not held
  uint64 copied = 0;              ///< operands that are brought there: one of those that are the same
  int kept = -1, kept_bytes = 0;  ///< where what is kept begins there, or -1; bytes of an element of it
  row_operand of[Operands] = {};
  const char* data[Operands] = {};
  thread_space<Operands> space;  ///< of the kept axes

  /// Shared memory of a block.
  ::std::size_t block_bytes() const { return ::std::size_t(row_bytes) * ::std::size_t(threads / row_threads); }
  const char* name() const { return copied != 0 ? "rows in shared memory" : "rows where they lie"; }
};

/// What a plan must know of a program, a kernel and a device.
struct row_program_facts {
  int V;             ///< elements of a vector
  int results;       ///< arrays that are written: operand 0, and the last ones
  int kept_bytes;    ///< of an element that may be kept; 0: there is none
  uint64 read_last;  ///< operands that results are made of, besides what is kept, a bit each
  int most_shared;   ///< bytes of shared memory of a block
  int multiprocessors;
  int cluster;                     ///< blocks of a cluster, at most
  const int* sum_bytes = nullptr;  ///< of an element of each sum over rows, which has a place in front of what is held
  int sums = 0;
};

/// The operands that an index picks from, and those that say what, a bit each.
template <int Operands>
uint64 picking_operands(const operand_info* of) {
  uint64 picking = 0;
  for (int k = 0; k < Operands; ++k)
    if (of[k].gathered) picking |= uint64(1) << k | of[k].index_leaves;
  return picking;
}

/// How operands lie along rows. False where one lies otherwise than side by side.
template <int Operands>
bool find_row_operands(row_program_plan<Operands>& r, const detail::iteration_space<Operands>& s,
                       const operand_info* of, int V) {
  const int x = s.ndim - 1;
  const uint64 picking = picking_operands<Operands>(of);
  const auto moves = [&](int k) { return of[k].data != nullptr && s.stride[k][x] != 0; };
  int leader = 0;  // the first that moves: the results at last
  for (int k = Operands - 1; k > 0; --k)
    if (moves(k) && !(picking >> k & 1)) leader = k;
  if (of[leader].data != nullptr) r.lead = off_alignment(of[leader], V);
  for (int d = 0; d < x; ++d) r.lead_step[d] = int(s.stride[leader][d] % V);
  for (int k = 0; k < Operands; ++k) {
    r.data[k] = static_cast<const char*>(of[k].data);
    const bool generated = of[k].generated && s.stride[k][x] != 0;
    if (generated) r.of[k] = row_operand::single;
    if (!moves(k) && !generated) continue;
    if (s.stride[k][x] != 1) return false;
    if (generated) continue;
    bool alike = !(picking >> k & 1) && off_alignment(of[k], V) == r.lead;
    for (int d = 0; d < x; ++d) alike = alike && (s.stride[k][d] - s.stride[leader][d]) % V == 0;
    r.of[k] = alike ? row_operand::vectors : row_operand::single;
  }
  return true;
}

/// Room for a row of elements of so many bytes, from an aligned vector on; -1 where there is not so much.
template <int Operands>
int row_place(row_program_plan<Operands>& r, int64 most, int V, int bytes) {
  const int place = r.row_bytes;
  const int64 end = place + ceil_div(int64(r.part_width + V - 1) * bytes, 16) * 16;
  if (end > most) return -1;
  r.row_bytes = int(end);
  return place;
}

/// Places for the operands that are read and move from row to row, as many as `most` bytes hold.
template <int Operands>
void hold_operands(row_program_plan<Operands>& r, const detail::iteration_space<Operands>& s, const operand_info* of,
                   int64 most, const row_program_facts& f) {
  const int V = f.V;
  const int x = s.ndim - 1;
  const auto same = [&](int j, int k) {
    bool yes = r.place[j] >= 0 && of[j].data == of[k].data && of[j].bytes == of[k].bytes;
    for (int d = 0; d < x; ++d) yes = yes && s.stride[j][d] == s.stride[k][d];
    return yes;
  };
  for (int k = 1; k <= Operands - f.results; ++k) {
    bool moves = r.rows == 1;
    for (int d = 0; d < x; ++d) moves = moves || s.stride[k][d] != 0;
    if (r.of[k] != row_operand::vectors || !moves || V * of[k].bytes < 4 || s.store[k]->borrowed) continue;
    for (int j = 1; j < k && r.place[k] < 0; ++j)
      if (same(j, k)) r.place[k] = r.place[j];
    if (r.place[k] >= 0) continue;
    r.place[k] = row_place(r, most, V, of[k].bytes);
    if (r.place[k] >= 0) r.copied |= uint64(1) << k;
  }
}

/// A place for what is kept: that of an operand which is not read any more, or a new one.
template <int Operands>
void keep_values(row_program_plan<Operands>& r, const operand_info* of, int64 most, const row_program_facts& f) {
  bool by_element = false;  // or there is nobody to read it
  for (int k = 0; k < Operands; ++k)
    by_element = by_element || ((k == 0 || k > Operands - f.results) && r.of[k] != row_operand::still);
  if (f.kept_bytes == 0 || !by_element) return;
  r.kept_bytes = f.kept_bytes;
  const auto read = [&](int place) {
    for (int k = 1; k < Operands; ++k)
      if ((f.read_last >> k & 1) && r.place[k] == place) return true;
    return false;
  };
  for (int k = 1; k < Operands && r.kept < 0; ++k)
    if (r.place[k] >= 0 && of[k].bytes == f.kept_bytes && !read(r.place[k])) r.kept = r.place[k];
  if (r.kept < 0) r.kept = row_place(r, most, f.V, f.kept_bytes);
}

/// What is held of a row in `most` bytes.
template <int Operands>
void hold_row(row_program_plan<Operands>& r, const detail::iteration_space<Operands>& s, const operand_info* of,
              int64 most, const row_program_facts& f) {
  r.row_bytes = 0, r.copied = 0, r.kept = -1;
  for (int& place : r.place) place = -1;
  for (int j = 0; j < f.sums; ++j)
    if (row_place(r, most, f.V, f.sum_bytes[j]) < 0) r.has_room = false;
  r.sum_bytes = r.row_bytes;
  hold_operands(r, s, of, most, f);
  keep_values(r, of, most, f);
}

/// Blocks on a row: so many that a multiprocessor has room for two, and loads for one while the other computes, and
/// that few long rows keep all multiprocessors busy.
template <int Operands>
void share_row(row_program_plan<Operands>& r, const detail::iteration_space<Operands>& s, const operand_info* of,
               const row_program_facts& f) {
  constexpr int64 all = 1 << 30;
  r.part_width = r.width;
  hold_row(r, s, of, all, f);
  const int64 busy = r.width >= tuning::long_row ? f.multiprocessors : 1;
  while (r.parts < f.cluster && (r.row_bytes > r.parts * tuning::bytes_of_part || r.rows * r.parts < busy))
    r.parts *= 2;
  if (r.parts > 1) r.part_width = int(ceil_div(ceil_div(r.width, f.V), r.parts) + 1) * f.V;
  hold_row(r, s, of, f.most_shared, f);
}

/// Threads on a row or part: twice as many where each has half as much to do then.
template <int Operands>
int threads_of_row(const row_program_plan<Operands>& r, int V) {
  const int64 vectors = ceil_div(r.part_width, V), wanted = ceil_div(vectors, tuning::row_vectors),
              least = (r.row_bytes - r.sum_bytes) / tuning::bytes_of_row_thread;
  const int fewest = r.parts > 1 ? 2 * warp : 4;
  int n = power_of_two_above(wanted > least ? wanted : least, row_block);
  if (n < fewest) n = fewest;
  const int64 half = ceil_div(vectors, 2 * n);
  return 2 * n <= row_block && half >= tuning::row_vectors / 2 && 2 * half <= ceil_div(vectors, n) ? 2 * n : n;
}

/// False where operands do not lie along the last axis, or few rows are long: several kernels are faster then.
template <int Operands>
CUDARRAY_NO_INLINE bool plan_row_program(row_program_plan<Operands>& r, const detail::iteration_space<Operands>& s,
                                         const operand_info* of, const row_program_facts& f) {
  const int x = s.ndim - 1;
  if (s.extent[x] >= 1 << 24 || !find_row_operands(r, s, of, f.V)) return false;
  r.rows = s.size(0, x);
  r.width = int(s.extent[x]);
  share_row(r, s, of, f);
  if (r.width >= tuning::long_row && r.rows * r.parts < f.multiprocessors) return false;
  r.space.divide(s, 1, x, true);
  r.row_threads = threads_of_row(r, f.V);
  r.threads = r.row_threads > warp ? r.row_threads : block_threads;
  const int groups = r.threads / r.row_threads;
  const bool few = r.row_threads < 8;
  if (groups > 1) hold_row(r, s, of, f.most_shared / groups - (few ? 192 : 0), f);
  // two groups of four threads read from different banks of shared memory at a time
  if (few && r.row_bytes > 0) r.row_bytes = int(ceil_div(r.row_bytes, 128) * 128 + 64);
  r.blocks = ceil_div(r.rows, groups);
  return r.has_room && r.blocks >> 31 == 0;
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD

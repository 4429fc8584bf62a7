// What the backends choose for a shape: CUDA which kernel with how many threads, the CPU which loops; tables that need
// no GPU. SPDX-License-Identifier: MIT
#include <cudarray/backend/cpu/plan/map.hpp>
#include <cudarray/backend/cpu/plan/reduce.hpp>
#include <cudarray/backend/cuda/plan/copies.hpp>
#include <cudarray/backend/cuda/plan/gradients.hpp>
#include <cudarray/backend/cuda/plan/map.hpp>
#include <cudarray/backend/cuda/plan/reduce.hpp>
#include <cudarray/backend/cuda/plan/row_program.hpp>
#include <cudarray/backend/cuda/plan/scan.hpp>
#include <cudarray/backend/cuda/plan/short_rows.hpp>
#include <cudarray/backend/cuda/plan/tile.hpp>

#include "test.hpp"

namespace {

namespace gpu = ca::backend::gpu;
namespace host = ca::backend::host;
using ca::int64;

/// An array as a plan sees it: its shape, the elements from place to place, bytes of an element (0: its elements are
/// generated), and how many elements its first one is off alignment.
struct operand {
  std::vector<int64> shape, stride;
  int bytes = 4, off = 0;
};
operand plain(std::vector<int64> shape, int bytes = 4) {
  operand o{shape, std::vector<int64>(shape.size()), bytes, 0};
  int64 step = 1;
  for (std::size_t d = shape.size(); d-- > 0; step *= shape[d]) o.stride[d] = step;
  return o;
}
/// The transpose of an array of the reversed shape.
operand transposed(std::vector<int64> shape, int bytes = 4) {
  operand o = plain({shape.rbegin(), shape.rend()}, bytes);
  return {shape, {o.stride.rbegin(), o.stride.rend()}, bytes, 0};
}
/// The first columns of an array with rows of `pitch` elements.
operand part(std::vector<int64> shape, int64 pitch, int bytes = 4) {
  operand o = plain(shape, bytes);
  int64 step = pitch;
  for (std::size_t d = shape.size() - 1; d-- > 0; step *= shape[d]) o.stride[d] = step;
  return o;
}
/// One row for all rows.
operand repeated(std::vector<int64> shape) {
  operand o = plain(shape);
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) o.stride[d] = 0;
  return o;
}
operand off(operand o, int by) {
  o.off = by;
  return o;
}

/// The space of operands, the first of which is written; the axes in `over`, a bit each, are reduced.
template <int Operands>
struct request {
  ca::detail::iteration_space<Operands> s;
  gpu::operand_info of[Operands];
  ca::detail::storage memory;

  request(const std::vector<operand>& all, unsigned over) {
    const int n = int(all[1].shape.size());
    std::vector<int> order;
    for (const bool reduced : {false, true})
      for (int d = 0; d < n; ++d)
        if (bool(over >> d & 1) == reduced) order.push_back(d);
    s.ndim = n;
    s.kept = n - __builtin_popcount(over);
    for (int i = 0; i < n; ++i) {
      s.extent[i] = all[1].shape[std::size_t(order[std::size_t(i)])];
      for (int k = 0; k < Operands; ++k)
        if (k > 0 || over == 0)
          s.stride[k][i] = s.extent[i] == 1 ? 0 : all[std::size_t(k)].stride[std::size_t(order[std::size_t(i)])];
    }
    if (over != 0) {
      int64 step = 1;
      for (int i = s.kept; i-- > 0; step *= s.extent[i]) s.stride[0][i] = step;
    }
    for (int k = 0; k < Operands; ++k) {
      s.store[k] = &memory;
      of[k].bytes = all[std::size_t(k)].bytes;
      of[k].data = reinterpret_cast<const void*>(std::uintptr_t(4096 + all[std::size_t(k)].off * of[k].bytes));
    }
    if (over != 0) of[0] = {};
    ca::detail::simplify(s, true);
  }
};

constexpr int multiprocessors = 132;

std::string number(int64 n) { return std::to_string(n); }

/// What runs for an elementwise statement of `Operands - 1` loads.
template <int Operands>
std::string map_of(const std::vector<operand>& all) {
  const request<Operands> q(all, 0);
  const int bytes = q.of[0].bytes, V = 16 / bytes, U = Operands <= 3 ? 2 : 1, row_U = bytes <= 4 ? 2 : U;
  if (const gpu::transposed_axis turn(q.s, q.of); turn.axis >= 0) {
    gpu::tile_plan<Operands> c;
    const bool narrow = bytes <= 4;
    if (gpu::plan_tiles(c, q.s, q.of, turn, narrow && Operands <= 3 ? 2 : 1, 8, gpu::most_shared / bytes, 1))
      return "tiles of " + number(c.tile[0]) + " x " + number(c.tile[1]) + " x " + number(c.tile[2]) + ", " +
             number(c.blocks) + " blocks";
  }
  const auto c = gpu::plan_map(q.s, q.of, V, U, row_U, bytes <= 2);
  return c.name() + (", " + number(c.blocks)) + " blocks";
}

/// What runs for a reduction of `Operands - 1` loads.
template <int Operands>
std::string reduction_of(const std::vector<operand>& all, unsigned over, bool indexed = false) {
  const request<Operands> q(all, over);
  const int V = 16 / q.of[1].bytes, U = 4;
  if (Operands > 2)
    if (const auto copies = gpu::plan_copies(q.s, q.of); copies.those != 0)
      return "copies of " + number(__builtin_popcountll(copies.those)) + " operands first";
  if (gpu::short_rows_plan<Operands> rows; gpu::plan_short_rows(rows, q.s, q.of, V, U, multiprocessors))
    return "short rows, " + number(rows.block_rows) + " a block, " + number(int64(1) << rows.row_threads_log2) +
           " threads each";
  const auto r =
      gpu::plan_reduce(q.s, {q.of, Operands - 1, V, U, V <= 4 ? 4 : 2, indexed, V <= 4, true, multiprocessors});
  const auto blocks = gpu::blocks_of(r, int64(multiprocessors) * 4);
  return r.name() + (", " + number(r.result_threads)) + " threads each, blocks " + number(blocks.results) + " x " +
         number(blocks.parts);
}

/// What runs for a row program, whose results are the first operand and, of several, the last ones. `kept`: bytes of an
/// element of what it keeps, of which, and of the operands from `read_from` on, the results are made.
template <int Operands>
std::string program_of(const std::vector<operand>& all, int kept = 0, int read_from = 1, int results = 1) {
  ca::detail::iteration_space<Operands> s;
  gpu::operand_info of[Operands];
  ca::detail::storage memory;
  s.ndim = int(all[1].shape.size());
  s.kept = s.ndim - 1;
  int widest = 2;
  for (int k = 0; k < Operands; ++k) {
    const operand& o = all[std::size_t(k)];
    for (int d = 0; d < s.ndim; ++d) {
      if (k == 1) s.extent[d] = o.shape[std::size_t(d)];
      s.stride[k][d] = o.shape[std::size_t(d)] == 1 ? 0 : o.stride[std::size_t(d)];
    }
    s.store[k] = &memory;
    of[k] = {reinterpret_cast<const void*>(std::uintptr_t(4096 + o.off * o.bytes)), o.bytes};
    if (o.bytes > widest) widest = o.bytes;
    if (o.bytes == 0) of[k] = {}, of[k].generated = true, s.store[k] = nullptr;
  }
  ca::detail::simplify(s, false);
  if (s.ndim == s.kept) {
    for (auto& stride : s.stride) stride[s.ndim] = 0;
    s.extent[s.ndim++] = 1;
  }
  ca::uint64 read = 0;
  for (int k = read_from; k < Operands; ++k) read |= ca::uint64(1) << k;
  gpu::row_program_plan<Operands> r;
  if (!gpu::plan_row_program(r, s, of,
                             {16 / widest, results, kept, read, 200 << 10, multiprocessors, gpu::row_cluster}))
    return "several kernels";
  int held = 0;
  for (int k = 1; k < Operands; ++k) held += r.place[k] >= 0;
  return r.name() + (", " + number(held)) + ": " + number(r.row_bytes) + " bytes, " + number(r.row_threads) +
         " threads each, blocks " + number(r.blocks) + " x " + number(r.threads) +
         (r.parts > 1 ? ", clusters of " + number(r.parts) : "");
}

/// What the loops of the CPU see of the same.
template <int Operands>
struct host_request : request<Operands> {
  host::memory_operand of[Operands];
  host::walk_space space;

  host_request(const std::vector<operand>& all, unsigned over) : request<Operands>(all, over), space(this->s) {
    for (int k = 0; k < Operands; ++k) {
      of[k].p = request<Operands>::of[k].data;
      of[k].bytes = request<Operands>::of[k].bytes;
    }
  }
};

/// The loops of an elementwise statement on the CPU.
template <int Operands>
std::string host_map_of(const std::vector<operand>& all, bool copies = false, bool gathers = false) {
  const host_request<Operands> q(all, 0);
  const host::map_facts facts{q.of, true, gathers, copies, false, true, false};
  const host::map_form form = host::plan_map(q.space, facts);
  if (form != host::map_form::tiles)
    return std::string(name_of(form)) + (host::streams_rows(q.space, facts) ? ", past the caches" : "");
  const host::tile_plan t(q.space, facts);
  return "tiles of " + number(t.rows) + " x " + number(t.columns) + (t.folded ? ", one row each" : "") +
         (t.streamed ? ", past the caches" : "");
}

/// Those of a reduction, by packs of 8.
template <int Operands>
std::string host_reduction_of(const std::vector<operand>& all, unsigned over, bool indexed = false) {
  const host_request<Operands> q(all, over);
  const host::reduce_plan r(q.space, {q.of, 8, true, indexed, !indexed});
  return r.name() + (r.fold.rows > 1 ? " (" + number(r.fold.rows) + ")" : "") + ", " + number(r.tasks) + " tasks of " +
         number(r.width) + (r.tiled ? " x " + number(r.depth) : "") + ", " + number(r.chunks) + " chunks" +
         (r.streams ? ", as they lie" : "");
}

struct line {
  const char* statement;
  std::string chosen, expected;
};
void check(const std::vector<line>& table) {
  for (const line& l : table) {
    INFO(l.statement);
    CHECK(l.chosen == l.expected);
  }
}

}  // namespace

TEST_CASE("plans: maps along memory") {
  const std::vector<int64> big = {8192, 8192}, odd = {8191, 8193}, thin = {1 << 20, 12}, narrow = {1 << 22, 3};
  check({
      {"b = a, one element", map_of<2>({plain({1}), plain({1})}), "any layout, 1 blocks"},
      {"b = a, 1000", map_of<2>({plain({1000}), plain({1000})}), "long rows, 1 blocks"},
      {"b = a, 8192 x 8192", map_of<2>({plain(big), plain(big)}), "long rows, 32768 blocks"},
      {"b = a, 8191 x 8193", map_of<2>({plain(odd), plain(odd)}), "any layout, 32768 blocks"},
      {"c = a + b", map_of<3>({plain(big), plain(big), plain(big)}), "long rows, 32768 blocks"},
      {"d = a + b * c", map_of<4>({plain(big), plain(big), plain(big), plain(big)}), "long rows, 32768 blocks"},
      {"b = a, float64", map_of<2>({plain(big, 8), plain(big, 8)}), "long rows, 65536 blocks"},
      {"b = a, float16", map_of<2>({plain(big, 2), plain(big, 2)}), "long rows, 16384 blocks"},
      {"b = a, int8", map_of<2>({plain(big, 1), plain(big, 1)}), "long rows, 8192 blocks"},
      {"b = a + row", map_of<3>({plain(big), plain(big), repeated(big)}), "long rows, 32768 blocks"},
      {"b = a + row, odd", map_of<3>({plain(odd), plain(odd), repeated(odd)}), "any layout, 33276 blocks"},
      {"b = a[1:], 1 off", map_of<2>({plain({8191 * 8192}), off(plain({8191 * 8192}), 1)}), "any layout, 32764 blocks"},
      {"b = a[:, :4000] of 8192", map_of<2>({plain({8192, 4000}), part({8192, 4000}, 8192)}),
       "long rows, 16384 blocks"},
      {"b = a[:, :4001] of 8192", map_of<2>({plain({8192, 4001}), part({8192, 4001}, 8192)}),
       "any layout, 16384 blocks"},
      {"b = a[:, :4001], float16", map_of<2>({plain({8192, 4001}, 2), part({8192, 4001}, 8192, 2)}),
       "unaligned rows, 16032 blocks"},
      {"b = a + row, short rows", map_of<3>({plain(thin), plain(thin), repeated(thin)}), "short rows, 6144 blocks"},
      {"b = a + row, rows of 3", map_of<3>({plain(narrow), plain(narrow), repeated(narrow)}),
       "any layout, 6144 blocks"},
      {"where along three axes",
       map_of<4>({plain({512, 512, 512}),
                  {{512, 512, 512}, {1, 0, 0}, 1},
                  {{512, 512, 512}, {0, 1, 0}},
                  {{512, 512, 512}, {0, 0, 1}}}),
       "short rows, 65536 blocks"},
      {"b = a[::2]", map_of<2>({plain({1 << 24}), {{1 << 24}, {2}}}), "any layout, 8192 blocks"},
      {"b = a[::-1]", map_of<2>({plain({1 << 24}), {{1 << 24}, {-1}}}), "any layout, 8192 blocks"},
  });
}

TEST_CASE("plans: maps of transposed operands") {
  const std::vector<int64> big = {8192, 8192}, odd = {8191, 8193}, small = {30, 30};
  check({
      {"b = a.T", map_of<2>({plain(big), transposed(big)}), "tiles of 64 x 1 x 64, 16384 blocks"},
      {"b = a.T, odd", map_of<2>({plain(odd), transposed(odd)}), "tiles of 56 x 1 x 64, 18816 blocks"},
      {"c = a + b.T", map_of<3>({plain(big), plain(big), transposed(big)}), "tiles of 64 x 1 x 64, 16384 blocks"},
      {"b = a.T, float64", map_of<2>({plain(big, 8), transposed(big, 8)}), "tiles of 32 x 1 x 64, 32768 blocks"},
      {"b = a.T, float16", map_of<2>({plain(big, 2), transposed(big, 2)}), "tiles of 64 x 1 x 64, 16384 blocks"},
      {"b = a.T, small", map_of<2>({plain(small), transposed(small)}), "any layout, 1 blocks"},
      {"b = a.T, 16M x 3", map_of<2>({plain({1 << 24, 3}), transposed({1 << 24, 3})}), "any layout, 24576 blocks"},
      {"b = a.T, 3 x 16M", map_of<2>({plain({3, 1 << 24}), transposed({3, 1 << 24})}),
       "tiles of 1024 x 1 x 3, 16384 blocks"},
      {"b = a.T, 1M x 40", map_of<2>({plain({1 << 20, 40}), transposed({1 << 20, 40})}),
       "tiles of 40 x 1 x 64, 16384 blocks"},
      {"nchw to nhwc", map_of<2>({plain({64, 56, 56, 256}), {{64, 56, 56, 256}, {56 * 56 * 256, 56, 1, 56 * 56}}}),
       "tiles of 64 x 1 x 64, 12544 blocks"},
      {"nhwc to nchw, 3 channels",
       map_of<2>({plain({64, 3, 224, 224}), {{64, 3, 224, 224}, {3 * 224 * 224, 1, 3 * 224, 3}}}),
       "tiles of 1024 x 1 x 3, 3136 blocks"},
      {"all axes reversed", map_of<2>({plain({128, 256, 512}), transposed({128, 256, 512})}),
       "tiles of 64 x 1 x 64, 4096 blocks"},
  });
}

TEST_CASE("plans: row programs") {
  const auto softmax = [](std::vector<int64> shape, int bytes = 4) {
    return program_of<2>({plain(shape, bytes), plain(shape, bytes)}, bytes, 2);
  };
  const auto other = [](std::vector<int64> shape) { return off(plain(shape), 1 << 28); };
  const std::vector<int64> s = {8192, 1024}, odd = {4096, 50257};
  check({
      {"softmax", softmax(s), "rows in shared memory, 1: 4112 bytes, 64 threads each, blocks 8192 x 64"},
      {"softmax, bfloat16", softmax(s, 2), "rows in shared memory, 1: 2064 bytes, 32 threads each, blocks 1024 x 256"},
      {"softmax, float64", softmax(s, 8), "rows in shared memory, 1: 8208 bytes, 128 threads each, blocks 8192 x 128"},
      {"softmax of 4 axes", softmax({8, 16, 64, 1024}),
       "rows in shared memory, 1: 4112 bytes, 64 threads each, blocks 8192 x 64"},
      {"softmax, rows of 1", softmax({1000, 1}), "rows where they lie, 0: 0 bytes, 4 threads each, blocks 16 x 256"},
      {"softmax, rows of 10", softmax({100000, 10}),
       "rows in shared memory, 1: 192 bytes, 4 threads each, blocks 1563 x 256"},
      {"softmax, rows of 37", softmax({100000, 37}),
       "rows in shared memory, 1: 320 bytes, 4 threads each, blocks 1563 x 256"},
      {"softmax, rows of 128", softmax({32768, 128}),
       "rows in shared memory, 1: 528 bytes, 8 threads each, blocks 1024 x 256"},
      {"softmax, rows of 4096", softmax({4096, 4096}),
       "rows in shared memory, 1: 16400 bytes, 256 threads each, blocks 4096 x 256"},
      {"softmax, rows of 50257", softmax(odd),
       "rows in shared memory, 1: 100560 bytes, 512 threads each, blocks 4096 x 512, clusters of 2"},
      {"softmax, rows of 100000", softmax({4096, 100000}),
       "rows in shared memory, 1: 100032 bytes, 512 threads each, blocks 4096 x 512, clusters of 4"},
      {"softmax, 8 rows of 1M", softmax({8, 1 << 20}), "several kernels"},
      {"softmax, 20 rows of 50257", softmax({20, 50257}),
       "rows in shared memory, 1: 25168 bytes, 256 threads each, blocks 20 x 256, clusters of 8"},
      {"softmax of what it still reads", program_of<2>({plain(s), plain(s)}, 4),
       "rows in shared memory, 1: 8224 bytes, 64 threads each, blocks 8192 x 64"},
      {"gradient", program_of<3>({plain(s), plain(s), other(s)}),
       "rows in shared memory, 2: 8224 bytes, 64 threads each, blocks 8192 x 64"},
      {"gradient, x and y the same", program_of<3>({plain(s), plain(s), plain(s)}),
       "rows in shared memory, 2: 4112 bytes, 64 threads each, blocks 8192 x 64"},
      {"gradient, rows of 50257", program_of<3>({plain(odd), plain(odd), other(odd)}),
       "rows in shared memory, 2: 100608 bytes, 512 threads each, blocks 4096 x 512, clusters of 4"},
      {"layer norm", program_of<4>({plain(s), plain(s), repeated(s), repeated(s)}),
       "rows in shared memory, 1: 4112 bytes, 64 threads each, blocks 8192 x 64"},
      {"layer norm, rows of 50257", program_of<3>({plain(odd), plain(odd), repeated(odd)}),
       "rows in shared memory, 1: 100560 bytes, 512 threads each, blocks 4096 x 512, clusters of 2"},
      {"softmax, masked by generated numbers", program_of<3>({plain(s), plain(s), plain(s, 0)}),
       "rows in shared memory, 1: 4112 bytes, 64 threads each, blocks 8192 x 64"},
      {"softmax, masked by their transpose", program_of<3>({plain(s), plain(s), transposed(s, 0)}), "several kernels"},
      {"logsumexp", program_of<2>({plain({8192, 1}), plain(s)}),
       "rows in shared memory, 1: 4112 bytes, 64 threads each, blocks 8192 x 64"},
      {"x[:, :1000] of 1024", program_of<2>({plain({8192, 1000}), part({8192, 1000}, 1024)}),
       "rows in shared memory, 1: 4016 bytes, 64 threads each, blocks 8192 x 64"},
      {"x[:, 1:]", program_of<2>({plain({8192, 1023}), off(part({8192, 1023}, 1024), 1)}),
       "rows in shared memory, 1: 4112 bytes, 64 threads each, blocks 8192 x 64"},
      {"x.T", program_of<2>({plain(s), transposed(s)}), "several kernels"},
      {"layer norm, its means and deviations",
       program_of<4>({plain(s), plain(s), plain({8192, 1}), plain({8192, 1})}, 0, 1, 3),
       "rows in shared memory, 1: 4112 bytes, 64 threads each, blocks 8192 x 64"},
      {"x.T written beside x", program_of<3>({plain(s), plain(s), transposed(s)}, 0, 1, 2), "several kernels"},
  });
}

TEST_CASE("plans: reductions along memory") {
  const std::vector<int64> big = {8192, 8192}, odd = {8191, 8193};
  check({
      {"sum of 1000", reduction_of<2>({{}, plain({1000})}, 1), "aligned rows, 128 threads each, blocks 1 x 1"},
      {"sum of 64M", reduction_of<2>({{}, plain({1 << 26})}, 1), "aligned rows, 256 threads each, blocks 1 x 528"},
      {"sum of 64M, 1 off", reduction_of<2>({{}, off(plain({1 << 26}), 1)}, 1),
       "unaligned rows, 256 threads each, blocks 1 x 528"},
      {"argmax of 64M", reduction_of<2>({{}, plain({1 << 26})}, 1, true),
       "aligned rows, 256 threads each, blocks 1 x 528"},
      {"sum(x, 1)", reduction_of<2>({{}, plain(big)}, 2), "aligned rows, 256 threads each, blocks 8192 x 1"},
      {"sum(x, 1), odd", reduction_of<2>({{}, plain(odd)}, 2), "unaligned rows, 64 threads each, blocks 528 x 1"},
      {"sum(x, 1), float16", reduction_of<2>({{}, plain(big, 2)}, 2), "aligned rows, 64 threads each, blocks 528 x 1"},
      {"sum(x, 1), float64", reduction_of<2>({{}, plain(big, 8)}, 2),
       "aligned rows, 256 threads each, blocks 8192 x 1"},
      {"argmax(x, 1)", reduction_of<2>({{}, plain(big)}, 2, true), "aligned rows, 256 threads each, blocks 8192 x 1"},
      {"argmax(x, 1), odd", reduction_of<2>({{}, plain(odd)}, 2, true),
       "unaligned rows, 64 threads each, blocks 528 x 1"},
      {"sum(x[:, :1000], 1) of 1024", reduction_of<2>({{}, part({65536, 1000}, 1024)}, 2),
       "aligned rows, 16 threads each, blocks 4096 x 1"},
      {"sum(x, 1), rows of 10", reduction_of<2>({{}, plain({1 << 22, 10})}, 2),
       "short rows, 409 a block, 1 threads each"},
      {"sum(x, 1), rows of 64", reduction_of<2>({{}, plain({1 << 20, 64})}, 2),
       "short rows, 64 a block, 4 threads each"},
      {"sum(x, 1), rows of 340", reduction_of<2>({{}, plain({1 << 17, 340})}, 2),
       "short rows, 12 a block, 16 threads each"},
      {"sum(x, 1), rows of 1000", reduction_of<2>({{}, plain({1 << 16, 1000})}, 2),
       "aligned rows, 16 threads each, blocks 4096 x 1"},
      {"sum(x, 1), 4 rows of 16M", reduction_of<2>({{}, plain({4, 1 << 24})}, 2),
       "aligned rows, 256 threads each, blocks 4 x 132"},
      {"sum(x[:, ::2], 1)", reduction_of<2>({{}, {{8192, 4096}, {8192, 2}}}, 2),
       "strided rows, 64 threads each, blocks 528 x 1"},
      {"sum(a * b, 1)", reduction_of<3>({{}, plain(big), plain(big)}, 2),
       "aligned rows, 256 threads each, blocks 8192 x 1"},
      {"sum(a * row, 1)", reduction_of<3>({{}, plain(big), repeated(big)}, 2),
       "aligned rows, 256 threads each, blocks 8192 x 1"},
      {"sum(a * b.T, 1)", reduction_of<3>({{}, plain(big), transposed(big)}, 2), "copies of 1 operands first"},
      {"sum(a * b.T, 1), float64", reduction_of<3>({{}, plain(big, 8), transposed(big, 8)}, 2),
       "strided rows, 64 threads each, blocks 528 x 1"},
  });
}

TEST_CASE("plans: reductions across memory") {
  const std::vector<int64> big = {8192, 8192}, odd = {8191, 8193};
  check({
      {"sum(x, 0)", reduction_of<2>({{}, plain(big)}, 1), "aligned columns, 16 threads each, blocks 128 x 4"},
      {"sum(x, 0), odd", reduction_of<2>({{}, plain(odd)}, 1), "unaligned columns, 8 threads each, blocks 67 x 7"},
      {"argmax(x, 0)", reduction_of<2>({{}, plain(big)}, 1, true), "aligned columns, 16 threads each, blocks 128 x 4"},
      {"sum(x.T, 1)", reduction_of<2>({{}, transposed(big)}, 2), "aligned columns, 16 threads each, blocks 128 x 4"},
      {"sum(x, 0), 16M x 3", reduction_of<2>({{}, plain({1 << 24, 3})}, 1),
       "folded columns, 64 threads each, blocks 1 x 528"},
      {"sum(x, 0), 16M x 10", reduction_of<2>({{}, plain({1 << 24, 10})}, 1),
       "folded columns, 32 threads each, blocks 1 x 528"},
      {"sum(x, 0), 1M x 64", reduction_of<2>({{}, plain({1 << 20, 64})}, 1),
       "aligned columns, 32 threads each, blocks 2 x 264"},
      {"sum(x, 0), 1M x 65", reduction_of<2>({{}, plain({1 << 20, 65})}, 1),
       "unaligned columns, 32 threads each, blocks 3 x 176"},
      {"sum(x, 0), 4 x 16M", reduction_of<2>({{}, plain({4, 1 << 24})}, 1),
       "aligned columns, 1 threads each, blocks 528 x 1"},
      {"sum(x[:, ::2], 0)", reduction_of<2>({{}, {{8192, 4096}, {8192, 2}}}, 1),
       "strided columns, 2 threads each, blocks 8 x 66"},
      {"sum over images, nhwc", reduction_of<2>({{}, plain({85, 512, 512, 3})}, 5),
       "runs as columns, 4 threads each, blocks 512 x 1"},
      {"sum of channels, nchw", reduction_of<2>({{}, plain({128, 64, 56, 56})}, 13),
       "aligned rows, 256 threads each, blocks 64 x 8"},
      {"sum of channels, nhwc", reduction_of<2>({{}, plain({128, 56, 56, 64})}, 7),
       "aligned columns, 32 threads each, blocks 2 x 264"},
      {"the middle axis", reduction_of<2>({{}, plain({256, 1024, 256})}, 2),
       "aligned columns, 8 threads each, blocks 512 x 1"},
      {"the outer axes", reduction_of<2>({{}, plain({256, 1024, 256})}, 3),
       "aligned columns, 32 threads each, blocks 8 x 66"},
      {"the first and the last", reduction_of<2>({{}, plain({256, 1024, 256})}, 5),
       "aligned rows, 256 threads each, blocks 528 x 1"},
      {"every second of five", reduction_of<2>({{}, plain({512, 32, 16, 16, 16})}, 21),
       "runs as columns, 8 threads each, blocks 64 x 8"},
      {"sum(a * b.T, 0)", reduction_of<3>({{}, plain(big), transposed(big)}, 1), "copies of 1 operands first"},
  });
}

TEST_CASE("plans: maps on the CPU") {
  const std::vector<int64> big = {2048, 2048}, thin = {1 << 18, 12}, narrow = {1 << 20, 3};
  check({
      {"b = a, one element", host_map_of<2>({plain({1}), plain({1})}), "rows"},
      {"b = a, 1000", host_map_of<2>({plain({1000}), plain({1000})}, true), "rows"},
      {"c = a + b, 2048 x 2048", host_map_of<3>({plain(big), plain(big), plain(big)}), "rows"},
      {"c = a + b, 4096 x 4096", host_map_of<3>({plain({4096, 4096}), plain({4096, 4096}), plain({4096, 4096})}),
       "rows, past the caches"},
      {"c = a + b, 512 x 512", host_map_of<3>({plain({512, 512}), plain({512, 512}), plain({512, 512})}), "rows"},
      {"b = a + row", host_map_of<3>({plain(big), plain(big), repeated(big)}), "rows"},
      {"b = a + row, rows of 12", host_map_of<3>({plain(thin), plain(thin), repeated(thin)}),
       "tiles of 341 x 12, one row each"},
      {"b = a + row, rows of 3", host_map_of<3>({plain(narrow), plain(narrow), repeated(narrow)}),
       "tiles of 1365 x 3, one row each"},
      {"b = a[:, :100] of 128", host_map_of<2>({plain({4096, 100}), part({4096, 100}, 128)}, true),
       "tiles of 40 x 100"},
      {"b = exp(a[:, :100]) of 128", host_map_of<2>({plain({4096, 100}), part({4096, 100}, 128)}), "rows"},
      {"b = exp(a[:, :1000]) of 1024", host_map_of<2>({plain({8192, 1000}), part({8192, 1000}, 1024)}), "rows"},
      {"b[:, :1000] of 1024 = exp(a)", host_map_of<2>({part({8192, 1000}, 1024), plain({8192, 1000})}), "rows"},
      {"b = exp(a[:, :1500]) of 2048", host_map_of<2>({plain({8192, 1500}), part({8192, 1500}, 2048)}),
       "rows, past the caches"},
      {"b = a[:, :600] of 640", host_map_of<2>({plain({1000, 600}), part({1000, 600}, 640)}, true), "rows"},
      {"b[:, :10] of 16 = a", host_map_of<2>({part({1 << 16, 10}, 16), plain({1 << 16, 10})}), "tiles of 409 x 10"},
      {"b[:, :6] of 16 = a", host_map_of<2>({part({1 << 16, 6}, 16), plain({1 << 16, 6})}),
       "tiles of 682 x 6, one row each"},
      {"b[:, :200] of 256 = a.T", host_map_of<2>({part({1 << 16, 200}, 256), transposed({1 << 16, 200})}),
       "tiles of 64 x 200"},
      {"b = a.T", host_map_of<2>({plain(big), transposed(big)}, true), "tiles of 64 x 256"},
      {"b = exp(a.T)", host_map_of<2>({plain(big), transposed(big)}), "tiles of 64 x 256"},
      {"c = a + b.T", host_map_of<3>({plain(big), plain(big), transposed(big)}), "tiles of 64 x 256"},
      {"b = exp(a.T), float64", host_map_of<2>({plain(big, 8), transposed(big, 8)}),
       "tiles of 32 x 512, past the caches"},
      {"b = exp(a.T), int8", host_map_of<2>({plain(big, 1), transposed(big, 1)}), "tiles of 256 x 256"},
      {"b = exp(a[::2])", host_map_of<2>({plain({1 << 24}), {{1 << 24}, {2}}}), "tiles of 1 x 1024, past the caches"},
      {"b = exp(a[::-1])", host_map_of<2>({plain({1 << 24}), {{1 << 24}, {-1}}}), "tiles of 1 x 1024, past the caches"},
      {"nhwc to nchw, 3 channels",
       host_map_of<2>({plain({64, 3, 224, 224}), {{64, 3, 224, 224}, {3 * 224 * 224, 1, 3 * 224, 3}}}, true),
       "tiles of 3 x 256, past the caches"},
      {"b = a[index], rows of 64", host_map_of<2>({plain({4096, 64}), plain({4096, 64})}, false, true),
       "tiles of 1 x 1024"},
  });
}

TEST_CASE("plans: reductions on the CPU") {
  const std::vector<int64> big = {2048, 2048};
  check({
      {"sum of 1000", host_reduction_of<2>({{}, plain({1000})}, 1), "rows, 1 tasks of 1, 1 chunks"},
      {"sum of 200000", host_reduction_of<2>({{}, plain({200000})}, 1), "rows, 1 tasks of 1, 6 chunks"},
      {"sum of 16M", host_reduction_of<2>({{}, plain({1 << 24})}, 1), "rows, 1 tasks of 1, 32 chunks, as they lie"},
      {"argmax of 16M", host_reduction_of<2>({{}, plain({1 << 24})}, 1, true),
       "rows, 1 tasks of 1, 32 chunks, as they lie"},
      {"sum(x, 1)", host_reduction_of<2>({{}, plain(big)}, 2), "rows, 32 tasks of 64, 1 chunks"},
      {"sum(x, 1), rows of 10", host_reduction_of<2>({{}, plain({1 << 20, 10})}, 2),
       "rows side by side, 16384 tasks of 64, 1 chunks, as they lie"},
      {"sum(x, 1), rows of 100", host_reduction_of<2>({{}, plain({1 << 18, 100})}, 2),
       "rows side by side, 4096 tasks of 64, 1 chunks, as they lie"},
      {"sum(x, 1), 40 rows of 10", host_reduction_of<2>({{}, plain({40, 10})}, 2),
       "rows side by side, 2 tasks of 32, 1 chunks"},
      {"sum(x, 1), 20 rows of 100", host_reduction_of<2>({{}, plain({20, 100})}, 2),
       "columns of tiles, 1 tasks of 20 x 64, 1 chunks"},
      {"sum(x, 1), 20 rows of 200", host_reduction_of<2>({{}, plain({20, 200})}, 2), "rows, 20 tasks of 1, 1 chunks"},
      {"sum(x, 1), 10 rows of 100", host_reduction_of<2>({{}, plain({10, 100})}, 2), "rows, 10 tasks of 1, 1 chunks"},
      {"argmax(x, 1), rows of 200", host_reduction_of<2>({{}, plain({1 << 16, 200})}, 2, true),
       "columns of tiles, 1024 tasks of 64 x 64, 1 chunks, as they lie"},
      {"argmax(x, 1), rows of 300", host_reduction_of<2>({{}, plain({1 << 16, 300})}, 2, true),
       "rows, 1024 tasks of 64, 1 chunks, as they lie"},
      {"sum(x, 0), 1M x 20", host_reduction_of<2>({{}, plain({1 << 20, 20})}, 1),
       "columns, rows side by side (12), 1 tasks of 20, 32 chunks, as they lie"},
      {"argmax(x, 1), rows of 10", host_reduction_of<2>({{}, plain({1 << 20, 10})}, 2, true),
       "columns of tiles, 2564 tasks of 409 x 10, 1 chunks, as they lie"},
      {"sum(x, 1), 4 rows of 4M", host_reduction_of<2>({{}, plain({4, 1 << 22})}, 2),
       "rows, 4 tasks of 1, 8 chunks, as they lie"},
      {"sum(x, 0)", host_reduction_of<2>({{}, plain(big)}, 1), "columns, 2 tasks of 1024, 16 chunks"},
      {"argmax(x, 0)", host_reduction_of<2>({{}, plain(big)}, 1, true), "columns, 2 tasks of 1024, 16 chunks"},
      {"sum(x, 0), 1M x 3", host_reduction_of<2>({{}, plain({1 << 20, 3})}, 1),
       "columns, rows side by side (85), 1 tasks of 3, 32 chunks"},
      {"sum(x, 0), 1M x 64", host_reduction_of<2>({{}, plain({1 << 20, 64})}, 1),
       "columns, 1 tasks of 64, 32 chunks, as they lie"},
      {"sum(x.T, 1)", host_reduction_of<2>({{}, transposed(big)}, 2), "columns, 2 tasks of 1024, 16 chunks"},
      {"sum(x[:, ::2], 1)", host_reduction_of<2>({{}, {{2048, 1024}, {2048, 2}}}, 2),
       "rows of tiles, 2048 tasks of 1 x 4096, 1 chunks"},
      {"sum(x[:, ::2], 0)", host_reduction_of<2>({{}, {{2048, 1024}, {2048, 2}}}, 1),
       "columns of tiles, 1 tasks of 1024 x 16, 32 chunks"},
      {"sum(a * b.T, 1)", host_reduction_of<3>({{}, plain(big), transposed(big)}, 2),
       "rows of tiles, 32 tasks of 64 x 256, 1 chunks"},
      {"sum(a * b.T)", host_reduction_of<3>({{}, plain(big), transposed(big)}, 3),
       "rows of tiles, 32 tasks of 64 x 256, 1 chunks"},
      {"argmax(a * b.T, 1)", host_reduction_of<3>({{}, plain(big), transposed(big)}, 2, true),
       "rows of tiles, 32 tasks of 64 x 256, 1 chunks"},
      {"sum over images, nhwc", host_reduction_of<2>({{}, plain({16, 256, 256, 3})}, 5),
       "runs as columns, 256 tasks of 1, 1 chunks"},
      {"sum of channels, nchw", host_reduction_of<2>({{}, plain({16, 64, 56, 56})}, 13),
       "rows, 64 tasks of 1, 1 chunks"},
      {"sum of channels, nhwc", host_reduction_of<2>({{}, plain({16, 56, 56, 64})}, 7),
       "columns, 1 tasks of 64, 32 chunks"},
      {"sum over 20 images, nhwc", host_reduction_of<2>({{}, plain({20, 4, 40, 3})}, 5),
       "runs as columns, 1 tasks of 4, 1 chunks"},
      {"sum(x, 0), int8, 4M x 700", host_reduction_of<2>({{}, plain({1 << 22, 700}, 1)}, 1),
       "columns, 1 tasks of 700, 32 chunks, as they lie"},
      {"the middle axis", host_reduction_of<2>({{}, plain({64, 256, 256})}, 2), "columns, 64 tasks of 256, 1 chunks"},
      {"the first and the last", host_reduction_of<2>({{}, plain({64, 256, 256})}, 5),
       "rows, 256 tasks of 1, 1 chunks"},
      {"every second of five", host_reduction_of<2>({{}, plain({64, 32, 16, 16, 16})}, 21),
       "runs as columns, 32 tasks of 16, 1 chunks, as they lie"},
  });
}

TEST_CASE("plans: scans on CUDA") {
  // float32: 16 elements a thread, 64 threads along inner at most, 4 blocks on a
  // multiprocessor
  const auto scan = [](int64 outer, int64 n, int64 inner) {
    const auto p = gpu::plan_scan(outer, n, inner, {16, 16, 64, 4, 4 * multiprocessors});
    return p.name() + (", tiles of " + number(p.rows)) + " x " + number(p.wide) + ", " + number(p.many) + " a block, " +
           number(p.blocks) + " blocks";
  };
  check({
      {"cumsum, rows of 1", scan(1 << 20, 1, 1), "rows, tiles of 1 x 1, 4096 a block, 256 blocks"},
      {"cumsum, rows of 10", scan(1 << 20, 10, 1), "rows, tiles of 10 x 1, 256 a block, 4096 blocks"},
      {"cumsum, rows of 1000", scan(65536, 1000, 1), "rows, tiles of 1000 x 1, 4 a block, 16384 blocks"},
      {"cumsum, rows of 4096", scan(16384, 4096, 1), "rows, tiles of 4096 x 1, 1 a block, 16384 blocks"},
      {"cumsum, rows of 4097", scan(16384, 4097, 1),
       "rows in tiles, a block each, tiles of 4096 x 1, 1 a block, 528 blocks"},
      {"cumsum, 8 rows of 8M", scan(8, 1 << 23, 1), "rows in tiles, chained, tiles of 4096 x 1, 1 a block, 528 blocks"},
      {"cumsum of all", scan(1, 1 << 26, 1), "rows in tiles, chained, tiles of 4096 x 1, 1 a block, 528 blocks"},
      {"cumsum, 10 x 1M columns", scan(1, 10, 1 << 20), "columns, tiles of 10 x 256, 1 a block, 4096 blocks"},
      {"cumsum, 512 x 131072 columns", scan(1, 512, 131072),
       "columns in tiles, a block each, tiles of 128 x 32, 1 a block, 528 blocks"},
      {"cumsum, 8192 columns", scan(1, 8192, 8192),
       "columns in tiles, chained, tiles of 128 x 32, 1 a block, 528 blocks"},
      {"cumsum, 1M x 64 columns", scan(1, 1 << 20, 64),
       "columns in tiles, chained, tiles of 256 x 16, 1 a block, 528 blocks"},
      {"cumsum, 1M x 3 columns", scan(1, 1 << 20, 3),
       "columns in tiles, chained, tiles of 1024 x 3, 1 a block, 528 blocks"},
      {"cumsum, 65536 x 100 columns", scan(1, 65536, 100),
       "columns in tiles, chained, tiles of 64 x 56, 1 a block, 528 blocks"},
      {"cumsum, 64 images of 256 x 3", scan(64, 256, 3), "columns, tiles of 256 x 3, 4 a block, 16 blocks"},
      {"cumsum, (4096, 16, 16)", scan(4096, 16, 16), "columns, tiles of 16 x 16, 16 a block, 256 blocks"},
  });
}

TEST_CASE("plans: division by a number that the host knows") {
  for (const int64 d : {1, 2, 3, 7, 10, 31, 32, 641, 65537, 2147483647}) {
    const gpu::divider by(d);
    for (const int n : {0, 1, 2, 30, 31, 32, 640, 641, 1282, 65536, 2147483646, 2147483647}) {
      INFO(n << " / " << d);
      CHECK(by.divide(n) == n / d);
      const int64 far = int64(n) * 3000000019 + d;
      CHECK(by.divide(far) == far / d);
    }
  }
}

TEST_CASE("plans: one run makes whole gradients of one order in memory, and leaves others") {
  using form = gpu::gradient_form;
  const int64 stride[][ca::max_rank] = {{2, 1}, {1, 3}, {2, 1}, {0, 1}};
  const int operand_of[] = {0, 1, 2, 3};
  form forms[4] = {};
  unsigned left = 0b1111;
  gpu::gradient_forms(forms, operand_of, 4, stride, 2, left);
  CHECK(left == 0b0010);
  CHECK((forms[0] == form::whole && forms[1] == form::none && forms[2] == form::whole && forms[3] == form::columns));
  gpu::gradient_forms(forms, operand_of, 4, stride, 2, left);
  CHECK((left == 0 && forms[1] == form::whole));
}

// Which kernel, with what shape of threads, the CUDA backend chooses for a shape: a table, on a machine without a GPU.
// SPDX-License-Identifier: MIT
#include <cudarray/backend/cuda/plan/map.hpp>
#include <cudarray/backend/cuda/plan/reduce.hpp>
#include <cudarray/backend/cuda/plan/short_rows.hpp>
#include <cudarray/backend/cuda/plan/tile.hpp>
#include <cudarray/backend/cuda/plan/turned.hpp>

#include "test.hpp"

namespace {

namespace gpu = ca::backend::gpu;
using ca::int64;

/// An array as a plan sees it: its shape, the elements from place to place, bytes of an element, and how many elements
/// its first one is off alignment.
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
  const int bytes = q.of[0].bytes, V = 16 / bytes, U = Operands <= 3 ? 2 : 1;
  if (const gpu::turned_axis turn(q.s, q.of); turn.axis >= 0) {
    gpu::tile_plan<Operands> c;
    const bool narrow = bytes <= 4;
    if (gpu::plan_tiles(c, q.s, q.of, turn, narrow && Operands <= 3 ? 2 : 1, 8, gpu::most_shared / bytes, 1))
      return "tiles of " + number(c.tile[0]) + " x " + number(c.tile[1]) + " x " + number(c.tile[2]) + ", " +
             number(c.blocks) + " blocks";
  }
  const auto c = gpu::plan_map(q.s, q.of, V, U, bytes <= 2);
  return c.name() + (", " + number(c.blocks)) + " blocks";
}

/// What runs for a reduction of `Operands - 1` loads.
template <int Operands>
std::string reduction_of(const std::vector<operand>& all, unsigned over, bool indexed = false) {
  const request<Operands> q(all, over);
  const int V = 16 / q.of[1].bytes, U = 4;
  if (Operands > 2)
    if (const gpu::turned_operands turned(q.s, q.of); turned.those != 0)
      return "copies of " + number(__builtin_popcountll(turned.those)) + " operands first";
  if (gpu::short_rows_plan<Operands> rows; gpu::plan_short_rows(rows, q.s, q.of, V, U, multiprocessors))
    return "short rows, " + number(rows.own) + " a block, " + number(int64(1) << rows.deep_log2) + " threads each";
  const auto r =
      gpu::plan_reduce(q.s, {q.of, Operands - 1, V, U, V <= 4 ? 4 : 2, indexed, V <= 4, true, multiprocessors});
  const auto blocks = gpu::blocks_of(r, int64(multiprocessors) * 4);
  return r.name() + (", " + number(r.deep)) + " threads each, blocks " + number(blocks.results) + " x " +
         number(blocks.parts);
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
      {"d = a + b * c", map_of<4>({plain(big), plain(big), plain(big), plain(big)}), "long rows, 65536 blocks"},
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
      {"b = a + row, short rows", map_of<3>({plain(thin), plain(thin), repeated(thin)}), "any layout, 6144 blocks"},
      {"b = a + row, rows of 3", map_of<3>({plain(narrow), plain(narrow), repeated(narrow)}),
       "any layout, 6144 blocks"},
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

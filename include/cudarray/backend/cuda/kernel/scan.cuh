// Scans on CUDA in one pass over memory: tiles tell each other what they add up to. The same bits in every run.
// SPDX-License-Identifier: MIT
#pragma once

#include "scan_tiles.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Tiles of short rows, which are whole there. They pass through shared memory, so that accesses coalesce and a thread
/// has neighbouring elements; a place is left out there after every 32, against bank conflicts.
template <class Op, class T>
__global__ void __launch_bounds__(block_threads, 6)
    scan_short_kernel(const T* from, scan_result<Op, T>* to, uint64*, const scan_plan p) {
  in_stream_order();
  using total = scan_total<Op, T>;
  using R = scan_result<Op, T>;
  constexpr int items = scan_items<T, R>, stride = block_threads + block_threads / warp;
  constexpr int bytes_in = int(sizeof(T)), bytes_out = int(sizeof(R));
  __shared__ __align__(16) char memory[items * stride * (bytes_in > bytes_out ? bytes_in : bytes_out)];
  __shared__ __align__(16) char totals[block_threads * sizeof(total)];
  const auto spot = [](int i) { return i + i / warp; };
  const scan_place w = scan_locate<true>(0, blockIdx.x, p);
  const scan_part own(p, w, 0);
  const int t = int(threadIdx.x), accesses = w.many * w.rows - t;
  {
    const T* at = from + w.first + t;
    T loaded[items];
    keep(at);
    scan_each<items>(p.each, [&](int k) {
      if (k * block_threads < accesses) loaded[k] = load_one(at + k * block_threads);
    });
    T* const in = reinterpret_cast<T*>(memory) + spot(t);
    scan_each<items>(p.each, [&](int k) { in[k * stride] = loaded[k]; });
  }
  __syncthreads();
  // the place of element k: of those from `gap` on one more was left out
  const int gap = warp - own.row % warp;
  const auto place = [&](int k, int& here, int& next, int bytes) {
    keep(here), keep(next);
    return (k >= gap ? next : here) + k * bytes;
  };
  T mine[items];
  int here = spot(own.row) * bytes_in, next = here + bytes_in;
  scan_each<items>(p.each,
                   [&](int k) { mine[k] = *reinterpret_cast<const T*>(memory + place(k, here, next, bytes_in)); });
  total before = Op::template identity<total>(), all;
  if (p.pieces_log2 > 0)
    before = scan_within<Op>(scan_sum<Op>(mine, p.each), all, reinterpret_cast<total*>(totals), 0, p.pieces_log2);
  else __syncthreads();
  here = spot(own.row) * bytes_out, next = here + bytes_out;
  scan_elements<Op>(mine, before, p.each, p.several > 1 ? int(p.n) : items, 0, [&](int k, const R& r) {
    const int at = place(k, here, next, bytes_out);
    if (k < own.mine) *reinterpret_cast<R*>(memory + at) = r;
  });
  __syncthreads();
  R* at = to + w.first + t;
  const R* const out = reinterpret_cast<const R*>(memory) + spot(t);
  keep(at);
  scan_each<items>(p.each, [&](int k) {
    if (k * block_threads < accesses) at[k * block_threads] = out[k * stride];
  });
}

/// A thread's elements of a column.
template <class T, int Items>
__device__ void load_column(T (&v)[Items], const T* at, int64 step, int each, int mine) {
  scan_each<Items>(each, [&](int k) {
    keep(at);
    if (k < mine) v[k] = load_one(at);
    at += step;
  });
}
template <class Op, class T, int Items>
__device__ void store_column(const T (&v)[Items], scan_total<Op, T> before, scan_result<Op, T>* at, int64 step,
                             int each, int length, int mine) {
  scan_elements<Op>(v, before, each, length, 0, [&](int k, const scan_result<Op, T>& r) {
    keep(at);
    if (k < mine) *at = r;
    at += step;
  });
}

/// Tiles of columns, which are whole there.
template <class Op, class T>
__global__ void __launch_bounds__(block_threads, 6)
    scan_columns_kernel(const T* from, scan_result<Op, T>* to, uint64*, const scan_plan p) {
  in_stream_order();
  using total = scan_total<Op, T>;
  constexpr int items = scan_items<T, scan_result<Op, T>>;
  __shared__ __align__(16) char totals[block_threads * sizeof(total)];
  const scan_place w = scan_locate<false>(0, blockIdx.x, p);
  const scan_part own(p, w, p.inner_threads_log2);
  const int64 place = w.first + own.row * p.inner + own.c;
  T mine[items];
  load_column(mine, from + place, p.inner, p.each, own.mine);
  total before = Op::template identity<total>(), all;
  if (p.pieces_log2 > 0)
    before = scan_within<Op>(scan_sum<Op>(mine, p.each), all, reinterpret_cast<total*>(totals), p.inner_threads_log2,
                             p.pieces_log2);
  store_column<Op>(mine, before, to + place, p.inner, p.each, p.several > 1 ? int(p.n) : items, own.mine);
}

inline constexpr int scan_blocks = 4;  ///< of scan_long_kernel, on a multiprocessor

/// Tiles of long rows, or of long columns. Blocks take one after the other, and tell what the next one adds up to
/// before they ask for what comes before this one: by then that is known, and what comes after is being loaded.
template <bool Rows, class Op, class T>
__global__ void __launch_bounds__(block_threads, scan_blocks)
    scan_long_kernel(const T* from, scan_result<Op, T>* to, uint64* words, const scan_plan p) {
  in_stream_order();
  using total = scan_total<Op, T>;
  using R = scan_result<Op, T>;
  constexpr int items = Rows ? scan_row_items<T, R> : scan_items<T, R>;
  using in = scan_line<T, items>;
  using out = scan_line<R, items>;
  constexpr bool in_place = !Rows || sizeof(R) == sizeof(T);
  constexpr int bytes = Rows ? in::bytes : items * block_threads * int(sizeof(T));
  __shared__ __align__(16) char memory[2 * bytes + (in_place ? 0 : out::bytes)];
  __shared__ __align__(
      16) char totals_memory[(block_threads + 16 * (Rows ? 1 : scan_inner_threads<total>)) * sizeof(total)];
  __shared__ scan_place places[4];  // of the tile before, this one, the next one and the one after
  total* const totals = reinterpret_cast<total*>(totals_memory);
  total* const runs = totals + block_threads;  // where a block is alone: what stands before its last two tiles
  const int t = int(threadIdx.x), inner_threads_log2 = Rows ? 0 : p.inner_threads_log2,
            c = t & ((1 << inner_threads_log2) - 1);
  const scan_chain<Op, total> chain{words, p, c, inner_threads_log2};
  const auto locate = [&](scan_place& w, uint32 chunk, uint32 strip) {
    w = scan_locate<Rows>(chunk, strip, p);
    w.exists = strip < uint32(p.chains.divisor) && chunk < p.depth;
    if (Rows) {  // tiles begin where what is written is aligned, the first ones before their row
      const int lead = int(w.segment * p.n) & (out::wide - 1);
      const int64 left = p.n + lead - int64(w.chunk) * p.rows;
      w.first -= lead;
      w.rows = left < p.rows ? int(left) : p.rows;
      w.skip = w.chunk == 0 ? lead : 0;
    }
  };
  // columns: a thread's own elements
  const int begin = (t >> inner_threads_log2) * items;
  const auto count = [&](const scan_place& w) { return c < w.wide ? w.rows - begin : 0; };
  const auto column = [&](const scan_place& w) { return w.first + begin * p.inner + c; };
  ::std::conditional_t<Rows, typename in::share, lanes<T, items>> coming;
  const auto load = [&](const scan_place& w) {
    if (!w.exists) return;
    if constexpr (Rows) coming.load(from + w.first, w.skip, w.rows);
    else load_column(coming.v, from + column(w), p.inner, items, count(w));
  };
  const auto get = [&](const char* memory, T(&own)[items]) {
    if constexpr (Rows) in::get(memory, own);
    else
#pragma unroll
      for (int k = 0; k < items; ++k) own[k] = reinterpret_cast<const T*>(memory)[t + k * block_threads];
  };

  uint32 at = 0, strip = blockIdx.x;  // where a block is alone, the next tile
  const auto take = [&] { return p.alone ? 0u : chain.take(); };
  const auto follow = [&](scan_place& w, uint32 number) {
    if (p.alone) {
      locate(w, at, strip);
      if (++at == p.depth) at = 0, strip += gridDim.x;
    } else {
      const uint32 chunk = uint32(p.chains.divide(int32(number)));
      locate(w, chunk, number - chunk * uint32(p.chains.divisor));
    }
  };
  if (t == 0) follow(places[0], take());
  __syncthreads();
  load(places[0]);
  total all, all_next, before, before_next, run;
  bool more = true;
  for (int i = 0; more; ++i) {
    char *const old = memory + (i + 1) % 2 * bytes, *const fresh = memory + i % 2 * bytes;
    const scan_place& next = places[i % 4];
    more = next.exists;
    if (more) {
      uint32 taken = 0;
      if (t == 0) taken = take();
      if constexpr (Rows) coming.put(fresh);
      else
#pragma unroll
        for (int k = 0; k < items; ++k) reinterpret_cast<T*>(fresh)[t + k * block_threads] = coming.v[k];
      if (t == 0) follow(places[(i + 1) % 4], taken);
      __syncthreads();
      T own[items];
      get(fresh, own);
      before_next = scan_within<Op>(scan_sum<Op>(own, items, Rows && t == 0 ? next.skip : 0), all_next, totals,
                                    inner_threads_log2, exponent_of(block_threads) - inner_threads_log2);
      if (p.alone) {
        if (t < 1 << inner_threads_log2) {
          if (next.chunk == 0) run = Op::template identity<total>();
          runs[(i % 2 << inner_threads_log2) + t] = run;
          run = Op::combine(run, all_next);
        }
      } else {
        chain.tell(next, all_next);
      }
      load(places[(i + 1) % 4]);
    }
    if (i > 0) {
      if (!more) __syncthreads();  // as there would be one in the next tile
      const scan_place& w = places[(i - 1) % 4];
      const total tiles =
          p.alone ? runs[((i - 1) % 2 << inner_threads_log2) + c] : chain.ask(w, all, totals + block_threads);
      before = Op::combine(tiles, before);
      T own[items];
      get(old, own);
      if constexpr (Rows) {
        char* const done = in_place ? old : memory + 2 * bytes;
        typename out::word r;
        scan_elements<Op>(own, before, items, items, t == 0 ? w.skip : 0, [&](int k, const R& v) {
          r.v[k % out::wide] = v;
          if (k % out::wide == out::wide - 1)
            store_wide(reinterpret_cast<R*>(done + out::place(t * out::words) + k / out::wide * 16), r);
        });
        __syncthreads();
        out::copy_out(to + w.first, done, w.skip, w.rows);
        __syncthreads();
      } else {
        store_column<Op>(own, before, to + column(w), p.inner, items, items, count(w));
      }
    }
    all = all_next, before = before_next;
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD

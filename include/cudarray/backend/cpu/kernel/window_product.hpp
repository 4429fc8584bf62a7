// Convolutions of our own: products with matrices of windows that are read from the images and never made.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/convolution.hpp"
#include "../runtime/threads.hpp"
#include "product.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// A convolution in C order along two axes, with neither groups nor gaps in its windows: images (n, c, h, w), filters
/// (k, c, r, s), results (n, k, p, q).
struct plane_convolution {
  int64 n, c, h, w, k, r, s, p, q;
  int64 stride[2], padding[2];

  static bool describes(const detail::convolution& c) {
    return !c.channels_last && c.axes == 2 && c.groups == 1 && c.dilation[0] == 1 && c.dilation[1] == 1;
  }
  explicit plane_convolution(const detail::convolution& of)
      : n(of.n),
        c(of.c),
        h(of.in[0]),
        w(of.in[1]),
        k(of.k),
        r(of.window[0]),
        s(of.window[1]),
        p(of.out[0]),
        q(of.out[1]),
        stride{of.stride[0], of.stride[1]},
        padding{of.padding[0], of.padding[1]} {}
};

/// The pixels that some rows of results are made of, copied to where each window's pixel (channel, i, j) of a row of
/// results is a contiguous line: columns are dealt to `stride` lines in turn, borders are zeros.
template <class T>
struct window_lines {
  static constexpr int N = blocking<T>::N;
  const plane_convolution& c;
  int64 rows, pitch, step;  // rows of pixels, elements of a line, and from a row of results to the next
  scratch memory;
  T* pixels;
  int64* offset;  // of each pixel of a window

  static int64 pitch_of(const plane_convolution& c) { return (c.q + N - 1) / N * N + (c.s - 1) / c.stride[1]; }
  static int64 pixel_rows(const plane_convolution& c, int64 results) { return (results - 1) * c.stride[0] + c.r; }
  static int64 bytes_of(int64 taps) { return (taps * 8 + 63) / 64 * 64; }
  static int64 elements_of_line(const plane_convolution& c) { return c.c * c.stride[1] * pitch_of(c); }

  window_lines(const plane_convolution& of, int64 most, int64 taps)
      : c(of),
        rows(pixel_rows(of, most)),
        pitch(pitch_of(of)),
        step(of.stride[0] * of.stride[1] * pitch),
        memory(elements_of_line(of) * pixel_rows(of, most) * int64(sizeof(T)) + bytes_of(taps)),
        pixels(reinterpret_cast<T*>(memory.p + bytes_of(taps))),
        offset(reinterpret_cast<int64*>(memory.p)) {
    ::std::memset(pixels, 0, ::std::size_t(elements_of_line(c) * rows) * sizeof(T));
    for (int64 t = 0; t < taps; ++t) {
      const int64 tap = t < c.c * c.r * c.s ? t : 0, j = tap % c.s, line = tap / c.s % c.r + tap / (c.s * c.r) * rows;
      offset[t] = (line * c.stride[1] + j % c.stride[1]) * pitch + j / c.stride[1];
    }
  }

  /// The pixels of one image for rows [first, first + count) of its results.
  void fill(const T* image, int64 first, int64 count) {
    const int64 stride = c.stride[1], top = first * c.stride[0] - c.padding[0], left = c.padding[1];
    for (int64 channel = 0; channel < c.c; ++channel)
      for (int64 i = 0; i < pixel_rows(c, count); ++i) {
        T* const line = pixels + (channel * rows + i) * stride * pitch;
        if (top + i < 0 || top + i >= c.h) {
          ::std::memset(line, 0, ::std::size_t(stride * pitch) * sizeof(T));
          continue;
        }
        const T* const from = image + (channel * c.h + top + i) * c.w;
        for (int64 phase = 0; phase < stride; ++phase) {
          // pixel t * stride + phase - left, for those t that an image has
          const int64 begin = left > phase ? (left - phase + stride - 1) / stride : 0,
                      past = (c.w + left - phase + stride - 1) / stride, end = past < pitch ? past : pitch;
          if (end > begin)
            copy_tile<sizeof(T)>(line + phase * pitch + begin, pitch, from + begin * stride + phase - left, 1,
                                 end - begin, 0, stride);
        }
      }
  }
};

/// Rows x Packs results from (y, x) on, for filters from the first of `filters` on. Rows are made in ascending order: a
/// row's last pack may run into rows below, which are written later. What would run past `end`, where the band of this
/// filter ends and another thread's may begin, goes through a copy.
template <class T, int Rows, int Packs>
void multiply_windows(const window_lines<T>& lines, int64 depth, const T* filters, int64 row, int64 x, T* to,
                      int64 plane, const T* end) {
  using K = blocking<T>;
  constexpr int64 width = Packs * K::N;
  const T* const pixels = lines.pixels + row * lines.step + x;
  const int64* const offset = lines.offset;
  const auto run = [&](T* out, int64 out_row) {
    multiply_block<T, Rows, Packs>(
        depth, filters, depth, ::std::integral_constant<int64, 1>{}, [=](int64 p) { return pixels + offset[p]; }, out,
        out_row, false);
  };
  if (end - to >= width) return run(to, plane);
  alignas(64) T whole[::std::size_t(Rows * width)];
  run(whole, width);
  for (int r = 0; r < Rows; ++r) copy_pieces<width>(to + r * plane, whole + r * width, end - to);
}

/// How many rows of results are made at a time, so that their pixels stay in the cache and there is work for
/// all threads.
template <class T>
int64 rows_at_once(const plane_convolution& c, int64 threads) {
  constexpr int64 most = 65536 / int64(sizeof(T));
  const int64 lines = most / window_lines<T>::elements_of_line(c), fit = (lines - c.r) / c.stride[0] + 1;
  const int64 bands = (threads + c.n - 1) / c.n, share = (c.p + bands - 1) / bands, rows = share < fit ? share : fit;
  return rows > 1 ? rows : 1;
}

/// y = the cross-correlation of the images with the filters.
template <class T>
void correlate(const plane_convolution& c, const T* x, const T* filters, T* y, int64 threads) {
  using K = blocking<T>;
  const int64 depth = c.c * c.r * c.s, plane = c.p * c.q, band = rows_at_once<T>(c, threads),
              bands = (c.p + band - 1) / band, units = c.n * bands;
  parallel(threads < units ? threads : units, [&](int64 part) {
    const int64 parts = threads < units ? threads : units;
    window_lines<T> lines(c, band, depth);
    for (int64 unit = units * part / parts; unit < units * (part + 1) / parts; ++unit) {
      const int64 image = unit / bands, first = unit % bands * band, count = c.p - first < band ? c.p - first : band;
      lines.fill(x + image * c.c * c.h * c.w, first, count);
      for_row_blocks<K>(c.k, [&](auto rows, int64 filter) {
        T* const to = y + (image * c.k + filter) * plane + first * c.q;
        for (int64 row = 0; row < count; ++row)
          for (int64 j = 0; j < c.q; j += K::width)
            (c.q - j > K::N ? multiply_windows<T, rows(), 2>
                            : multiply_windows<T, rows(), 1>)(lines, depth, filters + filter * depth, row, j,
                                                              to + row * c.q + j, plane, to + count * c.q);
        return rows();
      });
    }
  });
}

/// dx = the gradient of the images, for strides of 1: the gradients of the results, with a border, correlated with the
/// filters turned round, channels and filters exchanged.
template <class T>
void correlate_back(const plane_convolution& c, const T* dy, const T* filters, T* dx, int64 threads) {
  const scratch space(c.k * c.c * c.r * c.s * int64(sizeof(T)));
  T* const turned = reinterpret_cast<T*>(space.p);
  for (int64 f = 0; f < c.k; ++f)
    for (int64 channel = 0; channel < c.c; ++channel)
      for (int64 t = 0; t < c.r * c.s; ++t)
        turned[((channel * c.k + f) + 1) * c.r * c.s - 1 - t] = filters[(f * c.c + channel) * c.r * c.s + t];
  plane_convolution d = c;
  d.c = c.k, d.k = c.c, d.h = c.p, d.w = c.q, d.p = c.h, d.q = c.w;
  d.padding[0] = c.r - 1 - c.padding[0], d.padding[1] = c.s - 1 - c.padding[1];
  correlate(d, dy, turned, dx, threads);
}

/// Of a gradient so many filters by so many pixels of a window stay in registers.
struct gradient_block {
  static constexpr bool many_registers = blocking<float>::many_registers;
  static constexpr int filters = many_registers ? 4 : 2, taps = 5;
};

/// Adds to `sum` the products of gradients, `high` rows of Packs, with the pixels of windows; of a row's last pack
/// `here` tells which pixels have a gradient.
template <class T, int Packs, class Mask>
void add_products(const window_lines<T>& lines, const int64* offset, int64 x, const T* dy, int64 pitch, int64 plane,
                  int64 high, const Mask& here, simd::pack<T, blocking<T>::N>* sum) {
  using G = gradient_block;
  constexpr int N = blocking<T>::N;
  using pack = simd::pack<T, N>;
  pack s[G::filters][G::taps];
  CUDARRAY_UNROLL
  for (int f = 0; f < G::filters; ++f) {
    CUDARRAY_UNROLL
    for (int t = 0; t < G::taps; ++t) s[f][t] = sum[f * G::taps + t];
  }
  const T* pixels = lines.pixels + x;
  dy += x;
  for (int64 row = 0; row < high; ++row, pixels += lines.step, dy += pitch) {
    CUDARRAY_UNROLL
    for (int q = 0; q < Packs; ++q) {
      pack g[G::filters];
      CUDARRAY_UNROLL
      for (int f = 0; f < G::filters; ++f) {
        g[f] = simd::load_lanes<T, N>(dy + f * plane + q * N);
        if (q == Packs - 1) g[f] = simd::select(here, g[f], pack{});
      }
      CUDARRAY_UNROLL
      for (int t = 0; t < G::taps; ++t) {
        pack v = simd::load_lanes<T, N>(pixels + offset[t] + q * N);
        if (q == Packs - 1) v = simd::select(here, v, pack{});
        else keep(v);
        CUDARRAY_UNROLL
        for (int f = 0; f < G::filters; ++f) s[f][t] = {s[f][t].v + g[f].v * v.v};
      }
    }
  }
  CUDARRAY_UNROLL
  for (int f = 0; f < G::filters; ++f) {
    CUDARRAY_UNROLL
    for (int t = 0; t < G::taps; ++t) sum[f * G::taps + t] = s[f][t];
  }
}

/// Lane k is the sum of the k-th pack's lanes.
template <class T, int N>
simd::pack<T, N> add_lanes(const simd::pack<T, N>* packs) {
  simd::pack<T, N> a[::std::size_t(N)];
  ::std::memcpy(a, packs, sizeof(a));
  CUDARRAY_UNROLL
  for (int width = N / 2; width > 0; width /= 2) {
    CUDARRAY_UNROLL
    for (int i = 0; i < width; ++i)
      a[i] = simd::interleave<false>(a[i], a[i + width]) + simd::interleave<true>(a[i], a[i + width]);
  }
  return a[0];
}

/// How the gradient of filters is divided: `down` x `across` blocks of filters and pixels of a window, and the images
/// into bands, which are added up in groups that the shapes alone decide.
template <class T>
struct gradient_plan {
  using G = gradient_block;
  using pack = simd::pack<T, blocking<T>::N>;
  static constexpr int N = blocking<T>::N, block = G::filters * G::taps;
  int64 depth, across, down, packs, band, bands, units, groups, pitch, plane;

  explicit gradient_plan(const plane_convolution& c)
      : depth(c.c * c.r * c.s),
        across((depth + G::taps - 1) / G::taps),
        down((c.k + G::filters - 1) / G::filters),
        packs((down * across * block + N - 1) / N * N),
        band(rows_at_once<T>(c, 16)),
        bands((c.p + band - 1) / band),
        units(c.n * bands),
        groups(units < 64    ? (units + 3) / 4
               : units < 512 ? 16
                             : 64),
        pitch((c.q + N - 1) / N * N),
        plane(c.p * c.q) {}
  /// Where the sum for a filter and a pixel of its window is.
  int64 place(int64 filter, int64 tap) const {
    return (filter / G::filters * across + tap / G::taps) * block + filter % G::filters * G::taps + tap % G::taps;
  }
};

/// The gradient that the bands of one group make, in blocks.
template <class T>
void sum_group(const gradient_plan<T>& plan, window_lines<T>& lines, int64 group, const T* x, const T* dy, T* to) {
  using G = gradient_block;
  using plan_type = gradient_plan<T>;
  using pack = typename plan_type::pack;
  constexpr int N = plan_type::N, width = 2 * N, block = plan_type::block;
  const plane_convolution& c = lines.c;
  const auto lane = simd::from_lanes<T, N>([](int k) { return T(k); });
  const auto all = lane == lane, here = c.q % N == 0 ? all : lane < simd::splat<T, N>(T(c.q % N));
  using mask = decltype(lane == lane);
  const int64 bytes = plan.packs * int64(sizeof(pack)) + G::filters * plan.band * plan.pitch * int64(sizeof(T));
  const scratch space(bytes);
  pack* const sum = reinterpret_cast<pack*>(space.p);
  T* const edge = reinterpret_cast<T*>(sum + plan.packs);
  ::std::memset(static_cast<void*>(sum), 0, ::std::size_t(bytes));
  for (int64 unit = plan.units * group / plan.groups; unit < plan.units * (group + 1) / plan.groups; ++unit) {
    const int64 image = unit / plan.bands, first = unit % plan.bands * plan.band,
                count = c.p - first < plan.band ? c.p - first : plan.band;
    lines.fill(x + image * c.c * c.h * c.w, first, count);
    for (int64 i = 0; i < plan.down; ++i) {
      const int64 filter = i * G::filters, from = (image * c.k + filter) * plan.plane + first * c.q;
      // where packs would run past the array, a copy
      const bool copy = from + (G::filters - 1) * plan.plane + (count - 1) * c.q + plan.pitch > c.n * c.k * plan.plane;
      for (int64 f = 0; copy && f < G::filters && filter + f < c.k; ++f)
        for (int64 row = 0; row < count; ++row)
          ::std::memcpy(edge + (f * plan.band + row) * plan.pitch, dy + from + f * plan.plane + row * c.q,
                        ::std::size_t(c.q) * sizeof(T));
      for (int64 j = 0; j < plan.across; ++j)
        for (int64 column = 0; column < c.q; column += width)
          (c.q - column > N
               ? add_products<T, 2, mask>
               : add_products<T, 1, mask>)(lines, lines.offset + j * G::taps, column, copy ? edge : dy + from,
                                           copy ? plan.pitch : c.q, copy ? plan.band * plan.pitch : plan.plane, count,
                                           c.q - column > width ? all : here, sum + (i * plan.across + j) * block);
    }
  }
  for (int64 i = 0; i < plan.packs; i += N) simd::store_lanes(to + i, add_lanes(sum + i));
}

/// dw = the gradient of the filters, the same with any number of threads.
template <class T>
void correlate_gradient(const plane_convolution& c, const T* x, const T* dy, T* dw, int64 threads) {
  const gradient_plan<T> plan(c);
  const scratch sums(plan.groups * plan.packs * int64(sizeof(T)));
  T* const of_groups = reinterpret_cast<T*>(sums.p);
  const int64 parts = threads < 2 ? 1 : plan.groups;
  parallel(parts, [&](int64 part) {
    window_lines<T> lines(c, plan.band, plan.across * gradient_block::taps);
    for (int64 group = plan.groups * part / parts; group < plan.groups * (part + 1) / parts; ++group)
      sum_group(plan, lines, group, x, dy, of_groups + group * plan.packs);
  });
  for (int64 f = 0; f < c.k; ++f)
    for (int64 t = 0; t < plan.depth; ++t) {
      T v = T(0);
      for (int64 group = 0; group < plan.groups; ++group) v += of_groups[group * plan.packs + plan.place(f, t)];
      dw[f * plan.depth + t] = v;
    }
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop

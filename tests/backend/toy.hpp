// A third device, written from docs/backend.md alone: everything element by element, nothing of backend/cpu.
// SPDX-License-Identifier: MIT
#pragma once

#include "toy_device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <cudarray/eval/attention.hpp>
#include <cudarray/eval/each_index.hpp>
#include <cudarray/eval/entries.hpp>
#include <cudarray/eval/pooling.hpp>
#include <cudarray/eval/product.hpp>
#include <cudarray/eval/segments.hpp>
#include <cudarray/memory/stats.hpp>
#include <vector>

namespace cudarray::inline v0::backend {

inline detail::memory_account& account_of(toy) {
  static detail::memory_account of;
  return of;
}
/// Nothing is pooled.
inline int64 cached_bytes(toy) { return 0; }
inline void release_cached(toy) {}

inline detail::storage_ref allocate(toy device, std::size_t bytes) {
  void* const data = bytes < SIZE_MAX - 64 ? std::aligned_alloc(64, (bytes / 64 + 1) * 64) : nullptr;
  if (data == nullptr) detail::fail<out_of_memory>("toy: ", bytes, " bytes could not be allocated");
  detail::charge(account_of(device), bytes, "toy");
  auto* s = new detail::storage;
  s->data = data;
  s->bytes = bytes;
  s->ordinal = device.ordinal;
  s->release = [](detail::storage* p) noexcept {
    detail::credit(account_of(toy{p->ordinal}), p->bytes);
    std::free(p->data);
    delete p;
  };
  detail::count(detail::counters.allocations);
  return detail::storage_ref(s);
}
inline void copy_to_host(toy, void* host, detail::storage& s, std::size_t offset, std::size_t bytes) {
  if (bytes) std::memcpy(host, static_cast<const char*>(s.data) + offset, bytes);
}
inline void copy_from_host(toy, detail::storage& s, std::size_t offset, const void* host, std::size_t bytes) {
  if (bytes) std::memcpy(static_cast<char*>(s.data) + offset, host, bytes);
}
inline void synchronize_device(toy) {}

/// One place of the space: an offset for every operand.
template <int Operands>
struct toy_access {
  int64 offset[Operands] = {};
  template <int I, class T>
  T* at(T* p) const {
    return p + offset[I];
  }
  template <int I, class T>
  T load(const T* p) const {
    return detail::read_element(p + offset[I]);
  }
  template <class T>
  T splat(T v) const {
    return v;
  }
  template <int I, class G>
  auto generate(const G& g) const {
    return g(offset[I]);
  }
  template <int I>
  int64 distance(int) const {
    return offset[I];
  }
  template <class Op, class... V>
  auto apply(const Op& op, V... v) const {
    return op(v...);
  }
};

/// Calls `body(access, position)` for every place of the axes [begin, end), in C order.
template <int Operands, class F>
void toy_walk(const detail::iteration_space<Operands>& s, int begin, int end, toy_access<Operands> from,
              const F& body) {
  for (int64 i = 0, n = s.size(begin, end); i < n; ++i) {
    toy_access<Operands> a = from;
    int64 rest = i;
    for (int d = end - 1; d >= begin; --d) {
      for (int k = 0; k < Operands; ++k) a.offset[k] += rest % s.extent[d] * s.stride[k][d];
      rest /= s.extent[d];
    }
    body(a, i);
  }
}

template <class Target, class Tree, int Operands>
void run_elementwise(toy, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s) {
  detail::count(detail::counters.kernels);
  toy_walk(s, 0, s.ndim, {}, [&](const auto& a, int64) { target(a, tree(a)); });
}

template <class Body>
void run_each_index(toy, int64 n, const Body& body, const detail::used_memory*, int) {
  detail::count(detail::counters.kernels);
  for (int64 i = n; i-- > 0;) body(i);  // in any order
}

template <class Target, class Tree, class Op, int Operands>
void run_reduce(toy, const Target& target, const Tree& tree, const Op&, const detail::iteration_space<Operands>& s) {
  using types = typename Op::template types<typename Tree::value_type>;
  using total = typename types::total;
  detail::count(detail::counters.kernels);
  toy_walk(s, 0, s.kept, {}, [&](const auto& result, int64) {
    // by blocks: the rounding errors of one long sum would be as long as it
    total sum = Op::template identity<total>(), part = sum;
    int64 count = 0;
    toy_walk(s, s.kept, s.ndim, result, [&](const auto& a, int64 position) {
      const auto one = Op::template lift<typename types::block>(tree(a), position);
      part = Op::combine(part, Op::template widen<total>(one));
      if (++count % 64 != 0) return;
      sum = Op::combine(sum, part);
      part = Op::template identity<total>();
    });
    sum = Op::combine(sum, part);
    target(result, Op::template finish<typename types::result>(sum, s.size(s.kept, s.ndim)));
  });
}

template <class T, class F>
detail::storage_ref toy_select(toy device, const detail::segments& mask, int64& count, const F& item) {
  const uint8* m = mask.at<uint8>();
  detail::count(detail::counters.kernels);
  count = mask.n - std::count(m, m + mask.n, 0);
  detail::storage_ref r = allocate(device, std::size_t(count) * sizeof(T));
  T* to = static_cast<T*>(r->data);
  for (int64 i = 0; i < mask.n; ++i)
    if (m[i]) *to++ = item(i);
  return r;
}
inline detail::storage_ref flat_nonzero(toy device, const detail::segments& mask, int64& count) {
  return toy_select<int64>(device, mask, count, [](int64 i) { return i; });
}
template <class T>
detail::storage_ref select_flagged(toy device, const detail::segments& from, const detail::segments& mask,
                                   int64& count) {
  return toy_select<T>(device, mask, count, [&](int64 i) { return from.at<T>()[i]; });
}

template <class T>
detail::storage_ref argsort_segments(toy device, const detail::segments& s) {
  detail::storage_ref r = allocate(device, std::size_t(s.elements()) * sizeof(int64));
  detail::count(detail::counters.kernels);
  for (int64 row = 0; row < s.outer; ++row) {
    int64* order = static_cast<int64*>(r->data) + row * s.n;
    const T* k = s.at<T>() + row * s.n;
    for (int64 i = 0; i < s.n; ++i) order[i] = i;
    std::stable_sort(order, order + s.n,
                     [k](int64 a, int64 b) { return k[a] == k[a] && (k[b] != k[b] || k[a] < k[b]); });
  }
  return r;
}
template <class T>
detail::storage_ref sort_segments(toy device, const detail::segments& s) {
  const detail::storage_ref order = argsort_segments<T>(device, s);
  detail::storage_ref r = allocate(device, std::size_t(s.elements()) * sizeof(T));
  for (int64 i = 0; i < s.elements(); ++i)
    static_cast<T*>(r->data)[i] = s.at<T>()[i / s.n * s.n + static_cast<int64*>(order->data)[i]];
  return r;
}
template <class T>
detail::top_elements topk_segments(toy device, const detail::segments& s, int64 k, bool largest) {
  const std::size_t n = std::size_t(s.outer * k);
  detail::top_elements r{allocate(device, n * sizeof(T)), allocate(device, n * sizeof(int64))};
  detail::count(detail::counters.kernels);
  std::vector<int64> order(std::size_t(s.n));
  for (int64 row = 0; row < s.outer; ++row) {
    const T* v = s.at<T>() + row * s.n;
    const auto above = [v](int64 a, int64 b) { return v[b] == v[b] && (v[a] != v[a] || v[a] > v[b]); };
    for (int64 i = 0; i < s.n; ++i) order[std::size_t(i)] = i;
    std::stable_sort(order.begin(), order.end(), [&](int64 a, int64 b) { return largest ? above(a, b) : above(b, a); });
    for (int64 i = 0; i < k; ++i) {
      static_cast<int64*>(r.positions->data)[row * k + i] = order[std::size_t(i)];
      static_cast<T*>(r.values->data)[row * k + i] = v[order[std::size_t(i)]];
    }
  }
  return r;
}
template <class Op, class T>
detail::storage_ref scan_segments(toy device, const detail::segments& s) {
  using types = typename Op::template types<T>;
  detail::storage_ref r = allocate(device, std::size_t(s.elements()) * sizeof(typename types::result));
  detail::count(detail::counters.kernels);
  for (int64 o = 0; o < s.outer; ++o)
    for (int64 j = 0; j < s.inner; ++j) {
      auto sum = Op::template identity<typename types::total>();
      for (int64 i = 0; i < s.n; ++i) {
        const int64 at = (o * s.n + i) * s.inner + j;
        sum = Op::combine(sum, Op::template lift<typename types::total>(s.at<T>()[at], i));
        static_cast<typename types::result*>(r->data)[at] = Op::template finish<typename types::result>(sum, i + 1);
      }
    }
  return r;
}

template <class Op, class T>
void combine_at_indices(toy, const detail::segments& to, const detail::segments& index, const detail::segments& values,
                        const detail::index_check&) {
  detail::count(detail::counters.kernels);
  for (int64 i = 0; i < values.elements(); ++i) {
    const int64 k = index.at<int64>()[i / values.inner % index.n];
    T& sum = to.at<T>()[(i / values.inner / index.n * to.n + (k < 0 ? k + to.n : k)) * to.inner + i % values.inner];
    sum = detail::lane_cast<T>(Op::combine(detail::compute_t<T>(sum), detail::compute_t<T>(values.at<T>()[i])));
  }
}

template <class T>
void multiply_matrices(toy, const detail::product& g) {
  using C = detail::compute_t<T>;
  detail::count(detail::counters.kernels);
  for (int64 b = 0; b < g.batch; ++b)
    for (int64 i = 0; i < g.m; ++i)
      for (int64 j = 0; j < g.n; ++j) {
        C sum{};
        for (int64 p = 0; p < g.k; ++p)
          sum = sum + C(g.at<T>(1)[b * g.step[1] + i * g.row[1] + p * g.column[1]]) *
                          C(g.at<T>(2)[b * g.step[2] + p * g.row[2] + j * g.column[2]]);
        g.at<T>(0)[b * g.step[0] + i * g.row[0] + j] = detail::convert_scalar<T>(sum);
      }
}

/// Calls `body(plane, window, rows, columns)` for every window of every channel: where its plane and its result begin,
/// what it covers.
template <class F>
void toy_windows(const detail::pooling& g, const F& body) {
  detail::count(detail::counters.kernels);
  for (int64 plane = 0; plane < g.planes; ++plane)
    for (int64 i = 0; i < g.p; ++i)
      for (int64 j = 0; j < g.q; ++j)
        for (int64 c = 0; c < g.channels; ++c)
          body(plane * g.h * g.w * g.channels + c, ((plane * g.p + i) * g.q + j) * g.channels + c, g.covered(0, i),
               g.covered(1, j));
}
/// The pixel of a window with the largest element.
template <class T>
int64 toy_largest(const detail::pooling& g, const T* x, const auto& rows, const auto& columns) {
  const auto pixel = [&g](int64 i, int64 j) { return (i * g.w + j) * g.channels; };
  int64 best = pixel(rows.begin, columns.begin);
  for (int64 i = rows.begin; i < rows.end; ++i)
    for (int64 j = columns.begin; j < columns.end; ++j)
      if (const T v = x[pixel(i, j)], b = x[best]; b == b && (v != v || v > b)) best = pixel(i, j);
  return best;
}
template <class T>
void max_pool(toy, const detail::pooling& g) {
  toy_windows(g, [&](int64 plane, int64 window, const auto& rows, const auto& columns) {
    const T* const x = g.at<T>(1) + plane;
    g.at<T>(0)[window] = x[toy_largest(g, x, rows, columns)];
  });
}
template <class T>
void max_pool_gradient(toy, const detail::pooling& g) {
  std::fill_n(g.at<T>(0), g.planes * g.h * g.w * g.channels, T{});
  toy_windows(g, [&](int64 plane, int64 window, const auto& rows, const auto& columns) {
    T& to = g.at<T>(0)[plane + toy_largest(g, g.at<T>(2) + plane, rows, columns)];
    to = detail::convert_scalar<T>(detail::compute_t<T>(to) + detail::compute_t<T>(g.at<T>(1)[window]));
  });
}
/// Calls `body(plane, window, pixel, divisor)` for every pixel of every window.
template <class F>
void toy_averaged(const detail::pooling& g, const F& body) {
  toy_windows(g, [&](int64 plane, int64 window, const auto& rows, const auto& columns) {
    const int64 at = window / g.channels, divisor = g.counted(0, at / g.q % g.p) * g.counted(1, at % g.q);
    for (int64 i = rows.begin; i < rows.end; ++i)
      for (int64 j = columns.begin; j < columns.end; ++j) body(plane, window, (i * g.w + j) * g.channels, divisor);
  });
}
template <class T>
void average_pool(toy, const detail::pooling& g) {
  using A = detail::average_t<T>;
  std::vector<A> mean(std::size_t(g.planes * g.p * g.q * g.channels));
  toy_averaged(g, [&](int64 plane, int64 window, int64 pixel, int64 divisor) {
    mean[std::size_t(window)] += A(g.at<T>(1)[plane + pixel]) / A(divisor);
  });
  for (std::size_t k = 0; k < mean.size(); ++k) g.at<T>(0)[k] = detail::convert_scalar<T>(mean[k]);
}
template <class T>
void average_pool_gradient(toy, const detail::pooling& g) {
  using A = detail::average_t<T>;
  std::vector<A> sum(std::size_t(g.planes * g.h * g.w * g.channels));
  toy_averaged(g, [&](int64 plane, int64 window, int64 pixel, int64 divisor) {
    sum[std::size_t(plane + pixel)] += A(g.at<T>(1)[window]) / A(divisor);
  });
  for (std::size_t k = 0; k < sum.size(); ++k) g.at<T>(0)[k] = detail::convert_scalar<T>(sum[k]);
}

/// Attention with the rows of its arrays: `row(k, b, head, i)` is where one of operand k begins.
template <class T>
struct toy_attention {
  const detail::attention& a;
  T* row(int k, int64 b, int64 head, int64 i) const {
    T* const first = static_cast<T*>(a.store[k]->data) + a.offset[k];
    if (k <= a.dy) return first + b * a.stride[k][0] + head * a.stride[k][1] + i * a.stride[k][2];
    const bool of_queries = k == a.y || k == a.dq;
    const int64 heads = of_queries ? a.h : a.g, rows = of_queries ? a.l : a.s;
    return first + ((b * heads + head) * rows + i) * (k == a.y || k == a.dv ? a.e : a.d);
  }
  float& statistic(int64 b, int64 head, int64 i) const {
    return (static_cast<float*>(a.store[a.statistics]->data) + a.offset[a.statistics])[(b * a.h + head) * a.l + i];
  }
  static double dot(const T* x, const T* y, int64 n) {
    double sum = 0;
    for (int64 i = 0; i < n; ++i) sum += double(float(x[i])) * double(float(y[i]));
    return sum;
  }
  static void add(std::vector<double>& to, double factor, const T* x) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * double(float(x[i]));
  }
  static void put(T* to, const std::vector<double>& from) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = T(float(from[i]));
  }
  int64 seen(int64 i) const { return a.causal ? std::min(i + 1, a.s) : a.s; }
  double score(int64 b, int64 head, int64 i, int64 j) const {
    return a.scale * dot(row(a.q, b, head, i), row(a.k, b, head / (a.h / a.g), j), a.d);
  }
  void forward(int64 b, int64 head, int64 i) const {
    double most = -HUGE_VAL, total = 0;
    for (int64 j = 0; j < seen(i); ++j) most = std::max(most, score(b, head, i, j));
    std::vector<double> y(std::size_t(a.e));
    for (int64 j = 0; j < seen(i); ++j) {
      const double e = std::exp(score(b, head, i, j) - most);
      total += e;
      add(y, e, row(a.v, b, head / (a.h / a.g), j));
    }
    for (double& x : y) x /= total;
    put(row(a.y, b, head, i), y);
    statistic(b, head, i) = float(most + std::log(total));
  }
  double weight(int64 b, int64 head, int64 i, int64 j) const {
    return j < seen(i) ? std::exp(score(b, head, i, j) - double(statistic(b, head, i))) : 0;
  }
  double gradient_of_score(int64 b, int64 head, int64 i, int64 j) const {
    const T* const dy = row(a.dy, b, head, i);
    const double of_weight = dot(dy, row(a.v, b, head / (a.h / a.g), j), a.e) - dot(dy, row(a.y, b, head, i), a.e);
    return a.scale * weight(b, head, i, j) * of_weight;
  }
  void gradient_of_query(int64 b, int64 head, int64 i) const {
    std::vector<double> dq(std::size_t(a.d));
    for (int64 j = 0; j < seen(i); ++j) add(dq, gradient_of_score(b, head, i, j), row(a.k, b, head / (a.h / a.g), j));
    put(row(a.dq, b, head, i), dq);
  }
  void gradients_of_key(int64 b, int64 shared, int64 j) const {
    std::vector<double> dk(std::size_t(a.d)), dv(std::size_t(a.e));
    for (int64 head = shared * (a.h / a.g); head < (shared + 1) * (a.h / a.g); ++head)
      for (int64 i = 0; i < a.l; ++i) {
        add(dv, weight(b, head, i, j), row(a.dy, b, head, i));
        add(dk, gradient_of_score(b, head, i, j), row(a.q, b, head, i));
      }
    put(row(a.dk, b, shared, j), dk), put(row(a.dv, b, shared, j), dv);
  }
};
inline bool toy_attends = true;
/// Of rows up to 64: so products are tested as well.
template <class T>
bool attends_natively(toy, const detail::attention& a) {
  return toy_attends && a.d <= 64;
}
template <class T>
bool attend_natively(toy device, const detail::attention& a) {
  if (!attends_natively<T>(device, a)) return false;
  detail::count(detail::counters.kernels);
  const toy_attention<T> with{a};
  for (int64 b = 0; b < a.b; ++b) {
    for (int64 head = 0; head < a.h; ++head)
      for (int64 i = 0; i < a.l; ++i) a.backward ? with.gradient_of_query(b, head, i) : with.forward(b, head, i);
    for (int64 shared = 0; a.backward && shared < a.g; ++shared)
      for (int64 j = 0; j < a.s; ++j) with.gradients_of_key(b, shared, j);
  }
  return true;
}

}  // namespace cudarray::inline v0::backend

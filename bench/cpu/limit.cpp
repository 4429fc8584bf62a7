// The rows of scripts/cpu-bench as loops written by hand, and OpenBLAS called directly: what the machine can do.
// SPDX-License-Identifier: MIT
#include <cblas.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "worker.hpp"

using namespace worker;

namespace {

// ---------------------------------------------------------------- memory and vectors

/// Elements in huge pages.
template <class T>
class buffer {
 public:
  explicit buffer(int64 n) : n_(n) {
    const std::size_t page = 1 << 21, bytes = (std::size_t(n) * sizeof(T) / page + 1) * page;
    p_.reset(static_cast<T*>(std::aligned_alloc(page, bytes)), std::free);
    if (p_ == nullptr) throw std::bad_alloc();
    madvise(p_.get(), bytes, MADV_HUGEPAGE);
  }
  T* data() const { return p_.get(); }
  int64 size() const { return n_; }
  T& operator[](int64 i) const { return p_.get()[i]; }

 private:
  int64 n_;
  std::shared_ptr<T> p_;
};
using floats = buffer<float>;

template <class T = float>
auto of(int64 n, float scale = 0) {
  return [=](int seed) {
    const buffer<T> a(n);
    fill(a.data(), n, seed, scale);
    return a;
  };
}

template <class T>
struct vector_of {
  typedef T type __attribute__((vector_size(64)));
  typedef T unaligned __attribute__((vector_size(64), aligned(alignof(T)), may_alias));
  static constexpr int lanes = 64 / sizeof(T);
};
template <class T>
using vec = typename vector_of<T>::type;
template <class T>
vec<T> load(const T* p) {
  return *reinterpret_cast<const typename vector_of<T>::unaligned*>(p);
}
constexpr auto plus = [](const auto& a, const auto& b) { return a + b; };
constexpr auto larger = [](const auto& a, const auto& b) { return a > b ? a : b; };

template <class V, class Op>
auto across(const V& v, Op op) {
  auto s = v[0];
  for (std::size_t i = 1; i < sizeof(V) / sizeof(s); ++i) s = op(s, v[i]);
  return s;
}

/// load(0), load(L), ... folded into one vector by four independent ones; n is a multiple of 4 L.
template <int L, class V, class Load, class Op>
V fold(V start, int64 n, Load part, Op op) {
  V s0 = start, s1 = start, s2 = start, s3 = start;
  for (int64 i = 0; i < n; i += 4 * L) {
    s0 = op(s0, part(i)), s1 = op(s1, part(i + L));
    s2 = op(s2, part(i + 2 * L)), s3 = op(s3, part(i + 3 * L));
  }
  return op(op(s0, s1), op(s2, s3));
}
template <class T, class Op>
T fold(const T* p, int64 n, T start, Op op) {
  return across(fold<vector_of<T>::lanes>(
                    vec<T>{} + start, n, [=](int64 i) { return load(p + i); }, op),
                op);
}

/// The sum of part(begin, end) over pieces of 0 to n, with all threads.
template <class R, class F>
R sum_of_pieces(int64 n, F part) {
  R s = 0;
  const int64 piece = 64 * K;
#pragma omp parallel for reduction(+ : s)
  for (int64 i = 0; i < n; i += piece) s += part(i, std::min(i + piece, n));
  return s;
}

/// Copies 64 bytes to an aligned place, past the caches where that is possible.
inline void stream_line(void* to, const void* from) {
#if defined(__AVX__)
  const auto* const p = static_cast<const __m256i*>(from);
  _mm256_stream_si256(static_cast<__m256i*>(to), _mm256_loadu_si256(p));
  _mm256_stream_si256(static_cast<__m256i*>(to) + 1, _mm256_loadu_si256(p + 1));
#else
  std::memcpy(to, from, 64);
#endif
}
/// The elements before the first aligned one.
template <class T>
int64 unaligned(const T* p) {
  return int64(-reinterpret_cast<std::uintptr_t>(p) % 64 / sizeof(T));
}
void put(float* to, const float* from, int64 n, bool past) {
  int64 i = 0;
  if (past) {
    for (const int64 head = std::min(n, unaligned(to)); i < head; ++i) to[i] = from[i];
    for (; i + 16 <= n; i += 16) stream_line(to + i, from + i);
  }
  std::memcpy(to + i, from + i, std::size_t(n - i) * 4);
}
bool beyond_caches(int64 bytes) { return bytes > sysconf(_SC_LEVEL3_CACHE_SIZE); }

// ---------------------------------------------------------------- maps

/// d[r][c] = f(r, c)
template <class T, class F>
const buffer<T>* map(const buffer<T>& d, int64 rows, int64 columns, F f) {
  constexpr int64 piece = sizeof(T) == 1 ? 64 : 32, line = 64 / sizeof(T);
  const bool past = beyond_caches(d.size() * int64(sizeof(T)));
#pragma omp parallel for firstprivate(f)
  for (int64 r = 0; r < rows; ++r) {
    T* const to = &d[r * columns];
    int64 c = 0;
    if (past) {
      for (; c < unaligned(to); ++c) to[c] = f(r, c);
      for (; c + piece <= columns; c += piece) {
        alignas(64) T t[piece];
#pragma omp simd
        for (int64 j = 0; j < piece; ++j) t[j] = f(r, c + j);
        for (int64 j = 0; j < piece; j += line) stream_line(to + c + j, t + j);
      }
    }
#pragma omp simd
    for (int64 i = c; i < columns; ++i) to[i] = f(r, i);
  }
  return &d;
}
template <class T, class F>
const buffer<T>* map(const buffer<T>& d, F f) {
  constexpr int64 columns = 16 * K;
  return map(d, d.size() / columns, columns, [=](int64 r, int64 c) { return f(r * columns + c); });
}

using v16 = vec<float>;

/// One step of the transposition of 16 x 16 elements: swaps blocks of S x S.
template <int S, int... I>
void swap_blocks(v16 (&r)[16], std::integer_sequence<int, I...>) {
  for (int i = 0; i < 16; ++i)
    if (!(i & S)) {
      const v16 a = r[i], b = r[i + S];
      r[i] = __builtin_shufflevector(a, b, (I & S ? 16 + I - S : I)...);
      r[i + S] = __builtin_shufflevector(a, b, (I & S ? 16 + I : I + S)...);
    }
}
void transpose(v16 (&r)[16]) {
  constexpr std::make_integer_sequence<int, 16> all;
  swap_blocks<8>(r, all), swap_blocks<4>(r, all), swap_blocks<2>(r, all), swap_blocks<1>(r, all);
}

/// d = a + b.T, or b.T without an a; d is of (rows, columns).
const floats* add_transposed(const floats* a, const floats& b, const floats& d, int64 rows, int64 columns) {
  constexpr int64 high = 256, wide = 64;
  const bool past = beyond_caches(d.size() * 4);
#pragma omp parallel for collapse(2)
  for (int64 r = 0; r < rows; r += high)
    for (int64 c = 0; c < columns; c += wide) {
      alignas(64) float t[high][wide];
      const int64 m = std::min(high, rows - r), n = std::min(wide, columns - c);
      for (int64 j = 0; j < n; j += 16)
        for (int64 i = 0; i < m; i += 16) {
          v16 v[16] = {};
          for (int64 k = 0; k < std::min<int64>(16, n - j); ++k)
            std::memcpy(&v[k], &b[(c + j + k) * rows + r + i], std::size_t(std::min<int64>(16, m - i)) * 4);
          for (int k = 0; k < 16; ++k) __builtin_prefetch(b.data() + (c + j + 16 + k) * rows + r + i);
          transpose(v);
          for (int k = 0; k < 16; ++k) std::memcpy(&t[i + k][j], &v[k], 64);
        }
      for (int64 i = 0; i < m; ++i) {
        if (a != nullptr)
          for (int64 j = 0; j < n; ++j) t[i][j] += (*a)[(r + i) * columns + c + j];
        put(&d[(r + i) * columns + c], t[i], n, past);
      }
    }
  return &d;
}

/// (32, 17, 8, 33, 29) + (32, 1, 8, 1, 29)
const floats* add_five_axes(const floats& a, const floats& b, const floats& d) {
#pragma omp parallel for
  for (int64 place = 0; place < 32 * 8; ++place) {
    float t[33 * 29];
    for (int64 i = 0; i < 33; ++i) std::memcpy(t + i * 29, &b[place * 29], 29 * 4);
    for (int64 i = 0; i < 17; ++i) {
      const int64 at = ((place / 8 * 17 + i) * 8 + place % 8) * 33 * 29;
      const float* const from = &a[at];
      float* const to = &d[at];
#pragma omp simd
      for (int64 j = 0; j < 33 * 29; ++j) to[j] = from[j] + t[j];
    }
  }
  return &d;
}

template <class T>
auto triad() {
  return [](const auto& a, const auto& b, const auto& c, const auto& d) {
    return map(d, [=, a = a.data(), b = b.data(), c = c.data()](int64 i) { return T(a[i] + b[i] * c[i]); });
  };
}
const floats* small_triad(const floats& a, const floats& b, const floats& c, const floats& d) {
#pragma omp simd
  for (int64 i = 0; i < K; ++i) d[i] = a[i] + b[i] * c[i];
  return &d;
}
template <class T>
auto convert() {
  return [](const auto& a, const auto& d) { return map(d, [a = a.data()](int64 i) { return T(a[i]); }); };
}

void maps() {
  const int64 side = 4096, rows = 4093, columns = 4099;
  const auto many = of(16 * M), square = of(side * side), odd = of(rows * columns);
  for (const char* name : {"triad 16M into", "triad 16M new"}) row(name, triad<float>(), many, many, many, many);
  for (const char* name : {"triad 1K into", "triad 1K new"}) row(name, small_triad, of(K), of(K), of(K), of(K));
  const auto f64 = of<double>(8 * M);
  row("triad double 8M", triad<double>(), f64, f64, f64, f64);
  const auto i32 = of<int>(16 * M);
  row("triad int32 16M", triad<int>(), i32, i32, i32, i32);
  const auto chain = [](const floats& a, const floats& b, const floats& c, const floats& d) {
    return map(d, [a = a.data(), b = b.data(), c = c.data()](int64 i) {
      return std::tanh(a[i]) * b[i] + std::exp(-c[i] * c[i]) + std::sqrt(std::abs(a[i]));
    });
  };
  row("chain 4M", chain, of(4 * M), of(4 * M), of(4 * M), of(4 * M));
  const auto sin = [](const floats& a, const floats& d) {
    return map(d, [a = a.data()](int64 i) { return std::sin(a[i]); });
  };
  row("sin 4M", sin, of(4 * M), of(4 * M));
  const auto exp = [](const buffer<double>& a, const buffer<double>& d) {
    return map(d, [a = a.data()](int64 i) { return std::exp(a[i]); });
  };
  row("exp double 4M", exp, of<double>(4 * M), of<double>(4 * M));
  const auto add_row = [](int64 m, int64 n) {
    return [=](const floats& a, const floats& b, const floats& d) {
      return map(d, m, n, [=, a = a.data(), b = b.data()](int64 r, int64 c) { return a[r * n + c] + b[c]; });
    };
  };
  row("a + row 4096^2", add_row(side, side), square, of(side), square);
  row("a + row 4093x4099", add_row(rows, columns), odd, of(columns), odd);
  const auto add_column = [=](const floats& a, const floats& b, const floats& d) {
    return map(d, side, side, [=, a = a.data(), b = b.data()](int64 r, int64 c) { return a[r * side + c] + b[r]; });
  };
  row("a + column 4096^2", add_column, square, of(side), square);
  row("a + b 5 axes", add_five_axes, of(32 * 17 * 8 * 33 * 29), of(32 * 8 * 29), of(32 * 17 * 8 * 33 * 29));
  const auto add = [](const auto& a, const auto& b, const auto& d) {
    using T = std::decay_t<decltype(d[0])>;
    return map(d, [a = a.data(), b = b.data()](int64 i) { return T(a[i] + b[i]); });
  };
  const auto u8 = of<std::uint8_t>(64 * M);
  row("a + b uint8 64M", add, u8, u8, u8);
  const auto add_transposed_of = [](int64 m, int64 n) {
    return [=](const floats& a, const floats& b, const floats& d) { return add_transposed(&a, b, d, m, n); };
  };
  row("a + b.T 4096^2", add_transposed_of(side, side), square, square, square);
  row("a + b.T 4093x4099", add_transposed_of(rows, columns), odd, odd, odd);
  const auto where = [](const auto& m, const floats& a, const floats& b, const floats& d) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(m.data());  // loops over bool stay branches
    return map(d, [bytes, a = a.data(), b = b.data()](int64 i) {
      const float x = a[i], y = b[i];
      return bytes[i] ? x : y;
    });
  };
  row("where 16M", where, of<bool>(16 * M), many, many, many);
  const auto less = [](const floats& a, const floats& b, const auto& d) {
    return map(d, [a = a.data(), b = b.data()](int64 i) { return a[i] < b[i]; });
  };
  row("a < b 16M", less, many, many, of<bool>(16 * M));
  row("float to int32 16M", convert<int>(), of(16 * M, 100), of<int>(16 * M));
  row("uint8 to float 16M", convert<float>(), of<std::uint8_t>(16 * M), many);
#if defined(__FLT16_MANT_DIG__)
  const auto f16 = of<_Float16>(16 * M);
  row("float16 to float 16M", convert<float>(), f16, many);
  row("float to float16 16M", convert<_Float16>(), many, f16);
  row("a + b float16 16M", add, f16, f16, f16);
#endif
  const auto slice = [=](const floats& a, const floats& d) {
    return map(d, side / 2, side, [=, a = a.data()](int64 r, int64 c) { return a[2 * r * side + side - 1 - c]; });
  };
  row("a[::2, ::-1] 4096^2", slice, square, of(side * side / 2));
  const auto transposed = [=](const floats& a, const floats& d) { return add_transposed(nullptr, a, d, side, side); };
  row("transpose copy 4096^2", transposed, square, square);
}

// ---------------------------------------------------------------- reductions

/// d[r] = f(row r of a)
template <class T, class F>
auto by_rows(F f) {
  return [=](const floats& a, const buffer<T>& d) {
    const int64 n = a.size() / d.size();
#pragma omp parallel for
    for (int64 r = 0; r < d.size(); ++r) d[r] = f(&a[r * n], n);
    return &d;
  };
}

/// Rows of 16, 16 of them at a time.
const floats* sum_short_rows(const floats& a, const floats& d) {
#pragma omp parallel for
  for (int64 r = 0; r < d.size(); r += 16) {
    v16 v[16], s = {};
    for (int k = 0; k < 16; ++k) v[k] = load(&a[(r + k) * 16]);
    transpose(v);
    for (int k = 0; k < 16; ++k) s += v[k];
    std::memcpy(&d[r], &s, 64);
  }
  return &d;
}

template <class T>
const buffer<T>* sum_columns(const buffer<T>& a, const buffer<T>& d) {
  const int64 columns = d.size(), rows = a.size() / columns;
  T* s = d.data();
  std::fill(s, s + columns, T(0));
#pragma omp parallel for reduction(+ : s[:columns])
  for (int64 r = 0; r < rows; ++r)
    for (int64 c = 0; c < columns; ++c) s[c] += a[r * columns + c];
  return &d;
}

const floats* sum_middle(const floats& a, const floats& d) {
#pragma omp parallel for
  for (int64 i = 0; i < 64; ++i) {
    float s[256] = {};
    for (int64 j = 0; j < 512; ++j)
      for (int64 k = 0; k < 256; ++k) s[k] += a[(i * 512 + j) * 256 + k];
    std::memcpy(&d[i * 256], s, sizeof s);
  }
  return &d;
}

/// The variance of columns, in one pass of sums shifted by the first row.
const floats* variance_columns(const floats& a, const floats& d) {
  const int64 columns = d.size(), rows = a.size() / columns;
  std::vector<float> both(std::size_t(2 * columns));
  float* s = both.data();
#pragma omp parallel for reduction(+ : s[:2 * columns])
  for (int64 r = 0; r < rows; ++r)
    for (int64 c = 0; c < columns; ++c) {
      const float v = a[r * columns + c] - a[c];
      s[c] += v, s[columns + c] += v * v;
    }
  for (int64 c = 0; c < columns; ++c) d[c] = (s[columns + c] - s[c] * s[c] / float(rows)) / float(rows);
  return &d;
}

float max_of(const float* p, int64 n) { return fold(p, n, std::numeric_limits<float>::lowest(), larger); }
float sum_of(const float* p, int64 n) { return fold(p, n, 0.f, plus); }
float variance_of(const float* p, int64 n) {
  const float mean = sum_of(p, n) / float(n);
  const auto square = [=](int64 i) { return (load(p + i) - mean) * (load(p + i) - mean); };
  return across(fold<16>(v16{}, n, square, plus), plus) / float(n);
}
int64 argmax_of(const float* p, int64 n) { return std::find(p, p + n, max_of(p, n)) - p; }
float log_sum_exp(const float* p, int64 n) {
  const float m = max_of(p, n);
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (int64 i = 0; i < n; ++i) s += std::exp(p[i] - m);
  return m + std::log(s);
}

template <bool Log>
const floats* softmax(const floats& a, const floats& d) {
  const int64 n = 1024;
#pragma omp parallel for
  for (int64 r = 0; r < a.size(); r += n) {
    const float* const p = &a[r];
    float* const q = &d[r];
    const float m = max_of(p, n);
    float s = 0;
#pragma omp simd reduction(+ : s)
    for (int64 i = 0; i < n; ++i) {
      const float e = std::exp(p[i] - m);
      s += e;
      if (!Log) q[i] = e;
    }
    const float shift = m + std::log(s), factor = 1 / s;
#pragma omp simd
    for (int64 i = 0; i < n; ++i) q[i] = Log ? p[i] - shift : q[i] * factor;
  }
  return &d;
}

void reductions() {
  const int64 side = 4096, n = 16 * M;
  const auto square = of(side * side), line = of(side);
  row(
      "sum 16M",
      [](const floats& a) {
        return sum_of_pieces<double>(a.size(), [&](int64 i, int64 end) { return sum_of(&a[i], end - i); });
      },
      of(n));
  row(
      "sum 1K", [](const floats& a) { return sum_of(a.data(), K); }, of(K));
  row(
      "sum int32 16M",
      [](const buffer<int>& a) {
        return sum_of_pieces<int64>(a.size(), [&](int64 i, int64 end) {
          const auto part = [p = &a[i]](int64 k) {
            typedef int half __attribute__((vector_size(32), aligned(4), may_alias));
            return __builtin_convertvector(*reinterpret_cast<const half*>(p + k), vec<int64>);
          };
          return across(fold<8>(vec<int64>{}, end - i, part, plus), plus);
        });
      },
      of<int>(n));
  row(
      "max uint8 64M",
      [](const buffer<std::uint8_t>& a) {
        int m = 0;
#pragma omp parallel for reduction(max : m)
        for (int64 i = 0; i < a.size(); i += M) m = std::max<int>(m, fold(&a[i], M, std::uint8_t(0), larger));
        return m;
      },
      of<std::uint8_t>(4 * n));
  row(
      "sum((a-b)^2) 16M",
      [](const floats& a, const floats& b) {
        return sum_of_pieces<double>(a.size(), [&](int64 begin, int64 end) {
          const auto part = [p = &a[begin], q = &b[begin]](int64 i) {
            const v16 v = load(p + i) - load(q + i);
            return v * v;
          };
          return across(fold<16>(v16{}, end - begin, part, plus), plus);
        });
      },
      of(n), of(n));
  row("sum axis 1 4096^2", by_rows<float>(sum_of), square, line);
  row("sum axis 0 4096^2", sum_columns<float>, square, line);
  row("sum axis 1 64x512x256", sum_middle, of(64 * 512 * 256), of(64 * 256));
  row("sum axis 1 1Mx16", sum_short_rows, of(16 * M), of(M));
  row("sum axis 0 1Mx16", sum_columns<float>, of(16 * M), of(16));
  row("sum axis 0 double 4093x2049", sum_columns<double>, of<double>(4093 * 2049), of<double>(2049));
  row("max axis 1 4096^2", by_rows<float>(max_of), square, line);
  row("argmax axis 1 4096^2", by_rows<int64>(argmax_of), square, of<int64>(side));
  row("mean and var axis 1 4096^2", by_rows<float>(variance_of), square, line);
  row("var axis 0 4096^2", variance_columns, square, line);
  row("softmax 4096x1024", softmax<false>, of(4 * M), of(4 * M));
  row("log_softmax 4096x1024", softmax<true>, of(4 * M), of(4 * M));
  row("logsumexp 4096x1024", by_rows<float>(log_sum_exp), of(4 * M), of(4096));
}

// ---------------------------------------------------------------- scans, sorting, indexing

/// By stretches that stay in the second-level caches: each thread sums its part, then scans it.
const floats* cumulate(const floats& a, const floats& d) {
  constexpr int64 part = 32 * K;
  std::vector<double> sums(std::size_t(omp_get_max_threads()) + 1);
  const bool past = beyond_caches(d.size() * 4);
#pragma omp parallel
  {
    const int64 threads = omp_get_num_threads(), me = omp_get_thread_num();
    for (int64 first = 0; first < a.size(); first += threads * part) {
      const int64 begin = std::min(first + me * part, a.size()), end = std::min(begin + part, a.size());
      sums[std::size_t(me + 1)] = sum_of(&a[begin], end - begin);
#pragma omp barrier
      float s = float(std::accumulate(sums.begin(), sums.begin() + me + 1, 0.));
      for (int64 i = begin; i < end; i += K) {
        alignas(64) float t[K];
        for (int64 j = 0; j < K; j += 16) {
          v16 v = load(&a[i + j]);
          const v16 zero = {};
          v += __builtin_shufflevector(zero, v, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
          v += __builtin_shufflevector(zero, v, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
          v += __builtin_shufflevector(zero, v, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
          v += __builtin_shufflevector(zero, v, 0, 0, 0, 0, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23);
          v += s;
          s = v[15];
          std::memcpy(t + j, &v, 64);
        }
        put(&d[i], t, K, past);
      }
#pragma omp barrier
#pragma omp single
      sums[0] = std::accumulate(sums.begin(), sums.end(), 0.);
    }
  }
  return &d;
}

/// Sorts words by the 33 bits from `low` on, in three passes; `a` and `b` take turns, the result is in `b`.
template <class T>
void radix_sort(T* a, T* b, int64 n, int low) {
  std::vector<std::uint32_t> counts(3 * 2048);
  const auto digit = [low](T v, int pass) { return std::size_t(v >> (low + 11 * pass)) % 2048; };
  for (int64 i = 0; i < n; ++i)
    for (int p = 0; p < 3; ++p) ++counts[std::size_t(p) * 2048 + digit(a[i], p)];
  for (int p = 0; p < 3; ++p) {
    std::uint32_t* const at = &counts[std::size_t(p) * 2048];
    std::exclusive_scan(at, at + 2048, at, 0u);
    for (int64 i = 0; i < n; ++i) b[at[digit(a[i], p)]++] = a[i];
    std::swap(a, b);
  }
}
/// Bits that compare as the floats do, and back.
std::uint32_t ordered(std::uint32_t bits) { return bits ^ (bits >> 31 ? ~0u : 1u << 31); }
std::uint32_t unordered(std::uint32_t bits) { return bits ^ (bits >> 31 ? 1u << 31 : ~0u); }

const floats* sort(const floats& a, const buffer<std::uint32_t>& t, const buffer<std::uint32_t>& u, const floats& d) {
  for (int64 i = 0; i < a.size(); ++i) std::memcpy(&t[i], &a[i], 4), t[i] = ordered(t[i]);
  radix_sort(t.data(), u.data(), a.size(), 0);
  for (int64 i = 0; i < a.size(); ++i) u[i] = unordered(u[i]), std::memcpy(&d[i], &u[i], 4);
  return &d;
}
const buffer<int64>* argsort(const floats& a, const buffer<std::uint64_t>& t, const buffer<std::uint64_t>& u,
                             const buffer<int64>& d) {
  for (int64 i = 0; i < a.size(); ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, &a[i], 4);
    t[i] = std::uint64_t(ordered(bits)) << 31 | std::uint64_t(i);
  }
  radix_sort(t.data(), u.data(), a.size(), 31);
  for (int64 i = 0; i < a.size(); ++i) d[i] = int64(u[i] & 0x7fffffff);
  return &d;
}

struct span {
  const float* p;
  int64 n;
  const float* data() const { return p; }
  int64 size() const { return n; }
};
/// Each thread counts its part of the mask, then writes where the parts before it end.
span compact(const floats& a, const buffer<bool>& m, const floats& d) {
  std::vector<int64> ends(std::size_t(omp_get_max_threads()) + 1);
#pragma omp parallel
  {
    const int64 threads = omp_get_num_threads(), me = omp_get_thread_num();
    const int64 begin = a.size() / 16 * me / threads * 16, end = a.size() / 16 * (me + 1) / threads * 16;
    int64 count = 0;
    for (int64 i = begin; i < end; ++i) count += m[i];
    ends[std::size_t(me + 1)] = count;
#pragma omp barrier
#pragma omp single
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    float* to = &d[ends[std::size_t(me)]];
    int64 i = begin;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    for (; i + 32 < end; i += 16) {  // the vectors written past the kept elements stay in this thread's part
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&m[i]));
      const __mmask16 kept = _mm_test_epi8_mask(bytes, bytes);
      if (ends[std::size_t(me + 1)] - (to - d.data()) < 16) break;
      _mm512_storeu_ps(to, _mm512_maskz_compress_ps(kept, _mm512_loadu_ps(&a[i])));
      to += __builtin_popcount(kept);
    }
#endif
    for (; i < end; ++i)
      if (m[i]) *to++ = a[i];
  }
  return {d.data(), ends.back()};
}

/// Each thread keeps the largest of its part in a heap; blocks of 64 without a larger one are passed over.
const floats* largest(const floats& a, const floats& d) {
  const int64 k = d.size();
  std::vector<float> found;
#pragma omp parallel
  {
    const int64 threads = omp_get_num_threads(), me = omp_get_thread_num();
    const int64 begin = a.size() * me / threads, end = a.size() * (me + 1) / threads;
    std::vector<float> heap(&a[begin], &a[begin + k]);
    std::make_heap(heap.begin(), heap.end(), std::greater<>());
    for (int64 i = begin + k; i < end; i += 64) {
      const int64 stop = std::min(i + 64, end);
      float top = a[i];
      for (int64 j = i; j < stop; ++j) top = top < a[j] ? a[j] : top;
      if (!(top > heap[0])) continue;
      for (int64 j = i; j < stop; ++j)
        if (a[j] > heap[0]) {
          std::pop_heap(heap.begin(), heap.end(), std::greater<>());
          heap.back() = a[j];
          std::push_heap(heap.begin(), heap.end(), std::greater<>());
        }
    }
#pragma omp critical
    found.insert(found.end(), heap.begin(), heap.end());
  }
  std::partial_sort(found.begin(), found.begin() + k, found.end(), std::greater<>());
  std::copy(found.begin(), found.begin() + k, &d[0]);
  return &d;
}

void others() {
  row("topk 100 of 16M", largest, of(16 * M), of(100));
  row("cumsum 16M", cumulate, of(16 * M), of(16 * M));
  row("sort 4M", sort, of(4 * M), of<std::uint32_t>(4 * M), of<std::uint32_t>(4 * M), of(4 * M));
  row("argsort 1M", argsort, of(M), of<std::uint64_t>(M), of<std::uint64_t>(M), of<int64>(M));
  row("a[mask] 16M", compact, of(16 * M), of<bool>(16 * M), of(16 * M));
  const auto take = [](const floats& a, const buffer<int64>& index, const floats& d) {
#pragma omp parallel for
    for (int64 i = 0; i < index.size(); ++i) std::memcpy(&d[i * 32], &a[index[i] * 32], 32 * 4);
    return &d;
  };
  row("take 100K rows of 1Mx32", take, of(M * 32), of<int64>(100000, 1e6f), of(100000 * 32));

  const auto product = [](blasint n) {
    return [=](const floats& a, const floats& b, const floats& c) {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
      return &c;
    };
  };
  row("sgemm 1024", product(1024), of(M), of(M), of(M));
  row("sgemm 64", product(64), of(4096), of(4096), of(4096));
  const auto products = [](const floats& a, const floats& b, const floats& c) {
    const int threads = openblas_get_num_threads();
    openblas_set_num_threads(1);
#pragma omp parallel for
    for (int64 i = 0; i < c.size(); i += 4096)
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 64, 64, 64, 1, &a[i], 64, &b[i], 64, 0, &c[i], 64);
    openblas_set_num_threads(threads);
    return &c;
  };
  row("sgemm 64 of 64", products, of(64 * 4096), of(64 * 4096), of(64 * 4096));

  const auto pool = [](const floats& x, const floats& y) {
#pragma omp parallel for
    for (int64 r = 0; r < 128 * 32 * 14; ++r) {
      const float* const p = &x[r * 56];
      for (int64 j = 0; j < 14; ++j)
        y[r * 14 + j] = larger(larger(p[2 * j], p[2 * j + 1]), larger(p[2 * j + 28], p[2 * j + 29]));
    }
    return &y;
  };
  row("max pool forward", pool, of(128 * 32 * 28 * 28), of(128 * 32 * 14 * 14));
  const auto pool_backward = [](const floats& x, const floats& dy, const floats& dx) {
#pragma omp parallel for
    for (int64 r = 0; r < 128 * 32 * 14; ++r) {
      const float* const p = &x[r * 56];
      float* const q = &dx[r * 56];
      for (int64 j = 0; j < 14; ++j) {
        const float g = dy[r * 14 + j], p0 = p[2 * j], p1 = p[2 * j + 1], p2 = p[2 * j + 28], p3 = p[2 * j + 29];
        const float m = larger(larger(p0, p1), larger(p2, p3));
        q[2 * j] = p0 == m ? g : 0;
        q[2 * j + 1] = p0 < m && p1 == m ? g : 0;
        q[2 * j + 28] = larger(p0, p1) < m && p2 == m ? g : 0;
        q[2 * j + 29] = larger(larger(p0, p1), p2) < m ? g : 0;
      }
    }
    return &dx;
  };
  row("max pool backward", pool_backward, of(128 * 32 * 28 * 28), of(128 * 32 * 14 * 14), of(128 * 32 * 28 * 28));
}

}  // namespace

int main() {
  maps();
  reductions();
  others();
  return serve([](int threads) {
    omp_set_num_threads(threads);
    openblas_set_num_threads(threads);
  });
}

// The table of reductions: what is combined, in which types, and what comes of it.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/math.hpp"

/// A reduction has `types<V>` with `result`, `block` (partial results of few elements) and `total` (all of them);
/// `identity<A>()`, `combine(a, b)` on scalars and packs, `lift<block>(element, position)`, `widen<total>(block)` and
/// `finish<result>(total, count)`. `indexed` ones need positions in logical order; `empty` says if no elements are
/// allowed.
namespace cudarray::inline v0::op {

template <class R, class Block, class Total>
struct accumulate_in {
  using result = R;
  using block = Block;
  using total = Total;
};

template <class V>
auto sum_type() {
  if constexpr (kind_of<V> == kind::boolean || kind_of<V> == kind::signed_) return int64{};
  else if constexpr (kind_of<V> == kind::unsigned_) return uint64{};
  else return V{};
}
/// Few elements are added up in a type of their own, what comes of it in `total_of`: floats in theirs (float32 for
/// halves) and in float64; numbers of 8 and 16 bits, of which 32 bits hold the sum of 32768, in those and in 64.
template <class V>
auto block_type() {
  if constexpr (kind_of<V> >= kind::floating) return detail::compute_t<V>{};
  else if constexpr (sizeof(V) >= 4) return sum_type<V>();
  else if constexpr (kind_of<V> == kind::unsigned_) return uint32{};
  else return int32{};
}
template <class V>
using block_of = decltype(block_type<V>());
template <class R>
using total_of =
    ::std::conditional_t<detail::is_floating<R>, double, ::std::conditional_t<detail::is_complex<R>, complex128, R>>;

template <bool Indexed, bool Empty>
struct reduction {
  static constexpr bool indexed = Indexed;
  static constexpr bool empty = Empty;
  static constexpr bool parts_overflow = false;  ///< where the whole does not
  CUDARRAY_EXEC_CHECK_OFF
  template <class Block, class V>
  CUDARRAY_HD static constexpr auto lift(const V& v, int64) {
    using detail::lane_cast;
    return lane_cast<Block>(v);
  }
  template <class Total, class Block>
  CUDARRAY_HD static constexpr Total widen(const Block& b) {
    return Total(b);
  }
  template <class R, class A>
  CUDARRAY_HD static constexpr R finish(A total, int64) {
    return detail::lane_cast<R>(total);
  }
};

struct sum_op : reduction<false, true> {
  template <class V>
  using types = accumulate_in<decltype(sum_type<V>()), block_of<V>, total_of<decltype(sum_type<V>())>>;
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return A(0);
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD static constexpr L combine(const L& a, const L& b) {
    using namespace math;
    return add(a, b);
  }
};

struct prod_op : reduction<false, true> {
  static constexpr bool parts_overflow = true;
  template <class V>
  using types =
      accumulate_in<decltype(sum_type<V>()), block_of<decltype(sum_type<V>())>, total_of<decltype(sum_type<V>())>>;
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return A(1);
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD static constexpr L combine(const L& a, const L& b) {
    using namespace math;
    return multiply(a, b);
  }
};

struct mean_op : sum_op {
  template <class V>
  using types =
      ::std::conditional_t<(kind_of<V> < kind::floating),
                           accumulate_in<double, ::std::conditional_t<(sizeof(V) < 8), block_of<V>, double>, double>,
                           accumulate_in<V, block_of<V>, total_of<V>>>;
  template <class R, class A>
  CUDARRAY_HD static constexpr R finish(A total, int64 count) {
    if constexpr (detail::is_complex<A>)
      return detail::lane_cast<R>(A(total.re / double(count), total.im / double(count)));
    else return detail::lane_cast<R>(total / A(count));
  }
};

/// A sum with what was rounded off it, about twice the digits of T (Knuth's two-sum; Ogita, Rump, Oishi: Accurate sum
/// and dot product, 2005).
template <class T>
struct twofold {
  T sum, rest;
  CUDARRAY_HD friend constexpr twofold operator+(const twofold& a, const twofold& b) {
    const T s = a.sum + b.sum, part = s - a.sum, lost = (a.sum - (s - part)) + (b.sum - part);
    return {s, a.rest + b.rest + lost};
  }
  CUDARRAY_HD static constexpr twofold product(T a, T b) {
    const T p = a * b;
    return {p, math::fma(a, b, -p)};
  }
};
/// The sums of numbers and of their squares, which must hold these all but exactly: var in one pass. L: a scalar,
/// lanes, or twofold.
template <class L>
struct pair_of {
  L first, second;
};
template <class L>
pair_of(L, L) -> pair_of<L>;
/// The sums of numbers and of their squares, which must be exact or nearly: var in one pass.
struct var_op : reduction<false, true> {
  /// float64 holds the squares of float32, 32 bits those of 32768 bytes.
  template <class V, bool Few>
  static constexpr auto sums_type() {
    if constexpr (::std::is_same_v<V, float>) return double{};
    else if constexpr (sizeof(V) == 1) return ::std::conditional_t<Few, int32, int64>{};
    else if constexpr (sizeof(V) == 2) return int64{};
    else return twofold<double>{};
  }
  template <class V, bool Few>
  using sums_of = pair_of<decltype(sums_type<V, Few>())>;
  template <class V>
  using types = accumulate_in<::std::conditional_t<(kind_of<V> < kind::floating), double, V>, sums_of<V, true>,
                              sums_of<V, false>>;
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return {};
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class Block, class V>
  CUDARRAY_HD static constexpr auto lift(const V& v, int64) {
    using detail::lane_cast;
    using part = decltype(Block::first);
    if constexpr (::std::is_same_v<part, twofold<double>>) {
      const auto x = lane_cast<double>(v);
      return Block{{x, 0}, part::product(x, x)};
    } else {
      const auto x = lane_cast<part>(v);
      return pair_of{x, x * x};
    }
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD static constexpr pair_of<L> combine(const pair_of<L>& a, const pair_of<L>& b) {
    return {a.first + b.first, a.second + b.second};
  }
  template <class Total, class L>
  CUDARRAY_HD static constexpr Total widen(const pair_of<L>& b) {
    return {b.first, b.second};
  }
  template <class L>
  CUDARRAY_HD static constexpr double mean(const pair_of<L>& s, int64 count) {
    if constexpr (::std::is_same_v<L, double>) return s.first / double(count);
    else return (s.first.rest == s.first.rest ? s.first.sum + s.first.rest : s.first.sum) / double(count);  // not inf
  }
  CUDARRAY_HD static constexpr double variance(const pair_of<double>& s, int64 count) {
    const double m = mean(s, count), v = s.second / double(count) - m * m;
    return v < 0 ? 0 : v;
  }
  /// Nothing cancels about a number k next to the mean: of (x - k)^2 = x^2 - k (2 x - k), and what the mean is off k.
  CUDARRAY_HD static constexpr double variance(const pair_of<int64>& s, int64 count) {
    const double part = 1 / double(count);
    const int64 k = int64(double(s.first) * part), off = s.first - count * k;
    const uint64 about = uint64(s.second) - uint64(k) * uint64(s.first + off);
    return (double(about) - double(off) * double(off) * part) * part;
  }
  CUDARRAY_HD static constexpr double variance(const pair_of<twofold<double>>& s, int64 count) {
    using two = twofold<double>;
    const double n = double(count), k = mean(s, count);
    const two off = s.first + two::product(-n, k), twice = s.first + off;
    const two about = s.second + two::product(-k, twice.sum);
    const double left = off.sum + off.rest, v = (about.sum + (about.rest - k * twice.rest) - left * (left / n)) / n;
    return v < 0 ? 0 : v;
  }
  template <class R, class A>
  CUDARRAY_HD static constexpr R finish(const A& sums, int64 count) {
    return detail::lane_cast<R>(variance(sums, count));
  }
};
/// Mean and variance as the two parts of a complex number.
struct mean_var_op : var_op {
  template <class V>
  using types = accumulate_in<::std::conditional_t<::std::is_same_v<V, double>, complex128, complex64>,
                              sums_of<V, true>, sums_of<V, false>>;
  template <class R, class A>
  CUDARRAY_HD static constexpr R finish(const A& sums, int64 count) {
    using real = decltype(R::re);
    return R(real(mean(sums, count)), real(variance(sums, count)));
  }
};

/// The largest number, and the sum of exp(x - largest): logsumexp in one pass (Milakov and Gimelshein 2018).
struct logsumexp_op : reduction<false, false> {
  template <class V>
  using types = accumulate_in<V, pair_of<detail::compute_t<V>>, pair_of<detail::compute_t<V>>>;
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return {detail::bounds<decltype(A::first)>::lowest, 0};
  }
  template <class Block, class V>
  CUDARRAY_HD static constexpr Block lift(V v, int64) {
    return {detail::lane_cast<decltype(Block::first)>(v), 1};
  }
  template <class L>
  CUDARRAY_HD static constexpr pair_of<L> combine(const pair_of<L>& a, const pair_of<L>& b) {
    const L ahead = a.first == b.first ? L(0) : a.first - b.first, e = math::exp(ahead > 0 ? -ahead : ahead);
    return ahead > 0 ? pair_of<L>{a.first, a.second + b.second * e} : pair_of<L>{b.first, a.second * e + b.second};
  }
  template <class R, class A>
  CUDARRAY_HD static constexpr R finish(const A& a, int64) {
    return detail::lane_cast<R>(a.first + math::log(a.second));
  }
};
/// What softmax takes away, and what it multiplies exp with, as the two parts of a complex number.
struct softmax_op : logsumexp_op {
  template <class V>
  using types =
      accumulate_in<::std::conditional_t<::std::is_same_v<V, double>, complex128, complex64>, pair_of<V>, pair_of<V>>;
  template <class R, class A>
  CUDARRAY_HD static constexpr R finish(const A& a, int64) {
    return R(a.first, (a.first - a.first + 1) / a.second);  // NaN where that is infinite
  }
};

/// The identity of max and min is never seen: empty ones throw.
struct max_op : reduction<false, false> {
  template <class V>
  using types = accumulate_in<V, ::std::conditional_t<kind_of<V> == kind::boolean, uint8, detail::compute_t<V>>,
                              ::std::conditional_t<kind_of<V> == kind::boolean, uint8, detail::compute_t<V>>>;
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return detail::bounds<A>::lowest;
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD static constexpr L combine(const L& a, const L& b) {
    using namespace math;
    return maximum(a, b);
  }
};

struct min_op : max_op {
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return detail::bounds<A>::highest;
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD static constexpr L combine(const L& a, const L& b) {
    using namespace math;
    return minimum(a, b);
  }
};

/// any and all are given truth values.
struct any_op : reduction<false, true> {
  template <class V>
  using types = accumulate_in<bool, uint8, uint8>;
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return A(0);
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD static constexpr L combine(const L& a, const L& b) {
    return L(a | b);
  }
};

struct all_op : any_op {
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return A(1);
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD static constexpr L combine(const L& a, const L& b) {
    return L(a & b);
  }
};

/// A value and where it was found; position -1: nowhere yet.
template <class V, class Position = int64>
struct found {
  V value;
  Position position;
};

template <bool Max>
struct arg_op : reduction<true, false> {
  using extreme = ::std::conditional_t<Max, max_op, min_op>;  ///< the value of what is found
  template <class V>
  using types = accumulate_in<int64, found<detail::compute_t<V>>, found<detail::compute_t<V>>>;
  template <class Block, class V>
  CUDARRAY_HD static constexpr Block lift(V v, int64 position) {
    return {detail::lane_cast<decltype(Block::value)>(v), decltype(Block::position)(position)};
  }
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return {decltype(A::value)(0), -1};
  }
  /// The first NaN wins, then the extreme value, then the first of equals.
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD static constexpr L combine(const L& a, const L& b) {
    if (a.position < 0) return b;
    if (b.position < 0) return a;
    const bool an = a.value != a.value, bn = b.value != b.value;
    if (an != bn) return an ? a : b;
    const bool better = !an && (Max ? b.value > a.value : b.value < a.value);
    const bool worse = !an && (Max ? b.value < a.value : b.value > a.value);
    if (better || worse) return better ? b : a;
    return a.position < b.position ? a : b;
  }
  /// combine(a, lift(v, position)) for a position behind those in `a`, in fewer steps.
  template <class L, class V>
  CUDARRAY_HD static constexpr void append(L& a, V v, decltype(L::position) position) {
    const auto x = detail::lane_cast<decltype(L::value)>(v);
    const bool behind = Max ? x <= a.value : x >= a.value, nan = a.value != a.value;
    if (a.position < 0 || !(behind || nan)) a = {x, position};
  }
  template <class R, class A>
  CUDARRAY_HD static constexpr R finish(A total, int64) {
    return R(total.position);
  }
};
using argmax_op = arg_op<true>;
using argmin_op = arg_op<false>;

}  // namespace cudarray::inline v0::op

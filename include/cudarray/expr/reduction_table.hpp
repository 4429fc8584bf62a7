// The table of reductions: what is combined, in which types, and what comes of it.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/math.hpp"

/// A reduction has `types<V>` with `result`, `block` (partial results of few elements) and `total` (all of them);
/// `identity<A>()`, `combine(a, b)` on scalars and packs, `lift<block>(element, position)`, `widen<total>(block)` and
/// `finish<result>(total, count)`. `indexed` ones need positions in logical order; `empty` says if no elements are
/// allowed; `costly` ones, which say so, take several instructions to combine.
namespace cudarray::inline v0::op::inline CUDARRAY_BUILD {

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
struct total_type {
  using type =
      ::std::conditional_t<detail::is_floating<R>, double, ::std::conditional_t<detail::is_complex<R>, complex128, R>>;
};
template <class T>
struct total_type<dual<T>> {
  using type = dual<double>;
};
template <class R>
using total_of = typename total_type<R>::type;

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

/// Two partial results: scalars or lanes.
template <class L>
struct pair_of {
  L first, second;
};
template <class L>
pair_of(L, L) -> pair_of<L>;
/// The sums of numbers and of their squares about a pivot among them, so that nothing cancels (Chan, Golub, LeVeque
/// 1983). Of few numbers the pivot is the first of them, of more it lies next to their mean.
template <bool Few>
struct moments {
  double count, pivot, sum, squares;
  CUDARRAY_HD constexpr moments about(double to) const {
    const double by = pivot - to;
    return {count, to, sum + count * by, squares + by * (2 * sum + count * by)};
  }
  /// x, or 0 for what no distances can be taken from.
  CUDARRAY_HD static constexpr double finite(double x) { return detail::is_finite(x) ? x : 0; }
};
/// In one pass: of what float64 holds the squares of, and of whole numbers of 8 and 16 bits, by the sums of numbers and
/// of their squares, which are exact or nearly; else by moments.
struct var_op : reduction<false, true> {
  static constexpr bool costly = true;
  template <class V, bool Few>
  static constexpr auto sums_type() {
    if constexpr (::std::is_same_v<V, float>) return pair_of<double>{};
    else if constexpr (sizeof(V) == 1 && Few) return pair_of<int32>{};  // of 32768 numbers
    else if constexpr (sizeof(V) <= 2) {
      static_assert(kind_of<V> < kind::floating, "halves are converted first");
      return pair_of<int64>{};
    } else return moments<Few>{};
  }
  template <class V, bool Few>
  using sums_of = decltype(sums_type<V, Few>());
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
    if constexpr (requires(Block b) { b.pivot; }) {
      Block one{};
      append(one, v);
      return one;
    } else {
      const auto x = lane_cast<decltype(Block::first)>(v);
      return pair_of{x, x * x};
    }
  }
  /// combine(a, lift(v)) in fewer steps.
  template <bool Few, class V>
  CUDARRAY_HD static constexpr void append(moments<Few>& a, V v) {
    const double x = detail::lane_cast<double>(v);
    if (a.count == 0) a.pivot = a.finite(x);
    const double by = x - a.pivot;
    a = {a.count + 1, a.pivot, a.sum + by, a.squares + by * by};
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD static constexpr pair_of<L> combine(const pair_of<L>& a, const pair_of<L>& b) {
    return {a.first + b.first, a.second + b.second};
  }
  template <bool Few>
  CUDARRAY_HD static constexpr moments<Few> combine(const moments<Few>& a, const moments<Few>& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double n = a.count + b.count;
    double to = a.pivot;
    if (!Few) to += a.finite((a.sum + b.sum + b.count * (b.pivot - to)) / n);
    const auto x = a.about(to), y = b.about(to);
    return {n, to, x.sum + y.sum, x.squares + y.squares};
  }
  template <class Total, class L>
  CUDARRAY_HD static constexpr Total widen(const pair_of<L>& b) {
    return {b.first, b.second};
  }
  template <class Total>
  CUDARRAY_HD static constexpr Total widen(const moments<true>& b) {
    const auto all = b.about(b.count == 0 ? 0 : b.pivot + b.finite(b.sum / b.count));
    return {all.count, all.pivot, all.sum, all.squares};
  }
  CUDARRAY_HD static constexpr double mean(const pair_of<double>& s, int64 count) { return s.first / double(count); }
  CUDARRAY_HD static constexpr double mean(const moments<false>& s, int64) { return s.pivot + s.sum / s.count; }
  CUDARRAY_HD static constexpr double variance(const pair_of<double>& s, int64 count) {
    const double m = mean(s, count), v = s.second / double(count) - m * m;
    return v < 0 ? 0 : v;
  }
  CUDARRAY_HD static constexpr double variance(const moments<false>& s, int64) {
    const double v = (s.squares - s.sum * (s.sum / s.count)) / s.count;
    return v < 0 ? 0 : v;
  }
  /// About the whole number k next to the mean: of (x - k)^2 = x^2 - k (2 x - k), exactly, and what the mean is off k.
  CUDARRAY_HD static double variance(const pair_of<int64>& s, int64 count) {
    const double part = 1 / double(count);
    const int64 k = count > 0 ? int64(math::rint(double(s.first) * part)) : 0, off = s.first - count * k;
    const uint64 about = uint64(s.second) - uint64(k) * uint64(s.first + off);
    return (double(about) - double(off) * double(off) * part) * part;
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
template <class T, class Sum>
struct exp_sum {
  T largest;
  Sum sum;
};
struct logsumexp_op : reduction<false, false> {
  template <class V>
  using block = exp_sum<detail::compute_t<V>, detail::compute_t<V>>;
  template <class V>
  using total = exp_sum<detail::compute_t<V>, double>;
  template <class V>
  using types = accumulate_in<V, block<V>, total<V>>;
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    return {detail::bounds<decltype(A::largest)>::lowest, 0};
  }
  template <class Block, class V>
  CUDARRAY_HD static constexpr Block lift(V v, int64) {
    return {detail::lane_cast<decltype(Block::largest)>(v), 1};
  }
  template <class T, class Sum>
  CUDARRAY_HD static constexpr exp_sum<T, Sum> combine(const exp_sum<T, Sum>& a, const exp_sum<T, Sum>& b) {
    const T ahead = a.largest == b.largest ? T(0) : a.largest - b.largest, e = math::exp(ahead > 0 ? -ahead : ahead);
    return ahead > 0 ? exp_sum<T, Sum>{a.largest, a.sum + b.sum * e} : exp_sum<T, Sum>{b.largest, a.sum * e + b.sum};
  }
  template <class Total, class T, class Sum>
  CUDARRAY_HD static constexpr Total widen(const exp_sum<T, Sum>& b) {
    return {b.largest, b.sum};
  }
  template <class R, class T>
  CUDARRAY_HD static constexpr R finish(const exp_sum<T, double>& a, int64) {
    return detail::lane_cast<R>(a.largest + math::log(T(a.sum)));
  }
};
/// What softmax takes away, and what it multiplies exp with, as the two parts of a complex number.
struct softmax_op : logsumexp_op {
  template <class V>
  using types =
      accumulate_in<::std::conditional_t<::std::is_same_v<V, double>, complex128, complex64>, block<V>, total<V>>;
  template <class R, class T>
  CUDARRAY_HD static constexpr R finish(const exp_sum<T, double>& a, int64) {
    return R(a.largest, (a.largest - a.largest + 1) / T(a.sum));  // NaN where the largest is infinite
  }
};

/// The extreme of dual numbers: those that are equal to it share the derivative.
template <class T>
struct shared_extreme {
  T primal, tangents;  ///< the sum of them
  int64 count;
  CUDARRAY_HD constexpr bool is(T v) const { return primal == v || (v != v && primal != primal); }
  CUDARRAY_HD static constexpr shared_extreme join(T v, const shared_extreme& a, const shared_extreme& b) {
    return {v, (a.is(v) ? a.tangents : T(0)) + (b.is(v) ? b.tangents : T(0)),
            (a.is(v) ? a.count : 0) + (b.is(v) ? b.count : 0)};
  }
};
template <class V>
struct extreme_type {
  using type = ::std::conditional_t<kind_of<V> == kind::boolean, uint8, detail::compute_t<V>>;
};
template <class T>
struct extreme_type<dual<T>> {
  using type = shared_extreme<detail::compute_t<T>>;
};
/// The identity of max and min is never seen: empty ones throw.
struct max_op : reduction<false, false> {
  static constexpr bool costly = true;  // NaN is looked for
  template <class V>
  using types = accumulate_in<V, typename extreme_type<V>::type, typename extreme_type<V>::type>;
  template <class A>
  CUDARRAY_HD static constexpr A identity() {
    if constexpr (requires(A a) { a.tangents; }) return {detail::bounds<decltype(A::primal)>::lowest, 0, 0};
    else return detail::bounds<A>::lowest;
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class Block, class V>
  CUDARRAY_HD static constexpr auto lift(const V& v, int64) {
    using detail::lane_cast;
    if constexpr (requires(Block b) { b.tangents; }) {
      const auto x = lane_cast<dual<decltype(Block::primal)>>(v);
      return Block{x.primal, x.tangent, 1};
    } else {
      return lane_cast<Block>(v);
    }
  }
  template <class T>
  CUDARRAY_HD static constexpr auto combine(const shared_extreme<T>& a, const shared_extreme<T>& b) {
    return a.join(math::maximum(a.primal, b.primal), a, b);
  }
  template <class R, class A>
  CUDARRAY_HD static constexpr R finish(const A& a, int64) {
    if constexpr (requires { a.tangents; })
      return detail::lane_cast<R>(dual(a.primal, a.tangents / decltype(A::primal)(a.count)));
    else return detail::lane_cast<R>(a);
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
    if constexpr (requires(A a) { a.tangents; }) return {detail::bounds<decltype(A::primal)>::highest, 0, 0};
    else return detail::bounds<A>::highest;
  }
  template <class T>
  CUDARRAY_HD static constexpr auto combine(const shared_extreme<T>& a, const shared_extreme<T>& b) {
    return a.join(math::minimum(a.primal, b.primal), a, b);
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
    const bool an = detail::is_nan(a.value), bn = detail::is_nan(b.value);
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
    const bool nan = detail::is_nan(a.value);
    bool behind = Max ? x <= a.value : x >= a.value;
    if constexpr (detail::arithmetic::finite_math) behind = behind && !detail::is_nan(x);
    if (a.position < 0 || !(behind || nan)) a = {x, position};
  }
  template <class R, class A>
  CUDARRAY_HD static constexpr R finish(A total, int64) {
    return R(total.position);
  }
};
using argmax_op = arg_op<true>;
using argmin_op = arg_op<false>;

}  // namespace cudarray::inline v0::op::inline CUDARRAY_BUILD

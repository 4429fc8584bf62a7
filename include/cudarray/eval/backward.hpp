// The backward pass of an elementwise expression at one place, derived from the expression's type.
// SPDX-License-Identifier: MIT
#pragma once

#include "../expr/derivatives.hpp"
#include "../expr/node.hpp"
#include "row_program.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Whether an expression has a gradient with respect to a variable in it.
template <class N>
inline constexpr bool is_tracked = false;
template <class T, class D>
inline constexpr bool is_tracked<tracked_leaf<T, D>> = is_differentiable<T>;
template <class Op, class K>
inline constexpr bool is_tracked<reduce<Op, K>> = is_tracked<K>&& is_differentiable<node_value_t<reduce<Op, K>>>;
template <class Op, class... K>
inline constexpr bool is_tracked<map<Op, K...>> = []<int... J>(::std::integer_sequence<int, J...>) {
  return ((derivative<Op, J>::exists && is_tracked<K>) || ...);
}
(::std::make_integer_sequence<int, int(sizeof...(K))>{});

/// Whether a user's function of variables, which has no derivative, is in an expression.
template <class N>
inline constexpr bool lacks_derivative = false;
template <class Op, class K>
inline constexpr bool lacks_derivative<reduce<Op, K>> = lacks_derivative<K>;
template <class Op, class... K>
inline constexpr bool lacks_derivative<map<Op, K...>> = (lacks_derivative<K> || ...);
template <class F, class... K>
inline constexpr bool lacks_derivative<map<op::user_op<F>, K...>> =
    ((has_variable<K> && is_differentiable<node_value_t<K>> && !derivative<op::user_op<F>, 0>::exists) || ...) ||
    (lacks_derivative<K> || ...);

template <class N>
inline constexpr bool is_tracked_map = false;
template <class Op, class... K>
inline constexpr bool is_tracked_map<map<Op, K...>> = is_tracked<map<Op, K...>>;

/// The inputs of an expression, in order: variables, and the largest parts without a gradient.
template <class N>
inline constexpr int inputs_of = 1;
template <class Op, class... K>
requires(is_tracked<map<Op, K...>>) inline constexpr int inputs_of<map<Op, K...>> = (0 + ... + inputs_of<K>);
/// The first input of operand J of a map whose own begin at `First`.
template <int First, int J, class... K>
constexpr int first_input() {
  constexpr int count[] = {inputs_of<K>..., 0};
  int first = First;
  for (int j = 0; j < J; ++j) first += count[j];
  return first;
}
/// The operand of a map in which input I is.
template <int I, class... K>
constexpr int operand_of_input() {
  int j = 0, last = 0;
  for (const int count : {inputs_of<K>...}) {
    last += count;
    if (I < last) break;
    ++j;
  }
  return j;
}
template <int I, class N>
const N& input(const N& n) {
  return n;
}
template <int I, class Op, class... K>
requires(is_tracked<map<Op, K...>>) const auto& input(const map<Op, K...>& n) {
  constexpr int j = operand_of_input<I, K...>();
  return input<I - first_input<0, j, K...>()>(get<j>(n.kids));
}
/// A variable's own leaf is that of an array.
template <class N>
struct plain_input {
  using type = N;
};
template <class T, class D>
struct plain_input<tracked_leaf<T, D>> {
  using type = leaf<T, D>;
};
template <int I, class N>
using input_t = typename plain_input<::std::remove_cvref_t<decltype(input<I>(::std::declval<const N&>()))>>::type;

/// The inputs that a gradient leads to, a bit each.
template <class N>
inline constexpr uint64 variables_of = is_tracked<N> ? 1 : 0;
template <class Op, class... K>
requires(is_tracked<map<Op, K...>>) inline constexpr uint64 variables_of<map<Op, K...>> = [
]<int... J>(::std::integer_sequence<int, J...>) {
  return (uint64(0) | ... | (derivative<Op, J>::exists ? variables_of<K> << first_input<0, J, K...>() : 0));
}
(::std::make_integer_sequence<int, int(sizeof...(K))>{});

/// Whether gradients that are wanted (a bit for each input, those of N beginning at `First`) lead through operand J.
template <uint64 Wanted, int First, int J, class N>
inline constexpr bool leads = false;
template <uint64 Wanted, int First, int J, class Op, class... K>
inline constexpr bool leads<Wanted, First, J, map<Op, K...>> = [] {
  constexpr uint64 variables[] = {variables_of<K>...};
  return derivative<Op, J>::exists && (Wanted & variables[J] << first_input<First, J, K...>()) != 0;
}();

/// What the backward pass reads at a map: bits of `reads`.
template <uint64 Wanted, int First, class N>
inline constexpr unsigned reads_at = 0;
template <class Op, int J>
constexpr unsigned reads_of() {
  if constexpr (derivative<Op, J>::exists) return derivative<Op, J>::needs;
  else return 0;
}
template <uint64 Wanted, int First, class Op, class... K>
inline constexpr unsigned reads_at<Wanted, First, map<Op, K...>> = []<int... J>(::std::integer_sequence<int, J...>) {
  return (0u | ... | (leads<Wanted, First, J, map<Op, K...>> ? reads_of<Op, J>() : 0u));
}
(::std::make_integer_sequence<int, int(sizeof...(K))>{});

/// The inputs that are read, a bit each, where the value of N is (`Value`); `Given`: but not to compute that.
template <uint64 Wanted, int First, bool Value, class N, bool Given = false>
inline constexpr uint64 inputs_read = Value ? uint64(1) << First : 0;
template <uint64 Wanted, int First, bool Value, class Op, class... K, bool Given>
requires(is_tracked<map<Op, K...>>) inline constexpr uint64 inputs_read<Wanted, First, Value, map<Op, K...>, Given> = [
]<int... J>(::std::integer_sequence<int, J...>) {
  constexpr unsigned at = reads_at<Wanted, First, map<Op, K...>>;
  constexpr bool value = !Given && (Value || (at & reads::r) != 0);
  return (uint64(0) | ... | inputs_read < Wanted, first_input<First, J, K...>(), value || (at & reads::operand(J)) != 0,
          K >);
}
(::std::make_integer_sequence<int, int(sizeof...(K))>{});

/// The functions of an expression as far as gradients lead, or as a form of it says.
template <class N>
struct functions_of {
  template <class M>
  explicit functions_of(const M&) {}
  static constexpr bool lanes = true;
};
template <class Op, class... K>
requires(is_tracked<map<Op, K...>>) struct functions_of<map<Op, K...>> {
  static constexpr bool lanes = Op::lanes && (functions_of<K>::lanes && ...);
  Op op;
  slots<functions_of<K>...> kids;
  template <class M>
  explicit functions_of(const M& n) : functions_of(n, ::std::make_integer_sequence<int, sizeof...(K)>{}) {}

 private:
  template <class M, int... J>
  functions_of(const M& n, ::std::integer_sequence<int, J...>) : op(n.op), kids{{functions_of<K>(get<J>(n.kids))}...} {}
};

/// Values in an expression that the backward pass reads, computed where they stay: g++ keeps copied ones in memory.
/// `In`: lanes of the inputs, by `get<I>()`. `Given`: the value of the whole is not computed.
template <uint64 Wanted, int First, bool Value, class N, class In, bool Given = false>
struct forward_values {
  template <class F>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE forward_values(const F&, const In&) {}
  CUDARRAY_HD CUDARRAY_FORCE_INLINE static const auto& value(const In& in) { return in.template get<First>(); }
};
template <int J, class V>
struct forward_slot {
  V value;
  CUDARRAY_EXEC_CHECK_OFF
  template <class F, class In>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE forward_slot(const F& f, const In& in) : value(f, in) {}
};
template <int J, class V>
CUDARRAY_HD CUDARRAY_FORCE_INLINE const V& get(const forward_slot<J, V>& s) {
  return s.value;
}
template <class Indices, class... V>
struct forward_slots;
template <int... J, class... V>
struct forward_slots<::std::integer_sequence<int, J...>, V...> : forward_slot<J, V>... {
  CUDARRAY_EXEC_CHECK_OFF
  template <class F, class In>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE forward_slots(const F& f, const In& in)
      : forward_slot<J, V>(get<J>(f.kids), in)... {}
};
template <uint64 Wanted, int First, bool Value, class N, class In, class Indices>
struct kid_values;
template <uint64 Wanted, int First, bool Value, class Op, class... K, class In, int... J>
struct kid_values<Wanted, First, Value, map<Op, K...>, In, ::std::integer_sequence<int, J...>> {
  static constexpr unsigned at = reads_at<Wanted, First, map<Op, K...>>;
  using type = forward_slots<
      ::std::integer_sequence<int, J...>,
      forward_values<Wanted, first_input<First, J, K...>(), Value || (at & reads::operand(J)) != 0, K, In>...>;
};
/// Whether a value is the same all along a row; the number that it is.
template <class V>
inline constexpr bool is_row_value = false;
template <class C>
inline constexpr bool is_row_value<row_value<C>> = true;
template <class V>
CUDARRAY_HD CUDARRAY_FORCE_INLINE const V& number_of(const V& v) {
  return v;
}
template <class C>
CUDARRAY_HD CUDARRAY_FORCE_INLINE const C& number_of(const row_value<C>& v) {
  return v.v;
}
template <class C>
CUDARRAY_HD CUDARRAY_FORCE_INLINE row_value<C> row_value_of(C v) {
  return {v, C(1) / v};
}
template <class C, class Op, class... V>
CUDARRAY_HD CUDARRAY_FORCE_INLINE auto value_from(const Op& op, const V&... v) {
  return lane_cast<C>(op(number_of(v)...));
}
template <class C, class Op, class... V>
requires(is_row_value<V>&&...) CUDARRAY_HD CUDARRAY_FORCE_INLINE auto value_from(const Op& op, const V&... v) {
  return row_value_of(lane_cast<C>(op(v.v...)));
}
template <class C, class Op, class X, class Y>
requires(requires { Op::divides; } && !is_row_value<X>) CUDARRAY_HD CUDARRAY_FORCE_INLINE
    auto value_from(const Op&, const X& x, const row_value<Y>& y) {
  return lane_cast<C>(x / y);
}
/// The value of a function, as what its dtype is computed in. (Half types are not rounded here.)
template <class Types, class Op, class Kids, class In, int... J>
CUDARRAY_HD CUDARRAY_FORCE_INLINE auto value_of(const Op& op, const Kids& kids, const In& in,
                                                ::std::integer_sequence<int, J...>) {
  return value_from<compute_t<typename Types::result>>(
      op, lane_cast<compute_t<typename Types::template operand<J>>>(get<J>(kids).value(in))...);
}
template <bool Has, class Types, class Op, class Kids, class In, class Indices>
struct computed_value {
  CUDARRAY_HD CUDARRAY_FORCE_INLINE computed_value(const Op&, const Kids&, const In&) {}
};
template <class Types, class Op, class Kids, class In, class Indices>
struct computed_value<true, Types, Op, Kids, In, Indices> {
  decltype(value_of<Types>(::std::declval<const Op&>(), ::std::declval<const Kids&>(), ::std::declval<const In&>(),
                           Indices{})) v;
  CUDARRAY_EXEC_CHECK_OFF
  CUDARRAY_HD CUDARRAY_FORCE_INLINE computed_value(const Op& op, const Kids& kids, const In& in)
      : v(value_of<Types>(op, kids, in, Indices{})) {}
};
template <uint64 Wanted, int First, bool Value, class Op, class... K, class In, bool Given>
requires(is_tracked<map<Op, K...>>) struct forward_values<Wanted, First, Value, map<Op, K...>, In, Given> {
  using N = map<Op, K...>;
  using indices = ::std::make_integer_sequence<int, int(sizeof...(K))>;
  static constexpr bool has = !Given && (Value || (reads_at<Wanted, First, N> & reads::r) != 0);
  using kids_type = typename kid_values<Wanted, First, has, N, In, indices>::type;
  kids_type kids;
  computed_value<has, typename Op::template types<node_value_t<K>...>, Op, kids_type, In, indices> own;
  CUDARRAY_EXEC_CHECK_OFF
  CUDARRAY_HD CUDARRAY_FORCE_INLINE forward_values(const functions_of<N>& f, const In& in)
      : kids(f, in), own(f.op, kids, in) {}
  CUDARRAY_HD CUDARRAY_FORCE_INLINE const auto& value(const In&) const { return own.v; }
};

/// Operand J of a function as its derivative takes it, where that reads it: as a number, but to be divided by.
template <bool Read, int J, class Types, class Op, class Kids, class In>
CUDARRAY_HD CUDARRAY_FORCE_INLINE auto read_operand(const Kids& kids, const In& in) {
  if constexpr (!Read) return unread{};
  else if constexpr (J == 1 && requires { Op::divides; })
    return lane_cast<compute_t<typename Types::template operand<J>>>(get<J>(kids).value(in));
  else return number_of(lane_cast<compute_t<typename Types::template operand<J>>>(get<J>(kids).value(in)));
}

/// Goes back from the gradient g of an expression's value, which is r: `out.put<I>(gradient)` for each wanted input.
template <uint64 Wanted, int First, class N>
struct backward_of {
  template <class F, class V, class In, class G, class R, class Out>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE static void go(const F&, const V&, const In&, const G& g, const R&, Out& out) {
    out.template put<First>(g);
  }
};
template <uint64 Wanted, int First, class Op, class... K>
requires(is_tracked<map<Op, K...>>) struct backward_of<Wanted, First, map<Op, K...>> {
  using N = map<Op, K...>;
  using types = typename Op::template types<node_value_t<K>...>;

  CUDARRAY_EXEC_CHECK_OFF
  template <class F, class V, class In, class G, class R, class Out>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE static void go(const F& f, const V& values, const In& in, const G& g, const R& r,
                                                   Out& out) {
    each(f, values, in, g, r, out, ::std::make_integer_sequence<int, int(sizeof...(K))>{});
  }

 private:
  CUDARRAY_EXEC_CHECK_OFF
  template <class F, class V, class In, class G, class R, class Out, int... J>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE static void each(const F& f, const V& values, const In& in, const G& g, const R& r,
                                                     Out& out, ::std::integer_sequence<int, J...>) {
    (through<J, K>(f, values, in, g, r, out), ...);
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <int J, class Kid, class F, class V, class In, class G, class R, class Out>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE static void through(const F& f, const V& values, const In& in, const G& g,
                                                        const R& r, Out& out) {
    if constexpr (leads<Wanted, First, J, N>) {
      using rule = derivative<Op, J>;
      const auto& kids = values.kids;
      const auto to = lane_cast<compute_t<node_value_t<Kid>>>(
          rule::of(f.op, g, number_of(r), read_operand<(rule::needs & reads::x) != 0, 0, types, Op>(kids, in),
                   read_operand < (rule::needs & reads::y) != 0 && (sizeof...(K) > 1), 1, types, Op > (kids, in),
                   read_operand < (rule::needs & reads::z) != 0 && (sizeof...(K) > 2), 2, types, Op > (kids, in)));
      const auto& kid = get<J>(kids);
      constexpr int first = first_input<First, J, K...>();
      if constexpr (is_tracked_map<Kid> && (reads_at<Wanted, first, Kid> & reads::r) != 0)
        backward_of<Wanted, first, Kid>::go(get<J>(f.kids), kid, in, to, kid.value(in), out);
      else backward_of<Wanted, first, Kid>::go(get<J>(f.kids), kid, in, to, unread{}, out);
    }
  }
};

/// The k-th bit that is set.
constexpr int bit_of(uint64 set, int k) {
  int at = 0;
  for (; k > 0 || !(set >> at & 1); ++at) k -= int(set >> at & 1);
  return at;
}

/// Lanes of the inputs in `Read`, the first of which is number `Begin` of `V`.
template <uint64 Read, int Begin, class... V>
struct given_inputs {
  slots<const V&...> v;
  template <int Ix>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE const auto& get() const {
    return detail::get<Begin + __builtin_popcountll(Read & ((uint64(1) << Ix) - 1))>(v);
  }
};
/// The gradients of the inputs in `Wanted`, of dtypes T.
template <uint64 Wanted, class Values>
struct put_gradients {
  Values values;
  template <int Ix, class G>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE void put(const G& g) {
    detail::get<__builtin_popcountll(Wanted & ((uint64(1) << Ix) - 1))>(values) = g;
  }
};

/// The gradients of some inputs of an expression N as one function: of that of its value, of the value (`Given`), and
/// of the inputs that they read. Several are `slots`, as `together_op` makes them.
template <class N, uint64 Wanted, bool Given>
struct backward_op {
  static constexpr bool lanes =
      functions_of<N>::lanes && (CUDARRAY_HD_HOLDS_PACKS || !device_type_t<N>::host_accessible);
  static constexpr bool goes_back = true;  ///< the first operand is a gradient
  static constexpr bool given = Given;
  static constexpr uint64 read = inputs_read<Wanted, 0, false, N, Given>;
  static constexpr int count = __builtin_popcountll(Wanted);
  functions_of<N> functions;

  template <int K>
  using gradient_type = node_value_t<input_t<bit_of(Wanted, K), N>>;
  template <class Indices>
  struct results;
  template <int... K>
  struct results<::std::integer_sequence<int, K...>> {
    using several = slots<gradient_type<K>...>;
    template <class G>
    using computed = slots<decltype(lane_cast<compute_t<gradient_type<K>>>(::std::declval<const G&>()))...>;
  };
  using of_all = results<::std::make_integer_sequence<int, count>>;

  template <class... A>
  struct types {
    static constexpr bool ok = true;
    using result = ::std::conditional_t<count == 1, gradient_type<0>, typename of_all::several>;
    template <int K>
    using operand = typename decltype(rule::nth<K>(rule::types_list<A...>{}))::type;
  };

  CUDARRAY_EXEC_CHECK_OFF
  template <class G, class... V>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE auto operator()(const G& g, const V&... v) const {
    using inputs = given_inputs<read, Given ? 1 : 0, V...>;
    const inputs in{{{v}...}};
    const forward_values<Wanted, 0, false, N, inputs, Given> values(functions, in);
    put_gradients<Wanted, typename of_all::template computed<G>> out{};
    if constexpr (Given) backward_of<Wanted, 0, N>::go(functions, values, in, g, get<0>(in.v), out);
    else if constexpr ((reads_at<Wanted, 0, N> & reads::r) != 0)
      backward_of<Wanted, 0, N>::go(functions, values, in, g, values.value(in), out);
    else backward_of<Wanted, 0, N>::go(functions, values, in, g, unread{}, out);
    if constexpr (count == 1) return get<0>(out.values);
    else return out.values;
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD

// Statements: an expression of variables that was evaluated is one node of the tape.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/row_gradients.hpp"
#include "../ops/reductions.hpp"
#include "computed_node.hpp"
#include "gradient_memory.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Whether the gradient of an expression's value is also that of input I.
template <int I, class N>
inline constexpr bool passes_on = true;
template <int I, class Op, class... K>
requires(is_tracked<map<Op, K...>>) inline constexpr bool passes_on<I, map<Op, K...>> = [] {
  constexpr int j = operand_of_input<I, K...>();
  using kid = typename decltype(rule::nth<j>(rule::types_list<K...>{}))::type;
  constexpr bool adds = ::std::is_same_v<Op, op::add_op> || (::std::is_same_v<Op, op::subtract_op> && j == 0);
  if constexpr (adds && ::std::is_same_v<node_value_t<kid>, node_value_t<map<Op, K...>>>)
    return passes_on<I - first_input<0, j, K...>(), kid>;
  else return false;
}();

/// Whether a variable in an expression may be repeated: there are other inputs that have a shape.
template <class N>
inline constexpr bool may_repeat = []<int... I>(::std::integer_sequence<int, I...>) {
  return (0 + ... + int(!is_scalar_node<input_t<I, N>>)) > 1;
}
(::std::make_integer_sequence<int, inputs_of<N>>{});

/// The axes along which an array of shape `from` is repeated to `to`, a bit each.
inline unsigned repeated_axes(const shape& from, const shape& to) {
  unsigned over = 0;
  const int lead = to.ndim() - from.ndim();
  for (int d = 0; d < to.ndim(); ++d)
    if (d < lead || from[d - lead] != to[d]) over |= 1u << d;
  return over;
}
/// The sum of an expression over the axes along which an array of shape `dims` is repeated to its shape: of that shape.
template <class N>
auto sum_to(const N& n, const shape& dims) {
  using T = node_value_t<N>;
  using D = device_type_t<N>;
  const unsigned over = repeated_axes(dims, n.dims());
  if (over == 0) return ndarray<T, D>(evaluate(n));
  leaf<T, D> r = materialise(reduce<op::sum_op, N>(
      over, [&] { return reduced_shape("backward", n.dims(), over, true, true); }, [&]() -> const N& { return n; }));
  r.where = c_layout(dims);
  return ndarray<T, D>(::std::move(r));
}
/// The gradient of a reduction, repeated along the axes that were reduced.
inline layout repeated_layout(const layout& g, const shape& full, unsigned over) {
  layout l;
  l.offset = g.offset;
  l.read_only = true;
  const bool keeps = g.ndim() == full.ndim();
  for (int d = 0, at = 0; d < full.ndim(); ++d) {
    const bool gone = over >> d & 1u;
    l.stride[d] = gone ? 0 : g.stride[at];
    l.dims.push_back(full[d]);
    at += !gone || keeps;
  }
  return l;
}

/// Whether an input of a statement is an array as it is.
template <class N>
inline constexpr bool is_array_node = false;
template <class T, class D>
inline constexpr bool is_array_node<leaf<T, D>> = true;

/// Hands the gradient of a sum of variables on, repeated ones summed.
template <class T, class D>
CUDARRAY_NO_INLINE void add_sum_of_gradient(gradient_node<T, D>& n, const ndarray<T, D>& g) {
  add_gradient(n, sum_to(g.node(), n.dims));
}

/// One statement: the value of an expression N without reductions, or (`Reduced`) a sum or mean over some of its axes.
/// Its value is at hand, if it `HasValue`.
template <class N, bool Reduced, class T, class D, bool HasValue = true>
struct statement final : computed_node<T, D> {
  static constexpr uint64 variables = variables_of<N>, read_all = inputs_read<variables, 0, false, N>,
                          read_beside = inputs_read<variables, 0, false, N, true>;
  /// The value is kept where it is read, and not more than what it is computed of.
  static constexpr bool given = HasValue && !Reduced && (reads_at<variables, 0, N> & reads::r) != 0 &&
                                __builtin_popcountll(read_beside) < __builtin_popcountll(read_all);
  static constexpr uint64 read = given ? read_beside : read_all;
  static constexpr int targets = __builtin_popcountll(variables), inputs = __builtin_popcountll(read);
  using op_of_all = backward_op<N, variables, given>;
  /// Whether all gradients are made in one pass. (The CPU's adds up no dual numbers.)
  static constexpr bool fused = backend::fused_gradients<D> && op_of_all::lanes &&
                                !(is_dual<T> && D::host_accessible) && !has_gather<N> && N::leaves < 20;

  /// The K-th input that is read: of an array only the place among those that are kept, other expressions as they are.
  template <int K>
  using input_type = input_t<bit_of(read, K), N>;
  static constexpr int arrays_before(int k) {
    return [k]<int... K>(::std::integer_sequence<int, K...>) {
      return (0 + ... + int(K < k && is_array_node<input_type<K>>));
    }
    (::std::make_integer_sequence<int, inputs>{});
  }
  static constexpr int arrays = arrays_before(inputs) + int(given);
  template <int K>
  using other_input = ::std::conditional_t<is_array_node<input_type<K>>, unread, input_type<K>>;
  using all_inputs = ::std::make_integer_sequence<int, inputs>;
  using all_targets = ::std::make_integer_sequence<int, targets>;
  template <class Indices>
  struct other_inputs;
  template <int... K>
  struct other_inputs<::std::integer_sequence<int, K...>> {
    using type = slots<other_input<K>...>;
    static type of(const N& n) { return {{other_of<other_input<K>>(input<bit_of(read, K)>(n))}...}; }
  };

  functions_of<N> functions;
  shape full;
  unsigned over;
  int64 divisor;  ///< of a mean
  typename other_inputs<all_inputs>::type others;
  kept_array kept[::std::size_t(arrays > 0 ? arrays : 1)];  ///< the last is the value, where it is `given`
  tape_ref to[::std::size_t(targets)];

  statement(const N& n, unsigned axes, int64 divide_by, const leaf<T, D>& result)
      : computed_node<T, D>(result.dims(), {kept, arrays, to, targets}),
        functions(n),
        full(n.dims()),
        over(axes),
        divisor(divide_by),
        others(other_inputs<all_inputs>::of(n)) {
    keep_arrays(n, all_inputs{});
    if constexpr (given) kept[arrays - 1].keep(result);
    find_targets(n, all_targets{});
  }
  void check() const override {
    computed_node<T, D>::check();
    each_other([](const auto& x) { check_kept(x); });
  }
  void free() override {
    computed_node<T, D>::free();
    each_other([](const auto& x) { free_kept(x); });
  }
  void go_back() override {
    const uint64 due = hand_on(all_targets{});
    if (due == 0) return;
    leaf<T, D> g = divisor == 1 ? this->gradient.node() : divided();
    if constexpr (Reduced) g.where = repeated_layout(g.where, full, over);
    if constexpr (fused) go_back_together(g, due, all_targets{});
    else go_back_one_by_one(g, due, all_targets{});
  }

 private:
  template <int J>
  using variable_type = node_value_t<input_t<bit_of(variables, J), N>>;

  template <class X, class I>
  static X other_of([[maybe_unused]] const I& n) {
    if constexpr (::std::is_same_v<X, unread>) return {};
    else return n;
  }
  template <int... K>
  void keep_arrays(const N& n, ::std::integer_sequence<int, K...>) {
    [[maybe_unused]] const auto one = [&]<int I>([[maybe_unused]] const auto& x) {
      if constexpr (is_array_node<input_type<I>>) kept[arrays_before(I)].keep(x);
    };
    (one.template operator()<K>(input<bit_of(read, K)>(n)), ...);
  }
  template <int... J>
  void find_targets(const N& n, ::std::integer_sequence<int, J...>) {
    ((to[J] = input<bit_of(variables, J)>(n).tape), ...);
    this->forget_unwanted();
  }
  template <class F>
  void each_other(const F& f) const {
    const auto one = [&f]<class X>([[maybe_unused]] const X& x) {
      if constexpr (!::std::is_same_v<X, unread>) f(x);
    };
    [&]<int... K>(::std::integer_sequence<int, K...>) { (one(get<K>(others)), ...); }
    (all_inputs{});
  }
  /// The gradient of a mean for each element; float16 does not hold every count.
  leaf<T, D> divided() const {
    return evaluate(cast_node<T>(elementwise("backward", op::multiply_op{},
                                             cast_node<compute_t<T>>(this->gradient.node()), 1 / double(divisor))));
  }
  /// Hands the gradient itself on, where it is that of a variable, too. Returns which are to be computed, a bit each.
  template <int... J>
  uint64 hand_on(::std::integer_sequence<int, J...>) {
    constexpr bool passes[] = {!Reduced && passes_on<bit_of(variables, J), N> &&
                               ::std::is_same_v<variable_type<J>, T>...};
    uint64 due = this->due();
    if constexpr ((passes[J] || ...)) {
      // a pass that computes others writes it sooner than a copy of its own
      const bool only_free = fused && (due & (0 | ... | (uint64(!passes[J]) << J))) != 0;
      for (int k = 0; k < targets; ++k) {
        if (!passes[k] || (due >> k & 1) == 0) continue;
        auto& node = this->template node_of<T>(k);
        if (only_free && !takes_gradient(node, this->gradient)) continue;
        if (node.dims == full) add_gradient(node, this->gradient);
        else if constexpr ((passes[J] && ...) && may_repeat<N>) add_sum_of_gradient(node, this->gradient);
        else continue;
        due &= ~(uint64(1) << k);
      }
    }
    return due;
  }
  /// Computes all gradients in one pass.
  template <int... J>
  void go_back_together(const leaf<T, D>& g, uint64 due, ::std::integer_sequence<int, J...>) {
    if (is_dual<T> && (((due >> J & 1) != 0 && !is_dual<variable_type<J>>) || ...)) fail_without_tangent();
    const gradient_memory<D, variable_type<J>...> memory{to, due};
    const auto n = backward_of_one<op_of_all>(g, all_inputs{});
    constexpr int first = 1 + ::std::remove_cvref_t<decltype(n)>::leaves;
    iteration_space<first + targets - 1> s;
    s.ndim = s.kept = full.ndim();
    copy_extents(s.extent, full);
    const int ordinal = g.store->ordinal;
    const auto targets_of_all = memory.template place_in<first>(
        s, same_axes, result_layout(n, leaf_list<::std::remove_cv_t<decltype(n)>>(n)), ordinal);
    if (full.elements() > 0) {
      const auto tree = lower<1>(n, same_axes, s, fault_sink{});
      simplify(s, true);
      run_gradients(D{ordinal}, targets_of_all, tree, s);
    }
    memory.finish(full.elements() == 0);
  }
  template <int... J>
  void go_back_one_by_one(const leaf<T, D>& g, uint64 due, ::std::integer_sequence<int, J...>) {
    [[maybe_unused]] const auto one = [&]<int K>() {
      if ((due >> K & 1) == 0) return;
      if constexpr (is_dual<T> && !is_dual<variable_type<K>>) fail_without_tangent();
      else compute_gradient<K>(g);
    };
    (one.template operator()<J>(), ...);
  }
  /// Computes the gradient of the J-th variable.
  template <int J>
  void compute_gradient(const leaf<T, D>& g) {
    constexpr int I = bit_of(variables, J);
    using V = variable_type<J>;
    auto& node = static_cast<gradient_node<V, D>&>(*to[J].get());
    constexpr bool reads_value = given && (reads_at<uint64(1) << I, 0, N> & reads::r) != 0;
    using op_type = backward_op<N, uint64(1) << I, reads_value>;
    const auto n =
        backward_of_one<op_type>(g, ::std::make_integer_sequence<int, __builtin_popcountll(op_type::read)>{});
    if constexpr (may_repeat<N>) add_gradient(node, sum_to(n, node.dims));
    else add_gradient(node, ndarray<V, D>(evaluate(n)));
  }
  /// The K-th input that is read.
  template <int K>
  decltype(auto) operand() const {
    if constexpr (is_array_node<input_type<K>>) return borrow<node_value_t<input_type<K>>, D>(kept[arrays_before(K)]);
    else return (get<K>(others));
  }
  /// What the K-th input that a function reads is among those that are read.
  template <class Op, int K>
  static constexpr int place_of = __builtin_popcountll(~(~uint64(0) << bit_of(Op::read, K)) & read);
  template <class Op, int... K>
  auto backward_of_one(const leaf<T, D>& g, ::std::integer_sequence<int, K...>) const {
    const auto node = [&]<class... L>(const L&... operands) {
      return map<Op, L...>(
          Op{functions}, [&] { return full; }, [&] { return slots<L...>{{operands}...}; });
    };
    const borrowed_leaf<T, D> from(g.store, g.where, g.stamp);
    if constexpr (Op::given) return node(from, borrow<T, D>(kept[arrays - 1]), operand<place_of<Op, K>>()...);
    else return node(from, operand<place_of<Op, K>>()...);
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD

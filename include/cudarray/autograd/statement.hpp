// Statements: an expression of variables that was evaluated is one node of the tape.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/row_gradients.hpp"
#include "../ops/reductions.hpp"
#include "tape.hpp"

namespace cudarray::inline v0::detail {

/// Where the gradient of a variable in a statement goes, and what shape that has.
struct gradient_target {
  tape_ref node;
  shape dims;
  gradient_target() = default;
  /// Of a gradient that is not wanted when this is recorded there is none.
  gradient_target(const tape_ref& n, const shape& s) : dims(s) {
    if (is_wanted(n)) node = n;
  }
};

/// Throws where what was kept for the backward pass has been written.
inline void check_kept(const leaf_use* of, int count) {
  for (int k = 0; k < count; ++k)
    if (of[k].store != nullptr && write_count(*of[k].store) != of[k].stamp)
      fail<stale_error>("backward: an operand of shape ", of[k].where->dims, ", ", of[k].dtype,
                        ", was written after a variable was computed of it");
}

}  // namespace cudarray::inline v0::detail
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
  leaf<T, D> r = over == 0 ? materialise(n)
                           : materialise(reduce<op::sum_op, N>(
                                 over, [&] { return reduced_shape("backward", n.dims(), over, true, true); },
                                 [&]() -> const N& { return n; }));
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

/// The memory of gradients, of dtypes V, that one pass computes.
template <class D, class... V>
struct gradient_memory {
  static constexpr int count = int(sizeof...(V));
  const gradient_target* to;
  bool computed[::std::size_t(count)];

  bool any() const {
    bool is = false;
    for (const bool c : computed) is = is || c;
    return is;
  }
  /// Makes it, and places it in a space whose axes those of the statement are, as operands 0 and from `First` on.
  template <int First, class Space>
  gradients_to<First, V...> place_in(Space& s, const int* axis_of, D device) const {
    gradients_to<First, V...> all{};
    each([&]<int K>() {
      if (!computed[K]) return;
      auto& node = node_of<K>();
      const bool again = is_there_before(K), adds = node.filled || again;
      const auto& a = adds ? added_to(node, again) : written_to(node, device);
      get<K>(all.p) = a.data();
      all.adds |= unsigned(adds) << K;
      constexpr int at = gradients_to<First, V...>::operand(K);
      place<at>(s, to[K].dims, a.where().stride, axis_of + (s.ndim - to[K].dims.ndim()), a.storage().get());
    });
    return all;
  }
  /// The gradients are there: those of an empty statement are zeros.
  void finish(bool empty) const {
    each([&]<int K>() {
      if (!computed[K]) return;
      auto& node = node_of<K>();
      if (empty && !node.filled) node.gradient.fill(0);
      node.filled = true;
      count_write(*node.gradient.storage());
    });
  }

 private:
  template <class F>
  static void each(const F& f) {
    [&]<int... K>(::std::integer_sequence<int, K...>) { (f.template operator()<K>(), ...); }
    (::std::make_integer_sequence<int, count>{});
  }
  template <int K>
  auto& node_of() const {
    using type = typename decltype(rule::nth<K>(rule::types_list<V...>{}))::type;
    return static_cast<gradient_node<type, D>&>(*to[K].node.get());
  }
  /// Whether one of the first K gradients that are computed is of the same variable.
  bool is_there_before(int K) const {
    bool is = false;
    for (int k = 0; k < K; ++k) is = is || (computed[k] && to[k].node.get() == to[K].node.get());
    return is;
  }
};

/// One statement: the value of an expression N without reductions, or (`Reduced`) a sum over some of its axes. Its
/// value is at hand, if it `HasValue`.
template <class N, bool Reduced, class T, class D, bool HasValue = true>
struct statement final : gradient_node<T, D> {
  static constexpr uint64 variables = variables_of<N>, read_all = inputs_read<variables, 0, false, N>,
                          read_beside = inputs_read<variables, 0, false, N, true>;
  /// The value is kept where it is read, and not more than what it is computed of.
  static constexpr bool given = HasValue && !Reduced && (reads_at<variables, 0, N> & reads::r) != 0 &&
                                __builtin_popcountll(read_beside) < __builtin_popcountll(read_all);
  static constexpr uint64 read = given ? read_beside : read_all;
  static constexpr int targets = __builtin_popcountll(variables);
  using op_of_all = backward_op<N, variables, given>;
  template <class Indices>
  struct inputs;
  template <int... K>
  struct inputs<::std::integer_sequence<int, K...>> {
    using type = slots<input_t<bit_of(read, K), N>...>;
    static type of(const N& n) { return {{input<bit_of(read, K)>(n)}...}; }
  };
  using kept_inputs = inputs<::std::make_integer_sequence<int, __builtin_popcountll(read)>>;
  /// Whether all gradients are made in one pass. (The CPU's adds up no dual numbers.)
  static constexpr bool fused = backend::fused_gradients<D> && op_of_all::lanes &&
                                !(is_dual<T> && D::host_accessible) && !has_gather<N> && N::leaves < 20;

  functions_of<N> functions;
  shape full;
  unsigned over;
  int64 divisor;  ///< of a mean
  typename kept_inputs::type kept;
  leaf<T, D> value;  ///< where it is `given`
  gradient_target to[targets];

  statement(const N& n, unsigned axes, int64 divide_by, const leaf<T, D>& result)
      : gradient_node<T, D>(result.dims()),
        functions(n),
        full(n.dims()),
        over(axes),
        divisor(divide_by),
        kept(kept_inputs::of(n)),
        value(given ? result : leaf<T, D>(no_storage(), layout{})) {
    gradient_target* next = to;
    find_targets(n, ::std::make_integer_sequence<int, inputs_of<N>>{}, next);
  }
  bool is_leaf() const override { return false; }
  int count() const override { return targets; }
  const tape_ref* target(int k) const override { return &to[k].node; }
  void check() const override {
    const auto check_one = [](const auto& n) {
      const leaf_list<::std::remove_cvref_t<decltype(n)>> leaves(n);
      check_kept(leaves.of, ::std::remove_cvref_t<decltype(n)>::leaves);
    };
    each_kept(check_one, ::std::make_integer_sequence<int, __builtin_popcountll(read)>{});
    if (given) check_one(value);
  }
  void go_back() override {
    leaf<T, D> g = divisor == 1 ? this->gradient.node() : divided();
    if constexpr (Reduced) g.where = repeated_layout(g.where, full, over);
    constexpr auto all = ::std::make_integer_sequence<int, targets>{};
    if constexpr (fused) go_back_together(g, all);
    else go_back(g, all);
  }
  void free() override {
    this->freed = true;
    const auto drop = [](auto& n) {
      for_each_leaf(n, [](const auto& l) {
        if constexpr (requires { l.store; }) const_cast<storage_ref&>(l.store) = storage_ref();
        if constexpr (requires { l.tape; }) const_cast<tape_ref&>(l.tape) = tape_ref();
      });
    };
    each_kept(drop, ::std::make_integer_sequence<int, __builtin_popcountll(read)>{});
    value.store = storage_ref();
    for (gradient_target& t : to) t.node = tape_ref();
  }

 private:
  template <int... I>
  void find_targets(const N& n, ::std::integer_sequence<int, I...>, gradient_target*& next) {
    const auto find = [&]<int K>([[maybe_unused]] const auto& variable) {
      if constexpr (variables >> K & 1) *next++ = gradient_target(variable.tape, variable.dims());
    };
    (find.template operator()<I>(input<I>(n)), ...);
  }
  template <class F, int... K>
  void each_kept(const F& f, ::std::integer_sequence<int, K...>) {
    (f(get<K>(kept)), ...);
  }
  template <class F, int... K>
  void each_kept(const F& f, ::std::integer_sequence<int, K...>) const {
    (f(get<K>(kept)), ...);
  }
  template <int... J>
  void go_back(const leaf<T, D>& g, ::std::integer_sequence<int, J...>) {
    (gradient_to<J>(g), ...);
  }
  /// The gradient of a mean for each element; float16 does not hold every count.
  leaf<T, D> divided() const {
    return materialise(cast_node<T>(elementwise("backward", op::multiply_op{},
                                                cast_node<compute_t<T>>(this->gradient.node()), 1 / double(divisor))));
  }
  template <int J>
  using variable_type = node_value_t<input_t<bit_of(variables, J), N>>;
  template <int J>
  auto& node_of() const {
    return static_cast<gradient_node<variable_type<J>, D>&>(*to[J].node.get());
  }
  /// Whether all gradients are that of the value, or sums of it: those are the business of reductions.
  template <int... J>
  static constexpr bool passes_all(::std::integer_sequence<int, J...>) {
    return !Reduced && ((passes_on<bit_of(variables, J), N> && ::std::is_same_v<variable_type<J>, T>)&&...);
  }
  /// Hands on the gradient itself, where it is that of the J-th variable, too; true if there is nothing to compute.
  template <int J>
  bool is_handed_on() {
    const gradient_target& t = to[J];
    if (t.node.get() == nullptr || !t.node->wanted) return true;
    if constexpr (!Reduced && passes_on<bit_of(variables, J), N> && ::std::is_same_v<variable_type<J>, T>)
      if (t.dims == full) return add_gradient(node_of<J>(), this->gradient), true;
    if constexpr (passes_all(::std::make_integer_sequence<int, targets>{}) && may_repeat<N>)
      return add_gradient(node_of<J>(), sum_to(this->gradient.node(), t.dims)), true;
    return false;
  }
  /// Computes all gradients in one pass.
  template <int... J>
  void go_back_together(const leaf<T, D>& g, ::std::integer_sequence<int, J...>) {
    using memory_type = gradient_memory<D, variable_type<J>...>;
    memory_type memory{to, {!is_handed_on<J>()...}};
    if (is_dual<T> && ((memory.computed[J] && !is_dual<variable_type<J>>) || ...)) fail_without_tangent();
    if (!memory.any()) return;
    const auto n = backward_of_one<op_of_all>(g, ::std::make_integer_sequence<int, __builtin_popcountll(read)>{});
    constexpr int first = 1 + ::std::remove_cvref_t<decltype(n)>::leaves;
    iteration_space<first + targets - 1> s;
    s.ndim = s.kept = full.ndim();
    copy_extents(s.extent, full);
    const D device{g.store->ordinal};
    const auto targets_of_all = memory.template place_in<first>(s, same_axes, device);
    if (full.elements() > 0) {
      const auto tree = lower<1>(n, same_axes, s, fault_sink{});
      simplify(s, true);
      run_gradients(device, targets_of_all, tree, s);
    }
    memory.finish(full.elements() == 0);
  }
  /// Computes the gradient of the J-th variable.
  template <int J>
  void gradient_to(const leaf<T, D>& g) {
    if (is_handed_on<J>()) return;
    if constexpr (is_dual<T> && !is_dual<variable_type<J>>) fail_without_tangent();
    else compute_gradient<J>(g);
  }
  template <int J>
  void compute_gradient(const leaf<T, D>& g) {
    constexpr int I = bit_of(variables, J);
    using V = variable_type<J>;
    const gradient_target& t = to[J];
    auto& node = node_of<J>();
    constexpr bool reads_value = given && (reads_at<uint64(1) << I, 0, N> & reads::r) != 0;
    using op_type = backward_op<N, uint64(1) << I, reads_value>;
    const auto n =
        backward_of_one<op_type>(g, ::std::make_integer_sequence<int, __builtin_popcountll(op_type::read)>{});
    if constexpr (may_repeat<N>) add_gradient(node, sum_to(n, t.dims));
    else add_gradient(node, ndarray<V, D>(materialise(n)));
  }
  template <class Op, int... K>
  auto backward_of_one(const leaf<T, D>& g, ::std::integer_sequence<int, K...>) const {
    constexpr auto place = [](int k) {  // among those that are kept
      return __builtin_popcountll(read & ((uint64(1) << bit_of(Op::read, k)) - 1));
    };
    const auto node = [&]<class... L>(const L&... operands) {
      return map<Op, L...>(
          Op{functions}, [&] { return full; }, [&] { return slots<L...>{{operands}...}; });
    };
    if constexpr (Op::given) return node(g, value, get<place(K)>(kept)...);
    else return node(g, get<place(K)>(kept)...);
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD

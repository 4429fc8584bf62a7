// Statements in which reductions meet their rows: the expression and the reductions in it are one node of the tape.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/assign_several.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// An expression with the values of its reductions, as `value(reduction)` gives them.
template <class N, class F>
requires(!has_reduce<N>) const N& with_reductions(const N& n, const F&) { return n; }
template <class Op, class K, class F>
auto with_reductions(const reduce<Op, K>& n, const F& value) {
  return value(n);
}
template <class Op, class... K, class F>
requires(has_reduce<map<Op, K...>>) auto with_reductions(const map<Op, K...>& n, const F& value) {
  return [&]<int... J>(::std::integer_sequence<int, J...>) {
    return [&](const auto&... k) {
      return map<Op, ::std::remove_cvref_t<decltype(k)>...>(
          n.op, [&] { return n.extents; }, [&] { return slots<::std::remove_cvref_t<decltype(k)>...>{{k}...}; });
    }(with_reductions(get<J>(n.kids), value)...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}
template <class Op, class K, class F>
auto with_known_kid(const reduce<Op, K>& n, const F& value) {
  const auto& kid = with_reductions(n.kid, value);
  return reduce<Op, ::std::remove_cvref_t<decltype(kid)>>(
      n.over, [&] { return n.extents; }, [&] { return kid; });
}

/// The value of a row program N, computed with those of its reductions. Its gradients are a row program, too; where the
/// device does not have that, each reduction has its own.
template <class N, class T, class D>
struct row_statement final : computed_node<T, D> {
  using list = reductions_of<N>;
  using gradients = row_gradients<N, list>;
  static constexpr int variables = gradients::gradients;
  N n;  ///< of what no gradient reads only the shape is kept
  typename gradients::results r;
  row_axes axes;
  tape_ref to[::std::size_t(variables)];

  row_statement(const N& expression, const typename gradients::results& reductions, const row_axes& rows,
                const leaf<T, D>& y)
      : computed_node<T, D>(y.dims(), {nullptr, 0, to, variables}), n(expression), r(reductions), axes(rows) {
    tape_ref* next = to;
    gradients::each_input(n, [&]<int P, int I>(const auto& x) {
      if constexpr (gradients::template is_variable<P, I>) *next++ = x.tape;
    });
    this->forget_unwanted();
    for_each_leaf(n, [](const auto& l) {
      if constexpr (requires { l.tape; })
        if (!is_wanted(l.tape)) own(l).tape = tape_ref();
    });
    forget_unread<0>(n);
    all_reductions(n, []<class R>(const R& x, bool) { return forget_unread<1 + list::template index<R>>(x.kid); });
  }
  void check() const override { check_kept(n); }
  void go_back() override {
    if (!go_back_in_rows(::std::make_integer_sequence<int, variables>{})) go_back_alone();
  }
  void free() override {
    computed_node<T, D>::free();
    free_kept(n);
    [this]<int... I>(::std::integer_sequence<int, I...>) { ((get<I>(r).store = storage_ref()), ...); }
    (::std::make_integer_sequence<int, list::count>{});
  }

 private:
  /// What this node holds.
  template <class X>
  static X& own(const X& x) {
    return const_cast<X&>(x);
  }
  /// Of the inputs of a part that are not read, arrays are dropped.
  template <int P>
  static bool forget_unread(const typename gradients::template part<P>& x) {
    using form = typename gradients::template form<P>;
    const auto look = [&]<int I>() {
      constexpr bool is_read = gradients::template is_read<P, I> || gradients::template reads_part<P> ||
                               is_row_constant<typename gradients::template input_in<P, I>>;
      if constexpr (!is_read)
        for_each_leaf(form_input<form, I>(x), [](const auto& l) {
          if constexpr (requires { l.store; }) own(l).store = no_storage(), own(l).stamp = 0;
        });
    };
    [&]<int... I>(::std::integer_sequence<int, I...>) { (look.template operator()<I>(), ...); }
    (::std::make_integer_sequence<int, inputs_of<form>>{});
    return true;
  }
  template <int... J>
  bool go_back_in_rows(::std::integer_sequence<int, J...>) {
    const gradient_memory<D, decltype(gradients::template variable_type<J>())...> memory{to, this->due()};
    if (memory.due == 0) return true;
    const leaf<T, D> g = this->gradient.node();
    const layout order = result_layout(n, leaf_list<N>(n));
    const auto place = [&]<int First>(auto& s, const int* inside) {
      return memory.template place_in<First>(s, inside, order, g.store->ordinal);
    };
    if (!run_row_gradients<N, list>(n, r, g, axes, place)) return false;
    memory.finish(false);
    return true;
  }
  /// Records the expression of known reductions and each of these, and goes back from there.
  void go_back_alone() {
    struct as_before {
      uint64 constants;
      bool recorded;
      ~as_before() { constants_to() = constants, recording() = recorded; }
    } guard{::std::exchange(constants_to(), 0), ::std::exchange(recording(), true)};
    const uint64 newest = tape_node::newest();
    const auto alone = with_reductions(n, recorded{*this});
    if (!wants_gradient(alone)) return;
    const leaf<T, D> no_value(no_storage(), this->dims);
    using node_type = statement<::std::remove_cvref_t<decltype(alone)>, false, T, D, false>;
    const tape_ref root(new node_type(alone, 0, 1, no_value));
    add_gradient(static_cast<gradient_node<T, D>&>(*root.get()), this->gradient);
    run_backward(root, false, newest);
  }
  struct recorded {
    const row_statement& of;
    template <class Op, class K>
    auto operator()(const reduce<Op, K>& x) const {
      const ndarray<node_value_t<reduce<Op, K>>, D> known(get<list::template index<reduce<Op, K>>>(of.r));
      return record_reduction(with_known_kid(x, *this), [&](const auto&) { return known.node(); }).node();
    }
  };
};

/// Writes the value of an expression and those of its reductions in one pass. False where it is no row program.
template <class T, class D, class N, class Results, class... R>
bool write_rows(const N& n, const leaf<T, D>& y, const Results& r, reduction_list<R...>) {
  using list = reduction_list<R...>;
  using gradients = row_gradients<N, list>;
  const map<together_op, N, R...> all(
      together_op{}, [&] { return n.dims(); },
      [&] {
        return slots<N, R...>{{n}, {gradients::template find<R>(n)}...};
      });
  const auto to = []<class X>(const leaf<X, D>& l) { return destination<X>{l.store, l.where}; };
  return run_rows_together<D>(all, y.store->ordinal, to(y), to(get<list::template index<R>>(r))...);
}

template <class N>
auto record_rows(const N& n) {
  using T = node_value_t<N>;
  using D = device_type_t<N>;
  using list = reductions_of<N>;
  using gradients = row_gradients<N, list>;
  row_axes axes;
  row_result how;
  if (find_row_axes(n, axes) && find_row_result(n, axes, how) && how == row_result::by_element &&
      gradients::share_rows(n)) {
    const leaf_list<N> leaves(n);
    const D device{check_leaves(leaves.of, N::leaves)};
    const leaf<T, D> y = new_leaf<T>(device, result_layout(n, leaves));
    const auto r = [&]<class... R>(reduction_list<R...>) {
      return slots<leaf<node_value_t<R>, D>...>{
          {new_leaf<node_value_t<R>>(device, gradients::template find<R>(n).dims())}...};
    }(list{});
    if (write_rows(n, y, r, list{})) {
      bool wanted = false;
      gradients::each_input(n, [&]<int P, int I>(const auto& x) {
        if constexpr (gradients::template is_variable<P, I>) wanted = wanted || is_wanted(x.tape);
      });
      const bool records = wanted && recording();
      return variable<T, D>(ndarray<T, D>(y),
                            records ? tape_ref(new row_statement<N, T, D>(n, r, axes, y)) : tape_ref());
    }
  }
  return variable<T, D>(track_node(without_reductions(n)));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD

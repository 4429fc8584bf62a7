// Recurrent cells, and their way through the steps, forward and back.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/linalg.hpp"
#include "norm.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// The k-th of so many equal parts of the last axis: a view.
template <class A>
A part_of_gates(const A& a, int64 k, int64 extent) {
  return a(ellipsis, slice(k * extent, (k + 1) * extent));
}

/// Cells, step by step. `x` and `r` are what a step's inputs and the state before make of the gates, biases included;
/// all have (b, g h) elements, states (b, s h). `forward` writes the new state. `backward` takes the gradient of it,
/// `ds`, and writes those of x and r, and into ds that of the state before, but for what goes through r.
struct rnn_cell {
  static constexpr int64 gates = 1, states = 1;
  bool is_relu = false;
  template <class A>
  void forward(const A& x, const A& r, const A&, const A& to) const {
    using T = value_type_t<A>;
    using C = compute_t<T>;
    if (is_relu) to(ellipsis) = narrowed<A>(relu(wide<C>(x) + wide<C>(r)));
    else to(ellipsis) = narrowed<A>(tanh(wide<C>(x) + wide<C>(r)));
  }
  template <class A>
  void backward(const A&, const A&, const A&, const A& state, const A& ds, const A& dx, const A& dr) const {
    using C = compute_t<value_type_t<A>>;
    const auto d = wide<C>(ds), s = wide<C>(state);
    if (is_relu) dx(ellipsis) = narrowed<A>(where(s > 0, d, 0));
    else dx(ellipsis) = narrowed<A>(d * (1 - s * s));
    dr(ellipsis) = dx;
    ds(ellipsis) = 0;
  }
};
struct lstm_cell {
  static constexpr int64 gates = 4, states = 2;
  template <class A>
  void forward(const A& x, const A& r, const A& before, const A& to) const {
    using C = compute_t<value_type_t<A>>;
    const int64 h = to.shape(-1) / 2;
    const auto gate = [&](int64 k) { return wide_sum<C>(part_of_gates(x, k, h), part_of_gates(r, k, h)); };
    const auto c = sigmoid(gate(1)) * wide<C>(part_of_gates(before, 1, h)) + sigmoid(gate(0)) * tanh(gate(2));
    assign_together(out(part_of_gates(to, 1, h)) = narrowed<A>(c),
                    out(part_of_gates(to, 0, h)) = narrowed<A>(sigmoid(gate(3)) * tanh(c)));
  }
  template <class A>
  void backward(const A& x, const A& r, const A& before, const A& state, const A& ds, const A& dx, const A& dr) const {
    using C = compute_t<value_type_t<A>>;
    const int64 h = state.shape(-1) / 2;
    const auto gate = [&](int64 k) { return wide_sum<C>(part_of_gates(x, k, h), part_of_gates(r, k, h)); };
    const auto i = sigmoid(gate(0)), f = sigmoid(gate(1)), o = sigmoid(gate(3));
    const auto g = tanh(gate(2));
    const auto t = tanh(wide<C>(part_of_gates(state, 1, h)));
    const A dh = part_of_gates(ds, 0, h), dc_after = part_of_gates(ds, 1, h);
    const auto dc = wide<C>(dc_after) + wide<C>(dh) * o * (1 - t * t);
    assign_together(out(part_of_gates(dx, 0, h)) = narrowed<A>(dc * g * i * (1 - i)),
                    out(part_of_gates(dx, 1, h)) = narrowed<A>(dc * wide<C>(part_of_gates(before, 1, h)) * f * (1 - f)),
                    out(part_of_gates(dx, 2, h)) = narrowed<A>(dc * i * (1 - g * g)),
                    out(part_of_gates(dx, 3, h)) = narrowed<A>(wide<C>(dh) * t * o * (1 - o)),
                    out(dc_after) = narrowed<A>(dc * f));
    dr(ellipsis) = dx;
    dh(ellipsis) = 0;
  }

 private:
  template <class C, class A>
  static auto wide_sum(const A& a, const A& b) {
    return wide<C>(a) + wide<C>(b);
  }
};
struct gru_cell {
  static constexpr int64 gates = 3, states = 1;
  template <class A>
  void forward(const A& x, const A& r, const A& before, const A& to) const {
    using C = compute_t<value_type_t<A>>;
    const int64 h = to.shape(-1);
    const auto of = [&](const A& a, int64 k) { return wide<C>(part_of_gates(a, k, h)); };
    const auto reset = sigmoid(of(x, 0) + of(r, 0)), update = sigmoid(of(x, 1) + of(r, 1));
    const auto fresh = tanh(of(x, 2) + reset * of(r, 2));
    to(ellipsis) = narrowed<A>(fresh + update * (wide<C>(before) - fresh));
  }
  template <class A>
  void backward(const A& x, const A& r, const A& before, const A&, const A& ds, const A& dx, const A& dr) const {
    using C = compute_t<value_type_t<A>>;
    const int64 h = before.shape(-1);
    const auto of = [&](const A& a, int64 k) { return wide<C>(part_of_gates(a, k, h)); };
    const auto reset = sigmoid(of(x, 0) + of(r, 0)), update = sigmoid(of(x, 1) + of(r, 1));
    const auto fresh = tanh(of(x, 2) + reset * of(r, 2));
    const auto d = wide<C>(ds);
    const auto d_fresh = d * (1 - update) * (1 - fresh * fresh);
    const auto d_reset = narrowed<A>(d_fresh * of(r, 2) * reset * (1 - reset));
    const auto d_update = narrowed<A>(d * (wide<C>(before) - fresh) * update * (1 - update));
    assign_together(out(part_of_gates(dx, 0, h)) = d_reset, out(part_of_gates(dr, 0, h)) = d_reset,
                    out(part_of_gates(dx, 1, h)) = d_update, out(part_of_gates(dr, 1, h)) = d_update,
                    out(part_of_gates(dx, 2, h)) = narrowed<A>(d_fresh),
                    out(part_of_gates(dr, 2, h)) = narrowed<A>(d_fresh * reset), out(ds) = narrowed<A>(d * update));
  }
};

/// A cell's way through the steps: which come first, and how many each sequence has.
template <class Cell, class D>
struct recurrence {
  Cell cell;
  bool reverse = false;
  ndarray<int64, D> lengths;  ///< (b, 1); empty where all have all steps

  bool ragged() const { return lengths.ndim() == 2; }
  int64 step(int64 n, int64 steps) const { return reverse ? steps - 1 - n : n; }
};
/// What the steps of a recurrence computed.
template <class T, class D>
struct recurrent_steps {
  ndarray<T, D> states;  ///< (t, b, s h), behind each step
  ndarray<T, D> r;       ///< (t, b, g h)
};
/// Inputs (t, b, g h), weights (h, g h), their bias (g h,), the first state (b, s h).
template <class Cell, class T, class D>
recurrent_steps<T, D> run_recurrence(const recurrence<Cell, D>& way, const ndarray<T, D>& x, const ndarray<T, D>& w,
                                     const ndarray<T, D>& bias, const ndarray<T, D>& first) {
  using A = ndarray<T, D>;
  const int64 steps = x.shape(0), h = w.shape(0);
  const A states = empty<T, D>({steps, x.shape(1), first.shape(1)}, x.device()), r = empty<T, D>(x.shape(), x.device());
  A before = first;
  for (int64 n = 0; n < steps; ++n) {
    const int64 t = way.step(n, steps);
    const A to = states(t), of_r = r(t);
    of_r(ellipsis) = matmul(part_of_gates(before, 0, h), w) + bias;
    way.cell.forward(A(x(t)), of_r, before, to);
    if (way.ragged()) to(ellipsis) = where(t < way.lengths, to, before);
    before = to;
  }
  return {states, r};
}

/// The gradients of a recurrence's operands.
template <class T, class D>
struct recurrent_gradients {
  ndarray<T, D> x, w, bias, first;
};
template <class Cell, class T, class D>
recurrent_gradients<T, D> go_back_through(const recurrence<Cell, D>& way, const ndarray<T, D>& g,
                                          const ndarray<T, D>& x, const ndarray<T, D>& w, const ndarray<T, D>& first,
                                          const recurrent_steps<T, D>& of) {
  using A = ndarray<T, D>;
  const int64 steps = x.shape(0), h = w.shape(0);
  const A dx = empty<T, D>(x.shape(), x.device()), dr = empty<T, D>(x.shape(), x.device());
  const A before = empty<T, D>({steps, x.shape(1), h}, x.device());  // the hidden states before each step
  A ds = zeros<T, D>(first.shape(), x.device());
  for (int64 n = steps - 1; n >= 0; --n) {
    const int64 t = way.step(n, steps);
    const A state = n == 0 ? first : A(of.states(way.step(n - 1, steps)));
    before(t)(ellipsis) = part_of_gates(state, 0, h);
    ds += g(t);
    const A whole = way.ragged() ? ds.copy() : ds;
    way.cell.backward(A(x(t)), A(of.r(t)), state, A(of.states(t)), ds, A(dx(t)), A(dr(t)));
    if (way.ragged()) {
      dx(t)(ellipsis) = where(t < way.lengths, dx(t), 0);
      dr(t)(ellipsis) = where(t < way.lengths, dr(t), 0);
      ds(ellipsis) = where(t < way.lengths, ds, whole);
    }
    A dh = part_of_gates(ds, 0, h);
    dh += matmul(A(dr(t)), w.t());
  }
  const auto flat = [](const A& a) { return reshape(a, {a.shape(0) * a.shape(1), a.shape(2)}); };
  return {dx, matmul(flat(before).t(), flat(dr)), sum(flat(dr), 0), ds};
}
/// A hidden state and a cell, (b, h) each, side by side; or what is both already.
template <class T, class D>
ndarray<T, D> joined_state(const ndarray<T, D>& state) {
  return state;
}
template <class T, class D>
ndarray<T, D> joined_state(const ndarray<T, D>& hidden, const ndarray<T, D>& cell) {
  const int64 h = hidden.shape(1);
  const ndarray<T, D> r = empty<T, D>({hidden.shape(0), 2 * h}, hidden.device());
  part_of_gates(r, 0, h)(ellipsis) = hidden;
  part_of_gates(r, 1, h)(ellipsis) = cell;
  return r;
}
/// The states of a recurrence of arrays. That of variables is in autograd/recurrent.hpp, found by its namespace.
template <class Cell, class D, class X, class W, class B, class... S>
requires(!has_gradient<X> && !has_gradient<W> && !has_gradient<B> &&
         (!has_gradient<S> && ...)) auto apply_recurrence(const recurrence<Cell, D>& way, const X& x, const W& w,
                                                          const B& bias, const S&... first) {
  using T = dual_beside<value_type_t<X>, value_type_t<W>, value_type_t<B>, value_type_t<S>...>;
  const auto as = [](const auto& a) { return ndarray<T, D>(of_dtype<T>(a)); };
  return run_recurrence(way, as(x), as(w), as(bias), joined_state<T, D>(as(first)...)).states;
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD

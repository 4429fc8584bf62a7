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

/// A step as its cell sees it, of b sequences: what the inputs, with their bias, and the state before make of the
/// gates, x and r, (b, g h) each; the bias of the latter, (g h,), which x has already where a cell adds x and r; the
/// state before, (b, s h); what the backward pass wants of the step, (b, k h).
template <class A>
struct cell_step {
  A x, r, bias, before, kept;
  int64 h;

  // the k-th parts, in the type that gates are computed in
  auto from_inputs(int64 k) const { return part(x, k); }
  auto from_state(int64 k) const { return part(r, k) + part(bias, k); }
  auto sum(int64 k) const { return part(x, k) + part(r, k); }
  auto state(int64 k) const { return part(before, k); }
  auto of_kept(int64 k) const { return part(kept, k); }
  auto keep(int64 k) const { return out(part_of_gates(kept, k, h)); }

 private:
  auto part(const A& a, int64 k) const { return wide<compute_t<value_type_t<A>>>(part_of_gates(a, k, h)); }
};
/// The gradient of a state, of which one part came back from the next step and another from the outputs: (b, s h).
template <class A>
struct state_gradient {
  A after, output;
  int64 h;
  auto operator()(int64 k) const {
    using C = compute_t<value_type_t<A>>;
    return wide<C>(part_of_gates(after, k, h)) + wide<C>(part_of_gates(output, k, h));
  }
};

/// Cells: `forward` writes the new state, and what it keeps of its gates. `backward` writes the gradients of x and r,
/// and into `ds` that of the state before, but for what goes through r; where a cell's `carries` is false, nothing else
/// of the hidden state does, and it is not written. Where a cell `adds` x and r, their gradients are one, and `dr` is
/// not written. Each is one kernel, but for the backward pass of a GRU.
struct rnn_cell {
  static constexpr int64 gates = 1, states = 1, kept = 0;
  static constexpr bool carries = false, adds = true;
  bool is_relu = false;
  template <class A>
  void forward(const cell_step<A>& s, const A& to) const {
    if (is_relu) to(ellipsis) = narrowed<A>(relu(s.sum(0)));
    else to(ellipsis) = narrowed<A>(tanh(s.sum(0)));
  }
  template <class A>
  void backward(const cell_step<A>&, const A& state, const state_gradient<A>& d, const A&, const A& dx,
                const A&) const {
    const auto s = wide<compute_t<value_type_t<A>>>(state);
    if (is_relu) dx(ellipsis) = narrowed<A>(where(s > 0, d(0), 0));
    else dx(ellipsis) = narrowed<A>(d(0) * (1 - s * s));
  }
};
struct lstm_cell {
  static constexpr int64 gates = 4, states = 2, kept = 5;
  static constexpr bool carries = false, adds = true;
  template <class A>
  void forward(const cell_step<A>& s, const A& to) const {
    const auto i = sigmoid(s.sum(0)), f = sigmoid(s.sum(1)), o = sigmoid(s.sum(3));
    const auto g = tanh(s.sum(2));
    const auto c = f * s.state(1) + i * g;
    const auto t = tanh(c);
    assign_together(out(part_of_gates(to, 1, s.h)) = narrowed<A>(c),
                    out(part_of_gates(to, 0, s.h)) = narrowed<A>(o * t), s.keep(0) = narrowed<A>(i),
                    s.keep(1) = narrowed<A>(f), s.keep(2) = narrowed<A>(g), s.keep(3) = narrowed<A>(o),
                    s.keep(4) = narrowed<A>(o * (1 - square(t))));
  }
  template <class A>
  void backward(const cell_step<A>& s, const A& state, const state_gradient<A>& d, const A& ds, const A& dx,
                const A&) const {
    const int64 h = s.h;
    const auto i = s.of_kept(0), f = s.of_kept(1), g = s.of_kept(2), o = s.of_kept(3);
    const auto t = tanh(wide<compute_t<value_type_t<A>>>(part_of_gates(state, 1, h)));
    const auto dc = d(1) + d(0) * s.of_kept(4);
    assign_together(out(part_of_gates(dx, 0, h)) = narrowed<A>(dc * g * i * (1 - i)),
                    out(part_of_gates(dx, 1, h)) = narrowed<A>(dc * s.state(1) * f * (1 - f)),
                    out(part_of_gates(dx, 2, h)) = narrowed<A>(dc * i * (1 - square(g))),
                    out(part_of_gates(dx, 3, h)) = narrowed<A>(d(0) * t * o * (1 - o)),
                    out(part_of_gates(ds, 1, h)) = narrowed<A>(dc * f));
  }
};
struct gru_cell {
  static constexpr int64 gates = 3, states = 1, kept = 4;
  static constexpr bool carries = true, adds = false;
  template <class A>
  void forward(const cell_step<A>& s, const A& to) const {
    const auto reset = sigmoid(s.from_inputs(0) + s.from_state(0)),
               update = sigmoid(s.from_inputs(1) + s.from_state(1));
    const auto fresh = tanh(s.from_inputs(2) + reset * s.from_state(2));
    assign_together(out(to) = narrowed<A>(fresh + update * (s.state(0) - fresh)), s.keep(0) = narrowed<A>(reset),
                    s.keep(1) = narrowed<A>(update), s.keep(2) = narrowed<A>(fresh),
                    s.keep(3) = narrowed<A>(s.from_state(2)));
  }
  template <class A>
  void backward(const cell_step<A>& s, const A&, const state_gradient<A>& d, const A& ds, const A& dx,
                const A& dr) const {
    const int64 h = s.h;
    const auto reset = s.of_kept(0), update = s.of_kept(1), fresh = s.of_kept(2), from_state = s.of_kept(3);
    const auto d_fresh = d(0) * (1 - update) * (1 - square(fresh));
    const slice both(0, 2 * h);
    assign_together(out(part_of_gates(dx, 0, h)) = narrowed<A>(d_fresh * from_state * reset * (1 - reset)),
                    out(part_of_gates(dx, 1, h)) = narrowed<A>(d(0) * (s.state(0) - fresh) * update * (1 - update)),
                    out(part_of_gates(dx, 2, h)) = narrowed<A>(d_fresh), out(ds) = narrowed<A>(d(0) * update),
                    out(part_of_gates(dr, 2, h)) = narrowed<A>(d_fresh * reset));
    dr(ellipsis, both) = dx(ellipsis, both);
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
  ndarray<T, D> kept;    ///< (t, b, k h), for the backward pass
};
template <class A>
void product_into(const A& to, const A& a, const A& b) {
  if constexpr (cudarray::detail::is_dual<value_type_t<A>>) to(ellipsis) = matmul(a, b);
  else matmul(a, b, out(to));
}
/// Inputs (t, b, g h), weights (h, g h), their bias (g h,), the first state (b, s h).
template <class Cell, class T, class D>
recurrent_steps<T, D> run_recurrence(const recurrence<Cell, D>& way, const ndarray<T, D>& x, const ndarray<T, D>& w,
                                     const ndarray<T, D>& bias, const ndarray<T, D>& first) {
  using A = ndarray<T, D>;
  const int64 steps = x.shape(0), b = x.shape(1), h = w.shape(0);
  const A states = empty<T, D>({steps, b, first.shape(1)}, x.device()),
          kept = empty<T, D>({steps, b, Cell::kept * h}, x.device()), r = empty<T, D>({b, w.shape(1)}, x.device());
  const A inputs = Cell::adds ? A(x + bias) : x;
  A before = first;
  for (int64 n = 0; n < steps; ++n) {
    const int64 t = way.step(n, steps);
    const A to = states(t);
    product_into(r, part_of_gates(before, 0, h), w);
    way.cell.forward(cell_step<A>{inputs(t), r, bias, before, kept(t), h}, to);
    if (way.ragged()) to(ellipsis) = where(t < way.lengths, to, before);
    before = to;
  }
  return {states, kept};
}

/// The hidden states before each step, (t, b, h).
template <class Cell, class T, class D>
ndarray<T, D> hidden_before(const recurrence<Cell, D>& way, const ndarray<T, D>& first, const ndarray<T, D>& states,
                            int64 h) {
  const int64 steps = states.shape(0);
  const ndarray<T, D> r = empty<T, D>({steps, states.shape(1), h}, states.device());
  r(way.step(0, steps))(ellipsis) = part_of_gates(first, 0, h);
  const slice early(0, steps - 1), late(1, steps);
  if (steps > 1) r(way.reverse ? early : late) = part_of_gates(states(way.reverse ? late : early), 0, h);
  return r;
}
/// The gradients of a recurrence's operands.
template <class T, class D>
struct recurrent_gradients {
  ndarray<T, D> x, w, bias, first;
};
template <class Cell, class T, class D>
recurrent_gradients<T, D> go_back_through(const recurrence<Cell, D>& way, const ndarray<T, D>& g,
                                          const ndarray<T, D>& w, const ndarray<T, D>& first,
                                          const recurrent_steps<T, D>& of) {
  using A = ndarray<T, D>;
  const int64 steps = g.shape(0), b = g.shape(1), h = w.shape(0);
  const shape gates{steps, b, w.shape(1)};
  const A dx = empty<T, D>(gates, g.device()), dr = Cell::adds ? dx : A(empty<T, D>(gates, g.device())), back = w.t();
  A after = zeros<T, D>(first.shape(), g.device()), ds = empty<T, D>(first.shape(), g.device());
  for (int64 n = steps - 1; n >= 0; --n) {
    const int64 t = way.step(n, steps);
    const A before = n == 0 ? first : A(of.states(way.step(n - 1, steps))), of_x = dx(t), of_r = dr(t),
            dh = part_of_gates(ds, 0, h);
    way.cell.backward(cell_step<A>{{}, {}, {}, before, of.kept(t), h}, A(of.states(t)),
                      state_gradient<A>{after, g(t), h}, ds, of_x, of_r);
    if (way.ragged()) {
      of_x(ellipsis) = where(t < way.lengths, of_x, 0);
      if (!Cell::adds) of_r(ellipsis) = where(t < way.lengths, of_r, 0);
    }
    if (Cell::carries) dh(ellipsis) += matmul(of_r, back);
    else product_into(dh, of_r, back);
    if (way.ragged()) ds(ellipsis) = where(t < way.lengths, ds, after + g(t));
    ::std::swap(after, ds);
  }
  const auto flat = [](const A& a) { return reshape(a, {a.shape(0) * a.shape(1), a.shape(2)}); };
  return {dx, matmul(flat(hidden_before(way, first, of.states, h)).t(), flat(dr)), sum(flat(dr), 0), after};
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

// Recurrent layers: one product for all steps' inputs, then a product and one kernel a step.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "dropout.hpp"
#include "recurrent_cells.hpp"

namespace cudarray::inline v0::nnet {

/// Of one direction of one layer with i inputs and h outputs; V is an array or a variable. The gates lie side by side,
/// in PyTorch's order: input, forget, cell, output of an LSTM (g = 4), reset, update, new of a GRU (3), one of an RNN.
template <class V>
struct recurrent_weights {
  V input;        ///< (i, g h)
  V hidden;       ///< (h, g h)
  V bias_input;   ///< (g h,)
  V bias_hidden;  ///< (g h,)
};
struct recurrent_options {
  bool bidirectional =
      false;           ///< whether each layer has weights of a second direction, from the last step to the first
  double dropout = 0;  ///< of the outputs of all layers but the last
};
struct rnn_options {
  bool bidirectional = false;
  double dropout = 0;
  bool relu = false;  ///< instead of tanh
};
/// What a recurrent layer returns.
template <class V>
struct recurrent_result {
  V output;  ///< (t, b, h), of two directions (t, b, 2 h)
  V hidden;  ///< behind the last step of each direction of each layer: (layers directions, b, h)
};
template <class V>
struct lstm_result {
  V output, hidden;
  V cell;  ///< as hidden
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// Throws shape_error unless the weights are (i, g h), (h, g h), (g h,), (g h,).
template <class W>
void check_weights(const char* function, const W& w, int64 inputs, int64 gates) {
  const shape &input = w.input.shape(), &hidden = w.hidden.shape();
  const int64 h = hidden.ndim() == 2 ? hidden[0] : 0;
  if (hidden.ndim() != 2 || h == 0 || hidden[1] != gates * h || input != shape{inputs, gates * h} ||
      w.bias_input.shape() != shape{gates * h} || w.bias_hidden.shape() != shape{gates * h})
    cudarray::detail::fail<shape_error>(function, ": weights of shapes ", input, " and ", hidden, ", biases of shapes ",
                                        w.bias_input.shape(), " and ", w.bias_hidden.shape(), " for ", inputs,
                                        " inputs: (i, ", gates, " h), (h, ", gates, " h), (", gates, " h,), (", gates,
                                        " h,) are wanted");
}
/// Throws shape_error, value_error.
template <class Weights>
void check_recurrent(const char* function, const shape& x, const Weights& weights, const recurrent_options& o,
                     int64 gates) {
  const ::std::size_t directions = o.bidirectional ? 2 : 1;
  if (x.ndim() != 3 || x[0] == 0)
    cudarray::detail::fail<shape_error>(function, ": inputs of shape ", x, ", not (t, b, i) with a step or more");
  if (weights.empty() || weights.size() % directions != 0)
    cudarray::detail::fail<value_error>(function, ": weights of ", int64(weights.size()), " layers and directions");
  if (!(o.dropout >= 0 && o.dropout < 1))
    cudarray::detail::fail<value_error>(function, ": the probability ", o.dropout, " is not in [0, 1)");
  int64 inputs = x[2];
  for (::std::size_t k = 0; k < weights.size(); ++k) {
    if (k > 0 && k % directions == 0) inputs = weights[k - 1].hidden.shape(0) * int64(directions);
    check_weights(function, weights[k], inputs, gates);
    if (weights[k].hidden.shape(0) != weights[0].hidden.shape(0))
      cudarray::detail::fail<shape_error>(function, ": layers of ", weights[0].hidden.shape(0), " and ",
                                          weights[k].hidden.shape(0), " outputs");
  }
}

/// Where no first state or no lengths are given.
struct none_given {};
/// What all layers made: the outputs of the last, and each direction's state behind its last step, (n, b, s h).
template <class V>
struct layers_result {
  V output, states;
};
/// One direction of a layer: its states (t, b, s h).
template <class Cell, class D, class X, class V, class... S>
auto run_direction(const recurrence<Cell, D>& way, const X& x, const recurrent_weights<V>& w, const S&... first) {
  const shape& dims = cudarray::detail::dims_of(x);
  const auto rows = matmul(reshape(x, {dims[0] * dims[1], dims[2]}), w.input) + w.bias_input;
  return apply_recurrence(way, reshape(eval(rows), {dims[0], dims[1], w.hidden.shape(1)}), w.hidden, w.bias_hidden,
                          first...);
}
/// First states: hidden ones and, of an LSTM, cells, (n, b, h) each.
template <class H, class C>
struct first_states {
  H hidden;
  C cell;
};
template <class S>
inline constexpr bool has_cell = false;
template <class H, class C>
inline constexpr bool has_cell<first_states<H, C>> = true;
/// Throws shape_error unless first states are (n, b, h), and lengths (b,).
template <class S>
void check_state(const char* function, const char* name, const shape& states, const S& given) {
  if (given.shape() != states)
    cudarray::detail::fail<shape_error>(function, ": ", name, " of shape ", given.shape(), ": ", states, " is wanted");
}
template <class S, class L>
void check_states(const char* function, const shape& states, const S& given, const L& lengths) {
  if constexpr (has_cell<S>) {
    check_state(function, "a first state", states, given.hidden);
    check_state(function, "a first cell", states, given.cell);
  } else if constexpr (!::std::is_same_v<S, none_given>) {
    check_state(function, "a first state", states, given);
  }
  if constexpr (!::std::is_same_v<L, none_given>) {
    constexpr bool integers = cudarray::detail::is_integer<value_type_t<L>>;
    static_assert(integers, "cudarray: lengths of sequences are integers: use ca::astype<int>(lengths)");
    if (cudarray::detail::dims_of(lengths) != shape{states[1]})
      cudarray::detail::fail<shape_error>(function, ": lengths of shape ", cudarray::detail::dims_of(lengths), ": ",
                                          shape{states[1]}, " is wanted");
  }
}

template <class Cell, class X, class V, class S, class L>
auto run_layers(const Cell& cell, const X& x, const ::std::vector<recurrent_weights<V>>& weights,
                const recurrent_options& o, const S& first, const L& lengths) {
  using D = device_type_t<X>;
  using T = cudarray::detail::primal_t<value_type_t<X>>;
  const int64 steps = x.shape(0), h = weights[0].hidden.shape(0);
  recurrence<Cell, D> way{cell, false, {}};
  if constexpr (!::std::is_same_v<L, none_given>)
    way.lengths = expand_dims(ndarray<int64, D>(astype<int64>(lengths)), -1);
  const auto step = cudarray::detail::integer_range<int64>(0, steps, 1, x.device());
  const auto outputs_of = [&](const auto& states) {
    const auto hidden = part_of_gates(states, 0, h);
    return way.ragged() ? eval(where(reshape(step, {steps, 1, 1}) < way.lengths, hidden, 0)) : hidden;
  };
  const auto go = [&](const auto& in, int64 n) {
    const auto& w = weights[::std::size_t(n)];
    if constexpr (::std::is_same_v<S, none_given>)
      return run_direction(way, in, w, zeros<T, D>({x.shape(1), Cell::states * h}, x.device()));
    else if constexpr (has_cell<S>) return run_direction(way, in, w, first.hidden(n), first.cell(n));
    else return run_direction(way, in, w, first(n));
  };
  using R = ::std::remove_cvref_t<decltype(go(x, 0))>;
  ::std::vector<R> ends;
  const auto layer = [&](const auto& in, int64 n) -> R {
    way.reverse = false;
    const R there = go(in, n);
    ends.push_back(R(there(steps - 1)));
    if (!o.bidirectional) return R(outputs_of(there));
    way.reverse = true;
    const R back = go(in, n + 1);
    ends.push_back(R(back(0)));
    return R(concatenate(::std::vector<R>{R(outputs_of(there)), R(outputs_of(back))}, -1));
  };
  R output = layer(x, 0);
  const int64 directions = o.bidirectional ? 2 : 1;
  for (int64 n = directions; n < int64(weights.size()); n += directions) {
    if (o.dropout > 0) output = R(nnet::dropout(output, o.dropout));
    output = layer(output, n);
  }
  return layers_result<R>{output, R(stack(ends))};
}
template <class X>
constexpr bool takes_recurrent() {
  constexpr bool floating = cudarray::detail::is_differentiable<value_type_t<X>>;
  static_assert(floating, "cudarray: recurrent layers take inputs of a floating dtype: use ca::astype<float>(x)");
  return floating;
}
template <class Cell, class X, class V, class S, class L>
auto recurrent(const char* function, const Cell& cell, const X& x, const ::std::vector<recurrent_weights<V>>& weights,
               const recurrent_options& o, const S& first, const L& lengths) {
  const auto in = eval(x);
  check_recurrent(function, in.shape(), weights, o, Cell::gates);
  check_states(function, {int64(weights.size()), in.shape(1), weights[0].hidden.shape(0)}, first, lengths);
  return run_layers(cell, in, weights, o, first, lengths);
}
template <class V>
recurrent_result<V> hidden_result(const layers_result<V>& r) {
  return {r.output, r.states};
}
template <class X, class W, class S, class L>
auto rnn(const X& x, const W& weights, const S& first, const L& lengths, const rnn_options& o) {
  if constexpr (takes_recurrent<X>())
    return hidden_result(
        recurrent("nnet::rnn", rnn_cell{o.relu}, x, weights, {o.bidirectional, o.dropout}, first, lengths));
  else return recurrent_result<cudarray::detail::poison>{};
}
template <class X, class W, class S, class L>
auto gru(const X& x, const W& weights, const S& first, const L& lengths, const recurrent_options& o) {
  if constexpr (takes_recurrent<X>())
    return hidden_result(recurrent("nnet::gru", gru_cell{}, x, weights, o, first, lengths));
  else return recurrent_result<cudarray::detail::poison>{};
}
template <class V>
lstm_result<V> cell_result(const layers_result<V>& r) {
  const int64 h = r.states.shape(-1) / 2;
  return {r.output, V(part_of_gates(r.states, 0, h)), V(part_of_gates(r.states, 1, h))};
}
template <class H, class C>
auto states_of(const H& hidden, const C& cell) {
  const auto h = eval(hidden);
  const auto c = eval(cell);
  return first_states<::std::remove_const_t<decltype(h)>, ::std::remove_const_t<decltype(c)>>{h, c};
}
template <class X, class W, class S, class L>
auto lstm(const X& x, const W& weights, const S& first, const L& lengths, const recurrent_options& o) {
  if constexpr (takes_recurrent<X>())
    return cell_result(recurrent("nnet::lstm", lstm_cell{}, x, weights, o, first, lengths));
  else return lstm_result<cudarray::detail::poison>{};
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

// Layers one above the other, of a sequence (t, b, i), with weights for each direction of each layer, the second
// direction behind the first. Without a first state, (n, b, h) for n directions of layers, it is 0. With lengths, (b,),
// sequences have so many steps, at most t: behind them their state stays, and the output is 0. Eager; t products and
// kernels one after the other. Throw shape_error, value_error.

/// h = tanh(x w + b + h' u + c), or relu (Elman 1990).
///     auto [output, hidden] = ca::nnet::rnn(x, weights);
template <array_expression X, class V>
auto rnn(const X& x, const ::std::vector<recurrent_weights<V>>& weights, const rnn_options& o = {}) {
  return detail::rnn(x, weights, detail::none_given{}, detail::none_given{}, o);
}
template <array_expression X, class V, array_expression S>
auto rnn(const X& x, const ::std::vector<recurrent_weights<V>>& weights, const S& first, const rnn_options& o = {}) {
  return detail::rnn(x, weights, eval(first), detail::none_given{}, o);
}
template <array_expression X, class V, array_expression S, array_expression L>
auto rnn(const X& x, const ::std::vector<recurrent_weights<V>>& weights, const S& first, const L& lengths,
         const rnn_options& o = {}) {
  return detail::rnn(x, weights, eval(first), lengths, o);
}
/// Gates reset, update: r, z = sigmoid(x w + b + h' u + c); n = tanh(x w + b + r (h' u + c)); h = (1 - z) n + z h' (Cho
/// et al. 2014, with the reset behind the product).
///     auto [output, hidden] = ca::nnet::gru(x, weights, {.bidirectional = true});
template <array_expression X, class V>
auto gru(const X& x, const ::std::vector<recurrent_weights<V>>& weights, const recurrent_options& o = {}) {
  return detail::gru(x, weights, detail::none_given{}, detail::none_given{}, o);
}
template <array_expression X, class V, array_expression S>
auto gru(const X& x, const ::std::vector<recurrent_weights<V>>& weights, const S& first,
         const recurrent_options& o = {}) {
  return detail::gru(x, weights, eval(first), detail::none_given{}, o);
}
template <array_expression X, class V, array_expression S, array_expression L>
auto gru(const X& x, const ::std::vector<recurrent_weights<V>>& weights, const S& first, const L& lengths,
         const recurrent_options& o = {}) {
  return detail::gru(x, weights, eval(first), lengths, o);
}
/// Gates input, forget, output: i, f, o = sigmoid(x w + b + h' u + c); g = tanh(..); cell = f cell' + i g; h = o
/// tanh(cell) (Hochreiter, Schmidhuber 1997; Gers et al. 2000).
///     auto [output, hidden, cell] = ca::nnet::lstm(x, weights);
template <array_expression X, class V>
auto lstm(const X& x, const ::std::vector<recurrent_weights<V>>& weights, const recurrent_options& o = {}) {
  return detail::lstm(x, weights, detail::none_given{}, detail::none_given{}, o);
}
template <array_expression X, class V, array_expression S, array_expression C>
auto lstm(const X& x, const ::std::vector<recurrent_weights<V>>& weights, const S& first, const C& first_cell,
          const recurrent_options& o = {}) {
  return detail::lstm(x, weights, detail::states_of(first, first_cell), detail::none_given{}, o);
}
template <array_expression X, class V, array_expression S, array_expression C, array_expression L>
auto lstm(const X& x, const ::std::vector<recurrent_weights<V>>& weights, const S& first, const C& first_cell,
          const L& lengths, const recurrent_options& o = {}) {
  return detail::lstm(x, weights, detail::states_of(first, first_cell), lengths, o);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD

// Recurrent layers against PyTorch.
// SPDX-License-Identifier: MIT
#include "nnet/torch.hpp"

namespace {

namespace nnet = ca::nnet;
using torch::of;

template <class X>
std::vector<nnet::recurrent_weights<X>> weights_of(const std::vector<X>& a) {
  std::vector<nnet::recurrent_weights<X>> w;
  for (std::size_t k = 0; k < a.size(); k += 4) w.push_back({a[k], a[k + 1], a[k + 2], a[k + 3]});
  return w;
}
template <class X>
X flat(const X& a, const X& b) {
  return X(ca::concatenate({X(ca::ravel(a)), X(ca::ravel(b))}));
}
constexpr auto lstm = [](const nnet::recurrent_options& o, bool ragged) {
  return [o, ragged]<class X, class... W>(const X& x, const X& h, const X& c, const W&... w) {
    const auto weights = weights_of<X>({w...});
    const auto r = ragged ? nnet::lstm(x, weights, h, c, ca::array<int>({2, 4}), o) : nnet::lstm(x, weights, h, c, o);
    return flat(flat(r.output, r.hidden), r.cell);
  };
};
constexpr auto gru = [](const nnet::recurrent_options& o, bool ragged) {
  return [o, ragged]<class X, class... W>(const X& x, const X& h, const W&... w) {
    const auto weights = weights_of<X>({w...});
    const auto r = ragged ? nnet::gru(x, weights, h, ca::array<int>({2, 4}), o) : nnet::gru(x, weights, h, o);
    return flat(r.output, r.hidden);
  };
};
constexpr auto rnn = [](const nnet::rnn_options& o, bool ragged) {
  return [o, ragged]<class X, class... W>(const X& x, const X& h, const W&... w) {
    const auto weights = weights_of<X>({w...});
    const auto r = ragged ? nnet::rnn(x, weights, h, ca::array<int>({2, 4}), o) : nnet::rnn(x, weights, h, o);
    return flat(r.output, r.hidden);
  };
};
/// Cases of a kind with so many states: one layer, both directions, two layers, sequences of several lengths.
template <int States, class Check, class F, class O>
void check_kind(Check& check, const std::string& name, const F& f, O o) {
  check(of<1 + States + 4>, name, f(o, false));
  check(of<1 + States + 8>, name + " layers", f(o, false));
  o.bidirectional = true;
  check(of<1 + States + 8>, name + " both", f(o, false));
  check(of<1 + States + 8>, name + " lengths", f(o, true));
}

}  // namespace

TEST_CASE("nnet: recurrent layers are PyTorch's") {
  torch::checker<double> check("recurrent.txt");
  check_kind<2>(check, "lstm", lstm, nnet::recurrent_options{});
  check_kind<1>(check, "gru", gru, nnet::recurrent_options{});
  check_kind<1>(check, "rnn_tanh", rnn, nnet::rnn_options{});
  check_kind<1>(check, "rnn_relu", rnn, nnet::rnn_options{.relu = true});
  check.finish();
}

// Functions of class numbers against PyTorch: negative log-likelihoods, CTC, embeddings; and bilinear products.
// SPDX-License-Identifier: MIT
#include "nnet/torch.hpp"

namespace {

namespace nnet = ca::nnet;
using nnet::bag;
using nnet::reduction;
using torch::of;

template <class X>
ca::ndarray<int> integers(const X& x) {
  return ca::astype<int>(ca::stop_gradient(x));
}
template <reduction R, class Check>
void check_losses(Check& check, const std::string& end) {
  check(of<2>, "nll_loss" + end, [](const auto& x, const auto& y) { return nnet::nll_loss<R>(x, integers(y)); });
  check(of<2>, "nll_loss ignored" + end,
        [](const auto& x, const auto& y) { return nnet::nll_loss<R>(x, integers(y), {.ignore_index = 1}); });
  check(of<3>, "nll_loss weights" + end, [](const auto& x, const auto& y, const auto& w) {
    return nnet::nll_loss<R>(x, integers(y), ca::stop_gradient(w));
  });
  check(of<2>, "nll_loss axis 1" + end,
        [](const auto& x, const auto& y) { return nnet::nll_loss<R>(x, integers(y), {.axis = 1}); });
  const auto ctc = [](const auto& x, const auto& y, const auto& steps, const auto& counts, ca::int64 blank) {
    return nnet::ctc_loss<R>(nnet::log_softmax(x), integers(y), integers(steps), integers(counts),
                             {.blank = blank, .zero_infinity = true});
  };
  check(of<4>, "ctc_loss first" + end, [&](const auto& x, const auto&... more) { return ctc(x, more..., 0); });
  check(of<4>, "ctc_loss last" + end,
        [&](const auto& x, const auto&... more) { return ctc(x, more..., x.shape(2) - 1); });
}

}  // namespace

TEST_CASE("nnet: losses of class numbers are PyTorch's") {
  torch::checker<double> check("labels.txt");
  check_losses<reduction::mean>(check, " mean");
  check_losses<reduction::sum>(check, " sum");
  check_losses<reduction::none>(check, " none");
  const auto bags = [&]<bag M>(std::integral_constant<bag, M>, const std::string& name) {
    check(of<2>, "embedding_bag " + name,
          [](const auto& table, const auto& i) { return nnet::embedding_bag<M>(integers(i), table); });
    check(of<2>, "embedding_bag " + name + " padded", [](const auto& table, const auto& i) {
      return nnet::embedding_bag<M>(integers(i), table, {.padding_idx = 2});
    });
  };
  check(of<2>, "embedding", [](const auto& table, const auto& i) { return nnet::embedding(integers(i), table); });
  check(of<2>, "embedding padded",
        [](const auto& table, const auto& i) { return nnet::embedding(integers(i), table, {.padding_idx = 1}); });
  bags(std::integral_constant<bag, bag::mean>{}, "mean");
  bags(std::integral_constant<bag, bag::sum>{}, "sum");
  bags(std::integral_constant<bag, bag::max>{}, "max");
  check(of<3>, "embedding_bag weights",
        [](const auto& table, const auto& i, const auto& w) { return nnet::embedding_bag(integers(i), table, w); });
  check(of<3>, "bilinear", [](const auto& a, const auto& b, const auto& w) { return nnet::bilinear(a, b, w); });
  check.finish();
}

// Elementwise losses and those of rows against PyTorch: values and gradients of each reduction.
// SPDX-License-Identifier: MIT
#include "nnet/torch.hpp"

namespace {

namespace nnet = ca::nnet;
using nnet::reduction;
using torch::of;

template <reduction R, class Check>
void check_losses(Check& check, const std::string& of_reduction) {
  const auto two = [&](const char* name, const auto& f) { check(of<2>, name + of_reduction, f); };
  const auto three = [&](const char* name, const auto& f) { check(of<3>, name + of_reduction, f); };
  two("mse_loss", [](const auto& x, const auto& y) { return nnet::mse_loss<R>(x, y); });
  two("l1_loss", [](const auto& x, const auto& y) { return nnet::l1_loss<R>(x, y); });
  two("huber_loss", [](const auto& x, const auto& y) { return nnet::huber_loss<R>(x, y); });
  two("huber_loss 0.5625", [](const auto& x, const auto& y) { return nnet::huber_loss<R>(x, y, {.delta = 0.5625}); });
  two("smooth_l1_loss", [](const auto& x, const auto& y) { return nnet::smooth_l1_loss<R>(x, y); });
  two("smooth_l1_loss 2", [](const auto& x, const auto& y) { return nnet::smooth_l1_loss<R>(x, y, {.beta = 2}); });
  two("binary_cross_entropy", [](const auto& p, const auto& y) { return nnet::binary_cross_entropy<R>(p, y); });
  two("binary_cross_entropy_with_logits",
      [](const auto& x, const auto& y) { return nnet::binary_cross_entropy_with_logits<R>(x, y); });
  three("positive_weight",
        [](const auto& x, const auto& y, const auto& w) { return nnet::binary_cross_entropy_with_logits<R>(x, y, w); });
  two("kl_div", [](const auto& x, const auto& y) { return nnet::kl_div<R>(x, y); });
  two("poisson_nll_loss", [](const auto& x, const auto& y) { return nnet::poisson_nll_loss<R>(x, y); });
  three("gaussian_nll_loss",
        [](const auto& x, const auto& y, const auto& v) { return nnet::gaussian_nll_loss<R>(x, y, v); });
  two("soft_margin_loss", [](const auto& x, const auto& y) { return nnet::soft_margin_loss<R>(x, y); });
  two("hinge_embedding_loss", [](const auto& x, const auto& y) { return nnet::hinge_embedding_loss<R>(x, y); });
  three("margin_ranking_loss 0.0625", [](const auto& a, const auto& b, const auto& y) {
    return nnet::margin_ranking_loss<R>(a, b, y, {.margin = 0.0625});
  });
  three("cosine_embedding_loss",
        [](const auto& a, const auto& b, const auto& y) { return nnet::cosine_embedding_loss<R>(a, b, y); });
  three("cosine_embedding_loss 0.25", [](const auto& a, const auto& b, const auto& y) {
    return nnet::cosine_embedding_loss<R>(a, b, y, {.margin = 0.25});
  });
  three("triplet_margin_loss",
        [](const auto& a, const auto& p, const auto& n) { return nnet::triplet_margin_loss<R>(a, p, n); });
  three("triplet_margin_loss 4", [](const auto& a, const auto& p, const auto& n) {
    return nnet::triplet_margin_loss<R>(a, p, n, {.margin = 4});
  });
  two("cosine_similarity", [](const auto& a, const auto& b) { return nnet::cosine_similarity(a, b); });
}

}  // namespace

TEST_CASE("nnet: means of losses are PyTorch's") {
  torch::checker<float> check("elementwise_losses.txt", " mean");
  check_losses<reduction::mean>(check, " mean");
  check.finish();
}
TEST_CASE("nnet: sums of losses are PyTorch's") {
  torch::checker<double> check("elementwise_losses.txt", " sum");
  check_losses<reduction::sum>(check, " sum");
  check.finish();
}
TEST_CASE("nnet: losses themselves are PyTorch's") {
  torch::checker<double> check("elementwise_losses.txt", " none");
  check_losses<reduction::none>(check, " none");
  check.finish();
}
TEST_CASE("nnet: losses of half types are computed in float32") {
  torch::checker<ca::float16, ca::bfloat16> check("elementwise_losses.txt", " mean");
  check(of<2>, "mse_loss mean", [](const auto& x, const auto& y) { return nnet::mse_loss(x, y); });
  check(of<3>, "cosine_embedding_loss mean",
        [](const auto& a, const auto& b, const auto& y) { return nnet::cosine_embedding_loss(a, b, y); });
}
TEST_CASE("nnet: losses of what has another shape, and options that make no sense") {
  const auto x = ca::zeros({2, 3}), y = ca::zeros({3}), z = ca::zeros({2});
  CHECK(test::thrown<ca::shape_error>([&] { nnet::mse_loss(x, y); }) ==
        "nnet::mse_loss: predictions of shape (2, 3), targets of shape (3,): they must be equal");
  CHECK_THROWS_AS(nnet::kl_div(x, z), ca::shape_error);
  CHECK(test::thrown<ca::shape_error>([&] { nnet::cosine_embedding_loss(x, x, y); }) ==
        "nnet::cosine_embedding_loss: rows of shape (2, 3), classes of shape (3,)");
  CHECK(test::thrown<ca::value_error>([&] { nnet::huber_loss(x, x, {.delta = 0}); }) ==
        "nnet::huber_loss: delta 0 is not positive");
  CHECK_THROWS_AS(nnet::smooth_l1_loss(x, x, {.beta = -1}), ca::value_error);
  CHECK_THROWS_AS(nnet::smooth_l1_loss(x, x, {.beta = std::nan("")}), ca::value_error);
}
TEST_CASE("nnet: losses of rows that are the same, of nothing, and of integers") {
  const ca::variable<float> a = ca::array<float>({{1, 2}, {0, 0}});
  const auto b = ca::array<float>({{1, 2}, {0, 0}}), y = ca::array<float>({0, 1});
  ca::variable<float>(nnet::contrastive_loss<reduction::sum>(a, b, y)).backward();
  CHECK(test::equal(a.grad(), {2, 2}, std::vector<float>{0, 0, 0, 0}));
  CHECK(test::equal(nnet::contrastive_loss<reduction::none>(b, b, y, {.margin = 2}), {2}, std::vector<float>{2, 0}));
  // (1 * 3^2 + 0) / 2 and max(4 - 3, 0)^2 / 2
  const auto far = ca::array<float>({{1, 5}, {3, 0}});
  CHECK(test::equal(nnet::contrastive_loss<reduction::none>(far, b, ca::array<float>({1, 0}), {.margin = 4}), {2},
                    std::vector<float>{4.5, 0.5}));
  CHECK(test::equal(nnet::hinge_loss(far, ca::array<float>({{1, -1}, {-1, 1}})), {}, std::vector<float>{2.75}));
  const auto u = ca::array<ca::uint8>({1, 0}), v = ca::array<ca::uint8>({3, 1});
  CHECK(test::equal(nnet::l1_loss(u, v), {}, std::vector<double>{1.5}));
  const auto p = ca::array<float>({.25f, .75f});
  CHECK(test::close(nnet::binary_cross_entropy(p, u), {}, {1.3862943611198906}, 1e-6));
  static_assert(std::is_same_v<ca::value_type_t<decltype(nnet::mse_loss(p, ca::array<ca::int64>({1, 2})))>, float>);
  CHECK(nnet::mse_loss<reduction::none>(ca::zeros({0, 3}), ca::zeros({0, 3})).shape() == ca::shape{0, 3});
  CHECK(test::equal(nnet::mse_loss<reduction::sum>(ca::zeros({0}), ca::zeros({0})), {}, std::vector<float>{0}));
  CHECK(test::equal(nnet::mse_loss(ca::array<int>({1, 4}), ca::array<int>({3, 4})), {}, std::vector<double>{2}));
}
TEST_CASE("nnet: binary_cross_entropy of probabilities 0 and 1 has gradients") {
  const ca::variable<float> p = ca::array<float>({1, 0, 1, 0}), x = ca::array<float>({20, -110, 1});
  const ca::variable loss = nnet::binary_cross_entropy(p, ca::array<float>({1, 0, 0, 1}));
  CHECK(test::close(loss.value(), {}, {50}, 1e-6));
  loss.backward();
  CHECK(test::equal(p.grad(), {4}, std::vector<float>{-0.25f, 0.25f, 0, 0}));
  ca::variable(nnet::binary_cross_entropy(nnet::sigmoid(x), ca::array<float>({1, 0, 1}))).backward();
  CHECK(test::close(x.grad(), {3}, {0, 0, -0.0896471406874607}, 1e-6));
}
TEST_CASE("nnet: weights of the positive class do not round in half types") {
  const auto x = ca::astype<ca::bfloat16>(ca::array<float>({-1, -2}));
  const auto y = ca::ones<ca::bfloat16>({2});
  const auto w = ca::astype<ca::bfloat16>(ca::array<float>({0.01f, 0.01f}));
  CHECK(test::close(ca::astype<float>(nnet::binary_cross_entropy_with_logits<reduction::none>(x, y, w)), {2},
                    {0.01314, 0.02129}, 1e-4));
}

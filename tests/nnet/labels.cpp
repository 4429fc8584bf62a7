// What is given class numbers: embeddings, negative log-likelihoods, CTC; dtypes, errors, fusion.
// SPDX-License-Identifier: MIT
#include <cudarray/autograd.hpp>

#include "slope.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using array = ca::ndarray<float>;
using indices = ca::ndarray<int>;
using nnet::reduction;

array wave(const ca::shape& s) { return ca::astype<float>(test::wave_of(s)); }
std::vector<float> floats(const array& a) { return test::values(a); }

}  // namespace

TEST_CASE("nnet: an embedding fuses with what is made of it") {
  const array table = wave({50, 96}), g = ca::ones({96});
  const indices tokens = ca::array<int>({{3, 1, 49}, {-1, 0, 3}});
  const auto before = ca::stats();
  const array y = nnet::layer_norm(nnet::embedding(tokens, table), g);
  const auto c = ca::stats() - before;
  if (ca::backend::row_programs<ca::default_device>) CHECK((c.kernels == 1 && c.temporaries == 0));
  CHECK(y.shape() == ca::shape{2, 3, 96});
  CHECK(test::equal(y(1, 0), {96}, floats(y(0, 2))));
  const auto start = ca::stats();
  const array bags = nnet::embedding_bag<nnet::bag::sum>(tokens, table);
  CHECK((ca::stats() - start).temporaries == 0);
  CHECK(test::close(bags(1), {96}, test::values(ca::astype<double>(table(49) + table(0) + table(3)))));
}
TEST_CASE("nnet: a padding row has no gradient, others the sum of theirs") {
  const ca::variable<float> table = wave({4, 2});
  const indices tokens = ca::array<int>({1, 3, 1, 0, 3});
  ca::variable y = nnet::embedding(tokens, table, {.padding_idx = -1});
  y.backward(ca::ones({5, 2}));
  CHECK(test::equal(table.grad(), {4, 2}, std::vector<float>{1, 1, 2, 2, 0, 0, 0, 0}));
  CHECK(floats(y.value()) == floats(nnet::embedding(tokens, table.value())));
}
TEST_CASE("nnet: padding counts nothing in bags, whatever its row holds") {
  const float inf = std::numeric_limits<float>::infinity();
  const array table = ca::array<float>({{inf, std::nanf("")}, {3, 4}, {5, 6}});
  const indices bags = ca::array<int>({{0, 1}, {-3, 2}});
  for (const int padding : {0, -3}) {
    CHECK(test::equal(ca::eval(nnet::embedding_bag<nnet::bag::sum>(bags, table, {.padding_idx = padding})), {2, 2},
                      std::vector<float>{3, 4, 5, 6}));
    CHECK(test::equal(ca::eval(nnet::embedding_bag(bags, table, {.padding_idx = padding})), {2, 2},
                      std::vector<float>{3, 4, 5, 6}));
    CHECK(test::equal(ca::eval(nnet::embedding_bag(bags, table, ca::full({2, 2}, 2), {.padding_idx = padding})), {2, 2},
                      std::vector<float>{6, 8, 10, 12}));
  }
}
TEST_CASE("nnet: embeddings and losses of half types") {
  const auto h = ca::astype<ca::bfloat16>(wave({8, 6}));
  const indices y = ca::array<int>({0, 5, 1, -100, 3, 2, 4, 4});
  static_assert(std::is_same_v<ca::value_type_t<decltype(nnet::embedding(y, h))>, ca::bfloat16>);
  const array wide = ca::astype<float>(h), narrow = ca::astype<float>(nnet::nll_loss(h, y)),
              full = nnet::nll_loss(wide, y);
  CHECK(std::abs(narrow.item() - full.item()) <= std::abs(full.item()) / 128);
  const auto p = ca::astype<ca::float16>(nnet::log_softmax(wave({9, 2, 5})));
  const indices labels = ca::array<int>({{1, 2}, {4, 4}}), steps = ca::array<int>({9, 8}),
                counts = ca::array<int>({2, 2});
  const float of_half = ca::astype<float>(nnet::ctc_loss(p, labels, steps, counts)).item();
  const float of_float = nnet::ctc_loss(ca::astype<float>(p), labels, steps, counts).item();
  CHECK(std::abs(of_half - of_float) <= of_float / 1024);
  // the last of many classes as blank, beside labels of 8 bits
  const array many = nnet::log_softmax(wave({4, 1, 300}));
  const auto of = [&]<class T>(std::type_identity<T>) {
    return nnet::ctc_loss(many, ca::array<T>({{1, 2}}), ca::array<T>({4}), ca::array<T>({2}), {.blank = 299}).item();
  };
  CHECK(of(std::type_identity<ca::uint8>{}) == of(std::type_identity<int>{}));
  // products of half types in between
  const auto h3 = ca::astype<ca::float16>(ca::full({1, 2}, 300)), h4 = ca::astype<ca::float16>(ca::full({1, 2}, 0.001));
  const auto by = nnet::bilinear(h4, h3, ca::astype<ca::float16>(ca::full({1, 2, 2}, 300)));
  CHECK(std::abs(ca::astype<float>(by).item() - 360) < 1);
}
TEST_CASE("nnet: labels that do not fit the steps") {
  const ca::variable<float> x = wave({2, 2, 4});
  const indices labels = ca::array<int>({{1, 1}, {1, 2}}), steps = ca::array<int>({2, 2}),
                counts = ca::array<int>({2, 2});
  const auto rows = [&](bool zero) {
    return ca::variable(
        nnet::ctc_loss<reduction::none>(nnet::log_softmax(x), labels, steps, counts, {.zero_infinity = zero}));
  };
  // two that are the same need a blank between them
  CHECK(std::isinf(floats(rows(false).value())[0]));
  CHECK(floats(rows(true).value())[0] == 0);
  const float fits = floats(rows(true).value())[1];
  const array p = nnet::log_softmax(x.value());
  CHECK(std::abs(fits + floats(p(0, 1))[1] + floats(p(1, 1))[2]) < 1e-5f);
  rows(false).backward(ca::ones({2}));
  CHECK(test::equal(x.grad()(ca::_, 0), {2, 4}, std::vector<float>(8, 0)));
  CHECK(ca::all(ca::isfinite(x.grad())).item());
}
TEST_CASE("nnet: losses of an empty batch") {
  const ca::variable<float> x = ca::zeros({4, 0, 3});
  const indices none = ca::zeros<int>({0, 2}), n = ca::zeros<int>({0});
  ca::variable y = nnet::ctc_loss<reduction::sum>(x, none, n, n);
  y.backward();
  CHECK(y.item() == 0);
  CHECK(x.grad().shape() == ca::shape{4, 0, 3});
  CHECK(nnet::nll_loss<reduction::sum>(ca::zeros({0, 3}), n).item() == 0);
  CHECK(array(nnet::embedding(n, ca::ones({3, 2}))).shape() == ca::shape{0, 2});
  CHECK(array(nnet::embedding_bag<nnet::bag::sum>(ca::zeros<int>({0, 2}), ca::ones({3, 2}))).shape() ==
        ca::shape{0, 2});
  // bags without anything in them
  const array empty =
      nnet::embedding_bag<nnet::bag::max>(ca::array<int>({{2, 2}}), ca::ones({3, 2}), {.padding_idx = 2});
  CHECK(test::equal(empty, {1, 2}, std::vector<float>{0, 0}));
}
TEST_CASE("nnet: errors of what is given class numbers") {
  const array table = wave({4, 3}), x = wave({5, 2, 4});
  const indices tokens = ca::array<int>({0, 1}), labels = ca::ones<int>({2, 3}), counts = ca::array<int>({5, 5});
  const auto shape = [](const auto& f) { return test::thrown<ca::shape_error>(f); };
  const auto value = [](const auto& f) { return test::thrown<ca::value_error>(f); };
  const auto index = [](const auto& f) {
    return test::thrown<ca::index_error>([&] {
      f();
      ca::synchronize();
    });
  };
  CHECK(shape([&] { nnet::embedding(tokens, x); }) == "nnet::embedding: a table of shape (5, 2, 4), not (rows, n)");
  CHECK(value([&] { nnet::embedding(tokens, table, {.padding_idx = 4}); }) ==
        "nnet::embedding: padding_idx 4 is no row of a table of shape (4, 3)");
  CHECK(shape([&] { nnet::embedding_bag(tokens, table); }) ==
        "nnet::embedding_bag: integers of shape (2,), not (b, n)");
  CHECK(shape([&] {
          nnet::embedding_bag(labels, table, ca::ones({2, 2}));
        }) == "nnet::embedding_bag: integers of shape (2, 3), weights of shape (2, 2): both are to be (b, n)");
  CHECK(index([&] { const array y = nnet::embedding(ca::array<int>({4}), table); }) ==
        "take: index 4 is out of bounds for axis 0 with size 4");
  CHECK(shape([&] { nnet::nll_loss(table, tokens); }) ==
        "nnet::nll_loss: logits of shape (4, 3), labels of shape (2,): (4,) is wanted");
  CHECK(shape([&] { nnet::nll_loss(table(ca::slice(2)), tokens, ca::ones({2})); }) ==
        "nnet::nll_loss: x of shape (2, 3), weights of shape (2,): (3,) is wanted");
  CHECK(index([&] {
          const array y = nnet::nll_loss(table(ca::slice(2)), ca::array<int>({0, 3}));
        }) == "nnet::nll_loss: index 3 is out of bounds for axis 1 with size 3");
  CHECK(shape([&] { nnet::ctc_loss(table, labels, counts, counts); }) ==
        "nnet::ctc_loss: logarithms of probabilities of shape (4, 3), not (t, b, c)");
  CHECK(shape([&] { nnet::ctc_loss(x, tokens, counts, counts); }) ==
        "nnet::ctc_loss: for logarithms of probabilities of shape (5, 2, 4) labels of shape (2,) and their counts of "
        "shapes (2,) and (2,): (b, s), (b,) and (b,) are wanted");
  CHECK(value([&] { nnet::ctc_loss(x, labels, counts, tokens, {.blank = 4}); }) ==
        "nnet::ctc_loss: blank 4 is none of 4 classes");
  CHECK(index([&] { nnet::ctc_loss(x, labels * 7, counts, tokens); }) ==
        "nnet::ctc_loss: index 7 is out of bounds for axis 2 with size 4");
  CHECK(index([&] { nnet::ctc_loss(x, labels, counts + 1, tokens); }) ==
        "nnet::ctc_loss: counts of steps: index 6 is out of bounds for axis 0 with size 6");
  CHECK(index([&] { nnet::ctc_loss(x, labels, counts, tokens + 3); }) ==
        "nnet::ctc_loss: counts of labels: index 4 is out of bounds for axis 0 with size 4");
  CHECK(shape([&] { nnet::bilinear(table, table, x); }) ==
        "nnet::bilinear: operands of shapes (4, 3) and (4, 3), weights of shape (5, 2, 4): (.., i), (.., j) and "
        "(k, i, j) are wanted");
}

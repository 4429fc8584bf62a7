// The table of operands: convolutions, pooling, images, attention, recurrent layers.
// SPDX-License-Identifier: MIT
#include "operand_kinds.hpp"

namespace {

namespace nnet = ca::nnet;
using test::exactly;
using test::nearly;

using array = ca::ndarray<float>;
using integers = ca::ndarray<ca::int64>;

array wave(const ca::shape& s, double shift = 0) {
  return ca::astype<float>(ca::sin(ca::reshape(ca::arange(s.elements()), s) * 1.5 + shift));
}
nnet::recurrent_weights<array> weights(ca::int64 gates) {
  return {wave({3, gates * 2}, 1), wave({2, gates * 2}, 2), wave({gates * 2}, 3), wave({gates * 2}, 4)};
}

}  // namespace

#define OF_ONE(name) \
  nearly(            \
      #name, [](const auto& a) { return nnet::name(a); }, x)
#define OF_SIZE(name) \
  nearly(             \
      #name, [](const auto& a) { return nnet::name(a, 2); }, x)
#define OF_FILTERS(name)                                                           \
  nearly(                                                                          \
      #name, [](const auto& a, const auto& f) { return nnet::name(a, f); }, x, w); \
  nearly(                                                                          \
      #name, [](const auto& a, const auto& f, const auto& c) { return nnet::name(a, f, c); }, x, w, b)
#define WITH_INDICES(name)                      \
  nearly(                                       \
      #name,                                    \
      [](const auto& a) {                       \
        const auto r = nnet::name(a);           \
        return std::tuple(r.values, r.indices); \
      },                                        \
      x)

TEST_CASE("operand kinds: linear layers") {
  const array x = wave({4, 3}), w = wave({3, 2}), b = wave({2});
  nearly(
      "linear", [](const auto& a, const auto& f, const auto& c) { return nnet::linear(a, f, c); }, x, w, b);
  nearly(
      "bilinear", [](const auto& a, const auto& c, const auto& f) { return nnet::bilinear(a, c, f); }, x, wave({4, 2}),
      wave({5, 3, 2}));
}
TEST_CASE("operand kinds: layers of lines") {
  const array x = wave({2, 3, 6}), w = wave({3, 3, 3}), b = wave({3});
  OF_FILTERS(conv1d);
  OF_FILTERS(conv_transpose1d);
  OF_ONE(max_pool1d);
  OF_ONE(avg_pool1d);
  OF_SIZE(adaptive_avg_pool1d);
  OF_SIZE(adaptive_max_pool1d);
  WITH_INDICES(max_pool1d_with_indices);
}
TEST_CASE("operand kinds: layers of images") {
  const array x = wave({2, 4, 5, 6}), w = wave({4, 4, 3, 3}), b = wave({4}), y = nnet::conv2d(x, w);
  OF_FILTERS(conv2d);
  OF_FILTERS(conv_transpose2d);
  OF_ONE(max_pool2d);
  OF_ONE(avg_pool2d);
  OF_SIZE(adaptive_avg_pool2d);
  OF_SIZE(adaptive_max_pool2d);
  WITH_INDICES(max_pool2d_with_indices);
  OF_ONE(channels_last);
  OF_ONE(unfold);
  OF_SIZE(pixel_shuffle);
  exactly(
      "pixel_unshuffle", [](const auto& a) { return nnet::pixel_unshuffle(a, 2); }, wave({1, 2, 4, 6}));
  nearly(
      "conv2d_backward_data",
      [](const auto& g, const auto& f) {
        return nnet::conv2d_backward_data(g, f, {2, 4, 5, 6});
      },
      y, w);
  nearly(
      "conv2d_backward_weights",
      [](const auto& a, const auto& g) {
        return nnet::conv2d_backward_weights(a, g, {4, 4, 3, 3});
      },
      x, y);
  nearly(
      "max_pool2d_backward", [](const auto& g, const auto& a) { return nnet::max_pool2d_backward(g, a); },
      array(nnet::max_pool2d(x)), x);
  nearly(
      "avg_pool2d_backward",
      [](const auto& g) {
        return nnet::avg_pool2d_backward(g, {2, 4, 5, 6});
      },
      array(nnet::avg_pool2d(x)));
  const auto pooled = nnet::max_pool2d_with_indices(x);
  exactly(
      "max_unpool",
      [](const auto& a, const auto& i) {
        return nnet::max_unpool(a, i, {5, 6});
      },
      pooled.values, pooled.indices);
  nearly(
      "fold",
      [](const auto& a) {
        return nnet::fold(a, {2, 4, 5, 6});
      },
      array(nnet::unfold(x)));
  nearly(
      "interpolate",
      [](const auto& a) {
        return std::tuple(nnet::interpolate(a, {7, 4}),
                          nnet::interpolate(a, {7, 4}, {.mode = nnet::interpolation::linear}));
      },
      x);
  nearly(
      "grid_sample", [](const auto& a, const auto& g) { return nnet::grid_sample(a, g); }, x, wave({2, 3, 3, 2}));
}
TEST_CASE("operand kinds: layers of volumes") {
  const array x = wave({1, 2, 4, 4, 4}), w = wave({2, 2, 3, 3, 3}), b = wave({2});
  OF_FILTERS(conv3d);
  OF_FILTERS(conv_transpose3d);
  OF_ONE(max_pool3d);
  OF_ONE(avg_pool3d);
  OF_SIZE(adaptive_avg_pool3d);
  OF_SIZE(adaptive_max_pool3d);
  WITH_INDICES(max_pool3d_with_indices);
}
TEST_CASE("operand kinds: attention and positions") {
  const array q = wave({2, 2, 3, 4}), k = wave({2, 2, 5, 4}, 1), v = wave({2, 2, 5, 4}, 2);
  nearly(
      "scaled_dot_product_attention",
      [](const auto& a, const auto& b, const auto& c) { return nnet::scaled_dot_product_attention(a, b, c); }, q, k, v);
  nearly(
      "scaled_dot_product_attention",
      [](const auto& a, const auto& b, const auto& c, const auto& m) {
        return nnet::scaled_dot_product_attention(a, b, c, m);
      },
      q, k, v, ca::ndarray<bool>(wave({3, 5}) < 0.9));
  nearly(
      "scaled_dot_product_attention",
      [](const auto& a, const auto& b, const auto& c, const auto& m) {
        return nnet::scaled_dot_product_attention(a, b, c, m);
      },
      q, k, v, wave({3, 5}));
  nearly(
      "rotary_embedding", [](const auto& a) { return nnet::rotary_embedding(a); }, q);
  exactly(
      "key_value_cache",
      [](const auto& a, const auto& b) {
        nnet::key_value_cache<float> cache({2, 2, 8, 4});
        cache.append(a, b);
        return std::tuple(cache.keys(), cache.values());
      },
      k, v);
}
TEST_CASE("operand kinds: recurrent layers") {
  const array x = wave({4, 2, 3}), h = wave({1, 2, 2}, 5), c = wave({1, 2, 2}, 6);
  const integers lengths = ca::array<ca::int64>({4, 2});
  const std::vector of_rnn{weights(1)}, of_gru{weights(3)}, of_lstm{weights(4)};
  const auto two = [](const auto& r) { return std::tuple(r.output, r.hidden); };
  const auto three = [](const auto& r) { return std::tuple(r.output, r.hidden, r.cell); };
  nearly(
      "rnn", [&](const auto& a) { return two(nnet::rnn(a, of_rnn)); }, x);
  nearly(
      "rnn", [&](const auto& a, const auto& s, const auto& l) { return two(nnet::rnn(a, of_rnn, s, l)); }, x, h,
      lengths);
  nearly(
      "gru", [&](const auto& a, const auto& s, const auto& l) { return two(nnet::gru(a, of_gru, s, l)); }, x, h,
      lengths);
  nearly(
      "lstm",
      [&](const auto& a, const auto& s, const auto& d, const auto& l) {
        return three(nnet::lstm(a, of_lstm, s, d, l));
      },
      x, h, c, lengths);
}

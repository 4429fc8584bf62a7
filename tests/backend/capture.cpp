// Captured statements against the same ones run at once, bit by bit: each alone, and in random sequences. CUDA only.
// SPDX-License-Identifier: MIT
#include <functional>
#include <map>
#include <random>

#include "test.hpp"

namespace {

using ca::_;
using array = ca::ndarray<float>;

/// What statements read and write.
struct state {
  array x = ca::random::normal({64, 96}), w = ca::random::normal({96, 48}, 0, 0.1f), b = ca::random::normal({48}),
        y = ca::zeros({64, 48}), rows = ca::zeros({64}), columns = ca::zeros({48}), one = ca::zeros({}),
        square = ca::random::normal({48, 48}), image = ca::random::normal({2, 3, 12, 12}),
        filter = ca::random::normal({4, 3, 3, 3}, 0, 0.2f), maps = ca::zeros({2, 4, 12, 12}),
        pooled = ca::zeros({2, 4, 6, 6}), left, line = ca::random::normal({100001}), through = ca::zeros({100001});
  ca::ndarray<ca::int64> index = ca::random::integers({64}, 0, 64), order = ca::zeros<ca::int64>({64, 96}),
                         counts = ca::zeros<ca::int64>({64}), places = ca::random::permutation(64);
  ca::ndarray<ca::float16> half = ca::astype<ca::float16>(ca::random::normal({64, 96})),
                           half_w = ca::astype<ca::float16>(ca::random::normal({96, 48})),
                           half_y = ca::zeros<ca::float16>({64, 48});

  /// The elements of all arrays, by name.
  std::map<std::string, std::vector<double>> values() const {
    std::map<std::string, std::vector<double>> all;
    const auto add = [&](const char* name, const auto& a) {
      for (const auto v : test::values(a)) all[name].push_back(v == v ? double(v) : -12345);  // NaN equals NaN
    };
#define ADD(name) add(#name, name)
    ADD(x), ADD(w), ADD(b), ADD(y), ADD(rows), ADD(columns), ADD(one), ADD(square), ADD(image), ADD(filter), ADD(maps);
    ADD(pooled), ADD(left), ADD(line), ADD(through), ADD(index), ADD(order), ADD(counts), ADD(places), ADD(half),
        ADD(half_w), ADD(half_y);
#undef ADD
    return all;
  }
};

using statement = std::function<void(state&)>;
const std::vector<statement>& statements() {
  namespace nnet = ca::nnet;
  static const std::vector<statement> all = {
      [](state& s) { s.y(_) = ca::matmul(s.x, s.w); },
      [](state& s) { s.y(_) = nnet::linear(s.x, s.w, s.b); },
      [](state& s) { s.left = nnet::linear(s.x, s.w, s.b, {.activation = nnet::activation::relu}); },
      [](state& s) {
        s.y(_) = nnet::softmax(ca::matmul(s.x, s.w) + s.y) + ca::random::normal({64, 48}, 0, 0.1f);
      },
      [](state& s) { s.y(_) = nnet::log_softmax(s.y * 0.5f + 1.f); },
      [](state& s) {
        s.x(_) = ca::tanh(s.x) + 0.01f * ca::random::uniform({64, 96});
      },
      [](state& s) { s.rows(_) = ca::sum(s.x * s.x, 1); },
      [](state& s) { s.columns(_) = ca::mean(s.y, 0) + ca::var(s.y, 0); },
      [](state& s) { s.one(ca::ellipsis) = ca::sum(s.line * s.line) * 1e-5f; },
      [](state& s) { s.w -= 0.001f * ca::matmul(s.x.t(), s.y); },
      [](state& s) { s.b += 0.01f * ca::sum(s.y, 0); },
      [](state& s) { s.square(_) = ca::matmul(s.square, s.square.t()) * 0.01f; },
      [](state& s) {
        s.square(_) = s.square.t() + ca::random::normal({48, 48});
      },
      [](state& s) { s.rows(_) = ca::matmul(s.y, s.b); },
      [](state& s) { s.one(ca::ellipsis) = ca::dot(s.b, s.columns); },
      [](state& s) { s.x(_) = ca::take(s.x, s.index); },
      [](state& s) {
        s.x(s.places) = 0.5f * ca::random::normal({64, 96});  // each row once: of several values any is kept
      },
      [](state& s) { ca::scatter_add(s.x, s.index, s.rows(0) * 0.f + 0.1f); },
      [](state& s) { ca::scatter_add(s.counts, s.index, 1); },
      [](state& s) { s.index(_) = ca::random::integers({64}, 0, 64); },
      [](state& s) { s.order(_) = ca::argsort(s.x); },
      [](state& s) { s.x(_) = ca::sort(s.x, 0); },
      [](state& s) { s.through(_) = ca::cumsum(s.line); },
      [](state& s) { s.line(_) = ca::cos(s.through) + ca::random::uniform({100001}); },
      [](state& s) { s.maps(_) = nnet::conv2d(s.image, s.filter, {.padding = 1}); },
      [](state& s) {
        s.filter(_) = 0.01f * nnet::conv2d_backward_weights(s.image, s.maps, {4, 3, 3, 3}, {.padding = 1});
      },
      [](state& s) {
        s.image(_) = ca::tanh(nnet::conv2d_backward_data(s.maps, s.filter, {2, 3, 12, 12}, {.padding = 1}));
      },
      [](state& s) { s.pooled(_) = nnet::max_pool2d(s.maps, {.window = 2}); },
      [](state& s) { s.maps(_) = nnet::max_pool2d_backward(s.pooled, s.maps, {.window = 2}); },
      [](state& s) {
        s.x(_) = nnet::dropout(s.x, 0.3) * 0.9f + nnet::dropout_mask({64, 96}, 0.3) * 0.01f;
      },
      [](state& s) { s.half_y(_) = ca::matmul(s.half, s.half_w); },
      [](state& s) { s.half_y(_) = nnet::softmax(s.half_y); },
      [](state& s) { s.half(_) = ca::astype<ca::float16>(s.x); },
      [](state& s) {
        s.left = ca::concatenate({s.y, ca::eval(s.y * 2.f)}, 1);
      },
      [](state& s) {
        s.y(_) = ca::where(s.y > 0, s.y, ca::random::normal({64, 48}));
      },
      [](state& s) { s.rows(_) = nnet::softmax_cross_entropy(s.y, nnet::softmax(s.y + s.b)); },
  };
  return all;
}

/// The state after some rounds of statements, run at once or captured and launched on three streams in turn.
std::map<std::string, std::vector<double>> after(const std::vector<int>& which, int rounds, bool captured) {
  ca::random::seed(11);
  state s;
  const auto step = [&] {
    for (const int k : which) statements()[std::size_t(k)](s);
  };
  const ca::stream streams[3];
  if (captured) {
    const auto g = ca::graph::capture(step);
    for (int i = 0; i < rounds; ++i) {
      const ca::stream_scope scope(streams[i % 3]);
      g.launch();
    }
    return s.values();
  }
  for (int i = 0; i < rounds; ++i) step();
  return s.values();
}

/// The arrays that have other bits when statements are captured.
std::string differing(const std::vector<int>& which, int rounds) {
  const auto at_once = after(which, rounds, false), captured = after(which, rounds, true);
  std::string names;
  for (const auto& [name, values] : at_once)
    if (values != captured.at(name)) names += name + " ";
  return names;
}

}  // namespace

TEST_CASE("capture: each statement gives the bits it gives at once") {
  for (int k = 0; k < int(statements().size()); ++k) {
    INFO("statement " << k);
    CHECK(differing({k}, 3) == "");
  }
}

TEST_CASE("capture: a layer, then softmax of a product and random numbers") {
  CHECK(differing({2, 3}, 3) == "");
  CHECK(differing({3, 2, 3, 5}, 3) == "");
}

TEST_CASE("capture: random sequences of 30 statements") {
  std::mt19937 random(5);
  for (int round = 0; round < 12; ++round) {
    std::vector<int> which;
    for (int i = 0; i < 30; ++i) which.push_back(int(random() % statements().size()));
    INFO("round " << round);
    CHECK(differing(which, 3) == "");
  }
}

TEST_CASE("capture: a thousand launches") {
  const std::vector<int> which = {2, 3, 9, 10, 5, 29, 19, 15, 22, 23};
  CHECK(differing(which, 1000) == "");
}

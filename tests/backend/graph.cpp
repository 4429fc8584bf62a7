// Captured graphs: CUDA only.
// SPDX-License-Identifier: MIT
#include <cudarray/autograd.hpp>
#include <sstream>
#include <thread>

#include "test.hpp"

namespace {

using ca::_;
using array = ca::ndarray<float>;
using numbers = std::vector<float>;

array iota(ca::int64 n) { return ca::astype<float>(ca::arange(n)); }

/// A step of training with dropout, written so that it can be captured.
struct network {
  array w1 = ca::random::normal({64, 96}, 0, 0.1f), b1 = ca::zeros(96), w2 = ca::random::normal({96, 10}, 0, 0.1f),
        b2 = ca::zeros(10), m1 = ca::zeros({64, 96}), m2 = ca::zeros({96, 10}), loss = ca::zeros({});

  void step(const array& x, const array& truth) {
    const array h = ca::matmul(x, w1) + b1, mask = ca::nnet::dropout_mask({x.shape(0), 96}, 0.4);
    const array kept = ca::nnet::relu(h) * mask;
    const array y = ca::matmul(kept, w2) + b2;
    loss(ca::ellipsis) = ca::mean(ca::nnet::softmax_cross_entropy(y, truth));
    const array dy = ca::nnet::softmax_cross_entropy_backward(y, truth) * (1.f / float(x.shape(0)));
    const array dh = ca::nnet::relu_backward(ca::matmul(dy, w2.t()) * mask, h);
    m2(_) = 0.9f * m2 - 0.1f * ca::matmul(kept.t(), dy);
    m1(_) = 0.9f * m1 - 0.1f * ca::matmul(x.t(), dh);
    w2 += m2;
    w1 += m1;
    b2 -= 0.1f * ca::sum(dy, 0);
    b1 -= 0.1f * ca::sum(dh, 0);
  }
};

}  // namespace

TEST_CASE("graph: launches do what the function would") {
  array x = iota(1000), y = ca::zeros(1000);
  const auto g = ca::graph::capture([&] { y(_) = x * 2.f + 1.f; });
  CHECK(g.kernels() == 1);
  CHECK(ca::max(y).item() == 0);  // captured, not done
  const auto before = ca::stats();
  g.launch();
  CHECK((ca::stats() - before).kernels == 1);
  CHECK((ca::stats() - before).allocations == 0);
  CHECK(y(999).item() == 1999);
  x(_) = ca::ones(1000);
  g.launch();
  CHECK(ca::min(y).item() == 3);
  CHECK(ca::max(y).item() == 3);
}

TEST_CASE("graph: what the function leaves behind, and temporaries") {
  array sum, x = iota(1000);
  {
    const auto g = ca::graph::capture([&] {
      const array t = x * 2.f, u = t + 1.f;
      sum = ca::sum(ca::matmul(u, t));
    });
    g.launch();
    CHECK(test::close(sum, {}, {4 * 332833500. + 2 * 499500.}));
    x(_) = ca::ones(1000);
    g.launch();
    CHECK(sum.item() == 6000);
  }
  CHECK(sum.item() == 6000);  // its memory is there without the graph
  sum += 1.f;
  CHECK(sum.item() == 6001);
}

TEST_CASE("graph: temporaries share memory, and all of it is given back") {
  const ca::int64 n = 1 << 18;
  array x = ca::ones(n);
  const auto before = ca::memory_stats<ca::cuda>().used;
  {
    const auto g = ca::graph::capture([&] {
      for (int i = 0; i < 50; ++i) {
        const array t = x * 2.f, u = ca::sqrt(t);
        x(_) = u + t - u - t * 0.5f;
      }
    });
    CHECK(ca::memory_stats<ca::cuda>().used - before <= 4 * n * 4);
    g.launch();
    CHECK(test::close(ca::max(x), {}, {1}, 1e-5));
  }
  CHECK(ca::memory_stats<ca::cuda>().used == before);
}

TEST_CASE("graph: operands stay alive, and are not taken for another name's") {
  array y = ca::zeros(8);
  ca::graph g = [&] {
    const array only_here = iota(8);
    return ca::graph::capture([&] { y(_) = only_here * 3.f; });
  }();
  const array other = ca::full(8, 7);  // would get the memory
  g.launch();
  CHECK(test::values(y) == numbers{0, 3, 6, 9, 12, 15, 18, 21});
  // rebinding within the function reuses the storage as it does outside, launch after launch
  array z = ca::ones(4);
  g = ca::graph::capture([&] {
    z = z + 1.f;
    z = z * 2.f;
  });
  g.launch();
  g.launch();
  CHECK(test::values(z) == numbers(4, 10));
}

TEST_CASE("graph: random numbers go on from launch to launch, and between them") {
  const auto draw = [](array& a, array& b) {
    a(_) = ca::random::normal({100});
    b(_) = ca::random::uniform({333}) + 0.f;
    ca::random::uniform(-1, 1, ca::out(a));
  };
  const auto run = [&](bool captured) {
    array a = ca::zeros(100), b = ca::zeros(333);
    numbers all;
    const auto note = [&](const array& x) {
      const auto v = test::values(x);
      all.insert(all.end(), v.begin(), v.end());
    };
    ca::random::seed(5);
    std::vector<ca::graph> g;
    if (captured) g.push_back(ca::graph::capture([&] { draw(a, b); }));
    for (int i = 0; i < 6; ++i) {
      if (captured) g[0].launch();
      else draw(a, b);
      note(a);
      note(b);
      if (i % 2) note(ca::random::uniform({7}));
    }
    return all;
  };
  const numbers expected = run(false);
  CHECK(run(true) == expected);
  array a = ca::zeros(100), b = ca::zeros(333);
  const auto g = ca::graph::capture([&] { draw(a, b); });
  ca::random::seed(6);
  CHECK(test::thrown<ca::value_error>([&] { g.launch(); }) ==
        "graph: it draws from stream 0 of seed 5, the thread's generator is at stream 0 of seed 6: capture it again");
}

TEST_CASE("graph: 500 captured steps of training give the losses of 500 calls") {
  const auto train = [](bool captured) {
    ca::random::seed(3);
    network net;
    const array images = ca::random::normal({500, 32, 64});
    const auto labels = ca::random::integers({500, 32}, 0, 10);
    array x = ca::empty({32, 64}), truth = ca::empty({32, 10});
    std::vector<ca::graph> g;
    numbers losses;
    for (int i = 0; i < 500; ++i) {
      x(_) = images(i);
      truth(_) = ca::nnet::one_hot_encode(labels(i), 10);
      if (!captured) net.step(x, truth);
      else if (g.empty()) g.push_back(ca::graph::capture([&] { net.step(x, truth); }));
      if (captured) g[0].launch();
      losses.push_back(net.loss.item());
    }
    return losses;
  };
  const numbers expected = train(false);
  CHECK(expected.back() == expected.back());
  CHECK(expected.front() != expected.back());
  CHECK(train(true) == expected);
}

TEST_CASE("graph: convolution, pooling, sorting and scans are captured") {
  const array x = ca::random::normal({4, 3, 12, 12}), w = ca::random::normal({5, 3, 3, 3}, 0, 0.2f);
  array pooled = ca::zeros({4, 5, 6, 6}), sorted = ca::zeros({4, 432}), sums = ca::zeros({4, 432}),
        line = ca::random::normal({300000}), through = ca::zeros({300000});
  const auto work = [&] {
    pooled(_) = ca::nnet::max_pool2d(ca::nnet::relu(ca::nnet::conv2d(x, w, {.padding = 1})), {.window = 2});
    sorted(_) = ca::sort(ca::reshape(x, {4, 432}));
    sums(_) = ca::cumsum(ca::reshape(x, {4, 432}), 0);
    through(_) = ca::cumsum(line);  // blocks tell each other sums
  };
  work();
  const auto a = test::values(pooled), b = test::values(sorted), c = test::values(sums), d = test::values(through);
  pooled.fill(0);
  sorted.fill(0);
  sums.fill(0);
  const auto g = ca::graph::capture(work);
  for (int run = 0; run < 2; ++run) {
    through.fill(0);
    g.launch();
    CHECK(test::values(pooled) == a);
    CHECK(test::values(sorted) == b);
    CHECK(test::values(sums) == c);
    CHECK(test::values(through) == d);
  }
}

TEST_CASE("graph: what cannot be captured is named, and nothing is changed") {
  array x = iota(10), y = ca::zeros(10);
  ca::random::generator own(1);
  const ca::stream other;
  const auto graph = ca::graph::capture([&] { y(_) = x; });
  const auto used = ca::memory_stats<ca::cuda>().used;
  const auto refuses = [&](const char* text, const auto& f) {
    INFO(text);
    try {
      (void)ca::graph::capture([&] {
        const array t = x + 1.f;
        f();
      });
      FAIL("captured");
    } catch (const ca::error& e) {
      CHECK(std::string(e.what()).find(text) != std::string::npos);
    }
    CHECK(test::values(y) == numbers(10, 0));
    CHECK(ca::memory_stats<ca::cuda>().used == used);
  };
  refuses("reading an array on the host", [&] { (void)x(1).item(); });
  refuses("reading an array on the host", [&] { (void)ca::to<ca::cpu>(x); });
  refuses("reading an array on the host", [&] { std::ostringstream() << x; });
  refuses("reading an array on the host", [&] { (void)ca::flatnonzero(x); });
  refuses("copying from the host", [&] { (void)ca::array<float>({1, 2, 3}); });
  refuses("waiting for the device", [&] { ca::synchronize(); });
  refuses("work on another stream", [&] { const ca::stream_scope scope(other); });
  refuses("capturing a graph", [&] { (void)ca::graph::capture([] {}); });
  refuses("launching a graph", [&] { graph.launch(); });
  refuses("the thread's generator", [&] { (void)ca::random::uniform({3}, 0, 1, own); });
  refuses("shapes (10,) and (3,)", [&] { (void)(x + ca::zeros(3)); });
  CHECK(own.offset() == 0);
  refuses("skipping numbers", [&] { ca::random::thread_generator().skip(3); });
  refuses("seeding", [&] {
    (void)ca::random::uniform({3});
    ca::random::seed(77);
  });
  y(_) = x;
  CHECK(y(9).item() == 9);
}

TEST_CASE("graph: the first product of a thread may be a captured one") {
  std::thread([] {
    const array a = ca::full({32, 32}, 0.5f), y = ca::zeros({32, 32});
    const auto g = ca::graph::capture([&] { y(_) = ca::matmul(a, a); });
    g.launch();
    CHECK(test::values(y) == numbers(1024, 8));
  }).join();
}

TEST_CASE("graph: others may end graphs and use the legacy stream meanwhile") {
  array x = ca::ones(1000), y, z = ca::zeros(1000);
  {
    const auto g = ca::graph::capture([&] { y = x * 2.f; });
    g.launch();
  }
  auto* old = new ca::graph(ca::graph::capture([&] { z(_) = x * 3.f; }));
  old->launch();
  const auto g = ca::graph::capture([&] {
    y = x * 4.f;  // gives the first graph's memory back
    std::thread([&] {
      delete old;
      void* p = nullptr;
      CHECK(cudaMalloc(&p, 4) == cudaSuccess);
      CHECK(cudaMemset(p, 0, 4) == cudaSuccess);
      CHECK(cudaFree(p) == cudaSuccess);
    }).join();
    z += 1.f;
  });
  g.launch();
  CHECK(test::values(y) == numbers(1000, 4));
  CHECK(test::values(z) == numbers(1000, 4));
}

TEST_CASE("graph: a launch waits for readers of an array it left that is gone") {
  const ca::int64 n = 1 << 24;
  array x = ca::ones(n), y, total = ca::zeros(n);
  const ca::stream side;
  const auto g = ca::graph::capture([&] { y = x * 2.f; });
  g.launch();
  ca::synchronize();
  x(_) = 100;
  {
    const ca::stream_scope scope(side);
    for (int i = 0; i < 40; ++i) total += 1.f;  // keeps the stream busy
    total += y;
  }
  y = array();
  g.launch();  // writes to the same memory
  side.synchronize();
  CHECK(ca::min(total).item() == 42);
  CHECK(ca::max(total).item() == 42);
}

TEST_CASE("graph: launches are ordered with other streams, and make expressions stale") {
  array x = ca::zeros(1 << 20), y = ca::zeros(1 << 20);
  const auto g = ca::graph::capture([&] {
    x += 1.f;
    y(_) = x * 2.f;
  });
  const ca::stream one, two;
  for (int i = 1; i <= 20; ++i) {
    {
      const ca::stream_scope scope(i % 2 ? one : two);
      g.launch();
    }
    if (i % 5 == 0) CHECK(ca::min(y).item() == float(2 * i));
  }
  const auto formula = y + 1.f;
  std::thread([&] { g.launch(); }).join();
  CHECK_THROWS_AS(ca::eval(formula), ca::stale_error);
  CHECK(ca::max(y).item() == 42);
}

namespace {
struct small_net {
  ca::variable<float> w1, b1, w2, b2;
};
/// The losses of 100 steps of a network with a checkpoint and dropout.
numbers train_by_functions(bool captured) {
  ca::random::seed(11);
  const array x = ca::random::normal({64, 32}), truth = ca::random::normal({64, 4});
  const small_net net{0.2f * ca::random::normal({32, 48}), ca::zeros({48}), 0.2f * ca::random::normal({48, 4}),
                      ca::zeros({4})};
  const auto hidden = ca::checkpoint([](const auto& in, const small_net& n) {
    return ca::nnet::dropout(ca::nnet::relu(ca::matmul(in, n.w1) + n.b1), 0.3);
  });
  const auto loss_of = [&](const small_net& n) {
    return ca::mean(ca::square(ca::matmul(hidden(x, n), n.w2) + n.b2 - truth));
  };
  const array loss = ca::zeros({});
  const auto step = [&] {
    const auto [value, gradients] = ca::value_and_grad(loss_of)(net);
    ca::tree_for_each([](const auto& v, const auto& g) { array(v.value()) -= 0.05f * g.value(); }, net, gradients);
    loss(ca::ellipsis) = value;
  };
  step();
  numbers losses;
  const auto repeat = [&](const auto& one) {
    for (int i = 0; i < 100; ++i) one(), losses.push_back(loss.item());
  };
  if (captured) {
    const auto g = ca::graph::capture(step);
    const auto before = ca::stats();
    repeat([&] { g.launch(); });
    CHECK((ca::stats() - before).allocations == 0);
  } else {
    repeat(step);
  }
  return losses;
}
}  // namespace

TEST_CASE("graph: a step by value_and_grad, with a checkpoint") {
  const numbers eager = train_by_functions(false);
  CHECK(eager.back() < 0.8f * eager.front());
  CHECK(train_by_functions(true) == eager);
}

TEST_CASE("graph: a step with a backward pass") {
  const auto train = [](bool captured) {
    ca::random::seed(11);
    const array x = ca::random::normal({64, 32}), truth = ca::random::normal({64, 4});
    ca::variable<float> w1 = 0.2f * ca::random::normal({32, 48}), b1 = ca::zeros({48}),
                        w2 = 0.2f * ca::random::normal({48, 4}), b2 = ca::zeros({4});
    array loss = ca::zeros({});
    const auto step = [&] {
      ca::variable<float>* const all[] = {&w1, &b1, &w2, &b2};
      for (auto* p : all) p->zero_grad();
      ca::variable h = ca::nnet::relu(ca::matmul(x, w1) + b1);
      h = ca::nnet::dropout(h, 0.3);
      const ca::variable l = ca::mean(ca::square(ca::matmul(h, w2) + b2 - truth));
      l.backward();
      for (auto* p : all) p->value() -= 0.05f * p->grad();
      loss(ca::ellipsis) = l.value();
    };
    step();  // gradients get their memory
    numbers losses;
    if (captured) {
      const float* const at = w1.grad().data();
      const auto g = ca::graph::capture(step);
      CHECK(w1.grad().data() == at);
      const auto before = ca::stats();
      for (int i = 0; i < 100; ++i) {
        g.launch();
        losses.push_back(loss.item());
      }
      CHECK((ca::stats() - before).allocations == 0);
    } else {
      for (int i = 0; i < 100; ++i) {
        step();
        losses.push_back(loss.item());
      }
    }
    return losses;
  };
  const numbers eager = train(false);
  CHECK(eager.back() < 0.7f * eager.front());
  CHECK(train(true) == eager);
}

TEST_CASE("graph: attention of half types and its gradients are captured") {
  using T = ca::bfloat16;
  const auto normal = [] { return ca::ndarray<T>(ca::astype<T>(ca::random::normal({2, 4, 64, 32}))); };
  const ca::variable<T> q = normal(), k = normal(), v = normal();
  const ca::ndarray<T> g = normal();
  array result = ca::zeros({2, 4, 64, 32});
  const auto step = [&] {
    for (auto* p : {&q, &k, &v}) p->zero_grad();
    const ca::variable<T> y = ca::nnet::scaled_dot_product_attention(q, k, v, {.causal = true});
    y.backward(g);
    result(ca::ellipsis) = ca::astype<float>(y.value());
  };
  const auto all = [&] {
    std::vector<numbers> r{test::values(result)};
    for (auto* p : {&q, &k, &v}) r.push_back(test::values(ca::astype<float>(p->grad())));
    return r;
  };
  step();
  const auto eager = all();
  const auto captured = ca::graph::capture(step);
  for (int run = 0; run < 2; ++run) {
    result.fill(0);
    for (auto* p : {&q, &k, &v}) ca::ndarray<T>(p->grad()).fill(0);
    captured.launch();
    CHECK(all() == eager);
  }
}

// Streams, deferred errors, and what a captured statement holds: CUDA only.
// SPDX-License-Identifier: MIT
#include <thread>

#include "test.hpp"

namespace {

using array = ca::ndarray<float>;

/// The nodes of a statement captured into a graph.
struct node_counts {
  int kernels = 0, allocations = 0, others = 0;
};

template <class F>
node_counts captured(const F& statement) {
  const ca::stream s;
  node_counts n;
  ca::poison_released(false);  // it would add nodes
  cudaGraph_t graph = nullptr;
  {
    const ca::stream_scope scope(s);
    REQUIRE(cudaStreamBeginCapture(s.get(), cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    statement();
    REQUIRE(cudaStreamEndCapture(s.get(), &graph) == cudaSuccess);
  }
  size_t count = 0;
  REQUIRE(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
  std::vector<cudaGraphNode_t> nodes(count);
  REQUIRE(cudaGraphGetNodes(graph, nodes.data(), &count) == cudaSuccess);
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type;
    REQUIRE(cudaGraphNodeGetType(node, &type) == cudaSuccess);
    if (type == cudaGraphNodeTypeKernel) ++n.kernels;
    else if (type == cudaGraphNodeTypeMemAlloc) ++n.allocations;
    else if (type != cudaGraphNodeTypeMemFree) ++n.others;
  }
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  ca::poison_released(true);
  return n;
}

}  // namespace

TEST_CASE("cuda: a fused statement is one kernel and one allocation in a graph") {
  const array a = ca::ones({64, 64}), b = ca::ones({64, 64}), c = ca::ones({64, 64});
  ca::synchronize();
  // operands last written on another stream would be a dependency on it: borrow their memory instead
  const array x = ca::from_pointer(a.data(), {64, 64}), y = ca::from_pointer(b.data(), {64, 64}),
              z = ca::from_pointer(c.data(), {64, 64});
  const node_counts fused = captured([&] { array d = x + y * z; });
  CHECK(fused.kernels == 1);
  CHECK(fused.allocations == 1);
  CHECK(fused.others == 0);
  const node_counts reduced = captured([&] { array s = ca::sum((x - y) * (x - y), 1); });
  CHECK(reduced.kernels <= 2);
  CHECK(reduced.allocations <= 2);
  CHECK(reduced.others == 0);
}

TEST_CASE("cuda: work on two streams is ordered by the arrays it shares") {
  const ca::stream one, two;
  for (int round = 0; round < 20; ++round) {
    array a;
    {
      const ca::stream_scope scope(one);
      a = ca::full({1 << 20}, 0);
      for (int i = 0; i < 10; ++i) a += 1.f;
    }
    array b;
    {
      const ca::stream_scope scope(two);
      b = a * 2.f;  // waits for the additions
      a += 100.f;   // written on the other stream
    }
    {
      const ca::stream_scope scope(one);
      CHECK(ca::min(b).item() == 20.f);
      CHECK(ca::max(b).item() == 20.f);
      CHECK(ca::min(a).item() == 110.f);
      a += 1.f;
    }
    CHECK(ca::max(a).item() == 111.f);
  }
}

TEST_CASE("cuda: memory of a stream that is gone is still good") {
  array a;
  {
    const ca::stream s;
    const ca::stream_scope scope(s);
    a = ca::ones({1000});
  }
  CHECK(ca::sum(a).item() == 1000.f);
}

TEST_CASE("cuda: stream_scope restores the stream before") {
  const ca::stream before = ca::current_stream(), s;
  {
    const ca::stream_scope scope(s);
    CHECK(ca::current_stream() == s);
  }
  CHECK(ca::current_stream() == before);
}

TEST_CASE("cuda: an index out of range is thrown by the next synchronising call, once") {
  const array a = ca::array<float>({1, 2, 3});
  const array picked = ca::take(a, ca::array<int>({0, 7, 2}));
  CHECK(test::thrown<ca::index_error>([] { ca::synchronize(); }) ==
        "take: index 7 is out of bounds for axis 0 with size 3");
  CHECK(test::equal(picked, {3}, std::vector<float>{1, 0, 3}));
  ca::synchronize();
  const array unchanged = ca::array<float>({1, 2, 3});
  unchanged(ca::array<int>({-4, 1})) = 9;
  CHECK(test::thrown<ca::index_error>([] { ca::synchronize(); }) ==
        "index: index -4 is out of bounds for axis 0 with size 3");
  CHECK(test::equal(unchanged, {3}, std::vector<float>{1, 9, 3}));
}

TEST_CASE("cuda: faults are found by those who wait for the stream, and by no other") {
  const array table = ca::ones({3});
  const ca::stream one, two;
  const auto break_on = [&](const ca::stream& s, int k) {
    const auto i = ca::array<int>({k});
    const ca::stream_scope scope(s);
    const array picked = ca::take(table, i);
  };
  const auto text = [](int k) {
    return "take: index " + std::to_string(k) + " is out of bounds for axis 0 with size 3";
  };
  break_on(one, 7);
  two.synchronize();
  CHECK(ca::sum(table).item() == 3);
  CHECK(test::thrown<ca::index_error>([&] { one.synchronize(); }) == text(7));
  break_on(one, 8);
  ca::event e;
  e.record(one);
  CHECK(test::thrown<ca::index_error>([&] { e.synchronize(); }) == text(8));
  break_on(two, 9);
  CHECK(test::thrown<ca::index_error>([&] { ca::synchronize(); }) == text(9));
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(8);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      const ca::stream s;
      const ca::stream_scope scope(s);
      for (int i = 0; i < 50; ++i) {
        const bool breaks = (i + int(t)) % 3 == 0;
        const int k = breaks ? int(100 * t) + 3 + i : 1;
        const auto index = ca::array<int>({k});
        const std::string got =
            test::thrown<ca::index_error>([&] { (void)ca::copy(ca::take(table, index))(0).item(); });
        if (got != (breaks ? text(k) : "nothing was thrown")) wrong[t] = got;
      }
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == std::vector<std::string>(8));
}

TEST_CASE("cuda: a graph's faults are found by those who wait for the stream it was launched on") {
  const array table = ca::ones({3}), y = ca::zeros({2});
  const auto i = ca::array<int>({0, 1});
  const auto g = ca::graph::capture([&] { y(ca::_) = ca::take(table, i); });
  g.launch();
  ca::synchronize();
  i(1) = -5;
  const ca::stream s, other;
  {
    const ca::stream_scope scope(s);
    g.launch();
  }
  other.synchronize();
  CHECK(test::thrown<ca::index_error>([&] { s.synchronize(); }) ==
        "take: index -5 is out of bounds for axis 0 with size 3");
  i(1) = 2;
  g.launch();
  CHECK(test::equal(y, {2}, std::vector<float>{1, 1}));
}

TEST_CASE("cuda: threads that end leave no memory behind") {
  const array a = ca::ones({64, 64}), bias = ca::ones({64}), image = ca::ones({2, 3, 16, 16}),
              w = ca::ones({4, 3, 3, 3});
  const auto work = [&] {
    const ca::stream s;
    const ca::stream_scope scope(s);
    CHECK(ca::sum(ca::matmul(a, a)).item() == 64.f * 64 * 64);
    CHECK(ca::sum(ca::nnet::linear(a, a, bias)).item() == 65.f * 64 * 64);
    (void)ca::nnet::conv2d(image, w);
    s.synchronize();
  };
  const auto free_bytes = [] {
    ca::synchronize();
    std::size_t left = 0, all = 0;
    REQUIRE(cudaMemGetInfo(&left, &all) == cudaSuccess);
    return left;
  };
  for (int i = 0; i < 3; ++i) std::thread(work).join();
  const std::size_t before = free_bytes();
  for (int i = 0; i < 40; ++i) std::thread(work).join();
  CHECK(before - free_bytes() < (std::size_t(8) << 20));
}

TEST_CASE("cuda: a device that is not there") {
  CHECK(test::thrown<ca::error>([] { ca::zeros<float>({2}, ca::cuda{31}); }) != "nothing was thrown");
  CHECK(test::thrown<ca::device_error>([] { ca::zeros<float>({2}, ca::cuda{-1}); }) == "cuda: there is no device -1");
  CHECK(test::equal(ca::ones({2}), {2}, std::vector<float>{1, 1}));
}

TEST_CASE("cuda: events time what lies between them") {
  ca::event begin, end;
  begin.record();
  const array a = ca::ones({1 << 20});
  end.record();
  CHECK(ca::elapsed_ms(begin, end) >= 0.f);
}

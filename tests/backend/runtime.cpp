// The CUDA backend's streams, memory, graphs and handles on a runtime without a GPU, of two devices: no GPU needed.
// SPDX-License-Identifier: MIT
#include <functional>
#include <random>
#include <thread>

#include "test.hpp"

#include "backend/fake/kernels.hpp"

namespace {

using array = ca::ndarray<float, ca::cuda>;
using indices = ca::ndarray<ca::int64, ca::cuda>;
using texts = std::vector<std::string>;

array ones(const ca::shape& s, int ordinal = 0) { return ca::ones<float>(s, ca::cuda{ordinal}); }
indices index_of(std::initializer_list<ca::int64> v, int ordinal = 0) {
  return ca::to(ca::array<ca::int64, ca::cpu>(v), ca::cuda{ordinal});
}

/// What the runtime saw that it should not have.
texts faults() { return fake::violations(); }

}  // namespace

TEST_CASE("streams: one that nobody needs is used again, by one at a time") {
  const auto before = fake::now();
  for (int i = 0; i < 2000; ++i) {
    const ca::stream s;
    const ca::stream_scope scope(s);
    const array a = ones({4});
  }
  const auto after = fake::now();
  CHECK(after.streams - before.streams <= 2);
  CHECK(after.allocations - before.allocations <= 2);  // their tickets
  CHECK(after.events == before.events);
  const ca::stream a, b;
  CHECK(a != b);
  cudaStream_t busy = nullptr;
  {
    const ca::stream c;
    busy = c.get();
    fake::keep_busy(busy, true);
  }
  const auto made = fake::now().streams;
  for (int i = 0; i < 100; ++i) CHECK(ca::stream().get() != busy);
  CHECK(fake::now().streams - made <= 1);  // the others are used again meanwhile
  fake::keep_busy(busy, false);
  CHECK(faults() == texts{});
}

TEST_CASE("streams: one that cannot be made leaves nothing behind") {
  const ca::stream kept;
  std::vector<ca::stream> idle;  // so that one has to be made
  const auto take_all = [&] {
    for (int i = 0; i < 4; ++i) idle.emplace_back();
  };
  take_all();
  for (const char* call : {"cudaStreamCreateWithFlags", "cudaMallocAsync", "cudaMemsetAsync"}) {
    INFO(call);
    const auto before = fake::now();
    fake::fail(call, 1, cudaErrorInvalidValue);
    CHECK_THROWS_AS(ca::stream(), ca::cuda_error);
    const auto after = fake::now();
    CHECK(after.streams == before.streams);
    CHECK(after.allocations == before.allocations);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
  }
  CHECK(faults() == texts{});
}

TEST_CASE("memory: statements on several streams are ordered, whatever they read and write") {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t n) { return std::size_t(random() % n); };
  std::vector<ca::stream> streams(12);
  std::vector<array> arrays;
  for (int i = 0; i < 6; ++i) arrays.push_back(ones({3}));
  for (int step = 0; step < 20000; ++step) {
    if (step % 7 == 0) streams[pick(streams.size())] = ca::stream();  // the one before becomes another's
    const ca::stream_scope scope(streams[pick(streams.size())]);
    array& to = arrays[pick(arrays.size())];
    const array &x = arrays[pick(arrays.size())], &y = arrays[pick(arrays.size())];
    switch (pick(4)) {
      case 0:
        to(ca::_) = x + y;
        break;
      case 1:
        to = x * y;
        break;  // the memory before is released
      case 2:
        to = ones({3});
        break;
      default:
        to += x;
    }
  }
  arrays.clear();
  CHECK(faults() == texts{});
}

TEST_CASE("memory: what other streams have read costs the next write once") {
  array x = ones({3});
  for (int i = 0; i < 8; ++i) {
    const ca::stream s;
    const ca::stream_scope scope(s);
    const array y = x + 1.f;
  }
  const auto cost = [&] {
    const long before = fake::now().orders;
    x += 1.f;
    return fake::now().orders - before;
  };
  CHECK(cost() <= 8);
  CHECK(cost() == 0);
  const array y = x + 1.f;
  CHECK(cost() == 0);
  // reading again on a stream that has read costs nothing
  const ca::stream s;
  const ca::stream_scope scope(s);
  const array first = x + 1.f;
  const long before = fake::now().orders;
  const array second = x + 1.f;
  CHECK(fake::now().orders == before);
  CHECK(faults() == texts{});
}

TEST_CASE("memory: what the next owner of a stream does is ordered, too") {
  array x = ones({3}), y = ones({3});
  for (int i = 0; i < 20; ++i) {
    cudaStream_t first = nullptr;
    {
      const ca::stream s;
      first = s.get();
      const ca::stream_scope scope(s);
      if (i % 2) x = ones({3});
      else x += 1.f;
      y += x;
    }
    std::vector<ca::stream> next(1);
    while (next.back().get() != first && next.size() < 50) next.emplace_back();
    REQUIRE(next.back().get() == first);
    {
      const ca::stream_scope scope(next.back());
      if (i % 3) x += 1.f;
      y += x;
    }
    const array z = x + y;  // on the stream that threads start with
    if (i % 4 == 0) x += 1.f;
  }
  CHECK(faults() == texts{});
}

TEST_CASE("memory: where there is too little, what is cached is given back and it is tried again") {
  const auto limited = [](long more) { fake::limit_memory(fake::now().bytes + more); };
  limited(8000);
  {
    array a = ones({1000});
    a = array();
    const long trims = fake::now().trims;
    a = ones({1500});  // fits only without what the pool keeps of the first
    CHECK(fake::now().trims == trims + 1);
    const auto used = ca::memory_stats(ca::cuda{}).used;
    CHECK(test::thrown<ca::out_of_memory>([] { ones({3000}); }) ==
          "cuda: allocating 12000 bytes: cudaErrorMemoryAllocation: told to fail");
    CHECK(ca::memory_stats(ca::cuda{}).used == used);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    limited(100);
    CHECK_THROWS_AS(ca::graph::capture([&] { a(ca::_) = a + 1.f + ca::sum(a); }), ca::out_of_memory);
  }
  fake::limit_memory(0);
  CHECK(faults() == texts{});
}

TEST_CASE("faults: found by those who wait for the stream, once, and by none of the others") {
  const array table = ones({3});
  const ca::stream one, two;
  const auto break_on = [&](const ca::stream& s, ca::int64 k) {
    const indices i = index_of({k});
    const ca::stream_scope scope(s);
    const array picked = ca::take(table, i);
  };
  const auto text = [](ca::int64 k) {
    return "take: index " + std::to_string(k) + " is out of bounds for axis 0 with size 3";
  };
  break_on(one, 7);
  two.synchronize();
  CHECK(ones({1})(0).item() == 1);  // this thread's stream is another
  CHECK(test::thrown<ca::index_error>([&] { one.synchronize(); }) == text(7));
  one.synchronize();

  break_on(one, 8);
  ca::event e;
  e.record(one);
  CHECK(test::thrown<ca::index_error>([&] { e.synchronize(); }) == text(8));

  break_on(one, 9);
  break_on(two, 10);
  texts found;
  for (int i = 0; i < 3; ++i) found.push_back(test::thrown<ca::index_error>([] { ca::synchronize(ca::cuda{}); }));
  CHECK(std::count(found.begin(), found.end(), text(9)) == 1);
  CHECK(std::count(found.begin(), found.end(), text(10)) == 1);
  CHECK(found.back() == "nothing was thrown");

  std::thread([&] { break_on(ca::stream(), 11); }).join();  // nobody waited for it, and the stream becomes another's
  const ca::stream next;
  next.synchronize();
  CHECK(test::thrown<ca::index_error>([] { ca::synchronize(ca::cuda{}); }) == text(11));
}

TEST_CASE("faults: each thread finds its own") {
  const array table = ones({3});
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(8);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      const ca::stream s;
      const ca::stream_scope scope(s);
      for (int i = 0; i < 50; ++i) {
        const bool breaks = (i + int(t)) % 3 == 0;
        const ca::int64 k = breaks ? ca::int64(100 * t) + 3 + i : 1;
        const std::string expected =
            breaks ? "take: index " + std::to_string(k) + " is out of bounds for axis 0 with size 3"
                   : "nothing was thrown";
        const auto got =
            test::thrown<ca::index_error>([&] { (void)ca::copy(ca::take(table, index_of({k})))(0).item(); });
        if (got != expected) wrong[t] = got + " instead of " + expected;
      }
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == std::vector<std::string>(8));
  CHECK(faults() == texts{});
}

TEST_CASE("faults: of a graph, found by those who wait for the stream it was launched on") {
  const array table = ones({3});
  indices i = index_of({1});
  array y = ones({1});
  const ca::stream s, other;
  auto g = ca::graph::capture([&] { y(ca::_) = ca::take(table, i); }, ca::cuda{});
  {
    const ca::stream_scope scope(s);
    g.launch();
  }
  s.synchronize();
  // the fake runs kernels when they are captured
  i(ca::_) = 5;
  g = ca::graph::capture([&] { y(ca::_) = ca::take(table, i); }, ca::cuda{});
  {
    const ca::stream_scope scope(s);
    g.launch();
  }
  other.synchronize();
  CHECK(test::thrown<ca::index_error>([&] { s.synchronize(); }) ==
        "take: index 5 is out of bounds for axis 0 with size 3");
  s.synchronize();
}

TEST_CASE("faults: of a graph, are not the next owner's of its stream") {
  const array table = ones({3}), y = ones({1});
  const indices i = index_of({1});
  const auto g = ca::graph::capture([&] { y(ca::_) = ca::take(table, i); }, ca::cuda{});
  cudaStream_t handle = nullptr;
  {
    const ca::stream s;
    handle = s.get();
    const ca::stream_scope scope(s);
    g.launch();
    i(ca::_) = 5;
    const auto wrong = ca::graph::capture([&] { y(ca::_) = ca::take(table, i); }, ca::cuda{});
    wrong.launch();
  }
  std::vector<ca::stream> next(1);
  while (next.back().get() != handle && next.size() < 50) next.emplace_back();
  REQUIRE(next.back().get() == handle);
  next.back().synchronize();
  CHECK(test::thrown<ca::index_error>([] { ca::synchronize(ca::cuda{}); }) ==
        "take: index 5 is out of bounds for axis 0 with size 3");
  ca::synchronize(ca::cuda{});
  CHECK(faults() == texts{});
}

TEST_CASE("graphs: what one leaves may be used before it is launched") {
  const array x = ones({3});
  array big = ones({1 << 20}), left;
  big += 1.f;
  const auto g = ca::graph::capture([&] { left = x + 1.f; }, ca::cuda{});
  const ca::stream s;
  {
    const ca::stream_scope scope(s);
    left += 1.f;  // behind the allocation, which another stream made
  }
  g.launch();
  left += 1.f;
  CHECK(faults() == texts{});
}

TEST_CASE("graphs: that come and go on a stream nobody waits for leave nothing behind") {
  const array table = ones({3}), y = ones({1});
  const indices i = index_of({1});
  const ca::stream one, two;
  const auto use = [&] {
    const auto g = ca::graph::capture([&] { y(ca::_) = ca::take(table, i); }, ca::cuda{});
    for (const ca::stream* s : {&one, &two}) {
      const ca::stream_scope scope(*s);
      g.launch();
    }
  };
  for (int k = 0; k < 40; ++k) use();
  const long streams = fake::now().streams;
  for (int k = 0; k < 200; ++k) use();
  CHECK(fake::now().streams <= streams + 1);
  CHECK(faults() == texts{});
}

TEST_CASE("faults: an event reports those of the work up to it") {
  const array table = ones({3});
  const indices wrong = index_of({5});
  const ca::stream s;
  const ca::stream_scope scope(s);
  const array before = table + 1.f;
  ca::event e;
  e.record();
  const array picked = ca::take(table, wrong);
  e.synchronize();
  const std::string text = "take: index 5 is out of bounds for axis 0 with size 3";
  CHECK(test::thrown<ca::index_error>([&] { s.synchronize(); }) == text);
  array y = ones({1});
  const auto g = ca::graph::capture([&] { y(ca::_) = ca::take(table, wrong); });
  e.record();
  g.launch();
  e.synchronize();
  e.record();
  CHECK(test::thrown<ca::index_error>([&] { e.synchronize(); }) == text);
  CHECK(faults() == texts{});
}

TEST_CASE("devices: the one before is restored") {
  namespace gpu = ca::backend::gpu;
  const auto current = [] {
    int d = -1;
    REQUIRE(cudaGetDevice(&d) == cudaSuccess);
    return d;
  };
  {
    const gpu::device_guard one(1);
    CHECK(current() == 1);
    {
      const gpu::device_guard zero(0), again(0);
      CHECK(current() == 0);
    }
    CHECK(current() == 1);
  }
  CHECK(current() == 0);
  CHECK(test::thrown<ca::cuda_error>([] { gpu::device_guard(-1); }).find("making a device the current one") !=
        std::string::npos);
  CHECK(current() == 0);
  CHECK(test::thrown<ca::device_error>([] { (void)ca::graph::capture([] {}, ca::cuda{99}); }) ==
        "cuda: there is no device 99");
}

TEST_CASE("devices: work on the second makes no context on the first") {
  const ca::cuda one{1};
  (void)fake::contexts_made();
  {
    const array filter = ones({2, 2, 3, 3}, 1), image = ones({1, 2, 4, 4}, 1), table = ones({3}, 1);
    array x = ones({4, 4}, 1);
    x = ca::matmul(x, x) + ca::nnet::linear(x, x, x(0));
    (void)ca::nnet::conv2d(image, filter);
    (void)x(0, 0).item();
    const auto g = ca::graph::capture(
        [&] {
          x += 1.f;
          x(ca::_) = ca::matmul(x, x);
        },
        one);
    const ca::stream s(one), two(one);
    const ca::stream_scope scope(s);
    ca::event before(one), after(one);
    before.record();
    g.launch();
    x += 1.f;
    after.record();
    after.wait(two);
    (void)ca::elapsed_ms(before, after);
    s.synchronize();
    const array picked = ca::take(table, index_of({1, 7}, 1));
    CHECK(test::thrown<ca::index_error>([&] { ca::synchronize(one); }) != "nothing was thrown");
    (void)ca::memory_stats(one);
    ca::free_cached(one);
    std::thread([&] { const array y = x + 1.f; }).join();
  }
  CHECK(fake::contexts_made() == std::set<int>{1});
  CHECK(faults() == texts{});
}

TEST_CASE("waiting: for a device means all its streams, and never the device itself") {
  const ca::stream one, two;
  const auto before = fake::now();
  ca::synchronize(ca::cuda{});
  CHECK(fake::now().stream_waits - before.stream_waits >= 3);
  array x = ones({4});
  std::thread other;
  const auto g = ca::graph::capture(
      [&] {
        x += 1.f;
        std::thread([] {
          ca::free_cached(ca::cuda{});
          ca::synchronize(ca::cuda{});
          const array a = ones({10});
        }).join();
        x += 1.f;
      },
      ca::cuda{});
  g.launch();
  CHECK(fake::now().device_waits == before.device_waits);
  CHECK(faults() == texts{});
}

TEST_CASE("graphs: a launch costs the same after any number of streams") {
  array x = ones({1000});
  array left;
  const auto g = ca::graph::capture(
      [&] {
        const array t = x * 2.f;
        left = t + 1.f;
      },
      ca::cuda{});
  long least = 1000, most = 0;
  for (int i = 0; i < 500; ++i) {
    const ca::stream s;
    const ca::stream_scope scope(s);
    const long before = fake::now().orders;
    g.launch();
    const long cost = fake::now().orders - before;
    if (i < 10) least = std::max(cost, least == 1000 ? 0 : least);
    most = std::max(most, cost);
    const array y = left + 1.f;
  }
  CHECK(most <= least);
  CHECK(faults() == texts{});
}

TEST_CASE("graphs: launches on several streams beside other work are ordered") {
  std::mt19937 random(3);
  const auto pick = [&](std::size_t n) { return std::size_t(random() % n); };
  std::vector<ca::stream> streams(5);
  for (int round = 0; round < 50; ++round) {
    array x = ones({100}), y = ones({100}), left;
    std::vector<ca::graph> graphs;
    for (int k = 0; k < 3; ++k)
      graphs.push_back(ca::graph::capture(
          [&] {
            const array t = x * 2.f + ca::random::uniform({100}, 0, 1, ca::random::thread_generator(), ca::cuda{});
            y(ca::_) = t + y;
            left = t + 1.f;
          },
          ca::cuda{}));
    for (int step = 0; step < 40; ++step) {
      if (step % 7 == 0) streams[pick(streams.size())] = ca::stream();
      const ca::stream_scope scope(streams[pick(streams.size())]);
      switch (pick(5)) {
        case 0:
          x += y;
          break;
        case 1:
          (void)array(left + y);
          break;
        case 2:
          left = ones({100});
          break;
        default:
          graphs[pick(graphs.size())].launch();
      }
      if (pick(20) == 0 && graphs.size() > 1) graphs.pop_back();
    }
  }
  CHECK(faults() == texts{});
}

TEST_CASE("graphs: work of the current device is captured, and other devices are refused") {
  array x = ones({4}, 1), y = ones({4}, 0);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  const auto g = ca::graph::capture([&] { x += 1.f; });
  CHECK(test::thrown<ca::cuda_error>([&] { (void)ca::graph::capture([&] { y += 1.f; }); }) ==
        "graph: work on device 0 cannot be captured in a graph of device 1");
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  CHECK(test::thrown<ca::cuda_error>([&] { (void)ca::graph::capture([&] { x += 1.f; }); }) ==
        "graph: work on device 1 cannot be captured in a graph of device 0");
  const long before = fake::now().kernels;
  g.launch();
  CHECK(fake::now().kernels == before + 1);
  x += 1.f;  // nothing is captured any more
  y += 1.f;
  CHECK(faults() == texts{});
}

TEST_CASE("handles: threads that end leave none behind, nor memory") {
  const array a = ones({8, 8}), bias = ones({8});
  const array image = ones({1, 2, 4, 4}), filter = ones({2, 2, 3, 3});
  const auto work = [&] {
    const ca::stream s;
    const ca::stream_scope scope(s);
    (void)ca::matmul(a, a);
    (void)ca::nnet::linear(a, a, bias);
    (void)ca::nnet::conv2d(image, filter);
  };
  work();
  const auto before = fake::now();
  for (int i = 0; i < 100; ++i) std::thread(work).join();
  auto after = fake::now();
  CHECK(after.blas_handles == before.blas_handles);
  CHECK(after.dnn_handles == before.dnn_handles);
  CHECK(after.allocations == before.allocations);
  CHECK(after.bytes == before.bytes);
  CHECK(after.streams == before.streams);
  CHECK(after.dnn_descriptors == before.dnn_descriptors);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) work();
    });
  for (auto& t : threads) t.join();
  after = fake::now();
  CHECK(after.blas_handles - before.blas_handles < 8);
  CHECK(after.dnn_handles - before.dnn_handles < 8);
  CHECK(faults() == texts{});
}

TEST_CASE("handles: convolutions of any number of shapes keep a bounded number of plans") {
  const array filter = ones({1, 1, 1, 1});
  const auto convolve = [&](ca::int64 width) { (void)ca::nnet::conv2d(ones({1, 1, 1, width}), filter); };
  convolve(1);
  for (ca::int64 width = 1; width <= 400; ++width) convolve(width);
  const auto full = fake::now();
  for (ca::int64 width = 401; width <= 800; ++width) convolve(width);
  CHECK(fake::now().dnn_descriptors <= full.dnn_descriptors + 2);
  const long plans = fake::now().plans_made;
  convolve(800);
  convolve(700);
  CHECK(fake::now().plans_made == plans);  // used last
  convolve(3);
  CHECK(fake::now().plans_made == plans + 1);
}

TEST_CASE("handles: attention of half types asks cuDNN once for each size, and not for other dtypes") {
  const auto plans_for = [&]<class T>(T, ca::int64 steps) {
    const long before = fake::now().plans_made;
    const auto x = ca::empty<T>({2, 4, steps, 8}, ca::cuda{0});
    (void)ca::nnet::scaled_dot_product_attention(x, x, x, {.causal = true});
    return fake::now().plans_made - before;
  };
  CHECK(plans_for(ca::bfloat16(), 16) == 1);
  CHECK(plans_for(ca::bfloat16(), 16) == 0);
  CHECK(plans_for(ca::bfloat16(), 17) == 1);
  CHECK(plans_for(ca::float16(), 16) == 1);
  CHECK(plans_for(float(), 16) == 0);
  fake::dnn_supports(false);
  CHECK(plans_for(ca::float16(), 18) == 2);  // cuDNN's second list was asked as well: products do it
  CHECK(plans_for(ca::float16(), 18) == 0);
  fake::dnn_supports(true);
  CHECK(faults() == texts{});
}

TEST_CASE("handles: a plan that cuDNN did not have is asked for again") {
  const array image = ones({1, 1, 5, 5}), filter = ones({1, 1, 3, 3});
  const auto convolve = [&] {
    const long before = fake::now().plans_made;
    (void)ca::nnet::conv2d(image, filter);
    return fake::now().plans_made > before;
  };
  fake::dnn_supports(false);
  CHECK(convolve());
  CHECK_FALSE(convolve());
  fake::dnn_supports(true);
  int uses = 1;
  while (uses < 2000 && !convolve()) ++uses;
  CHECK(uses < 2000);
  CHECK_FALSE(convolve());
}

// The library on the second of two devices, on both at once, and what it leaves alone on the first. CUDA only.
// SPDX-License-Identifier: MIT
#include "backend/devices.hpp"

#include <dlfcn.h>

#include <thread>

namespace {

using ca::_;
using array = ca::ndarray<float, ca::cuda>;

/// A little of everything on a device: the same bits on each.
std::vector<float> computed_on(int ordinal) {
  const ca::cuda d{ordinal};
  namespace nnet = ca::nnet;
  ca::random::generator numbers(5);
  const auto normal = [&](const ca::shape& shape) { return ca::random::normal<float>(shape, 0, 1, numbers, d); };
  const array x = normal({300, 200}), w = normal({200, 64}), b = ca::ones<float>({64}, d),
              image = normal({2, 3, 16, 16}), filter = normal({4, 3, 3, 3});
  array y = nnet::linear(x, w, b, {.activation = nnet::activation::relu});
  y += ca::matmul(x, w) * 0.5f;
  std::vector<float> all = test::values(ca::sum(y, 0));
  const auto add = [&all](const auto& a) {
    for (const auto v : test::values(a)) all.push_back(float(v));
  };
  add(nnet::conv2d(image, filter, {.padding = 1}));
  add(ca::sort(x, 1));
  add(ca::argmax(x, 0));
  add(ca::cumsum(x(0)));
  add(ca::take(x, ca::random::integers({40}, 0, 300, numbers, d)));
  const auto g = ca::graph::capture([&] { y(_) = nnet::softmax(y) * 3.f + x(0, 0); }, d);
  for (int i = 0; i < 3; ++i) g.launch();
  add(y);
  return all;
}

int current_device() {
  int d = -1;
  REQUIRE(cudaGetDevice(&d) == cudaSuccess);
  return d;
}

}  // namespace

TEST_CASE("devices: the second computes what the first does") {
  if (!test::has_two_devices()) return;
  const auto zero = computed_on(0), one = computed_on(1);
  CHECK((zero == one));
  CHECK(current_device() == 0);
}

TEST_CASE("devices: threads on both at once") {
  if (!test::has_two_devices()) return;
  const auto expected = computed_on(0);
  bool equal[4] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      equal[t] = true;
      for (int i = 0; i < 5; ++i) equal[t] = equal[t] && computed_on(t % 2) == expected;
    });
  for (auto& t : threads) t.join();
  for (const bool e : equal) CHECK(e);
}

TEST_CASE("devices: copies between them, from threads and streams of each") {
  if (!test::has_two_devices()) return;
  const ca::int64 n = 1 << 22;
  array a = ca::zeros<float>({n}, ca::cuda{0}), b = ca::zeros<float>({n}, ca::cuda{1});
  const ca::stream s0(ca::cuda{0}), s1(ca::cuda{1});
  const ca::stream_scope first(s0), second(s1);
  constexpr int total = 50;
  for (int i = 0; i < total; ++i) {
    a += 1.f;
    ca::copyto(b, a);
    b *= 2.f;
    ca::copyto(a, b / 2.f);
  }
  CHECK(ca::sum<double>(a).item() == double(total) * double(n));
  CHECK(ca::sum<double>(b).item() == 2 * double(total) * double(n));
}

TEST_CASE("devices: a graph of the current device, and none of another's work") {
  if (!test::has_two_devices()) return;
  array x = ca::ones<float>({4}, ca::cuda{1}), y = ca::ones<float>({4}, ca::cuda{0});
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  const auto g = ca::graph::capture([&] { x += 1.f; });
  CHECK(g.kernels() == 1);
  CHECK(test::thrown<ca::cuda_error>([&] { (void)ca::graph::capture([&] { y += 1.f; }); }) ==
        "graph: work on device 0 cannot be captured in a graph of device 1");
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  for (int i = 0; i < 3; ++i) g.launch();
  CHECK(test::values(x) == std::vector<float>(4, 4));
  CHECK(test::values(y) == std::vector<float>(4, 1));
}

// Alone in a process: other tests have used device 0.
TEST_CASE("devices: work on the second makes no context on the first", "[.context]") {
  if (!test::has_two_devices()) return;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(driver != nullptr);
  const auto state = reinterpret_cast<int (*)(int, unsigned*, int*)>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  REQUIRE(state != nullptr);
  const auto active = [state](int d) {
    unsigned flags = 0;
    int is = -1;
    REQUIRE(state(d, &flags, &is) == 0);
    return is;
  };
  CHECK(active(0) == 0);
  array x = ca::ones<float>({1000}, ca::cuda{1});
  CHECK(active(0) == 0);
  x = ca::matmul(x, x) + x;
  CHECK(x(0).item() == 1001);
  CHECK(active(0) == 0);
  const auto g = ca::graph::capture([&] { x += 1.f; }, ca::cuda{1});
  g.launch();
  ca::synchronize(ca::cuda{1});
  CHECK(active(0) == 0);
  ca::free_cached(ca::cuda{1});
  CHECK(active(0) == 0);
  CHECK(active(1) == 1);
  CHECK(current_device() == 0);
}

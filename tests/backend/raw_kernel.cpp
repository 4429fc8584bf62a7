// Kernels from source: what they compute, what they are refused for. Needs a GPU and NVRTC.
// SPDX-License-Identifier: MIT
#include <cudarray/raw_kernel.hpp>

#include "../test.hpp"

namespace {

const char* const source = R"(
extern "C" __global__ void saxpy(float a, const float* x, float* y, long n) {
  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
template <class T, int N>
__global__ void powers(T* y, const T* x) {
  T r = T(1);
  for (int k = 0; k < N; ++k) r *= x[threadIdx.x];
  y[threadIdx.x] = r;
}
struct point { double x, y; };
__global__ void place(double* r, point p, bool turned, unsigned char byte) {
  const int at = blockIdx.y * 2 + threadIdx.z;
  r[at] = turned ? p.y * at + byte : p.x;
}
__global__ void backwards(int* r, const int* x, int n) {
  extern __shared__ int turned[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) turned[n - 1 - i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) r[i] = turned[i];
}
)";
struct point {
  double x, y;
};
using array = ca::ndarray<float>;
using numbers = std::vector<float>;

/// The first line of what an error says.
template <class E, class F>
std::string first_line(const F& f) {
  const std::string text = test::thrown<E>(f);
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("raw kernel: arrays, expressions, views and numbers") {
  const ca::raw_kernel saxpy(source, "saxpy");
  const array x = ca::arange(1000.f), y = ca::ones({1000});
  const ca::int64 n = 1000;
  saxpy({.grid = 4, .block = 256}, 2.f, x, ca::out(y), n);
  CHECK(ca::all(y == 2 * x + 1).item());
  saxpy({.grid = (n + 127) / 128, .block = 128}, -1.f, x + x, ca::out(y), n);
  CHECK(ca::all(y == 1).item());
  const array m = ca::reshape(ca::arange(6.f), {2, 3}), r = ca::zeros({3, 2});
  saxpy({.grid = 1, .block = 32}, 1.f, m.t(), ca::out(r), ca::int64(6));  // which gets into C order
  CHECK(test::equal(r, {3, 2}, numbers{0, 3, 1, 4, 2, 5}));
  saxpy({.grid = 1, .block = 32}, 1.f, x(ca::slice(10, 13)), ca::out(r(1)), ca::int64(2));
  CHECK(test::equal(r, {3, 2}, numbers{0, 3, 11, 15, 2, 5}));
}

TEST_CASE("raw kernel: templates, structures, axes, shared memory") {
  const ca::raw_kernel cubes(source, "powers<double, 3>"), squares(source, "powers<int, 2>");
  const ca::ndarray<double> c = ca::zeros<double>(4);
  cubes({.grid = 1, .block = 4}, ca::out(c), ca::arange<double>(4));
  CHECK(test::equal(c, {4}, std::vector<double>{0, 1, 8, 27}));
  const ca::ndarray<int> s = ca::zeros<int>(3);
  squares({.block = 3}, ca::out(s), ca::array<int>({3, -4, 5}));
  CHECK(test::equal(s, {3}, std::vector<int>{9, 16, 25}));
  const ca::raw_kernel place(source, "place", {"--use_fast_math", "-DUNUSED=1"});
  const ca::ndarray<double> p = ca::zeros<double>(6);
  place({.grid = {1, 3}, .block = {1, 1, 2}}, ca::out(p), point{7, 0.5}, true, (unsigned char)(200));
  CHECK(test::equal(p, {6}, std::vector<double>{200, 200.5, 201, 201.5, 202, 202.5}));
  const int n = 20000;  // more shared memory than without asking
  const ca::ndarray<int> b = ca::zeros<int>(n);
  const ca::raw_kernel backwards(source, "backwards");
  backwards({.block = 1024, .shared_bytes = n * 4}, ca::out(b), ca::arange<int>(n), n);
  CHECK(ca::all(b == ca::flip(ca::arange<int>(n))).item());
}

TEST_CASE("raw kernel: what it writes is an assignment, on its stream") {
  const ca::raw_kernel saxpy(source, "saxpy");
  const array x = ca::ones({8});
  array y = ca::zeros({8});
  const auto formula = y * 2;
  saxpy({.block = 8}, 1.f, x, ca::out(y), ca::int64(8));
  CHECK_THROWS_AS(ca::eval(formula), ca::stale_error);
  const auto of_x = ca::eval(x * 3);
  CHECK(ca::all(of_x == 3).item());
  // many, one after another, among other kernels
  for (int k = 0; k < 100; ++k) {
    y += 1;
    saxpy({.block = 8}, 1.f, x, ca::out(y), ca::int64(8));
  }
  CHECK(ca::all(y == 201).item());
  const auto kernels = ca::stats().kernels;
  saxpy({.block = 8}, 1.f, x, ca::out(y), ca::int64(8));
  CHECK(ca::stats().kernels == kernels + 1);
}

TEST_CASE("raw kernel: refusals") {
  const array x = ca::ones({8}), y = ca::zeros({8});
  const ca::int64 n = 8;
  const ca::raw_kernel saxpy(source, "saxpy"), none(source, "nothing"),
      wrong("__global__ void f(int* a) { b = 1; }", "f");
  CHECK(first_line<ca::cuda_error>([&] { wrong({}, ca::out(y)); }) ==
        "raw_kernel f: nvrtcCompileProgram: NVRTC_ERROR_COMPILATION");
  CHECK(test::thrown<ca::cuda_error>([&] { wrong({}, ca::out(y)); }).find("identifier \"b\" is undefined") !=
        std::string::npos);
  CHECK(first_line<ca::cuda_error>([&] { none({}, ca::out(y)); }).find("raw_kernel nothing: ") == 0);
  CHECK(test::thrown<ca::value_error>([&] { saxpy({}, 1.f, x, ca::out(y)); }) ==
        "raw_kernel saxpy: 3 arguments for 4 parameters");
  CHECK(test::thrown<ca::value_error>([&] { saxpy({}, 1.0, x, ca::out(y), n); }) ==
        "raw_kernel saxpy: argument 0 has 8 bytes, its parameter 4");
  CHECK(test::thrown<ca::value_error>([&] { saxpy({.grid = 0}, 1.f, x, ca::out(y), n); }) ==
        "raw_kernel saxpy: 0 x 1 x 1 blocks");
  CHECK(test::thrown<ca::value_error>([&] {
          saxpy({.block = {1, -2}}, 1.f, x, ca::out(y), n);
        }) == "raw_kernel saxpy: 1 x -2 x 1 threads");
  CHECK(test::thrown<ca::value_error>([&] { saxpy({.shared_bytes = -1}, 1.f, x, ca::out(y), n); }) ==
        "raw_kernel saxpy: -1 bytes of shared memory");
  CHECK(test::thrown<ca::cuda_error>([&] {
          saxpy({.block = 2048}, 1.f, x, ca::out(y), n);
        }).find("cuda: launch of raw_kernel saxpy: cudaErrorInvalid") == 0);
  CHECK(test::thrown<ca::value_error>([&] {
          saxpy({}, 1.f, x, ca::out(ca::reshape(y, {2, 4}).t()), n);
        }) == "raw_kernel saxpy: an array of shape (4, 2) that is written does not lie in C order");
  CHECK_THROWS_AS(saxpy({}, 1.f, x, ca::out(ca::broadcast_to(x, {2, 8})), n), ca::value_error);
  // nothing of these has been written, and nothing is left of the errors
  CHECK(ca::all(y == 0).item());
  saxpy({.block = 8}, 1.f, x, ca::out(y), n);
  CHECK(ca::all(y == 1).item());
}

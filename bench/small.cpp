// A chain of operations on 1024 elements, where launching is all the work: into an existing array, into a new one, and
// in a CUDA graph, beside the bare kernel launches that they cannot beat.
// SPDX-License-Identifier: MIT
#include <cudarray/graph.hpp>
#include <memory>

#include "bench.hpp"

using namespace bench;

namespace {

constexpr int64 n = 1024;

#if defined(__CUDACC__)
__global__ void triad_kernel(const float* a, const float* x, const float* c, float* y) {
  const int i = int(blockIdx.x) * 256 + int(threadIdx.x);
  y[i] = a[i] + x[i] * c[i];
}
void bare(const float* a, const float* x, const float* c, float* y) {
  triad_kernel<<<n / 256, 256, 0, ca::current_stream().get()>>>(a, x, c, y);
}
#else
void bare(const float* a, const float* x, const float* c, float* __restrict y) {
  for (int64 i = 0; i < n; ++i) y[i] = a[i] + x[i] * c[i];
  asm volatile("" ::: "memory");  // one call after another
}
#endif

struct operands {
  array a = normal(n), c = ca::random::normal(n, 0, 0.1f), x = normal(n), y = ca::empty(n);
};

}  // namespace

int main(int argc, char** argv) {
  suite s(argc, argv);
  const auto add = [&](const char* peer, const auto& make) {
    s.row("E5_small", count(n), {.peer = peer, .chain = true}, make);
  };
  add(gpu ? "bare_launch" : "bare_loop", [] {
    return [p = operands()]() mutable {
      bare(p.a.data(), p.x.data(), p.c.data(), p.y.data());
      std::swap(p.x, p.y);
    };
  });
  add("cudarray_into", [] {
    return [p = operands()]() mutable {
      p.y(ca::_) = p.a + p.x * p.c;
      std::swap(p.x, p.y);
    };
  });
  add("cudarray_new", [] { return [p = operands()]() mutable { p.x = array(p.a + p.x * p.c); }; });
  add("cudarray", [] { return [p = operands()]() mutable { p.x = p.a + p.x * p.c; }; });
#if defined(__CUDACC__)
  // 100 steps a launch, as the peers' graphs
  s.row("E5_small", count(n), {.footprint = 1e9, .peer = "bare_graph", .steps = 100}, [] {
    const operands p;
    const auto g = std::make_shared<ca::graph>(ca::graph::capture([&] {
      for (int i = 0; i < 50; ++i) {
        bare(p.a.data(), p.x.data(), p.c.data(), p.y.data());
        bare(p.a.data(), p.y.data(), p.c.data(), p.x.data());
      }
    }));
    return [g, p] { g->launch(); };
  });
  s.row("E5_small", count(n), {.footprint = 1e9, .peer = "cudarray_graph", .steps = 100}, [] {
    const operands p;
    const auto step = [&] {
      p.y(ca::_) = p.a + p.x * p.c;
      p.x(ca::_) = p.a + p.y * p.c;
    };
    const auto g = std::make_shared<ca::graph>(ca::graph::capture([&] {
      for (int i = 0; i < 50; ++i) step();
    }));
    return [g, p] { g->launch(); };
  });
#endif
  return s.run();
}

// The rows of scripts/cpu-bench in Eigen: its tensors on its thread pool, and its matrices.
// SPDX-License-Identifier: MIT
#define EIGEN_USE_THREADS
#include <Eigen/Core>
#include <array>
#include <unsupported/Eigen/CXX11/Tensor>

#include "worker.hpp"

using namespace worker;

namespace {

template <class T, int N>
using tensor = Eigen::Tensor<T, N, Eigen::RowMajor>;
template <int N>
using floats = tensor<float, N>;
template <class... I>
std::array<int64, sizeof...(I)> at(I... i) {
  return {int64(i)...};
}

std::unique_ptr<Eigen::ThreadPool> pool;
std::unique_ptr<Eigen::ThreadPoolDevice> device;

template <class T = float, std::size_t N>
auto of(const std::array<int64, N>& shape, float scale = 0) {
  return [=](int seed) {
    auto a = std::make_shared<tensor<T, int(N)>>(shape);
    fill(a->data(), a->size(), seed, scale);
    return a;
  };
}
template <class T = float>
auto of(int64 n, float scale = 0) {
  return of<T>(at(n), scale);
}

/// Adds a row that assigns f(arguments...) to an array of T and of this shape, which is there.
template <class T = float, std::size_t N, class F, class... Make>
void row_into(const char* name, const std::array<int64, N>& shape, F f, Make... make) {
  const auto call = [f](const auto& d, const auto&... a) {
    d->device(*device) = f(*a...);
    return d.get();
  };
  row(name, call, of<T>(shape), [=](int seed) { return make(seed - 1); }...);
}

void maps() {
  const auto square = at(4096, 4096), odd = at(4093, 4099);
  const auto many = at(16 * M);
  const auto triad = [](const auto& a, const auto& b, const auto& c) { return a + b * c; };
  row_into("triad 16M into", many, triad, of(many), of(many), of(many));
  row(
      "triad 16M new",
      [](const auto& a, const auto& b, const auto& c) {
        floats<1> d(a->size());
        d.device(*device) = *a + *b * *c;
        return d;
      },
      of(many), of(many), of(many));
  row_into<double>("triad double 8M", at(8 * M), triad, of<double>(8 * M), of<double>(8 * M), of<double>(8 * M));
  row_into<int>("triad int32 16M", many, triad, of<int>(many), of<int>(many), of<int>(many));
  const auto small = [](int seed) {
    Eigen::ArrayXf a(K);
    fill(a.data(), K, seed);
    return a;
  };
  const auto small_into = [](const auto& a, const auto& b, const auto& c, auto& d) {
    d = a + b * c;
    return &d;
  };
  row("triad 1K into", small_into, small, small, small, small);
  row(
      "triad 1K new", [](const auto& a, const auto& b, const auto& c) { return Eigen::ArrayXf(a + b * c); }, small,
      small, small);
  row(
      "sum 1K", [](const auto& a) { return a.sum(); }, small);
  const auto chain = [](const auto& a, const auto& b, const auto& c) {
    return a.tanh() * b + (-c * c).exp() + a.abs().sqrt();
  };
  row_into("chain 4M", at(4 * M), chain, of(4 * M), of(4 * M), of(4 * M));
  row_into(
      "sin 4M", at(4 * M), [](const auto& a) { return a.unaryExpr(Eigen::internal::scalar_sin_op<float>()); },
      of(4 * M));
  row_into<double>(
      "exp double 4M", at(4 * M), [](const auto& a) { return a.exp(); }, of<double>(4 * M));

  const auto plus = [](const auto& a, const auto& b) { return a + b; };
  const auto plus_broadcast = [](auto times) {
    return [=](const auto& a, const auto& b) { return a + b.broadcast(times); };
  };
  const auto row_new = [](const char* name, auto times, auto make_a, auto make_b) {
    const auto call = [=](const auto& a, const auto& b) {
      std::decay_t<decltype(*a)> d(a->dimensions());
      d.device(*device) = *a + b->broadcast(times);
      return d;
    };
    row(name, call, make_a, make_b);
  };
  row_new("a + row 4096^2", at(4096, 1), of(square), of(at(1, 4096)));
  row_new("a + column 4096^2", at(1, 4096), of(square), of(at(4096, 1)));
  row_new("a + row 4093x4099", at(4093, 1), of(odd), of(at(1, 4099)));
  row_new("a + b 5 axes", at(1, 17, 1, 33, 1), of(at(32, 17, 8, 33, 29)), of(at(32, 1, 8, 1, 29)));
  using std::uint8_t, Eigen::half;
  row_into<uint8_t>("a + b uint8 64M", at(64 * M), plus, of<uint8_t>(64 * M), of<uint8_t>(64 * M));
  row_into<half>("a + b float16 16M", many, plus, of<half>(many), of<half>(many));
  const auto transposed = [](const auto& a, const auto& b) { return a + b.shuffle(std::array{1, 0}); };
  row_into("a + b.T 4096^2", square, transposed, of(square), of(square));
  row_into("a + b.T 4093x4099", odd, transposed, of(odd), of(at(4099, 4093)));
  row_into(
      "where 16M", many, [](const auto& m, const auto& a, const auto& b) { return m.select(a, b); }, of<bool>(many),
      of(many), of(many));
  row_into<bool>(
      "a < b 16M", many, [](const auto& a, const auto& b) { return a < b; }, of(many), of(many));
  row_into<int>(
      "float to int32 16M", many, [](const auto& a) { return a.template cast<int>(); }, of(many, 100));
  const auto to_float = [](const auto& a) { return a.template cast<float>(); };
  row_into("uint8 to float 16M", many, to_float, of<uint8_t>(many));
  row_into("float16 to float 16M", many, to_float, of<half>(many));
  row_into<half>(
      "float to float16 16M", many, [](const auto& a) { return a.template cast<half>(); }, of(many));
  row_into(
      "a[::2, ::-1] 4096^2", at(2048, 4096),
      [](const auto& a) {
        return a.stride(at(2, 1)).reverse(std::array{false, true});
      },
      of(square));
  row_into(
      "transpose copy 4096^2", square,
      [](const auto& a) {
        return a.shuffle(std::array{1, 0});
      },
      of(square));
}

void reductions() {
  const auto square = at(4096, 4096), scores = at(4096, 1024);
  const auto line = at(4096);
  const std::array<int64, 0> point;
  const auto sum = [](const auto& a) { return a.sum(); };
  const auto sum_over = [](int axis) { return [=](const auto& a) { return a.sum(std::array{axis}); }; };
  row_into("sum 16M", point, sum, of(16 * M));
  row_into<int64>(
      "sum int32 16M", point, [](const auto& a) { return a.template cast<int64>().sum(); }, of<int>(16 * M));
  row_into<std::uint8_t>(
      "max uint8 64M", point, [](const auto& a) { return a.maximum(); }, of<std::uint8_t>(64 * M));
  row_into(
      "sum((a-b)^2) 16M", point, [](const auto& a, const auto& b) { return (a - b).square().sum(); }, of(16 * M),
      of(16 * M));
  row_into("sum axis 1 4096^2", line, sum_over(1), of(square));
  row_into("sum axis 0 4096^2", line, sum_over(0), of(square));
  row_into("sum axis 1 64x512x256", at(64, 256), sum_over(1), of(at(64, 512, 256)));
  row_into("sum axis 1 1Mx16", at(M), sum_over(1), of(at(M, 16)));
  row_into("sum axis 0 1Mx16", at(16), sum_over(0), of(at(M, 16)));
  row_into<double>("sum axis 0 double 4093x2049", at(2049), sum_over(0), of<double>(at(4093, 2049)));
  row_into(
      "max axis 1 4096^2", line, [](const auto& a) { return a.maximum(std::array{1}); }, of(square));
  row_into<int64>(
      "argmax axis 1 4096^2", line, [](const auto& a) { return a.argmax(1).template cast<int64>(); }, of(square));
  const auto variance = [](int axis, const floats<2>& a) {
    const auto flat = axis == 1 ? at(4096, 1) : at(1, 4096), times = axis == 1 ? at(1, 4096) : at(4096, 1);
    floats<1> m(4096), v(4096);
    m.device(*device) = a.mean(std::array{axis});
    v.device(*device) = (a - m.reshape(flat).broadcast(times)).square().mean(std::array{axis});
    return v;
  };
  row(
      "mean and var axis 1 4096^2", [=](const auto& a) { return variance(1, *a); }, of(square));
  row(
      "var axis 0 4096^2", [=](const auto& a) { return variance(0, *a); }, of(square));

  const auto log_sum = [](const floats<2>& a, floats<1>& m, floats<1>& s) {
    m.device(*device) = a.maximum(std::array{1});
    s.device(*device) = (a - m.reshape(at(4096, 1)).broadcast(at(1, 1024))).exp().sum(std::array{1}).log() + m;
  };
  row(
      "logsumexp 4096x1024",
      [=](const auto& a) {
        floats<1> m(4096), s(4096);
        log_sum(*a, m, s);
        return s;
      },
      of(scores));
  row(
      "log_softmax 4096x1024",
      [=](const auto& a) {
        floats<1> m(4096), s(4096);
        floats<2> d(scores);
        log_sum(*a, m, s);
        d.device(*device) = *a - s.reshape(at(4096, 1)).broadcast(at(1, 1024));
        return d;
      },
      of(scores));
  row(
      "softmax 4096x1024",
      [=](const auto& a) {
        floats<1> m(4096);
        floats<2> d(scores);
        m.device(*device) = a->maximum(std::array{1});
        d.device(*device) = (*a - m.reshape(at(4096, 1)).broadcast(at(1, 1024))).exp();
        m.device(*device) = d.sum(std::array{1}).inverse();
        d.device(*device) = d * m.reshape(at(4096, 1)).broadcast(at(1, 1024));
        return d;
      },
      of(scores));
  row_into(
      "cumsum 16M", at(16 * M), [](const auto& a) { return a.cumsum(0); }, of(16 * M));
}

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void products() {
  const auto square = [](int64 n) {
    return [=](int seed) {
      matrix a(n, n);
      fill(a.data(), a.size(), seed);
      return a;
    };
  };
  const auto product = [](const matrix& a, const matrix& b, matrix& c) {
    c.noalias() = a * b;
    return &c;
  };
  row("sgemm 1024", product, square(1024), square(1024), square(1024));
  row("sgemm 64", product, square(64), square(64), square(64));
  const auto batch = of(at(64, 64, 64));
  row(
      "sgemm 64 of 64",
      [](const auto& a, const auto& b, const auto& c) {
        const auto part = [](const auto& t, int i) { return Eigen::Map<matrix>(t->data() + i * 4096, 64, 64); };
#pragma omp parallel for
        for (int i = 0; i < 64; ++i) part(c, i).noalias() = part(a, i) * part(b, i);
        return c.get();
      },
      batch, batch, batch);
}

}  // namespace

int main() {
  maps();
  reductions();
  products();
  return serve([](int threads) {
    device.reset();
    pool = std::make_unique<Eigen::ThreadPool>(threads);
    device = std::make_unique<Eigen::ThreadPoolDevice>(pool.get(), threads);
    Eigen::setNbThreads(threads);
  });
}

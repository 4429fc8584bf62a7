// The rows of scripts/cpu-bench in cudarray.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#if __has_include(<cudarray/threads.hpp>)
#include <cudarray/threads.hpp>
#endif

#include "worker.hpp"

namespace ca = cudarray;
using namespace worker;
using ca::_, ca::eval, ca::out;

namespace {

using array = ca::ndarray<float>;
using index_array = ca::ndarray<int64>;

template <class T = float>
auto of(const ca::shape& s, float scale = 0) {
  return [=](int seed) {
    const auto a = ca::empty<T>(s);
    fill(a.data(), a.size(), seed, scale);
    return a;
  };
}

void maps() {
  const ca::shape square{4096, 4096}, odd{4093, 4099};
  const auto many = of(16 * M);
  const auto into = [](const auto& a, const auto& b, const auto& c, const auto& d) {
    d(_) = a + b * c;
    return &d;
  };
  const auto made = [](const array& a, const array& b, const array& c) {
    array d = a + b * c;
    return d;
  };
  row("triad 16M into", into, many, many, many, many);
  row("triad 16M new", made, many, many, many);
  row("triad 1K into", into, of(K), of(K), of(K), of(K));
  row("triad 1K new", made, of(K), of(K), of(K));
  const auto f64 = of<double>(8 * M);
  row("triad double 8M", into, f64, f64, f64, f64);
  const auto i32 = of<int>(16 * M);
  row("triad int32 16M", into, i32, i32, i32, i32);
  const auto chain = [](const array& a, const array& b, const array& c, const array& d) {
    d(_) = ca::tanh(a) * b + ca::exp(-c * c) + ca::sqrt(ca::abs(a));
    return &d;
  };
  row("chain 4M", chain, of(4 * M), of(4 * M), of(4 * M), of(4 * M));
  const auto sin = [](const array& a, const array& d) {
    d(_) = ca::sin(a);
    return &d;
  };
  row("sin 4M", sin, of(4 * M), of(4 * M));
  const auto exp = [](const auto& a, const auto& d) {
    d(_) = ca::exp(a);
    return &d;
  };
  row("exp double 4M", exp, of<double>(4 * M), of<double>(4 * M));
  const auto remainder = [](const array& a, const array& b, const array& d) {
    d(_) = a % b;
    return &d;
  };
  row("a % b 4M", remainder, of(4 * M), of(4 * M), of(4 * M));

  const auto plus = [](const auto& a, const auto& b) { return eval(a + b); };
  row("a + row 4096^2", plus, of(square), of(4096));
  row("a + column 4096^2", plus, of(square), of({4096, 1}));
  row("a + row 4093x4099", plus, of(odd), of(4099));
  row("a + b 5 axes", plus, of({32, 17, 8, 33, 29}), of({32, 1, 8, 1, 29}));
  const auto plus_into = [](const auto& a, const auto& b, const auto& d) {
    d(_) = a + b;
    return &d;
  };
  row("a + b uint8 64M", plus_into, of<ca::uint8>(64 * M), of<ca::uint8>(64 * M), of<ca::uint8>(64 * M));
  row("a + b float16 16M", plus_into, of<ca::float16>(16 * M), of<ca::float16>(16 * M), of<ca::float16>(16 * M));
  const auto plus_transposed = [](const array& a, const array& b, const array& d) {
    d(_) = a + b.t();
    return &d;
  };
  row("a + b.T 4096^2", plus_transposed, of(square), of(square), of(square));
  row("a + b.T 4093x4099", plus_transposed, of(odd), of({4099, 4093}), of(odd));

  const auto where = [](const auto& m, const array& a, const array& b, const array& d) {
    d(_) = ca::where(m, a, b);
    return &d;
  };
  row("where 16M", where, of<bool>(16 * M), many, many, many);
  const auto less = [](const array& a, const array& b, const auto& d) {
    d(_) = a < b;
    return &d;
  };
  row("a < b 16M", less, many, many, of<bool>(16 * M));
  const auto convert = [](const auto& a, const auto& d) {
    d(_) = ca::astype<typename std::decay_t<decltype(d)>::value_type>(a);
    return &d;
  };
  row("float to int32 16M", convert, of(16 * M, 100), of<int>(16 * M));
  row("uint8 to float 16M", convert, of<ca::uint8>(16 * M), many);
  row("float16 to float 16M", convert, of<ca::float16>(16 * M), many);
  row("float to float16 16M", convert, many, of<ca::float16>(16 * M));

  const auto slice = [](const array& a, const array& d) {
    d(_) = a(ca::slice(ca::none, ca::none, 2), ca::slice(ca::none, ca::none, -1));
    return &d;
  };
  row("a[::2, ::-1] 4096^2", slice, of(square), of({2048, 4096}));
  const auto transpose = [](const array& a, const array& d) {
    d(_) = a.t();
    return &d;
  };
  row("transpose copy 4096^2", transpose, of(square), of(square));
}

void reductions() {
  const ca::shape square{4096, 4096};
  const auto sum = [](const auto& a) { return ca::sum(a).item(); };
  row("sum 16M", sum, of(16 * M));
  row("sum 1K", sum, of(K));
  row("sum int32 16M", sum, of<int>(16 * M));
  row("sum uint8 64M", sum, of<ca::uint8>(64 * M));
  row(
      "max uint8 64M", [](const auto& a) { return ca::max(a).item(); }, of<ca::uint8>(64 * M));
  row(
      "sum((a-b)^2) 16M", [](const array& a, const array& b) { return ca::sum((a - b) * (a - b)).item(); }, of(16 * M),
      of(16 * M));
  const auto sum_0 = [](const auto& a) { return eval(ca::sum(a, 0)); };
  const auto sum_1 = [](const array& a) { return eval(ca::sum(a, 1)); };
  row("sum axis 1 4096^2", sum_1, of(square));
  row("sum axis 0 4096^2", sum_0, of(square));
  row("sum axis 1 64x512x256", sum_1, of({64, 512, 256}));
  row("sum axis 1 1Mx16", sum_1, of({M, 16}));
  row("sum axis 0 1Mx16", sum_0, of({M, 16}));
  row("sum axis 0 double 4093x2049", sum_0, of<double>({4093, 2049}));
  row(
      "max axis 1 4096^2", [](const array& a) { return eval(ca::max(a, 1)); }, of(square));
  row(
      "argmax axis 1 4096^2", [](const array& a) { return eval(ca::argmax(a, 1)); }, of(square));
  row(
      "mean and var axis 1 4096^2", [](const array& a) { return ca::mean_var(a, 1).var; }, of(square));
  row(
      "var axis 0 4096^2", [](const array& a) { return eval(ca::var(a, 0)); }, of(square));
  row(
      "softmax 4096x1024", [](const array& a) { return ca::nnet::softmax(a); }, of({4096, 1024}));
  row(
      "log_softmax 4096x1024", [](const array& a) { return ca::nnet::log_softmax(a); }, of({4096, 1024}));
  row(
      "logsumexp 4096x1024", [](const array& a) { return ca::nnet::logsumexp(a); }, of({4096, 1024}));
}

void others() {
  row(
      "cumsum 16M", [](const array& a) { return ca::cumsum(a); }, of(16 * M));
  row(
      "sort 4M", [](const array& a) { return ca::sort(a); }, of(4 * M));
  row(
      "argsort 1M", [](const array& a) { return ca::argsort(a); }, of(M));
  row(
      "topk 100 of 16M", [](const array& a) { return ca::topk(a, 100).values; }, of(16 * M));
  row(
      "topk 8 of 128Kx64", [](const array& a) { return ca::topk(a, 8).values; }, of({128 * K, 64}));
  row(
      "a[mask] 16M", [](const array& a, const auto& m) { return eval(a(m)); }, of(16 * M), of<bool>(16 * M));
  row(
      "take 100K rows of 1Mx32", [](const array& a, const index_array& i) { return eval(ca::take(a, i)); }, of({M, 32}),
      of<int64>(100000, 1e6f));
  row(
      "uniform 16M", [](const array& a) { return ca::random::uniform(0, 1, out(a)), &a; }, of(16 * M));
  row(
      "normal 16M", [](const array& a) { return ca::random::normal(0, 1, out(a)), &a; }, of(16 * M));
  const auto product = [](const array& a, const array& b, const array& c) { return ca::matmul(a, b, out(c)), &c; };
  row("sgemm 1024", product, of({1024, 1024}), of({1024, 1024}), of({1024, 1024}));
  row("sgemm 64", product, of({64, 64}), of({64, 64}), of({64, 64}));
  row("sgemm 64 of 64", product, of({64, 64, 64}), of({64, 64, 64}), of({64, 64, 64}));
}

struct parameter {
  array value, momentum;
  parameter(int seed, const ca::shape& s, float scale)
      : value((of(s)(seed) - 0.5f) * (2 * scale)), momentum(ca::zeros(s)) {}
  void step(const array& gradient) {
    momentum(ca::ellipsis) = 0.9f * momentum - 0.02f * gradient;
    value += momentum;
  }
};

struct dense {
  parameter w, b;
  dense(int seed, int in, int out) : w(seed, {in, out}, 1 / std::sqrt(float(in))), b(seed + 1, out, 0) {}
  array forward(const array& x) const { return ca::nnet::linear(x, w.value, b.value); }
  array backward(const array& x, const array& dy, bool want_dx = true) {
    array dx;
    if (want_dx) dx = ca::matmul(dy, w.value.t());
    w.step(ca::matmul(x.t(), dy));
    b.step(ca::sum(dy, 0));
    return dx;
  }
};

struct convolution {
  parameter w, b;
  convolution(int seed, int in, int out)
      : w(seed, {out, in, 5, 5}, 0.2f / std::sqrt(float(in))), b(seed + 1, {out, 1, 1}, 0) {}
  array forward(const array& x) const { return ca::nnet::conv2d(x, w.value, {.padding = 2}) + b.value; }
  array backward(const array& x, const array& dy, bool want_dx = true) {
    array dx;
    if (want_dx) dx = ca::nnet::conv2d_backward_data(dy, w.value, x.shape(), {.padding = 2});
    w.step(ca::nnet::conv2d_backward_weights(x, dy, w.value.shape(), {.padding = 2}));
    b.step(ca::reshape(ca::sum(dy, {0, 2, 3}), b.value.shape()));
    return dx;
  }
};

array loss_gradient(const array& scores, const array& truth) {
  return ca::nnet::softmax_cross_entropy_backward(scores, truth) * (1.f / float(truth.shape(0)));
}

struct mlp {
  dense one{0, 784, 512}, two{2, 512, 256}, three{4, 256, 10};
  array train(const array& x, const array& truth) {
    const array a = one.forward(x), ra = ca::nnet::relu(a);
    const array b = two.forward(ra), rb = ca::nnet::relu(b);
    const array dy = loss_gradient(three.forward(rb), truth);
    const array db = ca::nnet::relu_backward(three.backward(rb, dy), b);
    one.backward(x, ca::nnet::relu_backward(two.backward(ra, db), a), false);
    return one.w.momentum;
  }
};

struct lenet {
  convolution one{0, 1, 32}, two{2, 32, 64};
  dense three{4, 3136, 512}, four{6, 512, 10};
  array train(const array& images, const array& truth) {
    const array x = ca::reshape(images, {images.shape(0), 1, 28, 28});
    const array a = one.forward(x), ra = ca::nnet::relu(a), pa = ca::nnet::max_pool2d(ra);
    const array b = two.forward(pa), rb = ca::nnet::relu(b), pb = ca::nnet::max_pool2d(rb);
    const array flat = ca::reshape(pb, {images.shape(0), 3136});
    const array c = three.forward(flat), rc = ca::nnet::relu(c);
    const array dy = loss_gradient(four.forward(rc), truth);
    const array dflat = three.backward(flat, ca::nnet::relu_backward(four.backward(rc, dy), c));
    const array db = ca::nnet::relu_backward(ca::nnet::max_pool2d_backward(ca::reshape(dflat, pb.shape()), rb), b);
    const array da = ca::nnet::relu_backward(ca::nnet::max_pool2d_backward(two.backward(pa, db), ra), a);
    one.backward(x, da, false);
    return one.w.momentum;
  }
};

void networks() {
  const auto forward = [](const array& x, const array& w) { return ca::nnet::conv2d(x, w, {.padding = 2}); };
  const auto weights = [](const array& x, const array& w, const array& dy) {
    return ca::nnet::conv2d_backward_weights(x, dy, w.shape(), {.padding = 2});
  };
  const auto backward = [=](const array& x, const array& w, const array& dy) {
    const array dw = weights(x, w, dy);
    return ca::nnet::conv2d_backward_data(dy, w, x.shape(), {.padding = 2});
  };
  row("conv 32-64 forward", forward, of({32, 32, 14, 14}), of({64, 32, 5, 5}));
  row("conv 32-64 backward", backward, of({32, 32, 14, 14}), of({64, 32, 5, 5}), of({32, 64, 14, 14}));
  row("conv 1-32 forward", forward, of({128, 1, 28, 28}), of({32, 1, 5, 5}));
  row("conv 1-32 backward weights", weights, of({128, 1, 28, 28}), of({32, 1, 5, 5}), of({128, 32, 28, 28}));
  row(
      "max pool forward", [](const array& x) { return ca::nnet::max_pool2d(x); }, of({128, 32, 28, 28}));
  row(
      "max pool backward", [](const array& x, const array& dy) { return ca::nnet::max_pool2d_backward(dy, x); },
      of({128, 32, 28, 28}), of({128, 32, 14, 14}));
  const auto truth = [](int) { return ca::nnet::one_hot_encode(ca::arange(128) % 10, 10); };
  const auto train = [](const auto& net, const array& x, const array& t) { return net->train(x, t); };
  row(
      "LeNet step", train, [](int) { return std::make_shared<lenet>(); }, of({128, 784}), truth);
  row(
      "MLP step", train, [](int) { return std::make_shared<mlp>(); }, of({128, 784}), truth);
}

}  // namespace

int main() {
  maps();
  reductions();
  others();
  networks();
  return serve([](int threads) {
#if __has_include(<cudarray/threads.hpp>)
    ca::set_num_threads(threads);
#else
    (void)threads;
#endif
  });
}

// Functions of neural networks, forward and back.
// SPDX-License-Identifier: MIT
#include <cudarray/autograd.hpp>
#include <cudarray/nnet.hpp>

#include "bench.hpp"

using namespace bench;

namespace {

namespace nnet = ca::nnet;

template <class T>
ca::ndarray<T> of(const ca::shape& s) {
  return ca::astype<T>(normal(s));
}

template <class T>
void cross_entropy(suite& s, const char* dtype) {
  for (const ca::shape& shape : {ca::shape{gpu ? 8192 : 256, 50257}, ca::shape{gpu ? 65536 : 8192, 1000}}) {
    const double once = double(sizeof(T)) * double(shape.elements());
    // logits in, their gradient out
    s.row("N_cross_entropy_fb", dtype + dims(shape[0], shape[1]), {.bytes = 2 * once}, [=] {
      const ca::ndarray<T> x = ca::astype<T>(normal(shape)), dx = ca::empty<T>(shape);
      const ca::ndarray<int> labels = ca::arange<int>(shape[0]) % int(shape[1]);
      return [=] { ca::nnet::cross_entropy_and_gradient(x, labels, {}, ca::out(dx)); };
    });
  }
}

/// `f(x, row, row)` to an array, and forward and back to all three.
template <class T, class F>
void row(suite& s, const std::string& name, const std::string& params, const ca::shape& shape, ca::int64 channels,
         double passes, const F& f) {
  const double once = double(sizeof(T)) * double(shape.elements());
  s.row(name.c_str(), params, {.bytes = 2 * once}, [=] {
    const ca::ndarray<T> x = of<T>(shape), a = of<T>({channels}), b = of<T>({channels});
    return [=] { const ca::ndarray<T> y = f(x, a, b); };
  });
  s.row((name + "_fb").c_str(), params, {.bytes = passes * once}, [=] {
    const ca::variable<T> x = of<T>(shape), a = of<T>({channels}), b = of<T>({channels});
    const ca::ndarray<T> g = of<T>(shape);
    return [=] {
      for (const auto* v : {&x, &a, &b}) v->zero_grad();
      const ca::variable<T> y = f(x, a, b);
      y.backward(g);
    };
  });
}
template <class T>
void norms(suite& s, const std::string& dtype) {
  for (const ca::shape& shape : {ca::shape{gpu ? 8192 : 1024, 4096}, ca::shape{gpu ? 65536 : 8192, 256}}) {
    // forward: x in, y out; back: x and g in, dx out
    row<T>(s, "N_layer_norm", dtype + dims(shape[0], shape[1]), shape, shape[1], 5,
           [](const auto& x, const auto& a, const auto& b) { return nnet::layer_norm(x, a, b); });
    row<T>(s, "N_rms_norm", dtype + dims(shape[0], shape[1]), shape, shape[1], 5,
           [](const auto& x, const auto& a, const auto&) { return nnet::rms_norm(x, a); });
    row<T>(s, "N_dropout", dtype + dims(shape[0], shape[1]), shape, shape[1], 5,
           [](const auto& x, const auto& a, const auto& b) { return nnet::dropout(ca::tanh(x + b), 0.25) * a; });
  }
  const ca::shape images{gpu ? 128 : 8, 64, 56, 56};
  const std::string params = dtype + dims(images[0], images[1], images[2], images[3]);
  row<T>(s, "N_batch_norm", params, images, 64, 5,
         [](const auto& x, const auto& a, const auto& b) { return nnet::batch_norm(x, a, b); });
  row<T>(s, "N_group_norm", params, images, 64, 5,
         [](const auto& x, const auto& a, const auto& b) { return nnet::group_norm(x, 32, a, b); });
}

template <class T>
void embedding(suite& s, const std::string& dtype) {
  const int64 words = gpu ? 50257 : 5000, width = 1024, tokens = gpu ? 16384 : 1024;
  // rows in, y out; g in, the table's gradient out
  const double bytes = double(sizeof(T)) * double(3 * tokens + words) * double(width);
  s.row("N_embedding_fb", dtype + dims(words, width, tokens), {.bytes = bytes}, [=] {
    const ca::variable<T> table = of<T>({words, width});
    const ca::ndarray<int> ids = ca::astype<int>(ca::random::integers({tokens}, 0, words));
    const ca::ndarray<T> g = of<T>({tokens, width});
    return [=] {
      table.zero_grad();
      const ca::variable<T> y = nnet::embedding(ids, table);
      y.backward(g);
    };
  });
}

template <class T>
void attention(suite& s, const std::string& dtype, const ca::shape& shape) {
  // two products forward, four back, of which causal ones need half
  const double steps = double(shape[2]);
  const double flops = 6 * double(shape[0] * shape[1] * shape[3]) * steps * steps;
  s.row("N_attention_fb", dtype + dims(shape[0], shape[1], shape[2], shape[3]) + " causal", {.flops = flops}, [=] {
    const ca::variable<T> q = of<T>(shape), k = of<T>(shape), v = of<T>(shape);
    const ca::ndarray<T> g = of<T>(shape);
    return [=] {
      for (const auto* a : {&q, &k, &v}) a->zero_grad();
      const ca::variable<T> y = nnet::scaled_dot_product_attention(q, k, v, {.causal = true});
      y.backward(g);
    };
  });
}

/// Images n x c x h x h, filters of r x r; no groups: a transposed convolution.
struct conv_sizes {
  int64 n, c, h, k, r, stride, groups;
};
template <class T>
void conv(suite& s, const std::string& dtype, const conv_sizes& z) {
  const bool transposed = z.groups == 0;
  const int64 out = transposed ? z.h * z.stride : (z.h - 1) / z.stride + 1;
  const ca::shape images{z.n, z.c, z.h, z.h}, results{z.n, z.k, out, out},
      filters = transposed ? ca::shape{z.c, z.k, z.r, z.r} : ca::shape{z.k, z.c / z.groups, z.r, z.r};
  const std::string params = dtype + dims(z.n, z.c, z.h, z.h) + " k" + std::to_string(z.k) + ' ' + dims(z.r, z.r) +
                             " /" + std::to_string(z.stride) +
                             (z.groups == 1 ? "" : " groups " + std::to_string(z.groups));
  // forward: x in, y out; back: g and w in, dx out; g and x in
  const double bytes = 3 * double(sizeof(T)) * double(images.elements() + results.elements());
  for (const bool last : {false, true})
    s.row("N_conv_fb", params + (last ? " nhwc" : ""), {.bytes = bytes}, [=] {
      const auto in_order = [=](const ca::ndarray<T>& a) { return last ? nnet::channels_last(a) : a; };
      const ca::variable<T> x = in_order(of<T>(images)), w = in_order(of<T>(filters));
      const ca::ndarray<T> g = in_order(of<T>(results));
      return [=] {
        const ca::precision_scope scope(ca::precision::tf32);
        x.zero_grad(), w.zero_grad();
        const ca::variable<T> y =
            transposed ? nnet::conv_transpose2d(x, w, {.stride = z.stride})
                       : nnet::conv2d(x, w, {.stride = z.stride, .padding = z.r / 2, .groups = z.groups});
        y.backward(g);
      };
    });
}

template <class T>
void lstm(suite& s, const std::string& dtype) {
  const int64 steps = gpu ? 128 : 16, batch = 64, h = gpu ? 512 : 128;
  // one product of inputs and of states forward, two each back
  const double flops = 6 * double(steps * batch) * double(8 * h) * double(h);
  s.row("N_lstm_fb", dtype + dims(steps, batch, h), {.flops = flops}, [=] {
    using V = ca::variable<T>;
    const V x = of<T>({steps, batch, h});
    const auto weight = [](const ca::shape& of_weight) { return V(of<T>(of_weight) * 0.05f); };
    const std::vector<nnet::recurrent_weights<V>> w{
        {weight({h, 4 * h}), weight({h, 4 * h}), weight({4 * h}), weight({4 * h})}};
    const ca::ndarray<T> g = of<T>({steps, batch, h});
    return [=] {
      for (const auto* v : {&x, &w[0].input, &w[0].hidden, &w[0].bias_input, &w[0].bias_hidden}) v->zero_grad();
      nnet::lstm(x, w).output.backward(g);
    };
  });
}

template <class T>
void rows(suite& s, const char* dtype) {
  cross_entropy<T>(s, dtype);
  norms<T>(s, dtype);
  embedding<T>(s, dtype);
  attention<T>(s, dtype, gpu ? ca::shape{16, 12, 1024, 64} : ca::shape{2, 4, 256, 64});
  if (gpu && sizeof(T) == 2) attention<T>(s, dtype, {2, 16, 8192, 128});
  const int64 n = gpu ? 64 : 4;
  for (const conv_sizes& z : {conv_sizes{n, 64, 56, 256, 1, 1, 1},
                              {n, 64, 56, 64, 3, 1, 1},
                              {n, 256, 28, 256, 3, 2, 1},
                              {n, 512, 7, 512, 3, 1, 1},
                              {n, 128, 56, 128, 3, 1, 128},
                              {n, 128, 28, 64, 2, 2, 0}})
    conv<T>(s, dtype, z);
  lstm<T>(s, dtype);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(argc, argv);
  rows<float>(s, "");
  rows<ca::bfloat16>(s, "bf16 ");
  return s.run();
}

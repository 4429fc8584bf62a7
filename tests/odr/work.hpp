// The same templates, compiled into several files with different flags.
// SPDX-License-Identifier: MIT
#pragma once

#include <cudarray/autograd.hpp>
#include <cudarray/cudarray.hpp>

namespace ca = cudarray;
using host_array = ca::ndarray<float, ca::cpu>;

/// Gradients of what each file computes of variables of the others.
static host_array gradients(const host_array& a) {
  using variable = ca::variable<float, ca::cpu>;
  const variable v = a, w = host_array(ca::sum(a, 0));
  const variable rows = v / ca::sum(ca::exp(v), 1, ca::keepdims);
  const variable parts = ca::concatenate({variable(rows * w), ca::sort(v)});
  variable(ca::mean(ca::square(ca::matmul(parts, v.t())) * 0.5f)).backward();
  const auto again = ca::checkpoint([](const variable& x) { return ca::sum(ca::tanh(x) * x); });
  return v.grad() + w.grad() + ca::grad(again)(v).value();
}

/// What each file does with arrays of the others; `static`, so that each has its own.
static host_array work(const host_array& a) {
  const host_array e = ca::exp(a * 0.01f) + ca::tanh(a);
  const host_array s = e / ca::sum(e, 1, ca::keepdims);
  const host_array p = ca::matmul(s, s.t()) + ca::concatenate({s, s}, 1)(ca::_, ca::slice(1));
  a(a > 2.9f) = 2.5f;
  const host_array picked = a(ca::argmax(a, 0)), shifted = ca::where(a > 1, ca::ones_like(a), 0.5f);
  const auto flat = ca::ravel(a);
  const auto images = ca::reshape(flat(ca::slice(300)), {1, 3, 10, 10});
  const auto c = ca::nnet::max_pool2d(
      ca::nnet::conv2d(images, ca::reshape(flat(ca::slice(135)), {5, 3, 3, 3}), {.padding = 1}), {.window = 2});
  const std::string text = ca::to_string(c) + ca::to_string(picked + ca::sum(shifted) + ca::var(ca::squeeze(c))) +
                           ca::to_string(gradients(a));
  ca::random::generator g(1);
  const host_array numbers = ca::random::uniform<float, ca::cpu>({10}, 0, 1, g);
  if (text.empty()) return ca::nnet::dropout(numbers, 0.5, g);
  if (text == "?") {  // what says little and is inlined seldom
    const host_array given = ca::array<float>({{1, 2}, {3, 4}}), two = ca::nnet::sigmoid(given) + ca::std(given, 0);
    const auto parts = ca::split(two, 2);
    const int both[] = {0, 1};
    a(0) = ca::sum(ca::sort(ca::maximum(two, given)), ca::axes(both, 2)) +
           ca::random::normal<float, ca::cpu>({1}, 0, 1, g);
    parts[0].at(0, 0) = two.access<2>()(0, 1) + parts[1].span()[0] + ca::dot(two, two).item();
    return parts[0](ca::_, ca::newaxis) + float(ca::max(two, 1).ndim() + ca::random::thread_generator().seed());
  }
  return ca::nnet::softmax(p(ca::_, ca::slice(ca::none, ca::none, -1)));
}

host_array work_plain(const host_array& a);
host_array work_native(const host_array& a);
host_array work_nvcc(const host_array& a);
/// In a shared library with hidden visibility: numbers from the process's generator.
__attribute__((visibility("default"))) host_array library_numbers(int n);

// What programs call besides the rows of the tables, for one dtype: as PyTorch's rows of S_.
// SPDX-License-Identifier: MIT
#include <cudarray/indexing.hpp>
#include <cudarray/linalg.hpp>
#include <cudarray/nnet.hpp>
#include <cudarray/reductions.hpp>
#include <cudarray/scatter.hpp>
#include <cudarray/sorting.hpp>

#include "bench.hpp"

using namespace bench;
using ca::_;
using ca::none;
using ca::slice;
using T = ca::SWEEP_DTYPE;
using values = ca::ndarray<T>;
namespace nnet = ca::nnet;

namespace {

constexpr bool floating = ca::kind_of<T> == ca::kind::floating;
/// Elements of what is read: a multiple of 1000 * 64, and of 2^16.
constexpr int64 elements = gpu ? 64000 * 1024 : 64000 * 16, square = gpu ? 8192 : 1024;

/// Normal numbers, or integers of [-100, 100).
values numbers(const ca::shape& s) {
  if constexpr (floating) return values(ca::astype<T>(normal(s)));
  else return values(ca::astype<T>(ca::random::integers(s, -100, 100)));
}

/// `f(x)` of new numbers of a shape.
template <class F>
void row(suite& s, const std::string& name, const ca::shape& shape, const F& f) {
  const double bytes = double(shape.elements()) * double(sizeof(T));
  s.row("S_" + name, ca::dtype_name<T>, {.bytes = bytes, .footprint = 2 * bytes}, [=] {
    const values x = numbers(shape);
    return [=] { f(x); };
  });
}
/// The same of two arrays.
template <class F>
void row_of_two(suite& s, const std::string& name, const ca::shape& first, const ca::shape& second, const F& f) {
  const double bytes = double(first.elements() + second.elements()) * double(sizeof(T));
  s.row("S_" + name, ca::dtype_name<T>, {.bytes = bytes, .footprint = 2 * bytes}, [=] {
    const values x = numbers(first), y = numbers(second);
    return [=] { f(x, y); };
  });
}
/// Evaluates an expression.
template <class X>
void value(const X& x) {
  const ca::ndarray<ca::value_type_t<X>> v = ca::eval(x);
}

template <class>
void reductions(suite& s) {  // a template: what is not for T is not compiled
  const ca::shape wide{elements / 1000, 1000}, odd{elements / 1000, 999}, deep{1000, elements / 1000},
      middle{elements / 64000, 64, 1000};
  row(s, "sum_all", elements, [](const auto& x) { value(ca::sum(x)); });
  row(s, "sum_ax1", wide, [](const auto& x) { value(ca::sum(x, 1)); });
  row(s, "sum_ax0", wide, [](const auto& x) { value(ca::sum(x, 0)); });
  row(s, "sum_ax1_odd", odd, [](const auto& x) { value(ca::sum(x, 1)); });
  row(s, "sum_ax0_odd", odd, [](const auto& x) { value(ca::sum(x, 0)); });
  row(s, "sum_ax1_long", deep, [](const auto& x) { value(ca::sum(x, 1)); });
  row(s, "sum_mid", middle, [](const auto& x) { value(ca::sum(x, 1)); });
  row(s, "max_ax1", wide, [](const auto& x) { value(ca::max(x, 1)); });
  row(s, "argmax_ax1", wide, [](const auto& x) { value(ca::argmax(x, 1)); });
  row(s, "argmax_ax0", wide, [](const auto& x) { value(ca::argmax(x, 0)); });
  row_of_two(s, "ssd", elements, elements, [](const auto& x, const auto& y) { value(ca::sum((x - y) * (x - y))); });
  if constexpr (floating) {
    row(s, "var_ax1", wide, [](const auto& x) { value(ca::var(x, 1)); });
    row(s, "var_ax0", wide, [](const auto& x) { value(ca::var(x, 0)); });
    row(s, "softmax", wide, [](const auto& x) { nnet::softmax(x, 1); });
    row(s, "softmax_odd", odd, [](const auto& x) { nnet::softmax(x, 1); });
    row(s, "softmax_ax0", wide, [](const auto& x) { nnet::softmax(x, 0); });
    row(s, "softmax_40", {elements / 40, 40}, [](const auto& x) { nnet::softmax(x, 1); });
    row(s, "logsumexp", wide, [](const auto& x) { nnet::logsumexp(x, 1); });
  }
}

template <class>
void maps(suite& s) {  // a template: what is not for T is not compiled
  row_of_two(s, "div", elements, elements, [](const auto& x, const auto& y) { value(x / y); });
  row_of_two(s, "mod", elements, elements, [](const auto& x, const auto& y) { value(x % y); });
  row_of_two(s, "add_T", {square, square}, {square, square}, [](const auto& x, const auto& y) { value(x + y.t()); });
  if constexpr (floating) {
    row(s, "exp", elements, [](const auto& x) { value(ca::exp(x)); });
    row(s, "sigmoid", elements, [](const auto& x) { value(nnet::sigmoid(x)); });
    row_of_two(s, "pow", elements, elements, [](const auto& x, const auto& y) { value(ca::power(x, y)); });
    row(s, "dropout", elements, [](const auto& x) { nnet::dropout(x, 0.5); });
  }
}

template <class>
void moves(suite& s) {  // a template: what is not for T is not compiled
  const ca::shape matrix{square, square};
  row(s, "transpose", matrix, [](const auto& x) { ca::copy(x.t()); });
  row(s, "transpose_odd", {square - 1, square + 1}, [](const auto& x) { ca::copy(x.t()); });
  row(s, "permute_0213", {square / 64, 64, square / 32, 32}, [](const auto& x) {
    ca::copy(ca::transpose(x, {0, 2, 1, 3}));
  });
  row(s, "permute_0312", {square * square / 16384, 64, 64, 4}, [](const auto& x) {
    ca::copy(ca::transpose(x, {0, 3, 1, 2}));
  });
  row(s, "slice_2", matrix, [](const auto& x) { ca::copy(x(_, slice(none, none, 2))); });
  row(s, "concatenate_ax1", matrix, [](const auto& x) { ca::concatenate({x, x}, 1); });
  row(s, "cumsum", elements, [](const auto& x) { ca::cumsum(x, 0); });
  row(s, "cumsum_ax0", {elements / 64, 64}, [](const auto& x) { ca::cumsum(x, 0); });
  row(s, "sort", elements / 8, [](const auto& x) { ca::sort(x); });
  row(s, "sort_64", {elements / 512, 64}, [](const auto& x) { ca::sort(x, 1); });
  row(s, "compact", elements, [](const auto& x) { value(x(x > T(0))); });
  const ca::ndarray<int64> rows = ca::random::integers(square * 16, 0, square * square / 128);
  row(s, "take_128", {square * square / 128, 128}, [=](const auto& x) { value(ca::take(x, rows)); });
  row(s, "take_127", {square * square / 128, 127}, [=](const auto& x) { value(ca::take(x, rows)); });
  row_of_two(s, "scatter_add", {square * square / 128, 16}, {square * 16, 16},
             [=](const auto& x, const auto& y) { ca::scatter_add(x, rows, y); });
}

template <class>
void networks(suite& s) {  // a template: what is not for T is not compiled
  if constexpr (floating) {
    const int64 n = gpu ? 64 : 4, m = gpu ? 4096 : 512;
    const ca::shape images{n, 64, 56, 56}, filters{64, 64, 3, 3};
    row(s, "max_pool_3_1", images,
        [](const auto& x) { nnet::max_pool2d(x, {.window = 3, .stride = 1, .padding = 1}); });
    row_of_two(s, "max_pool_3_1_bwd", images, images, [](const auto& dy, const auto& x) {
      nnet::max_pool2d_backward(dy, x, {.window = 3, .stride = 1, .padding = 1});
    });
    row_of_two(s, "conv_3", images, filters, [](const auto& x, const auto& w) { nnet::conv2d(x, w, {.padding = 1}); });
    row_of_two(s, "conv_3_data", images, filters,
               [](const auto& dy, const auto& w) { nnet::conv2d_backward_data(dy, w, dy.shape(), {.padding = 1}); });
    row_of_two(s, "conv_3_filters", images, images,
               [=](const auto& dy, const auto& x) { nnet::conv2d_backward_weights(x, dy, filters, {.padding = 1}); });
    row_of_two(s, "dot", elements, elements, [](const auto& x, const auto& y) { ca::matmul(x, y); });
    row_of_two(s, "gemv", {m, m}, m, [](const auto& x, const auto& y) { ca::matmul(x, y); });
    row_of_two(s, "bgemm_64", {n * 64, 64, 64}, {n * 64, 64, 64},
               [](const auto& x, const auto& y) { ca::matmul(x, y); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(argc, argv);
  reductions<T>(s);
  maps<T>(s);
  moves<T>(s);
  networks<T>(s);
  return s.run();
}

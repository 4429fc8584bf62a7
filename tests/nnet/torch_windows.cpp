// Convolutions, pooling, padding and functions of images against PyTorch: values and gradients.
// SPDX-License-Identifier: MIT
#include "nnet/torch.hpp"

namespace {

namespace nnet = ca::nnet;
using nnet::conv_options;
using nnet::conv_transpose_options;
using nnet::pool_options;
using torch::of;

template <class Check>
void check_convolutions(Check& check) {
  const auto conv1d = [&](const char* name, const conv_options& o) {
    check(of<3>, name, [&](const auto& x, const auto& w, const auto& b) { return nnet::conv1d(x, w, b, o); });
  };
  const auto conv2d = [&](const char* name, const conv_options& o) {
    check(of<3>, name, [&](const auto& x, const auto& w, const auto& b) { return nnet::conv2d(x, w, b, o); });
  };
  const auto conv3d = [&](const char* name, const conv_options& o) {
    check(of<3>, name, [&](const auto& x, const auto& w, const auto& b) { return nnet::conv3d(x, w, b, o); });
  };
  conv1d("conv1d", {});
  check(of<2>, "conv1d plain", [](const auto& x, const auto& w) { return nnet::conv1d(x, w); });
  conv1d("conv1d options", {.stride = 2, .padding = 3, .dilation = 2, .groups = 2});
  conv1d("conv1d same", {.padding = nnet::same});
  conv2d("conv2d", {});
  check(of<2>, "conv2d plain", [](const auto& x, const auto& w) { return nnet::conv2d(x, w, {.padding = 1}); });
  conv2d("conv2d stride", {.stride = {2, 3}, .padding = {0, 2}});
  conv2d("conv2d dilation", {.padding = 2, .dilation = {3, 2}});
  conv2d("conv2d groups", {.padding = 1, .groups = 2});
  conv2d("conv2d depthwise", {.stride = 2, .padding = 1, .groups = 3});
  conv2d("conv2d same", {.padding = nnet::same});
  conv2d("conv2d same dilation", {.padding = nnet::same, .dilation = {1, 3}});
  conv2d("conv2d relu", {.activation = nnet::activation::relu});
  check(of<2>, "conv2d plain relu",
        [](const auto& x, const auto& w) { return nnet::conv2d(x, w, {.activation = nnet::activation::relu}); });
  conv3d("conv3d", {});
  check(of<2>, "conv3d plain", [](const auto& x, const auto& w) { return nnet::conv3d(x, w); });
  conv3d("conv3d options", {.stride = {1, 2, 1}, .padding = {1, 0, 2}, .dilation = {2, 1, 2}, .groups = 2});
  conv3d("conv3d same", {.padding = nnet::same});
}
template <class Check>
void check_transposed(Check& check) {
  const auto conv1d = [&](const char* name, const conv_transpose_options& o) {
    check(of<3>, name, [&](const auto& x, const auto& w, const auto& b) { return nnet::conv_transpose1d(x, w, b, o); });
  };
  const auto conv2d = [&](const char* name, const conv_transpose_options& o) {
    check(of<3>, name, [&](const auto& x, const auto& w, const auto& b) { return nnet::conv_transpose2d(x, w, b, o); });
  };
  conv1d("conv_transpose1d", {});
  conv1d("conv_transpose1d options", {.stride = 3, .padding = 1, .output_padding = 2, .groups = 2});
  conv2d("conv_transpose2d", {});
  check(of<2>, "conv_transpose2d plain",
        [](const auto& x, const auto& w) { return nnet::conv_transpose2d(x, w, {.stride = 2}); });
  conv2d("conv_transpose2d options", {.stride = 2, .padding = 1, .output_padding = 1, .groups = 2});
  conv2d("conv_transpose2d dilation", {.padding = {0, 2}, .dilation = {2, 3}});
  check(of<3>, "conv_transpose3d", [](const auto& x, const auto& w, const auto& b) {
    return nnet::conv_transpose3d(x, w, b, {.stride = {1, 2, 2}, .padding = {0, 1, 0}});
  });
}

/// The functions of one number of axes.
template <class Check, class Largest, class Mean>
void check_pooling(Check& check, const std::string& axes, const Largest& largest, const Mean& mean) {
  const pool_options wide{.window = 3, .stride = 2, .padding = 1};
  const auto with = [](pool_options o, bool counted, bool ceil) {
    o.count_include_pad = counted;
    o.ceil_mode = ceil;
    return o;
  };
  const auto max = [&](const char* name, const pool_options& o) {
    check(of<1>, "max_pool" + axes + name, [&](const auto& x) { return largest(x, o); });
  };
  const auto avg = [&](const char* name, const pool_options& o) {
    check(of<1>, "avg_pool" + axes + name, [&](const auto& x) { return mean(x, o); });
  };
  max("", {});
  max(" options", wide);
  max(" ceil", with(wide, false, true));
  max(" ceil apart", {.window = 2, .stride = 3, .ceil_mode = true});
  avg("", {});
  avg(" options", with(wide, true, false));
  avg(" not counted", wide);
  avg(" ceil", with(wide, true, true));
  avg(" ceil not counted", {.window = 2, .padding = 1, .ceil_mode = true});
}
/// What is told which pixels it is to take, or where to bring them.
template <class Check, class Pool>
void check_indices(Check& check, const std::string& axes, const Pool& pool) {
  check(of<1>, "max_pool" + axes + "_with_indices", [&](const auto& x) { return pool(x).values; });
  check(of<1>, "max_pool" + axes + " indices", [&]<class X>(const X& x) {
    return ca::eval(ca::astype<ca::value_type_t<X>>(pool(x).indices) + 0 * ca::sum(x));
  });
}

}  // namespace

TEST_CASE("nnet: convolutions, pooling and padding are PyTorch's") {
  torch::checker<double, float> check("windows.txt");
  check_convolutions(check);
  check_transposed(check);
  check_pooling(
      check, "1d", [](const auto& x, const pool_options& o) { return nnet::max_pool1d(x, o); },
      [](const auto& x, const pool_options& o) { return nnet::avg_pool1d(x, o); });
  check_pooling(
      check, "2d", [](const auto& x, const pool_options& o) { return nnet::max_pool2d(x, o); },
      [](const auto& x, const pool_options& o) { return nnet::avg_pool2d(x, o); });
  check_pooling(
      check, "3d", [](const auto& x, const pool_options& o) { return nnet::max_pool3d(x, o); },
      [](const auto& x, const pool_options& o) { return nnet::avg_pool3d(x, o); });
  check(of<1>, "adaptive_avg_pool1d", [](const auto& x) { return nnet::adaptive_avg_pool1d(x, 3); });
  check(of<1>, "adaptive_avg_pool2d", [](const auto& x) { return nnet::adaptive_avg_pool2d(x, {3, 4}); });
  check(of<1>, "adaptive_avg_pool3d", [](const auto& x) { return nnet::adaptive_avg_pool3d(x, {3, 2, 3}); });
  check(of<1>, "adaptive_max_pool1d", [](const auto& x) { return nnet::adaptive_max_pool1d(x, 3); });
  check(of<1>, "adaptive_max_pool2d", [](const auto& x) { return nnet::adaptive_max_pool2d(x, {3, 4}); });
  check(of<1>, "adaptive_max_pool3d", [](const auto& x) { return nnet::adaptive_max_pool3d(x, {3, 2, 3}); });
  check(of<1>, "global_avg_pool1d", [](const auto& x) { return nnet::adaptive_avg_pool1d(x, 1); });
  check(of<1>, "global_avg_pool2d", [](const auto& x) { return ca::mean(x, {2, 3}, ca::keepdims); });
  check(of<1>, "global_avg_pool3d", [](const auto& x) { return nnet::adaptive_avg_pool3d(x, {1, 1, 1}); });
  check_indices(check, "1d", [](const auto& x) { return nnet::max_pool1d_with_indices(x); });
  check_indices(check, "2d", [](const auto& x) { return nnet::max_pool2d_with_indices(x); });
  check_indices(check, "3d", [](const auto& x) { return nnet::max_pool3d_with_indices(x); });
  const auto integers = [](const auto& x) { return ca::astype<int>(ca::stop_gradient(x)); };
  const auto unpool = [&](const auto& x, const auto& i) {
    // what the windows of two pixels were taken from, whose size the case has
    for (const auto& size : {ca::shape{7}, {10}, {5, 7}, {6, 8}, {4, 5, 3}, {6, 3, 4}}) {
      bool fits = size.ndim() == x.ndim() - 2;
      for (int d = 0; fits && d < size.ndim(); ++d) fits = size[d] / 2 == x.shape(d + 2);
      if (fits) return nnet::max_unpool(x, integers(i), size);
    }
    return x;
  };
  for (const char* name : {"max_unpool1d", "max_unpool2d", "max_unpool3d"}) check(of<2>, name, unpool);
  const auto pad = [&](const char* name, const ca::pad_options& o) {
    check(of<1>, name, [&](const auto& x) { return ca::pad(x, {{0, 0}, {0, 0}, {1, 2}, {2, 1}}, o); });
  };
  pad("pad reflect", {.mode = ca::pad_mode::reflect});
  pad("pad replicate", {.mode = ca::pad_mode::edge});
  pad("pad circular", {.mode = ca::pad_mode::wrap});
  pad("pad constant", {.value = 1.5});
  check.finish();
}

TEST_CASE("nnet: functions of images are PyTorch's") {
  torch::checker<double, float> check("images.txt");
  const nnet::unfold_options o{.window = {2, 3}, .stride = {1, 2}, .padding = {0, 1}, .dilation = {2, 1}};
  check(of<1>, "unfold", [](const auto& x) { return nnet::unfold(x, {.window = 2}); });
  check(of<1>, "unfold options", [&](const auto& x) { return nnet::unfold(x, o); });
  check(of<1>, "fold 4", [&](const auto& x) { return nnet::fold(x, {1, 2, 4, 5}, o); });
  check(of<1>, "fold 6", [&](const auto& x) { return nnet::fold(x, {1, 2, 6, 3}, o); });
  check(of<1>, "pixel_shuffle", [](const auto& x) { return nnet::pixel_shuffle(x, 2); });
  check(of<1>, "pixel_unshuffle", [](const auto& x) { return nnet::pixel_unshuffle(x, 2); });
  using nnet::interpolation;
  const std::pair<const char*, nnet::interpolate_options> modes[] = {
      {"nearest", {}},
      {"nearest_exact", {.mode = interpolation::nearest_exact}},
      {"area", {.mode = interpolation::area}},
      {"linear", {.mode = interpolation::linear}},
      {"linear corners", {.mode = interpolation::linear, .align_corners = true}}};
  const nnet::extents sizes[] = {8, {7, 3}, {5, 2, 4}};
  for (const auto& [mode, options] : modes)
    for (int axes = 1; axes <= 3; ++axes)
      check(of<1>, "interpolate" + std::to_string(axes) + " " + mode,
            [&, o = options](const auto& x) { return nnet::interpolate(x, sizes[axes - 1], o); });
  for (const bool corners : {false, true})
    for (const auto& [size, first] : {std::pair{nnet::extents{7, 3}, 7}, {nnet::extents{2, 9}, 2}})
      check(of<1>, "cubic " + std::to_string(first) + (corners ? " corners" : ""), [&, to = size](const auto& x) {
        return nnet::interpolate(x, to, {.mode = interpolation::cubic, .align_corners = corners});
      });
  const std::pair<const char*, nnet::sample_padding> paddings[] = {{"zeros", nnet::sample_padding::zeros},
                                                                   {"border", nnet::sample_padding::border},
                                                                   {"reflection", nnet::sample_padding::reflection}};
  for (const auto& [name, padding] : paddings)
    for (const bool nearest : {false, true})
      for (const bool corners : {false, true})
        check(of<2>,
              std::string("grid_sample ") + (nearest ? "nearest " : "bilinear ") + name + (corners ? " corners" : ""),
              [&, outside = padding](const auto& x, const auto& grid) {
                return nnet::grid_sample(x, grid,
                                         {.mode = nearest ? interpolation::nearest : interpolation::linear,
                                          .padding = outside,
                                          .align_corners = corners});
              });
  check.finish();
}

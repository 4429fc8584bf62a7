// Gradients of convolutions, pooling, padding and functions of images.
// SPDX-License-Identifier: MIT
#include "differences.hpp"

namespace {

using S = ca::shape;
using test::check_layouts;
namespace nnet = ca::nnet;

}  // namespace

TEST_CASE("autograd: gradients of convolutions") {
  check_layouts(
      "conv1d",
      [](const auto& x, const auto& w, const auto& b) {
        return nnet::conv1d(x, w, b, {.stride = 2, .padding = nnet::same});
      },
      S{2, 2, 5}, S{3, 2, 4}, S{3});
  check_layouts(
      "conv2d",
      [](const auto& x, const auto& w) {
        return nnet::conv2d(x, w, {.stride = {1, 2}, .padding = 1, .dilation = {2, 1}, .groups = 2});
      },
      S{2, 4, 4, 3}, S{2, 2, 2, 2});
  check_layouts(
      "conv2d, depthwise", [](const auto& x, const auto& w) { return nnet::conv2d(x, w, {.groups = 3}); },
      S{1, 3, 3, 3}, S{6, 1, 2, 2});
  check_layouts(
      "conv3d",
      [](const auto& x, const auto& w) {
        return nnet::conv3d(x, w, {.padding = {0, 1, 0}});
      },
      S{1, 2, 2, 3, 2}, S{1, 2, 2, 2, 1});
  check_layouts(
      "conv_transpose1d",
      [](const auto& x, const auto& w, const auto& b) {
        return nnet::conv_transpose1d(x, w, b, {.stride = 2, .output_padding = 1});
      },
      S{2, 2, 3}, S{2, 1, 3}, S{1});
  check_layouts(
      "conv_transpose2d",
      [](const auto& x, const auto& w) {
        return nnet::conv_transpose2d(x, w, {.padding = 1, .dilation = {1, 2}, .groups = 2});
      },
      S{1, 4, 3, 2}, S{4, 1, 2, 3});
  check_layouts(
      "conv_transpose3d", [](const auto& x, const auto& w) { return nnet::conv_transpose3d(x, w, {.stride = 2}); },
      S{1, 1, 2, 2, 1}, S{1, 2, 1, 2, 2});
}

TEST_CASE("autograd: gradients of pooling") {
  check_layouts(
      "max_pool1d", [](const auto& x) { return nnet::max_pool1d(x, {.window = 3, .stride = 2, .ceil_mode = true}); },
      S{2, 2, 6});
  check_layouts(
      "max_pool3d",
      [](const auto& x) {
        return nnet::max_pool3d(x, {.window = 2, .stride = 1, .padding = {1, 0, 0}});
      },
      S{1, 2, 2, 3, 2});
  check_layouts(
      "avg_pool1d",
      [](const auto& x) { return nnet::avg_pool1d(x, {.padding = 1, .count_include_pad = true, .ceil_mode = true}); },
      S{2, 2, 5});
  check_layouts(
      "avg_pool3d",
      [](const auto& x) {
        return nnet::avg_pool3d(x, {.window = {2, 1, 2}, .stride = 1});
      },
      S{1, 2, 3, 2, 3});
  check_layouts(
      "max_pool2d_with_indices", [](const auto& x) { return nnet::max_pool2d_with_indices(x).values; }, S{1, 2, 4, 4});
  const ca::ndarray<int> places = ca::array<int>({{{{3, 8}}, {{0, 5}}}});
  check_layouts(
      "max_unpool",
      [&](const auto& x) {
        return nnet::max_unpool(x, places, {3, 3});
      },
      S{1, 2, 1, 2});
  check_layouts(
      "adaptive_avg_pool2d",
      [](const auto& x) {
        return nnet::adaptive_avg_pool2d(x, {2, 3});
      },
      S{1, 2, 3, 4});
  check_layouts(
      "adaptive_max_pool2d",
      [](const auto& x) {
        return nnet::adaptive_max_pool2d(x, {2, 3});
      },
      S{1, 2, 3, 4});
}

TEST_CASE("autograd: gradients of padding") {
  check_layouts(
      "pad",
      [](const auto& x) {
        return ca::pad(x, {{1, 0}, {0, 2}}, {.value = 3});
      },
      S{2, 3});
  check_layouts(
      "pad, reflected",
      [](const auto& x) {
        return ca::pad(x, {{1, 2}, {3, 0}}, {.mode = ca::pad_mode::reflect});
      },
      S{2, 3});
  check_layouts(
      "pad, the edge", [](const auto& x) { return ca::pad(x, 1, {.mode = ca::pad_mode::edge}); }, S{2, 2});
}

TEST_CASE("autograd: gradients of functions of images") {
  check_layouts(
      "unfold", [](const auto& x) { return nnet::unfold(x, {.window = 2, .padding = 1}); }, S{1, 2, 2, 3});
  check_layouts(
      "fold",
      [](const auto& x) {
        return nnet::fold(x, {2, 1, 3, 3}, {.window = 2});
      },
      S{2, 4, 4});
  check_layouts(
      "pixel_shuffle", [](const auto& x) { return nnet::pixel_shuffle(x, 2); }, S{1, 4, 2, 3});
  check_layouts(
      "pixel_unshuffle", [](const auto& x) { return nnet::pixel_unshuffle(x, 2); }, S{1, 1, 2, 4});
  using nnet::interpolation;
  check_layouts(
      "interpolate",
      [](const auto& x) {
        return nnet::interpolate(x, {5, 2});
      },
      S{1, 2, 3, 3});
  check_layouts(
      "interpolate, linear",
      [](const auto& x) {
        return nnet::interpolate(x, {5, 2}, {.mode = interpolation::linear});
      },
      S{1, 2, 3, 3});
  check_layouts(
      "interpolate, cubic",
      [](const auto& x) {
        return nnet::interpolate(x, {5, 2}, {.mode = interpolation::cubic, .align_corners = true});
      },
      S{1, 2, 3, 3});
  check_layouts(
      "grid_sample",
      [](const auto& x, const auto& at) {
        return nnet::grid_sample(x, at * 0.25 - 0.03, {.padding = nnet::sample_padding::border});
      },
      S{1, 2, 3, 3}, S{1, 2, 2, 2});
}

// OpenCV and cudarray on the same memory: a picture of one is an array of the other, without a copy.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#include <iostream>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

namespace ca = cudarray;

/// A picture (height, width, channels) of bytes as OpenCV's. It is a view: keep the array, whose pixels lie side by
/// side.
cv::Mat as_mat(const ca::ndarray<ca::uint8, ca::cpu>& x) {
  const int channels = int(x.shape(2));
  if (x.stride(2) != 1 || x.stride(1) != channels) throw ca::value_error("as_mat: the pixels have gaps: copy() them");
  return cv::Mat(int(x.shape(0)), int(x.shape(1)), CV_8UC(channels), x.data(), std::size_t(x.stride(0)));
}
/// OpenCV's picture as an array (height, width, channels). It shares the elements, and keeps them.
ca::ndarray<ca::uint8, ca::cpu> as_array(const cv::Mat& m) {
  const ca::shape pixels = {m.rows, m.cols, m.channels()}, strides = {ca::int64(m.step[0]), m.channels(), 1};
  return ca::from_pointer<ca::uint8, ca::cpu>(m.data, pixels, strides, [m](ca::uint8*) {});
}

int main() {
  // a picture of cudarray's, drawn on and blurred by OpenCV, counted by cudarray
  ca::ndarray<ca::uint8, ca::cpu> picture = ca::zeros<ca::uint8, ca::cpu>({120, 160, 3});
  cv::circle(as_mat(picture), {80, 60}, 30, {0, 128, 255}, cv::FILLED);
  cv::Mat blurred;
  cv::GaussianBlur(as_mat(picture), blurred, {9, 9}, 2);
  const ca::ndarray<ca::uint8, ca::cpu> b = as_array(blurred);
  const auto mean = ca::eval(ca::mean(b, {0, 1}));
  std::cout << "shape " << b.shape() << ", mean of the channels " << mean << '\n';
  const ca::ndarray<ca::uint8, ca::cpu> top = picture(ca::slice(0, 60));  // rows of a picture are a picture
  const double area = cv::countNonZero(as_mat(top).reshape(1)) / 2.;
  std::cout << "pixels of the upper half " << area << '\n';
  return b.data() == blurred.data && mean(0).item() == 0 && mean(2).item() > 30 && area > 1300 ? 0 : 1;
}

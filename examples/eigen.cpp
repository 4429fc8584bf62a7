// Eigen and cudarray on the same memory: a matrix of one is an array of the other, without a copy.
// SPDX-License-Identifier: MIT
#include <Eigen/Dense>
#include <cudarray/cudarray.hpp>
#include <iostream>

namespace ca = cudarray;

/// An array of two axes as Eigen's matrix, views with gaps and transposed ones too. It is a view: keep the array.
template <class T>
auto as_eigen(const ca::ndarray<T, ca::cpu>& x) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using stride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  return Eigen::Map<matrix, 0, stride>(x.data(), x.shape(0), x.shape(1), stride(x.stride(0), x.stride(1)));
}
/// Eigen's matrix as an array of two axes. It is a view: keep the matrix.
template <class M>
auto as_array(M& m) {
  const ca::shape strides =
      M::IsRowMajor ? ca::shape{m.outerStride(), m.innerStride()} : ca::shape{m.innerStride(), m.outerStride()};
  return ca::from_pointer(m.data(), ca::shape{m.rows(), m.cols()}, strides);
}

int main() {
  // least squares: the array is cudarray's, the solver Eigen's
  const ca::ndarray<double> x = ca::random::normal<double>({100, 3}), w = ca::array<double>({{1}, {-2}, {0.5}});
  const ca::ndarray<double> y = ca::matmul(x, w) + 0.01 * ca::random::normal<double>({100, 1});
  Eigen::MatrixXd solution = as_eigen(x).colPivHouseholderQr().solve(as_eigen(y));
  const ca::ndarray<double> found = as_array(solution);
  std::cout << "weights " << found.t() << ", largest error " << ca::max(ca::abs(found - w)) << '\n';

  // written through one, seen by the other
  ca::ndarray<double> m = ca::eye<double>(3);
  as_eigen(m).col(2) += Eigen::Vector3d(1, 2, 3);
  as_array(solution) *= 2;
  std::cout << m << '\n' << solution.transpose() << '\n';
  const bool right = ca::allclose(found, 2 * w, {.rtol = 0, .atol = 0.02}) && m(1, 2).item() == 2;
  return right ? 0 : 1;
}

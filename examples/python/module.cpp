// A Python module: functions of arrays, on the CPU and, compiled by nvcc, on CUDA.
// SPDX-License-Identifier: MIT
#include "cudarray_nanobind.hpp"

#include <cudarray/cudarray.hpp>

namespace nb = nanobind;
namespace ca = cudarray;

namespace {

/// The columns of x with mean 0 and variance 1.
template <class T, class D>
ca::ndarray<T, D> standardize(const ca::ndarray<T, D>& x) {
  const ca::ndarray<T, D> centred = x - ca::mean(x, 0);
  return centred / ca::sqrt(ca::mean(ca::square(centred), 0));
}
/// x += alpha y, where x lies.
template <class T, class D>
void axpy(ca::ndarray<T, D> x, T alpha, const ca::ndarray<T, D>& y) {
  x += alpha * y;
}
/// The distances of each row of x to each of y.
template <class T, class D>
ca::ndarray<T, D> distances(const ca::ndarray<T, D>& x, const ca::ndarray<T, D>& y) {
  const auto squares = [](const auto& a) { return ca::sum(ca::square(a), 1); };
  const ca::ndarray<T, D> xx = squares(x), yy = squares(y), xy = ca::matmul(x, y.t());
  return ca::sqrt(ca::maximum(xx(ca::_, ca::newaxis) + yy - 2 * xy, 0));
}

template <class T, class D>
void add_functions(nb::module_& m) {
  m.def("standardize", &standardize<T, D>, nb::arg("x").noconvert(), "The columns of x with mean 0 and variance 1.");
  m.def("axpy", &axpy<T, D>, nb::arg("x").noconvert(), nb::arg("alpha"), nb::arg("y").noconvert(),
        "x += alpha * y, in place.");
  m.def("distances", &distances<T, D>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
        "The distances of each row of x to each row of y.");
  m.def(
      "transposed", [](const ca::ndarray<T, D>& x) { return x.t(); }, nb::arg("x").noconvert(),
      "A view of x, its axes reversed.");
}

#if defined(CUDARRAY_HAS_CUDA)
/// What has `__cuda_array_interface__` (Numba's arrays, PyTorch's, CuPy's) as an array of ours, and back.
template <class T>
ca::ndarray<T, ca::cuda> from_interface(const nb::object& x) {
  const auto about = nb::cast<nb::dict>(x.attr("__cuda_array_interface__"));
  const auto expected = std::string("<f") + char('0' + sizeof(T));
  if (nb::cast<std::string>(about["typestr"]) != expected) throw ca::dtype_error("elements of another dtype");
  ca::shape extents, strides;
  for (nb::handle n : nb::cast<nb::tuple>(about["shape"])) extents.push_back(nb::cast<std::int64_t>(n));
  const ca::layout in_order = ca::detail::c_layout(extents);
  for (int d = 0; d < extents.ndim(); ++d) strides.push_back(in_order.stride[d]);
  if (about.contains("strides") && !about["strides"].is_none()) {
    int d = 0;
    for (nb::handle n : nb::cast<nb::tuple>(about["strides"]))
      strides[d++] = nb::cast<std::int64_t>(n) / int(sizeof(T));
  }
  const auto data = nb::cast<nb::tuple>(about["data"]);
  auto* const p = reinterpret_cast<T*>(nb::cast<std::uintptr_t>(data[0]));
  ca::synchronize(ca::cuda{});  // what the other library's stream does to it
  return ca::from_pointer<T, ca::cuda>(p, extents, strides, [x](T*) {
    const nb::gil_scoped_acquire lock;
    const nb::object released = x;
  });
}
template <class T>
nb::dict interface_of(const ca::ndarray<T, ca::cuda>& x) {
  nb::list extents, strides;
  for (int d = 0; d < x.ndim(); ++d) {
    extents.append(x.shape()[d]);
    strides.append(x.where().stride[d] * std::int64_t(sizeof(T)));
  }
  ca::synchronize(x.device());
  nb::dict about;
  about["shape"] = nb::tuple(extents);
  about["strides"] = nb::tuple(strides);
  about["typestr"] = std::string("<f") + char('0' + sizeof(T));
  about["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(x.data()), false);
  about["version"] = 3;
  return about;
}
#endif

}  // namespace

NB_MODULE(cudarray_example, m) {
  cudarray_nanobind::register_exceptions();
  add_functions<float, ca::cpu>(m);
  add_functions<double, ca::cpu>(m);
#if defined(CUDARRAY_HAS_CUDA)
  add_functions<float, ca::cuda>(m);
  add_functions<double, ca::cuda>(m);
  /// An array of the device that says where it lies as Numba asks for it.
  using held = ca::ndarray<float, ca::cuda>;
  struct device_array {
    held array;
  };
  nb::class_<device_array>(m, "DeviceArray")
      .def("__init__",
           [](device_array* self, const nb::object& x) { new (self) device_array{from_interface<float>(x)}; })
      .def_prop_ro("__cuda_array_interface__", [](const device_array& self) { return interface_of(self.array); })
      .def("standardized", [](const device_array& self) { return device_array{standardize(self.array)}; });
#endif
}

// The Python module: every dtype's functions under the same names; nanobind chooses by the arrays it is given.
// SPDX-License-Identifier: MIT
#include "bind.hpp"

NB_MODULE(cudarray_core, m) {
  using namespace array_api;
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const ca::index_error& e) {
      PyErr_SetString(PyExc_IndexError, e.what());
    } catch (const ca::dtype_error& e) {
      PyErr_SetString(PyExc_TypeError, e.what());
    } catch (const ca::error& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    }
  });
  bind<bool>(m);
  bind<ca::int8>(m);
  bind<ca::int16>(m);
  bind<ca::int32>(m);
  bind<ca::int64>(m);
  bind<ca::uint8>(m);
  bind<ca::uint16>(m);
  bind<ca::uint32>(m);
  bind<ca::uint64>(m);
  bind<float>(m);
  bind<double>(m);
  bind<ca::complex64>(m);
  bind<ca::complex128>(m);
  m.def("arange", [](ca::int64 start, ca::int64 stop, ca::int64 step) {
    return give(ca::arange<ca::int64, ca::cpu>(start, stop, step));
  });
  m.def("arange",
        [](double start, double stop, double step) { return give(ca::arange<double, ca::cpu>(start, stop, step)); });
  m.def("linspace",
        [](double start, double stop, ca::int64 n) { return give(ca::linspace<double, ca::cpu>(start, stop, n)); });
  m.def("eye", [](ca::int64 rows, ca::int64 columns, ca::int64 k) {
    return give(ca::eye<double, ca::cpu>(rows, columns, k));
  });
  m.def("broadcast_shapes",
        [](const numbers& a, const numbers& b) { return numbers_of(ca::broadcast_shapes(shape_of(a), shape_of(b))); });
}

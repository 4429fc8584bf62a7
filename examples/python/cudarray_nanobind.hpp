// nanobind takes and gives cudarray's arrays: NumPy's, PyTorch's, CuPy's, JAX's, whatever speaks DLPack or Python's
// buffers, without copies. Copy this header into your project.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cudarray/exchange.hpp>
#include <vector>

namespace nanobind::detail {

/// What nanobind is to hand over, and what makes Python's object: NumPy's array on the CPU, on CUDA one that has
/// `__dlpack__`, which torch.from_dlpack and cupy.from_dlpack take.
template <class Device>
struct cudarray_device {
  using type = device::cpu;
  using framework = numpy;
};
template <>
struct cudarray_device<cudarray::cuda> {
  using type = device::cuda;
  using framework = array_api;
};

template <class T, class D>
struct type_caster<cudarray::ndarray<T, D>> {
  using array = cudarray::ndarray<T, D>;
  using on = cudarray_device<D>;
  NB_TYPE_CASTER(array, const_name("cudarray.ndarray"))

  /// Shares the elements: an array that Python may not write is read-only here. Other dtypes and devices are no match.
  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
    flags &= static_cast<uint8_t>(~static_cast<uint8_t>(cast_flags::convert));
    return take<T>(source, flags, cleanup) || take<const T>(source, flags, cleanup);
  }
  /// Shares the elements: Python's object keeps the array.
  static handle from_cpp(const array& a, rv_policy, cleanup_list* cleanup) noexcept {
    std::size_t extents[cudarray::max_rank];
    std::int64_t strides[cudarray::max_rank];
    for (int d = 0; d < a.ndim(); ++d) {
      extents[d] = static_cast<std::size_t>(a.shape()[d]);
      strides[d] = a.where().stride[d];
    }
    auto* const kept = new array(a);
    const capsule owner(kept, [](void* p) noexcept { delete static_cast<array*>(p); });
    using given = nanobind::ndarray<typename on::framework, T, typename on::type>;
    const given out(a.data(), static_cast<std::size_t>(a.ndim()), extents, owner, strides, dtype<T>(), on::type::value,
                    a.device().ordinal);
    return make_caster<given>::from_cpp(out, rv_policy::reference, cleanup);
  }

 private:
  template <class E>
  bool take(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
    using taken = nanobind::ndarray<E, typename on::type>;
    make_caster<taken> caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    const taken a = caster.value;
    if (a.ndim() > std::size_t(cudarray::max_rank)) return false;
    cudarray::shape extents, strides;
    for (std::size_t d = 0; d < a.ndim(); ++d) {
      extents.push_back(std::int64_t(a.shape(d)));
      strides.push_back(a.stride(d));
    }
    try {
      D where{};
      where.ordinal = a.device_id();
      // the copy of `a` in the deleter keeps Python's object until no array uses its elements
      new (&value) array(cudarray::from_pointer<E, D>(
          a.data(), extents, strides, [a](E*) {}, where));
    } catch (const cudarray::error&) {
      return false;
    }
    return true;
  }
};

}  // namespace nanobind::detail

namespace cudarray_nanobind {

/// The library's exceptions become Python's.
inline void register_exceptions() {
  nanobind::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const cudarray::index_error& e) {
      PyErr_SetString(PyExc_IndexError, e.what());
    } catch (const cudarray::dtype_error& e) {
      PyErr_SetString(PyExc_TypeError, e.what());
    } catch (const cudarray::io_error& e) {
      PyErr_SetString(PyExc_OSError, e.what());
    } catch (const cudarray::out_of_memory& e) {
      PyErr_SetString(PyExc_MemoryError, e.what());
    } catch (const cudarray::error& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    }
  });
}

}  // namespace cudarray_nanobind

// DLPack: arrays handed to other libraries and taken from them without copies (github.com/dmlc/dlpack).
// SPDX-License-Identifier: MIT
#pragma once

#include "creation.hpp"
#include "manipulation.hpp"

namespace cudarray::inline v0::dlpack {

// The structures of DLPack 1.1, for programs that do not include dlpack.h: their layout is the protocol.

struct device {
  int32 device_type;  ///< 1: CPU, 2: CUDA, 3: pinned by CUDA, 13: managed by CUDA
  int32 device_id;
};
struct data_type {
  uint8 code;  ///< 0: signed, 1: unsigned, 2: float, 4: bfloat, 5: complex, 6: bool
  uint8 bits;
  uint16 lanes;
};
struct tensor {
  void* data;
  dlpack::device device;
  int32 ndim;
  data_type dtype;
  int64* shape;
  int64* strides;  ///< in elements; null: C order
  uint64 byte_offset;
};
struct managed_tensor {
  tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(managed_tensor* self);
};
struct pack_version {
  uint32 major, minor;
};
struct managed_tensor_versioned {
  pack_version version;
  void* manager_ctx;
  void (*deleter)(managed_tensor_versioned* self);
  uint64 flags;  ///< 1: read-only, 2: copied
  tensor dl_tensor;
};

}  // namespace cudarray::inline v0::dlpack
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class T>
constexpr dlpack::data_type dlpack_type() {
  constexpr kind k = kind_of<T>;
  constexpr uint8 code = k == kind::boolean              ? 6
                         : k == kind::complex_           ? 5
                         : ::std::is_same_v<T, bfloat16> ? 4
                         : k == kind::floating           ? 2
                         : k == kind::unsigned_          ? 1
                                                         : 0;
  return {code, 8 * sizeof(T), 1};
}
/// Whether memory of that type is where arrays of the device lie.
template <class Device>
constexpr bool holds_memory(int type) {
  return Device::host_accessible ? type == 1 || type == 3 || type == 13 : type == 2 || type == 13;
}
template <class Managed>
concept versioned = requires(Managed m) {
  m.version;
};

/// What a consumer gets: the structure it looks at, and the array that it keeps alive.
template <class Managed, class T, class Device>
struct lent_array {
  Managed managed;
  ndarray<T, Device> array;
  int64 extent[max_rank], stride[max_rank];
  void* consumer;  ///< the stream
  bool read_only;

  static void release(Managed* m) {
    auto* const self = static_cast<lent_array*>(m->manager_ctx);
    const auto leaf = self->array.node();
    if (self->array.size() > 0) wait_for_consumer(self->array.device(), *leaf.store, self->consumer);
    if (!self->read_only) count_write(*leaf.store);  // it may have written
    delete self;
  }
};

/// Throws what says why the memory is no array of T on the device.
template <class T, class Device, class Tensor>
void check_tensor(const Tensor& t) {
  constexpr dlpack::data_type wanted = dlpack_type<T>();
  if (t.dtype.code != wanted.code || t.dtype.bits != wanted.bits || t.dtype.lanes != 1) {
    constexpr const char* names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    const int code = int(t.dtype.code);
    const char* const name = code < 7 ? names[code] : "type ";
    if (t.dtype.lanes != 1)
      fail<dtype_error>("from_dlpack: elements of ", int(t.dtype.lanes), " lanes of ", name, int(t.dtype.bits),
                        ", not ", dtype_name<T>);
    fail<dtype_error>("from_dlpack: elements of ", name, int(t.dtype.bits), ", not ", dtype_name<T>);
  }
  if (!holds_memory<Device>(int(t.device.device_type)))
    fail<device_error>("from_dlpack: memory of device type ", int(t.device.device_type), ", not of ", Device::name);
  if (t.ndim < 0 || t.ndim > max_rank)
    fail<shape_error>("from_dlpack: ", int(t.ndim), " axes; at most ", max_rank, " are taken");
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// An array as DLPack hands it over, sharing its elements: the consumer calls `deleter` when it is done. `Managed` is
/// ca::dlpack::managed_tensor_versioned, the older managed_tensor, or dlpack.h's structures of these names
/// (DLManagedTensorVersioned, DLManagedTensor). Work that `stream`, a cudaStream_t (absent: CUDA's legacy default
/// stream), is given from now on waits for what is under way on the array; the stream lives until the deleter is
/// called, which orders later uses of the memory behind it; expressions of an array that may be written go stale then.
/// Throws value_error for a read-only array as a managed_tensor, which cannot say so.
///     PyCapsule_New(ca::to_dlpack(x), "dltensor_versioned", ..);
template <class Managed = dlpack::managed_tensor_versioned, array_expression X>
Managed* to_dlpack(const X& x, void* stream = nullptr) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const auto a = detail::as_array(x);
  const auto leaf = a.node();
  const bool read_only = leaf.store->read_only || leaf.where.read_only;
  if (!detail::versioned<Managed> && read_only)
    detail::fail<value_error>("to_dlpack: the array is read-only, which only a versioned structure says");
  if (a.size() > 0) let_consumer_wait(a.device(), *leaf.store, stream, !read_only);
  using lent = detail::lent_array<Managed, T, D>;
  auto* const l = new lent{{}, a, {}, {}, stream, read_only};
  for (int d = 0; d < a.ndim(); ++d) l->extent[d] = a.shape()[d], l->stride[d] = leaf.where.stride[d];
  Managed& m = l->managed;
  if constexpr (detail::versioned<Managed>) {
    m.version = {1, 1};
    m.flags = read_only ? 1 : 0;
  }
  m.manager_ctx = l;
  m.deleter = lent::release;
  auto& t = m.dl_tensor;
  constexpr dlpack::data_type type = detail::dlpack_type<T>();
  t.data = a.size() > 0 ? a.data() : nullptr;
  t.device.device_type = static_cast<decltype(t.device.device_type)>(D::host_accessible ? 1 : 2);
  t.device.device_id = a.device().ordinal;
  t.ndim = a.ndim();
  t.dtype.code = type.code, t.dtype.bits = type.bits, t.dtype.lanes = type.lanes;
  t.shape = l->extent, t.strides = l->stride, t.byte_offset = 0;
  return &m;
}

/// An array of what another library hands over by DLPack, sharing its elements; `deleter` is called when no array uses
/// them any more, on CUDA once the work of all streams of the library is done. What the other library does to them
/// comes before the work of this thread's current stream: it is given that stream in `__dlpack__(stream=..)`. Throws
/// dtype_error, device_error, shape_error, value_error for a null pointer, a version other than 1 and for what
/// from_pointer does not take; then `managed` is still the caller's, who calls its deleter.
///     auto x = ca::from_dlpack<float>(managed);
template <dtype T, device_tag Device = default_device, class Managed>
const ndarray<T, Device> from_dlpack(Managed* managed) {
  if (managed == nullptr) detail::fail<value_error>("from_dlpack: a null pointer: a capsule of another name?");
  if constexpr (detail::versioned<Managed>)
    if (managed->version.major != 1)
      detail::fail<value_error>("from_dlpack: version ", int64(managed->version.major), "; 1 is taken");
  const auto& t = managed->dl_tensor;
  detail::check_tensor<T, Device>(t);
  const shape s(t.shape, int(t.ndim));
  auto* const p = reinterpret_cast<T*>(static_cast<char*>(t.data) + t.byte_offset);
  const Device device{int(Device::host_accessible ? 0 : t.device.device_id)};
  const auto done = [managed, device](const T*) {
    finish_borrowing(device);
    if (managed->deleter != nullptr) managed->deleter(managed);
  };
  const bool in_c_order = t.strides == nullptr || detail::check_extents("from_dlpack", s).elements() == 0;
  const auto taken = [&](auto* at) -> ndarray<T, Device> {
    using E = ::std::remove_pointer_t<decltype(at)>;
    if (in_c_order) return from_pointer<E, Device>(at, s, done, device);
    return from_pointer<E, Device>(at, s, shape(t.strides, int(t.ndim)), done, device);
  };
  if constexpr (detail::versioned<Managed>)
    if ((managed->flags & 1) != 0) return taken(const_cast<const T*>(p));
  return taken(p);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

// Convolution by cuDNN: float32 without tensor cores unless asked, half types by them, the same bits in every run.
// SPDX-License-Identifier: MIT
#pragma once

#include <cudnn.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "../../core/precision.hpp"
#include "../../eval/convolution.hpp"
#include "runtime/handles.hpp"

namespace cudarray::inline v0::backend::gpu {

inline bool lacks_memory(cudnnStatus_t s) {
  return s == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
         s == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
}
inline void check(cudnnStatus_t s, const char* call) {
  if (lacks_memory(s)) detail::fail<out_of_memory>("cudnn: ", call, ": ", cudnnGetErrorString(s));
  if (s != CUDNN_STATUS_SUCCESS) detail::fail<cuda_error>("cudnn: ", call, ": ", cudnnGetErrorString(s));
}

/// A descriptor as the value of an attribute: cuDNN's own type is void*, which is another kind of value.
struct dnn_part {
  cudnnBackendDescriptor_t part;
};

/// What cuDNN calls the type of an attribute.
template <class T>
constexpr cudnnBackendAttributeType_t dnn_type() {
  if constexpr (::std::is_same_v<T, int64>) return CUDNN_TYPE_INT64;
  else if constexpr (::std::is_same_v<T, float>) return CUDNN_TYPE_FLOAT;
  else if constexpr (::std::is_same_v<T, double>) return CUDNN_TYPE_DOUBLE;
  else if constexpr (::std::is_same_v<T, void*>) return CUDNN_TYPE_VOID_PTR;
  else if constexpr (::std::is_same_v<T, cudnnHandle_t>) return CUDNN_TYPE_HANDLE;
  else if constexpr (::std::is_same_v<T, cudnnDataType_t>) return CUDNN_TYPE_DATA_TYPE;
  else if constexpr (::std::is_same_v<T, cudnnConvolutionMode_t>) return CUDNN_TYPE_CONVOLUTION_MODE;
  else if constexpr (::std::is_same_v<T, cudnnBackendHeurMode_t>) return CUDNN_TYPE_HEUR_MODE;
  else if constexpr (::std::is_same_v<T, cudnnBackendNumericalNote_t>) return CUDNN_TYPE_NUMERICAL_NOTE;
  else {
    static_assert(::std::is_same_v<T, dnn_part>);
    return CUDNN_TYPE_BACKEND_DESCRIPTOR;
  }
}

/// A part of one of cuDNN's graphs: attributes are set, then it is finished.
class dnn_descriptor {
 public:
  explicit dnn_descriptor(cudnnBackendDescriptorType_t type) {
    check(cudnnBackendCreateDescriptor(type, &d_), "cudnnBackendCreateDescriptor");
  }
  dnn_descriptor(dnn_descriptor&& o) noexcept : d_(::std::exchange(o.d_, nullptr)) {}
  dnn_descriptor& operator=(dnn_descriptor&&) = delete;
  ~dnn_descriptor() {
    if (d_ != nullptr) (void)cudnnBackendDestroyDescriptor(d_);
  }
  dnn_part part() const { return {d_}; }
  template <class T, ::std::size_t N>
  void set(cudnnBackendAttributeName_t name, const T (&values)[N]) {
    check(cudnnBackendSetAttribute(d_, name, dnn_type<T>(), N, values), "cudnnBackendSetAttribute");
  }
  template <class T>
  void set(cudnnBackendAttributeName_t name, const T* values, int64 n) {
    check(cudnnBackendSetAttribute(d_, name, dnn_type<T>(), n, values), "cudnnBackendSetAttribute");
  }
  template <class T>
  void set(cudnnBackendAttributeName_t name, const T& value) {
    set(name, {value});
  }
  void set(cudnnBackendAttributeName_t name, const dnn_descriptor& value) { set(name, value.part()); }
  /// Reads at most n values; returns how many there are.
  template <class T>
  int64 read(cudnnBackendAttributeName_t name, T* values, int64 n) const {
    int64 count = 0;
    check(cudnnBackendGetAttribute(d_, name, dnn_type<T>(), n, &count, values), "cudnnBackendGetAttribute");
    return count;
  }
  /// False where cuDNN does not support it. Throws where memory is short, which may pass.
  bool finish() {
    const cudnnStatus_t s = cudnnBackendFinalize(d_);
    if (lacks_memory(s)) check(s, "cudnnBackendFinalize");
    return s == CUDNN_STATUS_SUCCESS;
  }

 private:
  cudnnBackendDescriptor_t d_ = nullptr;
};

/// How cuDNN computes one convolution.
struct convolution_plan {
  ::std::vector<dnn_descriptor> kept;  ///< the plan, and what it was made of
  int64 scratch = 0;                   ///< bytes
};

/// A handle of cuDNN and its plans by what tells them apart, of which it keeps those that were used last. A graph keeps
/// the plans of its kernels.
struct dnn_handle {
  using key = ::std::array<int64, 28>;
  struct entry {
    ::std::shared_ptr<const convolution_plan> plan;  ///< null: cuDNN had none, or no memory for it
    uint64 last_use, asked;
  };
  static constexpr ::std::size_t most_plans = 256;
  static constexpr uint64 patience = 1000;  ///< so many uses later cuDNN is asked once more for one it had not
  cudnnHandle_t handle = nullptr;
  ::std::map<key, entry> plans;
  uint64 uses = 0;
  dnn_handle* next = nullptr;

  dnn_handle() { check(cudnnCreate(&handle), "cudnnCreate"); }

  /// The plan of a key, made by `make()` where it is not known. A captured one that is not made is not remembered:
  /// there is more that cuDNN cannot do then.
  template <class F>
  ::std::shared_ptr<const convolution_plan> plan_of(const key& k, bool captured, const F& make) {
    ++uses;
    const auto at = plans.find(k);
    if (at != plans.end() && (at->second.plan != nullptr || uses - at->second.asked < patience)) {
      at->second.last_use = uses;
      return at->second.plan;
    }
    const auto made = make();
    if (made != nullptr || !captured) {
      while (at == plans.end() && plans.size() >= most_plans && forget_oldest()) continue;
      plans.insert_or_assign(k, entry{made, uses, uses});
    }
    return made;
  }
  /// False while anyone captures: code that is unloaded may wait for the device.
  bool forget_oldest() {
    if (__atomic_load_n(&captures_under_way(), __ATOMIC_ACQUIRE) > 0) return false;
    auto oldest = plans.begin();
    for (auto i = plans.begin(); i != plans.end(); ++i)
      if (i->second.last_use < oldest->second.last_use) oldest = i;
    plans.erase(oldest);
    return true;
  }
};

template <class T>
constexpr cudnnDataType_t dnn_data_type() {
  if constexpr (::std::is_same_v<T, float16>) return CUDNN_DATA_HALF;
  else if constexpr (::std::is_same_v<T, bfloat16>) return CUDNN_DATA_BFLOAT16;
  else if constexpr (::std::is_same_v<T, float>) return CUDNN_DATA_FLOAT;
  else return CUDNN_DATA_DOUBLE;
}

/// An array (outer, channels, along the axes) in C order, or with the channels innermost.
inline dnn_descriptor dnn_tensor(cudnnDataType_t type, int64 number, int64 outer, int64 channels,
                                 const int64 (&spatial)[3], int axes, bool channels_last, int64 alignment) {
  dnn_descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  int64 extent[5] = {outer, channels}, stride[5], elements = channels_last ? channels : 1;
  for (int a = 0; a < axes; ++a) extent[2 + a] = spatial[a];
  for (int a = axes + 1; a >= 0; --a) {
    stride[a] = elements;
    if (a != 1 || !channels_last) elements *= extent[a];
  }
  if (channels_last) stride[1] = 1;
  d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, number);
  d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
  d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, extent, axes + 2);
  d.set(CUDNN_ATTR_TENSOR_STRIDES, stride, axes + 2);
  return d;
}

/// The attributes of the operation for each part.
struct convolution_names {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t convolution, x, w, y, alpha, beta;
};
inline constexpr convolution_names names_of_convolution[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};

/// How exactly a convolution is computed: float32 by tensor cores in TF32 only, which alone may lose digits elsewhere.
struct convolution_precision {
  bool tensor_cores, loose;
};

/// Whether tensor cores, which take channels in fours, are asked in TF32: of one or two channels they are the slower.
inline bool tf32_pays(const detail::convolution& c) {
  const int64 channels = c.c / c.groups, filters = c.k / c.groups, taps = c.taps();
  switch (c.part) {
    case detail::convolution::what::forward:
      return channels > 2;
    case detail::convolution::what::backward_data:
      return filters > 2 || taps == 1;
    default:
      return channels > 1 || taps >= 49;  // large filters alone make up for it
  }
}

/// Whether an engine gives the same bits in every run, and computes as precisely as is asked.
inline bool engine_serves(const dnn_descriptor& config, const detail::convolution& c, convolution_precision allowed) {
  const dnn_descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  dnn_part handed[] = {engine.part()};
  config.read(CUDNN_ATTR_ENGINECFG_ENGINE, handed, 1);
  int64 number;
  engine.read(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, &number, 1);
  // cuDNN does not tell that this is Winograd's algorithm: 4e-6 of the sum of the products' sizes off with filters of
  // 3 x 3, 5e-4 with those of 5 x 5 (measured with 9.14)
  const bool untold = c.part == detail::convolution::what::backward_weights && number == 17;
  if (!allowed.loose && untold && *::std::max_element(c.window, c.window + c.axes) > 3) return false;
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  const int64 count = engine.read(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, notes, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  for (int64 i = 0; i < count; ++i) switch (notes[i]) {
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
        return false;
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        if (!allowed.tensor_cores) return false;
        break;
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
        if (!allowed.loose) return false;
        break;
      default:
        break;
    }
  return true;
}

/// What tells the plans of convolutions apart.
inline dnn_handle::key convolution_key(const detail::convolution& c, cudnnDataType_t type, bool loose,
                                       int64 alignment) {
  dnn_handle::key k = {int64(c.part), int64(type), loose, alignment, c.n, c.c, c.k, c.groups, c.channels_last, c.axes};
  auto next = k.begin() + 10;
  for (const auto* numbers : {&c.in, &c.window, &c.out, &c.stride, &c.padding, &c.dilation})
    next = ::std::copy(*numbers, *numbers + c.axes, next);
  return k;
}

/// The first plan, as cuDNN's heuristics order them, that serves; null where none does.
template <class T>
::std::shared_ptr<const convolution_plan> plan_convolution(cudnnHandle_t handle, const detail::convolution& c,
                                                           int64 alignment, convolution_precision allowed) {
  using compute = ::std::conditional_t<::std::is_same_v<T, double>, double, float>;
  const convolution_names& names = names_of_convolution[int(c.part)];
  const auto tensor = [&](int64 number, int64 outer, int64 channels, const int64(&spatial)[3]) {
    return dnn_tensor(dnn_data_type<T>(), number, outer, channels, spatial, c.axes, c.channels_last, alignment);
  };
  dnn_descriptor x = tensor(0, c.n, c.c, c.in), w = tensor(1, c.k, c.c / c.groups, c.window),
                 y = tensor(2, c.n, c.k, c.out);
  dnn_descriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  convolution.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64(c.axes));
  convolution.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, dnn_data_type<compute>());
  convolution.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  convolution.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, c.padding, c.axes);
  convolution.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, c.padding, c.axes);
  convolution.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, c.dilation, c.axes);
  convolution.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, c.stride, c.axes);
  for (dnn_descriptor* part : {&x, &w, &y, &convolution})
    if (!part->finish()) return nullptr;
  dnn_descriptor operation(names.operation);
  operation.set(names.convolution, convolution);
  operation.set(names.x, x);
  operation.set(names.w, w);
  operation.set(names.y, y);
  operation.set(names.alpha, compute(1));
  operation.set(names.beta, compute(0));
  if (!operation.finish()) return nullptr;
  dnn_descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  if (!graph.finish()) return nullptr;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    dnn_descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
    if (!heuristics.finish()) continue;
    dnn_part* const none = nullptr;
    const int64 count = heuristics.read(CUDNN_ATTR_ENGINEHEUR_RESULTS, none, 0);
    ::std::vector<dnn_descriptor> configs;
    ::std::vector<dnn_part> handed;
    for (int64 i = 0; i < count; ++i) {
      configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
      handed.push_back(configs.back().part());
    }
    const int64 found = heuristics.read(CUDNN_ATTR_ENGINEHEUR_RESULTS, handed.data(), count);
    for (int64 i = 0; i < found; ++i) {
      dnn_descriptor& config = configs[::std::size_t(i)];
      if (!engine_serves(config, c, allowed)) continue;
      dnn_descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
      if (!plan.finish()) continue;
      const auto r = ::std::make_shared<convolution_plan>();
      plan.read(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, &r->scratch, 1);
      r->kept.push_back(::std::move(plan));
      r->kept.push_back(::std::move(config));
      return r;
    }
  }
  return nullptr;
}

}  // namespace cudarray::inline v0::backend::gpu
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class T>
bool convolve_natively(cuda device, const detail::convolution& c) {
  if constexpr (kind_of<T> != kind::floating) {
    return false;
  } else {
    using what = detail::convolution::what;
    const gpu::device_guard guard(device.ordinal);
    void* data[] = {static_cast<T*>(c.x->data) + c.offset_x, static_cast<T*>(c.weights->data) + c.offset_weights,
                    static_cast<T*>(c.y->data) + c.offset_y};
    int64 alignment = 16;
    for (const void* p : data)
      while (reinterpret_cast<::std::uintptr_t>(p) % ::std::uintptr_t(alignment) != 0) alignment /= 2;
    constexpr bool single = ::std::is_same_v<T, float>;
    const bool loose = single && detail::thread_precision() == precision::tf32 && gpu::tf32_pays(c);
    const gpu::stream_ref& stream = gpu::current(device.ordinal);
    const gpu::lent<gpu::dnn_handle> dnn(device.ordinal);
    gpu::check(cudnnSetStream(dnn->handle, stream->handle), "cudnnSetStream");
    const gpu::dnn_handle::key key = gpu::convolution_key(c, gpu::dnn_data_type<T>(), loose, alignment);
    const auto plan = dnn->plan_of(key, stream->captured != nullptr, [&] {
      return gpu::plan_convolution<T>(dnn->handle, c, alignment, {!single || loose, loose});
    });
    if (plan == nullptr) return false;
    detail::storage_ref scratch;
    try {
      scratch = allocate(device, ::std::size_t(plan->scratch));
    } catch (const out_of_memory&) {
      dnn->plans.insert_or_assign(key, gpu::dnn_handle::entry{nullptr, dnn->uses, dnn->uses});
      return false;  // matrices of windows need little
    }
    if (stream->captured != nullptr) stream->captured->kept.push_back(plan);
    gpu::use_on(c.x, stream, c.part == what::backward_data);
    gpu::use_on(c.weights, stream, c.part == what::backward_weights);
    gpu::use_on(c.y, stream, c.part == what::forward);
    gpu::dnn_descriptor arguments(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    arguments.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {int64(0), int64(1), int64(2)});
    arguments.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, data);
    arguments.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, scratch->data);
    if (!arguments.finish()) detail::fail<cuda_error>("cudnn: the arguments of a convolution are not taken");
    gpu::check(cudnnBackendExecute(dnn->handle, plan->kept[0].part().part, arguments.part().part),
               "cudnnBackendExecute");
    detail::count(detail::counters.kernels);
    return true;
  }
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

// Convolution by cuDNN: float32 without tensor cores unless asked, half types by them, the same bits in every run.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "../../core/precision.hpp"
#include "../../eval/convolution.hpp"
#include "dnn.hpp"

namespace cudarray::inline v0::backend::gpu {

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
::std::shared_ptr<const dnn_plan> plan_convolution(cudnnHandle_t handle, const detail::convolution& c, int64 alignment,
                                                   convolution_precision allowed) {
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
  return first_plan(handle, graph, [&](const dnn_descriptor& config) { return engine_serves(config, c, allowed); });
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
    gpu::use_on(c.x, stream, c.part == what::backward_data);
    gpu::use_on(c.weights, stream, c.part == what::backward_weights);
    gpu::use_on(c.y, stream, c.part == what::forward);
    constexpr int64 ids[] = {0, 1, 2};
    gpu::run_plan(*dnn, plan, stream, ids, data, 3, scratch->data);
    return true;
  }
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

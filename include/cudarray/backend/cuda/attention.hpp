// Attention of half types by cuDNN's graphs: the same bits in every run.
// SPDX-License-Identifier: MIT
#pragma once

#include <cfloat>

#include "../../eval/attention.hpp"
#include "dnn.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// The graphs of attention, as cuDNN looks for them: NVIDIA's cudnn-frontend, `CompositeSDPANode` and its backward.
/// Arrays between operations are virtual.
class attention_graph {
  using part = dnn_part;
  struct sizes {
    int64 of[4];
    sizes swapped() const { return {of[0], of[1], of[3], of[2]}; }
  };
  static constexpr cudnnDataType_t single = CUDNN_DATA_FLOAT;
  static constexpr int64 first_virtual = 100;

  const detail::attention& a_;
  cudnnDataType_t half_;
  bool ok_ = true;
  int64 virtuals_ = 0;
  ::std::vector<dnn_descriptor> kept_;
  ::std::vector<part> operations_;
  sizes scores_{a_.b, a_.h, a_.l, a_.s}, rows_{a_.b, a_.h, a_.l, 1};

  part keep(dnn_descriptor&& d) {
    ok_ = ok_ && d.finish();
    kept_.push_back(::std::move(d));
    return kept_.back().part();
  }
  part tensor(cudnnDataType_t type, const sizes& n, const sizes& stride, int64 id, bool is_virtual, bool of_host) {
    dnn_descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
    d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64(16));
    d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, n.of);
    d.set(CUDNN_ATTR_TENSOR_STRIDES, stride.of);
    d.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
    d.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, of_host);
    return keep(::std::move(d));
  }
  static sizes c_order(const sizes& n) { return {n.of[1] * n.of[2] * n.of[3], n.of[2] * n.of[3], n.of[3], 1}; }
  part array(cudnnDataType_t type, const sizes& n, int id) { return tensor(type, n, c_order(n), id, false, false); }
  part inside(cudnnDataType_t type, const sizes& n, const sizes& stride) {
    return tensor(type, n, stride, first_virtual + virtuals_++, true, false);
  }
  part inside(cudnnDataType_t type, const sizes& n) { return inside(type, n, c_order(n)); }
  part number(int id) { return tensor(single, {1, 1, 1, 1}, {1, 1, 1, 1}, id, false, true); }
  sizes strides_of(int operand) const {
    const auto& s = a_.stride[operand];
    return {s[0], s[1], s[2], 1};
  }

  void add(dnn_descriptor&& operation) { operations_.push_back(keep(::std::move(operation))); }
  part pointwise(cudnnPointwiseMode_t mode, part x, const part* b, part y, const part* choice = nullptr,
                 cudnnDataType_t computed_in = single, int64 axis = -1) {
    dnn_descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set(CUDNN_ATTR_POINTWISE_MODE, mode);
    how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, computed_in);
    if (axis >= 0) how.set(CUDNN_ATTR_POINTWISE_AXIS, axis);
    const part finished = keep(::std::move(how));
    dnn_descriptor o(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    o.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, finished);
    o.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b != nullptr) o.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    if (choice != nullptr) o.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *choice);
    o.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    add(::std::move(o));
    return y;
  }
  part on_scores(cudnnPointwiseMode_t mode, part x, const part* b = nullptr) {
    return pointwise(mode, x, b, inside(single, scores_));
  }
  part product(part x, part y, part to) {
    dnn_descriptor how(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, single);
    const part finished = keep(::std::move(how));
    dnn_descriptor o(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    o.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, x);
    o.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, y);
    o.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, to);
    o.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, finished);
    add(::std::move(o));
    return to;
  }
  part reduced(cudnnReduceTensorOp_t by, part x, part to) {
    dnn_descriptor how(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    how.set(CUDNN_ATTR_REDUCTION_OPERATOR, by);
    how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, single);
    const part finished = keep(::std::move(how));
    dnn_descriptor o(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    o.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    o.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, to);
    o.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, finished);
    add(::std::move(o));
    return to;
  }
  part seen_as(part x, part to) {
    dnn_descriptor o(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    o.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
    o.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, to);
    add(::std::move(o));
    return to;
  }
  /// The gradient of keys or values: of the heads that share one, added up.
  void gradient_of_shared(part weights, part y, int64 width, int id) {
    const part to = array(half_, {a_.b, a_.g, a_.s, width}, id);
    if (a_.h == a_.g) product(weights, y, to);
    else reduced(CUDNN_REDUCE_TENSOR_ADD, product(weights, y, inside(half_, {a_.b, a_.h, a_.s, width})), to);
  }
  part hidden(part scores) {
    if (!a_.causal) return scores;
    const auto place = [&](int64 axis) {
      return pointwise(CUDNN_POINTWISE_GEN_INDEX, scores, nullptr, inside(CUDNN_DATA_INT32, scores_), nullptr,
                       CUDNN_DATA_INT32, axis);
    };
    const part query = place(2), key = place(3), none = number(lowest);
    const part sees = pointwise(CUDNN_POINTWISE_CMP_GE, query, &key, inside(CUDNN_DATA_BOOLEAN, scores_), nullptr,
                                CUDNN_DATA_BOOLEAN);
    return pointwise(CUDNN_POINTWISE_BINARY_SELECT, scores, &none, inside(single, scores_), &sees);
  }
  part scaled_scores(part q, part keys, const part& by) {
    return on_scores(CUDNN_POINTWISE_MUL, product(q, keys, inside(single, scores_)), &by);
  }

  void forward() {
    using o = detail::attention;
    const sizes nk{a_.b, a_.g, a_.s, a_.d};
    const part q = tensor(half_, {a_.b, a_.h, a_.l, a_.d}, strides_of(o::q), o::q, false, false),
               k = tensor(half_, nk.swapped(), strides_of(o::k).swapped(), o::k, false, false),
               v = tensor(half_, {a_.b, a_.g, a_.s, a_.e}, strides_of(o::v), o::v, false, false),
               y = array(half_, {a_.b, a_.h, a_.l, a_.e}, o::y), statistics = array(single, rows_, o::statistics),
               by = number(scale);
    const part scores = hidden(scaled_scores(q, k, by));
    const part most = reduced(CUDNN_REDUCE_TENSOR_MAX, scores, inside(single, rows_));
    const part e = on_scores(CUDNN_POINTWISE_EXP, on_scores(CUDNN_POINTWISE_SUB, scores, &most));
    const part total = reduced(CUDNN_REDUCE_TENSOR_ADD, e, inside(single, rows_));
    const part logarithm = pointwise(CUDNN_POINTWISE_LOG, total, nullptr, inside(single, rows_));
    pointwise(CUDNN_POINTWISE_ADD, most, &logarithm, statistics);
    product(pointwise(CUDNN_POINTWISE_DIV, e, &total, inside(half_, scores_)), v, y);
  }
  void backward() {
    using o = detail::attention;
    const sizes nq{a_.b, a_.h, a_.l, a_.d}, nk{a_.b, a_.g, a_.s, a_.d}, nv{a_.b, a_.g, a_.s, a_.e},
        ny{a_.b, a_.h, a_.l, a_.e}, turned = scores_.swapped(), across = c_order(scores_).swapped();
    const part q = tensor(half_, nq, strides_of(o::q), o::q, false, false),
               k = tensor(half_, nk.swapped(), strides_of(o::k).swapped(), o::k, false, false),
               v = tensor(half_, nv.swapped(), strides_of(o::v).swapped(), o::v, false, false),
               dy = tensor(half_, ny, strides_of(o::dy), o::dy, false, false), y = array(half_, ny, o::y),
               statistics = array(single, rows_, o::statistics), by = number(scale), one = number(unit);
    // sums of dy y for each query
    const part sums = reduced(CUDNN_REDUCE_TENSOR_ADD, pointwise(CUDNN_POINTWISE_MUL, dy, &y, inside(single, ny)),
                              inside(single, rows_));
    const part shares = pointwise(CUDNN_POINTWISE_MUL, sums, &one, array(single, rows_, row_sums));
    const part p =
        on_scores(CUDNN_POINTWISE_EXP, hidden(on_scores(CUDNN_POINTWISE_SUB, scaled_scores(q, k, by), &statistics)));
    gradient_of_shared(seen_as(p, inside(half_, turned, across)), dy, a_.e, o::dv);
    const part dp = on_scores(CUDNN_POINTWISE_SUB, product(dy, v, inside(single, scores_)), &shares);
    const part ds = on_scores(CUDNN_POINTWISE_MUL, on_scores(CUDNN_POINTWISE_MUL, dp, &p), &by);
    gradient_of_shared(seen_as(ds, inside(half_, turned, across)), q, a_.d, o::dk);
    const part keys = seen_as(k, inside(half_, nk, strides_of(o::k)));
    product(ds, keys, array(half_, nq, o::dq));
  }

 public:
  /// What is handed over beside the operands: numbers, and memory for sums of rows.
  enum { scale = detail::attention::operands, lowest, unit, row_sums };

  attention_graph(const detail::attention& a, cudnnDataType_t type) : a_(a), half_(type) {
    if (a.backward) backward();
    else forward();
  }
  ::std::shared_ptr<const dnn_plan> plan(cudnnHandle_t handle) {
    if (!ok_) return nullptr;
    dnn_descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_.data(), int64(operations_.size()));
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
    if (!graph.finish()) return nullptr;
    return first_plan(handle, graph, [](const dnn_descriptor&) { return true; });
  }
};

/// What tells the plans of attention apart, from each other and from those of convolutions.
inline dnn_handle::key attention_key(const detail::attention& a, cudnnDataType_t type) {
  dnn_handle::key k = {-1 - int64(a.backward), type, a.causal, a.b, a.h, a.g, a.l, a.s, a.d, a.e};
  auto next = k.begin() + 10;
  for (const auto& strides : a.stride) next = ::std::copy(strides, strides + 3, next);
  return k;
}
/// Whether cuDNN is known to be right: cudnn-frontend's lists of faults. Rows are multiples of 16 bytes. On GPUs of
/// compute capability 10 and above its way back is another, which need not give the same bits each time.
inline bool attention_is_sound(const detail::attention& a, int capability, ::std::size_t version) {
  if (a.d % 8 != 0 || a.e % 8 != 0 || capability >= 10 || version == 91000 || version == 91001) return false;
  return !a.backward || ((version > 91500 || a.s % 128 == 0) && (a.l > 1 || a.s > 1));
}
/// The plan of one direction, by a handle of the device that is current.
inline ::std::shared_ptr<const dnn_plan> plan_attention(dnn_handle& dnn, const detail::attention& a,
                                                        cudnnDataType_t type, const stream_ref& stream, int ordinal) {
  int capability = 0;
  check(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, ordinal), "cudaDeviceGetAttribute");
  if (!attention_is_sound(a, capability, cudnnGetVersion())) return nullptr;
  check(cudnnSetStream(dnn.handle, stream->handle), "cudnnSetStream");
  const bool captured = stream->captured != nullptr;
  return dnn.plan_of(attention_key(a, type), captured, [&] { return attention_graph(a, type).plan(dnn.handle); });
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class T>
bool attends_natively(cuda device, const detail::attention& a) {
  if constexpr (!::std::is_same_v<T, float16> && !::std::is_same_v<T, bfloat16>) {
    return false;
  } else {
    const gpu::device_guard guard(device.ordinal);
    const gpu::stream_ref& stream = gpu::current(device.ordinal);
    const gpu::lent<gpu::dnn_handle> dnn(device.ordinal);
    return gpu::plan_attention(*dnn, a, gpu::dnn_data_type<T>(), stream, device.ordinal) != nullptr;
  }
}
template <class T>
bool attend_natively(cuda device, const detail::attention& a) {
  using o = detail::attention;
  using graph = gpu::attention_graph;
  const gpu::device_guard guard(device.ordinal);
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  const gpu::lent<gpu::dnn_handle> dnn(device.ordinal);
  const auto plan = gpu::plan_attention(*dnn, a, gpu::dnn_data_type<T>(), stream, device.ordinal);
  if (plan == nullptr) return false;
  float scale = float(a.scale), lowest = -FLT_MAX, one = 1;
  int64 ids[o::operands + 4];
  void* pointers[o::operands + 4];
  int n = 0;
  const auto hand = [&](int64 id, void* p) { ids[n] = id, pointers[n++] = p; };
  for (int k = 0; k < o::operands; ++k) {
    if (a.store[k] == nullptr) continue;
    const bool written = a.backward ? k >= o::dq : k >= o::y;
    gpu::use_on(a.store[k], stream, written);
    const ::std::size_t bytes = k == o::statistics ? sizeof(float) : sizeof(T);
    hand(k, static_cast<char*>(a.store[k]->data) + ::std::size_t(a.offset[k]) * bytes);
  }
  hand(graph::scale, &scale);
  if (a.causal) hand(graph::lowest, &lowest);
  const detail::storage_ref scratch = allocate(device, ::std::size_t(plan->scratch));
  detail::storage_ref sums;
  if (a.backward) {
    sums = allocate(device, ::std::size_t(a.b * a.h * a.l) * sizeof(float));
    hand(graph::unit, &one);
    hand(graph::row_sums, sums->data);
  }
  gpu::run_plan(*dnn, plan, stream, ids, pointers, n, scratch->data);
  return true;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

// Parts of cuDNN's graphs, the plans that are made of them, and where plans are kept.
// SPDX-License-Identifier: MIT
#pragma once

#include <cudnn.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

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
  else if constexpr (::std::is_same_v<T, bool>) return CUDNN_TYPE_BOOLEAN;
  else if constexpr (::std::is_same_v<T, cudnnPointwiseMode_t>) return CUDNN_TYPE_POINTWISE_MODE;
  else if constexpr (::std::is_same_v<T, cudnnReduceTensorOp_t>) return CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
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

/// How cuDNN computes one graph.
struct dnn_plan {
  ::std::vector<dnn_descriptor> kept;  ///< the plan, and what it was made of
  int64 scratch = 0;                   ///< bytes
};

/// A handle of cuDNN and its plans by what tells them apart, of which it keeps those that were used last. A graph keeps
/// the plans of its kernels.
struct dnn_handle {
  using key = ::std::array<int64, 28>;
  struct entry {
    ::std::shared_ptr<const dnn_plan> plan;  ///< null: cuDNN had none, or no memory for it
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
  ::std::shared_ptr<const dnn_plan> plan_of(const key& k, bool captured, const F& make) {
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

/// The first plan of a graph, as cuDNN's heuristics order them, whose configuration `serves`; null where none does.
template <class F>
::std::shared_ptr<const dnn_plan> first_plan(cudnnHandle_t handle, const dnn_descriptor& graph, const F& serves) {
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
      if (!serves(config)) continue;
      dnn_descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
      if (!plan.finish()) continue;
      const auto r = ::std::make_shared<dnn_plan>();
      plan.read(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, &r->scratch, 1);
      r->kept.push_back(::std::move(plan));
      r->kept.push_back(::std::move(config));
      return r;
    }
  }
  return nullptr;
}

/// Runs a plan on a stream: `ids` name the arrays, or numbers of the host, that `pointers` point to.
inline void run_plan(const dnn_handle& dnn, const ::std::shared_ptr<const dnn_plan>& plan, const stream_ref& stream,
                     const int64* ids, void* const* pointers, int64 count, void* scratch) {
  if (stream->captured != nullptr) stream->captured->kept.push_back(plan);
  dnn_descriptor arguments(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  arguments.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids, count);
  arguments.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointers, count);
  arguments.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, scratch);
  if (!arguments.finish()) detail::fail<cuda_error>("cudnn: the arguments of a plan are not taken");
  check(cudnnBackendExecute(dnn.handle, plan->kept[0].part().part, arguments.part().part), "cudnnBackendExecute");
  detail::count(detail::counters.kernels);
}

}  // namespace cudarray::inline v0::backend::gpu

// Functions of whole rows (the softmax family): the optional backend entry, and running an expression through it.
// SPDX-License-Identifier: MIT
#pragma once

#include "evaluate.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// x - max(x) is exponentiated and normalised along an axis; or its logarithm; or what is subtracted for that.
enum class row_function { softmax, log_softmax, logsumexp };

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {
/// `make()(place) = f(rows of tree)`: the axes [kept, ndim) of the space are the row; `make` allocates the target. Runs
/// it and returns true, or returns false and has made nothing: then the caller composes it of reductions and maps.
template <detail::row_function F, class Device, class Make, class Tree, class Space>
bool run_rows(Device, const Make&, const Tree&, const Space&) {
  return false;
}
}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The value of f along an axis of an expression, in new memory: the same shape, or, for logsumexp, an extent of 1
/// there. Without storage where the backend does not have it for this expression.
template <row_function F, class N>
auto evaluate_rows(const N& n, int axis) -> leaf<node_value_t<N>, device_type_t<N>> {
  using T = node_value_t<N>;
  using D = device_type_t<N>;
  shape dims = n.dims();
  if (F == row_function::logsumexp) dims[axis] = 1;
  leaf<T, D> to({}, dims);
  if constexpr (!may_fault<N>) {
    const D device{check_leaves(n)};
    const auto& node = materialise_reductions(n);
    iteration_space<1 + ::std::remove_cvref_t<decltype(node)>::leaves> s;
    s.ndim = dims.ndim();
    s.kept = s.ndim - 1;
    int axis_of[max_rank] = {}, next = 0;
    for (int d = 0; d < s.ndim; ++d) {
      axis_of[d] = d == axis ? s.kept : next++;
      s.extent[axis_of[d]] = node.dims()[d];
    }
    place<0>(s, dims, to.where.stride, axis_of, nullptr);
    const auto tree = lower<1>(node, axis_of, s, fault_sink{});
    simplify(s, false);
    const auto make = [&] {
      to.store = allocate(device, ::std::size_t(dims.elements()) * sizeof(T));
      s.store[0] = to.store.get();
      return store_to<T>{static_cast<T*>(to.store->data)};
    };
    run_rows<F>(device, make, tree, s);
  }
  return to;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD

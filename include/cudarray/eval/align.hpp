// Copying what a reduction would read far apart: operands that are transposed against the others.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/stats.hpp"
#include "entries.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The operands (a bit each) that are read from copies, and the axes in the order in which these lie in memory.
struct transposed_operands {
  uint64 those = 0;
  int order[max_rank] = {};

  /// The space of a copy of operand k, which it lies in from then on. The number of its elements.
  template <int Operands>
  CUDARRAY_NO_INLINE int64 lay_out(iteration_space<2>& copy, iteration_space<Operands>& s, int k) const {
    int64 elements = 1;
    copy.ndim = copy.kept = s.ndim;
    for (int i = s.ndim - 1; i >= 0; --i) {
      int64& stride = s.stride[k][order[i]];
      copy.extent[i] = stride == 0 ? 1 : s.extent[order[i]];
      copy.stride[1][i] = stride;
      if (stride != 0) copy.stride[0][i] = stride = elements;
      elements *= copy.extent[i];
    }
    copy.store[1] = s.store[k];
    simplify(copy, true);
    return elements;
  }
};

/// The tree with the operands that the device wants copied read from copies, which lie in the space as the others do;
/// `copies` holds them.
template <class Device, class Tree, int Operands>
Tree align_operands(Device device, const Tree& tree, iteration_space<Operands>& s, storage_ref* copies) {
  const auto transposed = plan_copies(device, tree, s);
  if constexpr (::std::is_same_v<decltype(transposed), const ::std::false_type>) {
    return tree;
  } else {
    if (transposed.those == 0) return tree;
    return with_loads(tree, [&]<int Ix, class T>(load<Ix, T> l) {
      if (!(transposed.those >> Ix & 1)) return l;
      iteration_space<2> copy;
      const int64 elements = transposed.lay_out(copy, s, Ix);
      copies[Ix] = allocate(device, ::std::size_t(elements) * sizeof(T));
      s.store[Ix] = copy.store[0] = copies[Ix].get();
      count(counters.temporaries);
      T* const to = static_cast<T*>(copies[Ix]->data);
      run_elementwise(device, store_to<T>{to}, load<1, T>{l.p}, copy);
      l.p = to;
      return l;
    });
  }
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD

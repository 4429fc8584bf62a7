// What a plan must know of the operands of a kernel: where they lie, and what can be one access.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/access.hpp"
#include "../../../eval/several.hpp"
#include "threads.hpp"
#include "tuning.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// What must be known of a leaf, and of what is written.
struct operand_info {
  const void* data = nullptr;  ///< null: nothing is loaded
  int bytes = 1;               ///< of an element
  int group = 1;               ///< numbers that are computed together
  bool generated = false;
  bool gathered = false;
  int64 gather_step = 0;    ///< along the axis that is picked from
  uint64 index_leaves = 0;  ///< the operands that say what is picked
};
template <int Operands>
struct survey {
  operand_info of[Operands];
  template <int Ix, class T>
  void operator()(const detail::load<Ix, T>& l) {
    of[Ix] = {l.p, int(sizeof(T))};
  }
  template <int Ix, class T, class X>
  void operator()(const detail::gathered<Ix, T, X>& g) {
    picked(of[Ix], g);
  }
  template <int Ix, class G>
  void operator()(const detail::generated<Ix, G>&) {
    of[Ix].generated = true;
    if constexpr (requires { G::group; }) of[Ix].group = G::group;
  }
  template <class L>
  void operator()(const L&) {}
  template <class T>
  void written(const detail::store_to<T>& t) {
    of[0] = {t.p, int(sizeof(T))};
  }
  template <int First, class... T>
  void written(const detail::store_several<First, T...>& t) {
    t.each([this]<int J, int Ix, class P>(P* p) { of[Ix] = {p, int(sizeof(P))}; });
  }
  template <class T, class Index>
  void written(const detail::scatter_to<T, Index>& t) {
    detail::for_each_operand(t, *this);
    picked(of[0], t);
  }

 private:
  template <class X>
  static void picked(operand_info& o, const X& x) {
    o = {x.p, int(sizeof(*x.p)), 1, false, true, x.stride};  // nvcc 13 drops the names of designated ones
    detail::for_each_operand(x.index, [&o]<class L>(const L&) {
      if constexpr (requires { L::operand; }) o.index_leaves |= uint64(1) << L::operand;
    });
  }
};

using detail::magnitude;

/// The operands (a bit each) whose V neighbouring lanes along an axis are one aligned access; false where one that is
/// loaded and moves there is not, or one that is computed moves by more than one, or is computed by groups and its
/// lanes are no whole ones.
template <int Operands>
CUDARRAY_NO_INLINE bool wide_operands(const detail::iteration_space<Operands>& s, const operand_info* of, int axis,
                                      int V, uint64& wide) {
  wide = 0;
  for (int k = 0; k < Operands; ++k) {
    const operand_info& o = of[k];
    const bool grouped = o.group > 1 && V % o.group == 0;
    if (!grouped && (s.stride[k][axis] == 0 || (o.data == nullptr && (k == 0 || s.stride[k][axis] == 1)))) continue;
    bool ok = s.stride[k][axis] == 1 && reinterpret_cast<::std::uintptr_t>(o.data) % ::std::size_t(V * o.bytes) == 0;
    for (int d = 0; d < s.ndim; ++d) ok = ok && (d == axis || s.stride[k][d] % V == 0);
    if (o.gathered) {
      // whole rows are picked where the index does not change along them
      ok = ok && o.gather_step % V == 0;
      for (int i = 0; i < Operands; ++i) ok = ok && (!(o.index_leaves >> i & 1) || s.stride[i][axis] == 0);
    } else if (!ok) {
      return false;
    }
    if (!grouped) wide |= uint64(ok) << k;
  }
  return true;
}

/// Matrices of fewer elements stay in the cache until all of their lines are used.
inline int64 cached_matrix(int bytes) { return bytes < 4 ? tuning::cached_narrow_matrix : tuning::cached_matrix; }

/// The elements that an operand is off alignment for V lanes.
inline int off_alignment(const operand_info& o, int V) {
  return int(reinterpret_cast<::std::uintptr_t>(o.data) / ::std::size_t(o.bytes) % ::std::size_t(V));
}

/// Whether what lies beside the operands that are loaded may be read, up to aligned places.
template <int Operands>
bool readable_around(const detail::iteration_space<Operands>& s, const operand_info* of) {
  for (int k = 1; k < Operands; ++k)
    if (of[k].data != nullptr && s.store[k]->borrowed) return false;
  return true;
}

/// The first operand that is loaded, where all of them lie along an axis and are off alignment for V lanes there by as
/// much as each other in every row; otherwise 0.
template <int Operands>
CUDARRAY_NO_INLINE int equally_aligned(const detail::iteration_space<Operands>& s, const operand_info* of, int axis,
                                       int V) {
  int first = 0;
  for (int k = 1; k < Operands; ++k) {
    const operand_info& o = of[k];
    if (o.data == nullptr && (s.stride[k][axis] == 0 || s.stride[k][axis] == 1)) continue;
    if (o.data == nullptr || o.gathered || s.stride[k][axis] != 1) return 0;
    if (first == 0) first = k;
    if (off_alignment(o, V) != off_alignment(of[first], V)) return 0;
    for (int d = 0; d < s.ndim; ++d)
      if (d != axis && (s.stride[k][d] - s.stride[first][d]) % V != 0) return 0;
  }
  return first;
}

/// Whether new memory for operand 0 is off alignment as operand k is in every row.
template <int Operands>
bool aligned_as_new(const detail::iteration_space<Operands>& s, const operand_info& o, int k, int axis, int V) {
  bool yes = off_alignment(o, V) == 0;
  for (int d = 0; d < s.ndim; ++d) yes = yes && (d == axis || (s.stride[k][d] - s.stride[0][d]) % V == 0);
  return yes;
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD

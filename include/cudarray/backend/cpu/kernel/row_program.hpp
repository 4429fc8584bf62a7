// Row programs on the CPU: the loops of reductions and maps, a row at a time, which stays in the cache.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/row_program.hpp"
#include "reduce.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// The tree with what is kept read as operand Ix.
template <int Ix, class Leaf>
const Leaf& read_kept(const Leaf& leaf) {
  return leaf;
}
template <int Ix, class Tree>
detail::load<Ix, typename Tree::value_type> read_kept(const detail::kept_value<Tree>&) {
  return {nullptr};
}
template <int Ix, class Op, class Types, class... K>
auto read_kept(const detail::apply<Op, Types, K...>& a) {
  return [&]<int... J>(::std::integer_sequence<int, J...>) {
    return [&](const auto&... kid) {
      return detail::apply<Op, Types, ::std::remove_cvref_t<decltype(kid)>...>{a.op, {{kid}...}};
    }(read_kept<Ix>(detail::get<J>(a.kids))...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

/// Rows of a program, one after the other. Behind the operands stands what is kept.
template <class Target, class Program, int Operands>
struct row_runner {
  static constexpr int kept_operand = Operands, all = kept_operand + 1;
  const Target& target;
  const Program& program;
  int64 n;
  row_form form;
  void* kept;  ///< room for a row
  int64 offset[::std::size_t(all)] = {}, step[::std::size_t(all)] = {};
  typename Program::results results{};

  /// The tree for this row: what is the same all along it is a number, and what is kept is read.
  template <class Tree>
  auto bind(const Tree& tree) const {
    const auto bound = detail::bind_row<Operands>(tree, results);
    return detail::with_loads(read_kept<kept_operand>(bound), [this]<int Ix, class T>(detail::load<Ix, T> l) {
      if constexpr (Ix == kept_operand) l.p = static_cast<const T*>(kept);
      return l;
    });
  }
  void run(bool by_element) {
    [&]<int... Ix>(::std::integer_sequence<int, Ix...>) { (take_step<Ix>(), ...); }
    (::std::make_integer_sequence<int, Program::count>{});
    const auto tree = bind(program.tree);
    using tree_type = ::std::remove_cv_t<decltype(tree)>;
    if (by_element) {
      const map_body<Target, tree_type> body{target, tree};
      map_row<Target, tree_type, all>(&body, offset, step, 0, n, form);
    } else {
      const element_access a{offset, step, 0};
      target(a, tree(a));
    }
  }

 private:
  template <int Ix, class T>
  static T& result(detail::slot<Ix, T>& s) {
    return s.value;
  }
  template <int Ix>
  void take_step() {
    using step_type = ::std::remove_cvref_t<decltype(detail::get<Ix>(program.steps))>;
    const auto tree = bind(detail::get<Ix>(program.steps).tree);
    if constexpr (step_type::keeps) {
      using T = typename decltype(tree)::value_type;
      const detail::store_to<T> to{static_cast<T*>(kept)};
      const int64 at = offset[0], by = step[0];
      offset[0] = 0, step[0] = 1;
      const map_body<detail::store_to<T>, ::std::remove_cv_t<decltype(tree)>> body{to, tree};
      map_row<detail::store_to<T>, ::std::remove_cv_t<decltype(tree)>, all>(&body, offset, step, 0, n,
                                                                            {true, false, true});
      offset[0] = at, step[0] = by;
      reduce<Ix, step_type>(detail::load<kept_operand, T>{to.p});
    } else {
      reduce<Ix, step_type>(tree);
    }
  }
  template <int Ix, class Step, class Tree>
  void reduce(const Tree& tree) {
    using kernels = reduction_kernels<Tree, typename Step::op, all>;
    const kernels self{tree};
    typename kernels::total sum;
    kernels::clear(&sum, 1);
    kernels::along(&self, offset, step, 0, n, 0, true, &sum);
    result<Ix>(results) = Step::op::template finish<typename Step::result>(sum, n);
  }
};

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop

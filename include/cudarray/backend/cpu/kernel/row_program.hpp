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
    return detail::apply_of<Op, Types>(a.op, read_kept<Ix>(detail::get<J>(a.kids))...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

/// Leaves the results of a target that move along a row, or those that do not; false if there are none.
template <class T>
bool leave_results(const detail::store_to<T>&, const int64* step, bool moving) {
  return (step[0] != 0) == moving;
}
template <int First, class... T>
bool leave_results(detail::store_several<First, T...>& target, const int64* step, bool moving) {
  bool any = false;
  target.each([&]<int J, int Ix, class P>(P*& to) {
    if ((step[Ix] != 0) == moving) any = true;
    else to = nullptr;
  });
  return any;
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

  row_runner(const Target& to, const Program& p, int64 length, row_form how, void* room)
      : target(to), program(p), n(length), form(how), kept(room) {
    step[kept_operand] = 1;
  }

  /// The tree for this row: what is the same all along it is a number, and what is kept is read.
  template <class Tree>
  auto bind(const Tree& tree) const {
    const auto bound = detail::bind_row<Operands>(tree, results);
    return detail::with_loads(read_kept<kept_operand>(bound), [this]<int Ix, class T>(detail::load<Ix, T> l) {
      if constexpr (Ix == kept_operand) l.p = static_cast<const T*>(kept);
      return l;
    });
  }
  /// Finds what the steps do of a row.
  void take_steps() {
    [&]<int... Ix>(::std::integer_sequence<int, Ix...>) { (take_step<Ix>(), ...); }
    (::std::make_integer_sequence<int, Program::count>{});
  }
  void run() {
    take_steps();
    const auto tree = bind(program.tree);
    using tree_type = ::std::remove_cv_t<decltype(tree)>;
    if (Target per_row = target; leave_results(per_row, step, false)) {
      const element_access a{offset, step, 0};
      per_row(a, detail::stored_values(per_row, tree, a));
    }
    if (Target by_element = target; leave_results(by_element, step, true)) {
      const map_body<Target, tree_type> body{by_element, tree};
      map_row<Target, tree_type, all>(&body, offset, step, 0, n, form);
    }
  }

 private:
  template <int Ix>
  void take_step() {
    using step_type = ::std::remove_cvref_t<decltype(detail::get<Ix>(program.steps))>;
    const auto tree = bind(detail::get<Ix>(program.steps).tree);
    if constexpr (step_type::level < 0) {
      detail::get<Ix>(results) = tree(element_access{offset, step, 0});
    } else if constexpr (step_type::keeps) {
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
    detail::get<Ix>(results) = Step::op::template finish<typename Step::result>(sum, n);
  }
};

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop

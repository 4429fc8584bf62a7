// Sums of products by a formula: Einstein's convention, NumPy's einsum. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "../core/fixed_text.hpp"
#include "diagonals.hpp"
#include "products.hpp"

namespace cudarray::inline v0::detail {

/// What may be wrong with a formula by itself.
enum class formula_fault { none, character, ellipsis, result, repeated, operands };

constexpr bool is_label(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr formula_fault fault_of_labels(::std::string_view labels, bool is_result) {
  bool ellipsis = false;
  for (::std::size_t i = 0; i < labels.size(); ++i) {
    const char c = labels[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (ellipsis || labels.substr(i, 3) != "...") return formula_fault::ellipsis;
      ellipsis = true;
      i += 2;
    } else if (!is_label(c)) {
      return formula_fault::character;
    } else if (is_result && labels.find(c, i + 1) != labels.npos) {
      return formula_fault::repeated;
    }
  }
  return formula_fault::none;
}
constexpr formula_fault fault_of_formula(::std::string_view formula, int operands) {
  const ::std::size_t arrow = formula.find("->");
  ::std::string_view in = formula.substr(0, arrow);
  if (arrow != formula.npos) {
    const ::std::string_view result = formula.substr(arrow + 2);
    const formula_fault f = fault_of_labels(result, true);
    if (f != formula_fault::none) return f;
    for (const char c : result)
      if (is_label(c) && in.find(c) == in.npos) return formula_fault::result;
    if (result.find("...") != result.npos && in.find("...") == in.npos) return formula_fault::result;
  }
  for (;; --operands) {
    const ::std::size_t comma = in.find(',');
    const formula_fault f = fault_of_labels(in.substr(0, comma), false);
    if (f != formula_fault::none) return f;
    if (comma == in.npos) break;
    in = in.substr(comma + 1);
  }
  return operands == 1 ? formula_fault::none : formula_fault::operands;
}
inline const char* text_of(formula_fault f) {
  switch (f) {
    case formula_fault::character:
      return "labels are letters";
    case formula_fault::ellipsis:
      return "an ellipsis is three dots, once for an operand";
    case formula_fault::result:
      return "a label of the result is of no operand";
    case formula_fault::repeated:
      return "a label is twice in the result";
    case formula_fault::operands:
      return "there are not as many operands as the formula names";
    default:
      return "";
  }
}

/// The labels of the axes of an array. Letters are themselves; axis k from the end of an ellipsis is 128 + k.
using axis_labels = ::std::vector<int>;
inline bool has_label(const axis_labels& l, int label) { return ::std::find(l.begin(), l.end(), label) != l.end(); }

/// Labels of operands of known ranks, and of the result; the extent of each.
struct contraction {
  ::std::vector<axis_labels> in;
  axis_labels out;
  ::std::vector<int64> extents = ::std::vector<int64>(128 + max_rank, -1);

  contraction(::std::string_view formula, ::std::initializer_list<shape> shapes) {
    const formula_fault f = fault_of_formula(formula, int(shapes.size()));
    if (f != formula_fault::none) fail<value_error>("einsum: \"", formula, "\": ", text_of(f));
    const ::std::size_t arrow = formula.find("->");
    ::std::string_view rest = formula.substr(0, arrow);
    int ellipsis = 0;
    for (const shape& s : shapes) {
      const ::std::size_t comma = rest.find(',');
      in.push_back(labels_of(formula, rest.substr(0, comma), s, ellipsis));
      rest = comma == rest.npos ? ::std::string_view() : rest.substr(comma + 1);
    }
    if (arrow != formula.npos && ellipsis > 0 && formula.find("...", arrow) == formula.npos)
      fail<value_error>("einsum: \"", formula, "\": the result has no ellipsis");
    if (arrow != formula.npos) out = labels_of_result(formula.substr(arrow + 2), ellipsis);
    else out = implied_result(ellipsis);
  }
  /// The shape of an array with these labels.
  shape shape_of(const axis_labels& l) const {
    shape s;
    for (const int label : l) s.push_back(extents[::std::size_t(label)]);
    return s;
  }
  double size_of(const axis_labels& l) const {
    double n = 1;
    for (const int label : l) n *= double(extents[::std::size_t(label)]);
    return n;
  }

 private:
  axis_labels labels_of(::std::string_view formula, ::std::string_view text, const shape& s, int& ellipsis) {
    const int letters = int(::std::count_if(text.begin(), text.end(), is_label));
    const bool dots = text.find('.') != text.npos;
    if (letters > s.ndim() || (!dots && letters != s.ndim()))
      fail<shape_error>("einsum: \"", formula, "\": ", letters, " labels for an operand of shape ", s);
    axis_labels l;
    for (::std::size_t i = 0; i < text.size(); ++i) {
      if (is_label(text[i])) l.push_back(text[i]);
      if (text[i] != '.') continue;
      const int n = s.ndim() - letters;
      ellipsis = n > ellipsis ? n : ellipsis;
      for (int k = n; k-- > 0;) l.push_back(128 + k);
      i += 2;
    }
    for (int d = 0; d < s.ndim(); ++d) {
      int64& extent = extents[::std::size_t(l[::std::size_t(d)])];
      if (extent == -1 || extent == 1) extent = s[d];
      else if (s[d] != extent && s[d] != 1)
        fail<shape_error>("einsum: \"", formula, "\": extents ", extent, " and ", s[d], " of one label");
    }
    return l;
  }
  axis_labels labels_of_result(::std::string_view text, int ellipsis) const {
    axis_labels l;
    for (::std::size_t i = 0; i < text.size(); ++i) {
      if (is_label(text[i])) l.push_back(text[i]);
      if (text[i] != '.') continue;
      for (int k = ellipsis; k-- > 0;) l.push_back(128 + k);
      i += 2;
    }
    if (l.size() > ::std::size_t(max_rank)) fail<shape_error>("einsum: a result of ", l.size(), " axes");
    return l;
  }
  /// The ellipsis, then what is there once, in the order of the alphabet.
  axis_labels implied_result(int ellipsis) const {
    axis_labels l = labels_of_result("...", ellipsis);
    for (int c = 'A'; c <= 'z'; ++c) {
      ::std::ptrdiff_t n = 0;
      for (const axis_labels& i : in) n += ::std::count(i.begin(), i.end(), c);
      if (n == 1) l.push_back(c);
    }
    return l;
  }
};

}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// An array and what its axes are called.
template <class A>
struct labelled {
  A array;
  axis_labels labels;

  /// The axes in another order; no label is there twice.
  A in_order(const axis_labels& order) const {
    int64 at[max_rank] = {};
    for (::std::size_t i = 0; i < order.size(); ++i)
      at[i] = ::std::find(labels.begin(), labels.end(), order[i]) - labels.begin();
    return eval(transpose(array, axes(at, int(order.size()))));
  }
  /// The axes in an order of more labels; those that it has not are 1.
  A beside(const contraction& c, const axis_labels& all) const {
    axis_labels own;
    shape s;
    for (const int label : all) {
      const bool has = has_label(labels, label);
      if (has) own.push_back(label);
      s.push_back(has ? c.extents[::std::size_t(label)] : 1);
    }
    return eval(reshape(broadcast_to(in_order(own), c.shape_of(own)), s));
  }
  /// One axis for each label.
  void take_diagonals() {
    for (::std::size_t i = 0; i < labels.size(); ++i) {
      const auto again = ::std::find(labels.begin() + ::std::ptrdiff_t(i) + 1, labels.end(), labels[i]);
      if (again == labels.end()) continue;
      const int64 j = again - labels.begin();
      const shape& s = dims_of(array);
      if (s[int(i)] != s[int(j)])
        fail<shape_error>("einsum: extents ", s[int(i)], " and ", s[int(j)], " of one label of an operand");
      const int label = labels[i];
      array = eval(diagonal(array, 0, int64(i), j));
      labels.erase(again), labels.erase(labels.begin() + ::std::ptrdiff_t(i)), labels.push_back(label);
      i = ::std::size_t(-1);
    }
  }
  /// Without the axes that nothing else has.
  void sum_but(const axis_labels& wanted) {
    int64 over[max_rank] = {};
    int count = 0;
    axis_labels left;
    for (::std::size_t i = 0; i < labels.size(); ++i)
      if (has_label(wanted, labels[i])) left.push_back(labels[i]);
      else over[count++] = int64(i);
    if (count == 0) return;
    array = eval(astype<value_type_t<A>>(sum(array, axes(over, count))));
    labels = left;
  }
};
/// The product of two, summed over what nothing else has.
template <class A>
labelled<A> contract_two(const contraction& c, labelled<A> a, labelled<A> b, const axis_labels& wanted) {
  axis_labels both = wanted;
  both.insert(both.end(), b.labels.begin(), b.labels.end());
  a.sum_but(both);
  both = wanted;
  both.insert(both.end(), a.labels.begin(), a.labels.end());
  b.sum_but(both);
  axis_labels batch, summed, of_a, of_b;
  for (const int label : a.labels)
    (!has_label(b.labels, label) ? of_a : has_label(wanted, label) ? batch : summed).push_back(label);
  for (const int label : b.labels)
    if (!has_label(a.labels, label)) of_b.push_back(label);
  const auto joined = [](axis_labels x, const axis_labels& y, const axis_labels& z = {}) {
    x.insert(x.end(), y.begin(), y.end()), x.insert(x.end(), z.begin(), z.end());
    return x;
  };
  const auto as_matrices = [&](const labelled<A>& x, const axis_labels& rows, const axis_labels& columns) {
    const axis_labels order = joined(batch, rows, columns);
    shape s = c.shape_of(batch);
    s.push_back(c.shape_of(rows).elements()), s.push_back(c.shape_of(columns).elements());
    return eval(reshape(broadcast_to(x.in_order(order), c.shape_of(order)), s));
  };
  labelled<A> r{a.array, joined(batch, of_a, of_b)};
  if (r.labels.size() > ::std::size_t(max_rank) || (!summed.empty() && batch.size() + 2 > ::std::size_t(max_rank)))
    fail<shape_error>("einsum: products of more than ", max_rank, " axes");
  if (summed.empty()) {
    r.array = eval(a.beside(c, r.labels) * b.beside(c, r.labels));
    return r;
  }
  r.array = eval(matmul(as_matrices(a, of_a, summed), as_matrices(b, summed, of_b)));
  r.array = eval(reshape(r.array, c.shape_of(r.labels)));
  return r;
}
/// The pair whose product is smallest beside its factors comes first.
template <class A>
A contract_all(const contraction& c, ::std::vector<labelled<A>> list) {
  for (auto& x : list) x.take_diagonals();
  while (list.size() > 1) {
    const auto wanted_beside = [&](::std::size_t i, ::std::size_t j) {
      axis_labels l = c.out;
      for (::std::size_t k = 0; k < list.size(); ++k)
        if (k != i && k != j) l.insert(l.end(), list[k].labels.begin(), list[k].labels.end());
      return l;
    };
    ::std::size_t first = 0, second = 1;
    double least = __builtin_huge_val();
    for (::std::size_t i = 0; i < list.size(); ++i)
      for (::std::size_t j = i + 1; j < list.size(); ++j) {
        const axis_labels wanted = wanted_beside(i, j);
        axis_labels left;
        for (const auto* x : {&list[i], &list[j]})
          for (const int label : x->labels)
            if (has_label(wanted, label) && !has_label(left, label)) left.push_back(label);
        const double grows = c.size_of(left) - c.size_of(list[i].labels) - c.size_of(list[j].labels);
        if (grows < least) least = grows, first = i, second = j;
      }
    list[first] = contract_two(c, list[first], list[second], wanted_beside(first, second));
    list.erase(list.begin() + ::std::ptrdiff_t(second));
  }
  list[0].sum_but(c.out);
  const A r = list[0].in_order(c.out);
  return dims_of(r) == c.shape_of(c.out) ? r : eval(broadcast_to(r, c.shape_of(c.out)));
}
template <class... X>
auto einsum_of(::std::string_view formula, const X&... x) {
  using A = typename listed<result_type_t<value_type_t<X>...>, X...>::type;
  const contraction c(formula, {dims_of(x)...});
  ::std::vector<labelled<A>> list;
  ::std::size_t k = 0;
  (list.push_back({listed_as<A>(x), c.in[k++]}), ...);
  return contract_all(c, ::std::move(list));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Sums of products of the operands' elements: a letter for each axis, of the operands and, behind an arrow, of the
/// result; letters that the result has not are summed over. "..." stands for axes that broadcast. Without an arrow the
/// result has, in the order of the alphabet, the letters that are there once. Pairs of operands become batched matrix
/// products, of views where strides allow; of several, the pair that makes the smallest array comes first. The dtype is
/// that of the operands' product. Of one operand without a sum it is a view. Throws value_error for the formula,
/// shape_error.
///     ca::einsum("bhqd,bhkd->bhqk", q, k)
template <array_expression... X>
requires(sizeof...(X) > 0) auto einsum(::std::string_view formula, const X&... x) {
  return detail::einsum_of(formula, x...);
}
/// With a formula that is checked when the program is compiled.
///     ca::einsum<"bhqd,bhkd->bhqk">(q, k)
template <detail::fixed_text Formula, array_expression... X>
requires(sizeof...(X) > 0) auto einsum(const X&... x) {
  using detail::formula_fault;
  constexpr formula_fault f = detail::fault_of_formula(Formula.view(), int(sizeof...(X)));
  static_assert(f != formula_fault::character, "cudarray: einsum: the labels of axes are letters");
  static_assert(f != formula_fault::ellipsis, "cudarray: einsum: an ellipsis is three dots, once for an operand");
  static_assert(f != formula_fault::result, "cudarray: einsum: a label of the result is of no operand");
  static_assert(f != formula_fault::repeated, "cudarray: einsum: a label is twice in the result");
  static_assert(f != formula_fault::operands, "cudarray: einsum: there are not as many operands as the formula names");
  if constexpr (f == formula_fault::none) return detail::einsum_of(Formula.view(), x...);
  else return detail::poison{};
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

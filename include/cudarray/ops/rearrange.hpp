// Axes split, reordered and merged by their names: the notation of einops (Rogozhnikov 2022).
// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string_view>

#include "../core/fixed_text.hpp"
#include "manipulation.hpp"

namespace cudarray::inline v0 {

/// The extent of an axis that has this name in a pattern.
struct axis_extent {
  ::std::string_view name;
  detail::any_integer extent;
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail {

/// One side of a pattern: names, and which axis of the array each is part of. "..." is a name.
struct axis_names {
  static constexpr int most = 2 * max_rank;
  ::std::string_view name[most];
  int axis[most] = {};
  int count = 0, axes = 0;
  bool ok = true;

  constexpr int find(::std::string_view n) const {
    for (int i = 0; i < count; ++i)
      if (name[i] == n) return i;
    return -1;
  }
  constexpr axis_names() = default;
  constexpr explicit axis_names(::std::string_view text) {
    bool inside = false;
    for (::std::size_t i = 0; ok && i < text.size();) {
      const char c = text[i];
      ::std::size_t length = 1;
      if (c == '(' || c == ')') {
        ok = inside == (c == ')');
        inside = c == '(';
        axes += c == ')';
      } else if (c == '1') {
        axes += !inside;
      } else if (c == '.') {
        length = 3;
        ok = !inside && text.substr(i, 3) == "..." && add("...");
        ++axes;
      } else if (c != ' ') {
        ::std::size_t end = i;
        while (end < text.size() && is_in_name(text[end])) ++end;
        ok = end > i && add(text.substr(i, end - i));
        length = end > i ? end - i : 1;
        axes += !inside;
      }
      i += length;
    }
    ok = ok && !inside;
  }

 private:
  static constexpr bool is_in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
  }
  constexpr bool add(::std::string_view n) {
    if (count == most || find(n) >= 0) return false;
    name[count] = n, axis[count++] = axes;
    return true;
  }
};
enum class pattern_fault { none, arrow, side, names };
struct axis_pattern {
  axis_names from, to;
  pattern_fault fault = pattern_fault::none;

  constexpr explicit axis_pattern(::std::string_view text) {
    const ::std::size_t arrow = text.find("->");
    if (arrow == text.npos) {
      fault = pattern_fault::arrow;
      return;
    }
    from = axis_names(text.substr(0, arrow)), to = axis_names(text.substr(arrow + 2));
    if (!from.ok || !to.ok) fault = pattern_fault::side;
    else if (from.count != to.count) fault = pattern_fault::names;
    for (int i = 0; i < from.count && fault == pattern_fault::none; ++i)
      if (to.find(from.name[i]) < 0) fault = pattern_fault::names;
  }
};
constexpr const char* text_of(pattern_fault f) {
  if (f == pattern_fault::arrow) return "it has no arrow ->";
  if (f == pattern_fault::side) return "names, 1, ..., and groups of names in parentheses are wanted, each name once";
  return "both sides must have the same names";
}

/// What a pattern makes of an array of a shape: split into single axes, in another order, merged.
struct rearrangement {
  shape split, merged;
  int64 order[max_rank] = {};

  rearrangement(::std::string_view text, const axis_pattern& p, const shape& s,
                ::std::initializer_list<axis_extent> given) {
    if (p.fault != pattern_fault::none) fail<value_error>("rearrange: \"", text, "\": ", text_of(p.fault));
    const bool dots = p.from.find("...") >= 0;
    const int hidden = dots ? s.ndim() - (p.from.axes - 1) : 0, single = p.from.count - dots + hidden;
    if (hidden < 0 || (!dots && p.from.axes != s.ndim()))
      fail<shape_error>("rearrange: \"", text, "\": ", p.from.axes - dots, " axes for an array of shape ", s);
    if (single > max_rank || p.to.axes - dots + hidden > max_rank)
      fail<shape_error>("rearrange: \"", text, "\" of shape ", s, ": more than ", max_rank, " axes");
    for (const axis_extent& e : given) {
      if (e.name == "..." || p.from.find(e.name) < 0)
        fail<value_error>("rearrange: \"", text, "\" has no axis \"", e.name, "\"");
      if (e.extent < 0)
        fail<value_error>("rearrange: \"", text, "\": ", e.extent.value, " elements along \"", e.name, "\"");
    }
    int first[axis_names::most];  // of each name among the single axes
    split_axes(text, p.from, s, given, hidden, first);
    merge_axes(p, hidden, first);
  }

 private:
  static int64 extent_of(::std::string_view name, ::std::initializer_list<axis_extent> given) {
    for (const axis_extent& e : given)
      if (e.name == name) return e.extent;
    return -1;
  }
  void split_axes(::std::string_view text, const axis_names& from, const shape& s,
                  ::std::initializer_list<axis_extent> given, int hidden, int* first) {
    int beyond = 0;  // axes of the array that "..." stands for, less 1
    int i = 0;
    for (int a = 0; a < from.axes; ++a) {
      if (i < from.count && from.axis[i] == a && from.name[i] == "...") {
        first[i++] = split.ndim();
        for (int k = 0; k < hidden; ++k) split.push_back(s[a + k]);
        beyond = hidden - 1;
        continue;
      }
      const int64 whole = s[a + beyond];
      int64 known = 1;
      int open = -1;
      for (; i < from.count && from.axis[i] == a; ++i) {
        const int64 n = extent_of(from.name[i], given);
        first[i] = split.ndim();
        if (n < 0 && open >= 0)
          fail<value_error>("rearrange: \"", text, "\": the extents of \"", from.name[open], "\" and \"", from.name[i],
                            "\" are not given");
        if (n < 0) open = i;
        else if (__builtin_mul_overflow(known, n, &known)) known = INT64_MAX;
        split.push_back(n < 0 ? 1 : n);
      }
      if (open >= 0 && known > 0) split[first[open]] = whole / known, known *= whole / known;
      if (known != whole)
        fail<shape_error>("rearrange: \"", text, "\": axis ", a + beyond, " of shape ", s,
                          " is not what its names have extents of");
    }
  }
  void merge_axes(const axis_pattern& p, int hidden, const int* first) {
    int n = 0, i = 0;
    for (int a = 0; a < p.to.axes; ++a) {
      int64 extent = 1;
      bool dots = false;
      for (; i < p.to.count && p.to.axis[i] == a; ++i) {
        const int at = first[p.from.find(p.to.name[i])];
        dots = p.to.name[i] == "...";
        for (int k = 0; k < (dots ? hidden : 1); ++k) {
          order[n++] = at + k;
          extent *= split[at + k];
          if (dots) merged.push_back(split[at + k]);
        }
      }
      if (!dots) merged.push_back(extent);
    }
  }
};

}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class X>
auto rearranged(const X& x, const rearrangement& r) {
  return eval(reshape(transpose(reshape(x, r.split), axes(r.order, r.split.ndim())), r.merged));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The elements of x with its axes split, reordered and merged, as a pattern names them: names of axes, several in
/// parentheses for one that is made of them, 1 for one of extent 1, "..." for any others. Of the axes in parentheses
/// all extents but one are given. A view where strides can say it. Throws value_error for the pattern, shape_error.
///     ca::rearrange("b (h d) -> b h d", x, {{"h", 8}})
template <array_expression X>
auto rearrange(::std::string_view pattern, const X& x, ::std::initializer_list<axis_extent> extents = {}) {
  const detail::axis_pattern p(pattern);
  return detail::rearranged(x, detail::rearrangement(pattern, p, detail::dims_of(x), extents));
}
/// With a pattern that is checked when the program is compiled.
///     ca::rearrange<"b h w c -> b c h w">(images)
template <detail::fixed_text Pattern, array_expression X>
auto rearrange(const X& x, ::std::initializer_list<axis_extent> extents = {}) {
  using detail::pattern_fault;
  constexpr detail::axis_pattern p(Pattern.view());
  static_assert(p.fault != pattern_fault::arrow, "cudarray: rearrange: the pattern has no arrow ->");
  static_assert(p.fault != pattern_fault::side,
                "cudarray: rearrange: names, 1, ..., and groups of names in parentheses are wanted, each name once");
  static_assert(p.fault != pattern_fault::names, "cudarray: rearrange: both sides of the pattern have the same names");
  return detail::rearranged(x, detail::rearrangement(Pattern.view(), p, detail::dims_of(x), extents));
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

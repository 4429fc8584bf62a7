// Golden cases of indices, index arrays and masks, read and written.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

namespace golden {
namespace {

/// The items of an index, four integers each: what it is, and an integer or start, stop and step.
std::vector<ca::index_item> index_items(const std::vector<ca::int64>& integers) {
  const auto bound = [](ca::int64 v) { return v == INT64_MIN ? ca::slice_bound(ca::none) : ca::slice_bound(v); };
  std::vector<ca::index_item> items;
  for (std::size_t i = 0; i < integers.size(); i += 4) {
    const ca::int64* n = integers.data() + i;
    if (n[0] == 0) items.push_back(n[1]);
    else if (n[0] == 1) items.push_back(ca::slice(bound(n[1]), bound(n[2]), bound(n[3])));
    else if (n[0] == 2) items.push_back(ca::newaxis);
    else items.push_back(ca::ellipsis);
  }
  return items;
}

/// An index in which 4 stands for the next operand: integers or a mask. How many items there are is known only here, so
/// this is what `x(i...)` does.
template <class T>
value advanced_index(const test_case& c) {
  using item = ca::detail::advanced_item<ca::default_device>;
  const auto x = load<T>(c.in[0]);
  std::vector<item> items;
  std::size_t next = 1;
  for (std::size_t i = 0; i < c.integers.size(); i += 4) {
    if (c.integers[i] < 4) {
      items.emplace_back(index_items({c.integers.data() + i, c.integers.data() + i + 4})[0]);
      continue;
    }
    const operand& o = c.in.at(next++);
    if (o.dtype == "bool") items.emplace_back(load<bool>(o));
    else items.emplace_back(load<ca::int64>(o));
  }
  return download(ca::selection<T, ca::default_device>(x, items));
}

template <class T>
value index(const test_case& c) {
  const auto x = load<T>(c.in[0]);
  const auto i = index_items(c.integers);
  switch (i.size()) {
    case 1:
      return download(x(i[0]));
    case 2:
      return download(x(i[0], i[1]));
    case 3:
      return download(x(i[0], i[1], i[2]));
    default:
      return download(x(i.at(0), i.at(1), i.at(2), i.at(3)));
  }
}

template <class T>
value take(const test_case& c) {
  return download(ca::take(load<T>(c.in[0]), load<ca::int64>(c.in[1]), int(c.integers[0])));
}

template <class T>
value take_along_axis(const test_case& c) {
  return download(ca::take_along_axis(load<T>(c.in[0]), load<ca::int64>(c.in[1]), int(c.integers[0])));
}

template <class T>
value mask_select(const test_case& c) {
  return download(ca::ndarray<T>(load<T>(c.in[0])(load<bool>(c.in[1]))));
}

/// The whole base buffer behind the first operand.
template <class T>
ca::ndarray<T> base(const ca::ndarray<T>& x, const test_case& c) {
  return view(x, ca::detail::c_layout(c.in[0].base.size() / sizeof(T)));
}

template <class T>
value mask_assign(const test_case& c) {
  const auto x = load<T>(c.in[0]);
  const auto mask = load<bool>(c.in[1]);
  const auto v = load<T>(c.in[2]);
  if (v.ndim() == 0) x(mask) = v.item();
  else x(mask) = v;
  return download(base(x, c));
}

template <class T>
value assign(const test_case& c) {
  const auto x = load<T>(c.in[0]);
  x(ca::ellipsis) = load<T>(c.in[1]);
  return download(base(x, c));
}

}  // namespace

void add_indexing(table& t) {
  each_dtype([&]<class T>() {
    t[key<T>("index")] = index<T>;
    t[key<T, ca::int64>("advanced_index")] = t[key<T, bool>("advanced_mask")] = advanced_index<T>;
    t[key<T, ca::int64>("take")] = take<T>;
    t[key<T, ca::int64>("take_along_axis")] = take_along_axis<T>;
    t[key<T, bool>("mask_select")] = mask_select<T>;
    t[key<T, bool>("mask_assign")] = mask_assign<T>;
    t[key<T, T>("assign")] = assign<T>;
  });
}

}  // namespace golden

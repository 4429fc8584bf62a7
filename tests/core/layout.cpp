// Layouts and shapes: indexing, permuting, broadcasting, reshaping; the expected strides are arithmetic on paper.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

namespace d = ca::detail;
using ca::_;
using ca::none;
using ca::slice;

template <class... I>
ca::layout at(const ca::layout& l, const I&... i) {
  const ca::index_item items[] = {ca::index_item(i)..., ca::index_item(0)};
  return d::index_layout(l, items, int(sizeof...(I)));
}

ca::layout make(const ca::shape& s, std::initializer_list<ca::int64> strides, ca::int64 offset = 0) {
  ca::layout l{s, {}, offset};
  int i = 0;
  for (ca::int64 v : strides) l.stride[i++] = v;
  return l;
}

/// The strides of extents of 1 too, which == leaves out.
bool same(const ca::layout& l, const ca::shape& s, std::initializer_list<ca::int64> strides, ca::int64 offset = 0) {
  return l == make(s, strides, offset);
}

const ca::layout cube = d::c_layout({2, 3, 4});

}  // namespace

TEST_CASE("layout: C order") {
  CHECK(same(cube, {2, 3, 4}, {12, 4, 1}));
  CHECK(same(d::c_layout({}), {}, {}));
  CHECK(d::c_layout({}).elements() == 1);
  CHECK(d::c_layout({2, 0, 3}).elements() == 0);
  CHECK(same(d::c_layout({5}), {5}, {1}));
}

TEST_CASE("layout: equality looks at extents of 1 and at offsets as it should") {
  CHECK(make({1, 3}, {7, 1}) == make({1, 3}, {3, 1}));
  CHECK(make({2, 3}, {7, 1}) != make({2, 3}, {3, 1}));
  CHECK(make({2}, {1}, 0) != make({2}, {1}, 1));
  CHECK(make({2}, {1}) != make({2, 1}, {1, 1}));
}

TEST_CASE("layout: contiguity") {
  CHECK(d::is_c_contiguous(cube));
  CHECK(d::is_c_contiguous(make({}, {})));
  CHECK(d::is_c_contiguous(make({1, 3}, {-5, 1})));
  CHECK(d::is_c_contiguous(make({0, 3}, {1, 9})));
  CHECK(d::is_c_contiguous(make({3}, {1}, 5)));
  CHECK_FALSE(d::is_c_contiguous(make({3}, {-1}, 2)));
  CHECK_FALSE(d::is_c_contiguous(make({2, 3}, {1, 2})));
  CHECK_FALSE(d::is_c_contiguous(make({2, 3}, {4, 1})));
  CHECK_FALSE(d::is_c_contiguous(make({3}, {0})));
}

TEST_CASE("layout: repeated elements") {
  CHECK(d::repeats_elements(make({3}, {0})));
  CHECK_FALSE(d::repeats_elements(make({1, 3}, {0, 1})));
  CHECK_FALSE(d::repeats_elements(cube));
}

TEST_CASE("layout: the range of offsets reached") {
  const auto span = [](const ca::layout& l) {
    const auto e = d::span_of(l);
    return std::vector<ca::int64>{e.first, e.last};
  };
  CHECK(span(cube) == std::vector<ca::int64>{0, 23});
  CHECK(span(make({3, 2}, {-2, 10}, 4)) == std::vector<ca::int64>{0, 14});
  CHECK(span(make({}, {}, 7)) == std::vector<ca::int64>{7, 7});
  CHECK(d::span_of(make({2, 0}, {1, 1}, 7)).last < d::span_of(make({2, 0}, {1, 1}, 7)).first);
}

TEST_CASE("layout: whether two arrays in one memory share elements") {
  // columns beside each other, also of three axes, do not
  CHECK_FALSE(d::may_share(make({5, 3}, {6, 1}), make({5, 3}, {6, 1}, 3)));
  CHECK(d::may_share(make({5, 4}, {6, 1}), make({5, 3}, {6, 1}, 3)));
  CHECK_FALSE(d::may_share(make({2, 3, 2}, {24, 8, 1}), make({2, 3, 4}, {24, 8, 1}, 2)));
  CHECK_FALSE(d::may_share(make({4}, {2}), make({4}, {2}, 1)));     // every second one
  CHECK(d::may_share(make({3, 4}, {4, 1}), make({4, 3}, {1, 4})));  // in another order: taken to
  CHECK_FALSE(d::may_share(make({0, 4}, {4, 1}), make({3, 4}, {4, 1})));
  // what is true of elements is never denied; arrays whose rows do not reach into each other are told apart
  unsigned state = 1;
  const auto below = [&state](int n) { return ca::int64((state = state * 1664525u + 1013904223u) >> 16) % n; };
  int apart = 0;
  for (int round = 0; round < 20000; ++round) {
    const ca::int64 inner = 1 + below(3), middle = inner * (1 + below(6)), outer = 1 + below(40);
    const auto array = [&] {
      return make({1 + below(3), 1 + below(4), 1 + below(4)}, {outer, middle, inner}, below(20));
    };
    const ca::layout x = array(), y = array();
    bool shared = false;
    const auto each = [](const ca::layout& l, const auto& f) {
      for (ca::int64 i = 0; i < l.dims[0]; ++i)
        for (ca::int64 j = 0; j < l.dims[1]; ++j)
          for (ca::int64 k = 0; k < l.dims[2]; ++k) f(l.offset + i * l.stride[0] + j * l.stride[1] + k * l.stride[2]);
    };
    each(x, [&](ca::int64 p) { each(y, [&](ca::int64 q) { shared = shared || p == q; }); });
    if (shared) REQUIRE(d::may_share(x, y));
    apart += !d::may_share(x, y);
  }
  CHECK(apart > 5000);
}

TEST_CASE("layout: integers, slices, newaxis and ellipsis") {
  CHECK(at(cube) == cube);
  CHECK(same(at(cube, 1), {3, 4}, {4, 1}, 12));
  CHECK(same(at(cube, -1, -3, 3), {}, {}, 15));
  CHECK(same(at(cube, _, slice(none, none, -1)), {2, 3, 4}, {12, -4, 1}, 8));
  CHECK(same(at(cube, ca::ellipsis, 1), {2, 3}, {12, 4}, 1));
  CHECK(same(at(cube, 0, ca::ellipsis, slice(1, none, 2)), {3, 2}, {4, 2}, 1));
  CHECK(same(at(cube, 0, 1, 2, ca::ellipsis), {}, {}, 6));
  CHECK(same(at(cube, ca::newaxis, ca::ellipsis, ca::newaxis), {1, 2, 3, 4, 1}, {0, 12, 4, 1, 0}));
  CHECK(same(at(at(cube, _, slice(none, none, -1)), _, slice(none, none, -2)), {2, 2, 4}, {12, 8, 1}, 0));
  CHECK(at(cube, slice(5, none)).dims == ca::shape{0, 3, 4});
  CHECK(at(d::c_layout({0}), _).dims == ca::shape{0});
  CHECK(at(d::c_layout({}), ca::ellipsis).dims == ca::shape{});
}

TEST_CASE("layout: slices are Python's") {
  // The rule of the language reference, step by step, against the closed form.
  constexpr ca::int64 absent = 99;
  const auto bound = [](ca::int64 v) { return v == absent ? ca::slice_bound(none) : ca::slice_bound(v); };
  int wrong = 0;
  for (ca::int64 n = 0; n <= 4; ++n)
    for (ca::int64 start : {-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 99})
      for (ca::int64 stop : {-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 99})
        for (ca::int64 step : {-5, -2, -1, 1, 2, 5}) {
          std::vector<ca::int64> expected;
          ca::int64 from = start == absent ? (step > 0 ? 0 : n - 1) : start < 0 ? start + n : start;
          const ca::int64 to = stop == absent ? (step > 0 ? n : -1) : stop < 0 ? stop + n : stop;
          if (step > 0 && from < 0) from = 0;
          if (step < 0 && from > n - 1) from = n - 1;
          for (ca::int64 i = from; step > 0 ? i < to : i > to; i += step) {
            if (i < 0 || i >= n) break;
            expected.push_back(i);
          }
          const auto l = at(d::c_layout({n}), slice(bound(start), bound(stop), step));
          bool fits = l.dims == ca::shape{ca::int64(expected.size())};
          for (ca::int64 i = 0; fits && i < l.dims[0]; ++i)
            fits = l.offset + i * l.stride[0] == expected[std::size_t(i)];
          wrong += !fits;
        }
  CHECK(wrong == 0);
  CHECK(at(d::c_layout({3}), slice(none, none, INT64_MIN)).dims == ca::shape{1});
  CHECK(at(d::c_layout({3}), slice(INT64_MIN, INT64_MAX, INT64_MAX)).dims == ca::shape{1});
}

TEST_CASE("layout: wrong indices") {
  CHECK(test::thrown<ca::index_error>([] { at(cube, 2); }) == "index: 2 is out of bounds for axis 0 with size 2");
  CHECK(test::thrown<ca::index_error>([] { at(cube, 0, -4); }) == "index: -4 is out of bounds for axis 1 with size 3");
  CHECK(test::thrown<ca::index_error>([] { at(cube, 0, 0, 0, 0); }).find("4 indices") != std::string::npos);
  CHECK(test::thrown<ca::index_error>([] { at(d::c_layout({}), _); }).find("(") != std::string::npos);
  CHECK(test::thrown<ca::index_error>([] { at(cube, ca::ellipsis, ca::ellipsis); }).find("ellipsis") !=
        std::string::npos);
  CHECK(test::thrown<ca::value_error>([] { at(cube, slice(none, none, 0)); }) == "slice: the step is 0");
  CHECK(test::thrown<ca::index_error>([] { at(d::c_layout({0}), 0); }).find("size 0") != std::string::npos);
  const ca::layout eight = d::c_layout({1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(test::thrown<ca::shape_error>([&] { at(eight, ca::newaxis); }).find("8") != std::string::npos);
}

TEST_CASE("layout: permute") {
  const int perm[] = {2, 0, 1};
  CHECK(same(d::permute_layout(cube, perm), {4, 2, 3}, {1, 12, 4}));
}

TEST_CASE("layout: broadcast") {
  CHECK(same(d::broadcast_layout("f", d::c_layout({3, 1}), {2, 3, 4}), {2, 3, 4}, {0, 1, 0}));
  CHECK(same(d::broadcast_layout("f", d::c_layout({}), {2}), {2}, {0}));
  CHECK(d::broadcast_layout("f", d::c_layout({1}), {0}).elements() == 0);
  CHECK(test::thrown<ca::shape_error>([] { d::broadcast_layout("f", d::c_layout({3}), {4}); }) ==
        "f: shape (3,) does not broadcast to (4,)");
  CHECK(test::thrown<ca::shape_error>([] {
          d::broadcast_layout("f", d::c_layout({1, 3}), {3});
        }) == "f: shape (1, 3) does not broadcast to (3,)");
}

TEST_CASE("layout: reshape") {
  ca::layout r;
  SECTION("views") {
    CHECK((d::reshape_layout(cube, {6, 4}, r) && same(r, {6, 4}, {4, 1})));
    CHECK((d::reshape_layout(cube, {24}, r) && same(r, {24}, {1})));
    CHECK((d::reshape_layout(cube, {2, 1, 12, 1}, r) && same(r, {2, 1, 12, 1}, {12, 12, 1, 1})));
    CHECK((d::reshape_layout(at(cube, 1, 1, 1), {1, 1}, r) && same(r, {1, 1}, {1, 1}, 17)));
    CHECK((d::reshape_layout(d::c_layout({1, 1}), {}, r) && same(r, {}, {})));
    CHECK((d::reshape_layout(at(cube, _, _, slice(none, none, 2)), {12}, r) && same(r, {12}, {2})));
    CHECK((d::reshape_layout(at(cube, _, slice(none, none, 2)), {2, 2, 2, 2}, r) &&
           same(r, {2, 2, 2, 2}, {12, 8, 2, 1})));
    CHECK((d::reshape_layout(make({2, 3}, {-3, -1}, 5), {6}, r) && same(r, {6}, {-1}, 5)));
    CHECK((d::reshape_layout(make({3, 1, 2}, {1, 77, 3}), {3, 2}, r) && same(r, {3, 2}, {1, 3})));
    CHECK((d::reshape_layout(make({4}, {0}), {2, 2}, r) && same(r, {2, 2}, {0, 0})));
    CHECK((d::reshape_layout(d::c_layout({0, 3}), {3, 0, 2}, r) && r.dims == ca::shape{3, 0, 2}));
  }
  SECTION("not views") {
    CHECK_FALSE(d::reshape_layout(make({3, 2}, {1, 3}), {6}, r));
    CHECK_FALSE(d::reshape_layout(at(cube, _, slice(none, none, 2)), {16}, r));
    CHECK_FALSE(d::reshape_layout(at(cube, _, slice(none, none, 2)), {2, 8}, r));
    CHECK_FALSE(d::reshape_layout(make({2, 3}, {0, 1}), {6}, r));
  }
  SECTION("the extent left open") {
    CHECK(d::resolve_reshape({2, 3, 4}, {-1, 6}) == ca::shape{4, 6});
    CHECK(d::resolve_reshape({}, {-1}) == ca::shape{1});
    CHECK(d::resolve_reshape({0, 3}, {3, -1}) == ca::shape{3, 0});
    CHECK(d::resolve_reshape({0}, {0, 5}) == ca::shape{0, 5});
    CHECK(test::thrown<ca::shape_error>([] {
            d::resolve_reshape({2, 3}, {4, -1});
          }).find("(2, 3)") != std::string::npos);
    CHECK(test::thrown<ca::shape_error>([] { d::resolve_reshape({2, 3}, {-1, -1}); }).find("reshape") == 0);
    CHECK(test::thrown<ca::shape_error>([] { d::resolve_reshape({2, 3}, {-2, -3}); }).find("reshape") == 0);
    CHECK(test::thrown<ca::shape_error>([] { d::resolve_reshape({2, 3}, {5}); }).find("reshape") == 0);
    CHECK(test::thrown<ca::shape_error>([] { d::resolve_reshape({0}, {0, -1}); }).find("reshape") == 0);
  }
}

TEST_CASE("shape: texts, broadcasting, limits") {
  CHECK(ca::shape{}.str() == "()");
  CHECK(ca::shape{3}.str() == "(3,)");
  CHECK(ca::shape{3, 4}.str() == "(3, 4)");
  CHECK(d::broadcast_shapes("f", {3, 1}, {4}) == ca::shape{3, 4});
  CHECK(d::broadcast_shapes("f", {}, {2, 0}) == ca::shape{2, 0});
  CHECK(d::broadcast_shapes("f", {1}, {0}) == ca::shape{0});
  CHECK(test::thrown<ca::shape_error>([] {
          d::broadcast_shapes("broadcast", {3, 4}, {2, 4});
        }) == "broadcast: shapes (3, 4) and (2, 4) differ at axis 0");
  CHECK(test::thrown<ca::shape_error>([] {
          d::broadcast_shapes("f", {5, 3, 4}, {2, 4});
        }) == "f: shapes (5, 3, 4) and (2, 4) differ at axis 1");
  CHECK(test::thrown<ca::shape_error>([] { d::broadcast_shapes("f", {0}, {2}); }).find("axis 0") != std::string::npos);
  CHECK(test::thrown<ca::shape_error>([] { ca::shape({1, 1, 1, 1, 1, 1, 1, 1, 1}); }).find("9") != std::string::npos);
  CHECK(test::thrown<ca::shape_error>([] { d::check_extents("f", {2, -1}); }) == "f: negative extent in shape (2, -1)");
  CHECK(test::thrown<ca::shape_error>([] {
          d::check_extents("f", {INT64_MAX, 3});
        }).find("too large") != std::string::npos);
  CHECK(d::check_extents("f", {0, int64_t(1) << 40}).elements() == 0);
}

TEST_CASE("axes: one, several, negative, none, all") {
  CHECK(ca::axes(1).mask("f", 3) == 2u);
  CHECK(ca::axes{0, -1}.mask("f", 3) == 5u);
  CHECK(ca::axes{}.mask("f", 3) == 0u);
  CHECK(ca::axes::all().mask("f", 3) == 7u);
  CHECK(ca::axes::all().mask("f", 0) == 0u);
  CHECK(test::thrown<ca::index_error>([] { ca::axes(3).mask("f", 3); }) ==
        "f: axis 3 is out of bounds for an array of 3 axes");
  CHECK(test::thrown<ca::index_error>([] { ca::axes(-4).mask("f", 3); }).find("-4") != std::string::npos);
  CHECK(test::thrown<ca::index_error>([] { ca::axes(0).mask("f", 0); }).find("0 axes") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([] { ca::axes{1, -2}.mask("f", 3); }).find("named twice") != std::string::npos);
  CHECK(d::normal_axis("f", -1, 3) == 2);
}

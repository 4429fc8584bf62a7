// The handle: sharing, rebinding, writing through, storage used again, staleness, lifetimes, borrowed memory, counters.
// SPDX-License-Identifier: MIT
#include <sstream>

#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using floats = std::vector<float>;
using ints = std::vector<int>;
using array_t = ca::ndarray<float>;
using host_t = ca::ndarray<float, ca::cpu>;

array_t vec(std::initializer_list<float> v) { return ca::array(floats(v)); }
array_t mat() { return ca::array<float>({{1, 2, 3}, {4, 5, 6}}); }
host_t host(std::initializer_list<float> v, const ca::shape& s) { return ca::array<float, ca::cpu>(floats(v), s); }

/// What a statement cost.
template <class F>
ca::statistics cost(const F& f) {
  const auto before = ca::stats();
  f();
  return ca::stats() - before;
}

/// True if writing into one of the two is seen in the other.
bool shares(const array_t& a, const array_t& b) {
  const array_t before = ca::copy(b);
  array_t view = a;
  view += 1;
  const bool seen = !ca::all(before == b).item();
  view -= 1;
  return seen;
}

}  // namespace

TEST_CASE("ndarray: what a handle says about itself") {
  const auto a = ca::zeros<float>({2, 3, 4});
  CHECK(a.shape() == ca::shape{2, 3, 4});
  CHECK(a.shape(-1) == 4);
  CHECK(a.ndim() == 3);
  CHECK(a.size() == 24);
  CHECK(a.itemsize() == 4);
  CHECK(a.nbytes() == 96);
  CHECK(a.stride(0) == 12);
  CHECK(a.t().stride(-1) == 12);
  CHECK(a.is_contiguous());
  CHECK_FALSE(a.t().is_contiguous());
  CHECK_FALSE(a(_, _, slice(none, none, -1)).is_contiguous());
  CHECK(test::thrown<ca::index_error>([&] { (void)a.shape(3); }).find("axis 3") != std::string::npos);
  CHECK(test::thrown<ca::index_error>([&] { (void)a.stride(-4); }).find("axis -4") != std::string::npos);
  CHECK(a(0)(slice(0, 0)).is_contiguous());
}

TEST_CASE("ndarray: default construction is shape (0,)") {
  ca::ndarray<float> e;
  CHECK(e.shape() == ca::shape{0});
  CHECK(e.size() == 0);
  CHECK(test::equal(e + 1, {0}, floats{}));
  CHECK(ca::sum(e).item() == 0);
  e(_) = 1;
  e += 1;
  e.fill(2);
  CHECK(test::equal(e.copy(), {0}, floats{}));
  CHECK(test::thrown<ca::value_error>([&] { e.item(); }) == "item: an array of shape (0,) has 0 elements, not one");
  e = vec({1, 2});
  CHECK(test::equal(e, {2}, floats{1, 2}));
}

TEST_CASE("ndarray: copies of a handle share, const is shallow, copy() does not share") {
  auto a = vec({1, 2, 3});
  auto b = a;
  const array_t c = a;
  auto d = a.copy();
  b += 1;
  CHECK(test::equal(a, {3}, floats{2, 3, 4}));
  c(0) = 9.f;
  CHECK(test::equal(a, {3}, floats{9, 3, 4}));
  CHECK(test::equal(d, {3}, floats{1, 2, 3}));
  array_t e = d;  // d is const-like, a fresh array: its elements can still be written
  e(0) = 5.f;
  CHECK(test::equal(d, {3}, floats{5, 2, 3}));
}

TEST_CASE("ndarray: assigning an array to a name shares it") {
  const auto a = vec({1, 2, 3});
  SECTION("a name that owns storage of the same shape") {
    auto c = vec({0, 0, 0});
    c = a;
    CHECK(shares(c, a));
  }
  SECTION("a non-const lvalue") {
    auto b = vec({1, 2, 3});
    auto c = vec({0, 0, 0});
    c = b;
    CHECK(shares(c, b));
  }
  SECTION("a name of another shape") {
    auto c = vec({0});
    c = a;
    CHECK(shares(c, a));
  }
  SECTION("eval of an array hands back the array") {
    auto c = vec({0, 0, 0});
    c = ca::eval(a);
    CHECK(shares(c, a));
  }
  SECTION("a view") {
    auto c = vec({0, 0});
    c = a(slice(1, none));
    CHECK(shares(c, a));
    CHECK(test::equal(c, {2}, floats{2, 3}));
  }
  SECTION("itself, and a part of itself") {
    auto c = vec({1, 2, 3});
    c = *&c;
    CHECK(test::equal(c, {3}, floats{1, 2, 3}));
    c = c(slice(none, none, -1));
    CHECK(test::equal(c, {3}, floats{3, 2, 1}));
    c = c(0);
    CHECK(test::equal(c, {}, floats{3}));
  }
  SECTION("a maker's result is taken over, not copied") {
    auto c = vec({0, 0, 0});
    const auto spent = cost([&] { c = ca::empty<float>({3}); });
    CHECK(spent.kernels == 0);
    CHECK(spent.allocations == 1);
  }
}

TEST_CASE("ndarray: rebinding a view's name leaves the array alone") {
  const auto a = mat();
  const auto b = vec({7, 8, 9});
  auto row = a(0);
  SECTION("to an array") { row = b; }
  SECTION("to an expression") { row = b + 0; }
  SECTION("through auto&&") {
    auto&& r = a(0);
    r = b;
    CHECK(test::equal(r, {3}, floats{7, 8, 9}));
    row = b;
  }
  CHECK(test::equal(row, {3}, floats{7, 8, 9}));
  CHECK(test::equal(a, {2, 3}, floats{1, 2, 3, 4, 5, 6}));
}

TEST_CASE("ndarray: writing through an index") {
  auto a = mat();
  SECTION("a scalar") {
    a(0) = 7.f;
    CHECK(test::equal(a, {2, 3}, floats{7, 7, 7, 4, 5, 6}));
  }
  SECTION("one element") {
    a(-1, 0) = 7;
    CHECK(test::equal(a, {2, 3}, floats{1, 2, 3, 7, 5, 6}));
  }
  SECTION("a broadcast row and column") {
    a(_) = vec({7, 8, 9});
    CHECK(test::equal(a, {2, 3}, floats{7, 8, 9, 7, 8, 9}));
    a(_, slice(1, none)) = ca::array<float>({{1}, {2}});
    CHECK(test::equal(a, {2, 3}, floats{7, 1, 1, 7, 2, 2}));
  }
  SECTION("an expression") {
    a(1) = a(0) * 2 + 1;
    CHECK(test::equal(a, {2, 3}, floats{1, 2, 3, 3, 5, 7}));
  }
  SECTION("through a view, a negative step and a transposition") {
    auto row = a(1);
    row(_) = 1;
    CHECK(test::equal(a, {2, 3}, floats{1, 2, 3, 1, 1, 1}));
    a(0, slice(none, none, -2)) = vec({8, 9});
    CHECK(test::equal(a, {2, 3}, floats{9, 2, 8, 1, 1, 1}));
    a.t()(0) = vec({5, 6});
    CHECK(test::equal(a, {2, 3}, floats{5, 2, 8, 6, 1, 1}));
  }
  SECTION("a 0-d array") {
    const auto z = a(0, 0);
    z(ca::ellipsis) = 5;
    CHECK(a(0, 0).item() == 5);
    CHECK(test::thrown<ca::index_error>([&] { z(_) = 1; }).find("0 axes") != std::string::npos);
  }
  SECTION("nothing") {
    a(slice(0, 0)) = 7;
    a(slice(5, none)) = vec({7});
    CHECK(test::equal(a, {2, 3}, floats{1, 2, 3, 4, 5, 6}));
  }
  SECTION("another dtype is converted, floats to integers as astype does") {
    auto i = ca::array<int>({0, 0, 0});
    i(_) = ca::array<double>({2.7, -2.7, NAN});
    CHECK(test::equal(i, {3}, ints{2, -2, 0}));
    i(_) = 1.5;
    CHECK(test::equal(i, {3}, ints{1, 1, 1}));
    i(_) = i > 0;
    CHECK(test::equal(i, {3}, ints{1, 1, 1}));
  }
  SECTION("wrong shapes, indices and scalars change nothing") {
    CHECK(test::thrown<ca::shape_error>([&] { a(0) = vec({1, 2}); }).find("(2,)") != std::string::npos);
    CHECK(test::thrown<ca::shape_error>([&] { a(0) = mat(); }).find("(2, 3)") != std::string::npos);
    CHECK(test::thrown<ca::index_error>([&] { a(2) = 1; }).find("out of bounds") != std::string::npos);
    CHECK(test::thrown<ca::index_error>([&] { a(0, 0, 0) = 1; }).find("3 indices") != std::string::npos);
    CHECK(test::equal(a, {2, 3}, floats{1, 2, 3, 4, 5, 6}));
    auto b = ca::zeros<ca::int8>({2});
    CHECK(test::thrown<ca::value_error>([&] { b(_) = 300; }).find("300") != std::string::npos);
    CHECK(test::thrown<ca::value_error>([&] {
            ca::ndarray<ca::int8> v = b;
            v.fill(-129);
          }).find("-129") != std::string::npos);
    CHECK(test::equal(b, {2}, ints{0, 0}));
  }
  SECTION("fill") {
    auto v = a(_, 1);
    v.fill(0);
    CHECK(test::equal(a, {2, 3}, floats{1, 0, 3, 4, 0, 6}));
  }
}

TEST_CASE("ndarray: compound assignment is in place") {
  auto a = vec({1, 2, 3});
  const auto alias = a;
  SECTION("arrays, scalars, expressions, without allocating") {
    const auto b = vec({1, 1, 2});
    const auto spent = cost([&] {
      a += b;
      a *= 2;
      a -= b * 1;
      a /= 0.5;
    });
    CHECK(spent.allocations == 0);
    CHECK(spent.temporaries == 0);
    CHECK(test::equal(alias, {3}, floats{6, 10, 16}));
    a %= 4;
    CHECK(test::equal(alias, {3}, floats{2, 2, 0}));
  }
  SECTION("a view") {
    a(slice(1, none)) += 10;
    CHECK(test::equal(alias, {3}, floats{1, 12, 13}));
  }
  SECTION("what it reads overlaps what it writes") {
    a += a;
    CHECK(test::equal(alias, {3}, floats{2, 4, 6}));
    a += a(slice(none, none, -1));
    CHECK(test::equal(alias, {3}, floats{8, 8, 8}));
    a(0) += 1;
    a(slice(1, none)) += a(slice(none, -1));
    CHECK(test::equal(alias, {3}, floats{9, 17, 16}));
    a -= a(0);
    CHECK(test::equal(alias, {3}, floats{0, 8, 7}));
    a -= ca::max(a);
    CHECK(test::equal(alias, {3}, floats{-8, 0, -1}));
  }
  SECTION("integers stay integers") {
    auto i = ca::array<int>({6, 7, -8});
    i += ca::array<ca::int8>({1, 1, 1});
    i *= 3;
    i -= ca::array<ca::int64>({1, 1, 1});
    CHECK(test::equal(i, {3}, ints{20, 23, -22}));
    i %= 7;
    i |= 8;
    i &= 13;
    i ^= 1;
    CHECK(test::equal(i, {3},
                      ints{13, 9, 13}));  // ((20, 23, -22) % 7 = (6, 2, 6)) | 8 = (14, 10, 14), & 13 = (12, 8, 12)
  }
  SECTION("the result must have this array's shape") {
    CHECK(test::thrown<ca::shape_error>([&] { a += mat(); }).find("(2, 3)") != std::string::npos);
    CHECK(test::thrown<ca::shape_error>([&] { a += vec({1, 2}); }).find("(2,)") != std::string::npos);
    CHECK(test::equal(alias, {3}, floats{1, 2, 3}));
  }
}

TEST_CASE("ndarray: a name that alone owns its storage uses it again") {
  const auto a = vec({1, 2, 3}), b = vec({4, 5, 6});
  auto c = vec({0, 0, 0});
  const float* before = c.data();
  SECTION("c = a * b") {
    const auto spent = cost([&] { c = a * b; });
    CHECK(spent.allocations == 0);
    CHECK(spent.temporaries == 0);
    CHECK(spent.kernels == 1);
    CHECK(c.data() == before);
    CHECK(test::equal(c, {3}, floats{4, 10, 18}));
  }
  SECTION("c = c * 2 + c") {
    c(_) = a;
    const auto spent = cost([&] { c = c * 2 + c; });
    CHECK(spent.allocations == 0);
    CHECK(c.data() == before);
    CHECK(test::equal(c, {3}, floats{3, 6, 9}));
  }
  SECTION("not when another handle shares it") {
    const auto other = c;
    const auto spent = cost([&] { c = a * b; });
    CHECK(spent.allocations == 1);
    CHECK(test::equal(other, {3}, floats{0, 0, 0}));
    CHECK(test::equal(c, {3}, floats{4, 10, 18}));
  }
  SECTION("not when a view shares it") {
    const auto first = c(0);
    c = a * b;
    CHECK(first.item() == 0);
  }
  SECTION("not when a stored expression reads it") {
    const auto e = c + 1;
    c = a * b;
    CHECK(test::equal(e, {3}, floats{1, 1, 1}));
    CHECK(test::equal(c, {3}, floats{4, 10, 18}));
  }
  SECTION("nor when that expression is what is assigned") {
    const auto e = c + 1;
    c = e;
    CHECK(test::equal(c, {3}, floats{1, 1, 1}));
    c = e;
    CHECK(test::equal(c, {3}, floats{1, 1, 1}));
    CHECK(test::equal(e, {3}, floats{1, 1, 1}));
  }
  SECTION("another shape, dtype or order") {
    c = a * b(0);
    CHECK(test::equal(c, {3}, floats{4, 8, 12}));
    c = mat() + 1;
    CHECK(test::equal(c, {2, 3}, floats{2, 3, 4, 5, 6, 7}));
    c = ca::astype<ca::float64>(a) * 2;
    CHECK(test::equal(c, {3}, floats{2, 4, 6}));
    auto t = ca::array<float>({{1, 2}, {3, 4}}).t();
    t = t + 1;
    CHECK(test::equal(t, {2, 2}, floats{2, 4, 3, 5}));
    CHECK((t.stride(0) == 1 && t.stride(1) == 2));  // its operand's order, NumPy's "K"
  }
  SECTION("a view whose array is gone") {
    auto v = mat()(1);
    const float* const place = v.data();
    v = v * 2;
    CHECK(test::equal(v, {3}, floats{8, 10, 12}));
    CHECK(v.data() == place);
  }
}

TEST_CASE("ndarray: rebinding to what reads the name itself") {
  auto a = ca::array<float>({{1, 2}, {3, 4}});
  SECTION("transposed") {
    a = ca::transpose(a) + a;
    CHECK(test::equal(a, {2, 2}, floats{2, 5, 5, 8}));
  }
  SECTION("reversed") {
    a = a(slice(none, none, -1)) * 2;
    CHECK(test::equal(a, {2, 2}, floats{6, 8, 2, 4}));
  }
  SECTION("broadcast parts") {
    a = a + a(0);
    CHECK(test::equal(a, {2, 2}, floats{2, 4, 4, 6}));
  }
  SECTION("normalised by its own sum") {
    auto y = vec({1, 3, 4});
    y = y / ca::sum(y);
    CHECK(test::equal(y, {3}, floats{0.125, 0.375, 0.5}));
    a = a - ca::max(a, 1, ca::keepdims);
    CHECK(test::equal(a, {2, 2}, floats{-1, 0, -1, 0}));
    a = ca::sum(a, ca::axes{});
    CHECK(test::equal(a, {2, 2}, floats{-1, 0, -1, 0}));
    a = ca::sum(a, 0);
    CHECK(test::equal(a, {2}, floats{-2, 0}));
  }
  SECTION("gathered") {
    a = ca::take(a, ca::array<int>({1, 0}));
    CHECK(test::equal(a, {2, 2}, floats{3, 4, 1, 2}));
  }
}

TEST_CASE("ndarray: assignment is alias-safe") {
  SECTION("a[:] = a.T + a") {
    const auto a = ca::array<float>({{1, 2}, {3, 4}});
    a(_) = ca::transpose(a) + a;
    CHECK(test::equal(a, {2, 2}, floats{2, 5, 5, 8}));
    a(_) = a.t();
    CHECK(test::equal(a, {2, 2}, floats{2, 5, 5, 8}));
  }
  SECTION("overlapping shifts in both directions") {
    constexpr int n = 1000;
    floats up(n), right(n), left(n);
    for (int i = 0; i < n; ++i) {
      up[std::size_t(i)] = float(i);
      right[std::size_t(i)] = float(i ? i - 1 : 0);
      left[std::size_t(i)] = float(i < n - 1 ? i + 1 : n - 1);
    }
    const auto a = ca::array(up);
    a(slice(1, none)) = a(slice(none, -1)) + 0;
    CHECK(test::equal(a, {n}, right));
    a(_) = ca::array(up);
    a(slice(none, -1)) = a(slice(1, none)) + 0;
    CHECK(test::equal(a, {n}, left));
    a(_) = ca::array(up);
    a(slice(1, none)) = a(slice(none, -1));
    CHECK(test::equal(a, {n}, right));
    a(_) = ca::array(up);
    a(slice(none, -1)) = a(slice(1, none));
    CHECK(test::equal(a, {n}, left));
    a(_) = ca::array(up);
    a(_) = a(slice(none, none, -1));
    CHECK(test::equal(a, {n}, floats(up.rbegin(), up.rend())));
  }
  SECTION("a part of itself broadcast over it") {
    const auto a = mat();
    a(_) = a(0);
    CHECK(test::equal(a, {2, 3}, floats{1, 2, 3, 1, 2, 3}));
    a(_) = a(_, slice(1, 2)) + a;
    CHECK(test::equal(a, {2, 3}, floats{3, 4, 5, 3, 4, 5}));
    a(_) = ca::sum(a, 0);
    CHECK(test::equal(a, {2, 3}, floats{6, 8, 10, 6, 8, 10}));
    a(0) = ca::sum(a, 0);
    CHECK(test::equal(a, {2, 3}, floats{12, 16, 20, 6, 8, 10}));
  }
  SECTION("a temporary only where the overlap is real") {
    const auto a = vec({1, 2, 3, 4});
    const auto apart = cost([&] { a(slice(0, 2)) = a(slice(2, 4)) * 1; });
    CHECK(apart.temporaries == 0);
    CHECK(apart.allocations == 0);
    const auto in_place = cost([&] { a(_) = a * 2 + a; });
    CHECK(in_place.temporaries == 0);
    CHECK(test::equal(a, {4}, floats{9, 12, 9, 12}));
    const auto overlap = cost([&] { a(slice(1, 4)) = a(slice(0, 3)) * 1; });
    CHECK(overlap.temporaries == 1);
    CHECK(test::equal(a, {4}, floats{9, 9, 12, 9}));
  }
}

TEST_CASE("ndarray: an expression is a formula, and goes stale") {
  auto a = vec({1, 2, 3});
  const auto b = vec({10, 20, 30});
  const auto stale = [](const auto& e) {
    return test::thrown<ca::stale_error>([&] { ca::eval(e); }).find("array of shape (3,), float32, written after") == 0;
  };
  SECTION("by each way of writing") {
    const auto e1 = a + b;
    a(0) = 5;
    CHECK(stale(e1));
    const auto e2 = a + b;
    a += 1;
    CHECK(stale(e2));
    const auto e3 = a + b;
    a.fill(1);
    CHECK(stale(e3));
    const auto e4 = a + b;
    a(a > 0) = 3;
    CHECK(stale(e4));
    const auto e5 = a + b;
    a(ca::array<int>({1})) = 3;
    CHECK(stale(e5));
    const auto e6 = a + b;
    ca::copyto(a, b);
    CHECK(stale(e6));
    const auto e7 = a + b;
    ca::exp(b, ca::out(a));
    CHECK(stale(e7));
    const auto e8 = a + b;
    a(slice(0, 1))(0) = 1;
    CHECK(stale(e8));
  }
  SECTION("wherever the operand stands") {
    const auto sum = ca::sum(a * b);
    const auto outer = b - ca::sum(a);
    const auto picked = ca::take(b, ca::astype<int>(a) - 1);
    a(0) = 5;
    CHECK(stale(sum));
    CHECK(stale(outer));
    CHECK(stale(picked));
    CHECK(test::thrown<ca::stale_error>([&] { (void)sum.item(); }).find("array of shape (3,), float32, written") == 0);
  }
  SECTION("but not by writes beside what it reads") {
    const ca::ndarray<float> m = ca::reshape(ca::arange<float>(12), {3, 4});
    const auto column = m(_, 1) * 2;
    const auto inside = m(slice(1, 2), slice(1, 3)) + 0;
    m(_, 0) = 9;
    m(0) = m(0);
    CHECK(stale(column));
    CHECK(test::equal(inside, {1, 2}, floats{5, 6}));
    m(_, slice(3, ca::none)) = m(_, 0)(_, ca::newaxis);
    m(ca::array<int>({0, 2})) = 1;
    m(ca::array<int>({1}), ca::array<int>({0})) = 1;  // an index array may reach any element between its first and last
    CHECK(test::thrown<ca::stale_error>([&] { ca::eval(inside); }).find("array of shape (1, 2), float32") == 0);
    // more of them than are remembered
    const auto again = m(1, slice(1, 3)) + 0;
    for (int k = 0; k < 8; ++k) m(0, 0) = float(k);
    CHECK(test::equal(again, {2}, floats{5, 6}));
    m(0, 0) = 1;
    CHECK(test::thrown<ca::stale_error>([&] { ca::eval(again); }).find("array of shape (2,), float32") == 0);
  }
  SECTION("and then writes nothing") {
    const auto e = a + b;
    a(0) = 5;
    auto c = vec({7, 7, 7});
    CHECK(test::thrown<ca::stale_error>([&] { c = e; }).find("array of shape (3,), float32, written") == 0);
    CHECK(test::thrown<ca::stale_error>([&] { c(_) = e; }).find("array of shape (3,), float32, written") == 0);
    CHECK(test::thrown<ca::stale_error>([&] { c += e; }).find("array of shape (3,), float32, written") == 0);
    CHECK(test::thrown<ca::stale_error>([&] { a = e; }).find("array of shape (3,), float32, written") == 0);
    CHECK(test::equal(c, {3}, floats{7, 7, 7}));
    CHECK(test::equal(a, {3}, floats{5, 2, 3}));
  }
  SECTION("not by reading, rebinding, or a write that failed") {
    const auto e = a + b;
    const array_t d = a * 2;
    CHECK(test::thrown<ca::shape_error>([&] { a(_) = vec({1, 2}); }).find("(2,)") != std::string::npos);
    a = vec({0, 0, 0});
    CHECK(test::equal(e, {3}, floats{11, 22, 33}));
    a = b * 2;
    CHECK(test::equal(e, {3}, floats{11, 22, 33}));
  }
  SECTION("eval makes a value") {
    const auto v = ca::eval(a + b);
    a(0) = 5;
    CHECK(test::equal(v, {3}, floats{11, 22, 33}));
  }
}

namespace {

auto log_softmax(const array_t& x) {
  const array_t shifted = x - ca::max(x, -1, ca::keepdims);
  return shifted - ca::log(ca::sum(ca::exp(shifted), -1, ca::keepdims));
}

}  // namespace

TEST_CASE("ndarray: nothing dangles") {
  SECTION("an expression of local arrays, returned") {
    const auto e = log_softmax(ca::array<float>({{1, 2, 3}, {0, 4, -1}}));
    CHECK(test::close(e, {2, 3},
                      {-2.4076059644443806, -1.4076059644443804, -0.40760596444438035, -4.024744890138822,
                       -0.024744890138822587, -5.024744890138822}));
  }
  SECTION("a view of a temporary") {
    const auto row = mat()(1);
    const auto item = (mat() + mat()).shape();
    CHECK(test::equal(row, {3}, floats{4, 5, 6}));
    CHECK(item == ca::shape{2, 3});
    const auto part = ca::eval(mat() * 2)(_, 0);
    CHECK(test::equal(part, {2}, floats{2, 8}));
  }
  SECTION("operands that have left their scope, scalars by value") {
    const auto e = [] {
      float s = 2;
      const auto x = vec({1, 2});
      const auto f = x * s + 1;
      s = 100;
      return f;
    }();
    CHECK(test::equal(e, {2}, floats{3, 5}));
    CHECK(test::equal(e, {2}, floats{3, 5}));
  }
  SECTION("expressions copied and captured") {
    const auto make = [e = vec({1, 2}) + 1](float s) { return e * s; };
    CHECK(test::equal(make(2), {2}, floats{4, 6}));
    CHECK(test::equal(make(3), {2}, floats{6, 9}));
  }
}

TEST_CASE("ndarray: construction and rebinding convert within a kind") {
  const ca::ndarray<double> d = vec({1, 2}) + 1;
  CHECK(test::equal(d, {2}, floats{2, 3}));
  const array_t f = d;  // float64 to float32 is the same kind
  CHECK(test::equal(f, {2}, floats{2, 3}));
  const array_t i = ca::array<int>({1, -2});
  CHECK(test::equal(i, {2}, floats{1, -2}));
  const ca::ndarray<ca::int8> narrow = ca::array<ca::int64>({1, 257});
  CHECK(test::equal(narrow, {2}, ints{1, 1}));
  const ca::ndarray<int> b = ca::array<int>({1, 5}) > 2;
  CHECK(test::equal(b, {2}, ints{0, 1}));
  ca::ndarray<double> r;
  r = f;
  CHECK(test::equal(r, {2}, floats{2, 3}));
  r = f * 2;
  CHECK(test::equal(r, {2}, floats{4, 6}));
  r += f;
  CHECK(test::equal(r, {2}, floats{6, 9}));
}

TEST_CASE("ndarray: what repeats elements is read-only") {
  const auto a = vec({1, 2, 3});
  auto b = ca::broadcast_to(a, {2, 3});
  CHECK(b.shape() == ca::shape{2, 3});
  const std::string text = "is read-only, a view of a broadcast array";
  CHECK(test::thrown<ca::value_error>([&] { b(_) = 1; }).find(text) != std::string::npos);
  // and so is every view of it
  CHECK(test::thrown<ca::value_error>([&] { b(0) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { b(0, 0) = a(0) + 1; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { b(ca::slice(0, 1)) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { b(0).fill(3); }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { b.t()(0) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::transpose(b, {1, 0})(0) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::swapaxes(b, 0, 1)(0) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::reshape(b(0), {3, 1})(_) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::ravel(b(1))(_) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::expand_dims(b(0), 0)(_) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::squeeze(b(ca::slice(0, 1)))(_) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::flip(b(0))(_) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::split(b, {1})[0](_) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { b(0)(a > 1) = 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { b(0)(ca::array<int>({1})) += 7; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::scatter_add(b(0), ca::array<int>({1}), 7); }).find(text) !=
        std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::copyto(b(0), a); }).find(text) != std::string::npos);
  auto row = b(0);
  CHECK(test::thrown<ca::value_error>([&] { row += 1; }).find(text) != std::string::npos);
  CHECK(test::equal(a, {3}, floats{1, 2, 3}));
  CHECK(test::thrown<ca::value_error>([&] { b += 1; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { b.fill(1); }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { b(b > 0) = 1; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { b(ca::array<int>({0})) = 1; }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::copyto(b, mat()); }).find(text) != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::exp(mat(), ca::out(b)); }).find(text) != std::string::npos);
  CHECK(test::equal(a, {3}, floats{1, 2, 3}));
  auto c = b.copy();
  array_t d = c;
  d(_) = 1;
  CHECK(test::equal(d, {2, 3}, floats{1, 1, 1, 1, 1, 1}));
  b = b + 1;  // a name may be rebound
  CHECK(test::equal(b, {2, 3}, floats{2, 3, 4, 2, 3, 4}));
  CHECK(test::equal(a, {3}, floats{1, 2, 3}));
  b(0) = 5;  // what it stands for now is its own
  CHECK(test::equal(b, {2, 3}, floats{5, 5, 5, 2, 3, 4}));
  // as in NumPy, also where nothing repeats
  CHECK(test::thrown<ca::value_error>([&] { ca::broadcast_to(a, {1, 3})(_) = 5; }).find(text) != std::string::npos);
}

TEST_CASE("ndarray: what was moved from is the empty array") {
  auto a = vec({1, 2, 3});
  const array_t b = std::move(a);
  CHECK(a.shape() == ca::shape{0});
  CHECK(a.data() == nullptr);
  CHECK(ca::to_string(a) == "[]");
  CHECK(ca::sum(a).item() == 0);
  CHECK(ca::eval(a + 1).shape() == ca::shape{0});
  CHECK(test::equal(b, {3}, floats{1, 2, 3}));
  array_t c = b(ca::slice(1, ca::none)), d;
  d = std::move(c);
  CHECK(test::equal(d, {2}, floats{2, 3}));
  CHECK(c.shape() == ca::shape{0});
  CHECK(c.copy().shape() == ca::shape{0});
  c = vec({7});
  CHECK(test::equal(c, {1}, floats{7}));
  array_t& same = c;
  c = std::move(same);
  CHECK(test::equal(c, {1}, floats{7}));
  auto e = b + 1;
  const auto f = std::move(e);
  CHECK(test::equal(f, {3}, floats{2, 3, 4}));
  CHECK(test::thrown<ca::value_error>([&] { ca::eval(e); }) == "an expression that was moved from has no value");
}

namespace {

struct counting_deleter {
  int* count;
  float** seen;
  void operator()(float* p) const {
    ++*count;
    *seen = p;
  }
};

}  // namespace

TEST_CASE("ndarray: borrowed memory") {
  float m[6] = {1, 2, 3, 4, 5, 6};
  const auto is = [&](std::initializer_list<float> v) { return std::equal(v.begin(), v.end(), m); };
  SECTION("is shared in both directions") {
    const auto a = ca::from_pointer<float, ca::cpu>(m, {2, 3});
    a(0, 0) = 7;
    CHECK(m[0] == 7);
    m[5] = 9;
    CHECK(test::equal(a, {2, 3}, floats{7, 2, 3, 4, 5, 9}));
    CHECK(a.data() == m);
  }
  SECTION("may have strides") {
    const auto t = ca::from_pointer<float, ca::cpu>(m, {3, 2}, ca::shape{1, 3});
    CHECK(test::equal(t, {3, 2}, floats{1, 4, 2, 5, 3, 6}));
    const auto r = ca::from_pointer<float, ca::cpu>(m + 5, {3}, ca::shape{-2});
    CHECK(test::equal(r + 0, {3}, floats{6, 4, 2}));
    r(0) = 0;
    CHECK(is({1, 2, 3, 4, 5, 0}));
    CHECK(test::thrown<ca::shape_error>([&] {
            ca::from_pointer<float, ca::cpu>(m, {3, 2}, ca::shape{1});
          }).find("1 strides") != std::string::npos);
    CHECK(test::thrown<ca::shape_error>([&] { ca::from_pointer<float, ca::cpu>(m, {-1}); }).find("negative") !=
          std::string::npos);
  }
  SECTION("of const elements is read-only") {
    const float* p = m;
    auto a = ca::from_pointer<const float, ca::cpu>(p, {6});
    const std::string text = "borrows const memory";
    ca::ndarray<float, ca::cpu> name = a;
    CHECK(test::thrown<ca::value_error>([&] { a(_) = 0; }).find(text) != std::string::npos);
    CHECK(test::thrown<ca::value_error>([&] { a(0) = 0; }).find(text) != std::string::npos);
    CHECK(test::thrown<ca::value_error>([&] { name += 1; }).find(text) != std::string::npos);
    CHECK(test::thrown<ca::value_error>([&] { name.fill(1); }).find(text) != std::string::npos);
    CHECK(test::thrown<ca::value_error>([&] { a(a > 2) = 1; }).find(text) != std::string::npos);
    CHECK(test::thrown<ca::value_error>([&] { a(ca::array<int, ca::cpu>({0})) = 1; }).find(text) != std::string::npos);
    CHECK(is({1, 2, 3, 4, 5, 6}));
    host_t c = a.copy();
    c += 1;
    CHECK(test::equal(c, {6}, floats{2, 3, 4, 5, 6, 7}));
  }
  SECTION("is not written by rebinding a name") {
    host_t a = ca::from_pointer<float, ca::cpu>(m, {6});
    const auto b = ca::ones<float, ca::cpu>({6});
    SECTION("to an expression of it") { a = a * 2; }
    SECTION("to an expression of others") { a = b + 1; }
    CHECK(is({1, 2, 3, 4, 5, 6}));
  }
  SECTION("is released exactly once, after the last that uses it") {
    int count = 0;
    float* seen = nullptr;
    {
      host_t view, other;
      {
        const auto a = ca::from_pointer<float, ca::cpu>(m, {2, 3}, counting_deleter{&count, &seen});
        const auto e = a + 1;
        view = a(1);
        other = view;
      }
      CHECK(count == 0);
      const auto e = view * 2;
      view = host({0}, {1});
      other = host({0}, {1});
      CHECK(count == 0);
      CHECK(test::equal(e, {3}, floats{8, 10, 12}));
    }
    CHECK(count == 1);
    CHECK(seen == m);
    {
      const auto strided = ca::from_pointer<float, ca::cpu>(m + 5, {3}, ca::shape{-1}, counting_deleter{&count, &seen});
    }
    CHECK(count == 2);
    CHECK(seen == m + 5);
  }
}

TEST_CASE("ndarray: one value") {
  const auto a = mat();
  CHECK(a(1, 2).item() == 6);
  CHECK(a(slice(1, 2), slice(none, 1)).item() == 4);
  CHECK((a(0, 1) * 2).item() == 4);
  CHECK(ca::sum(a).item() == 21);
  CHECK(test::thrown<ca::value_error>([&] { a.item(); }) == "item: an array of shape (2, 3) has 6 elements, not one");
  CHECK(test::thrown<ca::value_error>([&] { (a + 1).item(); }).find("(2, 3)") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { a(slice(0, 0)).item(); }).find("0 elements") != std::string::npos);
}

TEST_CASE("ndarray: elements on the host") {
  const auto a = host({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(a.at(1, 0) == 4);
  CHECK(a.at(-1, -1) == 6);
  CHECK(a.t().at(2, 0) == 3);
  a.at(0, 1) = 9;
  CHECK(a.data()[1] == 9);
  CHECK(a(ca::newaxis, 1, 0).at(0) == 4);
  CHECK(a(0, 0).at() == 1);
  CHECK(test::thrown<ca::index_error>([&] { a.at(2, 0); }).find("2 is out of bounds") != std::string::npos);
  CHECK(test::thrown<ca::index_error>([&] { a.at(0, -4); }).find("-4") != std::string::npos);
  CHECK(test::thrown<ca::index_error>([&] { a.at(0); }).find("1 indices") != std::string::npos);
  CHECK(a.span().size() == 6);
  CHECK(a(1).span()[0] == 4);
  CHECK(a(1).data() == a.data() + 3);
  CHECK(test::thrown<ca::value_error>([&] { a.t().span(); }).find("(3, 2)") != std::string::npos);
  CHECK(a(_, slice(2, none, -2))(slice(0, 0)).span().empty());
  const auto m = a.t().access<2>();
  CHECK(m(2, 1) == 6);
  m(0, 0) = 8;
  CHECK(a.at(0, 0) == 8);
  CHECK(test::thrown<ca::shape_error>([&] { a.access<1>(); }).find("(2, 3)") != std::string::npos);
  const host_t none_at_all;
  CHECK(none_at_all.span().empty());
}

TEST_CASE("ndarray: what a statement costs") {
  SECTION("elementwise, on any device") {
    const auto a = vec({1, 2, 3}), b = vec({4, 5, 6}), c = vec({7, 8, 9});
    const auto built = cost([&] { const auto e = a + b * c; });
    CHECK(built.kernels + built.temporaries + built.allocations == 0);
    const auto made = cost([&] { const array_t d = a + b * c; });
    CHECK(made.kernels == 1);
    CHECK(made.temporaries == 0);
    CHECK(made.allocations == 1);
    const auto d = vec({0, 0, 0});
    const auto written = cost([&] { d(_) = a + b * c; });
    CHECK(written.kernels == 1);
    CHECK(written.temporaries == 0);
    CHECK(written.allocations == 0);
    CHECK(test::equal(d, {3}, floats{29, 42, 57}));
    const auto viewed = cost([&] { const auto v = mat().t()(0); });
    CHECK(viewed.kernels == 0);
    CHECK(viewed.allocations == 1);
  }
  SECTION("reductions on the CPU") {
    const auto a = host({1, 2, 3, 4, 5, 6}, {2, 3}), b = host({1, 1, 1, 2, 2, 2}, {2, 3});
    host_t r;
    const auto fused = cost([&] { r = ca::sum((a - b) * (a - b), 1); });
    CHECK(fused.kernels == 1);
    CHECK(fused.temporaries == 0);
    CHECK(fused.allocations == 1);
    CHECK(test::equal(r, {2}, floats{5, 29}));
    const auto again = cost([&] { r = ca::sum((a + b) * (a - b), 1); });
    CHECK(again.kernels == 1);
    CHECK(again.allocations == 0);
    CHECK(test::equal(r, {2}, floats{11, 65}));
    const auto mean = cost([&] { r = ca::mean(a, 0); });
    CHECK(mean.kernels == 1);
    CHECK(mean.temporaries == 0);
    CHECK(test::equal(r, {3}, floats{2.5, 3.5, 4.5}));
    const auto centred = cost([&] { r = a - ca::mean(a, 0); });
    CHECK(centred.kernels == 2);
    CHECK(centred.temporaries == 1);
    CHECK(centred.allocations == 2);
    CHECK(test::equal(r, {2, 3}, floats{-1.5, -1.5, -1.5, 1.5, 1.5, 1.5}));
    auto y = host({1, 3, 4}, {3});
    const auto normalised = cost([&] { y = y / ca::sum(y); });
    CHECK(normalised.kernels == 2);
    CHECK(normalised.temporaries == 1);
    CHECK(normalised.allocations == 1);
  }
}

TEST_CASE("ndarray: a default-constructed array has no element to point at") {
  const host_t a;
  CHECK(test::thrown<ca::index_error>([&] { a.at(0); }).find("size 0") != std::string::npos);
}

TEST_CASE("ndarray: expressions have what arrays have") {
  const ca::ndarray<float> x = ca::reshape(ca::arange<float>(6), {2, 3});
  const auto e = x * 2;
  CHECK(e.shape(-1) == 3);
  CHECK(test::equal(e(1), {3}, floats{6, 8, 10}));
  CHECK(test::equal(e(_, ca::newaxis, 0), {2, 1}, floats{0, 6}));
  CHECK(test::equal(ca::sum(x, 1)(0), {}, floats{3}));
  CHECK(test::equal(e(x > 3), {2}, floats{8, 10}));
  CHECK(test::equal(e(_, ca::array<int>({2, 0})), {2, 2}, floats{4, 0, 10, 6}));
  CHECK(test::equal(e.t(), {3, 2}, floats{0, 6, 2, 8, 4, 10}));
  CHECK(test::equal(e.eval(), {2, 3}, floats{0, 2, 4, 6, 8, 10}));
  const ca::ndarray<float> same = x.eval();
  CHECK(same.data() == x.data());
  const auto turned = (x.t() + 0).copy();
  CHECK(turned.is_contiguous());
  CHECK(test::equal(turned, {3, 2}, floats{0, 3, 1, 4, 2, 5}));
  // what a selection reads as, too
  CHECK(test::equal(x(x > 3)(1), {}, floats{5}));
  CHECK(test::equal(x(ca::array<int>({1})).t(), {3, 1}, floats{3, 4, 5}));
  CHECK(x(x > 4).item() == 5);
  CHECK(x(x > 3).size() == 2);
  CHECK_THROWS_AS(e(2), ca::index_error);
  CHECK_THROWS_AS(e.shape(2), ca::index_error);
  static_assert(std::is_invocable_v<decltype(e), int>);  // asking is no error
  static_assert(std::is_same_v<decltype(e("no index")), ca::detail::poison>);
  // they are values: they cannot be written
  static_assert(!std::is_assignable_v<decltype(e(1)), float>);
  static_assert(!std::is_assignable_v<decltype(e.eval()), float>);
}

TEST_CASE("ndarray: assignment drops leading axes of extent 1") {
  const auto a = ca::zeros<float>({2, 3});
  a(0) = ca::array<float>({{1, 2, 3}});
  a(1, _) = ca::ones<float>({1, 1, 3}) * 4;
  CHECK(test::equal(a, {2, 3}, floats{1, 2, 3, 4, 4, 4}));
  a(0, 0) = ca::full<float>({1, 1}, 7);
  a(a > 3) = ca::array<float>({{5, 6, 7, 8}});
  CHECK(test::equal(a, {2, 3}, floats{5, 2, 3, 6, 7, 8}));
  a(1) = ca::sum(a, 0, ca::keepdims);
  CHECK(test::equal(a, {2, 3}, floats{5, 2, 3, 11, 9, 11}));
  CHECK(test::thrown<ca::shape_error>([&] {
          a(0) = ca::ones<float>({2, 3});
        }) == "assignment: shape (2, 3) does not broadcast to (3,)");
  CHECK_THROWS_AS(a(0) = ca::ones<float>({1, 2}), ca::shape_error);
  CHECK_THROWS_AS(a(a > 100) = ca::ones<float>({2, 1}), ca::shape_error);
  CHECK(test::equal(a, {2, 3}, floats{5, 2, 3, 11, 9, 11}));
}

TEST_CASE("ndarray: columns that do not share elements need no temporary") {
  const ca::ndarray<float> a = ca::reshape(ca::arange<float>(6), {3, 2});
  const auto before = ca::stats().temporaries;
  a(_, 0) = a(_, 1) * 2;
  CHECK(ca::stats().temporaries == before);
  CHECK(test::equal(a, {3, 2}, floats{2, 1, 6, 3, 10, 5}));
}

TEST_CASE("ndarray: walking over the first axis") {
  const auto a = mat();
  float sum = 0;
  for (const auto& row : a) {
    CHECK(row.shape() == ca::shape{3});
    sum = sum * 10 + ca::sum(row).item();
  }
  CHECK(sum == 75);
  for (auto row : a) row += 1;  // views
  CHECK(test::equal(a, {2, 3}, floats{2, 3, 4, 5, 6, 7}));
  for (const auto& x : ca::zeros<float>({0, 2})) CHECK(x.size() < 0);
  static_assert(std::input_iterator<decltype(a.begin())> && !std::ranges::sized_range<decltype(a)>);
  CHECK(std::ranges::distance(a) == 2);
  CHECK(test::thrown<ca::shape_error>([] {
          for (const auto& x : ca::full<float>({}, 1)) (void)x;
        }) == "an array of 0 axes has no rows to walk over");
}

TEST_CASE("ndarray: shapes as numbers and as text") {
  const auto a = mat();
  const auto [rows, columns] = ca::extents<2>(a * 2);
  CHECK(rows == 2);
  CHECK(columns == 3);
  CHECK(test::thrown<ca::shape_error>([&] { (void)ca::extents<1>(a); }) ==
        "extents: an array of shape (2, 3), not of 1 axes");
  std::ostringstream s;
  s << a.shape() << ' ' << ca::shape{} << ' ' << ca::shape{4};
  CHECK(s.str() == "(2, 3) () (4,)");
  CHECK(ca::to_string(ca::shape{0, 1}) == "(0, 1)");
}

// Values and copies: eval, copy, ascontiguousarray, to, copyto, item.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using array_t = ca::ndarray<float>;
using device = ca::default_device;
using ints = std::vector<int>;

const auto make = [] { return ca::array<float>({{1, 2, 3}, {4, 5, 6}}); };

}  // namespace

TEST_CASE("transfer: eval gives a value; an array is handed back as it is") {
  const auto a = make();
  const auto same = ca::eval(a);
  const auto value = ca::eval(a + 1);
  a(0) = 0;
  CHECK(test::equal(same, {2, 3}, ints{0, 0, 0, 4, 5, 6}));
  CHECK(test::equal(value, {2, 3}, ints{2, 3, 4, 5, 6, 7}));
  CHECK(test::equal(ca::eval(a(a > 4)), {2}, ints{5, 6}));
  CHECK(test::equal(ca::eval(ca::zeros({0}) + 1), {0}, ints{}));
}

TEST_CASE("transfer: copy is new and contiguous") {
  const auto a = make();
  const auto c = ca::copy(a.t()), e = ca::copy(a * 2), z = ca::copy(a(1, 1)), n = ca::copy(a(slice(0, 0)));
  const auto r = a(_, slice(none, none, -1)).copy();
  a(_) = 0;
  CHECK(test::equal(c, {3, 2}, ints{1, 4, 2, 5, 3, 6}));
  CHECK(c.is_contiguous());
  CHECK(test::equal(e, {2, 3}, ints{2, 4, 6, 8, 10, 12}));
  CHECK(test::equal(z, {}, ints{5}));
  CHECK(n.shape() == ca::shape{0, 3});
  CHECK(test::equal(r, {2, 3}, ints{3, 2, 1, 6, 5, 4}));
}

TEST_CASE("transfer: ascontiguousarray copies only where it must") {
  const auto a = make();
  const auto same = ca::ascontiguousarray(a), other = ca::ascontiguousarray(a.t());
  CHECK(other.is_contiguous());
  a(_) = 0;
  CHECK(test::equal(same, {2, 3}, ints{0, 0, 0, 0, 0, 0}));
  CHECK(test::equal(other, {3, 2}, ints{1, 4, 2, 5, 3, 6}));
}

TEST_CASE("transfer: to the host and back is a contiguous copy") {
  const auto a = make();
  const auto check = [](const auto& x, const ca::shape& s, const ints& expected) {
    const auto host = ca::to<ca::cpu>(x);
    const auto back = ca::to<device>(host);
    bool same = host.shape() == s && host.is_contiguous() && std::size_t(host.size()) == expected.size();
    for (std::size_t i = 0; same && i < expected.size(); ++i) same = int(host.data()[i]) == expected[i];
    return same && test::equal(back, s, expected);
  };
  CHECK(check(a, {2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(check(a.t(), {3, 2}, {1, 4, 2, 5, 3, 6}));
  CHECK(check(a(slice(none, none, -1), slice(none, none, -2)), {2, 2}, {6, 4, 3, 1}));
  CHECK(check(a(1, slice(1, none)), {2}, {5, 6}));
  CHECK(check(a(1, 1), {}, {5}));
  CHECK(check(a(slice(0, 0)), {0, 3}, {}));
  CHECK(check(array_t(), {0}, {}));
  CHECK(check(ca::broadcast_to(a(0), {2, 3}), {2, 3}, {1, 2, 3, 1, 2, 3}));
  CHECK(check(a + 1, {2, 3}, {2, 3, 4, 5, 6, 7}));
  CHECK(check(ca::array<bool>({true, false}), {2}, {1, 0}));
  ca::ndarray<float, ca::cpu> host = ca::to<ca::cpu>(a);
  host += 1;
  CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  ca::ndarray<float, ca::cpu> twice = ca::to<ca::cpu>(host);
  twice += 1;
  CHECK(host.at(0, 0) == 2);
}

TEST_CASE("transfer: copyto writes into an array, across devices too") {
  const auto a = make();
  ca::copyto(a(0), ca::array<float>({7, 8, 9}));
  CHECK(test::equal(a, {2, 3}, ints{7, 8, 9, 4, 5, 6}));
  ca::copyto(a(1, slice(none, none, -1)), ca::array<float, ca::cpu>({1, 2, 3}));
  CHECK(test::equal(a, {2, 3}, ints{7, 8, 9, 3, 2, 1}));
  ca::copyto(a, a(_, slice(none, none, -1)));
  CHECK(test::equal(a, {2, 3}, ints{9, 8, 7, 1, 2, 3}));
  ca::copyto(a(0), ca::array<int>({1, 2, 3}) * 2);
  CHECK(test::equal(a, {2, 3}, ints{2, 4, 6, 1, 2, 3}));
  const auto host = ca::zeros<double, ca::cpu>({3});
  ca::copyto(host, a(0));
  CHECK(test::equal(host, {3}, ints{2, 4, 6}));
  ca::copyto(a(slice(0, 0)), ca::zeros({0, 3}));
  CHECK(test::thrown<ca::shape_error>([&] { ca::copyto(a, a(0)); }) ==
        "copyto: the source has shape (3,), the target (2, 3)");
  CHECK(test::equal(a, {2, 3}, ints{2, 4, 6, 1, 2, 3}));
}

TEST_CASE("transfer: item") {
  const auto a = make();
  CHECK(ca::item(a(1, 2)) == 6);
  CHECK(ca::item(ca::max(a)) == 6);
  CHECK(ca::item(ca::full<ca::float16>({1, 1}, 0.5)) == ca::float16(0.5f));
  CHECK(ca::item(ca::all(a > 0)));
  CHECK(test::thrown<ca::value_error>([&] { ca::item(a); }).find("6 elements") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::item(array_t()); }).find("0 elements") != std::string::npos);
  ca::synchronize();
  ca::synchronize(ca::cpu{});
}

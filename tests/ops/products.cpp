// Products of vectors and tensors, formulas and patterns of axes: what NumPy and einops give.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ints = std::vector<int>;

const auto make = [] { return ca::reshape(ca::arange(6.f), {2, 3}); };
const auto matrix = [] { return ca::reshape(ca::arange<double>(12), {3, 4}); };
const auto cube = [] { return ca::reshape(ca::arange<int>(24), {2, 3, 4}); };

template <class E, class F>
std::string error_of(const F& f) {
  return test::thrown<E>(f);
}

}  // namespace

TEST_CASE("products: outer, vecdot, vdot") {
  const auto x = make();
  const auto n = ca::arange<int>(3);
  CHECK(test::equal(ca::outer(n, n + 1), {3, 3}, ints{0, 0, 0, 1, 2, 3, 2, 4, 6}));
  CHECK(ca::outer(x, n).shape() == ca::shape{6, 3});
  CHECK(ca::outer(ca::zeros({0}), n).shape() == ca::shape{0, 3});
  CHECK(test::equal(ca::vecdot(x, n), {2}, ints{5, 14}));
  CHECK(test::equal(ca::vecdot(x, x.t().copy().t(), 0), {3}, ints{9, 17, 29}));
  CHECK(test::equal(ca::vecdot(cube(), ca::array<int>({1, 0, 2, 1})), {2, 3}, ints{7, 23, 39, 55, 71, 87}));
  CHECK(ca::vdot(x, x).item() == 55);
  CHECK(ca::vdot(x, x.t()).item() == 50);  // in C order of each
  CHECK(error_of<ca::shape_error>([&] { ca::vecdot(x, ca::ones({2})); }) ==
        "vecdot: shapes (2, 3) and (2,) along axis -1");
  CHECK_THROWS_AS(ca::vecdot(x, n, 1), ca::index_error);
  const auto m = ca::reshape(ca::arange<ca::int8>(9), {3, 3});
  CHECK(test::equal(ca::vecdot(m, ca::arange<ca::int8>(3), 0), {3}, ints{15, 18, 21}));  // axis 0 of each
  CHECK(test::equal(ca::vecdot(m(0) + 99, m(1)), {}, ints{-78}));                        // int8 wraps
  CHECK_THROWS_AS(ca::vdot(x, n), ca::shape_error);
}
TEST_CASE("products: tensordot, kron, cross") {
  const auto x = make();
  CHECK(test::equal(ca::tensordot(x, matrix(), 1), {2, 4}, ints{20, 23, 26, 29, 56, 68, 80, 92}));
  CHECK(ca::tensordot(x, x).item() == 55);
  CHECK(ca::tensordot(x, x, 0).shape() == ca::shape{2, 3, 2, 3});
  CHECK(test::equal(ca::tensordot(cube(), x + 0.f, {1, 0}, {1, 0}), {4}, ints{220, 235, 250, 265}));
  CHECK(test::equal(ca::tensordot(x, x, {-2}, {0}), {3, 3}, ints{9, 12, 15, 12, 17, 22, 15, 22, 29}));
  CHECK(error_of<ca::shape_error>([&] { ca::tensordot(x, x, 1); }) ==
        "tensordot: shapes (2, 3) and (2, 3) over axes of (3,) and (2,)");
  CHECK(error_of<ca::value_error>([&] { ca::tensordot(x, x, 3); }) == "tensordot: 3 axes of shapes (2, 3) and (2, 3)");
  CHECK(error_of<ca::value_error>([&] { ca::tensordot(x, x, {0, 0}, {0, 1}); }) == "tensordot: axis 0 twice");
  CHECK_THROWS_AS(ca::tensordot(x, x, {0, 1}, {0}), ca::value_error);
  CHECK(test::equal(ca::kron(ca::array<int>({1, 10}), ca::arange<int>(3)), {6}, ints{0, 1, 2, 0, 10, 20}));
  CHECK(test::equal(ca::kron(x, ca::array<int>({{1}, {2}})), {4, 3}, ints{0, 1, 2, 0, 2, 4, 3, 4, 5, 6, 8, 10}));
  CHECK(error_of<ca::shape_error>([&] {
          ca::kron(ca::ones({1, 1, 1, 1, 1}), x);
        }) == "kron: shapes (1, 1, 1, 1, 1) and (2, 3): at most 4 axes");
  CHECK(test::equal(ca::cross(x, ca::array<float>({1, 0, 2})), {2, 3}, ints{2, 2, -1, 8, -1, -4}));
  CHECK(test::equal(ca::cross(x.t(), ca::array<float>({{1}, {0}, {2}}), 0), {3, 2}, ints{2, 8, 2, -1, -1, -4}));
  CHECK_THROWS_AS(ca::cross(ca::ones({2}), ca::ones({2})), ca::shape_error);
  const auto m = ca::reshape(ca::arange<int>(9), {3, 3});
  CHECK(test::equal(ca::cross(m, ca::arange<int>(3), 0), {3, 3}, ints{0, 1, 2, 0, -2, -4, 0, 1, 2}));
  CHECK(test::equal(ca::cross(ca::ones({3, 2}), ca::arange(3.f), 0), {3, 2}, ints{1, 1, -2, -2, 1, 1}));
}
TEST_CASE("products: chains of matrices") {
  const auto x = make();
  const auto v = ca::arange(4.f);
  CHECK(test::equal(ca::multi_dot(std::tuple(x, matrix(), v)), {2}, ints{162, 504}));
  CHECK(ca::multi_dot(std::tuple(v, matrix().t(), x.t() * 0.f, ca::ones({2}))).shape() == ca::shape{});
  CHECK(error_of<ca::value_error>([&] { ca::multi_dot(std::vector{x}); }) ==
        "multi_dot: 1 matrices: 2 at least are wanted");
  std::vector<ca::ndarray<double>> many;
  ca::ndarray<double> product = ca::eye<double>(2);
  for (int k = 1; k < 6; ++k) {
    many.push_back(ca::reshape(ca::arange<double>(k * 2, k * 2 + (k + 1) * (k + 2)), {k + 1, k + 2}));
    product = ca::matmul(product, many.back());
  }
  CHECK(test::close(ca::multi_dot(many), {2, 7}, test::values(product), 1e-13));
  CHECK(error_of<ca::shape_error>([&] { ca::multi_dot(std::tuple(x, v, x)); }) ==
        "multi_dot: matrix 1 of shape (4,), not of 2 axes");
  CHECK_THROWS_AS(ca::multi_dot(std::vector<ca::ndarray<float>>{}), ca::value_error);
  CHECK_THROWS_AS(ca::multi_dot(std::tuple(x, x)), ca::shape_error);
}

TEST_CASE("einsum: one operand") {
  const auto x = make();
  const auto s = ca::reshape(ca::arange<int>(9), {3, 3});
  CHECK(test::equal(ca::einsum("ij->ji", x), {3, 2}, ints{0, 3, 1, 4, 2, 5}));
  CHECK(test::equal(ca::einsum("ba", x), {3, 2}, ints{0, 3, 1, 4, 2, 5}));
  CHECK(test::equal(ca::einsum("ii->i", s), {3}, ints{0, 4, 8}));
  CHECK(ca::einsum("ii", s).item() == 12);
  CHECK(ca::einsum("ij->", x).item() == 15);
  CHECK(test::equal(ca::einsum("ij -> j", x), {3}, ints{3, 5, 7}));
  CHECK(test::equal(ca::einsum("...i->...", cube()), {2, 3}, ints{6, 22, 38, 54, 70, 86}));
  CHECK(test::equal(ca::einsum("iij->ji", ca::reshape(ca::arange<int>(8), {2, 2, 2})), {2, 2}, ints{0, 6, 1, 7}));
  CHECK(std::is_same_v<ca::value_type_t<decltype(ca::einsum("ij->", cube()(0)))>, int>);
  CHECK(ca::einsum("ij->i", ca::zeros({2, 0})).shape() == ca::shape{2});
}
TEST_CASE("einsum: two operands and more") {
  const auto x = make();
  const auto m = matrix();
  const ints product{20, 23, 26, 29, 56, 68, 80, 92};
  CHECK(test::equal(ca::einsum("ij,jk->ik", x, m), {2, 4}, product));
  CHECK(test::equal(ca::einsum<"ij,jk">(x, m), {2, 4}, product));
  CHECK(test::equal(ca::einsum("ij,jk->ki", x, m), {4, 2}, ints{20, 56, 23, 68, 26, 80, 29, 92}));
  CHECK(test::equal(ca::einsum("i,j->ij", ca::arange<int>(2), ca::arange<int>(3)), {2, 3}, ints{0, 0, 0, 0, 1, 2}));
  CHECK(test::equal(ca::einsum("ij,ij->i", x, x), {2}, ints{5, 50}));
  CHECK(test::equal(ca::einsum("ij,kl->", x, m * 0 + 1), {}, ints{180}));
  CHECK(test::equal(ca::einsum("ij,j->ij", x, ca::array({1, 0, 2})), {2, 3}, ints{0, 0, 4, 3, 0, 10}));
  CHECK(test::equal(ca::einsum("...j,...j->...", cube(), ca::ones<int>({3, 4})), {2, 3}, ints{6, 22, 38, 54, 70, 86}));
  CHECK(test::equal(ca::einsum("ij,ij->j", x, ca::array<float>({{1}, {2}})), {3}, ints{6, 9, 12}));
  CHECK(test::equal(ca::einsum("bij,bjk->bik", cube(), ca::ones<int>({2, 4, 1})), {2, 3, 1},
                    ints{6, 22, 38, 54, 70, 86}));
  CHECK(test::equal(ca::einsum<"ij,jk,k->i">(x, m, ca::ones({4})), {2}, ints{98, 296}));
  CHECK(test::equal(ca::einsum("ij,jk,lk,l->i", x, m, m, ca::ones({3})), {2}, ints{1662, 5064}));
  CHECK(ca::einsum("ij,jk->ik", ca::zeros({2, 0}), ca::zeros({0, 3})).shape() == ca::shape{2, 3});
  const auto wide = ca::full<int>({1, 2, 1, 1, 1, 1, 1, 2}, 3);
  CHECK(test::equal(ca::einsum("abcdefgh,abcdefgh->abcdefgh", wide, wide), wide.shape(), ints(4, 9)));
  CHECK(ca::einsum(",", ca::full<int>({}, 3), ca::full<int>({}, 4)).item() == 12);
  const auto q = ca::ones({2, 3, 4, 5}), k = ca::ones({2, 3, 6, 5});
  CHECK(test::equal(ca::einsum<"bhqd,bhkd->bhqk">(q, k), {2, 3, 4, 6}, std::vector<float>(144, 5)));
}
TEST_CASE("einsum: what is wrong is said") {
  const auto x = make();
  const auto text = [&](const char* formula, const auto&... a) {
    return error_of<ca::value_error>([&] { ca::einsum(formula, a...); });
  };
  CHECK(text("i1", x) == "einsum: \"i1\": labels are letters");
  CHECK(text("..i", x) == "einsum: \"..i\": an ellipsis is three dots, once for an operand");
  CHECK(text("ij->k", x) == "einsum: \"ij->k\": a label of the result is of no operand");
  CHECK(text("ij->...", x) == "einsum: \"ij->...\": a label of the result is of no operand");
  CHECK(text("...i->", x) == "einsum: \"...i->\": the result has no ellipsis");
  CHECK(text("ij->ii", x) == "einsum: \"ij->ii\": a label is twice in the result");
  CHECK(text("ij,jk", x) == "einsum: \"ij,jk\": there are not as many operands as the formula names");
  CHECK(error_of<ca::shape_error>([&] { ca::einsum("ijk", x); }) ==
        "einsum: \"ijk\": 3 labels for an operand of shape (2, 3)");
  CHECK(error_of<ca::shape_error>([&] { ca::einsum("ij,jk", x, x); }) ==
        "einsum: \"ij,jk\": extents 3 and 2 of one label");
  CHECK(error_of<ca::shape_error>([&] { ca::einsum("ii", x); }) == "einsum: \"ii\": extents 2 and 3 of one label");
}

TEST_CASE("rearrange: axes by names") {
  const auto x = cube();
  CHECK(test::equal(ca::rearrange("a b c -> c b a", x), {4, 3, 2}, test::values(ca::transpose(x))));
  CHECK(test::equal(ca::rearrange<"a b c -> (a b) c">(x), {6, 4}, test::values(x)));
  CHECK(test::equal(ca::rearrange("a b (c d) -> (a c) (d b)", x, {{"c", 2}}), {4, 6},
                    ints{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23}));
  CHECK(ca::rearrange<"... c -> c 1 ...">(x).shape() == ca::shape{4, 1, 2, 3});
  CHECK(ca::rearrange("a ... -> ... a", x + 1).shape() == ca::shape{3, 4, 2});
  CHECK(ca::rearrange("a 1 b -> b a", ca::ones({2, 1, 3})).shape() == ca::shape{3, 2});
  CHECK(ca::rearrange("(a b) -> a b", ca::zeros({0}), {{"b", 3}}).shape() == ca::shape{0, 3});
  ca::ndarray<int> view = ca::rearrange("a b c -> c a b", x);
  view(0, 0, 0) = 99;
  CHECK(x(0, 0, 0).item() == 99);
}
TEST_CASE("rearrange: what is wrong is said") {
  const auto x = make();
  const auto text = [&](const char* pattern) { return error_of<ca::value_error>([&] { ca::rearrange(pattern, x); }); };
  CHECK(text("a b") == "rearrange: \"a b\": it has no arrow ->");
  CHECK(text("a a -> a a") ==
        "rearrange: \"a a -> a a\": names, 1, ..., and groups of names in parentheses are wanted, each name once");
  CHECK(text("(a b -> a b").find("parentheses") != std::string::npos);
  CHECK(text("a -b -> b a").find("parentheses") != std::string::npos);
  CHECK(text("a b -> a c") == "rearrange: \"a b -> a c\": both sides must have the same names");
  CHECK(text("a (b c) -> a b c") == "rearrange: \"a (b c) -> a b c\": the extents of \"b\" and \"c\" are not given");
  CHECK(error_of<ca::value_error>([&] {
          ca::rearrange("a b -> b a", x, {{"h", 2}});
        }) == "rearrange: \"a b -> b a\" has no axis \"h\"");
  CHECK(error_of<ca::value_error>([&] {
          ca::rearrange("a b -> b a", x, {{"a", -3}});
        }) == "rearrange: \"a b -> b a\": -3 elements along \"a\"");
  CHECK_THROWS_AS(ca::rearrange("(a b) c -> a b c", x, {{"a", ca::int64(1) << 62}, {"b", 8}}), ca::shape_error);
  CHECK(error_of<ca::shape_error>([&] { ca::rearrange("a -> a", x); }) ==
        "rearrange: \"a -> a\": 1 axes for an array of shape (2, 3)");
  CHECK(error_of<ca::shape_error>([&] {
          ca::rearrange("a (b c) -> a b c", x, {{"b", 2}});
        }) == "rearrange: \"a (b c) -> a b c\": axis 1 of shape (2, 3) is not what its names have extents of");
  CHECK(error_of<ca::shape_error>([&] {
          ca::rearrange("a b -> a b", x, {{"b", 4}});
        }).find("axis 1") != std::string::npos);
}

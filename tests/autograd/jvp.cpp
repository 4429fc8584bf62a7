// Derivatives in one direction: jvp and hvp of programs, against JAX and paper. (Of each function: differences.hpp.)
#include <array>
#include <cudarray/nnet.hpp>
#include <sstream>

#include "differences.hpp"

namespace {

using test::numbers;
using doubles = ca::ndarray<double>;
using variable = ca::variable<double>;
namespace nnet = ca::nnet;

/// sin(a k) for k = 1, 2, ...
doubles waves(const ca::shape& s, double a) {
  numbers v;
  for (ca::int64 k = 1; k <= s.elements(); ++k) v.push_back(std::sin(a * double(k)));
  return ca::array(v, s);
}
double sum_of(const doubles& a) { return ca::sum(a).item(); }
double squares_of(const doubles& a) { return ca::sum(a * a).item(); }
/// The first elements of an array, and its sum and that of its squares.
void check_summary(const doubles& a, const numbers& first, double sum, double squares) {
  const numbers v = test::values(a);
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(std::fabs(v[i] - first[i]) <= 1e-11 * (1 + std::fabs(first[i])));
  CHECK(std::fabs(sum_of(a) - sum) <= 1e-10 * (1 + std::fabs(sum)));
  CHECK(std::fabs(squares_of(a) - squares) <= 1e-10 * squares);
}

template <class V>
struct layer {
  V w, b;
};
template <class V>
struct perceptron {
  layer<V> in, out;
};
struct perceptron_loss {
  doubles x = waves({5, 4}, .7), t = nnet::softmax(waves({5, 3}, 1.3));
  template <class P>
  auto operator()(const P& p) const {
    ca::variable h = nnet::relu(ca::matmul(x, p.in.w) + p.in.b);
    return ca::mean(nnet::softmax_cross_entropy(ca::matmul(h, p.out.w) + p.out.b, t));
  }
};

template <class V>
struct convolution {
  V f, b, w;
};
struct convolution_loss {
  doubles images = waves({2, 2, 6, 6}, .61);
  template <class P>
  auto operator()(const P& p) const {
    ca::variable h = ca::tanh(nnet::conv2d(images, p.f, {.padding = 1}) + ca::reshape(p.b, {3, 1, 1}));
    h = nnet::max_pool2d(h, {.window = 2});
    return ca::sum(ca::square(ca::matmul(ca::reshape(h, {2, -1}), p.w)));
  }
};

template <class V>
struct deep {
  std::string name = "deep";
  std::vector<layer<V>> layers;
  std::array<V, 2> pair;
  std::tuple<int, V> last{7, V()};
};

}  // namespace

TEST_CASE("autograd: jvp and hvp of a perceptron are JAX's") {
  const perceptron<variable> p{{waves({4, 6}, .37), waves({6}, .9)}, {waves({6, 3}, .53), waves({3}, 1.1)}},
      v{{waves({4, 6}, .21), waves({6}, .31)}, {waves({6, 3}, .41), waves({3}, .51)}};
  const auto [y, dy] = ca::jvp(perceptron_loss())(p, v);
  CHECK(std::fabs(y.item() - 1.3486013851599183) < 1e-13);
  CHECK(std::fabs(dy.item() - 0.005690757646859279) < 1e-13);
  const perceptron<variable> hv = ca::hvp(perceptron_loss())(p, v);
  check_summary(hv.in.w.value(), {0.0215108474564989, -0.00298502553432455, -0.0437343233578505, 0, 0, 0},
                -0.09189811574352363, 0.011499901426408433);
  check_summary(hv.in.b.value(), {-0.135806053726039, 0.120260173989282, 0.194772513314237, 0}, 0.17922663357748014,
                0.07084212561931698);
  check_summary(hv.out.w.value(), {-0.0228158873742853, 0.00172557393747682, 0.0210903134368086, 0.0403074325015901}, 0,
                0.013660353371283109);
  check_summary(hv.out.b.value(), {0.029206343344862, 0.00837689623953107, -0.0375832395843929}, 0,
                0.002335682779843715);
  // the gradients come with them
  const auto both = ca::jvp(ca::grad(perceptron_loss()))(p, v);
  const auto g = ca::grad(perceptron_loss())(p);
  CHECK(test::close(std::get<0>(both).in.w.value(), {4, 6}, test::values(g.in.w.value()), 1e-14));
  CHECK(test::equal(std::get<1>(both).out.w.value(), {6, 3}, test::values(hv.out.w.value())));
  CHECK_FALSE(p.in.w.has_grad());
}
TEST_CASE("autograd: jvp and hvp of a convolutional net are JAX's") {
  const convolution<variable> p{waves({3, 2, 3, 3}, .47), waves({3}, .8), waves({27, 2}, .33)},
      v{waves({3, 2, 3, 3}, .29), waves({3}, .5), waves({27, 2}, .71)};
  const auto [y, dy] = ca::jvp(convolution_loss())(p, v);
  CHECK(std::fabs(y.item() - 12.600057118546527) < 1e-11);
  CHECK(std::fabs(dy.item() + 0.6293917219059453) < 1e-11);
  const auto hv = ca::hvp(convolution_loss())(p, v);
  check_summary(hv.f.value(), {-5.90600859264024, -14.0078004811312, -27.541825604952, 17.8869008132948},
                -0.2450381385476661, 9464.61868325405);
  check_summary(hv.b.value(), {-14.2143728362917, -0.385397238630891, 0.854797634211303}, -13.744972440711322,
                202.9276051561059);
  check_summary(hv.w.value(), {-0.721145698831391, 0.510492981995259, -0.715943269835938, 0.513817845240794},
                13.837787527369429, 271.87255770438423);
}
TEST_CASE("autograd: which arguments jvp and hvp are of") {
  const doubles x = ca::array<double>({1, 2}), v = ca::array<double>({10, 100}), y = ca::array<double>({3, 5}),
                w = ca::array<double>({1, 0});
  const auto product = [](const auto& a, const auto& b) { return a * a * b; };
  using pair = std::tuple<doubles, doubles>;
  // all, as none holds variables
  const pair all = ca::jvp(product)(x, y, v, w);
  CHECK(test::equal(std::get<0>(all), {2}, numbers{3, 20}));
  CHECK(test::equal(std::get<1>(all), {2}, numbers{61, 2000}));
  // by position
  CHECK(test::equal(std::get<1>(ca::jvp<0>(product)(x, y, v)), {2}, numbers{60, 2000}));
  CHECK(test::equal(std::get<1>(ca::jvp<1>(product)(x, y, w)), {2}, numbers{1, 0}));
  // those that hold variables; an expression is evaluated
  CHECK(test::equal(std::get<1>(ca::jvp(product)(x, variable(y), w)), {2}, numbers{1, 0}));
  CHECK(test::equal(std::get<1>(ca::jvp(product)(variable(x) * 1., y, v * 1.)), {2}, numbers{60, 2000}));
  // Hessians: of a^2 b with respect to a it is 2 b, mixed 2 a
  const auto loss = [](const auto& a, const auto& b) { return ca::sum(a * a * b); };
  CHECK(test::equal(ca::hvp<0>(loss)(x, y, v), {2}, numbers{60, 1000}));
  const auto both = ca::hvp(loss)(x, y, v, w);
  CHECK(test::equal(std::get<0>(both), {2}, numbers{62, 1000}));
  CHECK(test::equal(std::get<1>(both), {2}, numbers{20, 400}));
  const doubles zero = ca::zeros<double>({2});
  CHECK(test::equal(std::get<1>(ca::jvp<0, 1>(ca::grad<1>(loss))(x, y, v, zero)), {2}, numbers{20, 400}));
  CHECK(test::thrown<ca::value_error>([&] { ca::jvp<0>(ca::grad<1>(loss))(x, y, v); }) ==
        "jvp: a gradient that is taken in the function has a derivative, and is of a variable without tangent: give "
        "ca::jvp one for it, of zeros");
}
TEST_CASE("autograd: jvp of what a function returns") {
  const doubles x = ca::array<double>({1, 2}), v = ca::array<double>({10, 100});
  const auto of_several =
      ca::jvp([](const auto& a) { return std::tuple(ca::variable(a * a), ca::stop_gradient(a)); })(x, v);
  CHECK(test::equal(std::get<0>(std::get<1>(of_several)), {2}, numbers{20, 400}));
  const auto constant = ca::jvp([](const auto&) { return ca::ones<float>({3}); })(x, v);
  CHECK(test::equal(std::get<1>(constant), {3}, numbers{0, 0, 0}));
  // nothing is recorded, and a captured parameter is a constant
  const variable c = ca::array<double>({3, 5});
  const auto [y, dy] = ca::jvp([&](const auto& a) { return a * c; })(x, v);
  CHECK(test::equal(dy, {2}, numbers{30, 500}));
  CHECK_FALSE(c.has_grad());
  // a derivative where stop_gradient is
  CHECK(test::equal(std::get<1>(ca::jvp([](const auto& a) { return a * ca::stop_gradient(a); })(x, v)), {2},
                    numbers{10, 200}));
}
TEST_CASE("autograd: jvp of trees") {
  deep<variable> p, v;
  for (auto* t : {&p, &v}) {
    const double by = t == &p ? 1 : 0.5;
    t->layers = {{ca::array<double>({by, 2}), ca::array<double>({3})}, {ca::array<double>({4 * by}), variable()}};
    t->pair = {ca::array<double>({5 * by}), ca::array<double>({6})};
    std::get<1>(t->last) = ca::array<double>({7});
  }
  const auto f = [](const auto& t) {
    CHECK(t.name == "deep");
    CHECK(std::get<0>(t.last) == 7);
    CHECK(t.layers.size() == 2);
    return ca::sum(t.layers[0].w * t.layers[0].b) * t.pair[0] * std::get<1>(t.last) * t.layers[1].w;
  };
  // (1 + 2) 3 * 5 * 7 * 4, and the same once with each factor's tangent
  const auto [y, dy] = ca::jvp(f)(p, v);
  CHECK(y.item() == 1260);
  CHECK(dy.item() == (2.5 * 3 + 3 * 3) * 140 + 9 * 2.5 * 28 + 1260 + 9 * 35 * 2.);
  v.layers.pop_back();
  CHECK(test::thrown<ca::shape_error>([&] { ca::jvp(f)(p, v); }) ==
        "tree: there are 2 elements in one and 1 in another");
}
TEST_CASE("autograd: jvp with dropout, a checkpoint, and other dtypes") {
  const ca::ndarray<float> x = ca::ones({1000}), v = ca::full({1000}, 3.f);
  ca::random::seed(3);
  const auto [y, dy] = ca::jvp([](const auto& a) { return nnet::dropout(a, 0.5); })(x, v);
  CHECK(test::equal(dy, {1000}, test::values(ca::ndarray<float>(y * 3.f))));
  const auto block = ca::checkpoint([](const auto& a) { return ca::tanh(a * a); });
  const auto loss = [](const auto& a) { return ca::sum(ca::tanh(a * a)); };
  const auto checkpointed = [&](const auto& a) { return ca::sum(block(a)); };
  const ca::ndarray<float> z = ca::array<float>({0.3f, -2, 1}), w = ca::array<float>({1, 2, 3});
  CHECK(test::equal(ca::hvp(checkpointed)(z, w), {3}, test::values(ca::hvp(loss)(z, w))));
  // half types: values are rounded to them, and derivatives
  const ca::ndarray<ca::bfloat16> h = ca::astype<ca::bfloat16>(z), dh = ca::astype<ca::bfloat16>(w);
  const auto [r, dr] = ca::jvp([](const auto& a) { return a * a + ca::sum(a); })(h, dh);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(dr)>, ca::ndarray<ca::bfloat16>>);
  CHECK(test::close(ca::ndarray<float>(dr), {3}, numbers{6.6, -2, 12}, 1e-2));
  // conversions inside keep the derivative
  const auto [m, dm] =
      ca::jvp([](const auto& a) { return ca::astype<double>(ca::astype<ca::bfloat16>(a)) * 2.; })(z, w);
  CHECK(test::equal(dm, {3}, numbers{2, 4, 6}));
}
TEST_CASE("autograd: jvp refuses wrong tangents, and to be differentiated") {
  const doubles x = ca::ones<double>({2, 3});
  const auto f = [](const auto& a) { return ca::sum(a); };
  CHECK(test::thrown<ca::shape_error>([&] { ca::jvp(f)(x, ca::ones<double>({3})); }) ==
        "jvp: a tangent of shape (3,) for an argument of shape (2, 3)");
  CHECK(test::thrown<ca::value_error>([&] {
          ca::grad<0>([&](const auto& a) { return ca::sum(a) * ca::variable(std::get<1>(ca::jvp(f)(x, x))); })(x);
        }) == "jvp: gradients of it are not recorded: it was called while a function is differentiated");
  CHECK(test::thrown<ca::shape_error>([&] { ca::hvp([](const auto& a) { return a * a; })(x, x); }) ==
        "grad: the function's value has shape (2, 3) and is not one element: use ca::vjp");
  // as before
  CHECK(ca::variable(f(variable(x))).requires_grad());
  CHECK(std::get<1>(ca::jvp(f)(x, x)).item() == 6);
  // nothing in it
  const doubles none = ca::zeros<double>({0, 3});
  CHECK(std::get<1>(ca::jvp(f)(none, none)).item() == 0);
  CHECK(ca::hvp([](const auto& a) { return ca::sum(a * a); })(none, none).shape() == ca::shape{0, 3});
  CHECK(std::get<1>(ca::jvp([](const auto& a) { return a * a; })(ca::full<double>({}, 3.), ca::full<double>({}, 2.)))
            .item() == 12);
}
namespace {
struct softsign {
  template <class L>
  CUDARRAY_HD L operator()(L x) const {
    return x / (1 + abs_of(x));
  }
  template <class L>
  CUDARRAY_HD L derivative(L, L r) const {
    const L s = 1 - abs_of(r);
    return s * s;
  }
  template <class L>
  CUDARRAY_HD static L abs_of(L x) {
    return x < L(0) ? -x : x;
  }
};
}  // namespace
TEST_CASE("autograd: jvp beside captured parameters, of gradients, and printed") {
  const doubles x = ca::array<double>({{1, -2, 3, 0}}), v = ca::array<double>({{1, 10, 100, 1000}});
  const variable w = ca::ones<double>({4, 2}), b = ca::ones<double>({2});
  const auto dense = [&](const auto& a) { return ca::sum(ca::square(nnet::linear(a, w, b))); };
  CHECK(test::equal(ca::hvp(dense)(x, v), {1, 4}, numbers(4, 4 * 1111.)));
  const auto of_weights = [&](const auto& a) { return nnet::linear(x, a, b); };
  CHECK(test::equal(std::get<1>(ca::jvp(of_weights)(ca::ones<double>({4, 2}), ca::ones<double>({4, 2}))), {1, 2},
                    numbers{2, 2}));
  const auto pulled = [](const auto& a) {
    return std::get<1>(ca::vjp([](const auto& c) { return c * c * c; }, a))(ca::ones<double>({1, 4}));
  };
  CHECK(test::equal(std::get<1>(ca::jvp(pulled)(x, v)), {1, 4}, numbers{6, -120, 1800, 0}));
  std::ostringstream text;
  ca::jvp([&](const auto& a) {
    text << a << a(0, 1);
    return a;
  })(x, v);
  CHECK(text.str() == "[[ 1.   +1.\u03b5 -2.  +10.\u03b5  3. +100.\u03b5  0.+1000.\u03b5]](-2+10\u03b5)");
}
TEST_CASE("autograd: second derivatives at zeros and limits") {
  const auto prod = [](const auto& a) { return ca::prod(a); };
  const auto cumprod = [](const auto& a) { return ca::sum(ca::cumprod(a, 0)); };
  const doubles v = ca::array<double>({1, 2, 5});
  // x y z: the Hessian has z, y and x beside the diagonal
  CHECK(test::equal(ca::hvp(prod)(ca::array<double>({2, 0, 3}), v), {3}, numbers{6, 13, 4}));
  CHECK(test::equal(ca::hvp(prod)(ca::array<double>({0, 0, 3}), v), {3}, numbers{6, 3, 0}));
  CHECK(test::equal(ca::hvp(prod)(ca::array<double>({0, 0, 0}), v), {3}, numbers{0, 0, 0}));
  CHECK(test::equal(ca::hvp(prod)(ca::array<double>({2, 4, 3}), v), {3}, numbers{26, 13, 8}));
  // x + x y + x y z
  CHECK(test::equal(ca::hvp(cumprod)(ca::array<double>({2, 0, 3}), v), {3}, numbers{8, 14, 4}));
  CHECK(test::equal(ca::hvp(cumprod)(ca::array<double>({0, 0, 3}), v), {3}, numbers{8, 4, 0}));
  const doubles ones = ca::ones<double>({3});
  const auto clip = [](const auto& a) { return ca::clip(a, 0., 1.); };
  CHECK(test::equal(std::get<1>(ca::jvp(clip)(ca::array<double>({0, 1, 2}), ones)), {3}, numbers{1, 1, 0}));
  const auto softplus = [](const auto& a) { return ca::sum(nnet::softplus(a)); };
  CHECK(test::close(ca::hvp(softplus)(ca::array<double>({-1000, 0, 1000}), ones), {3}, numbers{0, 0.25, 0}, 1e-14));
}
namespace {
template <class V>
struct masked {
  V w;
  ca::ndarray<double> mask;
  ca::value_type_t<V> scale;
};
}  // namespace
TEST_CASE("autograd: jvp of trees with other fields") {
  const masked<variable> p{variable(ca::array<double>({1, 2})), ca::array<double>({1, 0}), 3},
      v{variable(ca::array<double>({1, 1})), ca::array<double>({7, 7}), 9};
  const auto loss = [](const auto& t) { return ca::sum(t.w * t.w * t.mask) * (t.scale > 2. ? 3. : 0.); };
  CHECK(std::get<1>(ca::jvp(loss)(p, v)).item() == 6);
  const masked<variable> hv = ca::hvp(loss)(p, v);
  CHECK(test::equal(hv.w.value(), {2}, numbers{6, 0}));
  CHECK((hv.scale == 3 && test::equal(hv.mask, {2}, numbers{1, 0})));
}
TEST_CASE("autograd: jvp and hvp of users' functions") {
  const doubles x = ca::array<double>({-1, 0.5, 3}), v = ca::array<double>({1, 2, 4});
  const auto f = [](const auto& a) { return ca::sum(ca::map(softsign{}, a)); };
  // (1 + |x|)^-2, and -2 sign(x) (1 + |x|)^-3
  CHECK(test::close(std::get<1>(ca::jvp([](const auto& a) { return ca::map(softsign{}, a); })(x, v)), {3},
                    numbers{0.25, 2 / 2.25, 0.25}, 1e-14));
  CHECK(test::close(ca::hvp(f)(x, v), {3}, numbers{0.25, -4 / 3.375, -0.125}, 1e-14));
}

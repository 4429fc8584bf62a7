// Statements in which reductions meet their rows: kernels, what is kept and recorded, edges, dtypes.
// SPDX-License-Identifier: MIT
#include <limits>

#include "rows.hpp"

namespace {

using test::layer_norm;
using test::numbers;
using test::softmax;
using test::waves;
using test::weighted;
using variable = ca::variable<double>;
using array = ca::ndarray<double>;

template <class T>
void check_narrow() {
  const double unit = double(std::is_same_v<T, float> ? 6e-8 : std::is_same_v<T, ca::float16> ? 5e-4 : 4e-3);
  const auto rounded = [](const array& a) { return ca::ndarray<T>(ca::astype<T>(a)); };
  const auto x = rounded(waves({20, 136})), g = rounded(waves({136})), b = rounded(waves({136}, .2)),
             w = rounded(waves({20, 136}, .3));
  const auto exact = [](const ca::ndarray<T>& a) { return variable(ca::astype<double>(a)); };
  const ca::variable<T> vx = x, vg = g, vb = b;
  const variable ex = exact(x), eg = exact(g), eb = exact(b);
  ca::variable<T>(layer_norm(vx, vg, vb)).backward(w);
  variable(layer_norm(ex, eg, eb)).backward(array(ca::astype<double>(w)));
  // means of half types are rounded before they are subtracted: two units
  CHECK(test::close(array(ca::astype<double>(vx.grad())), {20, 136}, test::values(ex.grad()), 8 * unit));
  CHECK(test::close(array(ca::astype<double>(vg.grad())), {136}, test::values(eg.grad()), 20 * unit));
  CHECK(test::close(array(ca::astype<double>(vb.grad())), {136}, test::values(eb.grad()), 20 * unit));
  vx.zero_grad(), ex.zero_grad();
  ca::variable<T>(softmax(vx)).backward(w);
  variable(softmax(ex)).backward(array(ca::astype<double>(w)));
  CHECK(test::close(array(ca::astype<double>(vx.grad())), {20, 136}, test::values(ex.grad()), 4 * unit));
}

}  // namespace

TEST_CASE("autograd: rows are one kernel, and so are their gradients") {
  if constexpr (ca::backend::row_programs<ca::default_device> && ca::backend::fused_gradients<ca::default_device>) {
    constexpr bool host = ca::default_device::host_accessible;
    const array m = waves({64, 100}), w = waves({64, 100}, .3);
    const variable x = m, g = waves({100}), b = waves({100}, .2);
    const auto kernels = [&](const auto& f, int sums) {
      auto before = ca::stats();
      const variable y = f();
      CHECK((ca::stats() - before).kernels == 1);
      before = ca::stats();
      y.backward(w);
      const auto back = ca::stats() - before;
      CHECK(int(back.kernels) == 1 + (host ? 0 : sums));
      CHECK(back.temporaries == 0);
      for (const variable& v : {x, g, b}) v.zero_grad();
    };
    kernels([&] { return layer_norm(x, g, b); }, 2);
    kernels([&] { return softmax(x); }, 0);
    kernels([&] { return weighted(x, g); }, 1);
    kernels([&] { return weighted(x, m); }, 0);
    const auto before = ca::stats();
    {
      const ca::no_grad off;
      const variable y = layer_norm(x, g, b);
      CHECK_FALSE(y.requires_grad());
    }
    CHECK((ca::stats() - before).kernels == 1);
  }
}
TEST_CASE("autograd: numbers that are generated are part of a row's kernel") {
  for (const ca::int64 n : {100, 131}) {
    ca::random::generator one(7), same(7);
    const array m = waves({64, n}), w = waves({64, n}, .3);
    const variable x = m, v = m, g = waves({n}), h = waves({n}), b = waves({n}, .2);
    auto before = ca::stats();
    const variable y = layer_norm(ca::nnet::dropout(x, .5, one), g, b);
    auto made = ca::stats() - before;
    before = ca::stats();
    y.backward(w);
    const auto back = ca::stats() - before;
    if constexpr (ca::backend::row_programs<ca::default_device> && ca::backend::fused_gradients<ca::default_device>) {
      CHECK(made.kernels == 1);
      CHECK(int(back.kernels) <= 3);
    }
    const array mask = ca::nnet::dropout_mask<double>({64, n}, .5, same);
    const variable z = layer_norm(v * mask, h, b);
    z.backward(w);
    CHECK(test::close(y.value(), {64, n}, test::values(z.value()), 1e-12));
    CHECK(test::close(x.grad(), {64, n}, test::values(v.grad()), 1e-12));
    CHECK(test::close(g.grad(), {n}, test::values(h.grad()), 1e-12));
  }
}
TEST_CASE("autograd: gradients of rows are added to those that are there") {
  const array m = waves({5, 70}), w = waves({5, 70}, .3), v = waves({70});
  const variable x = m, g = v;
  const variable y = layer_norm(x, g, g), z = softmax(x * g);
  y.backward(w, {.retain_graph = true});
  const numbers dx = test::values(x.grad()), dg = test::values(g.grad());
  y.backward(w);
  CHECK(test::close(array(x.grad() / 2.), {5, 70}, dx, 1e-14));
  CHECK(test::close(array(g.grad() / 2.), {70}, dg, 1e-14));
  CHECK_THROWS_AS(y.backward(w), ca::value_error);
  x.zero_grad();
  z.backward(w);
  const variable x2 = m, g2 = v;
  variable(softmax(x2 * g2)).backward(w);
  CHECK(test::close(x.grad(), {5, 70}, test::values(x2.grad()), 1e-14));
  // what has no gradient, and what wants none
  variable fixed = v;
  fixed.requires_grad(false);
  const variable x3 = m;
  variable(layer_norm(x3, fixed, v)).backward(w);
  CHECK_FALSE(fixed.has_grad());
  const variable x4 = m, g4 = v;
  variable(layer_norm(x4, g4, v)).backward(w);
  CHECK(test::equal(x3.grad(), {5, 70}, test::values(x4.grad())));
}
TEST_CASE("autograd: sums over many rows of gradients") {
  for (const ca::int64 n : {64, 130, 201}) {
    const array m = waves({3000, n}), w = waves({3000, n}, .3);
    const variable x = m, g = waves({n}), b = waves({n}, .2);
    variable(layer_norm(x, g, b)).backward(w);
    CHECK(test::close(b.grad(), {n}, test::values(array(ca::sum(w, 0))), 1e-11));
    const array normal = layer_norm(m, 1., 0.);
    CHECK(test::close(g.grad(), {n}, test::values(array(ca::sum(w * normal, 0))), 1e-11));
  }
}
TEST_CASE("autograd: gradients of rows at ties and beyond the numbers") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  numbers v(70, -1);
  v[3] = v[9] = v[60] = 2;
  const variable x = ca::array(v, {1, 70});
  variable(x + ca::max(x, -1, ca::keepdims)).backward(ca::ones<double>({1, 70}));
  numbers shared;
  for (const double e : v) shared.push_back(e == 2 ? 1 + 70. / 3 : 1);
  CHECK(test::close(x.grad(), {1, 70}, shared, 1e-14));
  v[5] = nan;
  const variable y = ca::array(v, {1, 70});
  variable(softmax(y)).backward(ca::ones<double>({1, 70}));
  CHECK(std::isnan(test::values(y.grad())[0]));
  v[5] = -inf;
  const variable z = ca::array(v, {1, 70});
  variable(softmax(z)).backward(waves({1, 70}));
  CHECK(test::values(z.grad())[5] == 0);
  CHECK(std::isfinite(test::values(z.grad())[3]));
}
TEST_CASE("autograd: gradients of rows that are chosen by what has none") {
  const array m = waves({3, 80}), w = waves({3, 80}, .3);
  const variable x = m, y = m, z = m;
  variable(ca::where(x > ca::mean(x, -1, ca::keepdims), x * x, 0)).backward(w);
  CHECK(test::close(x.grad(), {3, 80}, test::values(array(w * 2. * m * (m > ca::mean(m, -1, ca::keepdims)))), 1e-14));
  variable(y * ca::floor(ca::max(y, -1, ca::keepdims)) + ca::sum(y, -1, ca::keepdims)).backward(w);
  const array expected = w * ca::floor(ca::max(m, -1, ca::keepdims)) + ca::sum(w, -1, ca::keepdims);
  CHECK(test::close(y.grad(), {3, 80}, test::values(expected), 1e-14));
  // the same reduction at two places
  variable(z * ca::sum(z, -1, ca::keepdims) - ca::sum(z, -1, ca::keepdims)).backward(w);
  const array sums = ca::sum(m, -1, ca::keepdims);
  const array both = w * sums + ca::sum(w * (m - 1.), -1, ca::keepdims);
  CHECK(test::close(z.grad(), {3, 80}, test::values(both), 1e-13));
}
TEST_CASE("autograd: extremes of functions have their gradients in every place of a row") {
  for (const ca::int64 at : {0, 5, 66, 69}) {
    numbers v(70, .1);
    v[std::size_t(at)] = .9;
    const variable x = ca::array(v, {1, 70}), y = x.value();
    variable(x + ca::max(ca::tanh(x), -1, ca::keepdims)).backward(ca::ones<double>({1, 70}));
    variable(y - ca::min(y * y * -1.1, -1, ca::keepdims)).backward(ca::ones<double>({1, 70}));
    const double t = std::tanh(.9);

    const auto near = [&](const variable& of, double expected) {
      return std::fabs(test::values(of.grad())[std::size_t(at)] - expected) < 1e-11;
    };
    CHECK(near(x, 1 + 70 * (1 - t * t)));
    CHECK(near(y, 1 + 70 * 2.2 * .9));
  }
}
TEST_CASE("autograd: variables that share elements are two") {
  const array m = waves({2, 70}), w = waves({2, 70}, .3);
  const variable a = m, b = m, c = m, d = array(m.copy());
  variable(a * ca::sum(a * a, -1, ca::keepdims) + b * ca::sum(b * b, -1, ca::keepdims) * 2.).backward(w);
  variable(c * ca::sum(c * c, -1, ca::keepdims) + d * ca::sum(d * d, -1, ca::keepdims) * 2.).backward(w);
  CHECK(test::close(a.grad(), {2, 70}, test::values(c.grad()), 1e-14));
  CHECK(test::close(b.grad(), {2, 70}, test::values(d.grad()), 1e-14));
}
TEST_CASE("autograd: rows without gradients record nothing") {
  const array m = waves({2, 70}), w = waves({2, 70}, .3);
  variable x = m, h = waves({2, 70}, .2), b = waves({2, 70}, .1);
  x.requires_grad(false);
  CHECK_FALSE(variable(ca::where(h > 0., x - ca::mean(x, -1, ca::keepdims), 0.)).requires_grad());
  CHECK_FALSE(variable(ca::copysign(x, ca::mean(h, -1, ca::keepdims))).requires_grad());
  // a constant, and what no gradient reads, at each place of a reduction that is there twice
  for (const array& g : {w, array(array(waves({70, 2}, .3)).t())}) {
    x.requires_grad(true), b.requires_grad(false);
    const variable y = (x + ca::sum(b, -1, ca::keepdims)) * 2. + ca::sum(b, -1, ca::keepdims);
    b.requires_grad(true);
    b.value() += 1.;
    y.backward(g);
    CHECK_FALSE(b.has_grad());
  }
}
TEST_CASE("autograd: gradients of rows of two dtypes") {
  {
    const array m = waves({4, 70}), w = waves({4, 70}, .3);
    const ca::ndarray<float> narrow = ca::astype<float>(waves({4, 70}, .2));
    const variable x = m, y = m, e = array(ca::astype<double>(narrow));
    const ca::variable<float> f = narrow;
    variable(x / (ca::sum(f * f, -1, ca::keepdims) + 1.f)).backward(w);
    variable(y / (ca::sum(e * e, -1, ca::keepdims) + 1.)).backward(w);
    CHECK(test::close(x.grad(), {4, 70}, test::values(y.grad()), 1e-5));
    CHECK(test::close(array(ca::astype<double>(f.grad())), {4, 70}, test::values(e.grad()), 1e-5));
  }
  const auto x = ca::astype<ca::bfloat16>(waves({6, 96}));
  const ca::variable<ca::bfloat16> v = ca::ndarray<ca::bfloat16>(x);
  const ca::variable<float> g = ca::ndarray<float>(ca::astype<float>(waves({96}))), h = g.value();
  const ca::ndarray<float> w = ca::astype<float>(waves({6, 96}, .3));
  const ca::variable<float> e = ca::ndarray<float>(ca::astype<float>(x));
  const auto f = [](const auto& a, const auto& b) {
    const auto u = ca::astype<float>(a);
    return u * b / ca::sqrt(ca::mean(u * u * b, -1, ca::keepdims) + 4.f);
  };
  ca::variable<float>(f(v, g)).backward(w);
  ca::variable<float>(f(e, h)).backward(w);
  const auto wide = [](const auto& a) { return array(ca::astype<double>(a)); };
  // a device without an entry for gradients rounds for each place of a variable
  const double rounding = ca::backend::fused_gradients<ca::default_device> ? 1 : 3;
  CHECK(test::close(wide(v.grad()), {6, 96}, test::values(wide(e.grad())), rounding * 4e-3));
  CHECK(test::close(wide(g.grad()), {96}, test::values(wide(h.grad())), 1e-4));
}
TEST_CASE("autograd: rows in functions of functions") {
  const array m = waves({3, 70}), v = waves({70}), w = waves({3, 70}, .3);
  const variable captured = v;
  const auto loss = [&](const auto& x) {
    const auto n = layer_norm(x, captured, captured);
    return ca::sum(ca::eval(n + captured * ca::sum(captured, -1, ca::keepdims)) * w);
  };
  const array dx = ca::grad(loss)(variable(m)).value();
  CHECK_FALSE(captured.has_grad());
  const variable x = m;
  variable(layer_norm(x, v, v)).backward(w);
  CHECK(test::close(dx, {3, 70}, test::values(x.grad()), 1e-13));
  const variable y = m;
  const auto block = ca::checkpoint([](const auto& u) { return softmax(u); });
  variable(block(y)).backward(w);
  const variable z = m;
  variable(softmax(z)).backward(w);
  CHECK(test::equal(y.grad(), {3, 70}, test::values(z.grad())));
}
TEST_CASE("autograd: gradients of rows of narrower types") {
  check_narrow<float>();
  check_narrow<ca::float16>();
  check_narrow<ca::bfloat16>();
}
TEST_CASE("autograd: rows of empty arrays") {
  const variable x = ca::zeros<double>({0, 70}), g = ca::ones<double>({70});
  variable(layer_norm(x, g, g)).backward(ca::zeros<double>({0, 70}));
  CHECK(test::equal(g.grad(), {70}, numbers(70, 0)));
  CHECK(x.grad().shape() == ca::shape{0, 70});
  const variable none = ca::zeros<double>({3, 0});
  CHECK_THROWS_AS(variable(softmax(none)), ca::value_error);
}
TEST_CASE("autograd: a row that was written throws") {
  variable x = waves({3, 70}), g = waves({70}), b = waves({70}, .2);
  const variable y = layer_norm(x, g, b);
  b.value() += 1.;  // no gradient reads it
  x.value() += 1.;
  CHECK_THROWS_AS(y.backward(waves({3, 70})), ca::stale_error);
  CHECK_FALSE(g.has_grad());
  const variable z = layer_norm(x, g, b);
  b.value() += 1.;
  z.backward(waves({3, 70}));
  CHECK(g.has_grad());
}

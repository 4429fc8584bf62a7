// Functions of functions: trees, value_and_grad, grad, vjp, custom_vjp and checkpoint.
#include <array>
#include <cudarray/nnet.hpp>
#include <stdexcept>

#include "differences.hpp"

namespace {

using test::numbers;
using array = ca::ndarray<float>;
using variable = ca::variable<float>;
variable one(double x) { return ca::array<float>({float(x)}); }
array line(std::initializer_list<float> x) { return ca::array<float>(x); }

struct layer {
  variable w, b;
};
class keyed {
  variable first_, second_;

 public:
  auto members() { return std::tie(second_, first_); }
};
struct everything {
  int count = 3;
  variable a;
  std::tuple<int, variable, std::tuple<variable>> b;
  std::string name = "name";
  std::pair<variable, std::string> c;
  std::array<variable, 2> d;
  std::vector<layer> e = std::vector<layer>(2), none;
  array data = line({1, 2});
  keyed f;
  std::vector<std::vector<variable>> g{std::vector<variable>(1), {}, std::vector<variable>(2)};
};
everything numbered() {
  everything t;
  int n = 0;
  ca::tree_for_each([&](auto& v) { v = one(n++); }, t);
  return t;
}
struct large {
  variable a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x;
};

/// The elements of an array, or of the variables of a tree in the order in which they are visited.
template <class Tree>
numbers elements(const Tree& tree) {
  numbers found;
  const auto add = [&](const auto& v) {
    for (const auto e : test::values(v.value())) found.push_back(double(e));
  };
  if constexpr (std::is_same_v<Tree, array>) add(variable(tree));
  else ca::tree_for_each(add, tree);
  return found;
}
numbers count_to(int n, double factor = 1) {
  numbers v;
  while (int(v.size()) < n) v.push_back(factor * double(v.size()));
  return v;
}
const auto dot = [](const auto& a, const auto& b) { return ca::sum(a * b); };
const auto weighted = [](const layer& p) { return ca::sum(p.w * p.w) * 3.f + ca::sum(p.b); };
const std::string stale =
    "backward: an operand of shape (2,), float32, was written after a variable was computed of it";
const std::string not_one = ": the function's value has shape (2,) and is not one element: use ca::vjp";
const std::string nothing = "nothing was thrown";

}  // namespace

TEST_CASE("autograd: variables of a tree are visited in order, whatever holds them") {
  everything t = numbered();
  CHECK(elements(t) == count_to(15));
  CHECK((t.a.item() == 0 && std::get<1>(t.b).item() == 1 && t.c.first.item() == 3 && t.d[1].item() == 5));
  CHECK((t.e[1].b.item() == 9 && t.g[0][0].item() == 12 && t.g[2][1].item() == 14));
  ca::tree_for_each([](auto& v) { v.value() *= 2.f; }, t);
  CHECK(elements(t) == count_to(15, 2));
  // what is no variable is left alone
  CHECK((t.count == 3 && t.name == "name" && t.none.empty()));
  CHECK(test::equal(t.data, {2}, numbers{1, 2}));
  const layer fixed{one(1), one(2)};
  ca::tree_for_each([](auto& v) { static_assert(std::is_same_v<decltype(v), const variable&>); }, fixed);
  large many;
  int n = 0;
  ca::tree_for_each([&](auto& v) { v = one(n++); }, many);
  CHECK(elements(many) == count_to(24));
  CHECK((many.a.item() == 0 && many.x.item() == 23));
}

TEST_CASE("autograd: trees of one structure are visited together") {
  everything t = numbered(), other = numbered();
  const everything of = numbered();
  CHECK(elements(ca::tree_map([](const auto& a, const auto& b) { return a + b; }, of, other)) == count_to(15, 2));
  ca::tree_for_each([](auto& p, const auto& g) { p = variable(p.value() + 10.f * g.value()); }, t, of);
  CHECK(elements(t) == count_to(15, 11));
  other.g[2].pop_back();
  CHECK(test::thrown<ca::shape_error>([&] { ca::tree_for_each(dot, t, other); }) ==
        "tree: there are 2 elements in one and 1 in another");
}

TEST_CASE("autograd: tree_map makes a new tree, tree_leaves shares what is in one") {
  const everything t = numbered();
  const everything twice = ca::tree_map([](const auto& v) { return 2.f * v.value(); }, t);
  CHECK((elements(twice) == count_to(15, 2) && elements(t) == count_to(15) && twice.name == "name"));
  const std::vector<variable> leaves = ca::tree_leaves(t);
  REQUIRE(elements(leaves) == count_to(15));
  variable(ca::sum(leaves[8] * leaves[9])).backward();
  array(leaves[0].value()).fill(100);
  CHECK((t.e[1].w.grad().item() == 9 && t.a.item() == 100));
}

TEST_CASE("autograd: value_and_grad of a linear regression") {
  const array x = ca::reshape(line({1, 2, 3, 4, 5, 6}), {3, 2}), y = ca::reshape(line({1, 2, 4}), {3, 1});
  const layer p{ca::array<float>({{.5f}, {-1}}), one(.25)};
  const auto loss = [](const array& in, const array& out, const layer& q) {
    return ca::mean(ca::square(ca::matmul(in, q.w) + q.b - out));
  };
  const auto [value, g] = ca::value_and_grad(loss)(x, y, p);
  // residuals -2.25, -4.25, -7.25
  CHECK(test::close(value, {}, {75.6875 / 3}));
  CHECK(test::close(g.w.value(), {2, 1}, {-2 * 51.25 / 3, -2 * 65. / 3}));
  CHECK(test::close(g.b.value(), {1}, {-2 * 13.75 / 3}));
  CHECK((elements(ca::grad(loss)(x, y, p)) == elements(g) && !p.w.has_grad()));  // the same bits
}

TEST_CASE("autograd: a function may return results beside its value") {
  const array x = line({1, 2, 3});
  const layer p{line({2, -1, 3}), line({1, 1, 1})};
  int calls = 0;
  const auto loss = [&](const layer& q) {
    const variable h = q.w * x + q.b;
    return std::make_tuple(ca::sum(h * h), h, h > 0.f, layer{h + 1.f, q.b}, ++calls, std::string("text"));
  };
  const auto check = [&](const auto& h, const auto& positive, const layer& tree, int count, const std::string& text) {
    static_assert(std::is_same_v<decltype(positive), const ca::ndarray<bool>&>);
    CHECK(test::equal(array(h.value()), {3}, numbers{3, -1, 10}));
    CHECK(test::equal(positive, {3}, std::vector<bool>{true, false, true}));
    CHECK(test::equal(tree.w.value(), {3}, numbers{4, 0, 11}));
    CHECK_FALSE((h.requires_grad() || tree.w.requires_grad() || tree.b.requires_grad()));
    CHECK((count == calls && text == "text"));
  };
  {
    const auto [value, h, positive, tree, count, text, g] = ca::value_and_grad(loss)(p);
    CHECK(value.item() == 110);
    CHECK(test::equal(g.w.value(), {3}, numbers{6, -4, 60}));
    check(h, positive, tree, count, text);
  }
  {
    const auto [g, h, positive, tree, count, text] = ca::grad(loss)(p);
    CHECK(test::equal(g.b.value(), {3}, numbers{6, -2, 20}));
    check(h, positive, tree, count, text);
  }
  {
    const auto [value, pull, h, positive, tree, count, text] = ca::vjp(loss, p);
    CHECK(test::equal(pull(array(2.f * ca::ones({}))).b.value(), {3}, numbers{12, -4, 40}));
    check(h, positive, tree, count, text);
  }
  layer sum;
  for (int i = 1; i <= 2; ++i) {
    const auto [value, h, positive, tree, count, text] = ca::value_and_grad(loss).into(sum)(p);
    CHECK(test::equal(sum.b.value(), {3}, numbers{6.f * i, -2.f * i, 20.f * i}));
    check(h, positive, tree, count, text);
  }
  CHECK(calls == 5);
  // an expression's values; alone in a tuple, the value is what it is without
  const auto [dx, e] = ca::grad<0>([](const auto& v) { return std::make_tuple(ca::sum(v * v), ca::exp(v)); })(x);
  CHECK((test::equal(dx, {3}, numbers{2, 4, 6}) && test::close(e, {3}, {std::exp(1.), std::exp(2.), std::exp(3.)})));
  const auto alone = [](const auto& v) { return std::make_tuple(ca::sum(v * v)); };
  CHECK(test::equal(ca::grad<0>(alone)(x), {3}, numbers{2, 4, 6}));
  const auto more = [](const auto& v) { return std::make_tuple(ca::sum(v * v * v), ca::max(v)); };
  CHECK(test::equal(ca::hvp<0>(more)(x, line({1, 0, 2})), {3}, numbers{6, 0, 36}));
}

TEST_CASE("autograd: results beside the value leave variables, and what vjp keeps, as they are") {
  const variable x = line({1, 2, 3});
  variable w = line({4, 5, 6});
  const auto f = [&](const variable& p) {
    const variable h = p * w;
    return std::tuple(ca::sum(h * h), std::tie(w, p), std::pair(1, h * 2.f));
  };
  const auto [value, pull, nested, pair] = ca::vjp(f, x);
  CHECK((w.requires_grad() && !std::get<0>(nested).requires_grad() && !std::get<1>(nested).requires_grad()));
  CHECK(test::equal(pair.second, {3}, numbers{8, 20, 36}));
  CHECK(pair.first == 1);
  CHECK(test::equal(pull(ca::ones({})).value(), {3}, numbers{32, 100, 216}));
  CHECK(test::equal(pull(ca::ones({})).value(), {3}, numbers{32, 100, 216}));
  const auto used = [] { return ca::memory_stats().used; };
  const auto large = [](const auto& v) { return std::tuple(ca::sum(v), v.value() + 1.f); };
  const variable many = ca::zeros({100000});
  const auto before = used();
  const auto pull_alone = std::get<1>(ca::vjp(large, many));
  CHECK(used() - before < 100000);
  CHECK(ca::sum(pull_alone(ca::ones({})).value()).item() == 100000);
}

TEST_CASE("autograd: arguments that are named may be arrays") {
  const auto f = [](const auto& x, const auto& y, const auto& z) { return ca::sum(x * y * y + z); };
  const auto check = [&](auto zero) {
    using T = decltype(zero);
    using A = ca::ndarray<T>;
    const A x = ca::array<T>({1, 2}), y = ca::array<T>({3, 4}), z = ca::array<T>({5, 6});
    const auto [value, dx, dz] = ca::value_and_grad<0, 2>(f)(x, y, z);
    static_assert(std::is_same_v<decltype(dx), const A> && std::is_same_v<decltype(value), const A>);
    CHECK(value.item() == 52);
    CHECK(test::equal(dx, {2}, numbers{9, 16}));
    CHECK(test::equal(dz, {2}, numbers{1, 1}));
    CHECK(test::equal(ca::grad<0>(f)(x, y, z), {2}, numbers{9, 16}));
    CHECK(test::equal(std::get<1>(ca::value_and_grad<1>(f)(x, y, z)), {2}, numbers{6, 16}));
    CHECK(test::equal(ca::grad<1>(f)(2 * x, y + T(1), z), {2}, numbers{16, 40}));  // of expressions
    const ca::variable<T> v = y;
    CHECK((elements(std::get<1>(ca::grad<0, 1>(f)(x, v, z))) == numbers{6, 16} && !v.has_grad()));
  };
  check(0.f), check(0.);
}

TEST_CASE("autograd: several arguments that hold variables have a gradient each") {
  const variable x = line({1, 2});
  const std::vector<variable> w{line({3, 4}), line({5, 6})};
  const auto f = [](const variable& a, int factor, const std::vector<variable>& b) {
    return ca::sum(a * b[0] * float(factor)) + ca::sum(b[1] * b[1]);
  };
  const auto [value, dx, dw] = ca::value_and_grad(f)(x, 2, w);
  CHECK((value.item() == 22 + 61 && elements(dx) == numbers{6, 8} && elements(dw) == numbers{2, 4, 10, 12}));
  CHECK(elements(ca::grad(dot)(x, x * 3.f)) == numbers{3, 6, 1, 2});  // an expression: a variable of its own
  CHECK(!x.has_grad());
}

TEST_CASE("autograd: gradients that are not wanted, or of what the value does not depend on, are 0") {
  layer p{line({1, 2}), ca::ones({2, 1})}, g;
  p.w.requires_grad(false);
  CHECK(elements(ca::grad(weighted)(p)) == numbers{0, 0, 1, 1});
  const auto constant = ca::value_and_grad([](const layer& q) { return ca::sum(q.w * q.w); });
  CHECK(constant.into(g)(p).item() == 5);
  CHECK((elements(g) == numbers(4, 0.) && g.b.shape() == ca::shape{2, 1}));
  ca::value_and_grad(weighted).into(g)(p);
  CHECK(elements(g) == numbers{0, 0, 1, 1});
  const auto write = [](auto& v) { v.value() += 1.f; };
  layer zero = std::get<1>(constant(p));
  CHECK(test::thrown<ca::error>([&] { ca::tree_for_each(write, zero); }) == nothing);
  CHECK(elements(zero) == numbers(4, 1.));
}

TEST_CASE("autograd: variables that are no arguments are constants") {
  const variable x = line({1, 2}), w = line({3, 4});
  const variable h = w * w;
  const auto f = [&](const variable& a) { return ca::sum(a * a * w + h * a); };
  CHECK((elements(ca::grad(f)(x)) == numbers{15, 32} && !x.has_grad() && !w.has_grad()));
  h.backward(line({1, 1}));  // is there as before
  CHECK(elements(w.grad()) == numbers{6, 8});
  const variable p = one(3), q = ca::sum(p * p);
  CHECK(elements(ca::grad([&](const variable&) { return p; })(x)) == numbers{0, 0});
  CHECK(elements(ca::grad([&](const variable&) { return q; })(x)) == numbers{0, 0});
  CHECK(!p.has_grad());
  CHECK(test::thrown<ca::value_error>([&] { q.backward(); }) == nothing);
}

TEST_CASE("autograd: what value_and_grad cannot do throws, and leaves everything usable") {
  const variable x = line({1, 2});
  const auto each = [](const auto& a) { return a * a; };
  CHECK(test::thrown<ca::shape_error>([&] { ca::value_and_grad(each)(x); }) == "value_and_grad" + not_one);
  CHECK(test::thrown<ca::shape_error>([&] { ca::grad<0>(each)(x.value()); }) == "grad" + not_one);
  const auto inner = [](const variable& a) { return dot(a, std::get<0>(ca::grad(dot)(a, a))); };
  CHECK(test::thrown<ca::value_error>([&] { ca::value_and_grad(inner)(x); }) ==
        "grad: gradients of gradients are not recorded: it was called while another function is differentiated");
  bool broken = true;
  const auto f = ca::grad([&](const variable& a) {
    const variable h = a * a;
    if (broken) throw std::runtime_error("broken");
    return ca::sum(h * a);
  });
  CHECK(test::thrown<std::runtime_error>([&] { f(x); }) == "broken");
  variable(dot(x, x)).backward();
  broken = false;
  CHECK((elements(f(x)) == numbers{3, 12} && elements(x.grad()) == numbers{2, 4}));
}

TEST_CASE("autograd: into adds gradients in place") {
  layer p{line({1, 2}), line({3})}, g;
  const auto add = ca::value_and_grad(weighted).into(g);
  CHECK((add(p).item() == 18 && !p.w.has_grad() && !p.b.has_grad()));
  const float *const w = g.w.value().data(), *const b = g.b.value().data();
  for (int i = 1; i <= 3; ++i, add(p))
    CHECK((elements(g) == numbers{6. * i, 12. * i, 1. * i} && g.w.value().data() == w && g.b.value().data() == b));
  array first = line({1, 1}), third;
  const float* const at = first.data();
  const auto f = [](const auto& x, float y, const auto& z) { return ca::sum(x * z * y); };
  ca::value_and_grad<0, 2>(f).into(first, third)(line({1, 2}), 2.f, line({3, 4}));
  CHECK((elements(first) == numbers{7, 9} && elements(third) == numbers{2, 4} && first.data() == at));
}

TEST_CASE("autograd: into that throws leaves the gradients as they were") {
  layer p{line({1, 2}), line({3})}, wide{line({1, 2}), line({3, 4})}, g{line({10, 20}), line({30})};
  const float *const w = g.w.value().data(), *const b = g.b.value().data();
  const auto text = [&](const auto& loss, const layer& at) {
    const std::string what = test::thrown<ca::error>([&] { ca::value_and_grad(loss).into(g)(at); });
    CHECK((elements(g) == numbers{10, 20, 30} && g.w.value().data() == w && g.b.value().data() == b));
    return what;
  };
  CHECK(text(weighted, wide) == "into: an array of shape (1,) for the gradient of a variable of shape (2,)");
  CHECK(text([](const layer&) -> variable { throw ca::index_error("broken"); }, p) == "broken");
  CHECK(text([](const layer& q) { return q.w * q.b; }, p) == "value_and_grad" + not_one);
  const auto written = [](const layer& q) {
    const variable y = ca::sum(q.w * q.w);
    return array(q.w.value())(0) = 1, y;
  };
  CHECK(text(written, p) == stale);
  CHECK((ca::value_and_grad(weighted).into(g)(p).item() == 18 && elements(g) == numbers{16, 32, 31}));
}

TEST_CASE("autograd: vjp multiplies by the Jacobian from the left, any number of times") {
  const array a = ca::array<float>({{1, 2}, {3, 4}, {5, 6}});
  const auto f = [&](const auto& x) { return ca::matmul(a, x * x); };
  const variable x = line({1, 2});
  const auto check = [&](const auto& made) {
    const auto& pull = std::get<1>(made);
    CHECK(elements(std::get<0>(made)) == numbers{9, 19, 29});
    for (int round = 0; round < 2; ++round) {
      CHECK((elements(pull(line({1, 0, 0}))) == numbers{2, 8} && elements(pull(line({0, 1, 0}))) == numbers{6, 16}));
      CHECK(elements(pull(line({1, 0, -1}))) == numbers{-8, -16});
      const std::string what = test::thrown<ca::shape_error>([&] { pull(line({1, 0})); });
      CHECK(what == "vjp: a gradient of shape (2,) for a value of shape (3,)");
    }
  };
  check(ca::vjp(f, x)), check(ca::vjp<0>(f, x.value()));
  const auto [value, pull] = ca::vjp([](const auto& v, const auto& w) { return v * w; }, x, x + 2.f);
  CHECK((!x.has_grad() && elements(value) == numbers{3, 8} && elements(pull(line({1, 10}))) == numbers{3, 40, 1, 20}));
}

TEST_CASE("autograd: what vjp returns checks shapes, makes new arrays, and is right after an exception") {
  const variable x = line({1, 2}), w = line({3, 4});
  const auto constant = std::get<1>(ca::vjp([&](const variable&) { return w * w; }, x));
  CHECK(elements(constant(line({1, 1}))) == numbers{0, 0});
  const std::string what = test::thrown<ca::shape_error>([&] { constant(line({1, 1, 1})); });
  CHECK(what == "vjp: a gradient of shape (3,) for a value of shape (2,)");
  const array g = line({1, 1});  // stays as it is
  variable(std::get<1>(ca::vjp([](const variable& a) { return a; }, x))(g)).value() *= 5.f;
  CHECK(elements(g) == numbers{1, 1});
  bool broken = true;
  const auto backward = [&](const auto& gradient) {
    if (broken) throw std::runtime_error("broken");
    return gradient;
  };
  const auto identity = ca::custom_vjp([](const auto& a) { return ca::with_residuals(a); }, backward);
  const auto f = [&](const variable& a) {
    const variable older = identity(a);
    return older + ca::eval(a * a);
  };
  const auto pull = std::get<1>(ca::vjp(f, x));
  CHECK(test::thrown<std::runtime_error>([&] { pull(line({1, 1})); }) == "broken");
  broken = false;
  CHECK(elements(pull(line({1, 1}))) == numbers{3, 5});
}

TEST_CASE("autograd: custom_vjp has the gradient that the user writes") {
  const auto square = ca::custom_vjp([](const auto& x) { return ca::with_residuals(x * x, x); },
                                     [](const auto& x, const auto& g) { return 10.f * g * x; });
  const variable x = line({1, 2});
  CHECK((elements(square(x)) == numbers{1, 4} && elements(array(square(x.value() + 1.f))) == numbers{4, 9}));
  square(x).backward(line({1, 3})), square(3.f * x).backward(line({1, 1}));
  CHECK(elements(x.grad()) == numbers{10 + 90, 60 + 180});
  CHECK(elements(ca::grad([&](const variable& a) { return ca::sum(square(a) * a); })(x)) == numbers{10 + 1, 40 + 4});
  CHECK(!([&] { return ca::no_grad(), square(x); }().requires_grad()));
  const variable before = square(x);
  array(x.value())(0) = 7;
  CHECK(test::thrown<ca::stale_error>([&] { before.backward(line({1, 1})); }) == stale);
}

TEST_CASE("autograd: custom_vjp of several operands, of which some may have no gradient") {
  const auto product = ca::custom_vjp(
      [](const auto& a, const auto& b) { return ca::with_residuals(a * b, a, b, 2.f); },
      [](const auto& a, const auto& b, float by, const auto& g) { return std::make_tuple(g * b * by, g * a); });
  const variable x = line({1, 2}), w = line({3, 4});
  const auto [value, pull] = ca::vjp(product, x, w);
  CHECK((elements(value) == numbers{3, 8} && elements(pull(line({1, 1}))) == numbers{6, 8, 1, 2}));
  product(x, x).backward(line({1, 1})), product(line({5, 6}), w).backward(line({1, 1}));
  const auto times =
      ca::custom_vjp([](const auto& a, const auto& n) { return ca::with_residuals(a * ca::astype<float>(n), n); },
                     [](const auto& n, const auto& g) { return std::make_tuple(g * ca::astype<float>(n), 0); });
  times(x, ca::array<int>({2, 3})).backward(line({1, 1}));
  CHECK((elements(x.grad()) == numbers{3 + 2, 6 + 3} && elements(w.grad()) == numbers{5, 6}));
  const auto wrong = ca::custom_vjp([](const auto& a, const auto& b) { return ca::with_residuals(a * b); },
                                    [](const auto& g) { return std::make_tuple(g, ca::ones({3})); });
  const std::string what = test::thrown<ca::shape_error>([&] { wrong(x, w).backward(line({1, 1})); });
  CHECK(what == "custom_vjp: the backward function's gradient 1 has shape (3,) for an operand of shape (2,)");
}

TEST_CASE("autograd: checkpoint changes no bit of gradients, whatever is drawn and however they are nested") {
  const auto block = [](const variable& x, const layer& p) {
    const variable h = ca::nnet::dropout(ca::tanh(ca::matmul(x, p.w) + p.b), .5);
    return ca::nnet::dropout(ca::tanh(h * x), .5);
  };
  const auto twice = [](const auto& f) {
    return [f](const variable& x, const std::vector<layer>& p) {
      const variable h = f(x, p[0]), k = f(h, p[1]);
      return ca::nnet::dropout(h + k, .25);
    };
  };
  const auto run = [&](const auto& f) {
    ca::random::seed(5);
    std::vector<variable> in{ca::random::normal({6, 4})};
    for (int i = 0; i < 2; ++i) in.insert(in.end(), {ca::random::normal({4, 4}), ca::random::normal({4})});
    const auto loss = [&](const std::vector<variable>& v) {
      const variable y = f(v[0] * 2.f, std::vector<layer>{{v[1], v[2]}, {v[3], v[4]}});
      return variable(ca::sum(y * y));
    };
    const variable value = loss(in);
    const auto after = ca::random::thread_generator().offset();
    value.backward();
    CHECK(ca::random::thread_generator().offset() == after);
    std::vector<numbers> r{elements(value), elements(ca::grad(loss)(in))};  // the second draws the next numbers
    for (const variable& v : in) r.push_back(elements(v.grad()));
    return r;
  };
  const auto expected = run(twice(block));
  CHECK((run(twice(ca::checkpoint(block))) == expected && run(ca::checkpoint(twice(block))) == expected));
  CHECK(run(ca::checkpoint(ca::checkpoint(twice(ca::checkpoint(block))))) == expected);
}

TEST_CASE("autograd: checkpoint keeps arguments alone") {
  const ca::int64 n = 1 << 16, bytes = 4 * n;
  const auto block = [](const variable& x) { return ca::tanh(ca::eval(ca::tanh(ca::eval(ca::tanh(x))))); };
  const auto run = [&](const auto& f) {
    const variable x = ca::linspace<float>(-1, 1, n);
    const auto before = ca::memory_stats<ca::default_device>().used;
    variable y = x;
    for (int i = 0; i < 8; ++i) y = f(y);
    const auto used = ca::memory_stats<ca::default_device>().used - before;
    return y.backward(ca::ones({n})), std::pair(used, elements(x.grad()));
  };
  const auto plain = run(block), kept = run(ca::checkpoint(block));
  CHECK((plain.first == 24 * bytes && kept.first == 8 * bytes && kept.second == plain.second));
}

TEST_CASE("autograd: checkpoint goes back to parameters that the function captures") {
  const variable x = line({1, 2}), w = line({3, 4});
  const auto f = ca::checkpoint([&](const variable& a) { return a * a * w; });
  f(x).backward(line({1, 1}));
  CHECK((elements(x.grad()) == numbers{6, 16} && elements(w.grad()) == numbers{1, 4}));
  const variable h = w * 2.f;
  const auto computed = ca::checkpoint([&](const variable& a) { return a * h; });
  const std::string what = test::thrown<ca::value_error>([&] { computed(x).backward(line({1, 1})); });
  CHECK(what == "checkpoint: the function uses a computed variable that is no argument of it");
  const auto loss = [&](const variable& a) { return ca::sum(computed(a) + f(a)); };  // they are constants there
  CHECK((elements(ca::grad(loss)(x)) == numbers{6 + 6, 8 + 16} && elements(w.grad()) == numbers{1, 4}));
  const variable fixed = variable(line({5, 6})).requires_grad(false);  // no argument wants a gradient
  CHECK(test::thrown<ca::value_error>([&] { f(fixed).backward(line({1, 1})); }) == nothing);
  CHECK(elements(w.grad()) == numbers{1 + 25, 4 + 36});
}

TEST_CASE("autograd: an argument of checkpoint that was written in between is stale") {
  const variable x = line({1, 2});
  const std::vector<array> data{line({3, 4})};
  const auto f = ca::checkpoint([](const auto& a, const auto& b) { return ca::sum(a * b); });
  const auto of_first = ca::checkpoint([](const auto& a, const auto& b) { return ca::sum(a * b[0]); });
  const variable alone = f(x, x), beside = f(x, data[0]), in_vector = of_first(x, data);
  array(data[0]).fill(100);
  CHECK(test::thrown<ca::stale_error>([&] { beside.backward(); }) == stale);
  CHECK(test::thrown<ca::stale_error>([&] { in_vector.backward(); }) == stale);
  array(x.value()).fill(100);
  CHECK(test::thrown<ca::stale_error>([&] { alone.backward(); }) == stale);
}

TEST_CASE("autograd: into gradients of another structure throws") {
  std::vector<variable> p{line({1, 2}), line({3})}, g;
  const auto f = ca::value_and_grad([](const auto& q) { return ca::sum(q[0] * q[1]); });
  CHECK(test::thrown<ca::shape_error>([&] { f.into(g)(p); }) == "tree: there are 2 elements in one and 0 in another");
}

TEST_CASE("autograd: checkpoint goes back under no_grad, and from what it captures") {
  const auto square = ca::checkpoint([](const variable& a) { return a * a; });
  const variable x = line({1, 2});
  const variable y = square(x);
  {
    const ca::no_grad guard;
    y.backward(ca::ones({2}));
  }
  CHECK(test::equal(x.grad(), {2}, numbers{2, 4}));
  const auto value = [&](const variable& a) { return ca::sum(square(a)); };
  const ca::no_grad guard;
  CHECK(test::equal(ca::grad(value)(x).value(), {2}, numbers{2, 4}));
  const variable w = line({3, 4});
  const auto captured = ca::checkpoint([&](const variable&) { return w; });
  const auto g = ca::grad([&](const variable& a) { return ca::sum(captured(a) * a); })(x);
  CHECK(test::equal(g.value(), {2}, numbers{3, 4}));
  CHECK(!w.has_grad());
}
TEST_CASE("autograd: custom_vjp's backward function cannot write into the gradient of others") {
  const auto twice = ca::custom_vjp([](const auto& a) { return ca::with_residuals(a * 2.f); },
                                    [](const auto& g) {
                                      array h = g;
                                      h *= 2.f;
                                      return h;
                                    });
  const variable x = line({1, 2}), w = line({3, 4});
  const array seed = ca::ones({2});
  CHECK_THROWS_AS(variable(twice(x) + ca::eval(w * 3.f)).backward(seed), ca::value_error);
  CHECK(test::equal(seed, {2}, numbers{1, 1}));
}
TEST_CASE("autograd: what holds no variables is passed over, of any length") {
  struct named {
    variable w;
    std::vector<std::string> layers;
  };
  named p{line({1, 2}), {"dense"}}, g;
  ca::value_and_grad([](const named& n) { return ca::sum(n.w * n.w); }).into(g)(p);
  CHECK(test::equal(g.w.value(), {2}, numbers{2, 4}));
}

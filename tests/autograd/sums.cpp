// Gradients of repeated operands at sizes that cross packs, rows, parts and threads, against sums in float64.
#include "differences.hpp"

namespace {

using test::numbers;
using array = ca::ndarray<float>;
using variable = ca::variable<float>;

/// Numbers in [-2, 2), exact in float32.
array values(const ca::shape& s, unsigned seed) {
  std::vector<float> v;
  test::random_numbers random(seed);
  for (ca::int64 i = 0; i < s.elements(); ++i) v.push_back(float(int(random.next() >> 22) - 512) / 256);
  return ca::array(v, s);
}
ca::ndarray<double> wide(const array& a) { return ca::astype<double>(a); }

/// sum over what `dims` is repeated along.
numbers summed(const ca::ndarray<double>& g, const ca::shape& dims) {
  return test::values(ca::detail::sum_to(g.node(), dims));
}

/// The gradients of x * c + b, with c and b of the given shapes, whose values are sums of known numbers.
void check(const ca::shape& full, const ca::shape& of_c, const ca::shape& of_b) {
  INFO(full.str() << ", " << of_c.str() << ", " << of_b.str());
  const array x0 = values(full, 1), c0 = values(of_c, 2), b0 = values(of_b, 3), g = values(full, 4);
  const variable x = x0, c = c0, b = b0;
  const variable y = x * c + b;
  y.backward(g, {.retain_graph = true});
  CHECK(test::close(x.grad(), full, test::values(ca::ndarray<double>(wide(g) * wide(c0))), 1e-6));
  CHECK(test::close(c.grad(), of_c, summed(wide(g) * wide(x0), of_c), 2e-5));
  CHECK(test::close(b.grad(), of_b, summed(wide(g), of_b), 2e-5));
  // added to what is there
  const std::vector<float> once = test::values(c.grad());
  y.backward(g);
  CHECK(test::close(c.grad(), of_c, summed(2. * wide(g) * wide(x0), of_c), 4e-5));
  // the same bits whatever the threads
  const int before = ca::num_threads();
  for (const int threads : {1, 3}) {
    ca::set_num_threads(threads);
    c.zero_grad();
    variable(x * c + b).backward(g);
    CHECK(test::values(c.grad()) == once);
  }
  ca::set_num_threads(before);
}

}  // namespace

TEST_CASE("autograd: gradients of rows, columns and numbers") {
  check({700, 333}, {333}, {700, 1});
  check({700, 333}, {}, {1, 333});
  check({3, 100003}, {100003}, {3, 1});
  check({100003, 3}, {3}, {});
  check({300001}, {}, {1});
  check({5, 1}, {1}, {5, 1});
}
TEST_CASE("autograd: gradients of operands repeated along axes within") {
  check({20, 30, 40}, {30, 1}, {20, 1, 40});
  check({20, 30, 40}, {20, 1, 1}, {1, 30, 1});
  check({7, 5, 3, 200}, {5, 1, 200}, {7, 1, 3, 1});
}
TEST_CASE("autograd: gradients of large arrays", "[large]") {
  check({4096, 1024}, {1024}, {4096, 1});
  check({16, 64, 64, 64}, {64, 1, 1}, {16, 1, 1, 1});
}
TEST_CASE("autograd: gradients of transposed and cut operands") {
  const array a = values({300, 200}, 1), b = values({200, 300}, 2), g = values({200, 300}, 3);
  const variable x = a.t(), y = b(ca::_, ca::slice(ca::none, ca::none, -1)), row = values({300}, 4);
  variable(x * y + row).backward(g);
  CHECK(test::close(x.grad(), {200, 300}, test::values(ca::ndarray<double>(wide(g) * wide(y.value())))));
  CHECK(test::close(y.grad(), {200, 300}, test::values(ca::ndarray<double>(wide(g) * wide(x.value())))));
  CHECK(test::close(row.grad(), {300}, summed(wide(g), {300}), 1e-5));
}
TEST_CASE("autograd: gradients whose own lies along other axes") {
  // the inner axis is that of the gradient, along which sums take steps
  const auto check_steps = [](const ca::shape& s, const ca::shape& of_row) {
    const variable x = ca::zeros(s), row = ca::zeros(of_row);
    const variable y = ca::swapaxes(variable(x + row), 1, 2);
    const array g = values(y.shape(), 5);
    y.backward(g);
    CHECK(test::close(row.grad(), of_row, summed(wide(ca::swapaxes(g, 1, 2)), of_row), 1e-5));
    CHECK(test::close(x.grad(), s, test::values(ca::ndarray<double>(wide(ca::swapaxes(g, 1, 2))))));
  };
  check_steps({2, 3, 5}, {3, 5});
  check_steps({2, 30, 50}, {30, 50});
  check_steps({3, 40, 20}, {40, 1});
}
TEST_CASE("autograd: infinite sums stay infinite") {
  array a = ca::ones({5000});
  a(3) = INFINITY;
  const variable n = ca::full<float>({}, 2.f);
  variable(a * n).backward(ca::ones({5000}));
  CHECK(n.grad().item() == INFINITY);
}
TEST_CASE("autograd: counts that float16 does not hold") {
  using half = ca::float16;
  const ca::int64 n = 100000;
  const ca::variable<half> x = ca::ones<half>({n}), m = ca::ones<half>({n});
  const auto seed = ca::full<half>({}, half(32768.f));
  ca::variable<half>(ca::mean(x)).backward(seed);
  CHECK(test::close(x.grad()(0), {}, numbers{0.32768}, 1e-3));
  ca::variable<half>(ca::max(m)).backward(seed);
  CHECK(test::close(m.grad()(0), {}, numbers{0.32768}, 1e-3));
}
TEST_CASE("autograd: gradients of half types are summed up in wider ones") {
  const ca::variable<ca::bfloat16> x = ca::ones<ca::bfloat16>({5000, 40}), b = ca::zeros<ca::bfloat16>({40}),
                                   n = ca::ones<ca::bfloat16>({});
  ca::variable<ca::bfloat16>(x * n + b).backward(ca::ones<ca::bfloat16>({5000, 40}));
  CHECK(test::equal(b.grad(), {40}, numbers(40, 4992)));  // 5000, rounded
  CHECK(test::equal(n.grad(), {}, numbers{199680}));      // 200000, rounded
}
TEST_CASE("autograd: memory that is not the library's is neither kept nor written") {
  if constexpr (ca::default_device::host_accessible) {
    std::vector<float> memory(3, 1.f);
    static const float table[3] = {1, 2, 3};
    const variable x = ca::ones({3}), m = ca::ones({3}), r = ca::ones({3});
    variable y = x * m + r;
    y.backward(ca::from_pointer(memory.data(), {3}));
    CHECK(r.grad().data() != memory.data());
    memory[0] = 77;
    CHECK(test::equal(r.grad(), {3}, numbers{1, 1, 1}));
    for (const auto* v : {&x, &m, &r}) v->zero_grad();
    y = x + r;
    y.backward(ca::from_pointer(table, {3}));
    y = x * m + r;
    y.backward(ca::ones({3}));
    CHECK(test::equal(r.grad(), {3}, numbers{2, 3, 4}));
    CHECK((table[0] == 1 && memory[1] == 1));
  }
}
TEST_CASE("autograd: empty arrays have gradients of 0") {
  const variable x = ca::zeros({0, 3}), b = ca::ones({3}), n = ca::ones({});
  variable(x * n + b).backward(ca::zeros({0, 3}));
  CHECK(test::equal(b.grad(), {3}, numbers{0, 0, 0}));
  CHECK(test::equal(n.grad(), {}, numbers{0}));
  CHECK(x.grad().shape() == ca::shape{0, 3});
}
TEST_CASE("autograd: a statement is one kernel, and so are its gradients") {
  const array m0 = values({64, 100}, 1);
  const variable x = m0, b = values({100}, 2), m = values({64, 100}, 3), r = values({64, 1}, 4);
  auto before = ca::stats();
  const variable y = ca::tanh(x + b) * m + r;
  CHECK((ca::stats() - before).kernels == 1);
  CHECK((ca::stats() - before).allocations == 1);
  before = ca::stats();
  y.backward(m0);
  const auto back = ca::stats() - before;
  if (ca::backend::fused_gradients<ca::default_device>) {
    const int shared = ca::default_device::host_accessible ? 0 : 1;  // blocks share sums: one more kernel, its memory
    CHECK(int(back.kernels) == 1 + shared);
    CHECK(int(back.allocations) == 4 + shared);
  }
  CHECK(back.temporaries == 0);
  // a gradient that is handed on costs nothing
  before = ca::stats();
  variable(x + m).backward(m0);
  CHECK((ca::stats() - before).kernels <= 3);  // the sum, and the gradients that are there
}
TEST_CASE("autograd: a gradient that is handed on is not copied, or written by the pass that computes others") {
  const array g = values({64, 100}, 1);
  const variable x = values({64, 100}, 2), m = values({64, 100}, 3), q = values({64, 100}, 4);
  variable y = x * m + q;
  array given = g.copy();
  const float* const memory = given.data();
  y.backward(std::move(given));
  CHECK(q.grad().data() == memory);
  for (const auto* v : {&x, &m, &q}) v->zero_grad();
  y = x * m + q;
  auto before = ca::stats();
  y.backward(g);
  auto back = ca::stats() - before;
  if (ca::backend::fused_gradients<ca::default_device>) CHECK((back.kernels == 1 && back.allocations == 0));
  CHECK(q.grad().data() == memory);  // which captured graphs know
  CHECK(test::values(q.grad()) == test::values(g));
  y = x * m + q;
  before = ca::stats();
  y.backward(g);  // added to what is there
  back = ca::stats() - before;
  if (ca::backend::fused_gradients<ca::default_device>) CHECK((back.kernels == 1 && back.allocations == 0));
  CHECK(test::values(q.grad()) == test::values(array(g * 2.f)));
  CHECK(test::values(x.grad()) == test::values(array(g * m.value() * 2.f)));
}

// Expressions in which reductions along rows meet the rows themselves: softmax, normalisations, their gradients.
#include <limits>

#include "test.hpp"

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Rows on the host, in double.
struct table {
  ca::int64 rows, columns;
  std::vector<double> v;
  double* operator[](ca::int64 r) { return v.data() + r * columns; }
  const double* operator[](ca::int64 r) const { return v.data() + r * columns; }
};
/// Numbers in [-2, 2), exact in every floating dtype, that differ from row to row.
table numbers(ca::int64 rows, ca::int64 columns, unsigned seed) {
  table t{rows, columns, std::vector<double>(std::size_t(rows * columns))};
  unsigned state = seed * 2654435761u + 1;
  for (double& x : t.v) {
    state = state * 1664525u + 1013904223u;
    x = double(int(state >> 26) - 32) / 16;
  }
  return t;
}
template <class T>
ca::ndarray<T> on_device(const table& t) {
  std::vector<T> v;
  for (const double x : t.v) v.push_back(ca::detail::lane_cast<T>(x));
  return ca::array(v, {t.rows, t.columns});
}

/// `f(row, result)` of every row.
template <class F>
std::vector<double> by_rows(const table& x, ca::int64 width, const F& f) {
  std::vector<double> r(std::size_t(x.rows * width));
  for (ca::int64 i = 0; i < x.rows; ++i) f(i, r.data() + i * width);
  return r;
}
double mean_of(const double* x, ca::int64 n) {
  double s = 0;
  for (ca::int64 j = 0; j < n; ++j) s += x[j];
  return s / double(n);
}
std::vector<double> softmax_of(const table& x) {
  return by_rows(x, x.columns, [&](ca::int64 i, double* to) {
    double most = -infinity, sum = 0;
    for (ca::int64 j = 0; j < x.columns; ++j) most = std::fmax(most, x[i][j]);
    for (ca::int64 j = 0; j < x.columns; ++j) sum += to[j] = std::exp(x[i][j] - most);
    for (ca::int64 j = 0; j < x.columns; ++j) to[j] /= sum;
  });
}
std::vector<double> layer_norm_of(const table& x, const table& gain, const table& bias) {
  return by_rows(x, x.columns, [&](ca::int64 i, double* to) {
    const double m = mean_of(x[i], x.columns);
    double squares = 0;
    for (ca::int64 j = 0; j < x.columns; ++j) squares += (x[i][j] - m) * (x[i][j] - m);
    const double by = std::sqrt(squares / double(x.columns) + 1e-5);
    for (ca::int64 j = 0; j < x.columns; ++j) to[j] = (x[i][j] - m) / by * gain[0][j] + bias[0][j];
  });
}
std::vector<double> rms_norm_of(const table& x, const table& gain) {
  return by_rows(x, x.columns, [&](ca::int64 i, double* to) {
    double squares = 0;
    for (ca::int64 j = 0; j < x.columns; ++j) squares += x[i][j] * x[i][j];
    const double by = std::sqrt(squares / double(x.columns) + 1e-5);
    for (ca::int64 j = 0; j < x.columns; ++j) to[j] = x[i][j] / by * gain[0][j];
  });
}
std::vector<double> softmax_gradient_of(const table& y, const table& dy) {
  return by_rows(y, y.columns, [&](ca::int64 i, double* to) {
    double sum = 0;
    for (ca::int64 j = 0; j < y.columns; ++j) sum += y[i][j] * dy[i][j];
    for (ca::int64 j = 0; j < y.columns; ++j) to[j] = y[i][j] * (dy[i][j] - sum);
  });
}
std::vector<double> logsumexp_of(const table& x) {
  return by_rows(x, 1, [&](ca::int64 i, double* to) {
    double most = -infinity, sum = 0;
    for (ca::int64 j = 0; j < x.columns; ++j) most = std::fmax(most, x[i][j]);
    for (ca::int64 j = 0; j < x.columns; ++j) sum += std::exp(x[i][j] - most);
    *to = std::log(sum) + most;
  });
}

/// The programs in NumPy's notation.
template <class X>
auto softmax(const X& x) {
  return ca::exp(x - ca::max(x, -1, ca::keepdims)) /
         ca::sum(ca::exp(x - ca::max(x, -1, ca::keepdims)), -1, ca::keepdims);
}
template <class X, class G>
auto layer_norm(const X& x, const G& gain, const G& bias) {
  return (x - ca::mean(x, -1, ca::keepdims)) / ca::sqrt(ca::var(x, -1, ca::keepdims) + 1e-5f) * gain + bias;
}
template <class X, class G>
auto rms_norm(const X& x, const G& gain) {
  return x / ca::sqrt(ca::mean(x * x, -1, ca::keepdims) + 1e-5f) * gain;
}
template <class X>
auto softmax_gradient(const X& y, const X& dy) {
  return y * (dy - ca::sum(dy * y, -1, ca::keepdims));
}
template <class X>
auto logsumexp(const X& x) {
  return ca::log(ca::sum(ca::exp(x - ca::max(x, -1, ca::keepdims)), -1)) + ca::max(x, -1);
}

/// A captured graph of it must be one kernel, and write the same bits.
template <class X, class Y>
void check_graph([[maybe_unused]] const X& x, [[maybe_unused]] const Y& y) {
#ifdef CUDARRAY_HAS_CUDA
  if constexpr (std::is_same_v<ca::default_device, ca::cuda>) {
    Y z = ca::zeros_like(y);
    const auto g = ca::graph::capture([&] { z(ca::ellipsis) = x; });
    CHECK(g.kernels() == 1);
    g.launch();
    CHECK(ca::all((z == y) | ((z != z) & (y != y))).item());
  }
#endif
}

/// The value of an expression whose rows have so many elements. One kernel must have written it, without temporaries;
/// on the CPU short rows are written by several.
template <class X>
auto in_one_kernel(ca::int64 columns, const X& x) {
  const auto before = ca::stats();
  const ca::ndarray<ca::value_type_t<X>> y = x;
  const auto c = ca::stats() - before;
  if (std::is_same_v<ca::default_device, ca::cuda> || columns >= 64) {
    CHECK(c.kernels == 1);
    CHECK(c.temporaries == 0);
    check_graph(x, y);
  }
  return y;
}

template <class T>
double tolerance() {
  return std::is_same_v<T, double>        ? 1e-12
         : std::is_same_v<T, float>       ? 2e-6
         : std::is_same_v<T, ca::float16> ? 4e-3
                                          : 3e-2;
}

/// All programs on arrays `of(table)`.
template <class T, class Of>
void check_programs(ca::int64 rows, ca::int64 columns, const Of& of) {
  INFO(ca::dtype_name<T> << " (" << rows << ", " << columns << ")");
  const table x = numbers(rows, columns, 1), dy = numbers(rows, columns, 2), gain = numbers(1, columns, 3),
              bias = numbers(1, columns, 4);
  const auto a = of(x), b = of(dy);
  const ca::ndarray<T> g = ca::squeeze(on_device<T>(gain), 0), c = ca::squeeze(on_device<T>(bias), 0);
  const double near = tolerance<T>();
  const ca::shape all{rows, columns};
  CHECK(test::close(in_one_kernel(columns, softmax(a)), all, softmax_of(x), near));
  CHECK(test::close(in_one_kernel(columns, layer_norm(a, g, c)), all, layer_norm_of(x, gain, bias), 4 * near));
  CHECK(test::close(in_one_kernel(columns, rms_norm(a, g)), all, rms_norm_of(x, gain), near));
  CHECK(test::close(in_one_kernel(columns, softmax_gradient(a, b)), all, softmax_gradient_of(x, dy),
                    near * double(columns > 64 ? columns / 16 : 4)));
}

}  // namespace

TEST_CASE("row programs: rows of all lengths") {
  for (const ca::int64 n : {1, 2, 3, 5, 16, 31, 37, 64, 100, 128, 257, 1000, 1024, 1025, 3333, 4096, 20000})
    check_programs<float>(n < 2000 ? 33 : 5, n, [](const table& t) { return on_device<float>(t); });
}

TEST_CASE("row programs: long rows, which several blocks share", "[large]") {
  check_programs<float>(40, 50257, [](const table& t) { return on_device<float>(t); });
  check_programs<double>(20, 65536, [](const table& t) { return on_device<double>(t); });
  check_programs<float>(20, 100003, [](const table& t) {
    const ca::ndarray<float> cut = ca::zeros<float>({t.rows, t.columns + 2})(ca::_, ca::slice(1, t.columns + 1));
    cut(ca::ellipsis) = on_device<float>(t);
    return cut;
  });
}

TEST_CASE("row programs: floating dtypes") {
  for (const ca::int64 n : {7, 128, 333, 2048}) {
    check_programs<double>(19, n, [](const table& t) { return on_device<double>(t); });
    check_programs<ca::float16>(19, n, [](const table& t) { return on_device<ca::float16>(t); });
    check_programs<ca::bfloat16>(19, n, [](const table& t) { return on_device<ca::bfloat16>(t); });
  }
}

TEST_CASE("row programs: a result per row") {
  for (const ca::int64 n : {1, 5, 128, 1000, 5000}) {
    const table x = numbers(21, n, 5);
    const auto a = on_device<float>(x);
    CHECK(test::close(in_one_kernel(n, logsumexp(a)), {21}, logsumexp_of(x), 2e-6));
    CHECK(test::close(in_one_kernel(n, ca::max(a, -1) - ca::min(a, -1)), {21},
                      by_rows(x, 1,
                              [&](ca::int64 i, double* to) {
                                const auto [low, high] = std::minmax_element(x[i], x[i] + n);
                                *to = *high - *low;
                              }),
                      0));
  }
}

TEST_CASE("row programs: masked softmax") {
  for (const ca::int64 n : {7, 64, 333, 1024}) {
    table x = numbers(12, n, 14);
    const table chance = numbers(12, n, 15);
    const ca::ndarray<float> a = on_device<float>(x);
    const ca::ndarray<bool> mask = on_device<float>(chance) > 0;
    for (ca::int64 i = 0; i < 12; ++i)
      for (ca::int64 j = 0; j < n; ++j)
        if (!(chance[i][j] > 0)) x[i][j] = -infinity;
    CHECK(test::close(in_one_kernel(n, softmax(ca::where(mask, a, -infinity))), {12, n}, softmax_of(x), 2e-6));
  }
}

namespace {

/// Cross-entropy of rows with labels, in notation, by one kernel: contiguous, and cut.
template <class T>
void check_cross_entropy(ca::int64 n, ca::int64 from, double near) {
  INFO(ca::dtype_name<T> << " rows of " << n << " from " << from);
  const ca::int64 rows = 23;
  const table x = numbers(rows, n, 16);
  const ca::ndarray<T> cut = ca::zeros<T>({rows, n + 5})(ca::_, ca::slice(from, from + n));
  cut(ca::ellipsis) = on_device<T>(x);
  const ca::ndarray<T> a = from == 0 ? on_device<T>(x) : cut;
  std::vector<int> label;
  for (ca::int64 i = 0; i < rows; ++i) label.push_back(int(i * 7 % n) - (i % 2 ? int(n) : 0));  // negative ones too
  const ca::ndarray<int> labels = ca::expand_dims(ca::array(label), -1);
  std::vector<double> expected = logsumexp_of(x);
  for (ca::int64 i = 0; i < rows; ++i) expected[std::size_t(i)] -= x[i][i * 7 % n];
  const auto most = ca::max(a, -1, ca::keepdims);
  CHECK(test::close(in_one_kernel(n, ca::log(ca::sum(ca::exp(a - most), -1, ca::keepdims)) + most -
                                         ca::take_along_axis(a, labels, -1)),
                    {rows, 1}, expected, near));
}

}  // namespace

TEST_CASE("row programs: cross-entropy") {
  for (const ca::int64 n : {1, 10, 64, 100, 1000, 50257}) {
    check_cross_entropy<float>(n, 0, 2e-6);
    check_cross_entropy<float>(n, 3, 2e-6);
  }
  for (const ca::int64 n : {10, 100, 333}) {
    check_cross_entropy<double>(n, 0, 1e-12);
    check_cross_entropy<ca::float16>(n, 1, 8e-3);
    check_cross_entropy<ca::bfloat16>(n, 1, 6e-2);
  }
}

TEST_CASE("row programs: rows that an index picks") {
  const ca::int64 n = 96;
  const table x = numbers(50, n, 17), gain = numbers(1, n, 18);
  const ca::ndarray<float> table_of = on_device<float>(x), g = ca::squeeze(on_device<float>(gain), 0);
  const ca::ndarray<ca::int64> ids = ca::array<ca::int64>({3, 49, 0, 3, -1});
  table picked{5, n, {}};
  for (const ca::int64 i : {3, 49, 0, 3, 49}) picked.v.insert(picked.v.end(), x[i], x[i] + n);
  CHECK(
      test::close(in_one_kernel(n, rms_norm(ca::take(table_of, ids, 0), g)), {5, n}, rms_norm_of(picked, gain), 2e-6));
  const ca::ndarray<ca::int64> wrong = ca::array<ca::int64>({3, 50});
  const auto fails = [&] {
    const ca::ndarray<float> y = rms_norm(ca::take(table_of, wrong, 0), g);
    ca::synchronize();
  };
  CHECK(test::thrown<ca::index_error>(fails) == "take: index 50 is out of bounds for axis 0 with size 50");
}

TEST_CASE("row programs: cut out of larger arrays, off alignment") {
  for (const ca::int64 n : {5, 61, 128, 1000})
    for (const ca::int64 from : {1, 2, 4})
      check_programs<float>(13, n, [&](const table& t) {
        const ca::ndarray<float> cut = ca::zeros<float>({t.rows, n + 9})(ca::_, ca::slice(from, from + n));
        cut(ca::ellipsis) = on_device<float>(t);
        return cut;
      });
}

TEST_CASE("row programs: along several axes, and in place") {
  const table x = numbers(6, 72, 7);
  const ca::ndarray<float> a = on_device<float>(x), cube = ca::reshape(a, {6, 6, 12});
  const std::vector<double> expected = softmax_of(x);
  const auto most = ca::max(cube, {1, 2}, ca::keepdims);
  CHECK(test::close(in_one_kernel(72, ca::exp(cube - most) / ca::sum(ca::exp(cube - most), {1, 2}, ca::keepdims)),
                    {6, 6, 12}, expected, 2e-6));
  ca::ndarray<float> b = ca::copy(a);
  b = softmax(b);
  CHECK(test::close(b, {6, 72}, expected, 2e-6));
}

TEST_CASE("row programs: NaN, infinities, masked rows") {
  table x = numbers(5, 70, 8);
  x[0][3] = std::nan("");
  x[1][5] = infinity;
  for (ca::int64 j = 0; j < 70; j += 2) x[2][j] = -infinity;
  for (ca::int64 j = 0; j < 70; ++j) x[3][j] = -infinity;
  std::vector<double> expected = softmax_of(x);
  for (ca::int64 j = 0; j < 70; ++j)
    expected[std::size_t(j)] = expected[std::size_t(70 + j)] = expected[std::size_t(210 + j)] = std::nan("");
  for (ca::int64 j = 0; j < 70; ++j)
    if (j != 5) expected[std::size_t(70 + j)] = std::nan("");
  CHECK(test::close(in_one_kernel(70, softmax(on_device<float>(x))), {5, 70}, expected, 2e-6));
}

TEST_CASE("row programs: reductions that are not of the same rows are written in several steps") {
  const table x = numbers(8, 8, 9), y = numbers(8, 8, 10);
  const ca::ndarray<float> a = on_device<float>(x), b = on_device<float>(y);
  std::vector<double> expected(64), other(64);
  for (ca::int64 i = 0; i < 8; ++i)
    for (ca::int64 j = 0; j < 8; ++j) {
      double column = 0;
      for (ca::int64 k = 0; k < 8; ++k) column += x[k][j] / 8;
      expected[std::size_t(i * 8 + j)] = x[i][j] - mean_of(x[i], 8) - column;
      other[std::size_t(i * 8 + j)] = (x[i][j] - mean_of(x[i], 8)) * (y[i][j] - mean_of(y[i], 8));
    }
  CHECK(test::close(a - ca::mean(a, 1, ca::keepdims) - ca::mean(a, 0, ca::keepdims), {8, 8}, expected, 1e-6));
  // one type, two values
  CHECK(test::close((a - ca::mean(a, 1, ca::keepdims)) * (b - ca::mean(b, 1, ca::keepdims)), {8, 8}, other, 1e-6));
}

TEST_CASE("row programs: what is kept is not in the way of other reductions") {
  const table x = numbers(9, 130, 11);
  const ca::ndarray<float> a = on_device<float>(x), mean = ca::mean(a, -1, ca::keepdims),
                           most = ca::max(a, -1, ca::keepdims);
  const auto centred = [&] { return a - ca::mean(a, -1, ca::keepdims); };
  const auto power = [&] { return ca::exp(a - ca::max(a, -1, ca::keepdims)); };
  const ca::ndarray<float> d = a - mean, e = ca::exp(a - most), least = ca::min(d, -1, ca::keepdims),
                           largest = ca::max(d, -1, ca::keepdims), sum = ca::sum(e, -1, ca::keepdims),
                           top = ca::max(e, -1, ca::keepdims), product = a * most,
                           weighted = ca::sum(product, -1, ca::keepdims);
  const auto same = [&](const ca::ndarray<float>& got, const ca::ndarray<float>& expected) {
    return test::compare(got, {9, 130}, test::values(expected), 2e-6);
  };
  CHECK(same(
      in_one_kernel(130, centred() / (ca::max(centred(), -1, ca::keepdims) - ca::min(centred(), -1, ca::keepdims))),
      d / (largest - least)));
  CHECK(same(in_one_kernel(130, power() / ca::sum(power(), -1, ca::keepdims) + ca::max(power(), -1, ca::keepdims)),
             e / sum + top));
  CHECK(same(in_one_kernel(130, power() / ca::sum(power(), -1, ca::keepdims) +
                                    ca::sum(a * ca::max(a, -1, ca::keepdims), -1, ca::keepdims)),
             e / sum + weighted));
}

TEST_CASE("row programs: other dtypes, and results that are converted") {
  const table x = numbers(7, 100, 12);
  const ca::ndarray<float> a = on_device<float>(x);
  const ca::ndarray<int> n = ca::astype<int>(a);
  const ca::ndarray<ca::int8> b = ca::astype<ca::int8>(a);
  const ca::ndarray<ca::complex64> z = ca::astype<ca::complex64>(a);
  const ca::ndarray<double> mean_n = ca::mean(n, 1, ca::keepdims), mean_b = ca::mean(b, 1, ca::keepdims);
  const ca::ndarray<int> least = ca::min(n, 1, ca::keepdims);
  const ca::ndarray<bool> any = ca::any(a > 1.5f, 1, ca::keepdims);
  const ca::ndarray<ca::complex64> mean_z = ca::mean(z, 1, ca::keepdims);
  CHECK(test::equal(in_one_kernel(100, n - ca::mean(n, 1, ca::keepdims)), {7, 100}, test::values(n - mean_n)));
  CHECK(test::equal(in_one_kernel(100, b - ca::mean(b, 1, ca::keepdims)), {7, 100}, test::values(b - mean_b)));
  CHECK(test::equal(in_one_kernel(100, n - ca::min(n, 1, ca::keepdims)), {7, 100}, test::values(n - least)));
  CHECK(test::equal(in_one_kernel(100, ca::where(ca::any(a > 1.5f, 1, ca::keepdims), a, 0.f)), {7, 100},
                    test::values(ca::where(any, a, 0.f))));
  const ca::ndarray<ca::complex64> difference = in_one_kernel(100, z - ca::mean(z, 1, ca::keepdims));
  CHECK(ca::all(difference == z - mean_z).item());
  ca::ndarray<ca::float16> h = ca::zeros<ca::float16>({7, 100});
  h = ca::astype<ca::float16>(a / ca::max(a, 1, ca::keepdims));
  CHECK(test::equal(h, {7, 100},
                    test::values(ca::astype<ca::float16>(a / ca::ndarray<float>(ca::max(a, 1, ca::keepdims))))));
}

TEST_CASE("row programs: divisors and quotients at the ends of their range") {
  const float tiny = 1e-38f, huge = 1e38f;
  std::vector<float> v(3 * 64, 1.f);
  for (int j = 0; j < 64; ++j)
    v[std::size_t(64 + j)] = j % 2 ? tiny : -tiny, v[std::size_t(128 + j)] = j % 3 ? huge : -0.f;
  const ca::ndarray<float> a = ca::array(v, {3, 64}), by = ca::max(ca::abs(a), 1, ca::keepdims);
  CHECK(test::equal(in_one_kernel(64, a / ca::max(ca::abs(a), 1, ca::keepdims)), {3, 64}, test::values(a / by)));
}

TEST_CASE("row programs: a user's function sees each result of a reduction") {
  const table x = numbers(7, 100, 13);
  const ca::ndarray<float> a = on_device<float>(x), most = ca::max(a, 1, ca::keepdims);
  const auto twice = [] CUDARRAY_HD(float e) { return 2 * e; };
  CHECK(test::equal(in_one_kernel(100, ca::map(twice, ca::max(a, 1, ca::keepdims)) * a), {7, 100},
                    test::values(2.f * most * a)));
}

TEST_CASE("row programs: empty arrays") {
  const ca::ndarray<float> no_rows = ca::zeros<float>({0, 5}), no_columns = ca::zeros<float>({5, 0});
  CHECK(test::equal(softmax(no_rows), {0, 5}, std::vector<float>{}));
  CHECK(test::equal(rms_norm(no_columns, ca::zeros<float>({0})), {5, 0}, std::vector<float>{}));
  CHECK_THROWS_AS(ca::eval(softmax(no_columns)), ca::value_error);
}

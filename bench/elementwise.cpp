// Maps: fused chains, broadcast rows and columns, transposed operands, conversions, odd sizes, other dtypes.
// SPDX-License-Identifier: MIT
#include "bench.hpp"

using namespace bench;

namespace {

template <class T>
ca::ndarray<T> of(const ca::shape& s) {
  return ca::astype<T>(normal(s) * 1000);
}

/// d = a + b * c
template <class T>
void triad(suite& s, const std::string& params, int64 n) {
  s.row("E1_triad", params, {.bytes = 4. * double(n) * sizeof(T)}, [n] {
    const ca::ndarray<T> a = of<T>(n), b = of<T>(n), c = of<T>(n), d = ca::empty<T>(n);
    return [=] { d(ca::_) = a + b * c; };
  });
}

/// a (rows, columns) + one row, + one column, + b.T
void broadcast(suite& s, int64 rows, int64 columns) {
  const std::string params = dims(rows, columns);
  const double bytes = double(rows) * double(columns) * 4;
  s.row("E3_bcast_row", params, {.bytes = 2 * bytes}, [=] {
    const array a = normal({rows, columns}), r = normal(columns), d = ca::empty({rows, columns});
    return [=] { d(ca::_) = a + r; };
  });
  s.row("E3_bcast_col", params, {.bytes = 2 * bytes}, [=] {
    const array a = normal({rows, columns}), r = normal({rows, 1}), d = ca::empty({rows, columns});
    return [=] { d(ca::_) = a + r; };
  });
  s.row("E4_add_T", params, {.bytes = 3 * bytes}, [=] {
    const array a = normal({rows, columns}), b = normal({columns, rows}), d = ca::empty({rows, columns});
    return [=] { d(ca::_) = a + b.t(); };
  });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(argc, argv);
  const double n = double(many);
  s.row("E0_copy", count(many), {.bytes = 8 * n}, [] {
    const array a = normal(many), d = ca::empty(many);
    return [=] { d(ca::_) = a; };
  });
  triad<float>(s, count(many), many);
  s.row("E1_triad", count(many), {.bytes = 16 * n, .peer = "cudarray_new"}, [] {
    const array a = normal(many), b = normal(many), c = normal(many);
    return [=, d = array()]() mutable { d = array(a + b * c); };
  });
  s.row("E1_triad", "odd " + count(many - 1), {.bytes = 16 * (n - 1)}, [] {
    const array a = normal(many), b = normal(many), c = normal(many), d = ca::empty(many);
    const auto from = ca::slice(1, ca::none);  // no 16-byte access fits
    return [=] { d(from) = a(from) + b(from) * c(from); };
  });
  triad<double>(s, "fp64 " + count(many / 2), many / 2);
  triad<ca::uint8>(s, "uint8 " + count(many * 4), many * 4);
  triad<ca::float16>(s, "fp16 " + count(many * 2), many * 2);
  triad<ca::int32>(s, "int32 " + count(many), many);
  s.row("E2_chain", count(many), {.bytes = 16 * n}, [] {
    const array a = normal(many), b = normal(many), c = normal(many), d = ca::empty(many);
    return [=] { d(ca::_) = ca::tanh(a) * b + ca::exp(-c * c) + ca::sqrt(ca::abs(a)); };
  });
  broadcast(s, side, side);
  broadcast(s, side - 1, side + 1);
  s.row("E6_cast_f32_f16", count(many), {.bytes = 6 * n}, [] {
    const array a = normal(many);
    const auto d = ca::empty<ca::float16>(many);
    return [=] { d(ca::_) = a; };
  });
  s.row("E6_cast_f16_f32", count(many), {.bytes = 6 * n}, [] {
    const auto a = ca::eval(ca::astype<ca::float16>(normal(many)));
    const array d = ca::empty(many);
    return [=] { d(ca::_) = a; };
  });
  s.row("E6_cmp_i32", count(many), {.bytes = 9 * n}, [] {
    const ca::ndarray<ca::int32> a = of<ca::int32>(many), b = of<ca::int32>(many);
    const auto d = ca::empty<bool>(many);
    return [=] { d(ca::_) = a < b; };
  });
  s.row("E6_where", count(many), {.bytes = 13 * n}, [] {
    const ca::ndarray<bool> m = normal(many) > 0;
    const array a = normal(many), b = normal(many), d = ca::empty(many);
    return [=] { d(ca::_) = ca::where(m, a, b); };
  });
  // five axes that do not merge; `many` elements
  const ca::shape five{many >> 20, 8, 32, 64, 64};
  s.row("E7_bcast5", count(many), {.bytes = 8 * n}, [=] {
    const array a = normal(five), r = normal({five[0], 1, 32, 1, 64}), d = ca::empty(five);
    return [=] { d(ca::_) = a + r; };
  });
  s.row("E7_transpose5", count(many), {.bytes = 12 * n}, [=] {
    const array a = normal(five), b = normal({five[0], 32, 8, 64, 64}), d = ca::empty(five);
    return [=] { d(ca::_) = a + ca::transpose(b, {0, 2, 1, 4, 3}); };
  });
  // operands along different axes
  const ca::shape three{512, many >> 18, 512};
  s.row("E8_where_3", count(many), {.bytes = 4 * n}, [=] {
    const ca::ndarray<bool> m = normal({three[0], 1, 1}) > 0;
    const array a = normal({1, three[1], 1}), b = normal({1, 1, three[2]}), d = ca::empty(three);
    return [=] { d(ca::_) = ca::where(m, a, b); };
  });
  s.row("E8_product_3", count(many), {.bytes = 4 * n}, [=] {
    const array a = normal({three[0], 1, three[2]}), b = normal({1, three[1], three[2]}), d = ca::empty(three);
    return [=] { d(ca::_) = a * b; };
  });
  // some columns of wider arrays, from an odd one
  const double part = double(side) * double(side - 192);
  s.row("E7_columns", dims(side, side - 192), {.bytes = 12 * part}, [] {
    const array a = normal({side, side}), b = normal({side, side}), d = ca::empty({side, side - 192});
    const auto columns = ca::slice(1, -191);
    return [=] { d(ca::_) = a(ca::_, columns) + b(ca::_, columns); };
  });
  return s.run();
}

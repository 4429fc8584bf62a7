// Golden cases of functions that are composed of others: surface.py says what their integers are.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

namespace golden {
namespace {

using ca::int64;

const ca::convolution_mode modes[] = {ca::convolution_mode::full, ca::convolution_mode::same,
                                      ca::convolution_mode::valid};
const ca::pad_mode pads[] = {ca::pad_mode::constant, ca::pad_mode::edge, ca::pad_mode::reflect, ca::pad_mode::symmetric,
                             ca::pad_mode::wrap};

/// The limits of a histogram behind the number of its bins; absent: those of the elements.
ca::histogram_range limits(const test_case& c) {
  if (c.integers.size() < 3) return {};
  return {.low = double(c.integers[1]), .high = double(c.integers[2])};
}
/// What a scatter makes of the whole memory behind an operand.
template <class T, class F>
value scattered(const test_case& c, const F& scatter) {
  const ca::ndarray<T> a = load<T>(c.in[0]);
  scatter(a, load<int64>(c.in[1]), load<T>(c.in[2]), c.integers[0]);
  return download(view(a, ca::detail::c_layout(ca::shape{int64(c.in[0].base.size() / sizeof(T))})));
}

template <class T>
ca::ndarray<T> padded(const ca::ndarray<T>& x, const std::vector<int64>& i) {
  std::vector<ca::pad_width> widths;
  for (std::size_t k = 1; k < i.size(); k += 2) widths.push_back({i[k], i[k + 1]});
  return ca::pad(x, widths, {.mode = pads[i[0]]});
}

// A function of one operand x of a dtype T, of two, and of none; i are the integers.
#define OF_ONE(name, ...)                        \
  t[key<T>(#name)] = [](const test_case& c) {    \
    [[maybe_unused]] const auto& i = c.integers; \
    const ca::ndarray<T> x = load<T>(c.in[0]);   \
    return download(__VA_ARGS__);                \
  }
#define OF_TWO(name, U, ...)                     \
  t[key<T, U>(#name)] = [](const test_case& c) { \
    [[maybe_unused]] const auto& i = c.integers; \
    const ca::ndarray<T> x = load<T>(c.in[0]);   \
    const ca::ndarray<U> y = load<U>(c.in[1]);   \
    return download(__VA_ARGS__);                \
  }
#define OF_NONE(name, ...) t[#name] = [](const test_case& c) { return download(__VA_ARGS__); }
#define SCATTER(name) \
  t[key<T, int64>(#name)] = [](const test_case& c) { return scattered<T>(c, [](const auto&... a) { ca::name(a...); }); }

template <class T>
void add_lines(table& t) {
  OF_ONE(diff, ca::diff(x, i[0], i[1]));
  OF_ONE(cumulative_sum, ca::cumulative_sum(x, i[0], true));
  OF_ONE(ptp, ca::ptp(x, ca::axes{int(i[0])}));
  OF_ONE(count_nonzero, ca::count_nonzero(x, ca::axes{int(i[0])}));
  OF_ONE(polyder, ca::polyder(x, i[0]));
  OF_ONE(unique, ca::unique(x));
  OF_ONE(argwhere, ca::argwhere(x));
  OF_ONE(lexsort, ca::lexsort(ca::unstack(x)));
  OF_ONE(histogram, ca::histogram(x, i[0], limits(c)).counts);
  OF_ONE(quantile, ca::quantile(x, double(i[1]) / 100, ca::axes{int(i[0])}, ca::quantile_method(int(i[2]))));
  OF_TWO(convolve, T, ca::convolve(x, y, modes[i[0]]));
  OF_TWO(correlate, T, ca::correlate(x, y, modes[i[0]]));
  OF_TWO(polyval, T, ca::polyval(x, y));
  OF_TWO(searchsorted, T, ca::searchsorted(x, y, i[0] ? ca::side::right : ca::side::left));
  OF_TWO(digitize, T, ca::digitize(x, y, i[0] != 0));
  OF_TWO(isin, T, ca::isin(x, y));
  OF_TWO(union1d, T, ca::union1d(x, y));
  OF_TWO(intersect1d, T, ca::intersect1d(x, y));
  OF_TWO(setdiff1d, T, ca::setdiff1d(x, y));
  OF_TWO(setxor1d, T, ca::setxor1d(x, y));
  OF_TWO(histogram2d, T, ca::histogram2d(x, y, i[0]).counts);
  OF_TWO(histogram_weights, double, ca::histogram(x, i[0], limits(c), y).counts);
}

template <class T>
void add_shapes(table& t) {
  OF_ONE(roll, ca::roll(x, i[0], i[1]));
  OF_ONE(repeat, ca::repeat(x, i[0], i[1]));
  OF_ONE(tile, ca::tile(x, ca::shape(i.data(), int(i.size()))));
  OF_ONE(pad, padded(x, i));
  OF_ONE(rot90, ca::rot90(x, i[0], {int(i[1]), int(i[2])}));
  OF_ONE(tril, ca::tril(x, i[0]));
  OF_ONE(triu, ca::triu(x, i[0]));
  OF_ONE(trace, ca::trace(x, i[0]));
  OF_ONE(diagonal, ca::diagonal(x, i[0]));
  OF_TWO(kron, T, ca::kron(x, y));
  OF_TWO(outer, T, ca::outer(x, y));
  OF_TWO(cross, T, ca::cross(x, y));
  OF_TWO(tensordot, T, ca::tensordot(x, y, i[0]));
  SCATTER(scatter_add);
  SCATTER(scatter_mul);
  SCATTER(scatter_max);
  SCATTER(scatter_min);
  OF_TWO(segment_sum, int64, ca::segment_sum(x, y, i[0]));
  OF_TWO(segment_mean, int64, ca::segment_mean(x, y, i[0]));
  OF_TWO(segment_max, int64, ca::segment_max(x, y, i[0]));
  OF_TWO(segment_min, int64, ca::segment_min(x, y, i[0]));
}

void add_floats(table& t) {
  using T = double;
  OF_ONE(unwrap, ca::unwrap(x, {.axis = i[0], .period = double(i[1])}));
  OF_ONE(gradient, ca::gradient(x, 1, {.axis = i[0], .edge_order = int(i[1])}));
  OF_ONE(trapezoid, ca::trapezoid(x, 1, i[0]));
  OF_ONE(cov, ca::cov(x));
  OF_ONE(corrcoef, ca::corrcoef(x));
  OF_ONE(nansum, ca::nansum(x, ca::axes{int(i[0])}));
  OF_ONE(nanmax, ca::nanmax(x, ca::axes{int(i[0])}));
  OF_ONE(nanmean, ca::nanmean(x, ca::axes{int(i[0])}));
  OF_ONE(nanvar, ca::nanvar(x, ca::axes{int(i[0])}));
  OF_ONE(mantissa, ca::frexp(x).first);
  OF_ONE(exponent, ca::frexp(x).second);
  OF_TWO(ldexp, int64, ca::ldexp(x, y));
  OF_TWO(interp, double, ca::interp(x, y, load<double>(c.in[2])));
  OF_TWO(average, double, ca::average(x, y, ca::axes{int(i[0])}));
  OF_NONE(linspace, ca::linspace<double>(double(c.integers[0]) / 7, double(c.integers[1]) / 7, c.integers[2]));
  OF_NONE(arange, [&] {
    const double low = double(c.integers[0]), high = double(c.integers[1]), step = double(c.integers[2]);
    return ca::arange<double>(low / 7, (high - step / 2) / 7, step / 7);
  }());
  OF_NONE(kaiser, ca::kaiser<double>(c.integers[0], double(c.integers[1])));
  OF_NONE(hanning, ca::hanning<double>(c.integers[0]));
  OF_NONE(blackman, ca::blackman<double>(c.integers[0]));
}

void add_integers(table& t) {
  {
    using T = int64;
    OF_ONE(bincount, ca::bincount(x, i[0]));
    OF_TWO(bincount_weights, double, ca::bincount(x, y));
  }
  {
    using T = bool;
    OF_ONE(packbits, ca::packbits(x, {.axis = i[0], .order = ca::bit_order(int(i[1]))}));
  }
  {
    using T = ca::uint8;
    OF_ONE(unpackbits, ca::unpackbits(x, {.axis = i[0], .order = ca::bit_order(int(i[1])), .count = i[2]}));
  }
}

}  // namespace

void add_surface(table& t) {
  add_lines<double>(t);
  add_lines<int64>(t);
  add_shapes<double>(t);
  add_shapes<int64>(t);
  add_floats(t);
  add_integers(t);
}

}  // namespace golden

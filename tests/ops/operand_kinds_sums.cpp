// The table of operands: reductions, statistics, sorting, searching, sets, products.
// SPDX-License-Identifier: MIT
#include "operand_kinds.hpp"

namespace {

using test::exactly;
using test::nearly;

using array = ca::ndarray<float>;
using integers = ca::ndarray<ca::int64>;
using truths = ca::ndarray<bool>;

const auto matrix = [] { return array(ca::array<float>({{3, 0.5f, 2, 7}, {1, 5, 0.25f, 4}, {8, 9, -1, 0.75f}})); };
const auto other = [] { return array(ca::array<float>({{0, 1, 5, 2.5f}, {9, 3.5f, 3, 1}, {2, 7, 4, 6}})); };
const auto with_nan = [] {
  const array a = matrix();
  a(1, 2) = std::nan("");
  return a;
};
const auto row = [] { return array(ca::array<float>({1, 2.5f, 4, 7})); };
const auto column = [] { return array(ca::array<float>({0.5f, 1, 2})); };
const auto counted = [] { return integers(ca::reshape(ca::arange(12), {3, 4})); };
const auto labels = [] { return integers(ca::array<ca::int64>({3, 1, 1, 0, 5, 3, 2})); };
const auto numbers = [] { return array(ca::array<float>({3, 1, 1.5f, 0, 5, 3, -2})); };

}  // namespace

#define OF_REDUCTION(name) \
  nearly(                  \
      #name, [](const auto& a) { return std::tuple(ca::name(a), ca::name(a, 1), ca::name(a, 0, ca::keepdims)); }, x)
#define OF_ONE(name) \
  nearly(            \
      #name, [](const auto& a) { return ca::name(a); }, x)
#define OF_LINES(name) \
  nearly(              \
      #name, [](const auto& a) { return std::tuple(ca::name(a), ca::name(a, 0)); }, x)
#define OF_TWO(name) \
  nearly(            \
      #name, [](const auto& a, const auto& b) { return ca::name(a, b); }, x, y)

TEST_CASE("operand kinds: reductions") {
  const array x = matrix();
  OF_REDUCTION(sum);
  OF_REDUCTION(prod);
  OF_REDUCTION(mean);
  OF_REDUCTION(var);
  OF_REDUCTION(std);
  OF_REDUCTION(max);
  OF_REDUCTION(min);
  OF_REDUCTION(amax);
  OF_REDUCTION(amin);
  OF_REDUCTION(any);
  OF_REDUCTION(all);
  OF_REDUCTION(argmax);
  OF_REDUCTION(argmin);
  nearly(
      "mean_var",
      [](const auto& a) {
        const auto [mean, var] = ca::mean_var(a, 1);
        return std::tuple(mean, var);
      },
      x);
  nearly(
      "sum", [](const auto& a) { return ca::sum<double>(a, 0); }, integers(counted()));
  nearly(
      "sum",
      [](const auto& a) {
        const array r = ca::zeros({3});
        ca::sum(a, 1, ca::out(r));
        return r;
      },
      x);
}
TEST_CASE("operand kinds: statistics") {
  const array x = with_nan();
  OF_REDUCTION(count_nonzero);
  OF_REDUCTION(ptp);
  OF_REDUCTION(nansum);
  OF_REDUCTION(nanprod);
  OF_REDUCTION(nanmax);
  OF_REDUCTION(nanmin);
  OF_REDUCTION(nanargmax);
  OF_REDUCTION(nanargmin);
  OF_REDUCTION(nanmean);
  OF_REDUCTION(nanvar);
  OF_REDUCTION(nanstd);
  OF_REDUCTION(median);
  OF_REDUCTION(nanmedian);
  OF_LINES(nancumsum);
  OF_LINES(nancumprod);
  nearly(
      "quantile",
      [](const auto& a) {
        return ca::quantile(a, {0.25, 0.5}, 1);
      },
      array(matrix()));
  nearly(
      "percentile", [](const auto& a) { return ca::percentile(a, 30, 1); }, array(matrix()));
  nearly(
      "nanquantile", [](const auto& a) { return ca::nanquantile(a, 0.25, 1); }, x);
  nearly(
      "nanpercentile", [](const auto& a) { return ca::nanpercentile(a, 30, 1); }, x);
}
TEST_CASE("operand kinds: averages, covariances, differences, integrals") {
  const array x = matrix(), y = other(), at = row();
  nearly(
      "average", [](const auto& a) { return ca::average(a, 1); }, x);
  nearly(
      "average", [](const auto& a, const auto& w) { return ca::average(a, w); }, x, y);
  nearly(
      "average", [](const auto& a, const auto& w) { return ca::average(a, w, 0); }, x, array(column()));
  OF_ONE(cov);
  OF_TWO(cov);
  OF_ONE(corrcoef);
  OF_TWO(corrcoef);
  OF_ONE(diff);
  OF_ONE(ediff1d);
  OF_ONE(gradient);
  OF_ONE(trapezoid);
  nearly(
      "gradient", [](const auto& a, const auto& b) { return ca::gradient(a, b, {.axis = 1}); }, x, at);
  nearly(
      "trapezoid", [](const auto& a, const auto& b) { return ca::trapezoid(a, b); }, x, at);
  nearly(
      "cumulative_sum", [](const auto& a) { return ca::cumulative_sum(a, 0, true); }, x);
  nearly(
      "cumulative_prod", [](const auto& a) { return ca::cumulative_prod(a, 0, true); }, x);
}
TEST_CASE("operand kinds: counts") {
  const auto two = [](const auto& h) { return std::tuple(h.counts, h.edges); };
  const array x = numbers();
  exactly(
      "bincount", [](const auto& a) { return ca::bincount(a); }, integers(labels()));
  exactly(
      "bincount", [](const auto& a, const auto& w) { return ca::bincount(a, w); }, integers(labels()), x);
  exactly(
      "histogram", [&](const auto& a) { return two(ca::histogram(a, 3)); }, x);
  exactly(
      "histogram", [&](const auto& a, const auto& e) { return two(ca::histogram(a, e)); }, x, array(row()));
  exactly(
      "histogram2d",
      [](const auto& a, const auto& b) {
        const auto h = ca::histogram2d(a, b, 3);
        return std::tuple(h.counts, h.x_edges, h.y_edges);
      },
      x, array(x * x));
}
TEST_CASE("operand kinds: points, polynomials, bits") {
  const array x = numbers(), y(row());
  exactly(
      "histogram",
      [](const auto& a, const auto& w) {
        const auto h = ca::histogram(a, 3, {}, w, ca::density);
        return std::tuple(h.counts, h.edges);
      },
      x, array(x * x));
  exactly(
      "histogramdd",
      [](const auto& a, const auto& w) {
        const auto h = ca::histogramdd(a, 2, {}, w);
        return std::tuple(h.counts, h.edges[1]);
      },
      matrix(), array(ca::array<float>({1, 2, 4})));
  nearly(
      "unwrap", [](const auto& a) { return ca::unwrap(a, {.period = 2}); }, x);
  OF_TWO(polyval);
  OF_TWO(polyadd);
  OF_TWO(polysub);
  OF_TWO(polymul);
  nearly(
      "polydiv",
      [](const auto& a, const auto& b) {
        const auto [quotient, rest] = ca::polydiv(a, b);
        return std::tuple(quotient, rest);
      },
      x, y);
  OF_ONE(polyder);
  OF_ONE(polyint);
  OF_ONE(poly);
  exactly(
      "packbits", [](const auto& a) { return ca::packbits(a); }, integers(labels()));
  exactly(
      "unpackbits", [](const auto& a) { return ca::unpackbits(a); },
      ca::ndarray<ca::uint8>(ca::astype<ca::uint8>(labels())));
}
TEST_CASE("operand kinds: segments") {
  const array x = numbers();
  const integers of(labels());
#define OF_SEGMENTS(name) \
  nearly(                 \
      #name, [](const auto& a, const auto& s) { return ca::name(a, s); }, x, of)
  OF_SEGMENTS(segment_sum);
  OF_SEGMENTS(segment_mean);
  OF_SEGMENTS(segment_max);
  OF_SEGMENTS(segment_min);
#undef OF_SEGMENTS
}
TEST_CASE("operand kinds: sorting and scanning") {
  const array x = matrix();
  OF_LINES(sort);
  OF_LINES(argsort);
  OF_LINES(cumsum);
  OF_LINES(cumprod);
  OF_LINES(cummax);
  OF_LINES(cummin);
  exactly(
      "topk",
      [](const auto& a) {
        const auto r = ca::topk(a, 2, {.axis = 0});
        return std::tuple(r.values, r.indices);
      },
      x);
  nearly(
      "convolve", [](const auto& a, const auto& b) { return ca::convolve(a, b); }, array(numbers()), array(row()));
  nearly(
      "correlate", [](const auto& a, const auto& b) { return ca::correlate(a, b); }, array(numbers()), array(row()));
  exactly(
      "top_k", [](const auto& a) { return ca::top_k(a, 2).values; }, x);
  exactly(
      "partition", [](const auto& a) { return ca::partition(a, 1); }, x);
  exactly(
      "argpartition", [](const auto& a) { return ca::argpartition(a, 1, 0); }, x);
  exactly(
      "lexsort", [](const auto&... k) { return ca::lexsort(std::tie(k...)); }, array(numbers()), integers(labels()),
      array(numbers()), integers(labels()));
}
TEST_CASE("operand kinds: searching and sets") {
  const array x = numbers(), at = row();
  const integers y = labels();
  exactly(
      "searchsorted", [](const auto& a, const auto& v) { return ca::searchsorted(a, v, ca::side::right); }, at, x);
  exactly(
      "digitize", [](const auto& a, const auto& e) { return ca::digitize(a, e); }, x, at);
  nearly(
      "interp", [](const auto& a, const auto& p, const auto& f) { return ca::interp(a, p, f); }, x, at, array(at * at));
  OF_ONE(unique);
  OF_ONE(unique_values);
  OF_ONE(unique_counts);
  OF_ONE(unique_inverse);
  exactly(
      "unique_all",
      [](const auto& a) {
        const auto r = ca::unique_all(a);
        return std::tuple(r.values, r.indices, r.inverse_indices, r.counts);
      },
      x);
  exactly(
      "unique_along", [](const auto& a) { return ca::unique_along(a, 0); },
      integers(ca::array<ca::int64>({{2, 1}, {1, 3}, {2, 1}})));
  OF_TWO(isin);
  OF_TWO(union1d);
  OF_TWO(intersect1d);
  OF_TWO(setdiff1d);
  OF_TWO(setxor1d);
}
TEST_CASE("operand kinds: products") {
  const array x = matrix(), y = other(), v = row();
  const integers n = counted();
  OF_TWO(outer);
  OF_TWO(vecdot);
  OF_TWO(vdot);
  OF_TWO(tensordot);
  OF_TWO(kron);
  OF_TWO(inner);
  nearly(
      "matmul", [](const auto& a, const auto& b) { return std::tuple(ca::matmul(a, b.t()), ca::matmul(a.t(), b)); }, x,
      y);
  nearly(
      "matmul", [](const auto& a, const auto& b) { return ca::matmul(a, b); }, x, v);
  nearly(
      "matmul", [](const auto& a, const auto& b) { return ca::matmul(a, b); }, x, integers(n.t()));
  nearly(
      "matmul",
      [](const auto& a, const auto& b) {
        const array c = ca::zeros({3, 3});
        ca::matmul(a, b, ca::out(c));
        return c;
      },
      x, array(y.t()));
  nearly(
      "dot", [](const auto& a, const auto& b) { return ca::dot(a, b); }, x, v);
  nearly(
      "tensordot", [](const auto& a, const auto& b) { return ca::tensordot(a, b, {0}, {0}); }, x, n);
  nearly(
      "cross", [](const auto& a, const auto& b) { return ca::cross(a, b, 0); }, x, y);
  nearly(
      "multi_dot", [](const auto&... a) { return ca::multi_dot(std::tie(a...)); }, x, integers(n.t()), y, v);
  nearly(
      "einsum", [](const auto& a, const auto& b) { return ca::einsum("ij,kj->ik", a, b); }, x, n);
  nearly(
      "einsum", [](const auto&... a) { return ca::einsum<"ij,kj,kl,l->i">(a...); }, x, n, y, v);
}

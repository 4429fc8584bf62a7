// Random whole numbers of distributions, the same on every device.
// SPDX-License-Identifier: MIT
#pragma once

#include "parameters.hpp"

namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD {

#define CUDARRAY_SAMPLER(name, ...)                                        \
  struct name##_sampler {                                                  \
    template <class... P>                                                  \
    CUDARRAY_HD static double number(cudarray::detail::draws& d, P... p) { \
      return cudarray::detail::name##_number(d, p...);                     \
    }                                                                      \
  };
CUDARRAY_SAMPLER(poisson)
CUDARRAY_SAMPLER(binomial)
CUDARRAY_SAMPLER(geometric)
CUDARRAY_SAMPLER(negative_binomial)
CUDARRAY_SAMPLER(hypergeometric)
CUDARRAY_SAMPLER(logseries)
CUDARRAY_SAMPLER(zipf)
#undef CUDARRAY_SAMPLER

struct sample_too_large {
  CUDARRAY_HD bool operator()(double good, double bad, double sample) const { return sample > good + bad; }
};

}  // namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD
namespace cudarray::inline v0::random::inline CUDARRAY_BUILD {

// The parameters, and what is thrown, are as in distributions.hpp. int64, but for bernoulli. The bits are the same on
// every device.

/// True with probability p.
///     ca::random::bernoulli({2, 3}, 0.9)
template <device_tag Device = default_device, class P>
const ndarray<bool, Device> bernoulli(const shape& s, const P& p, generator& g = thread_generator(),
                                      Device device = {}) {
  constexpr const char* f = "random::bernoulli";
  const auto of = detail_random::parameter<detail_random::probability>(f, "p", p, s);
  const auto u = detail_random::drawn(f, s, detail_random::uniform_numbers<double>(0, 1), g, device);
  return ndarray<bool, Device>(u < of);
}
/// Poisson's distribution of mean `lam`, at most 2^62 (Hörmann 1993).
///     ca::random::poisson({2, 3}, 4.5)
template <device_tag Device = default_device, class L = int>
const ndarray<int64, Device> poisson(const shape& s, const L& lam = 1, generator& g = thread_generator(),
                                     Device device = {}) {
  constexpr const char* f = "random::poisson";
  const auto m = detail_random::parameter<detail_random::mean_count>(f, "lam", lam, s);
  return detail_random::sample<int64, detail_random::poisson_sampler>(f, s, g, device, m);
}
/// The successes of n trials, at most 2^53, of probability p (Hörmann 1993).
///     ca::random::binomial({2, 3}, 100, 0.25)
template <device_tag Device = default_device, class N, class P>
const ndarray<int64, Device> binomial(const shape& s, const N& n, const P& p, generator& g = thread_generator(),
                                      Device device = {}) {
  constexpr const char* f = "random::binomial";
  const auto trials = detail_random::parameter<detail_random::count>(f, "n", n, s);
  const auto of = detail_random::parameter<detail_random::probability>(f, "p", p, s);
  return detail_random::sample<int64, detail_random::binomial_sampler>(f, s, g, device, trials, of);
}
/// The trials of probability p up to the first success, which is counted.
template <device_tag Device = default_device, class P>
const ndarray<int64, Device> geometric(const shape& s, const P& p, generator& g = thread_generator(),
                                       Device device = {}) {
  constexpr const char* f = "random::geometric";
  const auto of = detail_random::parameter<detail_random::positive_probability>(f, "p", p, s);
  return detail_random::sample<int64, detail_random::geometric_sampler>(f, s, g, device, of);
}
/// The failures before the n-th success, of probability p; n need not be whole. Poisson's numbers of means that have a
/// gamma distribution, of at most 2^62.
template <device_tag Device = default_device, class N, class P>
const ndarray<int64, Device> negative_binomial(const shape& s, const N& n, const P& p,
                                               generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::negative_binomial";
  const auto successes = detail_random::parameter<detail_random::positive>(f, "n", n, s);
  const auto of = detail_random::parameter<detail_random::positive_probability>(f, "p", p, s);
  return detail_random::sample<int64, detail_random::negative_binomial_sampler>(f, s, g, device, successes, of);
}
/// How many of a sample without replacement of `nsample` out of ngood + nbad are good, of counts up to 10^15 (Stadlober
/// 1990).
template <device_tag Device = default_device, class G, class B, class N>
const ndarray<int64, Device> hypergeometric(const shape& s, const G& ngood, const B& nbad, const N& nsample,
                                            generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::hypergeometric";
  const auto good = detail_random::parameter<detail_random::lesser_count>(f, "ngood", ngood, s);
  const auto bad = detail_random::parameter<detail_random::lesser_count>(f, "nbad", nbad, s);
  const auto n = detail_random::parameter<detail_random::lesser_count>(f, "nsample", nsample, s);
  if (detail_random::holds_anywhere(detail_random::sample_too_large{}, good, bad, n))
    cudarray::detail::fail<value_error>(f, ": nsample is above ngood + nbad");
  return detail_random::sample<int64, detail_random::hypergeometric_sampler>(f, s, g, device, good, bad, n);
}
/// The logarithmic distribution: k = 1, 2, .. with a probability in proportion to p^k / k (Kemp 1981).
template <device_tag Device = default_device, class P>
const ndarray<int64, Device> logseries(const shape& s, const P& p, generator& g = thread_generator(),
                                       Device device = {}) {
  constexpr const char* f = "random::logseries";
  const auto of = detail_random::parameter<detail_random::probability_below_one>(f, "p", p, s);
  return detail_random::sample<int64, detail_random::logseries_sampler>(f, s, g, device, of);
}
/// k = 1, 2, .. with a probability in proportion to k^-a, a > 1; below 9.2e18.
template <device_tag Device = default_device, class A>
const ndarray<int64, Device> zipf(const shape& s, const A& a, generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::zipf";
  const auto by = detail_random::parameter<detail_random::above_one>(f, "a", a, s);
  return detail_random::sample<int64, detail_random::zipf_sampler>(f, s, g, device, by);
}

}  // namespace cudarray::inline v0::random::inline CUDARRAY_BUILD

#!/usr/bin/env python3
"""Prints distributions.inc: for each distribution the edges of bins and what probability lies in them, by SciPy.

CUDARRAY_REAL or CUDARRAY_WHOLE(name, call, (edges), (probabilities), limit): the bins are (-inf, edge 0], (edge 0, edge 1], ..,
(last edge, inf); a chi-square statistic of the counts lies above `limit` once in 10^4 seeds.

    python3 tests/ops/distributions_golden.py > tests/ops/distributions.inc
"""
import math

import numpy as np
from scipy import stats

ROWS = [
    ("exponential", "exponential(s, 2, g)", stats.expon(scale=2)),
    ("exponential<double>", "exponential<double>(s, 0.5, g)", stats.expon(scale=0.5)),
    ("laplace", "laplace(s, 1, 2, g)", stats.laplace(1, 2)),
    ("gumbel", "gumbel(s, 1, 2, g)", stats.gumbel_r(1, 2)),
    ("gumbel<double>", "gumbel<double>(s, 0, 1, g)", stats.gumbel_r()),
    ("logistic", "logistic(s, 1, 2, g)", stats.logistic(1, 2)),
    ("cauchy", "cauchy(s, 1, 2, g)", stats.cauchy(1, 2)),
    ("lognormal", "lognormal(s, 1, 0.5, g)", stats.lognorm(0.5, scale=math.e)),
    ("rayleigh", "rayleigh(s, 2, g)", stats.rayleigh(scale=2)),
    ("weibull of 0.5", "weibull(s, 0.5, g)", stats.weibull_min(0.5)),
    ("weibull of 3", "weibull<double>(s, 3, g)", stats.weibull_min(3)),
    ("pareto", "pareto(s, 2.5, g)", stats.lomax(2.5)),
    ("power of 0.5", "power(s, 0.5, g)", stats.powerlaw(0.5)),
    ("power of 4", "power(s, 4, g)", stats.powerlaw(4)),
    ("triangular", "triangular(s, -1, 0.5, 3, g)", stats.triang(1.5 / 4, -1, 4)),
    ("triangular, from its mode", "triangular(s, 2, 2, 3, g)", stats.triang(0, 2, 1)),
    ("wald", "wald(s, 2, 3, g)", stats.invgauss(2 / 3, scale=3)),
    ("wald, of a long tail", "wald(s, 5, 0.5, g)", stats.invgauss(10, scale=0.5)),
    ("truncated_normal", "truncated_normal(s, -1, 3, 0.5, 2, g)", stats.truncnorm(-0.75, 1.25, 0.5, 2)),
    ("truncated_normal, far out", "truncated_normal(s, 6, 7, 0, 1, g)", stats.truncnorm(6, 7)),
    ("uniform of arrays", "uniform(s, low, 3, g)", stats.uniform(1, 2)),
    ("normal of arrays", "normal(s, low, 2, g)", stats.norm(1, 2)),
    ("gamma of 0.1", "gamma(s, 0.1, 1, g)", stats.gamma(0.1)),
    ("gamma of 1", "gamma(s, 1, 2, g)", stats.gamma(1, scale=2)),
    ("gamma of 2.5", "gamma<double>(s, 2.5, 2, g)", stats.gamma(2.5, scale=2)),
    ("gamma of 1000", "gamma(s, 1000, 1, g)", stats.gamma(1000)),
    ("beta of 0.2 and 0.3", "beta(s, 0.2, 0.3, g)", stats.beta(0.2, 0.3)),
    ("beta of 2 and 5", "beta(s, 2, 5, g)", stats.beta(2, 5)),
    ("beta of 500 and 1", "beta(s, 500, 1, g)", stats.beta(500, 1)),
    ("chisquare", "chisquare(s, 3, g)", stats.chi2(3)),
    ("noncentral_chisquare", "noncentral_chisquare(s, 3, 40, g)", stats.ncx2(3, 40)),
    ("noncentral_chisquare of less than 1", "noncentral_chisquare(s, 0.5, 2, g)", stats.ncx2(0.5, 2)),
    ("f", "f(s, 3, 9, g)", stats.f(3, 9)),
    ("noncentral_f", "noncentral_f(s, 3, 9, 2, g)", stats.ncf(3, 9, 2)),
    ("standard_t", "standard_t(s, 2.5, g)", stats.t(2.5)),
    ("vonmises of 0", "vonmises(s, 0, 0, g)", stats.uniform(-math.pi, 2 * math.pi)),
    ("vonmises of 0.000001", "vonmises(s, 0, 0.000001, g)", stats.uniform(-math.pi, 2 * math.pi)),
    ("vonmises of 2", "vonmises(s, 0, 2, g)", stats.vonmises(2)),
    ("vonmises of 100", "vonmises(s, 1, 100, g)", stats.vonmises(100, 1)),
    ("vonmises of 10000000", "vonmises(s, 1, 10000000, g)", stats.norm(1, 10000000 ** -0.5)),
    ("poisson of 0.3", "poisson(s, 0.3, g)", stats.poisson(0.3)),
    ("poisson of 9.9", "poisson(s, 9.9, g)", stats.poisson(9.9)),
    ("poisson of 10", "poisson(s, 10, g)", stats.poisson(10)),
    ("poisson of 1234.5", "poisson(s, 1234.5, g)", stats.poisson(1234.5)),
    ("poisson of 10^10", "poisson(s, 1e10, g)", stats.poisson(1e10)),
    ("binomial of 5 and 0.3", "binomial(s, 5, 0.3, g)", stats.binom(5, 0.3)),
    ("binomial of 20 and 0.9", "binomial(s, 20, 0.9, g)", stats.binom(20, 0.9)),
    ("binomial of 10^6 and 10^-6", "binomial(s, 1000000, 0.000001, g)", stats.binom(10**6, 1e-6)),
    ("binomial of 20 and 0.5", "binomial(s, 20, 0.5, g)", stats.binom(20, 0.5)),
    ("binomial of 1000 and 0.4", "binomial(s, 1000, 0.4, g)", stats.binom(1000, 0.4)),
    ("binomial of 10^9 and 0.75", "binomial(s, 1000000000, 0.75, g)", stats.binom(10**9, 0.75)),
    ("geometric of 0.3", "geometric(s, 0.3, g)", stats.geom(0.3)),
    ("geometric of 0.0001", "geometric(s, 0.0001, g)", stats.geom(0.0001)),
    ("negative_binomial", "negative_binomial(s, 2.5, 0.4, g)", stats.nbinom(2.5, 0.4)),
    ("negative_binomial of many", "negative_binomial(s, 200, 0.01, g)", stats.nbinom(200, 0.01)),
    ("hypergeometric", "hypergeometric(s, 30, 50, 20, g)", stats.hypergeom(80, 30, 20)),
    ("hypergeometric of nearly all", "hypergeometric(s, 12, 5, 14, g)", stats.hypergeom(17, 12, 14)),
    ("hypergeometric of many", "hypergeometric(s, 20000, 70000, 30000, g)", stats.hypergeom(90000, 20000, 30000)),
    ("logseries of 0.2", "logseries(s, 0.2, g)", stats.logser(0.2)),
    ("logseries of 0.99", "logseries(s, 0.99, g)", stats.logser(0.99)),
    ("zipf of 1.5", "zipf(s, 1.5, g)", stats.zipf(1.5)),
    ("zipf of 3", "zipf(s, 3, g)", stats.zipf(3)),
    ("bernoulli", "bernoulli(s, 0.3, g)", stats.bernoulli(0.3)),
    ("choice by weights", "choice(4, s, ca::array({1., 2., 0., 5.}), {}, g)",
     stats.rv_discrete(values=([0, 1, 3], [0.125, 0.25, 0.625]))),
]
BINS = 20


def main():
    print("// Bins of distributions, by distributions_golden.py.\n// SPDX-License-Identifier: MIT\n")
    for name, call, law in ROWS:
        edges = np.unique([float(f"{e:.9g}") for e in law.ppf(np.arange(1, BINS) / BINS)])
        edges = [e for e in edges if law.cdf(e) < 0.999]
        cdf = np.concatenate([[0], law.cdf(edges), [1]])
        p = np.diff(cdf)
        assert (p > 0.001).all(), (name, p)
        limit = stats.chi2(len(p) - 1).isf(1e-4)
        kind = "WHOLE" if hasattr(law, "pmf") else "REAL"
        numbers = [", ".join(f"{v:.9g}" for v in of) for of in (edges, p)]
        print(f'CUDARRAY_{kind}("{name}", rnd::{call}, ({{{numbers[0]}}}), ({{{numbers[1]}}}), {limit:.6g})')


main()

# The price of an option: by the formula of Black and Scholes, and its value at each node of a binomial tree.
# SPDX-License-Identifier: MIT
import sys
import numpy as np
from math import erf

n, steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1000, 200
spot, strike, rate, sigma, time = np.linspace(50, 150, n), 100.0, 0.03, 0.2, 1.0


def normal(x):
    return 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


d = (np.log(spot / strike) + (rate + sigma ** 2 / 2) * time) / (sigma * np.sqrt(time))
call = spot * normal(d) - strike * np.exp(-rate * time) * normal(d - sigma * np.sqrt(time))
up = np.exp(sigma * np.sqrt(time / steps))
p = (np.exp(rate * time / steps) - 1 / up) / (up - 1 / up)
value = np.maximum(spot[:, None] * up ** np.arange(steps, -steps - 1, -2) - strike, 0)
for step in range(steps):
    value = np.exp(-rate * time / steps) * (p * value[:, :-1] + (1 - p) * value[:, 1:])
print(call[:: n // 10])
print(np.abs(value[:, 0] - call).max())

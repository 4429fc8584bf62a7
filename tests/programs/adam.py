# Logistic regression by Adam, the gradient written by hand.
# SPDX-License-Identifier: MIT
import sys
import numpy as np

n, d = int(sys.argv[1]) if len(sys.argv) > 1 else 500, 8
x = np.sin(np.arange(n * d, dtype=np.float32) * 1.7).reshape(n, d)
y = (x @ np.linspace(-1, 1, d, dtype=np.float32) > 0.1).astype(np.float32)
w, m, v = np.zeros(d, np.float32), np.zeros(d, np.float32), np.zeros(d, np.float32)
for t in range(1, 201):
    p = 1 / (1 + np.exp(-(x @ w)))
    gradient = x.T @ (p - y) / n
    m = 0.9 * m + 0.1 * gradient
    v = 0.999 * v + 0.001 * gradient ** 2
    w -= 0.05 * (m / (1 - 0.9 ** t)) / (np.sqrt(v / (1 - 0.999 ** t)) + 1e-8)
p = np.clip(1 / (1 + np.exp(-(x @ w))), 1e-7, 1 - 1e-7)
print(w)
print(-(y * np.log(p) + (1 - y) * np.log(1 - p)).mean(), ((p > 0.5) == y).mean())

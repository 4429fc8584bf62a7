# The heat equation on a plate, by explicit steps.
# SPDX-License-Identifier: MIT
import sys
import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 64
u = np.zeros((n, n), np.float32)
u[0] = 100
u[:, -1] = np.linspace(100, 0, n)
for step in range(200):
    u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
print(u.mean(), u.std())
print(u[n // 2, ::8])
dx, dy = np.gradient(u)
print(np.hypot(dx, dy).max())

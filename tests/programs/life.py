# Conway's game of life on a torus.
# SPDX-License-Identifier: MIT
import sys
import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 64
i = np.arange(n * n).reshape(n, n)
alive = np.sin(i * i * 0.37) > 0.2
for step in range(100):
    shifted = [np.roll(alive, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)]
    neighbours = np.sum(shifted, 0, dtype=np.int32)
    alive = (neighbours == 3) | (alive & (neighbours == 2))
print(alive.sum())
print(alive.sum(0)[::4])

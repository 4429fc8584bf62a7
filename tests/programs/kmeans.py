# k-means: groups of points.
# SPDX-License-Identifier: MIT
import sys
import numpy as np

n, k = int(sys.argv[1]) if len(sys.argv) > 1 else 2000, 5
i = np.arange(n, dtype=np.float32)
x = np.stack([np.sin(0.7 * i) + i % k, np.cos(1.3 * i) + 2 * (i % k)], 1)
centres = x[:k].copy()
for step in range(10):
    distances = ((x[:, None] - centres) ** 2).sum(-1)
    labels = distances.argmin(1)
    for j in range(k):
        centres[j] = x[labels == j].mean(0)
print(centres)
print(np.bincount(labels, minlength=k))
print(np.sqrt(((x - centres[labels]) ** 2).sum(-1)).mean())

# Statistics of pictures: means and deviations of channels, a histogram, edges, the brightest block.
# SPDX-License-Identifier: MIT
import sys
import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 20
i = np.arange(n * 32 * 48 * 3)
pictures = ((np.sin(i * 0.013) + 1) * 127 + i % 3).astype(np.uint8).reshape(n, 32, 48, 3)
x = pictures / np.float32(255)
print(x.mean((0, 1, 2)), x.std((0, 1, 2)))
print(np.histogram(pictures, 8, (0, 256))[0])
grey = (x * np.array([0.299, 0.587, 0.114], np.float32)).sum(-1)
here = grey[:, :-1, :-1]
edges = np.hypot(grey[:, 1:, :-1] - here, grey[:, :-1, 1:] - here)
print(edges.mean(), np.percentile(edges, [50, 90]))
blocks = grey.reshape(n, 4, 8, 6, 8).mean((2, 4))
print(blocks.reshape(n, -1).argmax(1)[:10], blocks.max())

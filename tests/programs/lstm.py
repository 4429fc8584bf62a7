# An LSTM over a batch of sequences.
# SPDX-License-Identifier: MIT
import sys
import numpy as np

steps, batch, inputs, hidden = int(sys.argv[1]) if len(sys.argv) > 1 else 20, 8, 16, 32


def waves(*shape):
    return (np.sin(np.arange(np.prod(shape), dtype=np.float32) * 0.71) / 4).reshape(shape)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


x, w, u, b = waves(steps, batch, inputs), waves(inputs, 4 * hidden), waves(hidden, 4 * hidden), waves(4 * hidden)
h, c = np.zeros((batch, hidden), np.float32), np.zeros((batch, hidden), np.float32)
outputs = []
for t in range(steps):
    i, f, g, o = np.split(x[t] @ w + h @ u + b, 4, 1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    outputs.append(h)
y = np.stack(outputs)
print(y.shape, y.mean(), y.std())
print(y[-1, 3, ::4])

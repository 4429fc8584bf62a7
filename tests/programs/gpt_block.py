# A block of a transformer: causal attention of several heads, and two layers, each behind a layer norm.
# SPDX-License-Identifier: MIT
import sys
import numpy as np

batch, length, heads, width = 2, int(sys.argv[1]) if len(sys.argv) > 1 else 32, 4, 64


def weights(rows, columns):
    return np.sin(np.arange(rows * columns, dtype=np.float32) * 0.37).reshape(rows, columns) / np.sqrt(np.float32(rows))


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))


def attention(x):
    qkv = (x @ weights(width, 3 * width)).reshape(batch, length, 3, heads, width // heads)
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(np.float32(width // heads))
    scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    return (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(batch, length, width) @ weights(width, width)


x = np.cos(np.arange(batch * length * width, dtype=np.float32)).reshape(batch, length, width)
x = x + attention(norm(x))
x = x + gelu(norm(x) @ weights(width, 4 * width)) @ weights(4 * width, width)
print(x.mean(), x.std())
print(x[1, -1, ::8])

"""The rows of scripts/cpu-bench in NumPy."""
# SPDX-License-Identifier: MIT
import numpy as np

from worker import K, M, of, serve

SQUARE, ODD = (4096, 4096), (4093, 4099)
f16, f64, i32, i64, u8 = np.float16, np.float64, np.int32, np.int64, np.uint8
np.seterr(invalid='ignore')  # some divisors are 0
random = np.random.Generator(np.random.SFC64())


def triad(a, b, c, d):
    np.multiply(b, c, out=d)
    return np.add(a, d, out=d)


def chain(a, b, c, d):
    t = np.tanh(a, out=d)
    t *= b
    u = -c
    u *= c
    t += np.exp(u, out=u)
    np.abs(a, out=u)
    t += np.sqrt(u, out=u)
    return t


def put(d, value):
    d[...] = value
    return d


def where(m, a, b, d):
    np.copyto(d, b)
    np.copyto(d, a, where=m)
    return d


def square_sum(a, b):
    d = (a - b).ravel()
    return d @ d


def softmax(a):
    e = a - a.max(1, keepdims=True)
    np.exp(e, out=e)
    e /= e.sum(1, keepdims=True)
    return e


def logsumexp(a):
    m = a.max(1, keepdims=True)
    e = a - m
    return np.log(np.exp(e, out=e).sum(1)) + m[:, 0]


def log_softmax(a):
    e = a - a.max(1, keepdims=True)
    e -= np.log(np.exp(e).sum(1, keepdims=True))
    return e


serve({
    'triad 16M into': (triad, *[of(16 * M)] * 4),
    'triad 16M new': (lambda a, b, c: a + b * c, *[of(16 * M)] * 3),
    'triad 1K into': (triad, *[of(K)] * 4),
    'triad 1K new': (lambda a, b, c: a + b * c, *[of(K)] * 3),
    'triad double 8M': (triad, *[of(8 * M, dtype=f64)] * 4),
    'triad int32 16M': (triad, *[of(16 * M, dtype=i32)] * 4),
    'chain 4M': (chain, *[of(4 * M)] * 4),
    'sin 4M': (lambda a, d: np.sin(a, out=d), *[of(4 * M)] * 2),
    'exp double 4M': (lambda a, d: np.exp(a, out=d), *[of(4 * M, dtype=f64)] * 2),
    'a % b 4M': (lambda a, b, d: np.remainder(a, b, out=d), *[of(4 * M)] * 3),
    'a + row 4096^2': (np.add, of(*SQUARE), of(4096)),
    'a + column 4096^2': (np.add, of(*SQUARE), of(4096, 1)),
    'a + row 4093x4099': (np.add, of(*ODD), of(4099)),
    'a + b 5 axes': (np.add, of(32, 17, 8, 33, 29), of(32, 1, 8, 1, 29)),
    'a + b uint8 64M': (lambda a, b, d: np.add(a, b, out=d), *[of(64 * M, dtype=u8)] * 3),
    'a + b float16 16M': (lambda a, b, d: np.add(a, b, out=d), *[of(16 * M, dtype=f16)] * 3),
    'a + b.T 4096^2': (lambda a, b, d: np.add(a, b.T, out=d), *[of(*SQUARE)] * 3),
    'a + b.T 4093x4099': (lambda a, b, d: np.add(a, b.T, out=d), of(*ODD), of(4099, 4093), of(*ODD)),
    'where 16M': (where, of(16 * M, dtype=bool), *[of(16 * M)] * 3),
    'a < b 16M': (lambda a, b, d: np.less(a, b, out=d), *[of(16 * M)] * 2, of(16 * M, dtype=bool)),
    'float to int32 16M': (lambda a, d: put(d, a), of(16 * M, scale=100), of(16 * M, dtype=i32)),
    'uint8 to float 16M': (lambda a, d: put(d, a), of(16 * M, dtype=u8), of(16 * M)),
    'float16 to float 16M': (lambda a, d: put(d, a), of(16 * M, dtype=f16), of(16 * M)),
    'float to float16 16M': (lambda a, d: put(d, a), of(16 * M), of(16 * M, dtype=f16)),
    'a[::2, ::-1] 4096^2': (lambda a, d: put(d, a[::2, ::-1]), of(*SQUARE), of(2048, 4096)),
    'transpose copy 4096^2': (lambda a, d: put(d, a.T), of(*SQUARE), of(*SQUARE)),
    'sum 16M': (np.sum, of(16 * M)),
    'sum 1K': (np.sum, of(K)),
    'sum int32 16M': (np.sum, of(16 * M, dtype=i32)),
    'sum uint8 64M': (np.sum, of(64 * M, dtype=u8)),
    'max uint8 64M': (np.max, of(64 * M, dtype=u8)),
    'sum((a-b)^2) 16M': (square_sum, *[of(16 * M)] * 2),
    'sum axis 1 4096^2': (lambda a: a.sum(1), of(*SQUARE)),
    'sum axis 0 4096^2': (lambda a: a.sum(0), of(*SQUARE)),
    'sum axis 1 64x512x256': (lambda a: a.sum(1), of(64, 512, 256)),
    'sum axis 1 1Mx16': (lambda a: a.sum(1), of(M, 16)),
    'sum axis 0 1Mx16': (lambda a: a.sum(0), of(M, 16)),
    'sum axis 0 double 4093x2049': (lambda a: a.sum(0), of(4093, 2049, dtype=f64)),
    'max axis 1 4096^2': (lambda a: a.max(1), of(*SQUARE)),
    'argmax axis 1 4096^2': (lambda a: a.argmax(1), of(*SQUARE)),
    'mean and var axis 1 4096^2': (lambda a: (a.mean(1), a.var(1))[1], of(*SQUARE)),
    'var axis 0 4096^2': (lambda a: a.var(0), of(*SQUARE)),
    'softmax 4096x1024': (softmax, of(4096, 1024)),
    'log_softmax 4096x1024': (log_softmax, of(4096, 1024)),
    'logsumexp 4096x1024': (logsumexp, of(4096, 1024)),
    'cumsum 16M': (np.cumsum, of(16 * M)),
    'sort 4M': (np.sort, of(4 * M)),
    'argsort 1M': (np.argsort, of(M)),
    'topk 100 of 16M': (lambda a: np.sort(np.partition(a, -100)[-100:]), of(16 * M)),
    'topk 8 of 128Kx64': (lambda a: np.sort(np.partition(a, -8)[:, -8:]), of(128 * K, 64)),
    'a[mask] 16M': (lambda a, m: a[m], of(16 * M), of(16 * M, dtype=bool)),
    'take 100K rows of 1Mx32': (lambda a, i: np.take(a, i, axis=0), of(M, 32), of(100000, dtype=i64, scale=1e6)),
    'uniform 16M': (lambda d: random.random(out=d, dtype=np.float32), of(16 * M)),
    'normal 16M': (lambda d: random.standard_normal(out=d, dtype=np.float32), of(16 * M)),
    'sgemm 1024': (lambda a, b, d: np.matmul(a, b, out=d), *[of(1024, 1024)] * 3),
    'sgemm 64': (lambda a, b, d: np.matmul(a, b, out=d), *[of(64, 64)] * 3),
    'sgemm 64 of 64': (lambda a, b, d: np.matmul(a, b, out=d), *[of(64, 64, 64)] * 3),
})
